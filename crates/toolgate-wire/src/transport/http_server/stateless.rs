//! Requests of 2026-07-28 over HTTP: each POST is a conversation of its own. The handler runs inside the response, so a client that leaves
//! takes it along.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};

use super::answer::{AnswerStream, Keep};
use super::body::{EventBody, EventIds, ResponseBody, error, events, json};
use crate::era::Version;
use crate::error::RpcError;
use crate::headers::MCP_PROTOCOL_VERSION;
use crate::limits::STREAM_AFTER_MS;
use crate::message::{Id, Message, Request, Response as RpcResponse};
use crate::peer::Direction;
use crate::raw::RawJson;
use crate::server::ServerCore;
use crate::server::modern::{Arrival, is_modern, status_of};

/// Whether the headers name a version without sessions, or one that nobody knows.
pub(super) fn header_is_modern(headers: &HeaderMap) -> bool {
    let named = headers.get(&MCP_PROTOCOL_VERSION).map(|version| version.to_str().unwrap_or_default().trim());
    named.is_some_and(|version| Version::parse(version).is_none_or(Version::is_modern))
}

/// Whether a request is to be answered without a session.
pub(super) fn is_stateless(headers: &HeaderMap, params: Option<&RawJson>) -> bool {
    header_is_modern(headers) || is_modern(params)
}

type Work = BoxFuture<'static, Result<RawJson, RpcError>>;

enum Begun {
    Done(Result<RawJson, RpcError>),
    Stream,
}

/// Answers one request: with JSON when the answer is all there is to say, with a stream when something comes before it.
pub(super) async fn answer(core: &Arc<ServerCore>, parts: Parts, request: Request) -> Response<ResponseBody> {
    let id = request.id.clone();
    let stream = AnswerStream::new(0, Keep::Nothing, core.tap.clone());
    let mut reader = stream.attach(None);
    let arrival = Arrival { request, http: Some(Arc::new(parts)), outlet: stream.clone() };
    let cx = match core.admit(arrival) {
        Ok(cx) => cx,
        Err(refusal) => return error(refusal.status, Some(id), refusal.error),
    };
    let mut work: Work = {
        let core = core.clone();
        Box::pin(async move { core.run(cx).await })
    };
    let begun = poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(outcome) => Poll::Ready(Begun::Done(outcome)),
        Poll::Pending => reader.poll_first(cx).map(|_| Begun::Stream),
    });
    let begun = tokio::time::timeout(Duration::from_millis(STREAM_AFTER_MS), begun).await;
    match begun {
        Ok(Begun::Done(outcome)) if !stream.has_begun() => {
            let status = outcome.as_ref().map_or_else(status_of, |_| StatusCode::OK);
            let body = message(id, outcome);
            if let Some(tap) = &core.tap {
                tap(Direction::Sent, &body);
            }
            json(status, body)
        }
        Ok(Begun::Done(outcome)) => {
            stream.push_last(message(id, outcome));
            events(EventBody::new(reader, EventIds::None))
        }
        Ok(Begun::Stream) | Err(_) => {
            let mut body = EventBody::new(reader, EventIds::None);
            body.work = Some(Box::pin(async move { message(id, work.await) }));
            events(body)
        }
    }
}

fn message(id: Id, outcome: Result<RawJson, RpcError>) -> Bytes {
    Message::Response(RpcResponse { id: Some(id), outcome }).to_bytes()
}
