//! Codex: `[mcp_servers.NAME]` in `config.toml`. Nothing in its texts stands for anything else; variables have keys of their own.

use std::path::Path;

use crate::formats::client::Format;
use crate::formats::codex_write;
use crate::formats::dialect::{Dialect, Spot};
use crate::formats::entry::NamedServer;
use crate::formats::finding::Finding;
use crate::formats::found::{Exported, FormatError, Imported};
use crate::formats::oauth::{self, OAuthKeys};
use crate::formats::placeholder::is_name;
use crate::formats::server_reader::{Draft, ServerReader, Unusable};
use crate::formats::toml_tree::read_tree;
use crate::settings::Located;
use crate::settings::raw::{RawMap, RawMember, RawPair, RawValue, TransportType};

pub(crate) const OAUTH: OAuthKeys = OAuthKeys { client_id: "client_id", client_secret: None, scopes: None };

pub(crate) fn read(text: &str, path: &Path) -> Result<Imported, FormatError> {
    let tree = read_tree(text).map_err(|broken| FormatError::broken(path, broken))?;
    let mut finding = Finding::new(Format::Codex, Dialect::Literal);
    let root = finding.root(tree.as_ref(), path)?;
    finding.only_list(&root, "mcp_servers", path, read_server)?;
    Ok(finding.finish())
}

pub(crate) fn write(servers: &[NamedServer]) -> Exported {
    codex_write::write(servers)
}

fn read_server(reader: &mut ServerReader<'_>, fields: &[&RawMember]) -> Result<Draft, Unusable> {
    let mut draft = Draft::default();
    let (mut passed_on, mut from_variables) = (None, Vec::new());
    let (mut scopes, mut startup_ms) = (None, None);
    for field in fields {
        let server = &mut draft.server;
        match field.key.value.as_str() {
            "env_vars" => {
                let named = |name: Located<String>| of_variable(name.clone(), &name);
                passed_on = Some((field, env_vars(reader, field)?.into_iter().map(named).collect()));
            }
            "http_headers" => {
                server.headers = reader.pairs(field, Spot::Request)?;
            }
            "env_http_headers" => {
                let pairs = reader.plain_pairs(field)?.map(|pairs| pairs.value).unwrap_or_default();
                let named = |pair: RawPair| of_variable(pair.name, &pair.value);
                from_variables.push((field, pairs.into_iter().map(named).collect()));
            }
            "bearer_token_env_var" => {
                let variable = reader.name(field)?;
                from_variables.push((field, variable.iter().map(bearer).collect()));
            }
            "bearer_token" => reader.lost(field, "Codex does not take it; name a variable with `bearer_token_env_var`"),
            "startup_timeout_sec" => server.connect_timeout = reader.number(field, 1000.0)?,
            "startup_timeout_ms" => startup_ms = reader.number(field, 1.0)?,
            "tool_timeout_sec" => server.timeout = reader.number(field, 1000.0)?,
            "enabled_tools" => server.include_tools = reader.names(field)?,
            "disabled_tools" => server.exclude_tools = reader.names(field)?,
            "scopes" => scopes = reader.names(field)?,
            "oauth" => server.oauth = oauth::read(reader, field, OAUTH)?,
            "default_tools_approval_mode" | "tools" => {
                reader.lost(field, "what may run unasked is decided here; `\"trust\": true` lets all its tools");
            }
            "required" | "supports_parallel_tool_calls" | "experimental_environment" | "oauth_resource" => {
                reader.lost(field, "there is nothing like it here");
            }
            // What an older Codex called it.
            "name" => (),
            _ => {
                if !reader.usual_field(&mut draft, field)? {
                    reader.unknown(field);
                }
            }
        }
    }
    let server = &mut draft.server;
    server.connect_timeout = server.connect_timeout.or(startup_ms);
    if let Some((field, pairs)) = passed_on {
        extend(&mut server.env, field, pairs);
    }
    for (field, pairs) in from_variables {
        extend(&mut server.headers, field, pairs);
    }
    if let Some(scopes) = scopes {
        let at = scopes.at;
        let client_id = server.oauth.take().and_then(|oauth| client_id(&oauth.value));
        let mut login: Vec<_> = client_id.map(|id| ("clientId", id)).into_iter().collect();
        login.push(("scopes", oauth::list(scopes.value)));
        server.oauth = oauth::object(at, login);
    }
    if let Some(url) = &server.url {
        server.transport_type = Some(Located { value: TransportType::Http, at: url.at });
    }
    Ok(draft)
}

fn client_id(oauth: &RawValue) -> Option<RawValue> {
    let RawValue::Object(members) = oauth else { return None };
    members.iter().find(|member| member.key.value == "clientId").map(|member| member.value.value.clone())
}

/// Names of variables, each a text or an object with `name` and `source`.
fn env_vars(reader: &mut ServerReader<'_>, field: &RawMember) -> Result<Vec<Located<String>>, Unusable> {
    let RawValue::List(list) = &field.value.value else { return Err(reader.wrong(field, "a list of names")) };
    let mut names = Vec::new();
    for one in list {
        let (name, is_remote) = match &one.value {
            RawValue::Text(name) => (Some(name), false),
            RawValue::Object(members) => {
                let text = |key: &str| {
                    members.iter().find(|member| member.key.value == key).and_then(|member| match &member.value.value {
                        RawValue::Text(text) => Some(text),
                        _ => None,
                    })
                };
                (text("name"), text("source").is_some_and(|source| source == "remote"))
            }
            _ => (None, false),
        };
        let name = name.filter(|name| is_name(name)).ok_or_else(|| reader.wrong(field, "a list of names"))?;
        if is_remote {
            reader.changed(&field.key.value, one.at, format!("`{name}` is taken from this machine"));
        }
        names.push(Located { value: name.clone(), at: one.at });
    }
    Ok(names)
}

/// A name whose value is that of a variable.
fn of_variable(name: Located<String>, variable: &Located<String>) -> RawPair {
    RawPair { name, value: Located { value: format!("${{env:{}}}", variable.value), at: variable.at } }
}

fn bearer(variable: &Located<String>) -> RawPair {
    let name = Located { value: "Authorization".to_owned(), at: variable.at };
    RawPair { name, value: Located { value: format!("Bearer ${{env:{}}}", variable.value), at: variable.at } }
}

/// Adds to a map; a name that is there already, in capitals or not, is replaced.
fn extend(map: &mut Option<RawMap>, field: &RawMember, pairs: Vec<RawPair>) {
    if pairs.is_empty() && map.is_some() {
        return;
    }
    let map = map.get_or_insert_with(|| Located { value: Vec::new(), at: field.value.at });
    for pair in pairs {
        let is_variable = field.key.value == "env_vars";
        map.value.retain(|other| {
            let (other, name) = (&other.name.value, &pair.name.value);
            if is_variable { other != name } else { !other.eq_ignore_ascii_case(name) }
        });
        map.value.push(pair);
    }
}
