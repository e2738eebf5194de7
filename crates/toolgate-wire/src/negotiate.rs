//! From an address to a client that both sides agree on: probe for the newest version, fall back to the handshake, and to the oldest
//! HTTP transport, for servers of every age and temper.
//!
//! A server may refuse the probe, answer it with nonsense, die of it, hang on it, or still be starting. Each of these ends in a
//! handshake that works, or in an error that says what the server did.

use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use crate::call::Call;
use crate::client::{Agreement, Client, ClientHandler, ClientSide, Opened, ServerAbout};
use crate::era::{Era, Version};
use crate::error::{Error, HttpFailure, Result, RpcError, last_line};
use crate::limits::{CONNECT_MS, PROBE_PATIENCE_MS, WEDGED_PATIENCE_MS};
use crate::link::{Inbound, Link};
use crate::message::Notification;
use crate::meta::{self, Introduction};
use crate::patience::Patience;
use crate::peer::{Peer, Tap, lock};
use crate::raw::RawJson;
use crate::transport::child::{ChildConfig, ChildHandle};
use crate::transport::http_client::{HttpEndpoint, HttpLink};
use crate::transport::pair::PairEnd;
use crate::transport::sse_client::SseTransport;
use crate::transport::{socket, sse_client, stream};

/// How often a silent server is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Where a server is.
pub enum Endpoint {
    /// A program to start.
    Child(ChildConfig),
    /// A Unix socket.
    Socket(PathBuf),
    /// A URL: streamable HTTP, or else the HTTP+SSE of 2024-11-05.
    Url(HttpEndpoint),
    /// A URL that speaks streamable HTTP.
    Http(HttpEndpoint),
    /// A URL that speaks HTTP+SSE.
    Sse(HttpEndpoint),
    /// A server in this process.
    Pair(PairEnd),
    /// Any two byte streams.
    Streams(Box<dyn AsyncRead + Send + Sync + Unpin>, Box<dyn AsyncWrite + Send + Sync + Unpin>),
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Child(config) => write!(f, "{config:?}"),
            Self::Socket(path) => write!(f, "Socket({})", path.display()),
            Self::Url(http) | Self::Http(http) | Self::Sse(http) => write!(f, "{http:?}"),
            Self::Pair(_) => f.write_str("Pair"),
            Self::Streams(..) => f.write_str("Streams"),
        }
    }
}

/// How to connect.
#[derive(Clone)]
pub struct ConnectOptions {
    /// Who answers the server's questions.
    pub side: Arc<dyn ClientSide>,
    /// What an earlier connection found out ([`Client::era`]).
    pub era: Option<Era>,
    /// How long all of it may take.
    pub limit: Duration,
    /// Extra time for a child that is busy. `None` grants none.
    pub patience: Option<Patience>,
    /// How long the probe may stay unanswered before the handshake is tried beside it.
    pub probe_patience: Duration,
    /// Whether a session that the server has lost is renewed automatically. Otherwise requests end with
    /// [`Error::SessionLost`]: a restarted server may offer something else, which the caller may want to check first.
    pub renews_sessions: bool,
    /// Sees every frame.
    pub tap: Option<Tap>,
    /// Where the child is put that a failed connection leaves behind, to explain the failure with what it wrote to stderr. It lives as
    /// long as it is held here.
    pub child: StartedChild,
}

/// A place for the child that was started last.
pub type StartedChild = Arc<Mutex<Option<ChildHandle>>>;

impl ConnectOptions {
    /// The defaults, for a client that is `side`.
    pub fn new(side: Arc<dyn ClientSide>) -> Self {
        Self {
            side,
            era: None,
            limit: Duration::from_millis(CONNECT_MS),
            patience: None,
            probe_patience: Duration::from_millis(PROBE_PATIENCE_MS),
            renews_sessions: true,
            tap: None,
            child: StartedChild::default(),
        }
    }
}

impl std::fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectOptions").field("era", &self.era).field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// Connects to a server of any age.
pub async fn connect(endpoint: Endpoint, options: ConnectOptions) -> Result<Client> {
    let (begun, mut after, patience) = (Instant::now(), options.limit, options.patience.clone());
    let started = options.child.clone();
    let mut negotiation = Negotiation { endpoint: Some(endpoint), options, started: started.clone() };
    let mut running = pin!(negotiation.run());
    let mut is_told = false;
    loop {
        if let Ok(connected) = tokio::time::timeout_at(begun + after, &mut running).await {
            if connected.is_ok() {
                lock(&started).take(); // The client holds it now.
            }
            return connected;
        }
        let child = lock(&started).clone();
        let stderr = child.as_ref().map(ChildHandle::stderr_tail).unwrap_or_default();
        let more = patience.as_ref().zip(child).and_then(|(patience, child)| {
            let deadline = patience.deadline(begun, &child)?;
            Some((patience, deadline))
        });
        let Some((patience, deadline)) = more else {
            // A person needs no fractions of a second.
            let after = if is_told { Duration::from_secs(after.as_secs().max(1)) } else { after };
            return Err(Error::NotAnswering { after, stderr });
        };
        if !is_told {
            patience.told.iter().for_each(|told| told(last_line(&stderr)));
            is_told = true;
        }
        after = deadline - begun;
    }
}

struct Negotiation {
    /// Taken by endpoints that can be opened only once.
    endpoint: Option<Endpoint>,
    options: ConnectOptions,
    /// The child that was started last, to explain a failure.
    started: Arc<Mutex<Option<ChildHandle>>>,
}

/// What the answer to a probe means.
enum Verdict {
    Modern(Version, RawJson),
    /// Modern, but the probe must be repeated in this version.
    Again(Version),
    Legacy,
    /// The server is gone and must be started anew, without a probe.
    Restart(Error),
    Failed(Error),
}

impl Negotiation {
    async fn run(&mut self) -> Result<Client> {
        if let Some(Endpoint::Sse(_)) = &self.endpoint {
            return self.connect_sse().await;
        }
        let remembered = match self.options.era {
            Some(Era::Legacy) => Some(self.handshake_anew().await),
            Some(Era::LegacySse) => Some(self.connect_sse().await),
            Some(Era::Modern) | None => None,
        };
        match remembered {
            // What was remembered may be out of date; only an answer that another era would give as well is final.
            Some(Err(error))
                if self.can_open_again()
                    && !matches!(error, Error::LoginNeeded(_) | Error::Credentials(_) | Error::Spawn { .. }) =>
            {
                self.probe().await
            }
            Some(result) => result,
            None => self.probe().await,
        }
    }

    fn can_open_again(&self) -> bool {
        self.endpoint.is_some()
    }

    async fn open(&mut self) -> Result<Opened> {
        let handler = ClientHandler::new(self.options.side.clone());
        let (mut http, mut child) = (None, None);
        let link: Box<dyn FnOnce(Inbound) -> Arc<dyn Link>> = match &self.endpoint {
            Some(Endpoint::Child(config)) => {
                let transport = config.spawn().await?;
                child = Some(transport.handle());
                lock(&self.started).clone_from(&child);
                Box::new(transport.open())
            }
            Some(Endpoint::Socket(path)) => Box::new(socket::connect(path).await?),
            Some(Endpoint::Url(endpoint) | Endpoint::Http(endpoint)) => {
                let endpoint = endpoint.clone();
                let slot = &mut http;
                let opened = move |inbound| {
                    let link = Arc::new(HttpLink::new(endpoint, inbound));
                    *slot = Some(link.clone());
                    link as Arc<dyn Link>
                };
                let peer = Peer::start(handler.clone(), self.options.tap.clone(), opened);
                return Ok(self.opened(peer, handler, http, child));
            }
            Some(Endpoint::Sse(endpoint)) => Box::new(sse_client::connect(endpoint.clone()).await?.open()),
            Some(Endpoint::Pair(_) | Endpoint::Streams(..)) => match self.endpoint.take() {
                Some(Endpoint::Pair(end)) => Box::new(end.open()),
                Some(Endpoint::Streams(reader, writer)) => Box::new(stream::open(reader, writer)),
                _ => return Err(Error::closed("the stream cannot be opened a second time")),
            },
            None => return Err(Error::closed("the stream cannot be opened a second time")),
        };
        let peer = Peer::start(handler.clone(), self.options.tap.clone(), link);
        Ok(self.opened(peer, handler, http, child))
    }

    fn opened(
        &self,
        peer: Peer,
        handler: Arc<ClientHandler>,
        http: Option<Arc<HttpLink>>,
        child: Option<ChildHandle>,
    ) -> Opened {
        Opened { peer, handler, http, child, renews_sessions: self.options.renews_sessions }
    }

    /// Asks for the newest version, and does what the answer means.
    async fn probe(&mut self) -> Result<Client> {
        let opened = self.open().await?;
        let mut version = Version::LATEST;
        for _ in 0..2 {
            match self.discover(&opened, version).await {
                Verdict::Modern(version, result) => return Ok(modern(opened, version, result)),
                Verdict::Again(other) => version = other,
                Verdict::Legacy => return self.handshake(opened).await,
                Verdict::Restart(why) if self.can_open_again() => {
                    tracing::debug!(%why, "the server did not survive the probe; starting it again without");
                    opened.peer.close().await;
                    return self.handshake_anew().await;
                }
                Verdict::Restart(why) | Verdict::Failed(why) => return Err(why),
            }
        }
        Err(Error::protocol(format!("the server says that it speaks {version}, and refuses it")))
    }

    async fn discover(&self, opened: &Opened, version: Version) -> Verdict {
        if let Some(http) = &opened.http {
            http.speak(Some(version));
        }
        let introduction = introduction(&*self.options.side, version);
        let params = meta::decorate(None, Some(&introduction), None);
        let probe = opened.peer.call(Call::new("server/discover", params).silent_when_dropped());
        let mut probe = pin!(probe);
        match tokio::time::timeout(self.options.probe_patience, &mut probe).await {
            Ok(answer) => judge(answer, version),
            Err(_) => self.discover_slowly(opened, version, probe).await,
        }
    }

    /// The probe is unanswered: the server is slow, wedged, or too old. Tries the handshake beside it; whichever is accepted first counts.
    async fn discover_slowly(
        &self,
        opened: &Opened,
        version: Version,
        mut probe: Pin<&mut impl Future<Output = Result<RawJson>>>,
    ) -> Verdict {
        if let Some(http) = &opened.http {
            http.speak(None);
        }
        let has_read = || opened.child.as_ref().and_then(ChildHandle::has_read_everything) == Some(true);
        let mut is_awake = has_read();
        let mut handshake = pin!(opened.peer.call(initialize_call(&*self.options.side)));
        let mut probe_refused = false;
        let mut handshake_refused = None;
        let heard = || opened.child.as_ref().map_or(0, ChildHandle::bytes_heard);
        let mut heard_before = heard();
        let mut silent_since = Instant::now();
        loop {
            tokio::select! {
                biased;
                answer = &mut probe, if !probe_refused => match (judge(answer, version), handshake_refused.take()) {
                    (Verdict::Legacy, Some(refusal)) => return both_refused(refusal),
                    (Verdict::Legacy, None) => probe_refused = true,
                    (verdict, _) => {
                        if let Some(http) = &opened.http {
                            http.speak(Some(version));
                        }
                        return verdict;
                    }
                },
                answer = &mut handshake, if handshake_refused.is_none() => match answer {
                    Ok(result) => {
                        lock(&opened.handler.early_handshake).replace(result);
                        return Verdict::Legacy;
                    }
                    Err(error @ Error::Closed(_)) => return Verdict::Restart(error),
                    Err(error) if probe_refused => return both_refused(error),
                    Err(error) => handshake_refused = Some(error), // A server that has no handshake may still be working on the probe.
                },
                () = tokio::time::sleep(LOOK_AGAIN), if !probe_refused && handshake_refused.is_none() => {
                    // One that has not even read the probe is still starting, and must not be disturbed.
                    is_awake = is_awake || has_read();
                    // Neither is one wedged that is saying something, be it long or noise.
                    if !is_awake || std::mem::replace(&mut heard_before, heard()) != heard() {
                        silent_since = Instant::now();
                    } else if silent_since.elapsed() >= Duration::from_millis(WEDGED_PATIENCE_MS) {
                        return Verdict::Restart(Error::closed("the server has read the probe and answers neither it nor the handshake"));
                    }
                }
            }
        }
    }

    /// Opens the connection and goes straight to the handshake.
    async fn handshake_anew(&mut self) -> Result<Client> {
        let opened = self.open().await?;
        self.handshake(opened).await
    }

    async fn handshake(&mut self, opened: Opened) -> Result<Client> {
        if let Some(http) = opened.http.as_ref().filter(|_| lock(&opened.handler.early_handshake).is_none()) {
            http.speak(None);
        }
        match initialize(&opened.peer, &opened.handler, opened.http.as_ref()).await {
            Ok(agreement) => Ok(Client::new(opened, agreement)),
            Err(Error::Http(failure)) if matches!(self.endpoint, Some(Endpoint::Url(_))) && may_be_older(&failure) => {
                match self.open_sse().await {
                    Ok(transport) => self.handshake_over_sse(transport).await,
                    Err(error @ (Error::LoginNeeded(_) | Error::Credentials(_))) => Err(error),
                    // It does not speak the older transport either; the error of the newer one is the one a person can act on.
                    Err(_) => Err(Error::Http(failure)),
                }
            }
            Err(error) => Err(error.into_answer()),
        }
    }

    async fn connect_sse(&mut self) -> Result<Client> {
        let transport = self.open_sse().await?;
        self.handshake_over_sse(transport).await
    }

    async fn open_sse(&self) -> Result<SseTransport> {
        let Some(Endpoint::Url(endpoint) | Endpoint::Http(endpoint) | Endpoint::Sse(endpoint)) = &self.endpoint else {
            return Err(Error::protocol("only a URL can speak HTTP+SSE"));
        };
        sse_client::connect(endpoint.clone()).await
    }

    async fn handshake_over_sse(&self, transport: SseTransport) -> Result<Client> {
        let handler = ClientHandler::new(self.options.side.clone());
        let peer = Peer::start(handler.clone(), self.options.tap.clone(), transport.open());
        let mut agreement = initialize(&peer, &handler, None).await?;
        agreement.era = Era::LegacySse;
        Ok(Client::new(self.opened(peer, handler, None, None), agreement))
    }
}

fn modern(opened: Opened, version: Version, result: RawJson) -> Client {
    if let Some(http) = &opened.http {
        http.speak(Some(version));
    }
    let introduction = Some(introduction(&*opened.handler.side, version));
    Client::new(opened, Agreement { version, era: Era::Modern, about: ServerAbout::read(result), introduction })
}

fn introduction(side: &dyn ClientSide, version: Version) -> Introduction {
    Introduction::new(version, &side.info(), &side.capabilities(version))
}

fn initialize_call(side: &dyn ClientSide) -> Call {
    let version = Version::LATEST_LEGACY;
    let params = RawJson::EMPTY_OBJECT
        .with_member("clientInfo", &side.info())
        .with_member("capabilities", &side.capabilities(version))
        .with_member("protocolVersion", &RawJson::string(version.as_str()));
    Call::new("initialize", Some(params)).silent_when_dropped()
}

/// The handshake of every version before 2026-07-28.
pub(crate) async fn initialize(
    peer: &Peer,
    handler: &ClientHandler,
    http: Option<&Arc<HttpLink>>,
) -> Result<Agreement> {
    let early = lock(&handler.early_handshake).take();
    let result = match early {
        Some(result) => result,
        None => peer.call(initialize_call(&*handler.side)).await?,
    };
    let offered: String = result
        .member("protocolVersion")
        .and_then(|version| version.read().ok())
        .ok_or_else(|| Error::protocol("the server answered `initialize` without a protocol version"))?;
    let Some(version) = Version::parse(&offered) else { return Err(Error::UnknownVersion { offered }) };
    if let Some(http) = http {
        http.agreed(version);
    }
    peer.notify(Notification::new("notifications/initialized", None)).await?;
    if let Some(http) = http {
        http.listen().await;
    }
    let introduction = version.is_modern().then(|| introduction(&*handler.side, version));
    Ok(Agreement { version, era: Era::Legacy, about: ServerAbout::read(result), introduction })
}

/// Statuses with which an older server refuses what it does not know.
fn may_be_older(failure: &HttpFailure) -> bool {
    failure.status.is_client_error()
        && !matches!(
            failure.status,
            StatusCode::UNAUTHORIZED
                | StatusCode::FORBIDDEN
                | StatusCode::PROXY_AUTHENTICATION_REQUIRED
                | StatusCode::TOO_MANY_REQUESTS
        )
}

fn judge(answer: Result<RawJson>, asked: Version) -> Verdict {
    match answer {
        Ok(result) => match result.member("supportedVersions") {
            Some(supported) if result.member("capabilities").is_some() => {
                choose(&supported, asked, |version| Verdict::Modern(version, result.clone()))
            }
            _ => Verdict::Legacy, // Some servers answer anything with `{}`.
        },
        Err(Error::Rpc(error)) => judge_refusal(&error, asked).unwrap_or(Verdict::Legacy),
        Err(Error::Http(failure)) => {
            let refusal = failure.rpc.as_ref().and_then(|error| judge_refusal(error, asked));
            let knows_the_rules = failure.status == StatusCode::NOT_FOUND
                && failure.rpc.as_ref().is_some_and(|error| error.code == RpcError::METHOD_NOT_FOUND);
            match refusal {
                Some(verdict) => verdict,
                None if knows_the_rules => Verdict::Modern(asked, RawJson::EMPTY_OBJECT),
                None if may_be_older(&failure) => Verdict::Legacy,
                None => Verdict::Failed(Error::Http(failure)),
            }
        }
        Err(Error::Protocol(_)) => Verdict::Legacy,
        Err(error @ Error::Closed(_)) => Verdict::Restart(error),
        Err(error) => Verdict::Failed(error),
    }
}

/// Neither the probe nor the handshake beside it was accepted. Over HTTP an older transport may be left to try.
fn both_refused(handshake: Error) -> Verdict {
    if matches!(handshake, Error::Http(_)) { Verdict::Legacy } else { Verdict::Failed(handshake) }
}

/// Refusals that only a server of the new kind gives.
fn judge_refusal(error: &RpcError, asked: Version) -> Option<Verdict> {
    match error.code {
        RpcError::UNSUPPORTED_VERSION => {
            let supported = error.data.as_ref().and_then(|data| data.member("supported"));
            Some(supported.map_or(Verdict::Legacy, |supported| choose(&supported, asked, Verdict::Again)))
        }
        RpcError::HEADER_MISMATCH | RpcError::MISSING_CLIENT_CAPABILITY => Some(Verdict::Again(asked)),
        _ => None,
    }
}

/// The newest version that both sides speak.
fn choose(supported: &RawJson, asked: Version, modern: impl FnOnce(Version) -> Verdict) -> Verdict {
    let names: Vec<String> = supported.read().unwrap_or_default();
    let known = names.iter().filter_map(|name| Version::parse(name));
    match known.max() {
        Some(version) if version.is_modern() => modern(version),
        Some(_) => Verdict::Legacy,
        None if names.is_empty() => modern(asked),
        None => Verdict::Failed(Error::UnknownVersion { offered: names.join(", ") }),
    }
}
