//! One settings file → one layer.
//!
//! A file that cannot be read or parsed is a [`SettingsError`]. Anything smaller is a diagnostic of the layer, and the rest of the file counts.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use jsonc_parser::ast::{ObjectProp, Value};

use crate::limits::SETTINGS_FILE_BYTES_MAX;
use crate::settings::diagnostic::{Diagnostic, KeyPath, SettingsError, Severity};
use crate::settings::excerpt::excerpt;
use crate::settings::known_keys;
use crate::settings::position::{Located, Places};
use crate::settings::raw::{RawMcp, RawMember, RawSecurity, RawServerEntry, RawSettings, RawTools, ToolNaming};
use crate::settings::read_server::read_entry;
use crate::settings::source::{SettingsLayer, SettingsOrigin, SettingsSource};
use crate::settings::syntax::{self, SyntaxFault};
use crate::settings::value_reader::{ValueReader, WrongValue};

const NAMINGS: &[(&str, ToolNaming)] = &[("short", ToolNaming::Short), ("qualified", ToolNaming::Qualified)];

/// Reads a settings file. `None` when there is none.
///
/// # Errors
/// When there is a file and it cannot be read as text or parsed.
pub fn read_file(path: &Path, source: SettingsSource) -> Result<Option<SettingsLayer>, SettingsError> {
    let broken = |message: String, hint: &str| {
        let origin = SettingsOrigin { source, path: Some(path.to_owned()), line: None };
        SettingsError::new(whole_file(origin, message, Some(hint.to_owned())), None)
    };
    let bytes = match read_bytes(path, source) {
        Ok(bytes) => bytes,
        // A folder of the path that is a file leaves no room for settings either; `HOME=/dev/null` is an example.
        // A link that leads nowhere is a file that somebody misses.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) && !path.is_symlink() =>
        {
            return Ok(None);
        }
        Err(error) => return Err(broken(cannot_read(&error), "make it a file that you may read, or remove it")),
    };
    if bytes.len() > SETTINGS_FILE_BYTES_MAX {
        let message = format!("larger than {} MiB, the most a settings file may have", SETTINGS_FILE_BYTES_MAX >> 20);
        return Err(broken(message, "check that this is the file you mean"));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => read_text(text, path, source).map(Some),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(broken(format!("not UTF-8 text (line {line})"), "save it as UTF-8"))
        }
    }
}

/// One byte more than allowed is read, so that too much can be told from just enough.
fn read_bytes(path: &Path, source: SettingsSource) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // A pipe may be named for one run. Where a file is expected, opening one could wait for ever.
    if !about.is_file() && source != SettingsSource::CommandLine {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0).min(SETTINGS_FILE_BYTES_MAX) + 1);
    let most = u64::try_from(SETTINGS_FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn cannot_read(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => "a folder, not a settings file".to_owned(),
        io::ErrorKind::PermissionDenied => "cannot be read: permission denied".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

fn whole_file(origin: SettingsOrigin, message: String, hint: Option<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Error, origin, column: None, server: None, key: None, message, hint }
}

/// Reads the text of a settings file. `path` is what the text is called in messages.
///
/// # Errors
/// When the text is not JSON (comments and trailing commas are fine) or not an object.
pub fn read_text(text: &str, path: &Path, source: SettingsSource) -> Result<SettingsLayer, SettingsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let tree = syntax::parse(text).map_err(|fault| syntax_error(text, path, source, fault))?;
    let mut reader = ValueReader::new(text, source, path);
    let settings = match &tree {
        Some(Value::Object(root)) => {
            let members = reader.members(root, None);
            read_root(&mut reader, &members)
        }
        Some(other) => {
            let fault = SyntaxFault {
                offset: jsonc_parser::common::Ranged::range(other).start,
                message: "expected `{`: a settings file is one object".to_owned(),
                hint: Some("put everything between `{` and `}`"),
            };
            return Err(syntax_error(text, path, source, fault));
        }
        None => RawSettings::default(),
    };
    let mut diagnostics = reader.finish();
    if tree.is_none() {
        let origin = SettingsOrigin { source, path: Some(path.to_owned()), line: None };
        let hint = Some("an empty settings file is `{}`".to_owned());
        let empty = whole_file(origin, "nothing is written in this file".to_owned(), hint);
        diagnostics.push(Diagnostic { severity: Severity::Warning, ..empty });
    }
    Ok(SettingsLayer { source, path: Some(path.to_owned()), settings, diagnostics })
}

fn syntax_error(text: &str, path: &Path, source: SettingsSource, fault: SyntaxFault) -> SettingsError {
    let places = Places::new(text);
    let at = places.at(fault.offset);
    let origin = SettingsOrigin { source, path: Some(path.to_owned()), line: Some(at.line) };
    let diagnostic = whole_file(origin, fault.message, fault.hint.map(str::to_owned));
    let excerpt = excerpt(places.line_text(at.line), at);
    SettingsError::new(Diagnostic { column: Some(at.column), ..diagnostic }, Some(excerpt))
}

type Members<'v, 'a> = [(&'v str, &'v ObjectProp<'a>)];

fn read_root(reader: &mut ValueReader<'_>, members: &Members<'_, '_>) -> RawSettings {
    let mut settings = RawSettings::default();
    for (name, member) in members {
        let key = KeyPath::top(name);
        // A section of the wrong kind has been reported by then, and is as good as not written.
        let inside = match *name {
            "mcpServers" | "mcp" | "tools" | "security" => reader.object(&member.value, key).unwrap_or_default(),
            _ => Vec::new(),
        };
        match *name {
            "$schema" => (),
            "mcpServers" => settings.mcp_servers = read_servers(reader, key, &inside),
            "mcp" => settings.mcp = read_mcp(reader, key, &inside),
            "tools" => settings.tools = read_tools(reader, key, &inside),
            "security" => settings.security = read_security(reader, key, &inside),
            _ if known_keys::TOP.contains(name) => settings.others.push(keep(reader, key, member)),
            _ => {
                let has_servers = members.iter().any(|(name, _)| *name == "mcpServers");
                let hint = hint_for_top(name, &member.value, has_servers);
                reader.warn(reader.place(&member.name), key, "unknown key", Some(hint));
            }
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
    known_keys::hint_for(name, known_keys::TOP)
}

fn read_servers(reader: &mut ValueReader<'_>, key: KeyPath<'_>, members: &Members<'_, '_>) -> Vec<RawServerEntry> {
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
        match *name {
            "connectLimit" => mcp.connect_limit = usable(reader.number(value, field)),
            "allowed" | "excluded" => {
                let list = if *name == "allowed" { &mut mcp.allowed } else { &mut mcp.excluded };
                match reader.list_or_one(value, field) {
                    Ok(read) => *list = read,
                    Err(WrongValue(_)) => broken_list = Some(reader.place(value)),
                }
            }
            _ if known_keys::MCP.contains(name) => mcp.others.push(keep(reader, field, member)),
            _ if known_keys::FOREIGN_SERVER_LISTS.contains(name) => {
                let hint = "servers stand under `mcpServers`, at the top of the file".to_owned();
                reader.warn(reader.place(&member.name), field, "unknown key", Some(hint));
            }
            _ => unknown(reader, field, member, known_keys::MCP),
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
    for (name, member) in members {
        let (value, field) = (&member.value, key.key(name));
        match *name {
            "naming" => tools.naming = usable(reader.word(value, field, NAMINGS)),
            "truncateToolOutputThreshold" => {
                tools.truncate_tool_output_threshold = usable(reader.number(value, field));
            }
            _ if known_keys::TOOLS.contains(name) => tools.others.push(keep(reader, field, member)),
            _ => unknown(reader, field, member, known_keys::TOOLS),
        }
    }
    tools
}

fn read_security(reader: &mut ValueReader<'_>, key: KeyPath<'_>, members: &Members<'_, '_>) -> RawSecurity {
    let mut security = RawSecurity::default();
    for (name, member) in members {
        let field = key.key(name);
        match *name {
            "environmentVariableRedaction" => {
                for (name, member) in reader.object(&member.value, field).unwrap_or_default() {
                    let (value, field) = (&member.value, field.key(name));
                    match name {
                        "allowed" => security.env_allowed = usable(reader.list(value, field)),
                        "blocked" => security.env_blocked = usable(reader.list(value, field)),
                        // It concerns shells only; servers never get the whole environment.
                        "enabled" => drop(usable(reader.truth(value, field))),
                        _ => unknown(reader, field, member, known_keys::REDACTION),
                    }
                }
            }
            _ if known_keys::SECURITY.contains(name) => security.others.push(keep(reader, field, member)),
            _ => unknown(reader, field, member, known_keys::SECURITY),
        }
    }
    security
}

/// A value of the wrong kind has been reported and is as good as not written.
fn usable<T>(read: Result<Option<T>, WrongValue>) -> Option<T> {
    read.unwrap_or(None)
}

fn unknown(reader: &mut ValueReader<'_>, key: KeyPath<'_>, member: &ObjectProp<'_>, known: &[&str]) {
    let hint = known_keys::hint_for(member.name.as_str(), known);
    reader.warn(reader.place(&member.name), key, "unknown key", Some(hint));
}

/// Keeps a value for a later stage, and looks at the keys in it where they are documented.
fn keep(reader: &mut ValueReader<'_>, key: KeyPath<'_>, member: &ObjectProp<'_>) -> RawMember {
    if let (Some(known), Value::Object(object)) = (known_keys::inside(&key.to_string()), &member.value) {
        for (name, inner) in reader.members(object, Some(&key)) {
            if !known.contains(&name) {
                unknown(reader, key.key(name), inner, known);
            }
        }
    }
    reader.raw_member(member)
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
