//! Every way out of the workspace that we know, over all seven tools: refused, nothing outside is changed, and the secret is never told.
//!
//! In the tables `{ws}` stands for the workspace folder and `{out}` for the folder beside it that holds the secret.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::room::{Room, SECRET};

/// A workspace full of ways out.
async fn leaky_room() -> Room {
    let room = Room::with(&[("inside.txt", "inside"), ("dir/file.txt", "file"), ("dir/sub/file.txt", "file")]).await;
    let out = room.outside();
    room.link("out", "../outside");
    room.link("out_absolute", &out);
    room.link("secret", "../outside/secret.txt");
    room.link("secret_absolute", out.join("secret.txt"));
    room.link("chain1", "chain2");
    room.link("chain2", "dir/chain3");
    room.link("dir/chain3", "../out/secret.txt");
    room.link("dir/up", "../../outside");
    room.link("dangling", "../outside/new.txt");
    room.link("dangling_absolute", out.join("new.txt"));
    room.link("dangling_folder", "../outside/new");
    room.link("back", "../ws");
    room.link("parent", "..");
    room.link("top", "/");
    room.link("process", "/proc/self/root");
    room.link("tricky", room.ws().join("../outside"));
    room.link("prefix", room.ws().with_file_name("ws-evil"));
    room.link("endless", "endless");
    let evil = room.ws().with_file_name("ws-evil");
    std::fs::create_dir(&evil).unwrap();
    std::fs::write(evil.join("secret.txt"), SECRET).unwrap();
    std::fs::hard_link(evil.join("secret.txt"), room.outside().join("second.txt")).unwrap();
    room
}

/// Everything outside the workspace: names, links and contents.
fn everything_outside(room: &Room) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                into.insert(path.clone(), Vec::new());
                collect(&path, into);
            } else {
                let content = std::fs::read(&path).unwrap();
                into.insert(path, content);
            }
        }
    }
    let mut all = BTreeMap::new();
    collect(&room.outside(), &mut all);
    collect(&room.ws().with_file_name("ws-evil"), &mut all);
    let beside = std::fs::read_dir(room.ws().parent().unwrap()).unwrap();
    all.extend(beside.map(|entry| (entry.unwrap().path(), Vec::new())));
    all
}

/// Paths of a file that is outside.
const FILES_OUTSIDE: [&str; 46] = [
    "../outside/secret.txt",
    "./../outside/secret.txt",
    "dir/../../outside/secret.txt",
    "dir/sub/../../../outside/secret.txt",
    "../ws/../outside/secret.txt",
    "../ws/inside.txt",
    "../../../../../../../../etc/hostname",
    "{out}/secret.txt",
    "{ws}/../outside/secret.txt",
    "{ws}/dir/../../outside/secret.txt",
    "{ws}-evil/secret.txt",
    "/{ws}-evil/secret.txt",
    "/etc/hostname",
    "//etc/hostname",
    "/proc/self/root{out}/secret.txt",
    "/proc/self/cwd/../outside/secret.txt",
    "/proc/self/environ",
    "/dev/stdin",
    "/dev/null",
    "secret",
    "secret_absolute",
    "./dir/../secret",
    "chain1",
    "chain2",
    "dir/chain3",
    "out/secret.txt",
    "out//deep/./secret.txt",
    "out/deep/../secret.txt",
    "out_absolute/secret.txt",
    "dir/up/secret.txt",
    "back/inside.txt",
    "parent/outside/secret.txt",
    "dir/../parent/ws/inside.txt",
    "top/etc/hostname",
    "process{out}/secret.txt",
    "tricky/secret.txt",
    "prefix/secret.txt",
    "endless",
    "~/secret.txt",
    "file://{out}/secret.txt",
    "..\\outside\\secret.txt",
    "dir\\..\\..\\outside\\secret.txt",
    "%2e%2e/outside/secret.txt",
    "..%2foutside%2fsecret.txt",
    "\u{2024}\u{2024}/outside/secret.txt",
    "\u{ff0e}\u{ff0e}\u{ff0f}outside\u{ff0f}secret.txt",
];

/// Paths of a folder that is outside.
const FOLDERS_OUTSIDE: [&str; 24] = [
    "..",
    "../",
    "../outside",
    "dir/../../outside",
    "{out}",
    "{ws}/..",
    "{ws}/../outside",
    "{ws}-evil",
    "/",
    "/etc",
    "/proc/self/root{out}",
    "/proc/self/cwd",
    "out",
    "out/",
    "out/deep",
    "out_absolute",
    "dir/up",
    "back",
    "parent",
    "top",
    "process",
    "tricky",
    "dangling_folder",
    "~",
];

/// Paths where a new file would be outside.
const NEW_FILES_OUTSIDE: [&str; 16] = [
    "../new.txt",
    "../outside/new.txt",
    "../new/folder/new.txt",
    "dir/../../outside/new.txt",
    "new/../../new.txt",
    "{out}/new.txt",
    "{out}/new/new.txt",
    "out/new.txt",
    "out/new/deeper/new.txt",
    "out_absolute/new.txt",
    "dir/up/new.txt",
    "parent/new.txt",
    "dangling",
    "dangling_absolute",
    "dangling_folder/new.txt",
    "tricky/new.txt",
];

/// Globs that would look outside.
const GLOBS_OUTSIDE: [&str; 14] = [
    "../**",
    "../outside/*.txt",
    "**/../../outside/*",
    "dir/../../outside/*",
    "{out}/*.txt",
    "{ws}/../outside/*",
    "/etc/*",
    "/**",
    "~/*",
    "file:///etc/*",
    "..\\outside\\*",
    "{..,dir}/../outside/*",
    "%2e%2e/outside/*",
    "\u{2025}/outside/*",
];

/// Globs that are allowed to be asked, and find nothing outside.
const GLOBS_WITHOUT_RESULT: [&str; 8] = [
    "out/*",
    "out/**",
    "*/secret.txt",
    "out_absolute/**/secret.txt",
    "{out,parent,top}/**",
    "dir/up/*",
    "[.][.]/outside/*",
    ".{.,x}/outside/*",
];

/// Every call that has to be refused.
fn attempts() -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    for path in FILES_OUTSIDE {
        all.push(("read_file", json!({"path": path})));
        all.push(("replace", json!({"path": path, "old_string": "SECRET", "new_string": "pwned"})));
        all.push(("search_file_content", json!({"pattern": ".", "path": path})));
        all.push(("write_file", json!({"path": path, "content": "pwned"})));
    }
    for path in FOLDERS_OUTSIDE {
        all.push(("list_directory", json!({"path": path})));
        all.push(("glob", json!({"pattern": "**", "path": path})));
        all.push(("search_file_content", json!({"pattern": ".", "path": path})));
        all.push(("run_shell_command", json!({"command": "cat secret.txt; echo pwned > new.txt", "cwd": path})));
        all.push(("write_file", json!({"path": format!("{path}/new.txt"), "content": "pwned"})));
    }
    for path in NEW_FILES_OUTSIDE {
        all.push(("write_file", json!({"path": path, "content": "pwned"})));
        all.push(("replace", json!({"path": path, "old_string": "a", "new_string": "pwned"})));
    }
    for pattern in GLOBS_OUTSIDE {
        all.push(("glob", json!({"pattern": pattern})));
        all.push(("search_file_content", json!({"pattern": ".", "include": pattern})));
    }
    for path in ["../outside/secret.txt\0", "inside.txt\0/../../outside/secret.txt", "\0"] {
        all.push(("read_file", json!({"path": path})));
        all.push(("write_file", json!({"path": path, "content": "pwned"})));
        all.push(("list_directory", json!({"path": path})));
        all.push(("run_shell_command", json!({"command": "true", "cwd": path})));
    }
    let long = format!("{}outside/secret.txt", "../".repeat(3000));
    all.push(("read_file", json!({"path": long})));
    all.push(("write_file", json!({"path": long, "content": "pwned"})));
    all
}

/// Puts the folders of this room into every text of a call.
fn placed(room: &Room, value: Value) -> Value {
    let (ws, out) = (room.ws(), room.outside());
    match value {
        Value::String(text) => {
            json!(text.replace("{ws}", ws.to_str().unwrap()).replace("{out}", out.to_str().unwrap()))
        }
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, placed(room, value))).collect(),
        other => other,
    }
}

#[tokio::test]
async fn every_attempt_is_refused() {
    let room = leaky_room().await;
    let before = everything_outside(&room);
    let attempts = attempts();
    assert!(attempts.len() > 300, "{}", attempts.len());
    for (tool, arguments) in attempts {
        let arguments = placed(&room, arguments);
        let told = room.call(tool, arguments.clone()).await;
        assert!(told.is_error(), "{tool} {arguments} was not refused: {told:?}");
        assert!(!told.0.to_string().contains(SECRET), "{tool} {arguments} told the secret");
        assert!(!told.text().is_empty());
    }
    assert_eq!(everything_outside(&room), before);
    assert_eq!(room.content("inside.txt"), "inside");
}

#[tokio::test]
async fn walks_show_links_but_go_through_none() {
    let room = leaky_room().await;
    let before = everything_outside(&room);
    for pattern in GLOBS_WITHOUT_RESULT {
        let told = room.call("glob", json!({"pattern": pattern})).await;
        assert_eq!(told.strings("files"), [""; 0], "{pattern}");
    }
    let told = room.call("glob", json!({"pattern": "**"})).await;
    assert!(told.strings("files").iter().all(|file| !file.contains("secret.txt")), "{told:?}");
    assert!(told.strings("files").contains(&"dir/chain3".to_owned()));
    let cases = [
        json!({"pattern": SECRET}),
        json!({"pattern": SECRET, "include": "*"}),
        json!({"pattern": SECRET, "include": "**/secret*"}),
        json!({"pattern": SECRET, "include": "out/**"}),
        json!({"pattern": SECRET, "path": "dir"}),
    ];
    for arguments in cases {
        let told = room.call("search_file_content", arguments).await;
        assert_eq!(told.data()["matches"], json!([]), "{told:?}");
    }
    let listed = room.call("list_directory", json!({"path": "."})).await;
    assert!(!listed.0.to_string().contains("outside"), "the target of a link is not told: {listed:?}");
    assert_eq!(everything_outside(&room), before);
}

#[tokio::test]
async fn rules_of_gitignore_are_not_read_through_links() {
    let room = Room::with(&[("a.txt", ""), ("sub/b.txt", "")]).await;
    std::fs::write(room.outside().join("rules"), "*.txt\n").unwrap();
    room.link(".gitignore", "../outside/rules");
    room.link("sub/.gitignore", room.outside().join("rules"));
    let told = room.call("glob", json!({"pattern": "**/*.txt"})).await;
    assert_eq!(told.strings("files"), ["a.txt", "sub/b.txt"]);
}

#[tokio::test]
async fn a_folder_that_is_moved_out_is_still_the_workspace_and_nothing_more() {
    let room = Room::with(&[("a.txt", "mine")]).await;
    let moved = room.outside().join("moved");
    std::fs::rename(room.ws(), &moved).unwrap();
    std::fs::create_dir(room.ws()).unwrap();
    std::fs::write(room.ws().join("a.txt"), SECRET).unwrap();
    assert_eq!(room.text("read_file", json!({"path": "a.txt"})).await, "mine");
    room.text("write_file", json!({"path": "b.txt", "content": "new"})).await;
    assert_eq!(std::fs::read_to_string(moved.join("b.txt")).unwrap(), "new");
    let told = room.text("run_shell_command", json!({"command": "cat a.txt"})).await;
    assert_eq!(told, "mine");
    assert!(!room.ws().join("b.txt").exists());
}
