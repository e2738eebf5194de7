//! Files below `~/.toolgate` are private to their owner, regardless of the umask and of earlier modes. A full disk quota is an error.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use toolgate_testkit::command::CommandOutput;

use crate::room::{Room, sample};

/// Everything below a folder, and the folder itself, with its mode.
fn modes(folder: &Path) -> Vec<(PathBuf, u32)> {
    let about = std::fs::symlink_metadata(folder).unwrap();
    let mut found = vec![(folder.to_owned(), about.permissions().mode() & 0o777)];
    if about.is_dir() {
        for entry in std::fs::read_dir(folder).unwrap() {
            found.extend(modes(&entry.unwrap().path()));
        }
    }
    found
}

#[track_caller]
fn assert_own(room: &Room, when: &str) {
    let wide: Vec<String> = modes(&room.world.home().join(".toolgate"))
        .into_iter()
        .filter(|(path, mode)| mode & 0o077 != 0 && !path.is_symlink())
        .map(|(path, mode)| format!("{} {mode:o}", path.display()))
        .collect();
    assert_eq!(wide, [""; 0], "{when}");
}

/// A command line after shell words.
fn run(room: &Room, before: &str, line: &str) -> CommandOutput {
    let script = format!("{before}; exec {} {line}", env!("CARGO_BIN_EXE_toolgate"));
    room.world.command("/bin/sh").args(["-c", &script]).run().unwrap()
}

fn room() -> Room {
    let room = Room::new().server("one", &sample("one"));
    // Files of the room have the umask of the test. The first command narrows them.
    let _first = room.run("mcp list");
    room
}

#[test]
fn no_file_of_ours_is_open_to_others_whatever_the_umask() {
    let room = room();
    assert_own(&room, "after the first command");
    // Each command writes other files.
    let lines = [
        "mcp add other -- true",
        "mcp disable other",
        "mcp enable other",
        "mcp remove other",
        "tools",
        "call echo message=hi",
        "call workspace__read_file path=none",
        "trust --yes",
        "trust --list",
        "audit show",
        "audit stats",
        "audit verify",
        "grants list",
        "mcp refresh one",
        "doctor",
        "up",
        "ps",
        "call echo message=there",
        "down",
        "policy preset read-only --write",
        "policy preset locked-down --write",
    ];
    for line in lines {
        let output = run(&room, "umask 000", line);
        assert_ne!(output.code(), None, "{line}: {}", output.transcript());
        assert_own(&room, line);
    }
    let written: Vec<PathBuf> = modes(&room.world.home().join(".toolgate")).into_iter().map(|(path, _)| path).collect();
    assert!(written.len() > 12, "much was written: {written:?}");
}

#[test]
fn wide_modes_that_are_found_are_narrowed() {
    let room = room();
    assert_eq!(room.run("call echo message=hi").code(), Some(0));
    let home = room.world.home().join(".toolgate");
    for (path, _) in modes(&home) {
        let wide = if path.is_dir() { 0o777 } else { 0o666 };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(wide)).unwrap();
    }
    assert_eq!(room.run("call echo message=again").code(), Some(0));
    assert_own(&room, "after a command that found everything open");
}

#[test]
fn a_file_limit_is_an_error_and_not_the_end() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    // The record cannot be written, so no call is made, and the limit kills no process.
    let output = run(&room, "ulimit -f 0", "call echo message=hi --json");
    assert_ne!(output.code(), None, "{}", output.transcript());
    assert_ne!(output.code(), Some(0), "{}", output.transcript());
    let told: serde_json::Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| json!({}));
    assert!(told["error"]["message"].is_string() || output.stderr.contains("error"), "{}", output.transcript());
    let output = run(&room, "ulimit -f 0", "mcp add other -- true");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stderr.contains("File too large"), "{}", output.transcript());
}
