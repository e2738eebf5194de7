//! Cursor: `mcp.json` with `mcpServers`, whose texts may name variables and folders.

use std::path::Path;

use crate::formats::client::Format;
use crate::formats::dialect::Dialect;
use crate::formats::entry::{NamedServer, Reach, reach};
use crate::formats::finding::Finding;
use crate::formats::found::{Exported, FormatError, Imported};
use crate::formats::json_text::{file, object};
use crate::formats::oauth::{self, OAuthKeys, Scopes};
use crate::formats::server_reader::{Draft, ServerReader, Unusable};
use crate::formats::server_writer::{Impossible, Writing};
use crate::settings::edit::Json;
use crate::settings::raw::RawMember;
use crate::settings::tree::read_tree;

const OAUTH: OAuthKeys =
    OAuthKeys { client_id: "CLIENT_ID", client_secret: Some("CLIENT_SECRET"), scopes: Some(Scopes::List("scopes")) };

pub(crate) fn read(text: &str, path: &Path) -> Result<Imported, FormatError> {
    let tree = read_tree(text).map_err(|broken| FormatError::broken(path, broken))?;
    let mut finding = Finding::new(Format::Cursor, Dialect::Cursor);
    let root = finding.root(tree.as_ref(), path)?;
    finding.list(&root, "mcpServers", path, read_server)?;
    Ok(finding.finish())
}

fn read_server(reader: &mut ServerReader<'_>, fields: &[&RawMember]) -> Result<Draft, Unusable> {
    let mut draft = Draft::default();
    for field in fields {
        if field.key.value == "auth" {
            draft.server.oauth = oauth::read(reader, field, OAUTH)?;
        } else if !reader.usual_field(&mut draft, field)? {
            reader.unknown(field);
        }
    }
    Ok(draft)
}

pub(crate) fn write(servers: &[NamedServer]) -> Exported {
    let writing = Writing::of(servers, (Format::Cursor, Dialect::Cursor), |writer, server| {
        match reach(server) {
            Reach::Command(command) => {
                writer.set("type", Json::text("stdio"));
                writer.text("command", command);
                writer.texts("args", server.args.as_ref());
                writer.pairs("env", server.env.as_ref());
                writer.rest(server, &["command", "args", "env", "type"]);
            }
            // It finds out by itself which of the two transports an address speaks.
            Reach::Url(url, _) => {
                writer.text("url", url);
                writer.pairs("headers", server.headers.as_ref());
                oauth::write_object(writer, server, OAUTH, "auth");
                writer.rest(server, &["url", "httpUrl", "headers", "type", "oauth"]);
            }
            Reach::Nothing => return Err(Impossible("it is neither a program nor an address")),
        }
        Ok(())
    });
    writing.finish(|entries, _| file(&object([("mcpServers", entries)])))
}
