//! Files that are broken, or made to hurt: a clear error with its place, in little time, and never a panic.

use std::path::Path;
use std::time::{Duration, Instant};

use toolgate::formats::{Format, detect, layer, read};
use toolgate::limits::{YAML_BRACKETS_MAX, YAML_FILE_BYTES_MAX};
use toolgate::settings::{ParsedText, SettingsSource};

const PATH: &str = "/x/file";

/// Longer than any of them takes on a busy machine, shorter than it would take if work grew with the square of the size.
const LONG: Duration = Duration::from_secs(60);

const JSON: [Format; 7] = [
    Format::GeminiCli,
    Format::ClaudeDesktop,
    Format::ClaudeCode,
    Format::VsCode,
    Format::Cursor,
    Format::Zed,
    Format::Toolgate,
];

/// Must fail, with the words given, at the place given.
#[track_caller]
fn fails(format: Format, text: &str, words: &str, place: Option<(usize, usize)>) {
    let started = Instant::now();
    let Err(error) = read(format, text, Path::new(PATH)) else { panic!("{format} reads it") };
    assert!(error.to_string().contains(words), "{format}: {error}");
    assert!(error.to_string().len() < 500, "{format}: {} bytes", error.to_string().len());
    assert!(error.excerpt().is_none_or(|excerpt| excerpt.len() < 2000), "{format}");
    if let Some((line, column)) = place {
        let found = error.position().map(|at| (at.line, at.column));
        assert_eq!(found, Some((line, column)), "{format}: {error}");
    }
    let _format = detect(Path::new("anything"), text);
    assert!(started.elapsed() < LONG, "{format}: {words} took {:?}", started.elapsed());
}

#[test]
fn broken_texts_say_where() {
    for format in JSON {
        fails(format, "{\"mcpServers\": {\"a\": ", "", Some((1, 22)));
        fails(format, "{\n  \"a\": 1,\n  \"b\" 2\n}", "expected `:`", Some((3, 7)));
        fails(format, "[]", "object", Some((1, 1)));
        fails(format, "{\"a\": \"x\0\"}", "U+0000", Some((1, 9)));
        fails(format, "not json", "", Some((1, 1)));
    }
    let toml = Format::Codex;
    fails(toml, "[mcp_servers.a]\ncommand = \"x", "", Some((2, 13)));
    fails(toml, "[mcp_servers.a]\ncommand = \"x\"\ncommand = \"y\"", "duplicate key", Some((3, 1)));
    fails(toml, "[mcp_servers.a]\n[mcp_servers.a]", "duplicate key", None);
    fails(toml, "a = \"\0\"", "", None);
    fails(toml, "{}", "", Some((1, 1)));
    fails(toml, "mcp_servers = 5", "expected an object of servers", Some((1, 15)));
    let yaml = Format::Goose;
    fails(yaml, "extensions:\n  a:\n - b", "", Some((3, 2)));
    fails(yaml, "a: [1, 2", "", None);
    fails(yaml, "a: \"\0\"", "U+0000", Some((1, 5)));
    fails(yaml, "a: *nobody", "unknown anchor", Some((1, 4)));
    fails(yaml, "a: !secret x", "tags", None);
    fails(yaml, "? [a]\n: b", "a key is a text", None);
    fails(yaml, "--- a\n--- b", "more than one document", None);
    fails(yaml, "extensions: [{type: stdio}]", "expected an object of servers", None);
    fails(yaml, "just text", "expected one object", None);
}

#[test]
fn large_files_and_deep_json_are_refused_at_once() {
    let ten_mb = " ".repeat(10 << 20);
    for format in Format::ALL {
        fails(format, &ten_mb, "larger than 4 MiB", None);
    }
    for (unit, bytes) in [("[", 1 << 20), ("{\"a\":", 1 << 16), ("{\"mcpServers\":", 1 << 16), ("[{\"a\":[", 1 << 16)] {
        let deep = unit.repeat(bytes / unit.len());
        // They share a parser with the others.
        for format in [Format::Toolgate, Format::VsCode] {
            fails(format, &deep, "levels", None);
        }
    }
}

#[test]
fn deep_yaml_is_refused_at_once() {
    // As deep as it may be, with as much behind it as there may be.
    for unit in ["[", "[\n", "{a: ", "[{a: ["] {
        let brackets = unit.matches(['[', '{']).count();
        let deep = unit.repeat(YAML_BRACKETS_MAX / brackets);
        fails(Format::Goose, &format!("{deep}{}", "a,".repeat((YAML_FILE_BYTES_MAX - deep.len()) / 2)), "", None);
        fails(Format::Goose, &format!("{deep}[[[["), "more than 1024 times", None);
    }
    for unit in ["- ", "? "] {
        fails(Format::Goose, &unit.repeat((1 << 18) / unit.len()), "", None);
    }
    fails(Format::Goose, &"[".repeat(1 << 20), "larger than 256 KiB", Some((1, 1)));
    let stairs: String = (0..500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    fails(Format::Goose, &stairs, "levels", None);
}

#[test]
fn deep_toml_is_refused_at_once() {
    fails(Format::Codex, &format!("a = {}", "[".repeat(1 << 20)), "", None);
    fails(Format::Codex, &format!("a = {}", "{a=".repeat(1 << 18)), "", None);
    fails(Format::Codex, &format!("{}a = 1", "a.".repeat(1 << 19)), "", None);
    fails(Format::Codex, &format!("[{}a]", "a.".repeat(1 << 19)), "", None);
    let within: String = format!("a{} = 1", ".a".repeat(70));
    fails(Format::Codex, &within, "levels", None);
}

#[test]
fn aliases_cannot_multiply_without_end() {
    let laughs: String =
        (1..9).map(|level| format!("a{level}: &a{level} [{}]\n", format!("*a{},", level - 1).repeat(9))).collect();
    fails(Format::Goose, &format!("a0: &a0 [x,x,x,x,x,x,x,x,x]\n{laughs}"), "aliases", None);
    // Many aliases of one large value.
    let large = format!("a: &a [{}]\nb: [{}]", "x,".repeat(25_000), "*a,".repeat(25_000));
    fails(Format::Goose, &large, "aliases", None);
    let text = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 16), "*a,".repeat(10));
    fails(Format::Goose, &text, "aliases", None);
}

#[test]
fn no_beginning_of_a_file_is_too_much() {
    let fixtures = [
        (Format::GeminiCli, include_str!("../fixtures/formats/gemini-cli.json")),
        (Format::ClaudeCode, include_str!("../fixtures/formats/claude-code.home.json")),
        (Format::VsCode, include_str!("../fixtures/formats/vscode.mcp.json")),
        (Format::Cursor, include_str!("../fixtures/formats/cursor.mcp.json")),
        (Format::Codex, include_str!("../fixtures/formats/codex.toml")),
        (Format::Goose, include_str!("../fixtures/formats/goose.yaml")),
        (Format::Zed, include_str!("../fixtures/formats/zed.json")),
    ];
    for (format, text) in fixtures {
        for end in (0..text.len()).step_by(3) {
            let Some(part) = text.get(..end) else { continue };
            let read = read(format, part, Path::new(PATH));
            if let Err(error) = read {
                let at = error.position().unwrap_or_else(|| panic!("{format} at {end}: {error}"));
                assert!(at.line >= 1 && at.line <= part.lines().count() + 1, "{format} at {end}: {error}");
            }
            let _layer = layer(Path::new(PATH), &ParsedText::new(part), SettingsSource::CommandLine);
        }
    }
}

#[test]
fn wrong_kinds_concern_one_server() {
    let wrong = ["1", "true", "\"x\"", "[]", "[[]]", "{}", "{\"a\": {}}", "null"];
    let keys = [
        "command",
        "args",
        "env",
        "cwd",
        "url",
        "headers",
        "type",
        "timeout",
        "oauth",
        "auth",
        "disabled",
        "enabled",
        "description",
        "settings",
        "source",
        "remote",
        "envFile",
        "cmd",
        "uri",
        "envs",
        "env_keys",
        "available_tools",
        "env_vars",
        "http_headers",
        "env_http_headers",
        "bearer_token_env_var",
        "startup_timeout_sec",
        "scopes",
        "enabled_tools",
        "tools",
        "",
    ];
    for key in keys {
        for value in wrong {
            let good = "\"good\": {\"type\": \"stdio\", \"command\": \"x\", \"cmd\": \"x\", \"args\": []}";
            let list = format!("{{{good}, \"bad\": {{\"{key}\": {value}}}, \"worse\": {value}}}");
            let files = ["mcpServers", "servers", "context_servers", "extensions"];
            let files: Vec<String> = files.iter().map(|name| format!("\"{name}\": {list}")).collect();
            let text = format!("{{{}}}", files.join(","));
            for format in Format::ALL.into_iter().filter(|format| *format != Format::Codex) {
                let imported = read(format, &text, Path::new(PATH)).unwrap_or_else(|error| panic!("{format}: {error}"));
                assert!(imported.servers.iter().any(|one| one.name.value == "good"), "{format} {key} {value}");
                let found = imported.servers.len() + imported.left_out.len();
                assert_eq!(found, 3, "{format} {key} {value}");
            }
            // The same in TOML, which has no null.
            if value != "null" {
                let toml = value.replace("\"a\":", "a =");
                let key = if key.is_empty() { "\"\"" } else { key };
                let text = format!(
                    "mcp_servers.good.command = \"x\"\nmcp_servers.bad.{key} = {toml}\nmcp_servers.worse = {toml}"
                );
                let imported = read(Format::Codex, &text, Path::new(PATH)).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(imported.servers.len() + imported.left_out.len(), 3, "{text}");
            }
        }
    }
}

#[test]
fn keys_written_twice_are_told() {
    let json = r#"{"mcpServers": {"a": {"command": "old"}, "a": {"command": "x", "command": "y", "env": {"E": "1", "E": "2"}}}}"#;
    let yaml = "extensions:\n  a: {type: stdio, cmd: old}\n  a: {type: stdio, cmd: x, cmd: y, envs: {E: 1, E: 2}}\n";
    let refused = read(Format::GeminiCli, json, Path::new(PATH)).unwrap_err().to_string();
    assert!(refused.contains("1:17: written twice"), "what is read as our own settings is refused: {refused}");
    for (format, text) in [(Format::ClaudeDesktop, json), (Format::Cursor, json), (Format::Goose, yaml)] {
        let imported = read(format, text, Path::new(PATH)).unwrap();
        assert_eq!(imported.servers.len(), 1, "{format}");
        let server = &imported.servers[0];
        assert_eq!(server.server.command.as_ref().unwrap().value, "y", "{format}");
        assert_eq!(server.server.env.as_ref().unwrap().value.len(), 1, "{format}");
        let notes = imported.notes.iter().chain(&server.notes);
        let twice = notes.filter(|note| note.message.contains("written twice")).count();
        assert_eq!(twice, 3, "{format}: {:?} {:?}", imported.notes, server.notes);
    }
}

#[test]
fn notes_never_contain_values() {
    let secret = "s3cr3t";
    let text = format!(
        r#"{{"mcpServers": {{"a": {{"command": "{secret}", "args": ["{secret}${{x}}"], "env": {{"K": "{secret}", "L": null}}, "odd": "{secret}",
            "url": "https://{secret}.example", "headers": ["{secret}"]}}, "b": {{"command": "x", "odd": "{secret}", "env": {{"K": "${{a b}}{secret}"}}}}}}}}"#
    );
    for format in JSON {
        let imported = read(format, &text, Path::new(PATH)).unwrap();
        assert!(
            !format!("{imported:?}").replace(&format!("command: Some(\"{secret}\")"), "").contains(secret),
            "{format}"
        );
    }
    for (format, text) in
        [(Format::Codex, format!("a = \"{secret}")), (Format::Goose, format!("a: \"{secret}\nb: [{secret}"))]
    {
        let error = read(format, &text, Path::new(PATH)).unwrap_err();
        assert!(!format!("{error:?}").contains(secret), "{format}: {error:?}");
    }
}
