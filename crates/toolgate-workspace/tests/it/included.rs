//! Folders beside the workspace: what every tool reaches in them, how links among the folders are taken, and what stays outside.
//!
//! In the tables `@` stands for the folder that holds all of them: `ws`, the included `inc` and `other`, and `outside` with the secret.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::room::{Room, SECRET, has};

/// A workspace with two folders beside it, and links of every kind among them.
async fn room() -> Room {
    let files = [("a.txt", "in ws\n"), ("sub/b.txt", "in ws\n")];
    let room = Room::including(&["inc", "other"], &[], &files).await;
    let top = top(&room);
    for (file, content) in [("inc/i.txt", "in inc\n"), ("inc/deep/j.txt", "in inc\n"), ("other/o.txt", "in other\n")] {
        room.put(&format!("../{file}"), content.as_bytes());
    }
    room.put("../inc-evil/secret.txt", SECRET.as_bytes());
    for (link, target) in [
        ("to-inc", "../inc/i.txt".into()),
        ("to-inc-absolute", top.join("inc/i.txt")),
        ("inc", "../inc".into()),
        ("way-round", "../outside/../inc/i.txt".into()),
        ("out", "../outside".into()),
        ("new-in-inc", "../inc/new.txt".into()),
        ("../inc/to-ws", "../ws/a.txt".into()),
        ("../inc/to-ws-absolute", top.join("ws/a.txt")),
        ("../inc/to-other", "../other/o.txt".into()),
        ("../inc/chain", "../ws/to-inc".into()),
        ("../inc/chain-out", "../ws/out/secret.txt".into()),
        ("../inc/secret", "../outside/secret.txt".into()),
        ("../inc/secret-absolute", top.join("outside/secret.txt")),
        ("../inc/out", "../outside".into()),
        ("../inc/up", "..".into()),
        ("../inc/top", "/".into()),
        ("../inc/self", ".".into()),
        ("../inc/loop", "loop".into()),
        ("../inc/new-outside", "../outside/new.txt".into()),
    ] as [(&str, PathBuf); 19]
    {
        room.link(link, target);
    }
    room
}

/// The folder that holds all folders.
fn top(room: &Room) -> PathBuf {
    room.ws().parent().unwrap().to_owned()
}

fn at(room: &Room, path: &str) -> String {
    path.replace('@', &top(room).display().to_string())
}

#[tokio::test]
async fn paths_lead_into_the_folders_or_are_refused() {
    let room = room().await;
    const WS: Option<&str> = Some("in ws\n");
    const INC: Option<&str> = Some("in inc\n");
    const OTHER: Option<&str> = Some("in other\n");
    let rows = [
        ("a.txt", WS),
        ("@/ws/a.txt", WS),
        ("@/ws/sub/../a.txt", WS),
        ("@/inc/i.txt", INC),
        ("@/inc/deep/j.txt", INC),
        ("@/inc/deep/../i.txt", INC),
        ("@/other/o.txt", OTHER),
        ("@/ws/../inc/i.txt", INC),
        ("@/inc/../ws/a.txt", WS),
        // Relative paths start at the workspace.
        ("i.txt", None),
        ("../inc/i.txt", None),
        // Links from one of the folders into another one.
        ("to-inc", INC),
        ("to-inc-absolute", INC),
        ("inc/i.txt", INC),
        ("inc/deep/j.txt", INC),
        ("inc/to-other", OTHER),
        ("way-round", INC),
        ("@/inc/to-ws", WS),
        ("@/inc/to-ws-absolute", WS),
        ("@/inc/to-other", OTHER),
        ("@/inc/chain", INC),
        ("@/inc/self/self/i.txt", INC),
        ("@/inc/up/other/o.txt", OTHER),
        ("@/inc/up/ws/a.txt", WS),
        // What leads out of all of them.
        ("out/secret.txt", None),
        ("@/inc/secret", None),
        ("@/inc/secret-absolute", None),
        ("@/inc/out/secret.txt", None),
        ("@/inc/chain-out", None),
        ("@/inc/up/outside/secret.txt", None),
        ("@/inc/up/inc-evil/secret.txt", None),
        ("@/inc/top/etc/hostname", None),
        ("@/inc/loop", None),
        ("@/inc/../outside/secret.txt", None),
        ("@/inc/../../etc/hostname", None),
        ("@/inc/new-outside", None),
        ("@/inc-evil/secret.txt", None),
        ("@/outside/secret.txt", None),
        ("/etc/hostname", None),
    ];
    for (path, expected) in rows {
        let told = room.call("read_file", json!({"path": at(&room, path)})).await;
        assert!(!told.text().contains(SECRET), "{path}");
        match expected {
            Some(content) => assert_eq!((told.is_error(), &*told.text()), (false, content), "{path}"),
            None => assert!(told.is_error(), "{path}: {}", told.text()),
        }
    }
}

#[tokio::test]
async fn what_is_found_can_be_passed_back() {
    let room = room().await;
    let arguments = |text: &str| -> Value { serde_json::from_str(&at(&room, text)).unwrap() };
    let rows = [
        (r#"{"pattern": "**/*.txt"}"#, "a.txt sub/b.txt"),
        (r#"{"pattern": "**/*.txt", "path": "@/inc"}"#, "@/inc/deep/j.txt @/inc/i.txt"),
        (r#"{"pattern": "*.txt", "path": "@/inc/deep"}"#, "@/inc/deep/j.txt"),
        (r#"{"pattern": "**/*.txt", "path": "inc"}"#, "@/inc/deep/j.txt @/inc/i.txt"),
        (r#"{"pattern": "@/other/*.txt"}"#, "@/other/o.txt"),
        (r#"{"pattern": "@/inc/**/j.*"}"#, "@/inc/deep/j.txt"),
        (r#"{"pattern": "@/ws/*.txt"}"#, "a.txt"),
    ];
    for (wanted, expected) in rows {
        let files = room.call("glob", arguments(wanted)).await.strings("files");
        assert_eq!(files.join(" "), at(&room, expected), "{wanted}");
        for file in files {
            let told = room.call("read_file", json!({"path": file})).await;
            assert!(!told.is_error(), "{file}: {}", told.text());
        }
    }
    let rows = [
        (r#"{"pattern": "in"}"#, "a.txt sub/b.txt"),
        (r#"{"pattern": "in", "path": "@/inc"}"#, "@/inc/deep/j.txt @/inc/i.txt"),
        (r#"{"pattern": "in", "path": "@/other/o.txt"}"#, "@/other/o.txt"),
        (r#"{"pattern": "in", "path": "@/inc", "include": "i.*"}"#, "@/inc/i.txt"),
    ];
    for (wanted, expected) in rows {
        let told = room.call("search_file_content", arguments(wanted)).await;
        let matches = told.data()["matches"].as_array().unwrap().clone();
        let files: Vec<&str> = matches.iter().map(|one| one["path"].as_str().unwrap()).collect();
        assert_eq!(files.join(" "), at(&room, expected), "{wanted}");
    }
    for pattern in ["@/outside/*.txt", "/etc/*", "@/inc-evil/*"] {
        let told = room.call("glob", json!({"pattern": at(&room, pattern)})).await;
        assert!(told.is_error(), "{pattern}: {}", told.text());
    }
    let names = room.call("list_directory", json!({"path": at(&room, "@/other")})).await.strings("entries");
    assert_eq!(names, ["o.txt"]);
}

#[tokio::test]
async fn files_are_written_and_commands_run_there() {
    let room = room().await;
    for (path, file) in [
        ("@/inc/new/k.txt", "inc/new/k.txt"),
        ("@/other/o.txt", "other/o.txt"),
        ("inc/l.txt", "inc/l.txt"),
        ("new-in-inc", "inc/new.txt"),
        ("@/inc/to-ws", "ws/a.txt"),
    ] {
        room.text("write_file", json!({"path": at(&room, path), "content": "written\n"})).await;
        assert_eq!(std::fs::read_to_string(top(&room).join(file)).unwrap(), "written\n", "{path}");
    }
    let replace =
        json!({"path": at(&room, "@/inc/i.txt"), "old_string": "in", "new_string": "on", "expected_replacements": 2});
    room.text("replace", replace).await;
    assert_eq!(std::fs::read_to_string(top(&room).join("inc/i.txt")).unwrap(), "on onc\n");
    for path in ["@/outside/x", "@/inc/out/x", "@/inc/new-outside", "@/inc/up/x", "@/inc/../x", "out/x"] {
        room.failure("write_file", json!({"path": at(&room, path), "content": "x"})).await;
    }
    assert!(!top(&room).join("outside/new.txt").exists() && !top(&room).join("outside/x").exists());
    for (cwd, folder) in [("@/inc/deep", "inc/deep"), ("inc", "inc"), ("@/inc/up/other", "other"), (".", "ws")] {
        let place = room.text("run_shell_command", json!({"command": "pwd -P", "cwd": at(&room, cwd)})).await;
        assert_eq!(place.trim_end(), top(&room).join(folder).display().to_string(), "{cwd}");
    }
    for cwd in ["@/outside", "@/inc/out", "@/inc/up", "@"] {
        room.failure("run_shell_command", json!({"command": "pwd", "cwd": at(&room, cwd)})).await;
    }
}

#[tokio::test]
async fn the_folders_are_told_and_nested_ones_add_nothing() {
    let room = Room::including(&["inc", "inc/deep", "ws/sub", "ws"], &[], &[("sub/b.txt", "b")]).await;
    let about = room.client.about().instructions.unwrap_or_default();
    has(&about, &["/ws`", "/inc`", "absolute inside any of them"]);
    assert!(!about.contains("/deep") && !about.contains("/sub"), "{about}");
    let files = room.call("glob", json!({"pattern": at(&room, "@/ws/sub/*")})).await.strings("files");
    assert_eq!(files, ["sub/b.txt"]);
    // A folder above the workspace: what is in the workspace keeps its short name.
    let room = Room::including(&["."], &[], &[("b.txt", "b")]).await;
    let paths = room.call("glob", json!({"pattern": at(&room, "@/ws/*")})).await.strings("files");
    assert_eq!(paths, ["b.txt"]);
    assert_eq!(room.text("read_file", json!({"path": at(&room, "@/outside/secret.txt")})).await, SECRET);
    room.failure("read_file", json!({"path": "../outside/secret.txt"})).await;
}

#[tokio::test]
async fn closed_folders_stay_closed_wherever_they_are() {
    let room = Room::including(&["inc"], &["inc/own", "ws/own", "outside"], &[("own/key", SECRET)]).await;
    room.put("../inc/own/deep/key", SECRET.as_bytes());
    room.link("../inc/link", "own");
    room.link("to-key", "../inc/own/deep/key");
    for path in ["own/key", "@/ws/own/key", "@/inc/own/deep/key", "@/inc/link/deep/key", "to-key", "@/inc/own/new"] {
        for (tool, more) in [("read_file", json!({})), ("write_file", json!({"content": "x"}))] {
            let mut arguments = more;
            arguments["path"] = json!(at(&room, path));
            let why = room.failure(tool, arguments).await;
            has(&why, &["toolgate's own files"]);
        }
    }
    for path in ["own", "@/inc/own", "@/inc/own/deep", "@/inc/link"] {
        room.failure("list_directory", json!({"path": at(&room, path)})).await;
    }
    for path in [".", "@/inc"] {
        let found = room.text("search_file_content", json!({"pattern": "SECRET", "path": at(&room, path)})).await;
        has(&found, &["no line fits"]);
        let files = room.call("glob", json!({"pattern": "**/key", "path": at(&room, path)})).await.strings("files");
        assert!(files.is_empty(), "{files:?}");
    }
}
