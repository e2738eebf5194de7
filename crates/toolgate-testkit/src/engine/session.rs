//! What one client shares over its requests: the negotiated legacy version, questions it has not answered yet, running
//! requests that it may cancel, and the stream for messages that belong to no request.

use futures_util::future::AbortHandle;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tokio::sync::oneshot;

use crate::engine::steps::{Frame, Role, Step, StepLog};
use crate::guarded::Guarded;

/// One client's state. A pipe has one, HTTP one for each `Mcp-Session-Id`.
#[derive(Debug)]
pub(crate) struct Session {
    /// Where messages go that belong to no request: the pipe itself, or the GET stream.
    pub(crate) common: StepLog,
    /// URIs the client subscribed to in the legacy way.
    pub(crate) subscribed_resources: Guarded<BTreeSet<String>>,
    /// The level set by `logging/setLevel`.
    pub(crate) log_level: Guarded<Option<String>>,
    /// Event streams that can be resumed, by their key.
    pub(crate) streams: Guarded<BTreeMap<String, StepLog>>,
    /// How far the common stream was delivered over GET, and whether a GET follows it now.
    pub(crate) common_reader: Guarded<CommonReader>,
    version: Guarded<Option<String>>,
    waiting: Guarded<BTreeMap<String, oneshot::Sender<Value>>>,
    running: Guarded<Running>,
}

/// Requests that are being answered, by their id.
#[derive(Debug, Default)]
struct Running {
    handles: BTreeMap<String, AbortHandle>,
    /// What was cancelled before its answer was begun: over HTTP the two may overtake each other.
    cancelled: BTreeSet<String>,
}

/// Who follows the common stream.
#[derive(Debug, Default)]
pub(crate) struct CommonReader {
    pub(crate) next: usize,
    pub(crate) is_followed: bool,
}

impl Session {
    pub(crate) fn new(common: StepLog) -> Self {
        Self {
            common,
            subscribed_resources: Guarded::default(),
            log_level: Guarded::default(),
            streams: Guarded::default(),
            common_reader: Guarded::default(),
            version: Guarded::default(),
            waiting: Guarded::default(),
            running: Guarded::default(),
        }
    }

    /// The version negotiated by `initialize`.
    pub(crate) fn version(&self) -> Option<String> {
        self.version.lock().clone()
    }

    pub(crate) fn set_version(&self, version: &str) {
        *self.version.lock() = Some(version.to_owned());
    }

    pub(crate) fn is_initialized(&self) -> bool {
        self.version.lock().is_some()
    }

    /// Sends a notification on the common stream.
    pub(crate) fn notify(&self, method: &str, params: Option<Value>) {
        self.common.push([Step::Frame(Frame::new(notification(method, params), Role::Aside))]);
    }

    /// Registers a question to the client; its answer arrives on the returned channel.
    pub(crate) fn expect_answer(&self, id: &Value) -> oneshot::Receiver<Value> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().insert(id.to_string(), sender);
        receiver
    }

    /// Hands an answer of the client to whoever asked.
    pub(crate) fn answered(&self, answer: &Value) {
        let id = answer.get("id").map(Value::to_string).unwrap_or_default();
        let asked = self.waiting.lock().remove(&id);
        if let Some(asked) = asked {
            // Whoever asked may have been cancelled meanwhile.
            let _taken = asked.send(answer.clone()).is_ok();
        }
    }

    /// A request is about to be answered; says whether it was cancelled before that.
    pub(crate) fn started(&self, id: &Value, handle: AbortHandle) -> bool {
        let mut running = self.running.lock();
        let is_cancelled = running.cancelled.remove(&id.to_string());
        if is_cancelled {
            handle.abort();
        } else {
            running.handles.insert(id.to_string(), handle);
        }
        is_cancelled
    }

    pub(crate) fn ended(&self, id: &Value) {
        self.running.lock().handles.remove(&id.to_string());
    }

    /// Cancels a request; says whether it was running.
    pub(crate) fn cancel(&self, id: &Value) -> bool {
        let mut running = self.running.lock();
        let handle = running.handles.remove(&id.to_string());
        if handle.is_none() {
            running.cancelled.insert(id.to_string());
        }
        handle.inspect(AbortHandle::abort).is_some()
    }
}

/// A notification as JSON text.
pub(crate) fn notification(method: &str, params: Option<Value>) -> String {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let Some(params) = params {
        message["params"] = params;
    }
    message.to_string()
}
