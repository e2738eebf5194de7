//! Streamable HTTP, server side: one endpoint for every version, as a tower service. 2026-07-28 is answered without sessions, older clients
//! get one.
//!
//! Reading order: `checks` (who may ask, in which form), `stateless` and `stateful` (the two eras), `session`, `answer` (a stream of events
//! and its readers), `body`; [`serve`] puts a service on a socket, [`SseService`] is the transport of 2024-11-05.

mod checks;

mod stateless;

mod session;
mod stateful;

mod answer;
mod body;

mod sse;

mod serve;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;

pub use body::ResponseBody;
pub use serve::{Serving, serve};
pub use sse::{BothServices, SseService};

use self::body::{empty, error, method_not_allowed, refused};
use self::checks::{Allowed, Gate};
use self::session::Sessions;
use self::stateful::Stateful;
use crate::error::RpcError;
use crate::limits::SESSION_IDLE_MS;
use crate::message::{Defect, DefectKind, Frame, Message};
use crate::peer::Direction;
use crate::server::{Server, ServerCore, unknown_caller};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How an HTTP service behaves.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    gate: Gate,
    path: Option<String>,
    session_idle: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { gate: Gate::default(), path: None, session_idle: Duration::from_millis(SESSION_IDLE_MS) }
    }
}

impl HttpOptions {
    /// Answers under the loopback names only, on every path.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also answers under this host name, with or without a port. Pages served under it may ask as well.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.gate.hosts.add(host.into());
        self
    }

    /// Answers under any host name: for a server behind something else that checks.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.gate.hosts = Allowed::Any;
        self
    }

    /// Also answers to pages of this origin, written like `https://example.com`.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.gate.origins.add(origin.into());
        self
    }

    /// Answers to pages of any origin.
    #[must_use]
    pub fn allow_any_origin(mut self) -> Self {
        self.gate.origins = Allowed::Any;
        self
    }

    /// Answers on this path only.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// How long a session may stay unused.
    #[must_use]
    pub fn session_idle(mut self, idle: Duration) -> Self {
        self.session_idle = idle;
        self
    }
}

/// A [`Server`] as an HTTP service. Cheap to clone; all clones share their sessions.
#[derive(Clone)]
pub struct HttpService(Arc<Inside>);

struct Inside {
    gate: Gate,
    path: Option<String>,
    core: Arc<ServerCore>,
    stateful: Stateful,
}

impl HttpService {
    /// Serves `server`.
    pub fn new(server: &Server, options: HttpOptions) -> Self {
        let core = server.core().clone();
        let stateful =
            Stateful { core: core.clone(), sessions: Arc::new(Sessions::default()), idle: options.session_idle };
        Self(Arc::new(Inside { gate: options.gate, path: options.path, core, stateful }))
    }

    /// How many sessions are open.
    pub fn session_count(&self) -> usize {
        self.0.stateful.sessions.count()
    }

    /// Ends every session; their streams end with them.
    pub fn close_sessions(&self) {
        self.0.stateful.sessions.remove_all();
    }

    /// Answers one HTTP request.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let (parts, body) = request.into_parts();
        match self.0.handle(parts, body).await {
            Ok(response) => response,
            Err(refusal) => *refusal,
        }
    }
}

impl Inside {
    async fn handle<B>(&self, parts: Parts, body: B) -> Result<Response<ResponseBody>, Box<Response<ResponseBody>>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        self.gate.check(&parts)?;
        if self.path.as_ref().is_some_and(|path| parts.uri.path() != path) {
            return Ok(empty(StatusCode::NOT_FOUND));
        }
        checks::header_size(&parts.headers)?;
        let about = self.core.service.about();
        match parts.method {
            Method::POST => {
                checks::post_forms(&parts.headers)?;
                let bytes = checks::read_body(&parts.headers, body).await?;
                Ok(self.post(parts, bytes).await)
            }
            Method::GET | Method::DELETE if !about.speaks_legacy() || stateless::header_is_modern(&parts.headers) => {
                Ok(stateful::only_post())
            }
            Method::GET => Ok(self.stateful.get(&parts)),
            Method::DELETE => Ok(self.stateful.delete(&parts)),
            _ => Ok(method_not_allowed("GET, POST, DELETE")),
        }
    }

    async fn post(&self, parts: Parts, bytes: Bytes) -> Response<ResponseBody> {
        let speaks_modern = self.core.service.about().speaks_modern();
        let frame = match Frame::read(&bytes) {
            Ok(frame) => frame,
            Err(defect) => return unreadable(&defect),
        };
        match frame {
            Frame::One(Message::Request(request))
                if speaks_modern && stateless::is_stateless(&parts.headers, request.params.as_ref()) =>
            {
                self.show(&bytes);
                stateless::answer(&self.core, parts, request).await
            }
            frame if !speaks_modern || !stateless::header_is_modern(&parts.headers) => {
                self.stateful.post(parts, frame, &bytes).await
            }
            Frame::One(Message::Notification(notification)) => {
                self.show(&bytes);
                self.core.service.notification(&notification, &unknown_caller());
                empty(StatusCode::ACCEPTED)
            }
            Frame::One(_) => refused(
                StatusCode::BAD_REQUEST,
                "a response is not possible here: this version sends no requests to clients",
            ),
            Frame::Batch(_) => refused(StatusCode::BAD_REQUEST, "a batch is not possible in this version"),
        }
    }

    fn show(&self, bytes: &Bytes) {
        if let Some(tap) = &self.core.tap {
            tap(Direction::Received, bytes);
        }
    }
}

fn unreadable(defect: &Defect) -> Response<ResponseBody> {
    let code = if defect.kind == DefectKind::NotJson { RpcError::PARSE_ERROR } else { RpcError::INVALID_REQUEST };
    error(StatusCode::BAD_REQUEST, None, RpcError::new(code, defect.to_string()))
}

impl<B> tower_service::Service<Request<B>> for HttpService
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

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService").field("sessions", &self.session_count()).finish_non_exhaustive()
    }
}
