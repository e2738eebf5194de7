//! `Client`: the client role. It knows the agreed version and writes every request the way that version wants it.
//!
//! What a server may ask of us goes to a [`ClientSide`], in one form for all versions: as requests of the server in the older ones, as
//! rounds of "input required" in 2026-07-28.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::call::Call;
use crate::era::{Era, Role, Version};
use crate::error::{Error, Result, RpcError};
use crate::headers::ParamHeaders;
use crate::incoming::Incoming;
use crate::message::{Defect, DefectKind, Id, Method, Notification};
use crate::meta::{self, Introduction, SUBSCRIPTION_ID};
use crate::negotiate;
use crate::peer::{Handler, Origin, Peer, lock};
use crate::raw::RawJson;
use crate::transport::child::ChildHandle;
use crate::transport::http_client::HttpLink;

/// What a client can do for a server, and what it wants to hear from it.
pub trait ClientSide: Send + Sync + 'static {
    /// Our name and version, as `clientInfo` writes them.
    fn info(&self) -> RawJson;

    /// What we can do, as `capabilities` writes it in that version. Only what is named here is asked of us.
    fn capabilities(&self, version: Version) -> RawJson;

    /// Answers a question of the server: `elicitation/create`, `sampling/createMessage`, `roots/list`.
    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>>;

    /// Takes a notification, in order of arrival. Must not block.
    fn notification(&self, _notification: Notification) {}

    /// Hears of a message that could not be used.
    fn defect(&self, defect: &Defect) {
        tracing::debug!(%defect, "unusable message");
    }

    /// Hears that the server has forgotten the session, or cannot be reached any more, while nobody asked it anything. What runs may still be
    /// answered.
    fn lost(&self, why: &Error) {
        tracing::debug!(%why, "connection lost");
    }

    /// Hears that the connection ended.
    fn closed(&self, why: &Error) {
        tracing::debug!(%why, "connection closed");
    }
}

/// Something a server asks of us.
#[derive(Debug, Clone)]
pub struct Question {
    /// What kind of question.
    pub method: Method,
    /// The question.
    pub params: RawJson,
}

/// What a server said about itself.
#[derive(Debug, Clone)]
pub struct ServerAbout {
    /// Its name and version; `{}` when it did not say.
    pub info: RawJson,
    /// What it offers.
    pub capabilities: RawJson,
    /// How it wants to be used.
    pub instructions: Option<String>,
    /// The whole answer to `initialize` or `server/discover`.
    pub raw: RawJson,
}

impl ServerAbout {
    pub(crate) fn read(raw: RawJson) -> Self {
        let info = raw.member("serverInfo").or_else(|| raw.member("_meta")?.member(meta::SERVER_INFO));
        Self {
            info: info.unwrap_or(RawJson::EMPTY_OBJECT),
            capabilities: raw.member("capabilities").unwrap_or(RawJson::EMPTY_OBJECT),
            instructions: raw.member("instructions").and_then(|text| text.read().ok()),
            raw,
        }
    }

    /// Whether it offers `name`, such as `tools`.
    pub fn offers(&self, name: &str) -> bool {
        self.capabilities.member(name).is_some_and(|value| !value.is_null())
    }
}

/// What both sides agreed on.
#[derive(Debug, Clone)]
pub(crate) struct Agreement {
    pub(crate) version: Version,
    pub(crate) era: Era,
    pub(crate) about: ServerAbout,
    /// What every request says about us, in versions without a handshake.
    pub(crate) introduction: Option<Introduction>,
}

/// One connection to a server. Cheap to clone; it closes when the last clone is dropped.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) peer: Peer,
    pub(crate) handler: Arc<ClientHandler>,
    agreement: Mutex<Arc<Agreement>>,
    http: Option<Arc<HttpLink>>,
    child: Option<ChildHandle>,
    /// Which arguments of which tools travel as headers too (2026-07-28 over HTTP).
    tool_headers: Mutex<HashMap<String, ParamHeaders>>,
    /// Whether a lost session is made anew.
    renews_sessions: bool,
    /// Held while a lost session is made anew; counts how often.
    sessions: tokio::sync::Mutex<u64>,
    /// What a new session must be told again.
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    subscriptions: BTreeSet<String>,
    log_level: Option<RawJson>,
}

/// A connection that was opened, with the handles its transport gives.
pub(crate) struct Opened {
    pub(crate) peer: Peer,
    pub(crate) handler: Arc<ClientHandler>,
    pub(crate) http: Option<Arc<HttpLink>>,
    pub(crate) child: Option<ChildHandle>,
    pub(crate) renews_sessions: bool,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("version", &self.version()).field("peer", &self.0.peer).finish_non_exhaustive()
    }
}

impl Client {
    pub(crate) fn new(opened: Opened, agreement: Agreement) -> Self {
        let _was_unset = opened.handler.version.set(agreement.version).is_ok();
        Self(Arc::new(Inner {
            peer: opened.peer,
            handler: opened.handler,
            agreement: Mutex::new(Arc::new(agreement)),
            http: opened.http,
            child: opened.child,
            renews_sessions: opened.renews_sessions,
            tool_headers: Mutex::default(),
            sessions: tokio::sync::Mutex::new(0),
            kept: Mutex::default(),
        }))
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    fn agreement(&self) -> Arc<Agreement> {
        lock(&self.0.agreement).clone()
    }

    /// The version in use.
    pub fn version(&self) -> Version {
        self.agreement().version
    }

    /// How the server wants to be spoken to; give it to the next connection to save the probe.
    pub fn era(&self) -> Era {
        self.agreement().era
    }

    /// What the server said about itself.
    pub fn about(&self) -> ServerAbout {
        self.agreement().about.clone()
    }

    /// The connection below, for what this role does not cover.
    pub fn peer(&self) -> &Peer {
        &self.0.peer
    }

    /// Whether the server has given us a session, which it can lose.
    pub fn has_session(&self) -> bool {
        self.0.http.as_ref().is_some_and(|http| http.has_session())
    }

    /// The process, when the server is a child of ours.
    pub fn child(&self) -> Option<&ChildHandle> {
        self.0.child.as_ref()
    }

    /// Whether requests travel as HTTP requests of their own.
    pub(crate) fn is_modern_http(&self) -> bool {
        self.0.http.is_some() && self.version().is_modern()
    }

    /// Sends a request in the words of the agreed version and waits for its result, answering what the server asks meanwhile.
    pub async fn request(&self, call: Call) -> Result<RawJson> {
        let agreement = self.agreement_about(&call)?;
        if agreement.version.is_modern() {
            return crate::rounds::run(self, call).await;
        }
        self.keep(&call);
        if self.0.http.is_none() || !self.0.renews_sessions {
            return self.send_as(&agreement, call).await;
        }
        let session = *self.0.sessions.lock().await; // Waits while a lost session is being made anew.
        match self.send_as(&agreement, call.clone()).await {
            Err(Error::SessionLost(_)) => {
                // Rare, and larger than all the rest.
                Box::pin(self.renew_session(session)).await?;
                self.send(call).await
            }
            other => other,
        }
    }

    /// Sends a request once and gives back what the server answers, also that it needs input first, or that it made a task of it: for whoever
    /// passes both on to somebody who deals with that.
    pub async fn pass_on(&self, call: Call) -> Result<RawJson> {
        self.send_as(&*self.agreement_about(&call)?, call).await
    }

    /// What was agreed, if that has room for the call.
    fn agreement_about(&self, call: &Call) -> Result<Arc<Agreement>> {
        let agreement = self.agreement();
        if agreement.version.allows(Role::Client, call.method()) {
            return Ok(agreement);
        }
        Err(Error::NotInThisVersion { what: call.method().to_owned(), version: agreement.version })
    }

    /// Sends one request and waits for its answer, whatever that is.
    pub(crate) async fn send(&self, call: Call) -> Result<RawJson> {
        self.send_as(&self.agreement(), call).await
    }

    async fn send_as(&self, agreement: &Agreement, call: Call) -> Result<RawJson> {
        let id = self.0.peer.next_call_id();
        let wants_progress = call.wants_progress() || call.method() == "tools/call";
        let params = meta::decorate(call.params(), agreement.introduction.as_ref(), wants_progress.then_some(id));
        let call = self.with_param_headers(call.with_params(params).id(id))?;
        self.0.peer.call(call).await.map_err(Error::into_answer)
    }

    /// Parameters with what every request says about us.
    pub(crate) fn introduced(&self, params: &RawJson) -> RawJson {
        let agreement = self.agreement();
        meta::decorate(Some(params), agreement.introduction.as_ref(), None).unwrap_or_else(|| params.clone())
    }

    /// Tells the server something, if the agreed version knows it.
    pub async fn notify(&self, notification: Notification) -> Result<()> {
        let agreement = self.agreement();
        if !agreement.version.allows(Role::Client, &notification.method) {
            return Err(Error::NotInThisVersion { what: notification.method.into_owned(), version: agreement.version });
        }
        self.0.peer.notify(notification).await
    }

    /// Ends the connection in order.
    pub async fn close(&self) {
        self.0.peer.close().await;
    }

    /// Remembers which arguments of a tool travel as headers.
    pub(crate) fn keep_tool_headers(&self, tool: String, headers: ParamHeaders) {
        let mut known = lock(&self.0.tool_headers);
        if headers.is_empty() {
            known.remove(&tool);
        } else {
            known.insert(tool, headers);
        }
    }

    fn with_param_headers(&self, mut call: Call) -> Result<Call> {
        if call.method() != "tools/call" || lock(&self.0.tool_headers).is_empty() || !self.is_modern_http() {
            return Ok(call);
        }
        let Some(params) = call.params().cloned() else { return Ok(call) };
        let read_name = || params.member("name").and_then(|name| name.read().ok()).unwrap_or_default();
        let name = call.name().map_or_else(read_name, str::to_owned);
        let Some(headers) = lock(&self.0.tool_headers).get(&name).cloned() else { return Ok(call) };
        let arguments = params.member("arguments").unwrap_or(RawJson::EMPTY_OBJECT);
        for (name, value) in headers.for_arguments(&arguments)? {
            call = call.header(name, value);
        }
        Ok(call)
    }

    /// Notes what a new session would have to be told again.
    fn keep(&self, call: &Call) {
        let member = |key: &str| call.params().and_then(|params| params.member(key));
        match call.method() {
            "logging/setLevel" => lock(&self.0.kept).log_level = call.params().cloned(),
            "resources/subscribe" => {
                let uri = member("uri").and_then(|uri| uri.read().ok());
                lock(&self.0.kept).subscriptions.extend(uri);
            }
            "resources/unsubscribe" => {
                if let Some(uri) = member("uri").and_then(|uri| uri.read::<String>().ok()) {
                    lock(&self.0.kept).subscriptions.remove(&uri);
                }
            }
            _ => {}
        }
    }

    /// Makes a lost session anew, once for all calls that noticed the loss of the same one.
    async fn renew_session(&self, lost: u64) -> Result<()> {
        let mut sessions = self.0.sessions.lock().await;
        if *sessions > lost {
            return Ok(());
        }
        let Some(http) = &self.0.http else { return Ok(()) };
        let agreement = negotiate::initialize(&self.0.peer, &self.0.handler, Some(http)).await?;
        *lock(&self.0.agreement) = Arc::new(agreement);
        let (subscriptions, log_level) = {
            let kept = lock(&self.0.kept);
            (kept.subscriptions.clone(), kept.log_level.clone())
        };
        let subscribe = |uri: String| Call::new("resources/subscribe", Some(serde_json::json!({ "uri": uri }).into()));
        let set_level = |level: RawJson| Call::new("logging/setLevel", Some(level));
        for call in subscriptions.into_iter().map(subscribe).chain(log_level.map(set_level)) {
            match self.send(call).await {
                // A server that came back may lack what it had; the call that is waiting can still succeed.
                Err(Error::Rpc(error)) => {
                    tracing::debug!(%error, "the new session does not take what the old one knew")
                }
                other => drop(other?),
            }
        }
        *sessions += 1;
        Ok(())
    }
}

/// Takes what arrives for a client and hands it to its [`ClientSide`].
pub(crate) struct ClientHandler {
    pub(crate) side: Arc<dyn ClientSide>,
    version: OnceLock<Version>,
    /// The answer to a handshake that was sent beside the probe.
    pub(crate) early_handshake: Mutex<Option<RawJson>>,
    /// Listen requests that wait to be acknowledged.
    acknowledged: Mutex<HashMap<u64, oneshot::Sender<RawJson>>>,
}

impl ClientHandler {
    pub(crate) fn new(side: Arc<dyn ClientSide>) -> Arc<Self> {
        Arc::new(Self {
            side,
            version: OnceLock::new(),
            early_handshake: Mutex::default(),
            acknowledged: Mutex::default(),
        })
    }

    /// Waits for the acknowledgement of a listen request.
    pub(crate) fn expect_acknowledgement(&self, listen: u64) -> oneshot::Receiver<RawJson> {
        let (sender, receiver) = oneshot::channel();
        lock(&self.acknowledged).insert(listen, sender);
        receiver
    }

    pub(crate) fn forget_acknowledgement(&self, listen: u64) {
        lock(&self.acknowledged).remove(&listen);
    }

    fn acknowledge(&self, params: &RawJson) -> Option<()> {
        let id = params.member("_meta")?.member(SUBSCRIPTION_ID)?;
        let sender = lock(&self.acknowledged).remove(&Id::from_raw(&id)?.as_number()?)?;
        sender.send(params.member("notifications").unwrap_or(RawJson::EMPTY_OBJECT)).ok()
    }
}

impl Handler for ClientHandler {
    fn request(&self, incoming: Incoming) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        let method = &incoming.request.method;
        // Before the handshake is over a server may only ping.
        let version = self.version.get().copied().unwrap_or(Version::LATEST_LEGACY);
        if !version.allows(Role::Server, method) {
            let refusal = RpcError::method_not_found(method);
            return Box::pin(async move { Err(refusal) });
        }
        if method == "ping" {
            return Box::pin(async { Ok(RawJson::EMPTY_OBJECT) });
        }
        self.side.ask(Question { method: method.clone(), params: incoming.params() })
    }

    fn notification(&self, notification: Notification, _origin: Origin) {
        let version = self.version.get().copied().unwrap_or(Version::LATEST_LEGACY);
        if notification.method == "notifications/subscriptions/acknowledged" {
            let params = notification.params.clone().unwrap_or(RawJson::EMPTY_OBJECT);
            if self.acknowledge(&params).is_some() {
                return;
            }
        }
        if version.allows(Role::Server, &notification.method) {
            self.side.notification(notification);
        } else {
            self.side.defect(&Defect::new(DefectKind::NotInThisVersion, notification.method));
        }
    }

    fn defect(&self, defect: &Defect) {
        self.side.defect(defect);
    }

    fn lost(&self, why: &Error) {
        self.side.lost(why);
    }

    fn closed(&self, why: &Error) {
        lock(&self.acknowledged).clear();
        self.side.closed(why);
    }
}
