//! Servers as extensions of goose. Secrets are named in `env_keys`; goose asks for them and keeps them itself.

use crate::formats::client::Format;
use crate::formats::dialect::Dialect;
use crate::formats::entry::{NamedServer, Reach, reach};
use crate::formats::found::{Exported, NoteKind};
use crate::formats::json_text::{number, object};
use crate::formats::placeholder::{Piece, is_name, pieces};
use crate::formats::server_writer::{EntryWriter, Impossible, Writing};
use crate::settings::edit::Json;
use crate::settings::raw::{RawServer, TransportType};

/// How long goose waits when nothing else is written, in seconds.
const TIMEOUT_S: f64 = 300.0;

pub(crate) fn write(servers: &[NamedServer]) -> Exported {
    let writing = Writing::of(servers, (Format::Goose, Dialect::Literal), |writer, server| {
        writer.set("enabled", Json::Bool(true));
        let (keys, dealt_with): (_, &[&str]) = match reach(server) {
            Reach::Command(command) => {
                begin(writer, server, "stdio");
                writer.text("cmd", command);
                match &server.args {
                    Some(args) => writer.texts("args", Some(args)),
                    None => writer.set("args", Json::List(Vec::new())),
                }
                (write_env(writer, server), &["command", "args", "env"])
            }
            Reach::Url(url, kind) => {
                let is_sse = kind == Some(TransportType::Sse);
                begin(writer, server, if is_sse { "sse" } else { "streamable_http" });
                if is_sse {
                    writer.note(NoteKind::Changed, "type", "newer versions of goose do not speak it any more");
                }
                writer.text("uri", url);
                (write_headers(writer, server), &["url", "httpUrl", "headers"])
            }
            Reach::Nothing => return Err(Impossible("it is neither a program nor an address")),
        };
        writer.set("env_keys", Json::List(keys.into_iter().map(Json::Text).collect()));
        match &server.timeout {
            Some(limit) => writer.whole_seconds("timeout", Some(limit)),
            None => writer.set("timeout", number(TIMEOUT_S)),
        }
        writer.tools("available_tools", server.include_tools.as_ref());
        writer.rest(server, &[dealt_with, &["type", "timeout", "includeTools", "description"]].concat());
        Ok(())
    });
    writing.finish(|entries, _| {
        let file = object([("extensions", entries)]);
        yaml_serde::to_string(&file).unwrap_or_default()
    })
}

fn begin(writer: &mut EntryWriter<'_>, server: &RawServer, kind: &str) {
    writer.set("type", Json::text(kind));
    writer.set("name", Json::text(writer.name()));
    let description = server.description.as_ref().map(|text| text.value.as_str()).unwrap_or_default();
    writer.set("description", Json::text(description));
}

/// The variables with values; the names of the others.
fn write_env(writer: &mut EntryWriter<'_>, server: &RawServer) -> Vec<String> {
    let (mut envs, mut keys) = (Vec::new(), Vec::new());
    for pair in server.env.iter().flat_map(|env| &env.value) {
        let name = &pair.name.value;
        match pieces(&pair.value.value).as_slice() {
            [Piece::Keychain(secret) | Piece::Env(secret) | Piece::Variable { name: secret, default: None }]
                if secret == name =>
            {
                keys.push(name.clone());
            }
            _ => envs.push((name.clone(), writer.translated(&format!("env.{name}"), &pair.value.value))),
        }
    }
    writer.set("envs", Json::Object(envs));
    keys
}

/// The headers; the names of the variables in them.
fn write_headers(writer: &mut EntryWriter<'_>, server: &RawServer) -> Vec<String> {
    let (mut headers, mut keys) = (Vec::new(), Vec::new());
    for pair in server.headers.iter().flat_map(|headers| &headers.value) {
        let name = &pair.name.value;
        let mut text = String::new();
        for piece in pieces(&pair.value.value) {
            match piece {
                Piece::Literal(own) => text.push_str(&own),
                Piece::Keychain(secret) | Piece::Env(secret) | Piece::Variable { name: secret, default: None }
                    if is_name(secret) =>
                {
                    text.push_str(&format!("${{{secret}}}"));
                    if !keys.iter().any(|key| key == secret) {
                        keys.push(secret.to_owned());
                    }
                }
                _ => {
                    let message = "goose cannot look it up; write what it stands for";
                    writer.note(NoteKind::Lost, &format!("headers.{name}"), message);
                }
            }
        }
        headers.push((name.clone(), Json::Text(text)));
    }
    if !headers.is_empty() {
        writer.set("headers", Json::Object(headers));
    }
    keys
}
