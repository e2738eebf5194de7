//! Claude Code: `.mcp.json` of a folder, and `.claude.json` in the home, which has servers for everywhere and servers for single folders.

use std::path::Path;

use crate::formats::client::Format;
use crate::formats::dialect::Dialect;
use crate::formats::entry::{NamedServer, Reach, reach, type_word};
use crate::formats::finding::Finding;
use crate::formats::found::{Exported, FormatError, Imported};
use crate::formats::json_text::{file, number, object};
use crate::formats::members::members;
use crate::formats::oauth::{self, OAuthKeys, Scopes};
use crate::formats::server_reader::{Draft, ServerReader, Unusable};
use crate::formats::server_writer::{Impossible, Writing};
use crate::settings::diagnostic::KeyPath;
use crate::settings::edit::Json;
use crate::settings::raw::{RawMember, RawServer, RawValue, TransportType};
use crate::settings::tree::read_tree;

const OAUTH: OAuthKeys =
    OAuthKeys { client_id: "clientId", client_secret: None, scopes: Some(Scopes::Words("scopes")) };

/// Shorter limits are not looked at there.
const TIMEOUT_MS_MIN: f64 = 1000.0;

pub(crate) fn read(text: &str, path: &Path) -> Result<Imported, FormatError> {
    let tree = read_tree(text).map_err(|broken| FormatError::broken(path, broken))?;
    let mut finding = Finding::new(Format::ClaudeCode, Dialect::ClaudeCode);
    let root = finding.root(tree.as_ref(), path)?;
    let projects = root.iter().find(|member| member.key.value == "projects");
    let has_list = root.iter().any(|member| member.key.value == "mcpServers");
    if has_list || projects.is_none() {
        finding.list(&root, "mcpServers", path, read_server)?;
    }
    if let Some(projects) = projects {
        read_projects(&mut finding, projects, path)?;
    }
    Ok(finding.finish())
}

/// `projects.FOLDER.mcpServers`, without those that `disabledMcpServers` beside it names.
fn read_projects(finding: &mut Finding, projects: &RawMember, path: &Path) -> Result<(), FormatError> {
    let top = KeyPath::top("projects");
    for project in members(&projects.value, Some(&top), &mut finding.notes).unwrap_or_default() {
        let key = top.key(&project.key.value);
        let inside = members(&project.value, Some(&key), &mut finding.notes).unwrap_or_default();
        let find = |name: &str| inside.iter().find(|member| member.key.value == name);
        let Some(list) = find("mcpServers") else { continue };
        let folder = Path::new(&project.key.value);
        finding.servers(list, (key.key("mcpServers"), Some(folder)), path, read_server)?;
        if let Some(RawValue::List(disabled)) = find("disabledMcpServers").map(|list| &list.value.value) {
            let names = disabled.iter().filter_map(|one| match &one.value {
                RawValue::Text(name) => Some(name.as_str()),
                _ => None,
            });
            names.for_each(|name| finding.disable(name, folder));
        }
    }
    Ok(())
}

fn read_server(reader: &mut ServerReader<'_>, fields: &[&RawMember]) -> Result<Draft, Unusable> {
    let mut draft = Draft::default();
    for field in fields {
        match field.key.value.as_str() {
            "timeout" => {
                let limit = reader.number(field, 1.0)?;
                draft.server.timeout = limit.filter(|limit| limit.value >= TIMEOUT_MS_MIN);
                if limit.is_some() && draft.server.timeout.is_none() {
                    reader.lost(field, "Claude Code takes no notice of limits below a second");
                }
            }
            "oauth" => draft.server.oauth = oauth::read(reader, field, OAUTH)?,
            "headersHelper" => reader.lost(field, "no command is asked for headers here; write them into `headers`"),
            "alwaysLoad" => reader.lost(field, "all tools are there all the time"),
            _ => {
                if !reader.usual_field(&mut draft, field)? {
                    reader.unknown(field);
                }
            }
        }
    }
    Ok(draft)
}

pub(crate) fn write(servers: &[NamedServer]) -> Exported {
    let writing = Writing::of(servers, (Format::ClaudeCode, Dialect::ClaudeCode), |writer, server| {
        match reach(server) {
            Reach::Command(command) => {
                writer.set("type", Json::text("stdio"));
                writer.text("command", command);
                writer.texts("args", server.args.as_ref());
                writer.pairs("env", server.env.as_ref());
                writer.rest(server, &["command", "args", "env", "type", "timeout"]);
            }
            Reach::Url(url, kind) => {
                writer.set("type", Json::text(type_word(kind.unwrap_or(TransportType::Http))));
                writer.text("url", url);
                writer.pairs("headers", server.headers.as_ref());
                oauth::write_object(writer, server, OAUTH, "oauth");
                writer.rest(server, &["url", "httpUrl", "headers", "type", "timeout", "oauth"]);
            }
            Reach::Nothing => return Err(Impossible("it is neither a program nor an address")),
        }
        write_timeout(writer, server);
        Ok(())
    });
    writing.finish(|entries, _| file(&object([("mcpServers", entries)])))
}

fn write_timeout(writer: &mut crate::formats::server_writer::EntryWriter<'_>, server: &RawServer) {
    if let Some(limit) = server.timeout {
        writer.set("timeout", number(limit.value.max(TIMEOUT_MS_MIN)));
    }
}
