//! One server of the settings as data to be written, its fields in our order; and how it is reached.

use crate::formats::json_text::{number, object, of_raw};
use crate::settings::Located;
use crate::settings::edit::Json;
use crate::settings::raw::{AuthProviderType, OnBusy, RawList, RawMap, RawServer, StartMode, TransportType};

/// A server and what it is called.
#[derive(Clone, Debug)]
pub struct NamedServer {
    /// The name.
    pub name: String,
    /// The entry, as the settings spell it.
    pub server: RawServer,
}

/// The entry of a server as our settings spell it, keys in the order of the documentation.
#[must_use]
pub fn entry(server: &RawServer) -> Json {
    object(fields(server))
}

pub(crate) fn fields(server: &RawServer) -> Vec<(&'static str, Json)> {
    let text = |value: &Option<Located<String>>| value.as_ref().map(|one| Json::text(&one.value));
    let amount = |value: &Option<Located<f64>>| value.as_ref().map(|one| number(one.value));
    let word = |word: &str| Json::text(word);
    let all = [
        ("builtin", text(&server.builtin)),
        ("command", text(&server.command)),
        ("args", server.args.as_ref().map(list)),
        ("env", server.env.as_ref().map(map)),
        ("inheritEnv", server.inherit_env.as_ref().map(list)),
        ("cwd", text(&server.cwd)),
        ("type", server.transport_type.map(|one| word(type_word(one.value)))),
        ("url", text(&server.url)),
        ("httpUrl", text(&server.http_url)),
        ("tcp", text(&server.tcp)),
        ("headers", server.headers.as_ref().map(map)),
        ("headersHelper", text(&server.headers_helper)),
        ("oauth", server.oauth.as_ref().map(|one| of_raw(&one.value))),
        ("authProviderType", server.auth_provider_type.map(|one| word(provider_word(one.value)))),
        ("targetAudience", text(&server.target_audience)),
        ("targetServiceAccount", text(&server.target_service_account)),
        ("timeout", amount(&server.timeout)),
        ("connectTimeout", amount(&server.connect_timeout)),
        ("maxDuration", amount(&server.max_duration)),
        ("maxConcurrency", amount(&server.max_concurrency)),
        ("onBusy", server.on_busy.map(|one| word(if one.value == OnBusy::Queue { "queue" } else { "reject" }))),
        ("start", server.start.map(|one| word(start_word(one.value)))),
        ("trust", server.trust.map(|one| Json::Bool(one.value))),
        ("description", text(&server.description)),
        ("includeTools", server.include_tools.as_ref().map(list)),
        ("excludeTools", server.exclude_tools.as_ref().map(list)),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

pub(crate) fn list(list: &RawList) -> Json {
    Json::List(list.value.iter().map(|one| Json::text(&one.value)).collect())
}

fn map(map: &RawMap) -> Json {
    object(map.value.iter().map(|pair| (pair.name.value.as_str(), Json::text(&pair.value.value))))
}

pub(crate) const fn type_word(transport: TransportType) -> &'static str {
    match transport {
        TransportType::Stdio => "stdio",
        TransportType::Http => "http",
        TransportType::Sse => "sse",
    }
}

const fn start_word(start: StartMode) -> &'static str {
    match start {
        StartMode::Auto => "auto",
        StartMode::Eager => "eager",
        StartMode::Lazy => "lazy",
    }
}

const fn provider_word(provider: AuthProviderType) -> &'static str {
    match provider {
        AuthProviderType::DynamicDiscovery => "dynamic_discovery",
        AuthProviderType::GoogleCredentials => "google_credentials",
        AuthProviderType::ServiceAccountImpersonation => "service_account_impersonation",
    }
}

/// How a server is reached, as far as its entry says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach<'s> {
    /// A program.
    Command(&'s Located<String>),
    /// An address, and how it is to be spoken to when that is written.
    Url(&'s Located<String>, Option<TransportType>),
    /// Neither.
    Nothing,
}

/// The same order as that of the servers: an address beats a command.
pub(crate) fn reach(server: &RawServer) -> Reach<'_> {
    let written = |text: &&Located<String>| !text.value.trim().is_empty();
    if server.builtin.as_ref().is_some_and(|name| written(&name)) {
        return Reach::Nothing;
    }
    if let Some(url) = server.http_url.as_ref().filter(written) {
        return Reach::Url(url, Some(TransportType::Http));
    }
    if let Some(url) = server.url.as_ref().filter(written) {
        let kind = server.transport_type.map(|one| one.value).filter(|kind| *kind != TransportType::Stdio);
        return Reach::Url(url, kind);
    }
    server.command.as_ref().filter(written).map_or(Reach::Nothing, Reach::Command)
}
