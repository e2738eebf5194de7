//! `FrontEnd`: what a front end does for the servers of a host. A terminal, a gateway and a test each bring their own.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use toolgate_wire::RawJson;

use super::client_side::bounded;
use crate::auth::guide::LoginGuide;
use crate::server_name::ServerName;

/// What servers may ask of the person, and tell them. What a front end cannot do it says in [`abilities`](Self::abilities), and servers are
/// told so when they connect; they are not asked to guess.
pub trait FrontEnd: Send + Sync + 'static {
    /// What can be asked of the person here. By default nothing.
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    /// Puts a question of `server` to the person.
    fn elicit(&self, _server: ServerName, _question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        Box::pin(async { ElicitationAnswer::Cancel })
    }

    /// Lets a model answer for `server`, with the person's consent. The request and the answer are as the protocol writes them; the error
    /// is what the server is told.
    fn sample(&self, _server: ServerName, _request: RawJson) -> BoxFuture<'static, Result<RawJson, String>> {
        Box::pin(async { Err("there is no model here".to_owned()) })
    }

    /// Who leads the person through logins; nobody does where there is no person.
    fn login_guide(&self) -> Option<Arc<dyn LoginGuide>> {
        None
    }

    /// Takes a log entry of `server`. Must not block.
    fn log(&self, _server: &ServerName, _entry: ServerLog) {}

    /// Receives a notice that a starting server has up to `limit` because it is busy, with its last line on stderr.
    /// Must not block.
    fn still_starting(&self, _server: &ServerName, _line: &str, _limit: Duration) {}

    /// Hears how far a running call is. Must not block.
    fn progress(&self, _news: &CallProgress) {}
}

/// A front end without a person.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyToAsk;

impl FrontEnd for NobodyToAsk {}

/// What can be asked of the person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Filling in a form.
    pub forms: bool,
    /// Visiting a URL.
    pub urls: bool,
    /// Having a model answer.
    pub sampling: bool,
}

/// A question of a server to the person.
#[derive(Debug, Clone)]
pub enum Elicitation {
    /// A form to fill in.
    Form {
        /// What it is about.
        message: String,
        /// The fields: an object schema whose properties are flat.
        schema: RawJson,
    },
    /// A place to visit, for what must not pass through here, such as a password.
    Url {
        /// What it is about.
        message: String,
        /// Where.
        url: String,
    },
}

/// What the person answered.
#[derive(Debug, Clone)]
pub enum ElicitationAnswer {
    /// Yes; for a form, with its values.
    Accept(Option<RawJson>),
    /// No.
    Decline,
    /// Neither: the question was put away.
    Cancel,
}

impl ElicitationAnswer {
    /// Reads an answer as the protocol writes it; what is no answer is none.
    pub(crate) fn read(answer: &RawJson) -> Self {
        match answer.member("action").and_then(|action| action.read::<String>().ok()).as_deref() {
            Some("accept") => Self::Accept(answer.member("content")),
            Some("decline") => Self::Decline,
            _ => Self::Cancel,
        }
    }

    pub(crate) fn to_json(&self) -> RawJson {
        let action = match self {
            Self::Accept(_) => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        };
        let answer = RawJson::EMPTY_OBJECT;
        let answer = match self {
            Self::Accept(Some(content)) => answer.with_member("content", content),
            _ => answer,
        };
        answer.with_member("action", &RawJson::string(action))
    }
}

/// A log entry of a server.
#[derive(Debug, Clone)]
pub struct ServerLog {
    /// `debug` … `emergency`, as the protocol names them.
    pub level: String,
    /// Which part of the server speaks.
    pub logger: Option<String>,
    /// What it says.
    pub data: RawJson,
}

/// How far a running call is.
#[derive(Debug, Clone, PartialEq)]
pub struct CallProgress {
    /// Whose tool.
    pub server: ServerName,
    /// Which tool, by its own name.
    pub tool: String,
    /// How much is done; never falls below zero and is always finite.
    pub done: f64,
    /// Of how much, if the server knows.
    pub total: Option<f64>,
    /// What it is doing.
    pub message: Option<String>,
}

impl CallProgress {
    /// Reads `notifications/progress`; nothing when its numbers make no sense.
    pub(crate) fn read(server: &ServerName, tool: &str, params: &RawJson) -> Option<Self> {
        let number = |key: &str| params.member(key).and_then(|value| value.read::<f64>().ok());
        let is_sane = |value: &f64| value.is_finite() && *value >= 0.0;
        Some(Self {
            server: server.clone(),
            tool: tool.to_owned(),
            done: number("progress").filter(is_sane)?,
            total: number("total").filter(is_sane).filter(|total| *total > 0.0),
            message: params.member("message").and_then(|text| text.read().ok()).map(bounded),
        })
    }

    /// Percent, when the server knows how much there is to do.
    pub fn percent(&self) -> Option<f64> {
        self.total.map(|total| (self.done / total * 100.0).min(100.0))
    }
}
