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
        (json!({"Directory": "d", "filePath": "p"}), "Directory filePath"),
        (json!({"destination": "q", "source": "p", "sources": "r"}), "destination source"),
        (json!({"content": "p", "command": "q"}), ""),
        (json!({"target": "p"}), "target"),
        (json!({"a": {"b": "p", "c": "q"}}), "a.b"),
        (json!({"profile": "p", "x": {"path": "q", "dir_path": "r"}}), "x.dir_path"),
        (json!({"paths": ["p", "q", 1]}), "paths paths"),
        (json!({"files": [{"path": "p"}, {"name": "q"}]}), "files files.path files files.name"),
        (json!({"path": {"value": "p"}}), "path path.value"),
        (json!({"path": {"value": {"of": ["p"]}}}), "path path.value path.value.of"),
        (json!({"files": {"/etc/passwd": true}}), "files"),
        (json!({"files": [{"content": "q", "path": "p"}]}), "files files files.path"),
        (json!({"files": [{"content": {"of": "r", "path": "q"}}]}), "files files.content.path"),
        (json!({"files": [{"newText": "q", "old_string": "r"}]}), "files files"),
        (json!({"target": {"x": "p"}}), "target target.x"),
        (json!({"profile": {"path": "p"}}), ""),
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
        ("GIT~1/config", Some(Decision::Deny)),
        (".g\u{200c}it/config", Some(Decision::Deny)),
        ("git/env", None),
    ];
    for (path, expected) in cases {
        assert_eq!(segment_verdict(path), expected, "{path}");
    }
}

/// Paths that lead into the folder, or nowhere.
#[cfg(unix)]
const HARMLESS: &[&str] = &[
    "src/new.rs",
    "",
    ".",
    "not/there/yet",
    "src/../file.txt",
    "inner/x",
    "file.txt/x",
    "http://example.org/.env",
    "http://example.org/a..b?c=d",
    " src/new.rs ",
    "a%20b.txt",
    "100%.txt",
    "src\\new.rs",
    "main.rs:12",
    "notes: today.md",
    "routes/$id/edit.tsx",
    "$id.tsx",
    "short/../x",
];

/// Paths that lead out, or to what is not for tools.
#[cfg(unix)]
const HARMFUL: &[&str] = &[
    "https://example.org/x",
    "   /etc/passwd",
    "\t/etc/passwd\n",
    "\u{feff}/etc/passwd",
    "\"/etc/passwd\"",
    "%2e%2e/x",
    "%2E%2E%2Fx",
    "%252e%252e/x",
    "%2fetc/passwd",
    "%ff/../../x",
    "..\\x",
    "src\\..\\..\\x",
    "..%5cx",
    "\\\\server\\share",
    "C:\\x",
    "c:x",
    "a\nb",
    "short/../../x",
    "x://../../../../etc/passwd",
    "x:///etc/passwd",
    "x:/etc/passwd",
    "x:../../y",
    "http://a/../../../../../etc/passwd",
    "http://a/%2e%2e/%2e%2e/etc/passwd",
    "http://a\\..\\x",
    "http:///etc/passwd",
    "http:/etc/passwd",
    "file://localhost/etc/passwd",
    "file:/etc/passwd",
    " FILE:/etc/passwd",
    "file:../x",
    "file://../x",
    "file:%2fetc",
    "jar:file:///etc/x",
    "file:.git/config",
    "file:.git?x",
    "%2egit/config",
    "/etc/passwd",
    "../outside",
    "not/there/../../../outside",
    "link",
    "link/x",
    "inner/../../outside",
    "dangling",
    "loop",
    "~/x",
    "file:///etc/passwd",
    "file:///%65tc/passwd",
    ".git/config",
    "repository/config",
    "a/.ENV",
];

/// Paths of which it is not certain.
#[cfg(unix)]
const UNCLEAR: &[&str] = &["s3://bucket/key", "$HOME/x", "${HOME}", ".vscode/x"];

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
    symlink("src/deep", workspace.join("short")).unwrap();
    symlink("/", workspace.join("https:")).unwrap();
    let of_inside = |scheme: &str| format!("{scheme}{}", workspace.join("src/new.rs").to_string_lossy());
    let (inside_file, inside_local) = (of_inside("file://"), of_inside("file://localhost"));
    let inside = workspace.join("src/new.rs").to_string_lossy().into_owned();
    let outside = room.path().join("outside/x").to_string_lossy().into_owned();
    let of_folder =
        [(&*inside, None), (&*inside_file, None), (&*inside_local, None), (&*outside, Some(Decision::Deny))];
    let (deny, ask) = (Some(Decision::Deny), Some(Decision::Ask));
    let fixed = [(HARMLESS, None), (HARMFUL, deny), (UNCLEAR, ask)];
    let fixed = fixed.iter().flat_map(|(paths, expected)| paths.iter().map(move |path| (*path, *expected)));
    for (path, expected) in fixed.chain(of_folder) {
        let found = check_paths(&[("path".to_owned(), path.to_owned())], &workspace.as_path().into());
        assert_eq!(found.as_ref().map(|(decision, _)| *decision), expected, "{path}: {found:?}");
    }
    let both = [("a".to_owned(), ".vscode/x".to_owned()), ("b".to_owned(), "/etc/x".to_owned())];
    let (decision, why) = check_paths(&both, &workspace.as_path().into()).unwrap();
    assert_eq!((decision, &*why), (Decision::Deny, "`b` leads out of the workspace folder"));
    assert!(check_paths(&both, &room.path().join("gone").into()).is_some());
    assert_eq!(check_paths(&[], &room.path().join("gone").into()), None);
}
