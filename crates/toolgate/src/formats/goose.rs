//! goose: `extensions` in `config.yaml`. Only programs and addresses are servers for others; secrets are named and kept elsewhere.

use std::path::Path;

use crate::formats::client::Format;
use crate::formats::dialect::{Dialect, Spot, keychain_advice};
use crate::formats::entry::NamedServer;
use crate::formats::finding::Finding;
use crate::formats::found::{Exported, FormatError, Imported};
use crate::formats::goose_write;
use crate::formats::placeholder::{is_name, literal, name_at};
use crate::formats::server_reader::{Draft, ServerReader, Unusable};
use crate::formats::yaml_tree::read_tree;
use crate::settings::diagnostic::visible;
use crate::settings::raw::{RawMap, RawMember, RawPair, RawValue, TransportType};
use crate::settings::{Located, Position};

pub(crate) fn read(text: &str, path: &Path) -> Result<Imported, FormatError> {
    let tree = read_tree(text).map_err(|broken| FormatError::broken(path, broken))?;
    let mut finding = Finding::new(Format::Goose, Dialect::Literal);
    let root = finding.root(tree.as_ref(), path)?;
    finding.only_list(&root, "extensions", path, read_server)?;
    Ok(finding.finish())
}

pub(crate) fn write(servers: &[NamedServer]) -> Exported {
    goose_write::write(servers)
}

fn read_server(reader: &mut ServerReader<'_>, fields: &[&RawMember]) -> Result<Draft, Unusable> {
    let transport = transport(fields)?;
    let mut draft = Draft::default();
    let (mut envs, mut env_keys, mut headers) = (None, Vec::new(), None);
    for field in fields {
        let server = &mut draft.server;
        match field.key.value.as_str() {
            "cmd" => server.command = reader.text(field, Spot::Process)?,
            "args" => server.args = reader.texts(field)?,
            "uri" => server.url = reader.text(field, Spot::Request)?,
            "envs" => envs = reader.plain_pairs(field)?,
            "env_keys" => env_keys = reader.names(field)?.map(|names| names.value).unwrap_or_default(),
            "headers" => headers = reader.plain_pairs(field)?,
            "timeout" => server.timeout = reader.number(field, 1000.0)?,
            "available_tools" => server.include_tools = reader.names(field)?.filter(|tools| !tools.value.is_empty()),
            "description" => server.description = reader.name(field)?.filter(|text| !text.value.is_empty()),
            "cwd" => server.cwd = reader.text(field, Spot::Process)?,
            "enabled" => draft.is_disabled = reader.truth(field)? == Some(false),
            "socket" => reader.lost(field, "the address is spoken to directly"),
            "type" | "name" | "display_name" | "bundled" => (),
            _ => reader.unknown(field),
        }
    }
    let envs = envs.unwrap_or(Located { value: Vec::new(), at: Position::default() });
    match transport {
        Transport::Program => draft.server.env = environment(reader, envs, &env_keys),
        Transport::Address(kind) => {
            let at = draft.server.url.as_ref().map(|url| url.at).unwrap_or_default();
            draft.server.transport_type = Some(Located { value: kind, at });
            draft.server.headers =
                headers.map(|headers| headers.map(|pairs| filled_in(reader, pairs, &envs.value, &env_keys)));
        }
    }
    Ok(draft)
}

enum Transport {
    Program,
    Address(TransportType),
}

fn transport(fields: &[&RawMember]) -> Result<Transport, Unusable> {
    let kind = fields.iter().find(|field| field.key.value == "type").map(|field| &field.value.value);
    match kind {
        Some(RawValue::Text(kind)) => match kind.as_str() {
            "stdio" => Ok(Transport::Program),
            "sse" => Ok(Transport::Address(TransportType::Sse)),
            "streamable_http" => Ok(Transport::Address(TransportType::Http)),
            "builtin" | "platform" | "frontend" => Err(Unusable::foreign("it is a part of goose itself")),
            "inline_python" => {
                Err(Unusable::foreign("goose runs the code in its settings; there is no program to start"))
            }
            other => Err(Unusable::foreign(format!("`{}` is no type of server known here", visible(other)))),
        },
        _ => Err(Unusable::broken("it has no `type`")),
    }
}

/// The variables of a program: some with their values, some whose values goose keeps among its secrets.
fn environment(reader: &mut ServerReader<'_>, envs: RawMap, keys: &[Located<String>]) -> Option<RawMap> {
    let mut pairs = Vec::with_capacity(envs.value.len() + keys.len());
    for pair in envs.value {
        pairs.push(RawPair { value: pair.value.map(|text| literal(&text)), name: pair.name });
    }
    for key in keys {
        if pairs.iter().any(|pair| pair.name.value == key.value) {
            continue;
        }
        advise(reader, key);
        let value = Located { value: format!("${{keychain:{}}}", key.value), at: key.at };
        pairs.push(RawPair { name: key.clone(), value });
    }
    let at = envs.at;
    (!pairs.is_empty()).then_some(Located { value: pairs, at })
}

fn advise(reader: &mut ServerReader<'_>, key: &Located<String>) {
    let message = format!("{}, or write `${{env:{}}}`", keychain_advice(&key.value, &key.value), key.value);
    reader.changed("env_keys", key.at, message);
}

/// Headers, in which `${NAME}` and `$NAME` stand for the variables of the entry, and for nothing else.
fn filled_in(
    reader: &mut ServerReader<'_>,
    headers: Vec<RawPair>,
    envs: &[RawPair],
    keys: &[Located<String>],
) -> Vec<RawPair> {
    let mut used = Vec::new();
    let mut fill = |text: String| {
        let (mut ours, mut own, mut rest) = (String::new(), String::new(), text.as_str());
        while let Some((before, after)) = rest.split_once('$') {
            own.push_str(before);
            let Some((name, after)) = named(after) else {
                own.push('$');
                rest = after;
                continue;
            };
            if let Some(pair) = envs.iter().find(|pair| pair.name.value == name) {
                own.push_str(&pair.value.value);
            } else if let Some(key) = keys.iter().find(|key| key.value == name) {
                ours.push_str(&literal(&std::mem::take(&mut own)));
                ours.push_str(&format!("${{keychain:{name}}}"));
                if !used.contains(&key) {
                    used.push(key);
                }
            } else {
                own.push_str(rest.get(before.len()..rest.len() - after.len()).unwrap_or_default());
            }
            rest = after;
        }
        own.push_str(rest);
        ours.push_str(&literal(&own));
        ours
    };
    let filled =
        headers.into_iter().map(|pair| RawPair { value: pair.value.map(&mut fill), name: pair.name }).collect();
    used.into_iter().for_each(|key| advise(reader, key));
    filled
}

/// The name after a `$`, in braces or not, and what follows.
fn named(after_dollar: &str) -> Option<(&str, &str)> {
    match after_dollar.strip_prefix('{') {
        Some(inside) => {
            let (name, after) = inside.split_once('}')?;
            is_name(name.trim()).then(|| (name.trim(), after))
        }
        None => name_at(after_dollar),
    }
}
