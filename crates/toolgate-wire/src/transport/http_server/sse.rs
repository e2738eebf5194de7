//! `SseService`: the transport of 2024-11-05. One GET stream carries everything the server says; what the client says comes as POSTs.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;

use super::answer::{AnswerStream, Keep};
use super::body::{EventBody, EventIds, ResponseBody, empty, events, method_not_allowed, refused, text};
use super::checks::{self, Gate};
use super::session::random_name;
use super::{BoxError, HttpOptions, HttpService, unreadable};
use crate::error::{Error, Result};
use crate::limits::SESSIONS_MAX;
use crate::link::{Inbound, Link, Outgoing};
use crate::message::Frame;
use crate::peer::{Peer, lock};
use crate::server::{Server, ServerCore};

/// A [`Server`] over the HTTP+SSE transport of 2024-11-05. Cheap to clone.
#[derive(Clone)]
pub struct SseService(Arc<Inside>);

struct Inside {
    gate: Gate,
    stream_path: String,
    message_path: String,
    core: Arc<ServerCore>,
    open: Arc<Mutex<HashMap<String, Inbound>>>,
}

/// Keeps a connection as long as its stream is read.
struct Connection {
    name: String,
    open: Arc<Mutex<HashMap<String, Inbound>>>,
    _peer: Peer,
}

impl Drop for Connection {
    fn drop(&mut self) {
        lock(&self.open).remove(&self.name);
    }
}

impl SseService {
    /// Serves `server`: the stream under `stream_path` (usually `/sse`), messages under `message_path` (usually `/messages`). Of the options
    /// only those about hosts and origins apply.
    pub fn new(server: &Server, options: HttpOptions, stream_path: &str, message_path: &str) -> Self {
        Self(Arc::new(Inside {
            gate: options.gate,
            stream_path: stream_path.to_owned(),
            message_path: message_path.to_owned(),
            core: server.core().clone(),
            open: Arc::default(),
        }))
    }

    /// How many clients are connected.
    pub fn connection_count(&self) -> usize {
        lock(&self.0.open).len()
    }

    /// Whether a request is for this service.
    fn is_for<B>(&self, request: &Request<B>) -> bool {
        [&self.0.stream_path, &self.0.message_path].into_iter().any(|path| request.uri().path() == path)
    }

    /// Both transports on one socket: this one on its paths, `http` on all others.
    pub fn beside(self, http: HttpService) -> BothServices {
        BothServices { sse: self, http }
    }

    /// Answers one HTTP request.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let (parts, body) = request.into_parts();
        let response = async {
            self.0.gate.check(&parts)?;
            checks::header_size(&parts.headers)?;
            let path = parts.uri.path();
            Ok(match parts.method {
                Method::GET if path == self.0.stream_path => self.0.connect(),
                Method::POST if path == self.0.message_path => self.0.message(&parts, body).await?,
                _ if path == self.0.stream_path => method_not_allowed("GET"),
                _ if path == self.0.message_path => method_not_allowed("POST"),
                _ => empty(StatusCode::NOT_FOUND),
            })
        };
        response.await.unwrap_or_else(|refusal: Box<_>| *refusal)
    }
}

impl Inside {
    fn connect(&self) -> Response<ResponseBody> {
        let Some(name) = random_name().filter(|_| lock(&self.open).len() < SESSIONS_MAX) else {
            return refused(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("too many clients (limit SESSIONS_MAX = {SESSIONS_MAX})"),
            );
        };
        let stream = AnswerStream::new(0, Keep::Nothing, None);
        let (peer, _session) = self.core.connect(|_| Arc::new(SseLink(stream.clone())));
        lock(&self.open).insert(name.clone(), peer.inbound());
        let mut body = EventBody::new(stream.attach(None), EventIds::None);
        body.opening = Some(format!("event: endpoint\ndata: {}?sessionId={name}\n\n", self.message_path).into());
        body.owner = Some(Box::new(Connection { name, open: self.open.clone(), _peer: peer }));
        events(body)
    }

    async fn message<B>(&self, parts: &Parts, body: B) -> Result<Response<ResponseBody>, Box<Response<ResponseBody>>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let query = parts.uri.query().unwrap_or_default();
        let name = query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")).unwrap_or_default();
        let Some(inbound) = lock(&self.open).get(name).cloned() else {
            return Ok(refused(StatusCode::NOT_FOUND, "there is no such session; GET the stream first"));
        };
        let bytes = checks::read_body(&parts.headers, body).await?;
        Ok(match Frame::read(&bytes) {
            Ok(frame) => {
                inbound.read_frame(frame, &bytes);
                text(StatusCode::ACCEPTED, "Accepted")
            }
            Err(defect) => unreadable(&defect),
        })
    }
}

/// Everything goes onto the one stream.
struct SseLink(Arc<AnswerStream>);

impl Link for SseLink {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            if !self.0.is_read() {
                return Err(Error::closed("the client has left"));
            }
            if outgoing.begins_to_leave() {
                self.0.send(outgoing.to_bytes()).await;
            }
            Ok(())
        })
    }

    fn try_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        if self.0.is_full() {
            return Some(outgoing);
        }
        if outgoing.begins_to_leave() {
            self.0.push(outgoing.to_bytes());
        }
        None
    }

    fn cancels_with_message(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.0.withdraw();
        Box::pin(async {})
    }
}

impl<B> tower_service::Service<Request<B>> for SseService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

/// An [`SseService`] and an [`HttpService`], told apart by the path.
#[derive(Clone, Debug)]
pub struct BothServices {
    sse: SseService,
    http: HttpService,
}

impl<B> tower_service::Service<Request<B>> for BothServices
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.sse.is_for(&request) { self.sse.call(request) } else { self.http.call(request) }
    }
}

impl fmt::Debug for SseService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseService").field("connections", &self.connection_count()).finish_non_exhaustive()
    }
}
