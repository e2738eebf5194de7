//! What names in lists of the settings are about, one line of data each.

use std::path::Path;

use serde_json::json;

use super::derive;
use crate::policy::ServerPattern;
use crate::servers::ServerSet;
use crate::settings::read::read_text;
use crate::settings::{Settings, SettingsSource};

/// The rules of one entry of a list: `deny server/tool`, with `(…)` when only some calls are meant.
fn rules_of(list: &str, entry: &str) -> String {
    let text = json!({"tools": {list: [entry]}}).to_string();
    let layer = read_text(&text, Path::new("/settings.json"), SettingsSource::User).unwrap();
    let settings = Settings { layers: vec![layer], ..Settings::default() };
    let servers = ServerSet::default();
    let derived = derive(&settings, &servers, true, None);
    let server = |server: &ServerPattern| match server {
        ServerPattern::Any => "any".to_owned(),
        ServerPattern::Named(name) => name.to_string(),
        ServerPattern::BuiltIn(name) => format!("<{name}>"),
    };
    let rules = derived.rules.iter().map(|rule| {
        let calls = if rule.conditions.is_empty() { "" } else { "(…)" };
        format!("{} {}/{}{calls}", rule.decision.as_str(), server(&rule.server), rule.tool)
    });
    rules.collect::<Vec<_>>().join(" ; ")
}

#[test]
fn names_in_lists_mean_what_they_mean_in_policies() {
    let cases = [
        ("exclude", "rm", "deny any/rm"),
        ("exclude", "ShellTool", "deny any/ShellTool ; deny <workspace>/run_shell_command"),
        ("exclude", "shelltool(rm)", "deny any/shelltool(…) ; deny <workspace>/run_shell_command(…)"),
        ("exclude", "ShellTool(rm", "deny any/ShellTool* ; deny any/run_shell_command"),
        ("exclude", "WriteFileTool", "deny any/WriteFileTool ; deny <workspace>/write_file"),
        ("exclude", "edittool", "deny any/edittool ; deny <workspace>/replace"),
        ("exclude", "LSTool", "deny any/LSTool ; deny <workspace>/list_directory"),
        ("allowed", "ReadFileTool", "allow any/ReadFileTool ; allow <workspace>/read_file"),
        ("confirmationRequired", "GlobTool", "ask any/GlobTool ; ask <workspace>/glob"),
        ("core", "GrepTool", "allow <workspace>/GrepTool ; allow <workspace>/search_file_content ; deny <workspace>/*"),
        ("exclude", "rm)", "deny any/rm*"),
        ("exclude", "s__ShellTool", "deny s/ShellTool ; deny any/s__ShellTool ; deny s/run_shell_command"),
        ("confirmationRequired", "grep_search", "ask any/grep_search ; ask <workspace>/search_file_content"),
        ("allowed", "ShellTool(ls)", "allow any/ShellTool(…) ; allow <workspace>/run_shell_command(…)"),
        ("allowed", "shelltool", "allow any/shelltool"),
        ("allowed", "ShellTool(ls", ""),
        ("core", "ShellTool", "allow <workspace>/ShellTool ; allow <workspace>/run_shell_command ; deny <workspace>/*"),
    ];
    for (list, entry, expected) in cases {
        assert_eq!(rules_of(list, entry), expected, "{list} {entry}");
    }
}
