//! `toolgate mcp add` with what cannot be done: wrong words, wrong places, files that cannot be read. Nothing is written then.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::json;

use crate::room::Room;

const PROJECT: &str = ".toolgate/settings.json";

#[test]
fn what_is_typed_wrong_is_refused_before_anything_is_written() {
    let room = Room::new();
    let cases: [(&[&str], &str); 26] = [
        (&["", "prog"], "a server needs a name"),
        (&["a b", "prog"], "the name of a server cannot have ` ` in it"),
        (&["a/b", "prog"], "the name of a server cannot have `/` in it"),
        (&["--", "-a", "prog"], "the name of a server cannot start with `-`"),
        (&["a\u{1b}", "prog"], "the name of a server has no control characters"),
        (&["a", ""], "the command is empty"),
        (&["a", "prog", "-e", "KEY"], "-e: expected `KEY=value`"),
        (&["a", "prog", "-e", "=x"], "-e: expected `KEY=value`"),
        (&["a", "https://h.example", "-H", "no-colon"], "-H: expected `Name: value`"),
        (&["a", "https://h.example", "-H", "bad name: x"], "-H: not the name of a header"),
        (&["a", "https://h.example", "-H", "Content-Length: 1"], "the header `Content-Length` belongs to HTTP itself"),
        (&["a", "prog", "-H", "X: y"], "a program that is started has no headers"),
        (&["a", "prog", "--oauth-client-id", "x"], "a program that is started has no OAuth login"),
        (&["a", "https://h.example", "-e", "K=v"], "a remote server gets no environment variables"),
        (&["a", "https://h.example", "arg"], "a remote server takes no arguments"),
        (&["a", "https://h.example", "--cwd", "x"], "a remote server runs in no folder of yours"),
        (&["a", "https://"], "not a URL"),
        (&["-t", "http", "a", "prog"], "not a URL"),
        (&["-t", "sse", "a", "ftp://h"], "`ftp` addresses cannot be used"),
        (&["-t", "stdio", "a", "https://h.example"], "an address cannot be started as a program"),
        (&["a", "prog", "-s", "system"], "invalid value 'system' for '--scope <SCOPE>'"),
        (&["a", "prog", "--timeout", "0"], "invalid value '0' for '--timeout <MS>'"),
        (&["a", "prog", "--max-concurrency", "many"], "invalid value 'many' for '--max-concurrency <COUNT>'"),
        (&["a", "prog", "-e"], "a value is required for '--env <KEY=value>'"),
        (&["--scoep", "user", "a", "prog"], "a similar argument exists: '--scope'"),
        (&["a", "prog", "-s", "user", "--config", "x.json"], "`--scope` and `--config` name two files"),
    ];
    for (words, message) in cases {
        let output = room.command(["mcp", "add"].iter().chain(words).copied()).run().unwrap();
        assert_eq!(output.code(), Some(2), "{words:?}: {}", output.transcript());
        assert_eq!(output.stdout, "", "{words:?}");
        assert!(output.stderr.contains(message), "{words:?}: {}", output.stderr);
    }
    assert!(!room.world.workspace().join(".toolgate").exists() && !room.world.home().join(".toolgate").exists());
    assert_eq!(room.json("mcp add a/b x --json")["error"]["kind"], json!("usage"));
}

#[test]
fn the_home_is_no_project() {
    let mut room = Room::new();
    let home = room.world.home();
    let link = room.world.root().join("link");
    symlink(&home, &link).unwrap();
    let refused = |room: &Room, folder: &Path| {
        let output = room.command(["mcp", "add", "a", "prog"]).folder(folder).run().unwrap();
        output.assert_transcript(
            "
            --- stderr
            error: this folder is your home, whose settings are your own and not those of a project
            hint: `-s user` changes your own settings
            --- exit 2
            ",
        );
        assert!(!folder.join(".toolgate").exists());
    };
    refused(&room, &home);
    refused(&room, &link);
    let output = room.command(["mcp", "add", "-s", "user", "a", "prog"]).folder(&home).run().unwrap();
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert_eq!(room.command(["mcp", "remove", "-s", "project", "a"]).folder(&home).run().unwrap().code(), Some(2));
    assert_eq!(room.command(["mcp", "remove", "a"]).folder(&home).run().unwrap().code(), Some(0));
    // The folder of settings may lead home too.
    let user = room.world.workspace().join(".toolgate").display().to_string();
    room.world.set_variable("TOOLGATE_HOME", user);
    refused(&room, &room.world.workspace());
}

/// What is done to a file that cannot be changed.
const COMMANDS: [&str; 3] = ["mcp add a prog", "mcp remove a", "mcp remove a -s project"];

#[test]
fn a_file_that_cannot_be_read_is_left_as_it_is() {
    let room = Room::new();
    let large = format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"{}\"}}}}}}", "x".repeat(10 * 1024 * 1024));
    let deep = format!("{{\"mcpServers\": {}", "[".repeat(10_000));
    let cases: [(&[u8], &str); 8] = [
        (b"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"", "settings.json:3:10: expected `}`"),
        (b"{\n  \"mcpServers\": {\"a\": oops}\n}", "settings.json:2:23: expected JSON"),
        (b"{\"mcpServers\": {\"a\0\": {}}}", "settings.json:1:19: the control character U+0000"),
        (large.as_bytes(), "settings.json: larger than 4194304 bytes"),
        (deep.as_bytes(), "settings.json:1:79: more than 64 levels"),
        (b"{\"a\": \"\xff\xfe\"}", "settings.json: not UTF-8 text"),
        (b"[]", "settings.json:1:1: expected `{`"),
        (b"{\"mcpServers\": [\"a\"]}", "settings.json:1:16: mcpServers: expected an object, found a list"),
    ];
    let file = room.world.write_in_workspace(PROJECT, "").unwrap();
    for (bytes, place) in cases {
        fs::write(&file, bytes).unwrap();
        for line in COMMANDS {
            let output = room.run(line);
            assert_eq!(output.code(), Some(2), "{line}: {}", output.transcript());
            assert_eq!(output.stdout, "", "{line}");
            assert!(output.stderr.contains(place), "{line}: {}", output.stderr);
            assert!(fs::read(&file).unwrap() == bytes, "{line}: the file is as it was");
        }
        let said = room.json("mcp add a prog --json");
        assert_eq!(said["error"]["code"], json!(2));
    }
    let left: Vec<_> = fs::read_dir(file.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn something_else_in_place_of_the_file_is_told() {
    type Make = fn(&Path);
    let cases: [(Make, &str); 5] = [
        (|file| fs::create_dir(file).unwrap(), "a folder stands where the file should be"),
        (|file| symlink("settings.json", file).unwrap(), "Too many levels of symbolic links"),
        (|file| symlink(file.parent().unwrap(), file).unwrap(), "a folder stands where the file should be"),
        (
            |file| assert!(std::process::Command::new("mkfifo").arg(file).status().unwrap().success()),
            "not a regular file",
        ),
        (
            |file| {
                let folder = file.parent().unwrap();
                fs::remove_dir(folder).unwrap();
                fs::write(folder, "").unwrap();
            },
            "Not a directory",
        ),
    ];
    for (make, message) in cases {
        let room = Room::new();
        let folder = room.world.workspace().join(".toolgate");
        fs::create_dir(&folder).unwrap();
        make(&folder.join("settings.json"));
        let output = room.run("mcp add a prog");
        assert_eq!(output.code(), Some(2), "{}", output.transcript());
        assert!(output.stdout.is_empty() && output.stderr.contains(message), "{}", output.transcript());
        assert!(output.stderr.contains("/.toolgate"), "it is named: {}", output.stderr);
    }
}

#[test]
fn a_file_nobody_may_read_is_told() {
    let room = Room::new();
    let text = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}";
    let file = room.world.write_in_workspace(PROJECT, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let is_root = fs::File::open(&file).is_ok();
    let output = room.run("mcp add b y");
    if is_root {
        // To root no file is unreadable; it is changed, and its mode is kept.
        assert_eq!(output.code(), Some(0), "{}", output.transcript());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0);
        assert!(fs::read_to_string(&file).unwrap().contains("\"b\": {\"command\": \"y\"}"));
    } else {
        assert_eq!(output.code(), Some(2), "{}", output.transcript());
        assert!(output.stderr.contains("Permission denied"), "{}", output.stderr);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}
