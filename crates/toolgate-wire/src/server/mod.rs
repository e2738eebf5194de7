//! `Server`: the server role. A [`Service`] says what a server does; the role makes it speak every version over every transport.
//!
//! Reading order: [`Service`] and what it gives back, [`RequestContext`] that it is handed, then how requests are let in (`modern`,
//! `session`), run (here) and wrapped (`envelope`), and how news travel (`changes`, `listen`).

mod about;
mod service;

mod ask;
mod context;
mod log_level;

pub(crate) mod modern;
pub(crate) mod session;

mod envelope;
mod spent;
mod state;

mod changes;
mod listen;

use std::fmt;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

pub use about::{About, CacheHints, CacheScope};
pub use changes::Changes;
pub use context::{Caller, RequestContext};
pub(crate) use context::{Outlet, cannot_ask, notification_bytes};
pub use log_level::LogLevel;
pub use service::{InputRequest, InputRequired, Interest, Interruption, Reply, Service};
pub use state::StateKey;

use self::changes::Hub;
use self::context::Input;
use self::session::Session;
use crate::era::Version;
use crate::error::{Error, RpcError};
use crate::limits::INPUT_ROUNDS_MAX;
use crate::link::{Inbound, Link};
use crate::meta::TASKS_EXTENSION;
use crate::peer::{Peer, Tap};
use crate::raw::RawJson;
use crate::transport::pair::PairEnd;
use crate::transport::stream;

/// A service that speaks MCP. Cheap to clone; all clones are one server.
#[derive(Clone)]
pub struct Server {
    core: Arc<ServerCore>,
}

/// What all connections of a server share.
pub(crate) struct ServerCore {
    pub(crate) service: Arc<dyn Service>,
    pub(crate) tap: Option<Tap>,
    state_key: Option<StateKey>,
    hub: Arc<Hub>,
}

impl Server {
    /// Serves `service`.
    pub fn new(service: impl Service) -> Self {
        Self::from_arc(Arc::new(service))
    }

    /// The same for a service that is shared already.
    pub fn from_arc(service: Arc<dyn Service>) -> Self {
        let hub = Hub::new(service.clone());
        Self { core: Arc::new(ServerCore { service, tap: None, state_key: StateKey::random(), hub }) }
    }

    /// With a key of its own choice for what travels with clients; without it, another process cannot continue what this one began.
    #[must_use]
    pub fn state_key(self, key: StateKey) -> Self {
        self.with(|core| core.state_key = Some(key))
    }

    /// Shows every frame to `tap`.
    #[must_use]
    pub fn tap(self, tap: Tap) -> Self {
        self.with(|core| core.tap = Some(tap))
    }

    fn with(self, change: impl FnOnce(&mut ServerCore)) -> Self {
        let core = &self.core;
        let mut core = ServerCore {
            service: core.service.clone(),
            tap: core.tap.clone(),
            state_key: core.state_key.clone(),
            hub: core.hub.clone(),
        };
        change(&mut core);
        Self { core: Arc::new(core) }
    }

    /// Where changes are announced.
    pub fn changes(&self) -> Changes {
        Changes(self.core.hub.clone())
    }

    /// Ends every open subscription in order (2026-07-28); clients hear that it was the server's decision.
    pub fn end_subscriptions(&self) {
        self.core.hub.end_subscriptions();
    }

    /// Serves one client on a pair of byte streams, such as stdin and stdout; every version on the same pipe. Returns when it has ended.
    pub async fn serve_stream<R, W>(&self, reader: R, writer: W) -> Error
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.serve_link(stream::open(reader, writer)).await
    }

    /// Serves the client at the other end of an in-process pair. Returns when it has ended.
    pub async fn serve_pair(&self, end: PairEnd) -> Error {
        self.serve_link(end.open()).await
    }

    async fn serve_link(&self, open: impl FnOnce(Inbound) -> Arc<dyn Link>) -> Error {
        let (peer, _session) = self.core.connect(open);
        let why = peer.closed().await;
        peer.close().await;
        why
    }

    pub(crate) fn core(&self) -> &Arc<ServerCore> {
        &self.core
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("about", &self.core.service.about()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ServerCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerCore")
    }
}

impl ServerCore {
    /// Begins to serve one connection.
    pub(crate) fn connect(self: &Arc<Self>, open: impl FnOnce(Inbound) -> Arc<dyn Link>) -> (Peer, Arc<Session>) {
        let session = Session::new(self.clone());
        let peer = Peer::start(session.clone(), self.tap.clone(), open);
        session.joined(&peer);
        (peer, session)
    }

    /// Runs a request that was let in, to the result its version wants to see.
    pub(crate) async fn run(&self, cx: RequestContext) -> Result<RawJson, RpcError> {
        if !cx.version().is_modern() {
            return self.run_with_questions(cx).await;
        }
        let outcome = match cx.method() {
            "server/discover" => Ok(Reply::Complete(cx.inside().about.discover_result())),
            "subscriptions/listen" => listen::run(self, &cx).await.map(Reply::Complete).map_err(Interruption::Failed),
            _ => self.service.request(cx.clone()).await,
        };
        match outcome {
            Ok(Reply::Complete(result)) => Ok(envelope::wrap(&result, "complete", &cx)),
            Ok(Reply::Task(task)) => {
                cx.require_extension(TASKS_EXTENSION)?;
                if cx.method() != "tools/call" {
                    return Err(RpcError::internal(format!("`{}` cannot be answered with a task", cx.method())));
                }
                Ok(envelope::wrap(&task, "task", &cx))
            }
            Ok(Reply::InputRequired(needed)) | Err(Interruption::InputRequired(needed)) => {
                envelope::input_required(&needed, self.state_key.as_ref(), &cx)
            }
            Err(Interruption::Failed(error)) => Err(error),
        }
    }

    /// The older versions: a handler that needs input is run again once the client was asked.
    async fn run_with_questions(&self, cx: RequestContext) -> Result<RawJson, RpcError> {
        let mut cx = cx;
        for _ in 0..INPUT_ROUNDS_MAX {
            let needed = match self.service.request(cx.clone()).await {
                Ok(Reply::Complete(result) | Reply::Task(result)) => return Ok(result),
                Ok(Reply::InputRequired(needed)) | Err(Interruption::InputRequired(needed)) => needed,
                Err(Interruption::Failed(error)) => return Err(error),
            };
            let answers = cx.ask_directly(&needed.requests).await?;
            let mut input = Input { state: needed.state, ..cx.inside().input.clone() };
            for (request, answer) in needed.requests.iter().zip(answers) {
                input.asked.push((request.key.clone(), state::question(request)));
                input.answers.push((request.key.clone(), answer));
            }
            cx = cx.again(input);
        }
        Err(RpcError::internal(format!("more than {INPUT_ROUNDS_MAX} rounds of questions (limit INPUT_ROUNDS_MAX)")))
    }
}

/// A client that has not said who it is.
pub(crate) fn unknown_caller() -> Caller {
    Caller { version: Version::LATEST, info: None, capabilities: RawJson::EMPTY_OBJECT }
}
