//! Tasks (extension `io.modelcontextprotocol/tasks` of 2026-07-28): a tool call that goes on after its answer.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;

use crate::call::Call;
use crate::client::Client;
use crate::error::{Error, Result, RpcError};
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

    /// Follows a task to its end, answering what it asks; dropping the future gives the task up.
    pub async fn finish_task(&self, created: &RawJson) -> Result<RawJson> {
        let mut task = Task::read(created.clone())?;
        let mut unfinished = UnfinishedTask { client: self, id: Some(task.id.clone()) };
        let mut answered = HashSet::new();
        loop {
            match task.status {
                TaskStatus::Working => {}
                TaskStatus::InputRequired => self.answer_task(&task, &mut answered).await?,
                TaskStatus::Completed => {
                    unfinished.id = None;
                    return task.raw.member("result").ok_or_else(|| {
                        Error::protocol(format!("the task `{}` is completed without a result", task.id))
                    });
                }
                TaskStatus::Failed => {
                    unfinished.id = None;
                    let error = task
                        .raw
                        .member("error")
                        .map_or_else(|| RpcError::internal("the task failed without saying why"), RpcError::lenient);
                    return Err(Error::Rpc(error));
                }
                TaskStatus::Cancelled => {
                    unfinished.id = None;
                    return Err(Error::Rpc(RpcError::internal(format!("the task `{}` was cancelled", task.id))));
                }
            }
            tokio::time::sleep(task.poll_interval).await;
            task = self.task(&task.id).await?;
        }
    }

    /// Answers the questions of a task that have not been answered yet.
    async fn answer_task(&self, task: &Task, answered: &mut HashSet<String>) -> Result<()> {
        let mut questions = task.raw.member("inputRequests").map(|requests| requests.members()).unwrap_or_default();
        questions.retain(|(key, _)| answered.insert(key.clone()));
        match rounds::answer(self, questions).await? {
            Some(answers) => self.update_task(&task.id, &answers).await,
            None => Ok(()),
        }
    }
}

/// Gives a task up when whoever waited for it is gone.
struct UnfinishedTask<'a> {
    client: &'a Client,
    id: Option<String>,
}

impl Drop for UnfinishedTask<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let client = self.client.clone();
            runtime.spawn(async move { client.cancel_task(&id).await.ok() });
        }
    }
}
