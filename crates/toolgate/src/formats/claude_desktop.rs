//! Claude Desktop: `{"mcpServers": {NAME: {"command", "args", "env"}}}`, programs only, and nothing in it stands for anything else.

use std::path::Path;

use crate::formats::client::Format;
use crate::formats::dialect::Dialect;
use crate::formats::entry::{NamedServer, Reach, reach};
use crate::formats::finding::Finding;
use crate::formats::found::{Exported, FormatError, Imported};
use crate::formats::json_text::{file, object};
use crate::formats::server_reader::{Draft, ServerReader, Unusable};
use crate::formats::server_writer::{Impossible, Writing};
use crate::settings::raw::RawMember;
use crate::settings::tree::read_tree;

pub(crate) fn read(text: &str, path: &Path) -> Result<Imported, FormatError> {
    let tree = read_tree(text).map_err(|broken| FormatError::broken(path, broken))?;
    let mut finding = Finding::new(Format::ClaudeDesktop, Dialect::Literal);
    let root = finding.root(tree.as_ref(), path)?;
    finding.list(&root, "mcpServers", path, read_server)?;
    Ok(finding.finish())
}

fn read_server(reader: &mut ServerReader<'_>, fields: &[&RawMember]) -> Result<Draft, Unusable> {
    let mut draft = Draft::default();
    for field in fields {
        if !reader.usual_field(&mut draft, field)? {
            reader.unknown(field);
        }
    }
    Ok(draft)
}

pub(crate) fn write(servers: &[NamedServer]) -> Exported {
    let writing = Writing::of(servers, (Format::ClaudeDesktop, Dialect::Literal), |writer, server| {
        let command = match reach(server) {
            Reach::Command(command) => command,
            Reach::Url(..) => {
                return Err(Impossible("Claude Desktop starts programs only; add it there as a connector"));
            }
            Reach::Nothing => return Err(Impossible("it is neither a program nor an address")),
        };
        writer.text("command", command);
        writer.texts("args", server.args.as_ref());
        writer.pairs("env", server.env.as_ref());
        writer.rest(server, &["command", "args", "env", "type"]);
        Ok(())
    });
    writing.finish(|entries, _| file(&object([("mcpServers", entries)])))
}
