//! Whose file it is: by its name and folder where they tell, else by what is written in it.

use std::path::Path;

use jsonc_parser::ast::{ObjectProp, Value};

use crate::formats::client::Format;
use crate::formats::{toml_tree, yaml_tree};
use crate::limits::SETTINGS_FILE_BYTES_MAX;
use crate::settings::raw::{RawMember, RawValue};
use crate::settings::tree::BrokenText;
use crate::settings::{Located, ParsedText};

/// Finds out whose configuration file this is. `None` when neither name nor content say so.
#[must_use]
pub fn detect(path: &Path, text: &str) -> Option<Format> {
    if text.len() > SETTINGS_FILE_BYTES_MAX {
        return by_name(path);
    }
    by_name(path).or_else(|| by_content(&ParsedText::new(text)))
}

/// The same for a text that is parsed already.
pub(crate) fn detect_parsed(path: &Path, parsed: &ParsedText<'_>) -> Option<Format> {
    by_name(path).or_else(|| by_content(parsed))
}

fn by_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str()).unwrap_or_default();
    match (folder, name) {
        (_, "claude_desktop_config.json") => Some(Format::ClaudeDesktop),
        (_, ".mcp.json" | ".claude.json") => Some(Format::ClaudeCode),
        (".cursor", "mcp.json") => Some(Format::Cursor),
        (".vscode", "mcp.json" | "settings.json") | ("User", "mcp.json") => Some(Format::VsCode),
        (".gemini", "settings.json") => Some(Format::GeminiCli),
        (".toolgate", "settings.json") => Some(Format::Toolgate),
        (".zed" | "zed" | "Zed", "settings.json") => Some(Format::Zed),
        (".codex", "config.toml") => Some(Format::Codex),
        (_, name) => match Path::new(name).extension().and_then(|end| end.to_str())? {
            "toml" => Some(Format::Codex),
            "yaml" | "yml" => Some(Format::Goose),
            _ => None,
        },
    }
}

fn by_content(parsed: &ParsedText<'_>) -> Option<Format> {
    let text = parsed.text;
    if let Ok(tree) = &parsed.tree {
        return by_json(tree.as_ref()?, text);
    }
    // Parsing is only worth it when the key is written somewhere.
    let has = |key: &str, read: fn(&str) -> Result<Option<Located<RawValue>>, BrokenText>| {
        let is_key = |member: &RawMember| member.key.value == key;
        let has_key = |tree: RawValue| matches!(tree, RawValue::Object(members) if members.iter().any(is_key));
        text.contains(key) && read(text).ok().flatten().is_some_and(|tree| has_key(tree.value))
    };
    if has("mcp_servers", toml_tree::read_tree) {
        return Some(Format::Codex);
    }
    has("extensions", yaml_tree::read_tree).then_some(Format::Goose)
}

fn by_json(tree: &Value<'_>, text: &str) -> Option<Format> {
    let find = |name: &str| member(tree, name);
    if find("context_servers").is_some() {
        return Some(Format::Zed);
    }
    let is_vs_code = find("servers").is_some() || find("mcp.servers").is_some();
    if find("mcpServers").is_none() {
        let below_mcp = find("mcp").and_then(|mcp| member(mcp, "servers"));
        let projects = find("projects").and_then(Value::as_object);
        let has_servers = |project: &ObjectProp<'_>| member(&project.value, "mcpServers").is_some();
        return if is_vs_code || below_mcp.is_some() {
            Some(Format::VsCode)
        } else if projects.is_some_and(|projects| projects.properties.iter().any(has_servers)) {
            Some(Format::ClaudeCode)
        } else {
            None
        };
    }
    if find("projects").is_some() {
        return Some(Format::ClaudeCode);
    }
    // Several clients write the same list; only what they replace in its texts tells them apart.
    if text.contains("${userHome}") || text.contains("${workspaceFolder") {
        return Some(Format::Cursor);
    }
    Some(Format::GeminiCli)
}

fn member<'v, 'a>(value: &'v Value<'a>, name: &str) -> Option<&'v Value<'a>> {
    let mut members = value.as_object()?.properties.iter();
    members.find(|member| member.name.as_str() == name).map(|member| &member.value)
}
