//! An entry of the settings over the entry of an extension with the same name: the person changes what an extension brings, key by key.

use crate::settings::Position;
use crate::settings::raw::{RawList, RawMap, RawServer};

/// The extension's server with everything that the settings say about it in its place.
///
/// What is named once is replaced. `env` is merged by variable; `includeTools` is what both include, `excludeTools` what either excludes. A
/// person who changes how the server is reached gets nothing of how the extension reaches it. All that comes from the extension is said to
/// stand at `at`, because complaints are about the file of the settings.
pub(crate) fn over_extension(settings: &RawServer, extension: &RawServer, at: Position) -> RawServer {
    let mut base = extension.clone();
    base.move_to(at);
    if transport(settings).is_some_and(|kind| Some(kind) != transport(extension)) {
        base = RawServer {
            command: None,
            args: None,
            env: None,
            inherit_env: None,
            cwd: None,
            url: None,
            http_url: None,
            headers: None,
            transport_type: None,
            builtin: None,
            ..base
        };
    }
    RawServer {
        command: settings.command.clone().or(base.command),
        args: settings.args.clone().or(base.args),
        env: both_maps(settings.env.as_ref(), base.env),
        // Requests of an extension do not count.
        inherit_env: settings.inherit_env.clone(),
        cwd: settings.cwd.clone().or(base.cwd),
        url: settings.url.clone().or(base.url),
        http_url: settings.http_url.clone().or(base.http_url),
        headers: settings.headers.clone().or(base.headers),
        headers_helper: settings.headers_helper.clone(),
        transport_type: settings.transport_type.or(base.transport_type),
        tcp: settings.tcp.clone().or(base.tcp),
        builtin: settings.builtin.clone().or(base.builtin),
        timeout: settings.timeout.or(base.timeout),
        connect_timeout: settings.connect_timeout.or(base.connect_timeout),
        max_duration: settings.max_duration.or(base.max_duration),
        max_concurrency: settings.max_concurrency.or(base.max_concurrency),
        on_busy: settings.on_busy.or(base.on_busy),
        start: settings.start.or(base.start),
        trust: settings.trust.or(base.trust),
        description: settings.description.clone().or(base.description),
        include_tools: in_both(settings.include_tools.as_ref(), base.include_tools),
        exclude_tools: in_either(settings.exclude_tools.as_ref(), base.exclude_tools),
        oauth: settings.oauth.clone().or(base.oauth),
        auth_provider_type: settings.auth_provider_type.or(base.auth_provider_type),
        target_audience: settings.target_audience.clone().or(base.target_audience),
        target_service_account: settings.target_service_account.clone().or(base.target_service_account),
    }
}

/// How a server is reached, as far as an entry says.
fn transport(server: &RawServer) -> Option<&'static str> {
    if server.builtin.is_some() {
        Some("builtin")
    } else if server.url.is_some() || server.http_url.is_some() {
        Some("url")
    } else {
        server.command.as_ref().map(|_| "command")
    }
}

fn both_maps(over: Option<&RawMap>, base: Option<RawMap>) -> Option<RawMap> {
    match (over, base) {
        (Some(over), Some(mut base)) => {
            base.value.retain(|pair| !over.value.iter().any(|other| other.name.value == pair.name.value));
            base.value.extend(over.value.iter().cloned());
            Some(base)
        }
        (over, base) => over.cloned().or(base),
    }
}

fn in_both(one: Option<&RawList>, other: Option<RawList>) -> Option<RawList> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let mut both = one.clone();
            both.value.retain(|name| other.value.iter().any(|kept| kept.value == name.value));
            Some(both)
        }
        (one, other) => one.cloned().or(other),
    }
}

fn in_either(one: Option<&RawList>, other: Option<RawList>) -> Option<RawList> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let mut either = one.clone();
            let new = other.value.into_iter().filter(|name| !one.value.iter().any(|kept| kept.value == name.value));
            either.value.extend(new);
            Some(either)
        }
        (one, other) => one.cloned().or(other),
    }
}
