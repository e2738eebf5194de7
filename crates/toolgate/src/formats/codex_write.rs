//! Servers as tables of Codex. Where a value is that of a variable, Codex has a key that says so.

use crate::formats::client::Format;
use crate::formats::codex::OAUTH;
use crate::formats::dialect::Dialect;
use crate::formats::entry::{NamedServer, Reach, reach};
use crate::formats::found::{Exported, NoteKind};
use crate::formats::json_text::{number, object};
use crate::formats::oauth;
use crate::formats::placeholder::{Piece, pieces};
use crate::formats::server_writer::{EntryWriter, Impossible, Writing};
use crate::settings::Located;
use crate::settings::edit::Json;
use crate::settings::raw::{RawServer, TransportType};

pub(crate) fn write(servers: &[NamedServer]) -> Exported {
    let writing = Writing::of(servers, (Format::Codex, Dialect::Literal), |writer, server| match reach(server) {
        Reach::Command(command) => write_command(writer, server, command),
        Reach::Url(url, kind) => write_url(writer, server, url, kind),
        Reach::Nothing => Err(Impossible("it is neither a program nor an address")),
    });
    writing.finish(|entries, _| {
        let file = object([("mcp_servers", entries)]);
        toml::to_string(&file).unwrap_or_default()
    })
}

/// Keys with tables below them come last, as TOML wants it.
fn write_command(
    writer: &mut EntryWriter<'_>,
    server: &RawServer,
    command: &Located<String>,
) -> Result<(), Impossible> {
    writer.text("command", command);
    writer.texts("args", server.args.as_ref());
    let pairs = server.env.as_ref().map(|env| env.value.as_slice()).unwrap_or_default();
    let (passed_on, own): (Vec<_>, Vec<_>) =
        pairs.iter().partition(|pair| variable(&pair.value.value) == Some(&pair.name.value));
    if !passed_on.is_empty() {
        let names = passed_on.iter().map(|pair| Json::text(&pair.name.value)).collect();
        writer.set("env_vars", Json::List(names));
    }
    if let Some(cwd) = &server.cwd {
        writer.text("cwd", cwd);
    }
    write_shared(writer, server);
    let mut env = Vec::new();
    for pair in own {
        let name = &pair.name.value;
        env.push((name.clone(), writer.translated(&format!("env.{name}"), &pair.value.value)));
    }
    if !env.is_empty() {
        writer.set("env", Json::Object(env));
    }
    writer.rest(server, &[SHARED, &["command", "args", "env", "cwd"]].concat());
    Ok(())
}

fn write_url(
    writer: &mut EntryWriter<'_>,
    server: &RawServer,
    url: &Located<String>,
    kind: Option<TransportType>,
) -> Result<(), Impossible> {
    if kind == Some(TransportType::Sse) {
        writer.note(NoteKind::Lost, "type", "Codex speaks streamable HTTP only");
    }
    writer.text("url", url);
    let (mut own, mut of_variables, mut token) = (Vec::new(), Vec::new(), None);
    for pair in server.headers.iter().flat_map(|headers| &headers.value) {
        let name = &pair.name.value;
        if let Some(variable) = variable(&pair.value.value) {
            of_variables.push((name.clone(), Json::text(variable)));
        } else if let Some(variable) = bearer(name, &pair.value.value) {
            token = Some(variable);
        } else {
            own.push((name.clone(), writer.translated(&format!("headers.{name}"), &pair.value.value)));
        }
    }
    if let Some(token) = token {
        writer.set("bearer_token_env_var", Json::text(token));
    }
    write_shared(writer, server);
    let mut login =
        oauth::write(writer, server, oauth::OAuthKeys { scopes: Some(oauth::Scopes::List("scopes")), ..OAUTH });
    if let Some(at) = login.iter().position(|(key, _)| key == "scopes") {
        let (key, scopes) = login.remove(at);
        writer.set(&key, scopes);
    }
    for (key, pairs) in [("http_headers", own), ("env_http_headers", of_variables), ("oauth", login)] {
        if !pairs.is_empty() {
            writer.set(key, Json::Object(pairs));
        }
    }
    writer.rest(server, &[SHARED, &["url", "httpUrl", "headers", "oauth"]].concat());
    Ok(())
}

const SHARED: &[&str] = &["type", "timeout", "connectTimeout", "includeTools", "excludeTools"];

fn write_shared(writer: &mut EntryWriter<'_>, server: &RawServer) {
    for (key, limit) in [("startup_timeout_sec", server.connect_timeout), ("tool_timeout_sec", server.timeout)] {
        if let Some(limit) = limit {
            writer.set(key, number(limit.value / 1000.0));
        }
    }
    writer.tools("enabled_tools", server.include_tools.as_ref());
    writer.tools("disabled_tools", server.exclude_tools.as_ref());
}

/// The variable that a text is, and nothing else.
fn variable(text: &str) -> Option<&str> {
    match pieces(text).as_slice() {
        [Piece::Variable { name, default: None } | Piece::Env(name)] => Some(name),
        _ => None,
    }
}

/// The variable that holds a token.
fn bearer<'t>(header: &str, text: &'t str) -> Option<&'t str> {
    match pieces(text).as_slice() {
        [Piece::Literal(scheme), Piece::Variable { name, default: None } | Piece::Env(name)]
            if scheme == "Bearer " && header.eq_ignore_ascii_case("authorization") =>
        {
            Some(name)
        }
        _ => None,
    }
}
