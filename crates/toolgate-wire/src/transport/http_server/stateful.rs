//! The older versions over HTTP: POST, GET and DELETE within a session.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::answer::{First, Reader};
use super::body::{
    EventBody, EventIds, ResponseBody, empty, error, events, json, method_not_allowed, priming_event, refused,
};
use super::checks::accepts;
use super::session::{HttpSession, Sessions};
use crate::era::Version;
use crate::error::RpcError;
use crate::headers::{LAST_EVENT_ID, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};
use crate::limits::STREAM_AFTER_MS;
use crate::message::{Frame, Id, Message};
use crate::server::ServerCore;

/// The stateful half of the service.
pub(super) struct Stateful {
    pub(super) core: Arc<ServerCore>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) idle: Duration,
}

/// The ids of the requests in a frame.
fn request_ids(frame: &Frame) -> Vec<Id> {
    let id = |message: &Message| if let Message::Request(request) = message { Some(request.id.clone()) } else { None };
    match frame {
        Frame::One(message) => id(message).into_iter().collect(),
        Frame::Batch(entries) => entries.iter().flatten().filter_map(id).collect(),
    }
}

fn is_initialize(message: &Message) -> bool {
    matches!(message, Message::Request(request) if request.method == "initialize")
}

impl Stateful {
    pub(super) async fn post(&self, parts: Parts, frame: Frame, bytes: &Bytes) -> Response<ResponseBody> {
        if let Some(refusal) = unknown_version(&parts.headers) {
            return refusal;
        }
        if matches!(&frame, Frame::One(message) if is_initialize(message)) {
            return self.initialize(parts, frame, bytes).await;
        }
        let session = match self.session(&parts.headers) {
            Ok(session) => session,
            Err(refusal) => return *refusal,
        };
        if let Frame::Batch(entries) = &frame {
            let batches = session.session.caller().is_some_and(|caller| caller.version().has_batches());
            if !batches || entries.iter().flatten().any(is_initialize) {
                return refused(StatusCode::BAD_REQUEST, "a batch is not possible here");
            }
        }
        deliver(&session, parts, frame, bytes).await
    }

    async fn initialize(&self, parts: Parts, frame: Frame, bytes: &Bytes) -> Response<ResponseBody> {
        if parts.headers.contains_key(&MCP_SESSION_ID) {
            return refused(StatusCode::BAD_REQUEST, "`initialize` begins a session; send it without Mcp-Session-Id");
        }
        let Some(session) = HttpSession::new(&self.core) else {
            return refused(
                StatusCode::INTERNAL_SERVER_ERROR,
                "no session can be named: the system gives no randomness",
            );
        };
        let mut response = deliver(&session, parts, frame, bytes).await;
        if session.session.caller().is_none() {
            *response.status_mut() = StatusCode::BAD_REQUEST; // The answer says what was wrong with it.
            return response;
        }
        if let Ok(name) = HeaderValue::try_from(&session.id) {
            response.headers_mut().insert(MCP_SESSION_ID, name);
        }
        self.sessions.add(session, self.idle);
        response
    }

    /// The session named by the headers, or what to answer without one.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<HttpSession>, Box<Response<ResponseBody>>> {
        let Some(name) = headers.get(&MCP_SESSION_ID) else {
            let why = "Mcp-Session-Id is missing; `initialize` begins a session";
            return Err(Box::new(refused(StatusCode::BAD_REQUEST, why)));
        };
        let found = name.to_str().ok().and_then(|name| self.sessions.find(name.trim()));
        found.ok_or_else(|| {
            Box::new(refused(StatusCode::NOT_FOUND, "there is no such session; `initialize` begins a new one"))
        })
    }

    pub(super) fn get(&self, parts: &Parts) -> Response<ResponseBody> {
        if !accepts(&parts.headers, "text/event-stream") {
            return refused(StatusCode::NOT_ACCEPTABLE, "Accept must name text/event-stream");
        }
        let session = match self.session(&parts.headers) {
            Ok(session) => session,
            Err(refusal) => return *refusal,
        };
        let reader = match parts.headers.get(&LAST_EVENT_ID).map(|id| id.to_str().unwrap_or_default()) {
            None => session.link.standalone.attach(None),
            Some(last) => {
                let place = last
                    .trim()
                    .split_once('-')
                    .and_then(|(stream, event)| Some((stream.parse().ok()?, event.parse().ok()?)));
                let stream = place.and_then(|(stream, event)| Some((session.link.stream(stream)?, event)));
                let Some((stream, event)) = stream else {
                    return refused(
                        StatusCode::BAD_REQUEST,
                        format!("event `{last}` is not known any more; nothing can be resumed after it"),
                    );
                };
                stream.attach(Some(event))
            }
        };
        stream_of(&session, reader)
    }

    pub(super) fn delete(&self, parts: &Parts) -> Response<ResponseBody> {
        match self.session(&parts.headers) {
            Ok(session) if self.sessions.remove(&session.id) => empty(StatusCode::NO_CONTENT),
            Ok(_) => empty(StatusCode::NOT_FOUND),
            Err(refusal) => *refusal,
        }
    }
}

/// Gives a frame to the peer of a session, and waits for what comes of it.
async fn deliver(session: &Arc<HttpSession>, parts: Parts, frame: Frame, bytes: &Bytes) -> Response<ResponseBody> {
    let ids = request_ids(&frame);
    if ids.is_empty() {
        session.peer.inbound().read_frame(frame, bytes);
        return empty(StatusCode::ACCEPTED);
    }
    let Some(stream) = session.link.open(&ids, parts) else {
        let taken = RpcError::new(RpcError::INVALID_REQUEST, "a request with this id is running already");
        return error(StatusCode::BAD_REQUEST, ids.into_iter().next(), taken);
    };
    let mut reader = stream.attach(None);
    session.peer.inbound().read_frame(frame, bytes);
    let first = poll_fn(|cx| reader.poll_first(cx));
    match tokio::time::timeout(Duration::from_millis(STREAM_AFTER_MS), first).await {
        Ok(First::Answer(answer)) => json(StatusCode::OK, answer),
        Ok(First::Nothing) => empty(StatusCode::ACCEPTED),
        Ok(First::Stream) | Err(_) => stream_of(session, reader),
    }
}

/// A stream that can be resumed. It does not keep its session alive.
fn stream_of(session: &HttpSession, reader: Reader) -> Response<ResponseBody> {
    session.touch();
    let polls = session.session.caller().is_some_and(|caller| caller.version() >= Version::V2025_11_25);
    let opening = polls.then(|| priming_event(&reader)); // Older clients would take it for a broken message.
    let mut body = EventBody::new(reader, EventIds::Numbered);
    body.opening = opening;
    events(body)
}

/// A version header must name something we know; which of the older ones does not matter, the session knows.
fn unknown_version(headers: &HeaderMap) -> Option<Response<ResponseBody>> {
    let named = headers.get(&MCP_PROTOCOL_VERSION)?.to_str().unwrap_or_default().trim();
    match Version::parse(named) {
        Some(version) if !version.is_modern() => None,
        _ => Some(refused(StatusCode::BAD_REQUEST, format!("MCP `{named}` is not spoken here"))),
    }
}

/// What a server without sessions says to GET and DELETE.
pub(super) fn only_post() -> Response<ResponseBody> {
    method_not_allowed("POST")
}
