//! VS Code: `mcp.json` with `servers` and `inputs`; the same under `mcp` in an older `settings.json`.

use std::path::Path;

use crate::formats::client::Format;
use crate::formats::dialect::Dialect;
use crate::formats::entry::{NamedServer, Reach, reach, type_word};
use crate::formats::finding::Finding;
use crate::formats::found::{Exported, FormatError, Imported};
use crate::formats::json_text::{file, object};
use crate::formats::members::members;
use crate::formats::oauth::{self, OAuthKeys};
use crate::formats::server_reader::{Draft, ServerReader, Unusable};
use crate::formats::server_writer::{Impossible, Writing};
use crate::settings::diagnostic::KeyPath;
use crate::settings::edit::Json;
use crate::settings::raw::{RawMember, TransportType};
use crate::settings::tree::read_tree;

const OAUTH: OAuthKeys = OAuthKeys { client_id: "clientId", client_secret: None, scopes: None };

pub(crate) fn read(text: &str, path: &Path) -> Result<Imported, FormatError> {
    let tree = read_tree(text).map_err(|broken| FormatError::broken(path, broken))?;
    let mut finding = Finding::new(Format::VsCode, Dialect::VsCode);
    let root = finding.root(tree.as_ref(), path)?;
    let find = |name: &str| root.iter().find(|member| member.key.value == name);
    if let Some(list) = find("mcp.servers") {
        finding.servers(list, (KeyPath::top("mcp.servers"), None), path, read_server)?;
        return Ok(finding.finish());
    }
    let top = KeyPath::top("mcp");
    let inside_mcp = find("mcp").and_then(|mcp| members(&mcp.value, Some(&top), &mut finding.notes));
    match inside_mcp.into_iter().flatten().find(|member| member.key.value == "servers") {
        Some(list) => finding.servers(list, (top.key("servers"), None), path, read_server)?,
        None => finding.list(&root, "servers", path, read_server)?,
    }
    Ok(finding.finish())
}

fn read_server(reader: &mut ServerReader<'_>, fields: &[&RawMember]) -> Result<Draft, Unusable> {
    let mut draft = Draft::default();
    for field in fields {
        match field.key.value.as_str() {
            "oauth" => draft.server.oauth = oauth::read(reader, field, OAUTH)?,
            "sandboxEnabled" | "sandbox" => reader.lost(field, "servers do not run in a sandbox here"),
            "dev" => reader.lost(field, "it is for working on the server itself"),
            // Where VS Code got it from.
            "gallery" | "version" => (),
            _ => {
                if !reader.usual_field(&mut draft, field)? {
                    reader.unknown(field);
                }
            }
        }
    }
    // With `http`, VS Code tries the older transport as well when it must; we do that when no type is written.
    let kind = &mut draft.server.transport_type;
    *kind = kind.filter(|kind| kind.value != TransportType::Http || draft.server.command.is_some());
    Ok(draft)
}

pub(crate) fn write(servers: &[NamedServer]) -> Exported {
    let writing = Writing::of(servers, (Format::VsCode, Dialect::VsCode), |writer, server| {
        match reach(server) {
            Reach::Command(command) => {
                writer.set("type", Json::text("stdio"));
                writer.text("command", command);
                writer.texts("args", server.args.as_ref());
                writer.pairs("env", server.env.as_ref());
                if let Some(cwd) = &server.cwd {
                    writer.text("cwd", cwd);
                }
                writer.rest(server, &["command", "args", "env", "cwd", "type"]);
            }
            Reach::Url(url, kind) => {
                writer.set("type", Json::text(type_word(kind.unwrap_or(TransportType::Http))));
                writer.text("url", url);
                writer.pairs("headers", server.headers.as_ref());
                oauth::write_object(writer, server, OAUTH, "oauth");
                writer.rest(server, &["url", "httpUrl", "headers", "type", "oauth"]);
            }
            Reach::Nothing => return Err(Impossible("it is neither a program nor an address")),
        }
        Ok(())
    });
    writing.finish(|entries, inputs| {
        let input = |id: String| {
            let description = Json::text(format!("Secret: {id}"));
            let kind = Json::text("promptString");
            object([
                ("type", kind),
                ("id", Json::Text(id)),
                ("description", description),
                ("password", Json::Bool(true)),
            ])
        };
        let inputs: Vec<Json> = inputs.into_iter().map(input).collect();
        let mut members = Vec::new();
        if !inputs.is_empty() {
            members.push(("inputs", Json::List(inputs)));
        }
        members.push(("servers", entries));
        file(&object(members))
    })
}
