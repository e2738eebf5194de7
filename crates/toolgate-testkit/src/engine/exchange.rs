//! One request while it is being answered.

use serde_json::Value;
use std::sync::Arc;

use crate::engine::server::Server;
use crate::engine::session::{Session, notification};
use crate::engine::steps::{Frame, Role, Step, StepLog};
use crate::engine::trigger::Hit;
use crate::guarded::Guarded;

/// Where the protocol version of a modern request stands.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Where the client's capabilities of a modern request stand.
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Where the log level of a modern request stands.
pub(crate) const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A request, who sent it, and where what is said meanwhile goes.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) server: Arc<Server>,
    pub(crate) session: Arc<Session>,
    pub(crate) outlet: StepLog,
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
    pub(crate) hits: Vec<Hit>,
    held_back: Guarded<Option<Vec<Value>>>,
}

impl Exchange {
    pub(crate) fn new(
        server: &Arc<Server>,
        session: &Arc<Session>,
        outlet: &StepLog,
        message: &Value,
        hits: Vec<Hit>,
    ) -> Self {
        Self {
            server: Arc::clone(server),
            session: Arc::clone(session),
            outlet: outlet.clone(),
            id: message.get("id").cloned().unwrap_or_default(),
            method: message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned(),
            params: message.get("params").cloned().unwrap_or_default(),
            hits,
            held_back: Guarded::default(),
        }
    }

    /// The protocol version a modern request carries; `None` makes it a legacy one.
    pub(crate) fn modern_version(&self) -> Option<&str> {
        modern_version(&self.server, &self.params)
    }

    /// A value of the request's `_meta`.
    pub(crate) fn meta(&self, key: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(key)
    }

    /// Sends a notification on the stream of this request.
    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.say(notification(method, Some(params)));
    }

    /// Sends a message on the stream of this request, before its answer.
    pub(crate) fn say(&self, text: String) {
        if let Some(held) = self.held_back.lock().as_mut() {
            held.extend(serde_json::from_str::<Value>(&text));
            return;
        }
        self.outlet.push([Step::Frame(Frame::new(text, Role::Aside))]);
    }

    /// From now on messages wait for the answer, to go out with it as one batch.
    pub(crate) fn hold_back(&self) {
        self.held_back.lock().get_or_insert_default();
    }

    /// The messages that wait; `None` when nothing is to be batched.
    pub(crate) fn take_held_back(&self) -> Option<Vec<Value>> {
        self.held_back.lock().take()
    }
}

/// The protocol version in the metadata of a request, for servers that know such a thing.
pub(crate) fn modern_version<'a>(server: &Server, params: &'a Value) -> Option<&'a str> {
    if !server.script.speaks_modern() {
        return None;
    }
    params.get("_meta")?.get(META_VERSION)?.as_str()
}
