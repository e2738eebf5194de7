//! `Session`: one connection of any kind, as its peer sees it. It selects the era of each request and remembers what the handshake of an
//! older client agreed on.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::future::BoxFuture;
use tokio::task::AbortHandle;

use super::ServerCore;
use super::about::Feature;
use super::changes::{Audience, Listener, Wanted};
use super::context::{Caller, Input, Inside, RequestContext};
use super::log_level::LogLevel;
use super::modern::{Arrival, is_modern, unsupported_version};
use crate::era::{Role, Version};
use crate::error::{Error, RpcError};
use crate::incoming::Incoming;
use crate::limits::SUBSCRIPTIONS_MAX;
use crate::message::{Defect, DefectKind, Notification};
use crate::peer::{Handler, Origin, Peer, WeakPeer, lock};
use crate::raw::RawJson;

/// What a client hears before it has said from which level on it wants to.
const LOG_LEVEL_BEFORE_ASKED: LogLevel = LogLevel::Info;

/// The state of one connection.
pub(crate) struct Session {
    core: Arc<ServerCore>,
    caller: Mutex<Option<Arc<Caller>>>,
    log_level: AtomicU8,
    peer: OnceLock<WeakPeer>,
    news: Mutex<Option<Arc<Listener>>>,
    telling: Mutex<Option<AbortHandle>>,
}

impl Session {
    pub(crate) fn new(core: Arc<ServerCore>) -> Arc<Self> {
        Arc::new(Self {
            core,
            caller: Mutex::default(),
            log_level: AtomicU8::new(LOG_LEVEL_BEFORE_ASKED as u8),
            peer: OnceLock::new(),
            news: Mutex::default(),
            telling: Mutex::default(),
        })
    }

    /// Names the peer that this session speaks through.
    pub(crate) fn joined(&self, peer: &Peer) {
        let _was_unset = self.peer.set(peer.downgrade()).is_ok();
        self.start_telling();
    }

    /// What the handshake agreed on, once it did.
    pub(crate) fn caller(&self) -> Option<Arc<Caller>> {
        lock(&self.caller).clone()
    }

    fn initialize(&self, params: &RawJson) -> Result<RawJson, RpcError> {
        let about = self.core.service.about();
        let asked = params.member("protocolVersion").and_then(|version| version.read::<String>().ok());
        let asked = asked.ok_or_else(|| RpcError::invalid_params("`protocolVersion` must be a string"))?;
        let version = about.agree(&asked).ok_or_else(|| unsupported_version(&about, &asked))?;
        let capabilities = params.member("capabilities").filter(RawJson::is_object).unwrap_or(RawJson::EMPTY_OBJECT);
        *lock(&self.caller) = Some(Arc::new(Caller { version, info: params.member("clientInfo"), capabilities }));
        Ok(about.initialize_result(version))
    }

    /// Begins to pass on news, when the client has said that it is ready.
    fn initialized(&self) {
        if self.caller().is_some() {
            self.listener();
        }
    }

    /// Where the news for this client arrive; it begins to pass them on.
    fn listener(&self) -> Arc<Listener> {
        let about = self.core.service.about();
        let wanted = Wanted {
            tools: about.offers(Feature::ToolsChanged),
            prompts: about.offers(Feature::PromptsChanged),
            resources: about.offers(Feature::ResourcesChanged),
            ..Wanted::default()
        };
        let listener =
            lock(&self.news).get_or_insert_with(|| Arc::new(self.core.hub.listen(Audience::Session, wanted))).clone();
        self.start_telling();
        listener
    }

    fn start_telling(&self) {
        let (Some(peer), Some(news)) = (self.peer.get().cloned(), lock(&self.news).clone()) else { return };
        let mut telling = lock(&self.telling);
        if telling.is_some() {
            return;
        }
        let task = tokio::spawn(async move {
            while let Some(notification) = news.next().await {
                if peer.notify(notification).await.is_err() {
                    break;
                }
            }
        });
        *telling = Some(task.abort_handle());
    }

    fn set_level(&self, params: &RawJson) -> Result<RawJson, RpcError> {
        let name = params.member("level").and_then(|level| level.read::<String>().ok()).unwrap_or_default();
        let level = LogLevel::parse(&name)
            .ok_or_else(|| RpcError::invalid_params(format!("there is no log level `{name}`")))?;
        self.log_level.store(level as u8, Ordering::Relaxed);
        Ok(RawJson::EMPTY_OBJECT)
    }

    fn subscription(&self, method: &str, params: &RawJson) -> Result<RawJson, RpcError> {
        let uri = params.member("uri").and_then(|uri| uri.read::<String>().ok());
        let uri = uri.ok_or_else(|| RpcError::invalid_params("`uri` must be a string"))?;
        let listener = self.listener();
        if method == "resources/unsubscribe" {
            listener.unwatch(&uri);
        } else if !listener.watch(&uri, SUBSCRIPTIONS_MAX) {
            return Err(RpcError::invalid_params(format!(
                "more than {SUBSCRIPTIONS_MAX} subscriptions (limit SUBSCRIPTIONS_MAX)"
            )));
        }
        Ok(RawJson::EMPTY_OBJECT)
    }

    /// What the role answers itself in the older versions; `None` when the service has to.
    fn own_answer(&self, method: &str, params: &RawJson) -> Option<Result<RawJson, RpcError>> {
        match method {
            "initialize" => Some(self.initialize(params)),
            "ping" => Some(Ok(RawJson::EMPTY_OBJECT)),
            "logging/setLevel" => Some(self.set_level(params)),
            "resources/subscribe" | "resources/unsubscribe" => Some(self.subscription(method, params)),
            _ => None,
        }
    }

    fn legacy_request(&self, incoming: Incoming) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        let ready = |outcome| -> BoxFuture<'static, _> { Box::pin(std::future::ready(outcome)) };
        let method = incoming.request.method.clone();
        let caller = self.caller();
        let version = caller.as_ref().map_or(Version::LATEST_LEGACY, |caller| caller.version);
        let about = self.core.service.about();
        if caller.is_none() && !matches!(&*method, "initialize" | "ping") {
            let what = "neither `initialize` came first nor does `params._meta` say which version this is";
            return ready(Err(RpcError::invalid_params(what)));
        }
        if !version.allows(Role::Client, &method) || !about.answers(version, &method) {
            return ready(Err(RpcError::method_not_found(&method)));
        }
        if let Some(answer) = self.own_answer(&method, &incoming.params()) {
            return ready(answer);
        }
        let Some(caller) = caller else { return ready(Err(RpcError::method_not_found(&method))) };
        let meta = incoming.request.params.as_ref().and_then(|params| params.member("_meta"));
        let progress_token =
            meta.as_ref().and_then(|meta| meta.member("progressToken")).filter(|token| !token.is_null());
        let cx = RequestContext::new(Inside {
            request: incoming.request.clone(),
            caller,
            about,
            meta,
            arguments: OnceLock::new(),
            progress_token,
            log_level: LogLevel::ALL.get(usize::from(self.log_level.load(Ordering::Relaxed))).copied(),
            input: Input::default(),
            http: incoming.http(),
            outlet: Arc::new(incoming),
            progress_of_rounds: Mutex::default(),
        });
        let core = self.core.clone();
        Box::pin(async move { core.run(cx).await })
    }
}

impl Handler for Session {
    fn request(&self, incoming: Incoming) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        let modern_only = matches!(&*incoming.request.method, "server/discover" | "subscriptions/listen");
        let modern = modern_only || is_modern(incoming.request.params.as_ref());
        if !modern || !self.core.service.about().speaks_modern() {
            return self.legacy_request(incoming);
        }
        let core = self.core.clone();
        let arrival = Arrival { request: incoming.request.clone(), http: None, outlet: Arc::new(incoming) };
        match core.admit(arrival) {
            Ok(cx) => Box::pin(async move { core.run(cx).await }),
            Err(refusal) => Box::pin(std::future::ready(Err(refusal.error))),
        }
    }

    fn notification(&self, notification: Notification, _origin: Origin) {
        if notification.method == "notifications/initialized" {
            self.initialized();
        }
        match self.caller() {
            Some(caller) => self.core.service.notification(&notification, &caller),
            None => self.core.service.notification(&notification, &super::unknown_caller()),
        }
    }

    fn defect(&self, defect: &Defect) {
        tracing::debug!(%defect, "unusable message of a client");
    }

    /// Whoever waits for an answer to it must not wait in vain.
    fn complaint(&self, defect: &Defect) -> Option<RpcError> {
        let code = match defect.kind {
            DefectKind::NotJson => RpcError::PARSE_ERROR,
            DefectKind::NotAMessage | DefectKind::TooLarge => RpcError::INVALID_REQUEST,
            _ => return None,
        };
        // What looks like an answer of the client has ended the question it belongs to.
        defect.id.is_none().then(|| RpcError::new(code, defect.to_string()))
    }

    fn closed(&self, why: &Error) {
        tracing::debug!(%why, "a client has left");
        if let Some(news) = lock(&self.news).take() {
            news.leave();
        }
        if let Some(telling) = lock(&self.telling).take() {
            telling.abort();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(telling) = lock(&self.telling).take() {
            telling.abort();
        }
    }
}
