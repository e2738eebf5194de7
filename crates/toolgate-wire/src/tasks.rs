//! Tasks (extension `io.modelcontextprotocol/tasks` of 2026-07-28): a tool call that goes on after its answer, within the time limits of the
//! call.

use std::collections::HashSet;
use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use tokio::time::Instant;

use crate::call::Call;
use crate::client::Client;
use crate::era::Role;
use crate::error::{Error, Result, RpcError};
use crate::limits::{ACCEPT_MS, INPUT_REQUESTS_MAX, INPUT_ROUNDS_MAX, LimitBreach};
use crate::raw::RawJson;
use crate::rounds;

/// How often a task is looked at when the server does not say.
const POLL: Duration = Duration::from_millis(500);

/// A server that asks to be polled more often than this is not obeyed.
const POLL_MIN: Duration = Duration::from_millis(20);

/// Nor one that asks for less.
const POLL_MAX: Duration = Duration::from_secs(30);

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStatus {
    /// It runs.
    Working,
    /// It waits for answers.
    InputRequired,
    /// It is done; its result is there.
    Completed,
    /// It could not be done.
    Failed,
    /// It was given up.
    Cancelled,
}

/// One task as the server describes it.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// What the server says about it.
    pub message: Option<String>,
    /// How often the server wants to be asked.
    pub poll_interval: Duration,
    /// All of it.
    pub raw: RawJson,
}

impl Task {
    /// Reads a task.
    pub fn read(raw: RawJson) -> Result<Self> {
        let text = |key: &str| raw.member(key).and_then(|value| value.read::<String>().ok());
        let id = text("taskId").ok_or_else(|| Error::protocol("a task without an id"))?;
        let status = match text("status").as_deref() {
            Some("working") => TaskStatus::Working,
            Some("input_required") => TaskStatus::InputRequired,
            Some("completed") => TaskStatus::Completed,
            Some("failed") => TaskStatus::Failed,
            Some("cancelled") => TaskStatus::Cancelled,
            other => return Err(Error::protocol(format!("the task `{id}` has the unknown status {other:?}"))),
        };
        let interval =
            raw.member("pollIntervalMs").and_then(|value| value.read::<u64>().ok()).map_or(POLL, Duration::from_millis);
        Ok(Self { message: text("statusMessage"), id, status, poll_interval: interval.clamp(POLL_MIN, POLL_MAX), raw })
    }

    /// Whether a result is a task that has begun, in place of what it will give.
    pub fn is_in(result: &RawJson) -> Result<bool> {
        Ok(rounds::result_type(result)?.as_deref() == Some("task"))
    }

    /// Whether nothing has happened to it since it was looked at before.
    fn says_the_same(&self, before: &Self) -> bool {
        let updated = |task: &Self| task.raw.member("lastUpdatedAt");
        (self.status, &self.message) == (before.status, &before.message) && updated(self) == updated(before)
    }

    fn has_ended(&self) -> bool {
        matches!(self.status, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
    }

    /// What it means for the task that the server could not be asked about it: it may go on there, or be done. A connection that has ended, a time
    /// limit and a login say enough themselves.
    fn lost(&self, error: Error) -> Error {
        match error {
            Error::Closed(_) | Error::TimedOut { .. } | Error::LoginNeeded(_) | Error::Credentials(_) => error,
            other => Error::TaskLost(format!("the server tells no more about the task `{}`: {other}", self.id).into()),
        }
    }

    /// What came of it.
    fn outcome(&self) -> Result<RawJson> {
        if self.status == TaskStatus::Completed {
            let without = || Error::protocol(format!("the task `{}` is completed without a result", self.id));
            return self.raw.member("result").ok_or_else(without);
        }
        let error = match (self.status, self.raw.member("error")) {
            (TaskStatus::Failed, Some(error)) => RpcError::lenient(error),
            (TaskStatus::Failed, None) => RpcError::internal("the task failed without saying why"),
            _ => RpcError::internal(format!("the task `{}` was cancelled", self.id)),
        };
        Err(Error::Rpc(error))
    }
}

impl Client {
    /// Looks at a task.
    pub async fn task(&self, id: &str) -> Result<Task> {
        Task::read(self.request(Call::new("tasks/get", Some(json!({ "taskId": id }).into()))).await?)
    }

    /// Gives a task the answers it waits for.
    pub async fn update_task(&self, id: &str, answers: &RawJson) -> Result<()> {
        let params = RawJson::from(json!({ "taskId": id })).with_member("inputResponses", answers);
        self.request(Call::new("tasks/update", Some(params))).await.map(drop)
    }

    /// Gives a task up.
    pub async fn cancel_task(&self, id: &str) -> Result<()> {
        self.request(Call::new("tasks/cancel", Some(json!({ "taskId": id }).into()))).await.map(drop)
    }

    /// Follows the task that `call` has become to its end, answering what it asks. The time limits of the call hold for it: whatever the
    /// server says about the task that it has not said before is a sign of life, and that it still knows the task is none. Dropping the future
    /// gives the task up, and so does every error but [`Error::LoginNeeded`], after which it can be followed again.
    pub async fn finish_task(&self, call: &Call, created: &RawJson) -> Result<RawJson> {
        let mut task = Task::read(created.clone())?;
        let mut unfinished = UnfinishedTask { client: self, id: Some(task.id.clone()) };
        let mut following = Following::of(call);
        while !task.has_ended() {
            task = self.next_look(&task, &mut following).await.inspect_err(|error| {
                if matches!(error, Error::LoginNeeded(_)) {
                    unfinished.id = None;
                }
            })?;
        }
        unfinished.id = None;
        task.outcome()
    }

    /// Answers what a task asks, and looks at it again.
    async fn next_look(&self, task: &Task, following: &mut Following) -> Result<Task> {
        if task.status == TaskStatus::InputRequired && self.answer_task(task, following).await? {
            following.rounds += 1;
        }
        if following.rounds > INPUT_ROUNDS_MAX {
            let what = "rounds of input in one task";
            return Err(Error::Limit(LimitBreach::new("INPUT_ROUNDS_MAX", INPUT_ROUNDS_MAX, what)));
        }
        self.look_again(task, following).await
    }

    /// Looks at a task when it is time to. A look that is lost on the way is made again: looking changes nothing.
    async fn look_again(&self, task: &Task, following: &mut Following) -> Result<Task> {
        loop {
            let (end, is_idle) = following.call.patience(following.touched);
            let now = Instant::now();
            if now >= end {
                return Err(following.call.timed_out(is_idle));
            }
            tokio::time::sleep_until(end.min(now + task.poll_interval)).await;
            let left = end.saturating_duration_since(Instant::now());
            let look = Call::new("tasks/get", Some(json!({ "taskId": task.id }).into())).total_limit(left);
            match self.request(look).await {
                Ok(raw) => {
                    let looked = Task::read(raw).map_err(|error| task.lost(error))?;
                    if !looked.says_the_same(task) {
                        following.touched = Instant::now();
                    }
                    return Ok(looked);
                }
                Err(Error::TimedOut { .. } | Error::Io { .. }) => {}
                Err(Error::Http(failure)) if is_worth_another_look(failure.status) => {}
                Err(error) => return Err(task.lost(error)),
            }
        }
    }

    /// Answers the questions of a task that have not been answered yet; whether there were any.
    async fn answer_task(&self, task: &Task, following: &mut Following) -> Result<bool> {
        let questions = task.raw.member("inputRequests").map(|all| all.members_within(INPUT_REQUESTS_MAX + 1));
        let (mut questions, _) = questions.unwrap_or_default();
        questions.retain(|(key, _)| following.answered.insert(key.clone()));
        let Some(answers) = following.call.in_time(rounds::answer(self, questions)).await? else { return Ok(false) };
        following.call.in_time(self.update_task(&task.id, &answers)).await.map_err(|error| task.lost(error))?;
        following.touched = Instant::now();
        Ok(true)
    }

    /// Gives a task up, whoever waits for what comes of that.
    fn give_up_task(&self, id: &str) {
        if self.version().allows(Role::Client, "tasks/cancel") {
            let params = self.introduced(&json!({ "taskId": id }).into());
            let limit = Duration::from_millis(ACCEPT_MS);
            self.peer().call_soon(&Call::new("tasks/cancel", Some(params)).idle_limit(limit));
        }
    }
}

/// Whether a look that ends like that says nothing about the task.
fn is_worth_another_look(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}

/// A task that is followed.
struct Following {
    /// The call that it was, whose time limits hold.
    call: Call,
    /// The last sign of life.
    touched: Instant,
    /// The questions that were answered, and in how many rounds.
    answered: HashSet<String>,
    rounds: usize,
}

impl Following {
    fn of(call: &Call) -> Self {
        Self { call: call.clone().begun(), touched: Instant::now(), answered: HashSet::new(), rounds: 0 }
    }
}

/// Gives a task up when whoever waited for it is gone.
struct UnfinishedTask<'a> {
    client: &'a Client,
    id: Option<String>,
}

impl Drop for UnfinishedTask<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.client.give_up_task(&id);
        }
    }
}
