//! One settings file → one layer.
//!
//! A file that cannot be read or parsed is a [`SettingsError`]. Anything smaller is a diagnostic of the layer, and the rest of the file counts.

use std::path::Path;

use jsonc_parser::ast::{ObjectProp, Value};

use crate::settings::diagnostic::{Diagnostic, KeyPath, SettingsError, Severity};
use crate::settings::excerpt::excerpt;
pub(crate) use crate::settings::file_text::file_text;
use crate::settings::file_text::whole_file;
use crate::settings::keys::words::{NAMINGS, SEARCH_MODES};
use crate::settings::keys::{
    ADVANCED, ENV_REDACTION, FOLDER_TRUST, Key, MCP, SEARCH, SECURITY, Shape, TOOLS, TOP, find,
};
use crate::settings::known_keys;
use crate::settings::position::{Located, Places, Position};
use crate::settings::raw::{RawAdvanced, RawMcp, RawMember, RawSecurity, RawServerEntry, RawSettings, RawTools};
use crate::settings::read_server::read_entry;
use crate::settings::read_shape::{read_amount, read_shape, unknown};
use crate::settings::source::{SettingsLayer, SettingsOrigin, SettingsSource};
use crate::settings::syntax::{ParsedText, SyntaxFault};
use crate::settings::value_reader::{ValueReader, WrongValue};

/// Reads a settings file. `None` when there is none.
///
/// # Errors
/// When there is a file and it cannot be read as text or parsed.
pub fn read_file(path: &Path, source: SettingsSource) -> Result<Option<SettingsLayer>, SettingsError> {
    file_text(path, source)?.map(|text| read_text(&text, path, source)).transpose()
}

/// Reads the text of a settings file. `path` is what the text is called in messages.
///
/// # Errors
/// When the text is not JSON (comments and trailing commas are fine) or not an object.
pub fn read_text(text: &str, path: &Path, source: SettingsSource) -> Result<SettingsLayer, SettingsError> {
    read_parsed(&ParsedText::new(text), path, source)
}

/// The same for a text that somebody else had a look at before.
pub(crate) fn read_parsed(
    parsed: &ParsedText<'_>,
    path: &Path,
    source: SettingsSource,
) -> Result<SettingsLayer, SettingsError> {
    let (settings, diagnostics) = read_object(parsed, path, source, read_root)?;
    Ok(SettingsLayer { source, path: Some(path.to_owned()), settings, extension: None, diagnostics })
}

/// Reads a file that is one object.
pub(crate) fn read_object<T: Default>(
    parsed: &ParsedText<'_>,
    path: &Path,
    source: SettingsSource,
    read_members: impl FnOnce(&mut ValueReader<'_>, &Members<'_, '_>) -> T,
) -> Result<(T, Vec<Diagnostic>), SettingsError> {
    let text = parsed.text;
    let tree = parsed.tree.as_ref().map_err(|fault| syntax_error(text, path, source, fault.clone()))?;
    let mut reader = ValueReader::new(text, source, path);
    let read = match tree {
        Some(Value::Object(root)) => {
            let members = reader.members(root, None);
            read_members(&mut reader, &members)
        }
        Some(other) => {
            let fault = SyntaxFault {
                offset: jsonc_parser::common::Ranged::range(other).start,
                message: "expected `{`: a settings file is one object".to_owned(),
                hint: Some("put everything between `{` and `}`"),
            };
            return Err(syntax_error(text, path, source, fault));
        }
        None => T::default(),
    };
    if let Some(twice) = reader.written_twice.take() {
        let at = Position { line: twice.origin.line.unwrap_or(1), column: twice.column.unwrap_or(1) };
        let excerpt = excerpt(reader.places.line_text(at.line), at);
        return Err(SettingsError::new(twice, Some(excerpt)));
    }
    let mut diagnostics = reader.finish();
    if tree.is_none() {
        let origin = SettingsOrigin { source, path: Some(path.to_owned()), line: None };
        let hint = Some("an empty settings file is `{}`".to_owned());
        let empty = whole_file(origin, "nothing is written in this file".to_owned(), hint);
        diagnostics.push(Diagnostic { severity: Severity::Warning, ..empty });
    }
    Ok((read, diagnostics))
}

fn syntax_error(text: &str, path: &Path, source: SettingsSource, fault: SyntaxFault) -> SettingsError {
    let places = Places::new(text);
    let at = places.at(fault.offset);
    let origin = SettingsOrigin { source, path: Some(path.to_owned()), line: Some(at.line) };
    let diagnostic = whole_file(origin, fault.message, fault.hint.map(str::to_owned));
    let excerpt = excerpt(places.line_text(at.line), at);
    SettingsError::new(Diagnostic { column: Some(at.column), ..diagnostic }, Some(excerpt))
}

/// The members of an object, each key once.
pub(crate) type Members<'v, 'a> = [(&'v str, &'v ObjectProp<'a>)];

fn read_root(reader: &mut ValueReader<'_>, members: &Members<'_, '_>) -> RawSettings {
    let mut settings = RawSettings::default();
    for (name, member) in members {
        let key = KeyPath::top(name);
        let Some(known) = find(TOP, name) else {
            if known_keys::is_of_another_program(name) {
                reader.of_others(key, reader.place(&member.name));
                continue;
            }
            let has_servers = members.iter().any(|(name, _)| *name == "mcpServers");
            let hint = hint_for_top(name, &member.value, has_servers);
            reader.warn(reader.place(&member.name), key, "unknown key", Some(hint));
            continue;
        };
        // A section of the wrong kind has been reported by then, and is as good as not written.
        let inside = match *name {
            "mcpServers" | "mcp" | "tools" | "security" | "advanced" => {
                reader.object(&member.value, key).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        match *name {
            // It is for editors.
            "$schema" => drop(keep(reader, key, member, known)),
            "mcpServers" => settings.mcp_servers = read_servers(reader, key, &inside),
            "mcp" => settings.mcp = read_mcp(reader, key, &inside),
            "tools" => settings.tools = read_tools(reader, key, &inside),
            "security" => settings.security = read_security(reader, key, &inside),
            "advanced" => settings.advanced = read_advanced(reader, key, &inside),
            _ => settings.others.push(keep(reader, key, member, known)),
        }
    }
    settings
}

fn hint_for_top(name: &str, value: &Value<'_>, has_servers: bool) -> String {
    let looks_like_a_server = |key: &str| matches!(key, "command" | "url" | "httpUrl" | "builtin");
    if !has_servers && known_keys::FOREIGN_SERVER_LISTS.contains(&name) {
        return format!("servers stand under `mcpServers` here; rename `{name}`");
    }
    if let Value::Object(object) = value
        && object.properties.iter().any(|member| looks_like_a_server(member.name.as_str()))
    {
        return "a server stands under `mcpServers`".to_owned();
    }
    known_keys::hint_for_top_key(name, TOP)
}

pub(crate) fn read_servers(
    reader: &mut ValueReader<'_>,
    key: KeyPath<'_>,
    members: &Members<'_, '_>,
) -> Vec<RawServerEntry> {
    let mut servers = Vec::with_capacity(members.len());
    for (name, member) in members {
        let at = reader.place(&member.name);
        let entry = read_entry(reader, &member.value, key.key(name));
        servers.push(RawServerEntry { name: Located { value: (*name).to_owned(), at }, entry });
    }
    servers
}

fn read_mcp(reader: &mut ValueReader<'_>, key: KeyPath<'_>, members: &Members<'_, '_>) -> RawMcp {
    let mut mcp = RawMcp::default();
    let mut broken_list = None;
    for (name, member) in members {
        let (value, field) = (&member.value, key.key(name));
        let Some(known) = find(MCP, name) else {
            if known_keys::FOREIGN_SERVER_LISTS.contains(name) {
                let hint = "servers stand under `mcpServers`, at the top of the file".to_owned();
                reader.warn(reader.place(&member.name), field, "unknown key", Some(hint));
            } else {
                unknown(reader, field, member, MCP);
            }
            continue;
        };
        match (*name, known.shape) {
            ("serverCommand", _) => mcp.server_command = usable(reader.text(value, field)),
            ("connectLimit", Shape::Number(amount)) => {
                mcp.connect_limit = usable(read_amount(reader, value, field, amount));
            }
            ("allowed" | "excluded", _) => {
                let list = if *name == "allowed" { &mut mcp.allowed } else { &mut mcp.excluded };
                match reader.list_or_one(value, field) {
                    Ok(read) => *list = read,
                    Err(WrongValue(_)) => broken_list = Some(reader.place(value)),
                }
            }
            _ => mcp.others.push(keep(reader, field, member, known)),
        }
    }
    // A list that cannot be read must not let through what it was to hold back.
    if let Some(at) = broken_list {
        mcp.allowed = Some(Located { value: Vec::new(), at });
    }
    mcp
}

fn read_tools(reader: &mut ValueReader<'_>, key: KeyPath<'_>, members: &Members<'_, '_>) -> RawTools {
    let mut tools = RawTools::default();
    for (known, member) in documented(reader, key, members, TOOLS) {
        let (value, field) = (&member.value, key.key(known.name));
        match known.name {
            "naming" => tools.naming = usable(reader.word(value, field, &NAMINGS)),
            // A list that cannot be read must not let through what it was to hold back.
            "exclude" => {
                let everything = |at| Some(Located { value: vec![Located { value: "*".to_owned(), at }], at });
                let list = reader.list_or_one(value, field);
                tools.exclude = list.unwrap_or_else(|WrongValue(_)| everything(reader.place(value)));
            }
            "truncateToolOutputThreshold" => {
                tools.truncate_tool_output_threshold = usable(reader.number(value, field));
            }
            "search" => {
                let inside = reader.object(value, field).unwrap_or_default();
                read_search(&mut tools, reader, field, &inside);
            }
            _ => tools.others.push(keep(reader, field, member, known)),
        }
    }
    tools
}

fn read_search(tools: &mut RawTools, reader: &mut ValueReader<'_>, key: KeyPath<'_>, members: &Members<'_, '_>) {
    for (known, member) in documented(reader, key, members, SEARCH) {
        let (value, field) = (&member.value, key.key(known.name));
        match (known.name, known.shape) {
            ("mode", _) => tools.search_mode = usable(reader.word(value, field, &SEARCH_MODES)),
            ("threshold", Shape::Number(amount)) => {
                tools.search_threshold = usable(read_amount(reader, value, field, amount));
            }
            _ => tools.search_pinned = usable(reader.list_or_one(value, field)),
        }
    }
}

fn read_security(reader: &mut ValueReader<'_>, key: KeyPath<'_>, members: &Members<'_, '_>) -> RawSecurity {
    let mut security = RawSecurity::default();
    for (known, member) in documented(reader, key, members, SECURITY) {
        let (value, field) = (&member.value, key.key(known.name));
        match known.name {
            "folderTrust" => {
                let inside = reader.object(value, field).unwrap_or_default();
                read_folder_trust(&mut security, reader, field, &inside);
            }
            "environmentVariableRedaction" => {
                let inside = reader.object(value, field).unwrap_or_default();
                read_env_redaction(&mut security, reader, field, &inside);
            }
            _ => security.others.push(keep(reader, field, member, known)),
        }
    }
    security
}

fn read_folder_trust(
    security: &mut RawSecurity,
    reader: &mut ValueReader<'_>,
    key: KeyPath<'_>,
    members: &Members<'_, '_>,
) {
    for (known, member) in documented(reader, key, members, FOLDER_TRUST) {
        let (value, field) = (&member.value, key.key(known.name));
        match known.name {
            "enabled" => security.folder_trust_enabled = usable(reader.truth(value, field)),
            "userServers" => security.folder_trust_user_servers = usable(reader.truth(value, field)),
            _ => security.others.push(keep(reader, field, member, known)),
        }
    }
}

fn read_env_redaction(
    security: &mut RawSecurity,
    reader: &mut ValueReader<'_>,
    key: KeyPath<'_>,
    members: &Members<'_, '_>,
) {
    for (known, member) in documented(reader, key, members, ENV_REDACTION) {
        let (value, field) = (&member.value, key.key(known.name));
        match known.name {
            "allowed" => security.env_allowed = usable(reader.list_or_one(value, field)),
            "blocked" => security.env_blocked = usable(reader.list_or_one(value, field)),
            // `enabled` concerns shells only; servers never get the whole environment.
            _ => drop(keep(reader, field, member, known)),
        }
    }
}

fn read_advanced(reader: &mut ValueReader<'_>, key: KeyPath<'_>, members: &Members<'_, '_>) -> RawAdvanced {
    let mut advanced = RawAdvanced::default();
    for (name, member) in members {
        let (value, field) = (&member.value, key.key(name));
        match find(ADVANCED, name).map(|known| known.name) {
            Some("ignoreLocalEnv") => advanced.ignore_local_env = usable(reader.truth(value, field)),
            Some("excludedEnvVars") => advanced.excluded_env_vars = usable(reader.list_or_one(value, field)),
            Some(_) => (),
            None => {
                if known_keys::nearest(name, ADVANCED).is_some() {
                    unknown(reader, field, member, ADVANCED);
                }
                advanced.others.push(reader.raw_member(member));
            }
        }
    }
    advanced
}

/// The members that are documented. The others are reported.
fn documented<'v, 'a>(
    reader: &mut ValueReader<'_>,
    key: KeyPath<'_>,
    members: &Members<'v, 'a>,
    keys: &'static [Key],
) -> Vec<(&'static Key, &'v ObjectProp<'a>)> {
    let mut documented = Vec::with_capacity(members.len());
    for (name, member) in members {
        match find(keys, name) {
            Some(known) => documented.push((known, *member)),
            None => unknown(reader, key.key(name), member, keys),
        }
    }
    documented
}

/// A value of the wrong kind has been reported and is as good as not written.
fn usable<T>(read: Result<Option<T>, WrongValue>) -> Option<T> {
    read.unwrap_or(None)
}

/// Keeps a value for a later stage, in the shape that is documented.
fn keep(reader: &mut ValueReader<'_>, key: KeyPath<'_>, member: &ObjectProp<'_>, known: &Key) -> RawMember {
    let name = Located { value: member.name.as_str().to_owned(), at: reader.place(&member.name) };
    RawMember { key: name, value: read_shape(reader, &member.value, key, known.shape).value }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
