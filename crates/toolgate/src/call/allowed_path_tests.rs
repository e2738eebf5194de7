//! Where paths lead, in a real folder.

use std::fs;

use serde_json::{Value, json};

use super::check_paths;
use crate::policy::{AllowedPath, Decision, collect_paths, segment_verdict};

#[test]
fn path_arguments_are_collected() {
    let config = AllowedPath {
        included_args: vec!["target".into(), "a.b".into()],
        excluded_args: vec!["profile".into(), "x.path".into()],
    };
    // arguments, names of those that are paths
    let cases = [
        (json!({"path": "p"}), "path"),
        (json!({"filePath": "p", "Directory": "d"}), "Directory filePath"),
        (json!({"source": "p", "destination": "q", "sources": "r"}), "destination source"),
        (json!({"content": "p", "command": "q"}), ""),
        (json!({"target": "p"}), "target"),
        (json!({"a": {"b": "p", "c": "q"}}), "a.b"),
        (json!({"profile": "p", "x": {"path": "q", "dir_path": "r"}}), "x.dir_path"),
        (json!({"paths": ["p", "q", 1]}), "paths paths"),
        (json!({"files": [{"path": "p"}, {"name": "q"}]}), "files.path"),
        (json!({"path": 1, "file": null}), ""),
        (json!(["path"]), ""),
        (Value::Null, ""),
    ];
    for (arguments, expected) in cases {
        let found = collect_paths(&arguments, &config).unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.join(" "), expected, "{arguments}");
    }
    assert_eq!(collect_paths(&json!({"paths": vec!["x"; 5_000]}), &config), None);
}

#[test]
fn names_on_the_way_count_in_any_spelling() {
    let cases = [
        ("src/a.rs", None),
        (".git/config", Some(Decision::Deny)),
        ("a/.GIT/b", Some(Decision::Deny)),
        (".env", Some(Decision::Deny)),
        (".env.", Some(Decision::Deny)),
        (".env :stream", Some(Decision::Deny)),
        ("x\\node_modules\\y", Some(Decision::Deny)),
        (".vscode/settings.json", Some(Decision::Ask)),
        (".vscode/node_modules", Some(Decision::Deny)),
        (".gitignore", None),
        (".environment", None),
        ("git/env", None),
    ];
    for (path, expected) in cases {
        assert_eq!(segment_verdict(path), expected, "{path}");
    }
}

#[cfg(unix)]
#[test]
fn paths_that_lead_out_are_denied_whatever_they_look_like() {
    use std::os::unix::fs::symlink;

    let room = tempfile::tempdir().unwrap();
    let workspace = room.path().join("node_modules/work");
    fs::create_dir_all(workspace.join("src/deep")).unwrap();
    fs::create_dir_all(workspace.join(".git")).unwrap();
    fs::create_dir(room.path().join("outside")).unwrap();
    fs::write(workspace.join("file.txt"), "").unwrap();
    symlink(room.path().join("outside"), workspace.join("link")).unwrap();
    symlink("src", workspace.join("inner")).unwrap();
    symlink(room.path().join("outside/nothing"), workspace.join("dangling")).unwrap();
    symlink("loop", workspace.join("loop")).unwrap();
    symlink(".git", workspace.join("repository")).unwrap();
    let inside = workspace.join("src/new.rs").to_string_lossy().into_owned();
    let outside = room.path().join("outside/x").to_string_lossy().into_owned();
    let deny = Some(Decision::Deny);
    let cases = [
        ("src/new.rs", None),
        ("", None),
        (".", None),
        (&*inside, None),
        ("not/there/yet", None),
        ("src/../file.txt", None),
        ("inner/x", None),
        ("file.txt/x", None),
        ("https://example.org/.env", None),
        (&*outside, deny),
        ("/etc/passwd", deny),
        ("../outside", deny),
        ("not/there/../../../outside", deny),
        ("link", deny),
        ("link/x", deny),
        ("inner/../../outside", deny),
        ("dangling", deny),
        ("loop", deny),
        ("~/x", deny),
        ("file:///etc/passwd", deny),
        ("file:///%65tc/passwd", deny),
        (".git/config", deny),
        ("repository/config", deny),
        ("a/.ENV", deny),
        (".vscode/x", Some(Decision::Ask)),
    ];
    for (path, expected) in cases {
        let found = check_paths(&[("path".to_owned(), path.to_owned())], &workspace);
        assert_eq!(found.as_ref().map(|(decision, _)| *decision), expected, "{path}: {found:?}");
    }
    let both = [("a".to_owned(), ".vscode/x".to_owned()), ("b".to_owned(), "/etc/x".to_owned())];
    let (decision, why) = check_paths(&both, &workspace).unwrap();
    assert_eq!((decision, &*why), (Decision::Deny, "`b` leads out of the workspace folder"));
    assert!(check_paths(&both, &room.path().join("gone")).is_some());
    assert_eq!(check_paths(&[], &room.path().join("gone")), None);
}
