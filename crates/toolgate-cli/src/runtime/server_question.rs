//! A question of a server to the person who has the running command, and their answer, as they travel.

use serde::{Deserialize, Serialize};
use toolgate::{Elicitation, ElicitationAnswer, RawJson, ServerName};

/// A question of a server to the person.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ServerQuestion {
    /// Tells its answer from those to others.
    pub(crate) id: u64,
    /// Whose question.
    pub(crate) server: String,
    /// What it is about.
    pub(crate) message: String,
    /// What is wanted.
    pub(crate) wanted: ServerWants,
}

/// What a server wants of the person.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ServerWants {
    /// A form filled in.
    Form(RawJson),
    /// A page visited.
    Url(String),
}

/// What the person answered a server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ServerAnswer {
    /// The question.
    pub(crate) id: u64,
    /// What they answered.
    pub(crate) answer: AnsweredServer,
}

/// The same without the question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum AnsweredServer {
    /// Yes; for a form, with its values.
    Accept(Option<RawJson>),
    /// No.
    Decline,
    /// Neither.
    Cancel,
}

impl ServerQuestion {
    /// The question as it travels.
    pub(crate) fn new(id: u64, server: &ServerName, question: Elicitation) -> Self {
        let (message, wanted) = match question {
            Elicitation::Form { message, schema } => (message, ServerWants::Form(schema)),
            Elicitation::Url { message, url } => (message, ServerWants::Url(url)),
        };
        Self { id, server: server.to_string(), message, wanted }
    }
}

impl From<ServerQuestion> for Elicitation {
    fn from(ServerQuestion { message, wanted, .. }: ServerQuestion) -> Self {
        match wanted {
            ServerWants::Form(schema) => Self::Form { message, schema },
            ServerWants::Url(url) => Self::Url { message, url },
        }
    }
}

impl From<ElicitationAnswer> for AnsweredServer {
    fn from(answer: ElicitationAnswer) -> Self {
        match answer {
            ElicitationAnswer::Accept(values) => Self::Accept(values),
            ElicitationAnswer::Decline => Self::Decline,
            ElicitationAnswer::Cancel => Self::Cancel,
        }
    }
}

impl From<AnsweredServer> for ElicitationAnswer {
    fn from(answer: AnsweredServer) -> Self {
        match answer {
            AnsweredServer::Accept(values) => Self::Accept(values),
            AnsweredServer::Decline => Self::Decline,
            AnsweredServer::Cancel => Self::Cancel,
        }
    }
}
