//! Tests of the rules about folders: which one decides, and the file they stand in.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::{Rule, Rules, TrustLevel, decide, lexical, remove_rule, set_rule};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::error::ErrorKind;
use crate::limits::TRUST_FILE_BYTES_MAX;

use TrustLevel::{Folder, Not, Parent};

/// What the rules say about a folder, without looking at any disk. Rules are about the folder they name, or the one above it.
fn says(rules: &[(&str, TrustLevel)], folder: &str) -> Option<TrustLevel> {
    let about: Vec<(PathBuf, TrustLevel)> = rules
        .iter()
        .map(|(path, level)| {
            let own = lexical(Path::new(path));
            let about = if *level == Parent { own.parent().unwrap_or(&own).to_owned() } else { own };
            (about, *level)
        })
        .collect();
    decide(&about, &lexical(Path::new(folder))).map(|index| rules[index].1)
}

/// Rules, a folder, and what they say about it.
type Case = (&'static [(&'static str, TrustLevel)], &'static str, Option<TrustLevel>);

#[test]
fn the_innermost_rule_decides() {
    let cases: &[Case] = &[
        (&[], "/p", None),
        // Each level on the folder itself, in it, beside it and above it.
        (&[("/p", Folder)], "/p", Some(Folder)),
        (&[("/p", Folder)], "/p/x/y", Some(Folder)),
        (&[("/p/x", Folder)], "/p", None),
        (&[("/p/x", Folder)], "/p/y", None),
        (&[("/p/x", Parent)], "/p/x", Some(Parent)),
        (&[("/p/x", Parent)], "/p/y/z", Some(Parent)),
        (&[("/p/x", Parent)], "/p", Some(Parent)),
        (&[("/p/x", Parent)], "/", None),
        (&[("/p", Not)], "/p/x", Some(Not)),
        // A name that only begins like another is another.
        (&[("/p/app", Folder)], "/p/application", None),
        (&[("/p/app", Folder)], "/p/ap", None),
        // The innermost wins, in whatever order they stand.
        (&[("/p", Folder), ("/p/x", Not)], "/p/x/y", Some(Not)),
        (&[("/p/x", Not), ("/p", Folder)], "/p/x/y", Some(Not)),
        (&[("/p", Not), ("/p/x", Folder)], "/p/x", Some(Folder)),
        (&[("/p", Not), ("/p/x", Folder)], "/p/y", Some(Not)),
        (&[("/p", Not), ("/p/x/y", Parent)], "/p/x", Some(Parent)),
        // What counts is the folder that a rule is about, not how long its own path is.
        (&[("/p/verylongchild", Parent), ("/p/x", Not)], "/p/x", Some(Not)),
        (&[("/p/x", Not), ("/p/verylongchild", Parent)], "/p/x/y", Some(Not)),
        (&[("/p/verylongchild", Parent), ("/p/x", Not)], "/p/y", Some(Parent)),
        (&[("/p/verylongchild", Parent), ("/p/verylongchild", Not)], "/p/verylongchild", Some(Not)),
        // Of two about the same folder the one that distrusts wins.
        (&[("/p", Folder), ("/p", Not)], "/p", Some(Not)),
        (&[("/p", Not), ("/p", Folder)], "/p", Some(Not)),
        (&[("/p/x", Parent), ("/p", Not)], "/p/x", Some(Not)),
        (&[("/p", Not), ("/p/x", Parent)], "/p/y", Some(Not)),
        (&[("/p/x", Parent), ("/p", Folder)], "/p", Some(Parent)),
        // The root is a folder too, and its own parent.
        (&[("/", Folder)], "/p/x", Some(Folder)),
        (&[("/", Parent)], "/p/x", Some(Parent)),
        (&[("/p", Parent)], "/q", Some(Parent)),
        (&[("/", Not), ("/p", Folder)], "/p/x", Some(Folder)),
        (&[("/", Not), ("/p", Folder)], "/q", Some(Not)),
        // Spellings of the same folder.
        (&[("/p/", Folder)], "/p", Some(Folder)),
        (&[("/p///x//", Not)], "/p/x", Some(Not)),
        (&[("/p/./x/../y", Folder)], "/p/y", Some(Folder)),
        (&[("/p/./x/../y", Folder)], "/p/x", None),
        (&[("/../../p", Folder)], "/p", Some(Folder)),
        (&[("/p", Folder)], "/p/x/..", Some(Folder)),
        (&[("/p/x", Folder)], "/p/x/../y", None),
        (&[("/项目/é", Folder)], "/项目/é/ü", Some(Folder)),
        (&[("/项目/é", Folder)], "/项目", None),
    ];
    for (rules, folder, expected) in cases {
        assert_eq!(says(rules, folder), *expected, "{folder} under {rules:?}");
    }
}

struct Room {
    folder: TempDir,
    env: HostEnv,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let dirs = HostDirs { user: root.join("user"), system: root.join("system"), home: Some(root.join("home")) };
        let env =
            HostEnv { vars: Default::default(), dirs, workspace: root.join("w").into(), clock: Arc::new(SystemClock) };
        for name in ["user", "w", "home/project", "p/x"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        Self { folder, env }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn file(&self) -> PathBuf {
        self.root().join("user/trustedFolders.json")
    }

    fn write(&self, text: &str) {
        fs::write(self.file(), text).unwrap();
    }

    fn name_file(&mut self, path: &str) {
        self.env.vars.insert("TOOLGATE_TRUSTED_FOLDERS_PATH".to_owned(), path.to_owned());
    }

    fn rules(&self) -> Vec<Rule> {
        Rules::read(&self.env).unwrap().all().to_vec()
    }

    fn says(&self, folder: &str) -> Option<TrustLevel> {
        let folder = self.root().join(folder);
        Rules::read(&self.env).unwrap().deciding(&folder).map(|rule| rule.level)
    }
}

#[test]
fn the_file_is_json_with_comments() {
    let room = Room::new();
    assert!(room.rules().is_empty(), "no file, no rules");
    room.write("\u{feff}// mine\n{\n  \"/a\": \"TRUST_FOLDER\", /* b */ \"/b\": \"TRUST_PARENT\",\n  \"~/project\": \"DO_NOT_TRUST\",\n}\n");
    let home = room.root().join("home/project");
    let expected = [
        Rule { path: "/a".into(), level: Folder },
        Rule { path: "/b".into(), level: Parent },
        Rule { path: home, level: Not },
    ];
    assert_eq!(room.rules(), expected);
    assert_eq!(room.says("home/project/x"), Some(Not));
    room.write("{}");
    assert!(room.rules().is_empty());
}

#[test]
fn what_is_not_such_a_file_names_itself() {
    let many = format!("{{{}}}", " ".repeat(TRUST_FILE_BYTES_MAX));
    let deep = "[".repeat(100_000);
    let cases = [
        ("", ":1:1: expected `{`: nothing is written in this file"),
        ("// only\n", ":1:1: expected `{`: nothing is written in this file"),
        ("[]", ":1:1: expected `{`: the file is one object of folders and levels"),
        ("\n\"x\"", ":2:1: expected `{`: the file is one object of folders and levels"),
        ("{\n \"/a\": \"TRUST\"\n}", ":2:8: \"/a\": expected \"TRUST_FOLDER\", \"TRUST_PARENT\" or \"DO_NOT_TRUST\""),
        ("{\n \"/a\": \"trust_folder\"\n}", ":2:8: \"/a\": expected \"TRUST_FOLDER\""),
        ("{\"/a\": true}", ":1:8: \"/a\": expected \"TRUST_FOLDER\""),
        ("{\"/a\": null}", ":1:8: \"/a\": expected \"TRUST_FOLDER\""),
        ("{\"/a\": {}}", ":1:8: \"/a\": expected \"TRUST_FOLDER\""),
        ("{\"\": \"TRUST_FOLDER\"}", ":1:2: \"\" is not an absolute path"),
        ("{\".\": \"TRUST_FOLDER\"}", ":1:2: \".\" is not an absolute path"),
        ("{\"a/b\": \"TRUST_FOLDER\"}", ":1:2: \"a/b\" is not an absolute path"),
        ("{\"/a\": \"TRUST_FOLDER\"", ":1:1: expected `}` at the end of the object"),
        ("{\"/a\": \"TRUST", ":1:8: expected `\"` at the end of the string"),
        ("{\"/a\0\": \"TRUST_FOLDER\"}", ":1:5: the control character U+0000"),
        (many.as_str(), ": larger than 4194304 bytes"),
        (deep.as_str(), ":1:65: more than 64 levels"),
    ];
    for (text, expected) in cases {
        let room = Room::new();
        room.write(text);
        let start: String = text.chars().take(40).collect();
        let error = Rules::read(&room.env).expect_err(&start);
        assert_eq!(error.kind(), ErrorKind::State, "{start}");
        let expected = format!("{}{expected}", room.file().display());
        assert!(error.to_string().starts_with(&expected), "{start}: {error}");
        assert!(error.hint().is_some(), "{start}");
        assert!(set_rule(&room.env, &room.env.workspace, Folder).is_err(), "{start}: nothing is lost by writing");
        assert_eq!(fs::read_to_string(room.file()).unwrap(), text, "{start}: it is untouched");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_none_names_itself() {
    use std::os::unix::fs::symlink;
    let room = Room::new();
    fs::create_dir(room.file()).unwrap();
    assert_eq!(Rules::read(&room.env).unwrap_err().kind(), ErrorKind::State);
    fs::remove_dir(room.file()).unwrap();
    symlink(room.file(), room.file()).unwrap();
    assert_eq!(Rules::read(&room.env).unwrap_err().kind(), ErrorKind::State, "a link to itself");
    fs::remove_file(room.file()).unwrap();
    symlink("nowhere.json", room.file()).unwrap();
    assert_eq!(Rules::read(&room.env).unwrap_err().kind(), ErrorKind::State, "a link to nothing");
}

#[test]
fn a_variable_names_another_file() {
    let mut room = Room::new();
    room.write("{\"/\": \"TRUST_FOLDER\"}");
    let other = room.root().join("other.json");
    fs::write(&other, "{\"/a\": \"DO_NOT_TRUST\"}").unwrap();
    room.name_file(other.to_str().unwrap());
    assert_eq!(room.rules(), [Rule { path: "/a".into(), level: Not }]);
    room.name_file("");
    assert_eq!(room.rules(), [Rule { path: "/".into(), level: Folder }]);
    room.name_file("other.json");
    let error = Rules::read(&room.env).unwrap_err();
    assert!(error.to_string().contains("TOOLGATE_TRUSTED_FOLDERS_PATH"), "a folder could bring its own rules: {error}");
}

#[cfg(unix)]
#[test]
fn links_lead_to_the_folder_that_is_meant() {
    use std::os::unix::fs::symlink;
    let room = Room::new();
    let root = room.root();
    symlink(root.join("p"), root.join("link")).unwrap();
    let trust = |path: &str, level: &str| room.write(&format!("{{\"{}\": \"{level}\"}}", root.join(path).display()));
    trust("p", "TRUST_FOLDER");
    assert_eq!(room.says("link/x"), Some(Folder), "the folder through a link");
    trust("link", "DO_NOT_TRUST");
    assert_eq!(room.says("p/x"), Some(Not), "the rule through a link");
    assert_eq!(room.says("w"), None);
    trust("link/x", "TRUST_PARENT");
    assert_eq!(room.says("p"), Some(Parent), "the folder above through a link");
    trust("w/gone/../../link", "DO_NOT_TRUST");
    assert_eq!(room.says("p"), Some(Not), "a path that is not there is read as it is written");
}

#[test]
fn rules_are_replaced_where_they_stand_and_the_rest_is_kept() {
    let room = Room::new();
    let root = room.root();
    let path = |below: &str| root.join(below).display().to_string();
    room.write(&format!(
        "// c\n{{\"/z\": \"TRUST_FOLDER\", \"{}\": \"TRUST_FOLDER\", \"/a\": \"DO_NOT_TRUST\"}}",
        path("p/x/")
    ));
    let replaced = set_rule(&room.env, &root.join("p/./x"), Not).unwrap();
    assert_eq!(replaced, [Rule { path: path("p/x/").into(), level: Folder }]);
    let expected = format!(
        "{{\n  \"/z\": \"TRUST_FOLDER\",\n  \"{}\": \"DO_NOT_TRUST\",\n  \"/a\": \"DO_NOT_TRUST\"\n}}\n",
        path("p/x")
    );
    assert_eq!(fs::read_to_string(room.file()).unwrap(), expected);
    assert!(set_rule(&room.env, &root.join("p/x"), Not).unwrap().is_empty(), "it is there already");
    // A new decision about a folder stands alone: an older one about it would outweigh it.
    set_rule(&room.env, &root.join("p"), Not).unwrap();
    let replaced = set_rule(&room.env, &root.join("p/x"), Parent).unwrap();
    assert_eq!(replaced.len(), 2, "{replaced:?}");
    assert_eq!(room.says("p"), Some(Parent));
    remove_rule(&room.env, &root.join("p/x")).unwrap();
    remove_rule(&room.env, Path::new("/none")).unwrap();
    let left: Vec<_> = room.rules().into_iter().map(|rule| rule.path).collect();
    assert_eq!(left, [PathBuf::from("/z"), PathBuf::from("/a")]);
    for path in left {
        remove_rule(&room.env, &path).unwrap();
    }
    assert_eq!(fs::read_to_string(room.file()).unwrap(), "{}\n");
}

#[cfg(unix)]
#[test]
fn the_file_is_the_persons_own() {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::PermissionsExt as _;
    let room = Room::new();
    fs::remove_dir(room.root().join("user")).unwrap();
    set_rule(&room.env, &room.env.workspace, Folder).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&room.file()), mode(&room.root().join("user"))), (0o600, 0o700));
    fs::set_permissions(room.file(), fs::Permissions::from_mode(0o644)).unwrap();
    set_rule(&room.env, &room.root().join("p"), Not).unwrap();
    assert_eq!(mode(&room.file()), 0o600, "also when it was readable for others");
    let odd = room.root().join(std::ffi::OsStr::from_bytes(b"odd-\xff"));
    fs::create_dir(&odd).unwrap();
    let error = set_rule(&room.env, &odd, Folder).unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
    assert_eq!(room.rules().len(), 2);
}

#[test]
fn decisions_made_at_once_are_all_kept() {
    let room = Room::new();
    std::thread::scope(|scope| {
        for number in 0..20 {
            let room = &room;
            scope.spawn(move || {
                let folder = room.root().join(format!("p/{number}"));
                fs::create_dir(&folder).unwrap();
                set_rule(&room.env, &folder, Folder).unwrap();
            });
        }
    });
    assert_eq!(room.rules().len(), 20);
}
