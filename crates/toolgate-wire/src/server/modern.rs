//! Requests of 2026-07-28: each says everything about itself. Read and checked here, in the order the protocol wants errors to be found.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

use http::request::Parts;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::ServerCore;
use super::about::About;
use super::context::{Caller, Input, Inside, Outlet, RequestContext, missing_capability};
use super::log_level::LogLevel;
use crate::era::{Role, Version};
use crate::error::RpcError;
use crate::headers::{self, MCP_PROTOCOL_VERSION, ParamHeaders, mismatch};
use crate::message::Request;
use crate::meta::{CLIENT_CAPABILITIES, LOG_LEVEL, PROTOCOL_VERSION, TASKS_EXTENSION};
use crate::raw::{RawJson, mentions, present};

/// A request that is not let in, with the HTTP status that goes with it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) error: RpcError,
}

impl Refusal {
    fn bad_request(error: RpcError) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error }
    }
}

/// The HTTP status that goes with an error of a handler.
pub(crate) fn status_of(error: &RpcError) -> StatusCode {
    match error.code {
        RpcError::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        RpcError::HEADER_MISMATCH | RpcError::MISSING_CLIENT_CAPABILITY | RpcError::UNSUPPORTED_VERSION => {
            StatusCode::BAD_REQUEST
        }
        _ => StatusCode::OK,
    }
}

/// Whether a request is written the way of 2026-07-28.
pub(crate) fn is_modern(params: Option<&RawJson>) -> bool {
    params
        .filter(|params| mentions(params.as_bytes(), PROTOCOL_VERSION.as_bytes()))
        .and_then(|params| params.member("_meta"))
        .is_some_and(|meta| meta.member(PROTOCOL_VERSION).is_some())
}

/// What the role looks at. A member that stands twice is an error, so that nobody can be shown one and served the other.
#[derive(Deserialize, Default)]
struct Params<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    uri: Option<&'a RawValue>,
    #[serde(rename = "taskId", borrow, default, deserialize_with = "present")]
    task_id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    notifications: Option<&'a RawValue>,
    #[serde(rename = "_meta", borrow, default, deserialize_with = "present")]
    meta: Option<&'a RawValue>,
    #[serde(rename = "inputResponses", borrow, default, deserialize_with = "present")]
    responses: Option<&'a RawValue>,
    #[serde(rename = "requestState", borrow, default, deserialize_with = "present")]
    state: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    /// The member of that name, if it is a string.
    fn text(&self, member: &str) -> Option<Cow<'a, str>> {
        #[derive(Deserialize)]
        struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
        let value = match member {
            "name" => self.name,
            "uri" => self.uri,
            "taskId" => self.task_id,
            _ => None,
        };
        serde_json::from_str::<Text<'_>>(value?.get()).ok().map(|text| text.0)
    }
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow, default)]
    version: Option<Cow<'a, str>>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities", borrow, default, deserialize_with = "present")]
    capabilities: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/clientInfo", borrow, default, deserialize_with = "present")]
    info: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/logLevel", borrow, default)]
    log_level: Option<Cow<'a, str>>,
    #[serde(rename = "progressToken", borrow, default, deserialize_with = "present")]
    progress_token: Option<&'a RawValue>,
}

/// Where a request comes from and where its news go.
pub(crate) struct Arrival {
    pub(crate) request: Request,
    /// With its headers, which must agree with the body; only over HTTP.
    pub(crate) http: Option<Arc<Parts>>,
    pub(crate) outlet: Arc<dyn Outlet>,
}

impl ServerCore {
    /// Lets a request in, or says why not.
    pub(crate) fn admit(&self, arrival: Arrival) -> Result<RequestContext, Refusal> {
        let about = self.service.about();
        let Arrival { request, http, outlet } = arrival;
        let params = request.params.clone().unwrap_or(RawJson::EMPTY_OBJECT);
        let invalid = |what: &str| Refusal::bad_request(RpcError::invalid_params(what.to_owned()));
        if !params.is_object() {
            return Err(invalid("`params` must be an object"));
        }
        let read: Params<'_> = params.read().map_err(|error| invalid(&error.to_string()))?;
        let meta = read.meta.map(|meta| params.share(meta)).filter(RawJson::is_object);
        let meta = meta.ok_or_else(|| invalid("`params._meta` is missing"))?;
        let told: Meta<'_> = meta.read().map_err(|error| invalid(&format!("`params._meta`: {error}")))?;
        let asked = told.version.ok_or_else(|| invalid(&format!("`params._meta` lacks `{PROTOCOL_VERSION}`")))?;
        let capabilities = told.capabilities.map(|capabilities| meta.share(capabilities)).filter(RawJson::is_object);
        let capabilities =
            capabilities.ok_or_else(|| invalid(&format!("`params._meta` lacks the object `{CLIENT_CAPABILITIES}`")))?;

        let headers = http.as_ref().map(|parts| &parts.headers);
        if let Some(headers) = headers {
            check_version_header(headers, &asked).map_err(Refusal::bad_request)?;
        }
        let version = speaks(&about, &asked).map_err(Refusal::bad_request)?;
        let log_level = told.log_level.map(|level| {
            LogLevel::parse(&level).ok_or_else(|| invalid(&format!("`{LOG_LEVEL}`: there is no level `{level}`")))
        });
        let log_level = log_level.transpose()?;
        let caller = Caller { version, info: told.info.map(|info| meta.share(info)), capabilities };
        self.check_method(&request.method, &read, &caller, headers)?;
        let input = self.input(&request, &params, &read).map_err(|error| Refusal { status: StatusCode::OK, error })?;
        let progress_token = told.progress_token.map(|token| meta.share(token)).filter(|token| !token.is_null());
        Ok(RequestContext::new(Inside {
            caller: Arc::new(caller),
            about,
            progress_token,
            meta: Some(meta),
            arguments: read
                .arguments
                .map(|arguments| params.share(arguments))
                .filter(|value| !value.is_null())
                .map_or_else(OnceLock::new, Into::into),
            log_level,
            input,
            outlet,
            http,
            progress_of_rounds: Mutex::default(),
            request,
        }))
    }

    /// The method, and what the headers and capabilities have to say about it.
    fn check_method(
        &self,
        method: &str,
        params: &Params<'_>,
        caller: &Caller,
        headers: Option<&HeaderMap>,
    ) -> Result<(), Refusal> {
        if let Some(headers) = headers {
            headers::check_method(headers, method).map_err(Refusal::bad_request)?;
        }
        if !caller.version.allows(Role::Client, method) || !self.service.about().answers(caller.version, method) {
            return Err(Refusal { status: StatusCode::NOT_FOUND, error: RpcError::method_not_found(method) });
        }
        let named = headers::name_member(method);
        let name = named.and_then(|member| params.text(member));
        if let (Some(headers), Some(member)) = (headers, named) {
            headers::check_name_is(headers, member, name.as_deref()).map_err(Refusal::bad_request)?;
        }
        let about_tasks = method.starts_with("tasks/") || (method == "subscriptions/listen" && asks_for_tasks(params));
        if about_tasks && !caller.has_extension(TASKS_EXTENSION) {
            return Err(Refusal::bad_request(missing_capability(&json!({"extensions": {TASKS_EXTENSION: {}}}))));
        }
        if let (Some(headers), Some(tool), "tools/call") = (headers, name, method) {
            self.check_param_headers(headers, &tool, params.arguments).map_err(Refusal::bad_request)?;
        }
        Ok(())
    }

    fn check_param_headers(
        &self,
        headers: &HeaderMap,
        tool: &str,
        arguments: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        let Some(schema) = self.service.input_schema(tool) else { return Ok(()) };
        let wanted =
            ParamHeaders::of(&schema).map_err(|reason| RpcError::internal(format!("input schema: {reason}")))?;
        if wanted.is_empty() {
            return Ok(());
        }
        let arguments =
            arguments.map_or(Ok(RawJson::EMPTY_OBJECT), |arguments| RawJson::from_bytes(arguments.get().to_owned()))?;
        wanted.check(headers, &arguments).map_err(mismatch)
    }

    /// The answers and the state of the request. An answer counts when the state contains its question.
    fn input(&self, request: &Request, params: &RawJson, read: &Params<'_>) -> Result<Input, RpcError> {
        let mut input = Input::default();
        if let Some(state) = read.state.map(|state| params.share(state)).filter(|state| !state.is_null()) {
            let state: String =
                state.read().map_err(|_| RpcError::invalid_params("`requestState` must be a string"))?;
            let key =
                self.state_key.as_ref().ok_or_else(|| RpcError::internal("no key to verify `requestState` with"))?;
            input = key.open(&request.method, params, &state)?;
        }
        if let Some(responses) =
            read.responses.map(|responses| params.share(responses)).filter(|value| !value.is_null())
        {
            if !responses.is_object() {
                return Err(RpcError::invalid_params("`inputResponses` must be an object"));
            }
            let was_asked = |key: &str| input.asked.iter().any(|(asked, _)| asked == key);
            let answers: Vec<_> = responses.members().into_iter().filter(|(key, _)| was_asked(key)).collect();
            input.answers.extend(answers);
        }
        Ok(input)
    }
}

fn check_version_header(headers: &HeaderMap, asked: &str) -> Result<(), RpcError> {
    match headers::only(headers, &MCP_PROTOCOL_VERSION).map_err(mismatch)? {
        None => Err(mismatch(format!("header MCP-Protocol-Version is missing; it must be `{asked}`"))),
        Some(sent) if sent.as_bytes().trim_ascii() == asked.as_bytes() => Ok(()),
        Some(sent) => Err(mismatch(format!("header MCP-Protocol-Version is {sent:?}, but the body says `{asked}`"))),
    }
}

/// The version asked for, if this server speaks it without a handshake.
fn speaks(about: &About, asked: &str) -> Result<Version, RpcError> {
    let version = Version::parse(asked).filter(|version| version.is_modern() && about.speaks(*version));
    version.ok_or_else(|| unsupported_version(about, asked))
}

/// `-32022` with what is spoken.
pub(super) fn unsupported_version(about: &About, asked: &str) -> RpcError {
    let supported = about.modern_versions();
    let message = format!("MCP `{asked}` is not spoken here; supported are {}", supported.join(", "));
    RpcError::new(RpcError::UNSUPPORTED_VERSION, message).with_data(json!({"supported": supported, "requested": asked}))
}

fn asks_for_tasks(params: &Params<'_>) -> bool {
    #[derive(Deserialize)]
    struct Wanted<'a> {
        #[serde(rename = "taskIds", borrow, default)]
        tasks: Option<&'a RawValue>,
    }
    let wanted = params.notifications.and_then(|wanted| serde_json::from_str::<Wanted<'_>>(wanted.get()).ok());
    wanted.is_some_and(|wanted| wanted.tasks.is_some())
}
