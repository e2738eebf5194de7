//! Zed: `context_servers` in `settings.json`. A command is a text with `args` and `env` beside it, or, in older files, an object of all three.

use std::path::Path;

use crate::formats::client::Format;
use crate::formats::dialect::{Dialect, Spot};
use crate::formats::entry::{NamedServer, Reach, reach};
use crate::formats::finding::Finding;
use crate::formats::found::{Exported, FormatError, Imported, NoteKind};
use crate::formats::json_text::{file, object};
use crate::formats::oauth::{self, OAuthKeys};
use crate::formats::server_reader::{Draft, ServerReader, Unusable};
use crate::formats::server_writer::{Impossible, Writing};
use crate::settings::Located;
use crate::settings::edit::Json;
use crate::settings::raw::{RawMember, RawValue, TransportType};
use crate::settings::tree::read_tree;

const OAUTH: OAuthKeys = OAuthKeys { client_id: "client_id", client_secret: Some("client_secret"), scopes: None };

pub(crate) fn read(text: &str, path: &Path) -> Result<Imported, FormatError> {
    let tree = read_tree(text).map_err(|broken| FormatError::broken(path, broken))?;
    let mut finding = Finding::new(Format::Zed, Dialect::Literal);
    let root = finding.root(tree.as_ref(), path)?;
    finding.list(&root, "context_servers", path, read_server)?;
    Ok(finding.finish())
}

fn read_server(reader: &mut ServerReader<'_>, fields: &[&RawMember]) -> Result<Draft, Unusable> {
    let find = |name: &str| fields.iter().find(|field| field.key.value == name);
    let has_reach = find("command").or_else(|| find("url")).is_some();
    let is_of_extension = find("source")
        .is_some_and(|source| matches!(&source.value.value, RawValue::Text(source) if source == "extension"));
    if !has_reach && (is_of_extension || find("settings").is_some()) {
        return Err(Unusable::foreign("an extension of Zed brings this server; only Zed can start it"));
    }
    let mut draft = Draft::default();
    for field in fields {
        match field.key.value.as_str() {
            "command" if matches!(field.value.value, RawValue::Object(_)) => {
                read_command(reader, &mut draft, field)?;
            }
            "timeout" => draft.server.timeout = reader.number(field, 1000.0)?,
            "oauth" => draft.server.oauth = oauth::read(reader, field, OAUTH)?,
            "remote" => {
                if reader.truth(field)? == Some(true) {
                    reader.lost(field, "servers are started on this machine");
                }
            }
            "settings" if is_empty(&field.value.value) => (),
            "settings" => reader.lost(field, "they are for an extension of Zed"),
            "source" => (),
            _ => {
                if !reader.usual_field(&mut draft, field)? {
                    reader.unknown(field);
                }
            }
        }
    }
    if let Some(url) = &draft.server.url {
        draft.server.transport_type = Some(Located { value: TransportType::Http, at: url.at });
    }
    Ok(draft)
}

/// `"command": {"path", "args", "env"}`.
fn read_command(reader: &mut ServerReader<'_>, draft: &mut Draft, command: &RawMember) -> Result<(), Unusable> {
    for field in reader.inside(command)? {
        match field.key.value.as_str() {
            "path" | "command" => draft.server.command = reader.text(field, Spot::Process)?,
            "args" => draft.server.args = reader.texts(field)?,
            "env" => draft.server.env = reader.pairs(field, Spot::Process)?,
            "timeout" => draft.server.timeout = reader.number(field, 1000.0)?,
            _ => reader.unknown(field),
        }
    }
    Ok(())
}

fn is_empty(value: &RawValue) -> bool {
    match value {
        RawValue::Null => true,
        RawValue::Object(members) => members.is_empty(),
        _ => false,
    }
}

pub(crate) fn write(servers: &[NamedServer]) -> Exported {
    let writing = Writing::of(servers, (Format::Zed, Dialect::Literal), |writer, server| {
        match reach(server) {
            Reach::Command(command) => {
                writer.text("command", command);
                // Without a list of arguments Zed does not take it for a command.
                match &server.args {
                    Some(args) => writer.texts("args", Some(args)),
                    None => writer.set("args", Json::List(Vec::new())),
                }
                writer.pairs("env", server.env.as_ref());
                writer.rest(server, &["command", "args", "env", "type", "timeout"]);
            }
            Reach::Url(url, kind) => {
                if kind == Some(TransportType::Sse) {
                    writer.note(NoteKind::Lost, "type", "Zed speaks streamable HTTP only");
                }
                writer.text("url", url);
                writer.pairs("headers", server.headers.as_ref());
                oauth::write_object(writer, server, OAUTH, "oauth");
                writer.rest(server, &["url", "httpUrl", "headers", "type", "timeout", "oauth"]);
            }
            Reach::Nothing => return Err(Impossible("it is neither a program nor an address")),
        }
        writer.whole_seconds("timeout", server.timeout.as_ref());
        Ok(())
    });
    writing.finish(|entries, _| file(&object([("context_servers", entries)])))
}
