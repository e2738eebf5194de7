//! Servers written for other clients, read again, and used as settings for one run.

use std::path::Path;

use toolgate::formats::{Format, NamedServer, entry, layer, read, write};
use toolgate::settings::raw::RawEntry;
use toolgate::settings::{ParsedText, SettingsSource};
use toolgate_testkit::snapshot::assert_snapshot;

const PATH: &str = "/x/settings";

/// Servers of our own settings, written as JSON.
fn ours(servers: &str) -> Vec<NamedServer> {
    let text = format!("{{\"mcpServers\": {servers}}}");
    let imported = read(Format::Toolgate, &text, Path::new(PATH)).unwrap();
    assert_eq!((imported.left_out.len(), imported.notes.len()), (0, 0), "{servers}");
    imported.servers.into_iter().map(|one| NamedServer { name: one.name.value, server: one.server }).collect()
}

fn json(name: &str, server: &toolgate::settings::raw::RawServer) -> String {
    format!("{name} {}", serde_json::to_string(&entry(server)).unwrap())
}

#[test]
fn what_a_format_can_hold_comes_back() {
    let local = r#""a": {"command": "npx", "args": ["-y", "s", "5$"], "env": {"A": "1", "B": "x y"}}"#;
    let typed = r#""b": {"type": "http", "url": "https://h.example/mcp?x=1", "headers": {"X-A": "1"}}"#;
    let untyped = r#""b": {"url": "https://h.example/mcp?x=1", "headers": {"X-A": "1"}}"#;
    let sse = r#""c": {"type": "sse", "url": "https://h.example/sse"}"#;
    let held = [
        (Format::Toolgate, [local, typed, untyped.replacen('b', "u", 1).as_str(), sse].join(",")),
        (Format::Toolgate, r#""w": {"builtin": "workspace", "maxDuration": 5, "args": ["${cmd:x}", "\\$5"]}"#.to_owned()),
        (Format::GeminiCli, [local, typed, sse].join(",")),
        (
            Format::GeminiCli,
            r#""g": {"command": "${B:-b}", "env": {"A": "${A}"}, "cwd": "x", "timeout": 5, "trust": true, "includeTools": ["a*"], "description": "d", "oauth": {"clientId": "i", "scopes": ["s"]}}"#.to_owned(),
        ),
        (Format::ClaudeDesktop, format!(r#"{local}, "d": {{"command": "x", "env": {{"P": "\\$A\\\\$B"}}}}"#)),
        (Format::ClaudeCode, [local, typed, sse].join(",")),
        (
            Format::ClaudeCode,
            r#""e": {"command": "${B:-b}", "args": ["${A}", "\\$A"], "timeout": 2000}, "f": {"type": "http", "url": "https://${H}/", "oauth": {"clientId": "i", "scopes": ["a", "b"]}}"#.to_owned(),
        ),
        (Format::VsCode, [local, untyped, sse].join(",")),
        (
            Format::VsCode,
            r#""v": {"command": "${HOME}/x", "args": ["${env:A}"], "env": {"B": "\\$B"}, "cwd": "/srv"}"#.to_owned(),
        ),
        (Format::Cursor, [local, untyped].join(",")),
        (
            Format::Cursor,
            r#""o": {"url": "https://${env:H}/", "oauth": {"clientId": "i", "clientSecret": "${env:S}", "scopes": ["a"]}}"#.to_owned(),
        ),
        (Format::Codex, [local, typed].join(",")),
        (
            Format::Codex,
            r#""dots.and \"quotes\"": {"command": "x", "args": [], "env": {"P": "\\$A", "T": "${env:T}"}, "cwd": "/srv", "timeout": 1500, "connectTimeout": 20000, "includeTools": ["a"], "excludeTools": ["b"]},
               "h": {"type": "http", "url": "https://h.example/", "headers": {"X-A": "1", "Authorization": "Bearer ${env:T}", "X-B": "${env:B}"}, "oauth": {"clientId": "i", "scopes": ["s"]}}"#.to_owned(),
        ),
        (
            Format::Goose,
            r#""a": {"command": "npx", "args": ["yes", "1.0", "~", "a: b", "*x", ""], "env": {"A": "true", "K": "${keychain:K}"}, "timeout": 60000, "description": "d", "includeTools": ["t"]},
               "h": {"type": "http", "url": "https://h.example/", "headers": {"Authorization": "Bearer ${keychain:K}", "X": "5$"}, "timeout": 60000}"#.to_owned(),
        ),
        (Format::Zed, [local, typed].join(",")),
        (
            Format::Zed,
            r#""z": {"command": "x", "args": ["\\${A}"], "timeout": 90000}, "o": {"type": "http", "url": "https://h.example/", "oauth": {"clientId": "i", "clientSecret": "s"}}"#.to_owned(),
        ),
    ];
    for (format, servers) in held {
        let servers = ours(&format!("{{{servers}}}"));
        let exported = write(format, &servers);
        assert_eq!(exported.notes, [], "{format}");
        assert_eq!(exported.count, servers.len(), "{format}");
        let again =
            read(format, &exported.text, Path::new(PATH)).unwrap_or_else(|error| panic!("{error}\n{}", exported.text));
        assert_eq!(again.left_out, [], "{format}: {}", exported.text);
        let before: Vec<_> = servers.iter().map(|one| json(&one.name, &one.server)).collect();
        let after: Vec<_> = again.servers.iter().map(|one| json(&one.name.value, &one.server)).collect();
        assert_eq!(after, before, "{format}:\n{}", exported.text);
    }
}

/// One of each kind, with more than any client but ours can hold.
const RICH: &str = r#"{
  "files": {"command": "npx", "args": ["-y", "server", "${HOME}/notes"], "env": {"TOKEN": "${keychain:files-token}", "LOG": "info"},
            "cwd": "/srv", "timeout": 90500, "start": "lazy", "includeTools": ["read_*"], "trust": true},
  "hosted": {"url": "https://h.example/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}, "oauth": {"clientId": "i", "clientSecret": "s", "redirectUri": "http://localhost:1/"}},
  "events": {"type": "sse", "url": "https://e.example/sse"},
  "own": {"builtin": "workspace"}
}"#;

macro_rules! written {
    ($format:ident, $file:literal) => {
        (Format::$format, include_str!(concat!("../fixtures/formats/written/", $file)))
    };
}

#[test]
fn files_look_as_their_clients_write_them_and_losses_are_told() {
    let expected = [
        written!(GeminiCli, "gemini-cli.txt"),
        written!(ClaudeDesktop, "claude-desktop.txt"),
        written!(ClaudeCode, "claude-code.txt"),
        written!(VsCode, "vscode.txt"),
        written!(Cursor, "cursor.txt"),
        written!(Codex, "codex.txt"),
        written!(Goose, "goose.txt"),
        written!(Zed, "zed.txt"),
        written!(Toolgate, "toolgate.txt"),
    ];
    for (format, expected) in expected {
        let exported = write(format, &ours(RICH));
        let notes: String = exported.notes.iter().map(|note| format!("[{}] {note}\n", note.kind.as_str())).collect();
        assert_snapshot(&format!("{}--- notes\n{notes}", exported.text), expected);
    }
}

/// The names and lines of a layer, and what is said about it.
fn shown(path: &str, text: &str) -> Option<(String, String)> {
    let layer = layer(Path::new(path), &ParsedText::new(text), SettingsSource::CommandLine).unwrap()?;
    let entries = layer.settings.mcp_servers.iter().map(|one| {
        let broken = if matches!(one.entry, RawEntry::Broken(_)) { "!" } else { "" };
        format!("{}{broken}:{}", one.name.value, one.name.at.line)
    });
    let diagnostics = layer.diagnostics.iter().map(|one| format!("{}: {one}", one.severity));
    Some((entries.collect::<Vec<_>>().join(" "), diagnostics.collect::<Vec<_>>().join("\n")))
}

#[test]
fn files_of_others_are_layers_with_true_lines() {
    let codex = include_str!("../fixtures/formats/codex.toml");
    let (entries, said) = shown("/c/config.toml", codex).unwrap();
    assert_eq!(entries, "docs:8 figma.dev:27 wrong!:40");
    assert!(said.contains("warning: /c/config.toml:36:14: off is switched off in this file; it is not used"), "{said}");
    assert!(said.contains("error: /c/config.toml:40:14: wrong cannot be used here: 42:8"), "{said}");
    assert!(!said.contains("DOCS_HOST"), "what only reads differently is not told: {said}");
    let home = include_str!("../fixtures/formats/claude-code.home.json");
    let (entries, said) = shown("/home/sam/.claude.json", home).unwrap();
    assert_eq!(entries, "everywhere:5");
    assert!(said.contains("everywhere is for /home/sam/app only; it is not used"), "{said}");
    for (path, text) in
        [("/x/servers.json", "{\"mcpServers\": {}}"), ("/x/servers.json", "{"), ("/x/y", "nothing at all")]
    {
        assert_eq!(shown(path, text), None, "{path}: our own reader says what is wrong");
    }
    let error = layer(Path::new("x.yaml"), &ParsedText::new("a: ["), SettingsSource::CommandLine).unwrap_err();
    assert_eq!((error.diagnostic().origin.line, error.excerpt().is_some()), (Some(2), true), "{error}");
}
