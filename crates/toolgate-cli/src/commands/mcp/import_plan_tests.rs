//! Every fate that an entry can have.

use std::path::{Path, PathBuf};

use toolgate::formats::{Format, read};
use toolgate::settings::SettingsSource;
use toolgate::settings::read::read_text;

use super::{Existing, Wishes, plan};
use crate::commands::mcp::import_files::Source;

const HERE: &str = "/home/sam/app";

fn source(format: Format, path: &str, text: &str) -> Source {
    Source { path: PathBuf::from(path), imported: read(format, text, Path::new(path)).unwrap(), is_of_folder: false }
}

/// `name:action` for every line, with the keys of secrets.
fn decided(sources: &[Source], settings: &str, only: &[&str], replace: bool) -> String {
    let layer = read_text(settings, Path::new("s.json"), SettingsSource::User).unwrap();
    let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
    let wishes = Wishes { only: &only, replace, workspace: Path::new(HERE) };
    let lines = plan(sources, &Existing::of(Some(&layer)), wishes);
    let shown = lines.iter().map(|line| {
        let secrets = if line.secrets.is_empty() { String::new() } else { format!("[{}]", line.secrets.join(" ")) };
        format!("{}:{}{secrets}", line.name, line.action.as_str())
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn each_entry_has_its_fate() {
    let first = r#"{"mcpServers": {"new": {"command": "a"}, "same": {"command": "b", "env": {"X": "1", "Y": "2"}}, "other": {"command": "c"},
        "off": {"command": "d", "disabled": true}, "bad": {}}}"#;
    let second = r#"{"mcpServers": {"new": {"command": "z"}, "late": {"command": "e"}}}"#;
    let sources = [source(Format::ClaudeDesktop, "/a", first), source(Format::Cursor, "/b", second)];
    let settings = r#"{"mcpServers": {"same": {"env": {"Y": "2", "X": "1"}, "command": "b"}, "other": {"command": "mine"}, "late": {"command": 5}}}"#;
    let cases: [(&[&str], bool, &str); 4] = [
        (&[], false, "new:add same:same other:exists off:disabled bad:unusable new:twice late:exists"),
        (&[], true, "new:add same:same other:replace off:disabled bad:unusable new:twice late:replace"),
        (&["off", "other"], false, "other:exists off:add"),
        (&["bad"], true, "bad:unusable"),
    ];
    for (only, replace, expected) in cases {
        assert_eq!(decided(&sources, settings, only, replace), expected, "{only:?} {replace}");
    }
}

#[test]
fn servers_of_one_folder_are_taken_there() {
    let home = r#"{"mcpServers": {"a": {"command": "for-all"}}, "projects": {
        "/home/sam/app": {"mcpServers": {"a": {"command": "for-here"}}}, "/x": {"mcpServers": {"b": {"command": "far"}}}}}"#;
    let sources = [source(Format::ClaudeCode, "/h/.claude.json", home)];
    assert_eq!(decided(&sources, "{}", &[], false), "a:add a:twice b:elsewhere");
    assert_eq!(decided(&sources, "{}", &["b"], false), "b:add");
}

#[test]
fn secrets_in_plain_text_are_seen() {
    let text = r#"{"mcpServers": {"s": {"command": "x", "args": ["-y", "ghp_0123456789abcdefghij0123456789abcdefgh"],
        "env": {"API_KEY": "abc", "OTHER_KEY": "${OTHER}", "PLAIN": "1", "DB": "postgres://u:p@h/", "EMPTY_TOKEN": ""}},
        "u": {"url": "https://u:pw@h.example/", "headers": {"Authorization": "Bearer x", "X-Id": "7"}}}}"#;
    let sources = [source(Format::ClaudeCode, "/a", text)];
    let expected = "s:add[env.API_KEY env.DB args[1]] u:add[headers.Authorization url]";
    assert_eq!(decided(&sources, "{}", &[], false), expected);
}
