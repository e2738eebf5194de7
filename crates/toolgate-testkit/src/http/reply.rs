//! What a request is answered with, before anything is written.

use serde_json::{Value, json};
use std::sync::Arc;

use crate::engine::session::Session;
use crate::engine::steps::StepLog;
use crate::engine::trigger::Hit;
use crate::fault::{BodyOddity, EventOddity, HttpAnswer, Place, What};

/// The answer to one HTTP request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A whole document.
    Document(Document),
    /// Steps to be followed.
    Stream(Stream),
    /// 202, after the steps of whatever fault there was.
    Accepted(StepLog),
}

/// A document and its status.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// A log of steps and how it is to be written.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) log: StepLog,
    /// First step to write.
    pub(crate) from: usize,
    /// What event ids begin with; `None` writes none.
    pub(crate) key: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) form: Form,
    /// For the record, should the client close it: the method of the request; empty for a GET.
    pub(crate) method: String,
    pub(crate) id: Value,
    /// The session whose common stream this is.
    pub(crate) common_of: Option<Arc<Session>>,
    /// The session in which closing this stream cancels the request; legacy requests go on without their stream.
    pub(crate) cancels: Option<Arc<Session>>,
}

impl Stream {
    /// The events of a log, as a GET gets them.
    pub(crate) const fn for_get(log: StepLog, from: usize) -> Self {
        Self {
            log,
            from,
            key: None,
            headers: Vec::new(),
            form: Form::Events,
            method: String::new(),
            id: Value::Null,
            common_of: None,
            cancels: None,
        }
    }
}

/// Whether steps become events or one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Events, whatever the first step is.
    Events,
    /// One document when the first step is the answer, events otherwise.
    DocumentIfAnswer,
    /// As above, with an error status only: a 200 becomes an event stream.
    DocumentIfRefused,
}

/// How the bytes of a reply are disfigured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) content_type: Option<String>,
    pub(crate) body: Option<BodyOddity>,
    pub(crate) events: Option<EventOddity>,
    pub(crate) head_bytes: Option<usize>,
}

impl Shape {
    pub(crate) fn of(hits: &[Hit]) -> Self {
        let mut shape = Self::default();
        for hit in hits {
            match &hit.what {
                What::ContentType(kind) => shape.content_type = Some(kind.clone()),
                What::Body(oddity) => shape.body = Some(*oddity),
                What::Events(oddity) => shape.events = Some(*oddity),
                What::CutHead { bytes } => shape.head_bytes = Some(*bytes),
                _ => (),
            }
        }
        shape
    }
}

/// The status answer that is due, and where.
pub(crate) fn status_answer(hits: &[Hit]) -> Option<(&HttpAnswer, Place)> {
    hits.iter().find_map(|hit| match &hit.what {
        What::HttpStatus(answer) => Some((answer, hit.place)),
        _ => None,
    })
}

impl Document {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn text(status: u16, body: impl Into<String>) -> Self {
        let headers = vec![("Content-Type".to_owned(), "text/plain; charset=utf-8".to_owned())];
        Self { status, headers, body: body.into() }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body: body.to_string() }
    }

    /// A JSON-RPC error under this id; `None` leaves the id out.
    pub(crate) fn error(status: u16, id: Option<&Value>, code: i64, message: &str) -> Self {
        let mut body = json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}});
        if let Some(id) = id {
            body["id"] = id.clone();
        }
        Self::json(status, &body)
    }

    pub(crate) fn scripted(answer: &HttpAnswer, id: &Value) -> Self {
        let body = answer.body.replace("$ID", &id.to_string());
        Self { status: answer.status, headers: answer.headers.clone(), body }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}
