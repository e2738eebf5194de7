//! Files of other clients: what is read from them, what is written for them, and that both agree.

use std::fmt::Write as _;
use std::path::Path;

use toolgate::formats::{Format, Imported, Note, detect, entry, places, read};
use toolgate_testkit::snapshot::assert_snapshot;

use crate::support::Room;

macro_rules! fixture {
    ($format:ident, $place:literal, $file:literal, $expected:literal) => {
        (
            Format::$format,
            $place,
            $expected,
            include_str!(concat!("../fixtures/formats/", $file)),
            include_str!(concat!("../fixtures/formats/", $expected)),
        )
    };
}

/// A fixture, whose it is, what it is called where it belongs, and what comes out.
const FIXTURES: [(Format, &str, &str, &str, &str); 11] = [
    fixture!(GeminiCli, "/home/sam/.gemini/settings.json", "gemini-cli.json", "gemini-cli.txt"),
    fixture!(ClaudeDesktop, "/x/Claude/claude_desktop_config.json", "claude_desktop_config.json", "claude-desktop.txt"),
    fixture!(ClaudeCode, "/home/sam/app/.mcp.json", "claude-code.mcp.json", "claude-code.mcp.txt"),
    fixture!(ClaudeCode, "/home/sam/.claude.json", "claude-code.home.json", "claude-code.home.txt"),
    fixture!(VsCode, "/home/sam/app/.vscode/mcp.json", "vscode.mcp.json", "vscode.mcp.txt"),
    fixture!(VsCode, "/home/sam/.config/Code/User/settings.json", "vscode.settings.json", "vscode.settings.txt"),
    fixture!(Cursor, "/home/sam/.cursor/mcp.json", "cursor.mcp.json", "cursor.txt"),
    fixture!(Codex, "/home/sam/.codex/config.toml", "codex.toml", "codex.txt"),
    fixture!(Goose, "/home/sam/.config/goose/config.yaml", "goose.yaml", "goose.txt"),
    fixture!(Zed, "/home/sam/.config/zed/settings.json", "zed.json", "zed.txt"),
    fixture!(Toolgate, "/home/sam/.toolgate/settings.json", "toolgate.json", "toolgate.txt"),
];

/// Everything that was read, one line each.
fn shown(imported: &Imported) -> String {
    let mut text = String::new();
    for note in &imported.notes {
        writeln!(text, "{}", shown_note(note)).unwrap();
    }
    for one in &imported.servers {
        let off = if one.is_disabled { " (switched off)" } else { "" };
        let project = one.project.as_ref().map(|folder| format!(" for {}", folder.display())).unwrap_or_default();
        writeln!(text, "{}{project}{off}: {}", one.name.value, serde_json::to_string(&entry(&one.server)).unwrap())
            .unwrap();
        for note in &one.notes {
            writeln!(text, "    {}", shown_note(note)).unwrap();
        }
    }
    for one in &imported.left_out {
        let broken = if one.is_broken { "broken" } else { "foreign" };
        let at = one.name.at;
        writeln!(text, "without {:?}, {}:{} ({broken}): {}", one.name.value, at.line, at.column, one.reason).unwrap();
    }
    text
}

fn shown_note(note: &Note) -> String {
    let place = note.at.map(|at| format!("{}:{}: ", at.line, at.column)).unwrap_or_default();
    format!("[{}] {place}{note}", note.kind.as_str())
}

#[test]
fn fixtures_are_read() {
    for (format, place, _, text, expected) in FIXTURES {
        let imported = read(format, text, Path::new(place)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(imported.format, format);
        assert_snapshot(&shown(&imported), expected);
    }
}

#[test]
fn files_are_known_by_their_names_or_what_is_in_them() {
    for (format, place, _, text, _) in FIXTURES {
        assert_eq!(detect(Path::new(place), text), Some(format), "{place}");
        // Under a name that says nothing, files with the same list are taken for ours.
        let by_content = match format {
            Format::ClaudeDesktop | Format::Toolgate => Format::GeminiCli,
            Format::ClaudeCode if place.ends_with(".mcp.json") => Format::GeminiCli,
            other => other,
        };
        assert_eq!(detect(Path::new("/dev/fd/63"), text), Some(by_content), "{place}");
    }
    let nothing = ["", "{}", "[]", "{\"mcp\": {\"allowed\": []}}", "{\"projects\": 1}", "text", "a: 1", "a = 1", "{"];
    for text in nothing {
        assert_eq!(detect(Path::new("servers.json"), text), None, "{text}");
    }
    let ends = [("x.toml", Format::Codex), ("x.yaml", Format::Goose), ("a/.vscode/settings.json", Format::VsCode)];
    for (path, format) in ends {
        assert_eq!(detect(Path::new(path), ""), Some(format), "{path}");
    }
}

#[test]
fn a_list_under_a_wrong_key_is_read_and_noted() {
    let path = Path::new("mcp.json");
    let list = |key: &str| format!("{{\"{key}\": {{\"x\": {{\"command\": \"y\", \"args\": []}}}}}}");
    for (format, key) in [(Format::VsCode, "mcpServers"), (Format::Cursor, "servers"), (Format::Zed, "mcpServers")] {
        let imported = read(format, &list(key), path).unwrap();
        assert_eq!((imported.servers.len(), imported.notes.len()), (1, 1), "{format}");
        assert!(imported.notes[0].message.contains(format.title()), "{:?}", imported.notes);
    }
    for format in Format::ALL {
        let imported = read(format, "", path).unwrap();
        assert_eq!(imported.servers.len(), 0, "{format}");
    }
}

#[test]
fn names_of_formats_are_words() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.as_str()), Some(format));
    }
    assert_eq!(Format::from_name("VSCode"), None);
}

#[test]
fn places_follow_the_variables() {
    let room = Room::new();
    let (world, mut env) = (&room.world, room.env());
    let shown = |env: &toolgate::HostEnv, format| {
        let hide = |path: std::path::PathBuf| {
            let path = path.display().to_string();
            path.replace(&world.home().display().to_string(), "~")
                .replace(&world.workspace().display().to_string(), ".")
        };
        places(format, env).into_iter().map(hide).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(&env, Format::Cursor), "./.cursor/mcp.json ~/.cursor/mcp.json");
    assert_eq!(
        shown(&env, Format::Goose),
        "~/.config/goose/config.yaml ~/Library/Application Support/goose/config.yaml"
    );
    assert_eq!(shown(&env, Format::Toolgate), "");
    for (name, value) in [("XDG_CONFIG_HOME", "/xdg"), ("APPDATA", "/app"), ("CODEX_HOME", "/codex")] {
        env.vars.insert(name.to_owned(), value.to_owned());
    }
    assert_eq!(shown(&env, Format::Codex), "./.codex/config.toml /codex/config.toml ~/.codex/config.toml");
    assert_eq!(
        shown(&env, Format::Zed),
        "./.zed/settings.json /xdg/zed/settings.json ~/Library/Application Support/zed/settings.json /app/Zed/settings.json"
    );
    env.workspace = world.home().into();
    assert_eq!(shown(&env, Format::GeminiCli), "~/.gemini/settings.json");
    env.dirs.home = None;
    assert_eq!(shown(&env, Format::Cursor), "~/.cursor/mcp.json");
}
