//! Paths and links among the workspace, folders beside it and what is outside of all: `allowed-path`, commands that only look, and what a
//! call would change are about the same places.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_wire::RawJson;

use super::allowed_path::check_paths;
use super::edit_preview::edit_of;
use super::look_guard::leads_out;
use crate::asker::Asker;
use crate::filter::Arguments;
use crate::policy::{CallFacts, Decision, Mode, Policy, Presence, default_rules};
use crate::server_name::ServerName;
use crate::workspace_folders::WorkspaceFolders;

/// `main` is the workspace, `inc` and `other` are beside it, `out` and `inc-evil` are outside.
fn tree() -> TempDir {
    let room = tempfile::tempdir().unwrap();
    let root = room.path().canonicalize().unwrap();
    for folder in ["main/sub", "inc/deep", "inc/.git", "other/node_modules", "out", "inc-evil"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let files =
        ["main/a", "main/sub/b", "inc/i", "inc/deep/j", "inc/.git/config", "other/o", "out/secret", "inc-evil/s"];
    for file in files {
        fs::write(root.join(file), "text\n").unwrap();
    }
    let absolute = |path: &str| root.join(path).display().to_string();
    for (link, target) in [
        ("main/to-inc", "../inc/i"),
        ("main/to-inc-absolute", &absolute("inc/i")),
        ("main/inc", "../inc"),
        ("main/out", "../out"),
        ("main/secret", &absolute("out/secret")),
        ("main/new-in-inc", "../inc/new"),
        ("main/loop", "loop"),
        ("inc/to-main", "../main/a"),
        ("inc/to-other", "../other/o"),
        ("inc/out", "../out"),
        ("inc/secret", "../out/secret"),
        ("inc/chain", "../main/out/secret"),
        ("inc/up", ".."),
        ("inc/self", "."),
        ("inc/top", "/"),
        ("inc/dangling", "../out/new"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    room
}

/// Whether `cat` of the path runs without a question.
fn looks(path: &str, folders: &WorkspaceFolders) -> bool {
    let arguments = json!({"command": format!("cat {path}")});
    let seen = Arguments::new(&arguments).in_folder(folders).beside(folders.included());
    let is_out = leads_out(&seen, folders);
    let seen = if is_out { seen.leading_out() } else { seen };
    let facts = CallFacts {
        server: &ServerName::new("workspace").unwrap(),
        builtin: Some("workspace"),
        tool: "run_shell_command",
        arguments: &seen,
        annotations: &Value::Null,
        mode: Mode::Default,
        presence: Presence::Interactive,
        asker: Asker::Model,
        subagent: None,
        folder: folders,
        folder_is_trusted: true,
        remembered: None,
    };
    Policy::new(default_rules()).decide(&facts).decision == Decision::Allow
}

/// The decision of `allowed-path`, if it says anything.
fn checked(path: &str, folders: &WorkspaceFolders) -> Option<Decision> {
    check_paths(&[("path".to_owned(), path.to_owned())], folders).map(|(decision, _)| decision)
}

/// Whether what a call of `write_file` would change is shown.
fn is_previewed(path: &str, folders: &WorkspaceFolders) -> bool {
    edit_of("write_file", &RawJson::from(json!({"path": path, "content": "x"})), folders).is_some()
}

const DENY: Option<Decision> = Some(Decision::Deny);

#[test]
fn paths_lead_into_the_folders_or_are_refused() {
    let room = tree();
    let root = room.path().canonicalize().unwrap();
    let folders = WorkspaceFolders::new(root.join("main"), vec![root.join("inc"), root.join("other")]);
    // path, what `allowed-path` says, whether `cat` needs no question, whether a change is shown. `@` stands for the folder of all.
    let rows = [
        ("a", None, true, true),
        ("sub/b", None, true, true),
        ("sub/../a", None, true, true),
        ("@/main/a", None, true, true),
        ("@/inc/i", None, true, true),
        ("@/inc/deep/j", None, true, true),
        ("@/inc/not/there", None, true, true),
        ("@/inc/deep/", None, true, true),
        ("@/inc", None, true, true),
        ("@/other/o", None, true, true),
        ("@/inc/./i", None, true, true),
        // Relative paths stay relative to the workspace, and commands must not climb.
        ("../inc/i", None, false, true),
        ("@/main/../inc/i", None, false, true),
        ("@/inc/../main/a", None, false, true),
        // Links from one of the folders into another one.
        ("to-inc", None, true, true),
        ("to-inc-absolute", None, true, true),
        ("inc/i", None, true, true),
        ("inc/deep/j", None, true, true),
        ("@/inc/to-main", None, true, true),
        ("@/inc/to-other", None, true, true),
        ("@/inc/self/i", None, true, true),
        ("inc/self/to-other", None, true, true),
        // Links that lead out of all of them.
        ("out/secret", DENY, false, false),
        ("secret", DENY, false, false),
        ("@/inc/out/secret", DENY, false, false),
        ("@/inc/secret", DENY, false, false),
        ("@/inc/chain", DENY, false, false),
        ("@/inc/up/out/secret", DENY, false, false),
        ("@/inc/top/etc/hostname", DENY, false, false),
        ("inc/secret", DENY, false, false),
        ("inc/up/inc-evil/s", DENY, false, false),
        ("loop", DENY, false, false),
        // Links to nothing could lead anywhere later.
        ("@/inc/dangling", DENY, false, false),
        ("new-in-inc", DENY, false, false),
        // Paths that are outside, also where their text begins like a folder.
        ("@/out/secret", DENY, false, false),
        ("@/inc-evil/s", DENY, false, false),
        ("@/incx", DENY, false, false),
        ("@", DENY, false, false),
        ("/etc/hostname", DENY, false, false),
        ("../out/secret", DENY, false, false),
        ("@/inc/../out/secret", DENY, false, false),
        ("@/inc/../../etc", DENY, false, false),
        ("~/x", DENY, false, true),
        // Names on the way count in each folder.
        ("@/inc/.git/config", DENY, true, true),
        ("@/other/node_modules/x", DENY, true, true),
        ("inc/.git/config", DENY, true, true),
    ];
    for (path, expected, is_look, is_shown) in rows {
        let path = path.replace('@', &root.display().to_string());
        assert_eq!(checked(&path, &folders), expected, "allowed-path: {path}");
        assert_eq!(looks(&path, &folders), is_look, "cat: {path}");
        assert_eq!(is_previewed(&path, &folders), is_shown, "write_file: {path}");
    }
    let alone = WorkspaceFolders::from(root.join("main"));
    for path in ["@/inc/i", "to-inc", "inc/i", "@/other/o"] {
        let path = path.replace('@', &root.display().to_string());
        assert_eq!((checked(&path, &alone), looks(&path, &alone)), (DENY, false), "not included: {path}");
    }
}

#[test]
fn folders_may_be_nested_missing_or_everything() {
    let room = tree();
    let root = room.path().canonicalize().unwrap();
    let main = || root.join("main");
    let at = |path: &str| root.join(path).display().to_string();
    // folders beside the workspace, path, what `allowed-path` says
    let rows = [
        (vec![root.clone()], "out/secret", None),
        (vec![root.clone()], "inc/secret", None),
        (vec![root.clone()], "inc/.git/config", DENY),
        (vec![root.clone()], "inc/top/etc", DENY),
        (vec![root.join("inc/.git")], "inc/.git/config", None),
        (vec![root.join("inc/.git")], "inc/i", DENY),
        (vec![root.join("gone")], "inc/i", DENY),
        (vec![root.join("gone")], "main/a", None),
        (vec![root.join("gone")], "gone/x", DENY),
        (vec!["/".into()], "out/secret", None),
        (vec!["/".into()], "inc/top/usr", None),
    ];
    for (included, path, expected) in rows {
        let folders = WorkspaceFolders::new(main(), included);
        assert_eq!(checked(&at(path), &folders), expected, "{folders:?}: {path}");
    }
    let nowhere = WorkspaceFolders::new(root.join("gone"), vec![root.join("inc")]);
    assert_eq!(checked(&at("inc/i"), &nowhere), DENY, "without a workspace nothing is let through");
}
