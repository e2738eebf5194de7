//! What a model was asked: each request as it was sent, and what it says in no format at all.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::Notify;

use super::WireFormat;
use super::script::{ModelAnswer, ModelScript};
use crate::guarded::Guarded;
use crate::limits::MODEL_WAIT_MS_MAX;

/// Everything that was asked, and the answers that are left.
#[derive(Debug)]
pub struct ModelRecord {
    script: ModelScript,
    state: Guarded<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<SeenRequest>,
    answered: usize,
    abandoned: usize,
}

/// One request.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    /// The format it was written in.
    pub format: WireFormat,
    /// The model that was asked for.
    pub model: String,
    /// Whether events were asked for, or one document.
    pub is_streamed: bool,
    /// The key it came with.
    pub key: Option<String>,
    /// What the model is told before everything else.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<SeenMessage>,
    /// The tools it may use.
    pub tools: Vec<SeenTool>,
    /// All of it, as it was sent.
    pub body: Value,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The person, or whoever speaks for them.
    User,
    /// The model.
    Model,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenMessage {
    /// Who says it.
    pub by: Speaker,
    /// The texts in it, one per line.
    pub text: String,
    /// Media types of the pictures and other data in it.
    pub media: Vec<String>,
    /// Tools that the model wants called.
    pub calls: Vec<SeenCall>,
    /// What tools gave.
    pub results: Vec<SeenResult>,
}

/// A tool that the model wants called.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenCall {
    /// What its result is told by; empty in a format that goes by order.
    pub id: String,
    /// The tool.
    pub name: String,
    /// With what.
    pub arguments: Value,
}

/// What a tool gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenResult {
    /// The call; empty in a format that goes by order.
    pub id: String,
    /// The tool, where the format names it.
    pub name: Option<String>,
    /// The text of it.
    pub text: String,
}

/// A tool that the model may use.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes.
    pub parameters: Value,
}

impl SeenMessage {
    pub(super) const fn by(by: Speaker) -> Self {
        Self { by, text: String::new(), media: Vec::new(), calls: Vec::new(), results: Vec::new() }
    }

    pub(super) fn say(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

impl SeenRequest {
    /// The names of the tools, in the order of the request.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    /// What tools gave since the model spoke last, in order.
    #[must_use]
    pub fn new_results(&self) -> Vec<&str> {
        let since = self.messages.iter().rposition(|message| message.by == Speaker::Model).map_or(0, |at| at + 1);
        let since = self.messages.get(since..).unwrap_or_default();
        since.iter().flat_map(|message| &message.results).map(|result| result.text.as_str()).collect()
    }
}

impl ModelRecord {
    pub(super) fn new(script: ModelScript) -> Self {
        Self { script, state: Guarded::default(), changed: Notify::new() }
    }

    /// Writes a request down, and gives the answer that is due.
    pub(super) fn take(&self, request: SeenRequest) -> Option<(usize, ModelAnswer)> {
        let mut state = self.state.lock();
        state.requests.push(request);
        let number = state.answered;
        state.answered += 1;
        drop(state);
        self.changed.notify_waiters();
        self.script.answers.get(number).map(|answer| (number, answer.clone()))
    }

    /// Somebody left in the middle of an answer.
    pub(super) fn abandoned(&self) {
        self.state.lock().abandoned += 1;
        self.changed.notify_waiters();
    }

    /// All requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.state.lock().requests.clone()
    }

    /// The request of that number, counted from 0.
    ///
    /// # Panics
    /// When there were not so many.
    #[must_use]
    pub fn request(&self, number: usize) -> SeenRequest {
        let requests = self.requests();
        let count = requests.len();
        requests.into_iter().nth(number).unwrap_or_else(|| panic!("request {number} of {count}"))
    }

    /// Waits until there were so many requests.
    ///
    /// # Panics
    /// When they do not come in a minute.
    pub async fn wait_for(&self, count: usize) {
        self.wait(|state| state.requests.len() >= count, "the requests did not come").await;
    }

    /// Waits until somebody has left in the middle of an answer.
    ///
    /// # Panics
    /// When nobody does in a minute.
    pub async fn wait_until_abandoned(&self) {
        self.wait(|state| state.abandoned > 0, "nobody left").await;
    }

    async fn wait(&self, is_so: impl Fn(&State) -> bool, otherwise: &str) {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                if is_so(&self.state.lock()) {
                    return;
                }
                changed.await;
            }
        };
        let came = tokio::time::timeout(Duration::from_millis(MODEL_WAIT_MS_MAX), waiting).await;
        assert!(came.is_ok(), "{otherwise}");
    }
}
