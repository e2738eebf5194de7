//! `Service`: what a server does, apart from how it is spoken to. The role around it knows the versions and transports.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::about::About;
use super::context::{Caller, RequestContext};
use crate::error::{Error, RpcError};
use crate::message::{Method, Notification};
use crate::raw::RawJson;

/// A server's own part. One object serves every client, version and transport at once.
pub trait Service: Send + Sync + 'static {
    /// What the server is and offers. Asked for every request: keep it in an `Arc`.
    fn about(&self) -> Arc<About>;

    /// Answers a request: everything but what the role answers itself (`initialize`, `ping`, `server/discover`, `logging/setLevel`,
    /// subscriptions). Dropping the future is how a request is cancelled. What is unknown is answered with
    /// [`RpcError::method_not_found`].
    fn request(&self, cx: RequestContext) -> BoxFuture<'static, Result<Reply, Interruption>>;

    /// Takes a notification of a client. Called in order of arrival; must not block.
    fn notification(&self, _notification: &Notification, _from: &Caller) {}

    /// The input schema of a tool, so that headers made from its arguments can be checked.
    fn input_schema(&self, _tool: &str) -> Option<RawJson> {
        None
    }

    /// Hears which resources anybody wants to know about. Called once when the first watcher comes and once when the last one leaves.
    fn watch(&self, _uri: &str, _interest: Interest) {}
}

/// Whether a resource is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// The first watcher has come.
    Begins,
    /// The last watcher has left.
    Ends,
}

/// What a handler answers.
#[derive(Debug, Clone)]
pub enum Reply {
    /// The result. What the version wants beside it is added; every other byte stays.
    Complete(RawJson),
    /// The client has to answer something first (2026-07-28). Usually made by [`RequestContext::ask`].
    InputRequired(InputRequired),
    /// The work goes on as a task (the tasks extension): the task as the extension writes it.
    Task(RawJson),
}

impl From<RawJson> for Reply {
    fn from(result: RawJson) -> Self {
        Self::Complete(result)
    }
}

impl From<serde_json::Value> for Reply {
    fn from(result: serde_json::Value) -> Self {
        Self::Complete(result.into())
    }
}

/// What a server wants to know before it can answer.
#[derive(Debug, Clone, Default)]
pub struct InputRequired {
    /// The questions.
    pub requests: Vec<InputRequest>,
    /// What the handler wants to see again with the answers. It travels signed.
    pub state: Option<String>,
}

/// One question to the client.
#[derive(Debug, Clone)]
pub struct InputRequest {
    /// The name its answer comes under; unique within one request, over all its rounds.
    pub key: String,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: Method,
    /// With what.
    pub params: RawJson,
}

impl InputRequest {
    /// A question.
    pub fn new(key: impl Into<String>, method: impl Into<Method>, params: impl Into<RawJson>) -> Self {
        Self { key: key.into(), method: method.into(), params: params.into() }
    }
}

/// Why a handler stopped before its result: it failed, or the client has to answer something first.
#[derive(Debug, Clone)]
pub enum Interruption {
    /// It failed.
    Failed(RpcError),
    /// It goes on when the client has answered.
    InputRequired(InputRequired),
}

impl From<RpcError> for Interruption {
    fn from(error: RpcError) -> Self {
        Self::Failed(error)
    }
}

impl From<Error> for Interruption {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}
