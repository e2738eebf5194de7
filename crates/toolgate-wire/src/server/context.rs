//! `RequestContext`: one request while its handler runs: what was asked, by whom, and what can be told to the client meanwhile.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::future::BoxFuture;
use http::request::Parts;
use serde_json::{Value, json};

use super::about::{About, Feature};
use super::log_level::LogLevel;
use crate::call::Call;
use crate::era::{Role, Version};
use crate::error::{Error, Result, RpcError};
use crate::incoming::Incoming;
use crate::message::{Id, Message, Notification, Request};
use crate::meta::{TASKS_EXTENSION, TraceContext};
use crate::raw::RawJson;

/// Who asks: remembered from `initialize`, or told with the request itself (2026-07-28).
#[derive(Debug, Clone)]
pub struct Caller {
    pub(super) version: Version,
    pub(super) info: Option<RawJson>,
    pub(super) capabilities: RawJson,
}

impl Caller {
    /// The version in use.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Name and version of the client, where it said so.
    pub fn info(&self) -> Option<&RawJson> {
        self.info.as_ref()
    }

    /// What the client can do, as it wrote it.
    pub fn capabilities(&self) -> &RawJson {
        &self.capabilities
    }

    /// Whether the client declared a capability, such as `elicitation`.
    pub fn has_capability(&self, name: &str) -> bool {
        self.capabilities.member(name).is_some_and(|value| !value.is_null())
    }

    /// Whether the client declared an extension.
    pub fn has_extension(&self, name: &str) -> bool {
        self.capabilities
            .member("extensions")
            .and_then(|extensions| extensions.member(name))
            .is_some_and(|value| !value.is_null())
    }
}

/// Where things go that belong to a running request.
pub(crate) trait Outlet: Send + Sync {
    /// Tells the client something.
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<()>>;

    /// Asks the client something and waits.
    fn call(&self, call: Call) -> BoxFuture<'_, Result<RawJson>>;

    /// Ends the stream; the answer is fetched later.
    fn park(&self) -> bool;
}

impl Outlet for Incoming {
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<()>> {
        Box::pin(Self::notify(self, notification))
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<RawJson>> {
        Box::pin(Self::call(self, call))
    }

    fn park(&self) -> bool {
        Self::park(self)
    }
}

/// The answers that a request brought along to questions of an earlier round.
#[derive(Debug, Clone, Default)]
pub(super) struct Input {
    /// The questions that were asked: key and digest of each.
    pub(super) asked: Vec<(String, String)>,
    /// By key; later ones win.
    pub(super) answers: Vec<(String, RawJson)>,
    /// What the handler gave with the questions.
    pub(super) state: Option<String>,
}

/// One request while it runs. Cheap to clone.
#[derive(Clone)]
pub struct RequestContext(Arc<Inside>);

pub(super) struct Inside {
    pub(super) request: Request,
    pub(super) caller: Arc<Caller>,
    pub(super) about: Arc<About>,
    pub(super) meta: Option<RawJson>,
    /// The `arguments`, found when first asked for or while the request was let in.
    pub(super) arguments: OnceLock<RawJson>,
    pub(super) progress_token: Option<RawJson>,
    /// From which level on the client wants log messages; `None` is not at all.
    pub(super) log_level: Option<LogLevel>,
    pub(super) input: Input,
    pub(super) outlet: Arc<dyn Outlet>,
    pub(super) http: Option<Arc<Parts>>,
    pub(super) progress_of_rounds: Mutex<Rounds>,
}

/// What has to survive until the client has answered.
#[derive(Default)]
pub(super) struct Rounds {
    /// Answers used in this run, which the client will not send again.
    pub(super) used: Vec<(String, RawJson)>,
    pub(super) state: Option<String>,
}

impl RequestContext {
    pub(super) fn new(inside: Inside) -> Self {
        Self(Arc::new(inside))
    }

    pub(super) fn inside(&self) -> &Inside {
        &self.0
    }

    /// The same request, run again with answers (the older versions, where the client does not repeat it).
    pub(super) fn again(&self, input: Input) -> Self {
        let before = &self.0;
        Self::new(Inside {
            request: before.request.clone(),
            caller: before.caller.clone(),
            about: before.about.clone(),
            meta: before.meta.clone(),
            arguments: before.arguments.clone(),
            progress_token: before.progress_token.clone(),
            log_level: before.log_level,
            input,
            outlet: before.outlet.clone(),
            http: before.http.clone(),
            progress_of_rounds: Mutex::default(),
        })
    }

    /// The id of the request.
    pub fn id(&self) -> &Id {
        &self.0.request.id
    }

    /// What is asked.
    pub fn method(&self) -> &str {
        &self.0.request.method
    }

    /// With what; `{}` when the request has no parameters.
    pub fn params(&self) -> RawJson {
        self.0.request.params.clone().unwrap_or(RawJson::EMPTY_OBJECT)
    }

    /// The `arguments` of a tool or prompt; `{}` when there are none.
    pub fn arguments(&self) -> RawJson {
        let find = || {
            let arguments = self.0.request.params.as_ref().and_then(|params| params.member("arguments"));
            arguments.filter(|value| !value.is_null()).unwrap_or(RawJson::EMPTY_OBJECT)
        };
        self.0.arguments.get_or_init(find).clone()
    }

    /// Who asks.
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// The version of this request.
    pub fn version(&self) -> Version {
        self.0.caller.version
    }

    /// Name and version of the client, where it said so.
    pub fn client_info(&self) -> Option<&RawJson> {
        self.0.caller.info()
    }

    /// What the client can do: of this request (2026-07-28) or of the session.
    pub fn client_capabilities(&self) -> &RawJson {
        self.0.caller.capabilities()
    }

    /// Whether the client declared a capability, such as `elicitation`.
    pub fn has_capability(&self, name: &str) -> bool {
        self.0.caller.has_capability(name)
    }

    /// Whether this request may be answered with a task of the tasks extension.
    pub fn takes_tasks(&self) -> bool {
        self.version().is_modern() && self.0.caller.has_extension(TASKS_EXTENSION)
    }

    /// An error that names the capability, unless the client declared it.
    pub fn require_capability(&self, name: &str) -> Result<(), RpcError> {
        if self.has_capability(name) { Ok(()) } else { Err(missing_capability(&json!({name: {}}))) }
    }

    /// An error that names the extension, unless the client declared it.
    pub fn require_extension(&self, name: &str) -> Result<(), RpcError> {
        if self.0.caller.has_extension(name) {
            Ok(())
        } else {
            Err(missing_capability(&json!({"extensions": {name: {}}})))
        }
    }

    /// The `_meta` of the request.
    pub fn meta(&self) -> Option<&RawJson> {
        self.0.meta.as_ref()
    }

    /// Where the request stands in somebody's trace.
    pub fn trace(&self) -> Option<TraceContext> {
        self.0.meta.as_ref()?;
        TraceContext::read(self.0.request.params.as_ref()?)
    }

    /// The HTTP request that carried it: headers, and extensions that a layer in front has put there.
    pub fn http(&self) -> Option<&Parts> {
        self.0.http.as_deref()
    }

    /// Tells the client how far the work is, if it asked to know. Values must grow.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> Result<()> {
        let Some(token) = &self.0.progress_token else { return Ok(()) };
        let mut params = RawJson::from(json!({"progress": number(progress)}));
        if let Some(total) = total {
            params = params.with_member("total", &number(total).into());
        }
        if let Some(message) = message.filter(|_| self.version() >= Version::V2025_03_26) {
            params = params.with_member("message", &RawJson::string(message));
        }
        self.notify(Notification::new("notifications/progress", Some(params.with_member("progressToken", token)))).await
    }

    /// Tells the client how far the work is in the words of somebody else who does it, if it asked to know.
    pub async fn pass_on_progress(&self, told: &RawJson) -> Result<()> {
        let Some(token) = &self.0.progress_token else { return Ok(()) };
        self.notify(Notification::new("notifications/progress", Some(told.with_member("progressToken", token)))).await
    }

    /// Sends a log message that belongs to this request, if the client wants to hear that level.
    pub async fn log(&self, level: LogLevel, logger: Option<&str>, data: impl Into<RawJson>) -> Result<()> {
        let wanted = self.0.log_level.is_some_and(|wanted| level >= wanted);
        if !wanted || !self.0.about.offers(Feature::Logging) {
            return Ok(());
        }
        let mut params = RawJson::EMPTY_OBJECT.with_member("data", &data.into());
        if let Some(logger) = logger {
            params = params.with_member("logger", &RawJson::string(logger));
        }
        let params = params.with_member("level", &RawJson::string(level.as_str()));
        self.notify(Notification::new("notifications/message", Some(params))).await
    }

    /// Tells the client something that belongs to this request. What the version does not know is not sent.
    pub async fn notify(&self, notification: Notification) -> Result<()> {
        if !self.version().allows(Role::Server, &notification.method) {
            tracing::debug!(method = %notification.method, version = %self.version(), "not sent: not in this version");
            return Ok(());
        }
        self.0.outlet.notify(notification).await
    }

    /// Ends the HTTP stream of this request while the work goes on; the client comes back for the rest. Only where what follows can be
    /// kept for it (sessions of 2025-11-25); elsewhere nothing happens and the answer is `false`.
    pub fn close_stream(&self) -> bool {
        self.version() == Version::V2025_11_25 && self.0.outlet.park()
    }
}

/// `-32021` with what the client would have to declare.
pub(super) fn missing_capability(required: &Value) -> RpcError {
    let names = |value: &Value| {
        value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>().join(", ")).unwrap_or_default()
    };
    let name = required.get("extensions").map_or_else(|| names(required), names);
    RpcError::new(
        RpcError::MISSING_CLIENT_CAPABILITY,
        format!("the client has to declare the capability `{name}` for this"),
    )
    .with_data(json!({"requiredCapabilities": required}))
}

/// Whole numbers without a fraction, as most writers spell them.
fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole and far within the range")]
    if value.fract() == 0.0 && value.abs() < 1e15 { Value::from(value as i64) } else { Value::from(value) }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("request", &self.0.request)
            .field("caller", &self.0.caller)
            .finish_non_exhaustive()
    }
}

/// A notification as text.
pub(crate) fn notification_bytes(notification: Notification) -> bytes::Bytes {
    Message::Notification(notification).to_bytes()
}

/// What a transport that cannot ask says.
pub(crate) fn cannot_ask() -> Error {
    Error::protocol("the server cannot send requests in this version")
}
