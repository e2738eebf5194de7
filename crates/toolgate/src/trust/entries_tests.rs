//! Tests of the record of a trusted folder's servers: what counts as a change, and what becomes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::{
    Compared, EntryChange, compare, confirm, confirm_all, fingerprint, forget, is_env_file_confirmed, record_first_use,
};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::error::ErrorKind;
use crate::settings::raw::{RawEntry, RawServer};
use crate::settings::read::read_text;
use crate::settings::source::{Extension, SettingsLayer, SettingsSource, Variables};
use crate::settings::{Brought, Settings};

fn layer(text: &str) -> SettingsLayer {
    let path = Path::new("/w/.toolgate/settings.json");
    read_text(text, path, SettingsSource::Workspace).unwrap()
}

fn server(entry: &str) -> RawServer {
    let layer = layer(&format!("{{\"mcpServers\": {{\"s\": {entry}}}}}"));
    match &layer.settings.mcp_servers[0].entry {
        RawEntry::Server(server) => (**server).clone(),
        RawEntry::Broken(reason) => panic!("{entry}: {reason}"),
    }
}

fn of_extension(name: &str, text: &str) -> SettingsLayer {
    let folder = PathBuf::from("/w/.toolgate/extensions").join(name);
    let extension = Extension {
        name: name.to_owned(),
        version: "1".to_owned(),
        manifest: folder.join("toolgate-extension.json"),
        folder,
        exclude_tools: Vec::new(),
        variables: Variables::default(),
        is_of_workspace: true,
    };
    SettingsLayer { source: SettingsSource::Extension, extension: Some(Arc::new(extension)), ..layer(text) }
}

#[test]
fn what_decides_about_a_server_changes_its_hash_and_what_tunes_it_does_not() {
    let base = r#""command": "npx", "args": ["-y", "s"], "env": {"A": "1", "B": "2"}, "cwd": "x", "trust": false"#;
    let whole = |more: &str| fingerprint(&server(&format!("{{{base}{more}}}")));
    // Records outlive the program that wrote them.
    assert_eq!(whole(""), "sha256:f5cb9b1a3112a6e84e5b2af1aaf5eb4fd5a78536a4266268b08e4fc944b2b475");
    let same = [
        r#"{"trust": false, "cwd": "x", "env": {"B": "2", "A": "1"}, "args": ["-y", "s"], "command": "npx"}"#,
        r#"{"command": "n\u0070x", /* c */ "args": ["-y", "s",], "env": {"A": "1", "B": "2"}, "cwd": "x", "trust": false}"#,
    ];
    for entry in same {
        assert_eq!(fingerprint(&server(entry)), whole(""), "{entry}");
    }
    let tuned = [
        r#", "description": "d""#,
        r#", "timeout": 5000"#,
        r#", "connectTimeout": 5000"#,
        r#", "maxDuration": 5000"#,
        r#", "maxConcurrency": 2"#,
        r#", "onBusy": "reject""#,
        r#", "start": "lazy""#,
    ];
    for more in tuned {
        assert_eq!(whole(more), whole(""), "{more}");
    }
    let changed = [
        r#"{"command": "npx", "args": ["-y s"], "env": {"A": "1", "B": "2"}, "cwd": "x", "trust": false}"#,
        r#"{"command": "npx", "args": ["s", "-y"], "env": {"A": "1", "B": "2"}, "cwd": "x", "trust": false}"#,
        r#"{"command": "npx", "args": ["-y", "s", ""], "env": {"A": "1", "B": "2"}, "cwd": "x", "trust": false}"#,
        r#"{"command": "npx", "args": ["-y", "s"], "env": {"A": "2", "B": "1"}, "cwd": "x", "trust": false}"#,
        r#"{"command": "npx", "args": ["-y", "s"], "env": {"A": "1"}, "cwd": "x", "trust": false}"#,
        r#"{"command": "npx", "args": ["-y", "s"], "env": {"A": "1", "B": "2"}, "cwd": "y", "trust": false}"#,
        r#"{"command": "npx", "args": ["-y", "s"], "env": {"A": "1", "B": "2"}, "cwd": "x", "trust": true}"#,
        r#"{"command": "npm", "args": ["-y", "s"], "env": {"A": "1", "B": "2"}, "cwd": "x", "trust": false}"#,
        r#"{"command": "npx", "env": {"A": "1", "B": "2"}, "cwd": "x", "trust": false}"#,
    ];
    let mut seen = BTreeSet::from([whole("")]);
    for entry in changed {
        assert!(seen.insert(fingerprint(&server(entry))), "{entry}");
    }
    let added = [
        r#", "url": "http://a""#,
        r#", "httpUrl": "http://a""#,
        r#", "headers": {"A": "1"}"#,
        r#", "type": "http""#,
        r#", "type": "sse""#,
        r#", "tcp": "a""#,
        r#", "builtin": "workspace""#,
        r#", "includeTools": []"#,
        r#", "includeTools": ["a"]"#,
        r#", "excludeTools": ["a"]"#,
        r#", "oauth": {"enabled": true, "scopes": ["a", "b"]}"#,
        r#", "oauth": {"enabled": true, "scopes": ["a b"]}"#,
        r#", "oauth": {"enabled": false, "scopes": ["a", "b"]}"#,
        r#", "oauth": {"tokenUrl": "http://a"}"#,
        r#", "oauth": {"tokenUrl": "http://b"}"#,
        r#", "headersHelper": "a""#,
        r#", "headersHelper": "b""#,
        r#", "authProviderType": "google_credentials""#,
        r#", "targetAudience": "a""#,
        r#", "targetServiceAccount": "a""#,
    ];
    for more in added {
        assert!(seen.insert(whole(more)), "{more}");
    }
    let reordered = whole(r#", "oauth": {"scopes": ["a", "b"], "enabled": true}"#);
    assert!(seen.contains(&reordered), "the order of keys means nothing");
}

struct Room {
    _folder: TempDir,
    env: HostEnv,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("w")).unwrap();
        let dirs = HostDirs { user: root.join("user"), system: root.join("system"), home: None };
        let env =
            HostEnv { vars: Default::default(), dirs, workspace: root.join("w").into(), clock: Arc::new(SystemClock) };
        Self { _folder: folder, env }
    }

    fn file(&self) -> PathBuf {
        self.env.dirs.user.join("trusted-entries.json")
    }

    /// What changed, as `name: how`.
    fn changes(&self, settings: &Settings) -> Vec<String> {
        let changes = used(&self.env, &self.env.workspace, settings);
        changes.iter().map(|(name, change)| format!("{name}: {}", change.as_str())).collect()
    }
}

/// What changed since what the folder brings was used for the first time, which may be now.
fn used(env: &HostEnv, workspace: &Path, settings: &Settings) -> BTreeMap<String, EntryChange> {
    match compare(env, workspace, settings).unwrap() {
        Compared::Recorded(changes) => changes,
        Compared::Unrecorded => {
            record_first_use(env, workspace, settings).unwrap();
            BTreeMap::new()
        }
    }
}

fn settings(layers: Vec<SettingsLayer>) -> Settings {
    let brought = Brought { folder: Some("/w/.toolgate".into()), layers, ..Brought::default() };
    Settings { brought, ..Settings::default() }
}

fn with(entries: &str) -> Settings {
    settings(vec![layer(&format!("{{\"mcpServers\": {{{entries}}}}}"))])
}

const NONE: [&str; 0] = [];

#[test]
fn the_first_use_records_and_later_changes_are_noticed() {
    let room = Room::new();
    let first = with(r#""a": {"command": "x"}, "b": {"url": "http://b"}"#);
    assert_eq!(room.changes(&first), NONE, "taken as they are");
    assert_eq!(room.changes(&first), NONE);
    let later = with(r#""a": {"command": "evil"}, "c": {"command": "y"}"#);
    assert_eq!(room.changes(&later), ["a: changed", "c: new"]);
    assert_eq!(room.changes(&later), ["a: changed", "c: new"], "looking does not confirm");
    confirm(&room.env, &room.env.workspace, &later, &["c".to_owned()].into()).unwrap();
    assert_eq!(room.changes(&later), ["a: changed"]);
    assert_eq!(room.changes(&first), ["b: new"], "what was gone is forgotten; what was not confirmed is as before");
    confirm_all(&room.env, &room.env.workspace, &later).unwrap();
    assert_eq!(room.changes(&later), NONE);
    forget(&room.env, &room.env.workspace).unwrap();
    assert_eq!(room.changes(&first), NONE, "the first use again");
}

#[test]
fn a_folder_trusted_when_it_had_no_servers_is_asked_about_all() {
    let room = Room::new();
    confirm_all(&room.env, &room.env.workspace, &settings(Vec::new())).unwrap();
    assert_eq!(room.changes(&with(r#""a": {"command": "x"}"#)), ["a: new"]);
}

#[test]
fn nothing_is_recorded_when_the_settings_of_the_folder_are_not_read() {
    let room = Room::new();
    assert_eq!(room.changes(&settings(Vec::new())), NONE);
    assert!(!room.file().exists());
}

#[test]
fn layers_in_force_count_like_those_that_are_not() {
    let room = Room::new();
    let mut now = with(r#""a": {"command": "x"}"#);
    assert_eq!(room.changes(&now), NONE);
    now.layers = std::mem::take(&mut now.brought.layers);
    assert_eq!(room.changes(&now), NONE);
    let own = SettingsLayer { source: SettingsSource::User, ..layer(r#"{"mcpServers": {"mine": {"command": "x"}}}"#) };
    now.layers.push(own);
    assert_eq!(room.changes(&now), NONE, "the person's own are none of it");
}

#[test]
fn extensions_and_broken_entries_count_too() {
    let room = Room::new();
    let entry = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
    let same_name = settings(vec![layer(entry), of_extension("one", entry)]);
    assert_eq!(room.changes(&same_name), NONE);
    assert_eq!(room.changes(&settings(vec![layer(entry)])), ["a: changed"], "an extension had a say in it");
    assert_eq!(room.changes(&settings(vec![layer(entry), of_extension("two", entry)])), ["a: changed"]);
    let room = Room::new();
    assert_eq!(room.changes(&with(r#""a": {"command": 1}"#)), NONE);
    assert_eq!(room.changes(&with(r#""a": {"command": "x"}"#)), ["a: changed"], "a broken entry that works now");
}

#[test]
fn each_folder_has_its_own_record() {
    let room = Room::new();
    let one = with(r#""a": {"command": "x"}"#);
    assert_eq!(room.changes(&one), NONE);
    let other = room.env.dirs.user.parent().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    let changed = with(r#""a": {"command": "y"}"#);
    assert!(used(&room.env, &other, &changed).is_empty());
    assert_eq!(room.changes(&changed), ["a: changed"]);
    #[cfg(unix)]
    {
        let link = room.env.dirs.user.parent().unwrap().join("link");
        std::os::unix::fs::symlink(&room.env.workspace, &link).unwrap();
        let changes = used(&room.env, &link, &changed);
        assert_eq!(changes.get("a"), Some(&EntryChange::Changed), "the same folder through a link");
    }
}

#[test]
fn a_record_that_cannot_be_read_is_an_error() {
    let room = Room::new();
    let now = with(r#""a": {"command": "x"}"#);
    fs::create_dir(&room.env.dirs.user).unwrap();
    for text in [
        "",
        "[]",
        "{\"version\": 2, \"workspaces\": {}}",
        "{\"version\": 1}",
        "{\"version\": 1, \"workspaces\": {}, \"x\": 1}",
    ] {
        fs::write(room.file(), text).unwrap();
        let error = compare(&room.env, &room.env.workspace, &now).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::State, "{text}");
        assert!(error.to_string().contains("trusted-entries.json"), "{text}: {error}");
        assert!(confirm_all(&room.env, &room.env.workspace, &now).is_err(), "{text}");
        assert_eq!(fs::read_to_string(room.file()).unwrap(), text);
    }
}

#[test]
fn what_cannot_be_recorded_is_said_and_used() {
    let mut room = Room::new();
    let in_the_way = room.env.workspace.join("file");
    fs::write(&in_the_way, "").unwrap();
    room.env.dirs.user = in_the_way.join("user");
    let note = record_first_use(&room.env, &room.env.workspace, &with(r#""a": {"command": "x"}"#));
    let note = note.unwrap_err().to_string();
    assert!(note.contains("cannot be recorded"), "{note}");
}

#[cfg(unix)]
#[test]
fn the_record_is_the_persons_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let room = Room::new();
    assert_eq!(room.changes(&with(r#""a": {"command": "x", "env": {"TOKEN": "sesame"}}"#)), NONE);
    assert_eq!(fs::metadata(room.file()).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(room.file()).unwrap();
    assert!(text.contains("\"version\": 1") && text.contains("sha256:") && !text.contains("sesame"), "{text}");
}

#[test]
fn the_variables_of_the_project_are_recorded_too() {
    let room = Room::new();
    let file = room.env.workspace.join(".env");
    let now = |text: Option<&str>| {
        let mut settings = with(r#""a": {"command": "$RUN"}"#);
        settings.brought.env_file = text.map(|text| {
            fs::write(&file, text).unwrap();
            file.clone()
        });
        settings
    };
    assert_eq!(room.changes(&now(Some("RUN=one\n"))), NONE);
    assert!(is_env_file_confirmed(&room.env, &room.env.workspace, &file));
    assert_eq!(room.changes(&now(Some("RUN=two\n"))), ["./.env: changed"]);
    assert!(!is_env_file_confirmed(&room.env, &room.env.workspace, &file));
    assert_eq!(room.changes(&now(None)), NONE);
    confirm_all(&room.env, &room.env.workspace, &now(None)).unwrap();
    assert_eq!(room.changes(&now(Some("RUN=one\n"))), ["./.env: new"]);
}
