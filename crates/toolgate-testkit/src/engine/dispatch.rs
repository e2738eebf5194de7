//! Which answer a request gets: versions and lifecycle of both eras, lists, and who carries out the rest.

use serde_json::{Value, json};

use crate::behaviour::Behaviour;
use crate::engine::exchange::{Exchange, META_CAPABILITIES, modern_version};
use crate::engine::lists;
use crate::engine::perform::perform;
use crate::engine::server::Server;
use crate::engine::subscribe::{Listening, SUBSCRIPTION_ID};
use crate::script::is_modern;

/// How a request ends.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// With a result.
    Result(Value),
    /// With an error.
    Error(Failure),
    /// With this very text; `$ID` stands for the id.
    Text(String),
}

/// A JSON-RPC error and the HTTP status it has as a document of its own.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    pub(crate) status: u16,
}

impl Outcome {
    pub(crate) fn error(code: i64, message: impl Into<String>) -> Self {
        Self::Error(Failure { code, message: message.into(), data: None, status: 200 })
    }

    pub(crate) fn with_status(mut self, http_status: u16) -> Self {
        if let Self::Error(failure) = &mut self {
            failure.status = http_status;
        }
        self
    }

    pub(crate) fn with_data(mut self, value: Value) -> Self {
        if let Self::Error(failure) = &mut self {
            failure.data = Some(value);
        }
        self
    }
}

const LISTS: [&str; 4] = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// Whether the server knows the method of this request, in the era in which it comes.
pub(crate) fn knows(server: &Server, message: &Value) -> bool {
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let params = message.get("params").unwrap_or(&Value::Null);
    knows_method(server, method, modern_version(server, params).is_some())
}

fn knows_method(server: &Server, method: &str, in_modern: bool) -> bool {
    if server.script.methods.contains_key(method) {
        return true;
    }
    let capabilities = server.capabilities();
    let has = |capability: &str| capabilities.get(capability).is_some();
    match method {
        "tools/list" | "tools/call" => has("tools"),
        "prompts/list" | "prompts/get" => has("prompts"),
        "resources/list" | "resources/templates/list" | "resources/read" => has("resources"),
        "completion/complete" => server.script.completion.is_some(),
        "server/discover" | "subscriptions/listen" => in_modern,
        "initialize" | "ping" => !in_modern,
        "logging/setLevel" => !in_modern && has("logging"),
        "resources/subscribe" | "resources/unsubscribe" => !in_modern && has("resources"),
        _ => false,
    }
}

/// Answers one request.
pub(crate) async fn dispatch(exchange: &Exchange) -> Outcome {
    let Some(version) = exchange.modern_version() else {
        return legacy(exchange).await;
    };
    let outcome = match refusal(exchange, version) {
        Some(refusal) => refusal,
        None => modern(exchange).await,
    };
    match outcome {
        Outcome::Result(result) => Outcome::Result(completed(&exchange.server, result)),
        other => other,
    }
}

/// Why a modern request is refused before anybody looks at its method.
fn refusal(exchange: &Exchange, version: &str) -> Option<Outcome> {
    if !is_modern(version) || !exchange.server.script.speaks(version) {
        return Some(unsupported_version(&exchange.server, version));
    }
    if !exchange.meta(META_CAPABILITIES).is_some_and(Value::is_object) {
        let message = format!("`_meta` lacks `{META_CAPABILITIES}`");
        return Some(Outcome::error(-32602, message).with_status(400));
    }
    None
}

async fn modern(exchange: &Exchange) -> Outcome {
    let server = &exchange.server;
    let method = exchange.method.as_str();
    if !knows_method(server, method, true) {
        return unknown_method(method).with_status(404);
    }
    match method {
        _ if server.script.methods.contains_key(method) => scripted(exchange).await,
        "server/discover" => Outcome::Result(with_cache_hints(server, discovered(server))),
        "subscriptions/listen" => listen(exchange).await,
        "resources/read" => match scripted(exchange).await {
            Outcome::Result(result) => Outcome::Result(with_cache_hints(server, result)),
            other => other,
        },
        _ if LISTS.contains(&method) => match lists::page(server, method, &exchange.params) {
            Outcome::Result(result) => Outcome::Result(with_cache_hints(server, result)),
            other => other,
        },
        _ => scripted(exchange).await,
    }
}

async fn legacy(exchange: &Exchange) -> Outcome {
    let server = &exchange.server;
    let method = exchange.method.as_str();
    if method == "initialize" && !server.script.methods.contains_key(method) {
        return initialize(exchange);
    }
    if server.script.newest_legacy().is_none() {
        let message = "`_meta` lacks the protocol version; this server has no `initialize`";
        return Outcome::error(-32602, message).with_status(400);
    }
    if !knows_method(server, method, false) {
        return unknown_method(method);
    }
    if method == "ping" {
        return Outcome::Result(json!({}));
    }
    if !exchange.session.is_initialized() && !server.script.methods.contains_key(method) {
        return Outcome::error(-32600, format!("`initialize` comes before `{method}`"));
    }
    match method {
        _ if LISTS.contains(&method) => lists::page(server, method, &exchange.params),
        "logging/setLevel" => {
            *exchange.session.log_level.lock() = text_param(exchange, "level");
            Outcome::Result(json!({}))
        }
        "resources/subscribe" => {
            exchange.session.subscribed_resources.lock().extend(text_param(exchange, "uri"));
            Outcome::Result(json!({}))
        }
        "resources/unsubscribe" => {
            let uri = text_param(exchange, "uri").unwrap_or_default();
            exchange.session.subscribed_resources.lock().remove(&uri);
            Outcome::Result(json!({}))
        }
        _ => scripted(exchange).await,
    }
}

/// A request whose answer is a behaviour of the script.
async fn scripted(exchange: &Exchange) -> Outcome {
    let server = &exchange.server;
    if let Some(behaviour) = server.script.methods.get(&exchange.method) {
        return perform(exchange, &exchange.method, behaviour).await;
    }
    let key = if exchange.method == "resources/read" { "uri" } else { "name" };
    let name = text_param(exchange, key).unwrap_or_default();
    match exchange.method.as_str() {
        "completion/complete" => Outcome::Result(server.script.completion.clone().unwrap_or_default()),
        method => match behaviour_of(server, method, &name) {
            Some(behaviour) => perform(exchange, &format!("{method} {name}"), &behaviour).await,
            None => {
                let legacy_resource = key == "uri" && exchange.modern_version().is_none();
                let code = if legacy_resource { -32002 } else { -32602 };
                Outcome::error(code, format!("`{method}`: there is no `{name}`"))
            }
        },
    }
}

fn behaviour_of(server: &Server, method: &str, name: &str) -> Option<Behaviour> {
    let offers = server.offers.lock();
    match method {
        "tools/call" => offers.tools.iter().find(|tool| tool.name() == name).map(|tool| tool.behaviour.clone()),
        "prompts/get" => offers.prompts.iter().find(|one| one.name() == name).map(|one| one.behaviour.clone()),
        _ => offers.resources.iter().find(|one| one.uri() == name).map(|one| one.behaviour.clone()),
    }
}

fn initialize(exchange: &Exchange) -> Outcome {
    let server = &exchange.server;
    let offered = text_param(exchange, "protocolVersion").unwrap_or_default();
    let Some(newest) = server.script.newest_legacy() else {
        return unsupported_version(server, &offered);
    };
    let is_shared = server.script.speaks(&offered) && !is_modern(&offered);
    let version = if is_shared { offered.as_str() } else { newest };
    exchange.session.set_version(version);
    let mut result = json!({
        "protocolVersion": version,
        "capabilities": server.capabilities(),
        "serverInfo": server.server_info(),
    });
    if let Some(instructions) = &server.script.instructions {
        result["instructions"] = json!(instructions);
    }
    Outcome::Result(result)
}

fn discovered(server: &Server) -> Value {
    let mut result = json!({
        "supportedVersions": server.script.versions,
        "capabilities": server.capabilities(),
    });
    if let Some(instructions) = &server.script.instructions {
        result["instructions"] = json!(instructions);
    }
    result
}

async fn listen(exchange: &Exchange) -> Outcome {
    let Some(wanted) = exchange.params.get("notifications").filter(|wanted| wanted.is_object()) else {
        return Outcome::error(-32602, "`params.notifications` says what to listen to");
    };
    let mut listening = Listening::begin(&exchange.server, &exchange.id, wanted, &exchange.outlet);
    listening.until_ended().await;
    Outcome::Result(json!({"_meta": {SUBSCRIPTION_ID: exchange.id}}))
}

fn unsupported_version(server: &Server, requested: &str) -> Outcome {
    let supported = &server.script.versions;
    let message = format!("unsupported protocol version; this server speaks {}", supported.join(", "));
    Outcome::error(-32022, message).with_data(json!({"supported": supported, "requested": requested})).with_status(400)
}

fn unknown_method(method: &str) -> Outcome {
    Outcome::error(-32601, format!("Method not found: {method}"))
}

/// Adds what every modern result has, where the script did not say otherwise.
fn completed(server: &Server, mut result: Value) -> Value {
    if let Some(object) = result.as_object_mut() {
        object.entry("resultType").or_insert_with(|| json!("complete"));
        let meta = object.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.entry("io.modelcontextprotocol/serverInfo").or_insert_with(|| server.server_info());
        }
    }
    result
}

fn with_cache_hints(server: &Server, mut result: Value) -> Value {
    let is_final = result.get("resultType").is_none_or(|kind| kind == "complete");
    if is_final && let Some(object) = result.as_object_mut() {
        object.entry("ttlMs").or_insert_with(|| json!(server.script.ttl_ms));
        object.entry("cacheScope").or_insert_with(|| json!(server.script.cache_scope));
    }
    result
}

fn text_param(exchange: &Exchange, key: &str) -> Option<String> {
    exchange.params.get(key).and_then(Value::as_str).map(str::to_owned)
}
