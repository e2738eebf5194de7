//! Work that goes on after the call was answered: tasks as the extension defines them, kept in memory for as long as they promise.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::sync::Notify;
use toolgate_wire::server::Reply;
use toolgate_wire::{RawJson, RpcError};

use crate::fixture::Shared;

/// How long a task stays readable after it was created.
const TTL_MS: u64 = 60_000;

/// How often a client should look.
const POLL_INTERVAL_MS: u64 = 100;

/// All tasks that can still be read.
#[derive(Default)]
pub(crate) struct Tasks {
    known: Mutex<HashMap<String, Arc<Task>>>,
    next: AtomicU64,
}

/// One task.
pub(crate) struct Task {
    id: String,
    created_at: String,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    stage: Stage,
    updated_at: String,
    /// Questions without an answer.
    open: BTreeMap<String, Value>,
    answers: BTreeMap<String, RawJson>,
}

enum Stage {
    Working,
    InputRequired,
    Completed(Value),
    Failed(RpcError),
    Cancelled,
}

impl Stage {
    fn name(&self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    fn is_over(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed(_) | Self::Cancelled)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tasks {
    /// Starts `work` and answers with the task that stands for it.
    pub(crate) fn start<W, F>(self: &Arc<Self>, shared: &Shared, work: W) -> Reply
    where
        W: FnOnce(Arc<Task>) -> F,
        F: Future<Output = Result<Value, RpcError>> + Send + 'static,
    {
        let now = timestamp(SystemTime::now());
        let id = format!("task-{}", self.next.fetch_add(1, Ordering::Relaxed) + 1);
        let state =
            State { stage: Stage::Working, updated_at: now.clone(), open: BTreeMap::new(), answers: BTreeMap::new() };
        let task = Arc::new(Task { id: id.clone(), created_at: now, state: Mutex::new(state), changed: Notify::new() });
        locked(&self.known).insert(id, task.clone());
        let created = task.summary();
        let work = work(task.clone());
        let (tasks, shared) = (self.clone(), shared.clone());
        tokio::spawn(async move {
            let cancelled = task.until_cancelled();
            tokio::select! {
                outcome = work => task.enter(outcome.map_or_else(Stage::Failed, Stage::Completed)),
                () = cancelled => {}
            }
            shared.announce(|changes| changes.task_changed(&task.detail().into()));
            tokio::time::sleep(Duration::from_millis(TTL_MS)).await;
            locked(&tasks.known).remove(&task.id);
        });
        Reply::Task(created.into())
    }

    fn find(&self, id: &str) -> Result<Arc<Task>, RpcError> {
        let found = locked(&self.known).get(id).cloned();
        found.ok_or_else(|| RpcError::invalid_params(format!("there is no task `{id}`")))
    }

    pub(crate) fn get(&self, id: &str) -> Result<Reply, RpcError> {
        Ok(self.find(id)?.detail().into())
    }

    /// Takes answers to questions of a task. What was not asked, or is answered already, does not count.
    pub(crate) fn update(&self, id: &str, params: &RawJson) -> Result<Reply, RpcError> {
        let task = self.find(id)?;
        let mut state = locked(&task.state);
        for (key, answer) in params.member("inputResponses").map(|answers| answers.members()).unwrap_or_default() {
            if state.open.remove(&key).is_some() {
                state.answers.insert(key, answer);
            }
        }
        if state.open.is_empty() && matches!(state.stage, Stage::InputRequired) {
            state.enter(Stage::Working);
        }
        drop(state);
        task.changed.notify_waiters();
        Ok(json!({}).into())
    }

    pub(crate) fn cancel(&self, id: &str) -> Result<Reply, RpcError> {
        let task = self.find(id)?;
        task.enter(Stage::Cancelled);
        Ok(json!({}).into())
    }
}

impl State {
    fn enter(&mut self, stage: Stage) {
        if !self.stage.is_over() {
            self.stage = stage;
            self.updated_at = timestamp(SystemTime::now());
        }
    }
}

impl Task {
    /// Asks the client, and waits until everything is answered.
    pub(crate) async fn ask(&self, questions: BTreeMap<String, Value>) -> BTreeMap<String, RawJson> {
        {
            let mut state = locked(&self.state);
            state.open = questions;
            state.enter(Stage::InputRequired);
        }
        loop {
            let changed = self.changed.notified();
            {
                let state = locked(&self.state);
                if state.open.is_empty() {
                    return state.answers.clone();
                }
            }
            changed.await;
        }
    }

    fn enter(&self, stage: Stage) {
        locked(&self.state).enter(stage);
        self.changed.notify_waiters();
    }

    async fn until_cancelled(&self) {
        loop {
            let changed = self.changed.notified();
            if matches!(locked(&self.state).stage, Stage::Cancelled) {
                return;
            }
            changed.await;
        }
    }

    /// What every form of a task says.
    fn summary(&self) -> Value {
        let state = locked(&self.state);
        json!({
            "taskId": self.id,
            "status": state.stage.name(),
            "createdAt": self.created_at,
            "lastUpdatedAt": state.updated_at,
            "ttlMs": TTL_MS,
            "pollIntervalMs": POLL_INTERVAL_MS,
        })
    }

    /// The same with what its stage has to say.
    fn detail(&self) -> Value {
        let mut detail = self.summary();
        let state = locked(&self.state);
        let (name, value) = match &state.stage {
            Stage::Working | Stage::Cancelled => return detail,
            Stage::InputRequired => ("inputRequests", json!(state.open)),
            Stage::Completed(result) => ("result", result.clone()),
            Stage::Failed(error) => ("error", json!({"code": error.code, "message": error.message})),
        };
        detail[name] = value;
        detail
    }
}

/// A moment in ISO 8601, in UTC.
fn timestamp(moment: SystemTime) -> String {
    let since_epoch = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = since_epoch.as_secs();
    let (mut year, mut day) = (1970, seconds / 86_400);
    let is_leap = |year: u64| (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", day + 1, since_epoch.subsec_millis())
}
