//! Revisions are stored once, bounded, private, and restored all or none.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Revisions;
use crate::env::{Clock, HostDirs, HostEnv};
use crate::limits::REVISIONS_MAX;

/// A clock that advances by a second at every reading.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        let room = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(room.at("")).unwrap();
        room
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("user").join(name)
    }

    fn revisions(&self) -> Revisions {
        let dirs = HostDirs { user: self.at(""), system: self.folder.path().join("system"), home: None };
        let workspace = self.folder.path().join("work");
        Revisions::open(&HostEnv {
            vars: BTreeMap::new(),
            dirs,
            workspace: workspace.into(),
            clock: Arc::new(Ticking::default()),
        })
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.at(name)).ok()
    }
}

#[test]
fn a_state_is_kept_once_and_nothing_is_made_where_there_is_none() {
    let room = Room::new();
    let revisions = room.revisions();
    assert_eq!((revisions.keep("a", None).unwrap(), revisions.list().unwrap()), (None, Vec::new()));
    assert!(!room.at("revisions").exists());
    room.write("settings.json", "{}");
    let first = revisions.keep("by hand", None).unwrap().unwrap();
    assert_eq!(revisions.keep("again", None).unwrap(), None);
    // Rewritten with the same text: the times differ, the content does not.
    room.write("settings.json", "{ }");
    room.write("settings.json", "{}");
    assert_eq!(revisions.keep("again", None).unwrap(), None);
    room.write("policies/a.toml", "# a");
    room.write("policies/.hidden.toml", "# it counts as well");
    room.write("policies/notes.txt", "# no");
    room.write("grants.toml", "version = 1");
    let second = revisions.keep("preset", Some("it is time")).unwrap().unwrap();
    assert_eq!(second.files.keys().collect::<Vec<_>>(), ["policies/.hidden.toml", "policies/a.toml", "settings.json"]);
    assert_eq!(second.beside.keys().collect::<Vec<_>>(), ["grants.toml"]);
    fs::remove_dir_all(room.at("policies")).unwrap();
    let third = revisions.keep("by hand", None).unwrap().unwrap();
    assert_eq!(third.id, first.id, "the same content has the same id");
    let listed: Vec<_> = revisions.list().unwrap().into_iter().map(|one| (one.cause, one.reason)).collect();
    let expected = [("by hand", None), ("preset", Some("it is time")), ("by hand", None)];
    assert_eq!(listed, expected.map(|(cause, reason)| (cause.to_owned(), reason.map(str::to_owned))));
    for (word, expected) in [(second.id.get(..4).unwrap(), true), (&second.id, true), ("", false), ("xyz", false)] {
        assert_eq!(revisions.find(word).is_ok_and(|one| one == second), expected, "{word}");
    }
}

#[test]
fn all_files_are_restored_and_what_was_allowed_is_not() {
    let room = Room::new();
    let revisions = room.revisions();
    room.write("settings.json", "{\"old\": 1}");
    room.write("policies/old.toml", "# old");
    room.write("policies/both.toml", "# before");
    room.write("grants.toml", "# granted then");
    let old = revisions.keep("x", None).unwrap().unwrap();
    room.write("settings.json", "{\"new\": 1}");
    fs::remove_file(room.at("policies/old.toml")).unwrap();
    room.write("policies/both.toml", "# after");
    room.write("policies/new.toml", "# new");
    room.write("grants.toml", "# revoked since");
    let restored = revisions.restore(&old.id, Some("back")).unwrap();
    let texts = ["settings.json", "policies/old.toml", "policies/both.toml", "policies/new.toml", "grants.toml"];
    let now = texts.map(|name| room.read(name));
    let expected = [Some("{\"old\": 1}"), Some("# old"), Some("# before"), None, Some("# revoked since")];
    assert_eq!(now, expected.map(|text| text.map(str::to_owned)));
    let causes: Vec<String> = revisions.list().unwrap().into_iter().map(|one| one.cause).collect();
    assert_eq!(
        causes,
        ["x".to_owned(), "changed by hand".to_owned(), format!("restore {}", old.id.get(..12).unwrap())]
    );
    // What was there before can be restored as well.
    revisions.restore(&restored.before.unwrap().id, None).unwrap();
    assert_eq!((room.read("policies/new.toml"), room.read("policies/old.toml")), (Some("# new".to_owned()), None));
    assert!(!room.at("revisions/restoring.json").exists());
}

#[test]
fn a_restoration_that_fails_changes_nothing_and_one_that_was_killed_is_ended() {
    let room = Room::new();
    let revisions = room.revisions();
    room.write("settings.json", "old");
    room.write("policies/z.toml", "old");
    let old = revisions.keep("x", None).unwrap().unwrap();
    room.write("settings.json", "new");
    room.write("policies/a.toml", "new");
    fs::remove_file(room.at("policies/z.toml")).unwrap();
    // A folder blocks the last file that is written.
    fs::create_dir(room.at("settings.json.lock")).unwrap();
    assert!(revisions.restore(&old.id, None).is_err());
    let states = |room: &Room| ["settings.json", "policies/a.toml", "policies/z.toml"].map(|name| room.read(name));
    assert_eq!(states(&room), [Some("new".to_owned()), Some("new".to_owned()), None]);
    fs::remove_dir(room.at("settings.json.lock")).unwrap();
    // A killed process left its marker and a part of the files.
    note(
        &room,
        &old.id,
        &[("settings.json", "new"), ("policies/a.toml", "new")],
        &[("settings.json", "old"), ("policies/z.toml", "old")],
    );
    room.write("policies/z.toml", "old");
    revisions.finish_interrupted().unwrap();
    assert_eq!(states(&room), [Some("old".to_owned()), None, Some("old".to_owned())]);
    revisions.finish_interrupted().unwrap();
    // Changed content is not restored.
    let content = room.at(&format!("revisions/contents/{}", old.files["settings.json"].hash));
    fs::write(content, "evil").unwrap();
    room.write("settings.json", "new");
    let error = revisions.restore(&old.id, None).unwrap_err().to_string();
    assert!(error.ends_with("was changed since it was saved"), "{error}");
    assert_eq!(room.read("settings.json").unwrap(), "new");
}

/// Writes the note of a restoration: the names and texts before and after.
fn note(room: &Room, revision: &str, before: &[(&str, &str)], after: &[(&str, &str)]) {
    let hashes = |files: &[(&str, &str)]| -> serde_json::Map<String, serde_json::Value> {
        files.iter().map(|(name, text)| ((*name).to_owned(), super::hash_of(text).into())).collect()
    };
    let note = serde_json::json!({"revision": revision, "before": hashes(before), "after": hashes(after)});
    room.write("revisions/restoring.json", &note.to_string());
}

#[test]
fn a_list_that_cannot_be_written_leaves_the_files_and_no_note() {
    let room = Room::new();
    let revisions = room.revisions();
    room.write("settings.json", "old");
    let old = revisions.keep("x", None).unwrap().unwrap();
    room.write("settings.json", "new");
    revisions.keep("y", None).unwrap().unwrap();
    let in_the_way = room.at(&format!("revisions/log.json.{}.new", std::process::id()));
    fs::create_dir(&in_the_way).unwrap();
    assert!(revisions.restore(&old.id, None).is_err());
    assert_eq!(room.read("settings.json").as_deref(), Some("new"));
    assert!(!room.at("revisions/restoring.json").exists());
    fs::remove_dir(in_the_way).unwrap();
    room.write("settings.json", "by hand");
    revisions.finish_interrupted().unwrap();
    assert_eq!(room.read("settings.json").as_deref(), Some("by hand"));
}

#[test]
fn an_interrupted_restoration_never_overwrites_an_edit() {
    type Case = (&'static str, fn(&Room, &str, &str), &'static str, bool, Option<&'static str>);
    let cases: [Case; 6] = [
        ("an edit since", |room, _, _| room.write("settings.json", "by hand"), "changed since", true, Some("by hand")),
        (
            "another file since",
            |room, _, _| room.write("policies/a.toml", "# mine"),
            "changed since",
            true,
            Some("new"),
        ),
        ("an empty note", |room, _, _| room.write("revisions/restoring.json", ""), "cannot be read", true, Some("new")),
        ("no object", |room, _, _| room.write("revisions/restoring.json", "7"), "cannot be read", true, Some("new")),
        ("its text is lost", |room, old, _| remove_content(room, old), "", true, Some("new")),
        (
            "both texts are lost",
            |room, old, new| {
                remove_content(room, old);
                remove_content(room, new);
            },
            "cannot be ended",
            false,
            Some("new"),
        ),
    ];
    for (what, change, message, is_told_once, expected) in cases {
        let room = Room::new();
        let revisions = room.revisions();
        room.write("settings.json", "old");
        let old = revisions.keep("x", None).unwrap().unwrap();
        room.write("settings.json", "new");
        let new = revisions.keep("y", None).unwrap().unwrap();
        note(&room, &old.id, &[("settings.json", "new")], &[("settings.json", "old")]);
        change(&room, &old.files["settings.json"].hash, &new.files["settings.json"].hash);
        let first = revisions.finish_interrupted().map_err(|error| error.to_string()).err().unwrap_or_default();
        assert!(first.contains(message) && first.is_empty() == message.is_empty(), "{what}: {first}");
        assert_eq!(revisions.finish_interrupted().is_ok(), is_told_once, "{what}");
        assert_eq!(room.read("settings.json").as_deref(), expected, "{what}");
        if !is_told_once {
            revisions.purge(|_, _| true).unwrap();
            revisions.finish_interrupted().unwrap();
        }
    }
}

fn remove_content(room: &Room, hash: &str) {
    fs::remove_file(room.at(&format!("revisions/contents/{hash}"))).unwrap();
}

#[test]
fn there_are_not_too_many_and_what_is_purged_is_gone() {
    let room = Room::new();
    let revisions = room.revisions();
    for nth in 0..REVISIONS_MAX + 5 {
        room.write("settings.json", &format!("{{\"nth\": {nth}, \"space\": \"{}\"}}", " ".repeat(nth)));
        revisions.keep("x", None).unwrap().unwrap();
    }
    let contents = || fs::read_dir(room.at("revisions/contents")).unwrap().count();
    assert_eq!((revisions.list().unwrap().len(), contents()), (REVISIONS_MAX, REVISIONS_MAX));
    let newest = revisions.list().unwrap().pop().unwrap();
    assert_eq!(revisions.purge(|nth, _| nth >= 3).unwrap().len(), REVISIONS_MAX - 3);
    assert_eq!((revisions.list().unwrap().pop(), contents()), (Some(newest), 3));
    assert_eq!(revisions.purge(|_, _| true).unwrap().len(), 3);
    assert_eq!((revisions.list().unwrap().len(), contents()), (0, 0));
    assert!(room.read("settings.json").is_some());
    assert!(revisions.keep("x", None).unwrap().is_some(), "what is in force is kept again before it changes");
}

#[test]
fn a_revision_is_laid_out_beside_what_there_is_and_is_gone_afterwards() {
    let room = Room::new();
    let revisions = room.revisions();
    room.write("settings.json", "old");
    room.write("extensions/e/toolgate-extension.json", "{}");
    let old = revisions.keep("x", None).unwrap().unwrap();
    room.write("settings.json", "new");
    room.write("policies/a.toml", "new");
    let laid_out = revisions.lay_out(&old).unwrap();
    let user = laid_out.env().dirs.user;
    assert_eq!(fs::read_to_string(user.join("settings.json")).unwrap(), "old");
    assert!(!user.join("policies/a.toml").exists() && user.join("extensions/e/toolgate-extension.json").exists());
    drop(laid_out);
    assert!(!user.exists() && room.at("extensions/e/toolgate-extension.json").exists());
}

#[cfg(unix)]
#[test]
fn everything_is_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let room = Room::new();
    let revisions = room.revisions();
    fs::create_dir_all(room.at("revisions/contents")).unwrap();
    for folder in ["revisions", "revisions/contents"] {
        fs::set_permissions(room.at(folder), fs::Permissions::from_mode(0o777)).unwrap();
    }
    room.write("settings.json", "{}");
    let revision = revisions.keep("x", None).unwrap().unwrap();
    let content = format!("revisions/contents/{}", revision.files["settings.json"].hash);
    let cases = [("revisions", 0o700), ("revisions/contents", 0o700), ("revisions/log.json", 0o600), (&content, 0o600)];
    for (name, expected) in cases.into_iter().chain([("revisions/head.json", 0o600)]) {
        let mode = fs::metadata(room.at(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, expected, "{name}");
    }
}
