//! The HTTP+SSE transport of 2024-11-05: a GET stream that names an endpoint, and POSTs to it.

use futures_util::future::FutureExt as _;
use serde_json::Value;
use std::sync::Arc;

use crate::engine::incoming::Client;
use crate::engine::session::Session;
use crate::engine::steps::StepLog;
use crate::engine::trigger::Hit;
use crate::fault::What;
use crate::http::checks;
use crate::http::connection::Hub;
use crate::http::reply::{Document, Reply, Stream, status_answer};
use crate::http::request::Request;

/// A stream that was opened, and the first event it carries.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) stream: Stream,
    pub(crate) endpoint: String,
    pub(crate) session_id: String,
}

/// Answers the GET that opens the stream.
pub(crate) fn open(hub: &Hub, request: &Request, hits: &[Hit]) -> Result<Opened, Document> {
    if let Some((answer, _)) = status_answer(hits) {
        return Err(Document::scripted(answer, &Value::Null));
    }
    if let Some(refusal) = checks::refuse_get(request) {
        return Err(refusal);
    }
    let session_id = format!("sse-{}", hub.server.fresh_number());
    let session = Arc::new(Session::new(StepLog::new()));
    hub.server.add_session(&session_id, &session);
    let elsewhere = hits.iter().find_map(|hit| match &hit.what {
        What::Endpoint(endpoint) => Some(endpoint.clone()),
        _ => None,
    });
    let endpoint = elsewhere.unwrap_or_else(|| format!("/messages?session={session_id}"));
    let stream = Stream::for_get(session.common.clone(), 0);
    Ok(Opened { stream, endpoint, session_id })
}

/// Answers a POST to the endpoint: accepted, the answer comes on the stream.
pub(crate) fn post(hub: &Hub, request: &Request, hits: &[Hit]) -> Reply {
    if let Some((answer, _)) = status_answer(hits) {
        return Reply::Document(Document::scripted(answer, &Value::Null));
    }
    let session = request.query("session").and_then(|id| hub.server.session(id));
    let Some(session) = session else {
        return Reply::Document(Document::text(404, "Could not find session"));
    };
    let outlet = session.common.clone();
    let client = Client { server: Arc::clone(&hub.server), session, outlet };
    for mut job in client.take_in(&request.text()) {
        if (&mut job).now_or_never().is_none() {
            hub.start(job);
        }
    }
    Reply::Accepted(StepLog::new())
}
