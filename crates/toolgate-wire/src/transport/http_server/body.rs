//! Bodies and responses: one JSON message with its length, or a stream of events.

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use super::answer::{Event, Reader};
use crate::error::RpcError;
use crate::limits::{EVENT_BATCH_BYTES, KEEP_ALIVE_MS};
use crate::message::{Id, Message, Response as RpcResponse};

const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The body of a response.
pub struct ResponseBody(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Events(Box<EventBody>),
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.get_mut().0 {
            Kind::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Events(events) => events.poll(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Kind::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Whole(bytes) => f.debug_tuple("Whole").field(bytes).finish(),
            Kind::Events(_) => f.write_str("Events"),
        }
    }
}

/// Whether events have ids, by which a reader can come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventIds {
    None,
    Numbered,
}

/// A stream of server-sent events.
pub(super) struct EventBody {
    pub(super) reader: Reader,
    pub(super) ids: EventIds,
    /// What comes before the events of the reader.
    pub(super) opening: Option<Bytes>,
    /// The handler, where the stream is what keeps it running; its end is the last event.
    pub(super) work: Option<BoxFuture<'static, Bytes>>,
    /// Whatever must live as long as the stream.
    pub(super) owner: Option<Box<dyn Any + Send + Sync>>,
    pub(super) alarm: Option<Pin<Box<Sleep>>>,
}

impl EventBody {
    pub(super) fn new(reader: Reader, ids: EventIds) -> Self {
        reader.stream.begin_streaming();
        Self { reader, ids, opening: None, work: None, owner: None, alarm: None }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(opening) = self.opening.take() {
            return Poll::Ready(Some(opening));
        }
        if let Some(work) = &mut self.work
            && let Poll::Ready(answer) = work.as_mut().poll(cx)
        {
            self.work = None;
            self.reader.stream.push_last(answer);
        }
        let mut out = BytesMut::new();
        loop {
            match self.reader.poll_next(cx) {
                Poll::Ready(Some(event)) => self.write(&mut out, &event),
                Poll::Ready(None) if out.is_empty() => return Poll::Ready(None),
                Poll::Pending if out.is_empty() => return self.poll_alarm(cx),
                Poll::Ready(None) | Poll::Pending => break,
            }
            if out.len() >= EVENT_BATCH_BYTES {
                break;
            }
        }
        if let Some(alarm) = &mut self.alarm {
            alarm.as_mut().reset(Instant::now() + KEEP_ALIVE);
        }
        Poll::Ready(Some(out.freeze()))
    }

    /// A comment now and then shows that the stream lives, and finds out whether anybody is there.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep(KEEP_ALIVE)));
        if alarm.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        alarm.as_mut().reset(Instant::now() + KEEP_ALIVE);
        Poll::Ready(Some(Bytes::from_static(b":\n\n")))
    }

    fn write(&self, out: &mut BytesMut, event: &Event) {
        out.reserve(event.json.len() + 64);
        if self.ids == EventIds::Numbered {
            out.extend_from_slice(format!("id: {}-{}\n", self.reader.stream.number, event.number).as_bytes());
        }
        out.extend_from_slice(b"event: message\ndata: ");
        out.extend_from_slice(&event.json);
        out.extend_from_slice(b"\n\n");
    }
}

const KEEP_ALIVE: Duration = Duration::from_millis(KEEP_ALIVE_MS);

/// An event without content, whose id is where a reader begins who loses the stream at once.
pub(super) fn priming_event(reader: &Reader) -> Bytes {
    let (stream, place) = (reader.stream.number, reader.place);
    format!("id: {stream}-{place}\nretry: {}\ndata: \n\n", crate::limits::POLL_RETRY_MS).into()
}

pub(super) fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody(Kind::Whole(None)));
    *response.status_mut() = status;
    response
}

pub(super) fn text(status: StatusCode, text: &'static str) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody(Kind::Whole(Some(Bytes::from_static(text.as_bytes())))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

pub(super) fn json(status: StatusCode, body: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody(Kind::Whole(Some(body))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn events(body: EventBody) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody(Kind::Events(Box::new(body))));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// An error, with the id of its request where that is known; never with an id of `null`, which the protocol does not have.
pub(super) fn error(status: StatusCode, id: Option<Id>, error: RpcError) -> Response<ResponseBody> {
    let mut out = BytesMut::new();
    if id.is_some() {
        Message::Response(RpcResponse { id, outcome: Err(error) }).write_to(&mut out);
    } else {
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"error\":");
        error.write_to(&mut out);
        out.extend_from_slice(b"}");
    }
    json(status, out.freeze())
}

/// A refusal in words.
pub(super) fn refused(status: StatusCode, why: impl Into<String>) -> Response<ResponseBody> {
    error(status, None, RpcError::new(RpcError::INVALID_REQUEST, why))
}

pub(super) fn method_not_allowed(allowed: &'static str) -> Response<ResponseBody> {
    let mut response = refused(StatusCode::METHOD_NOT_ALLOWED, format!("only {allowed} is possible here"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}
