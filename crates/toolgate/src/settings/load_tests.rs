//! Tests of the files of a run: which are read, and what is said of those that cannot be.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::{LoadOptions, SETTINGS_FILE, Settings, load};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::limits::{CONNECT_LIMIT_COUNT, CONNECT_LIMIT_MAX, SETTINGS_FILE_BYTES_MAX};
use crate::settings::raw::ToolNaming;
use crate::settings::{EnvExceptions, SettingsSource};

fn with(config: Option<&Path>) -> LoadOptions {
    LoadOptions { config: config.map(Path::to_owned), ..LoadOptions::default() }
}

struct Room {
    folder: TempDir,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("user")).unwrap();
        Self { folder }
    }

    fn env(&self) -> HostEnv {
        let root = self.folder.path();
        let dirs = HostDirs { user: root.join("user"), system: root.join("system"), home: None };
        HostEnv { vars: Default::default(), dirs, workspace: root.into(), clock: Arc::new(SystemClock) }
    }

    fn with_user(self, text: &str) -> Self {
        fs::write(self.folder.path().join("user").join(SETTINGS_FILE), text).unwrap();
        self
    }

    /// What is wrong with the one broken file, without the folder, and its hint.
    fn complaint(&self, config: Option<&str>) -> (String, String) {
        let settings = load(&self.env(), &with(config.map(Path::new)));
        let [error] = settings.broken.as_slice() else { panic!("{settings:?}") };
        assert_eq!(sources(&settings), [SettingsSource::BuiltIn], "the other layers are there");
        let root = format!("{}/", self.folder.path().display());
        (error.to_string().replace(&root, ""), error.hint().unwrap_or_default().to_owned())
    }
}

fn sources(settings: &Settings) -> Vec<SettingsSource> {
    settings.layers.iter().map(|layer| layer.source).collect()
}

#[test]
fn each_part_of_the_search_for_tools_has_its_default() {
    use crate::settings::{SearchMode, ToolSearchSettings};
    let meant = |mode, threshold, pinned: &[&str]| ToolSearchSettings {
        mode,
        threshold,
        pinned: pinned.iter().map(|name| (*name).to_owned()).collect(),
    };
    let cases = [
        ("{}", meant(SearchMode::Auto, None, &[])),
        (r#"{"tools": {"search": {}}}"#, meant(SearchMode::Auto, None, &[])),
        (
            r#"{"tools": {"search": {"mode": "on", "threshold": 40, "pinned": ["a", "b__c"]}}}"#,
            meant(SearchMode::On, Some(40), &["a", "b__c"]),
        ),
        (r#"{"tools": {"search": {"mode": "off", "pinned": "a"}}}"#, meant(SearchMode::Off, None, &["a"])),
        (r#"{"tools": {"search": {"mode": "maybe", "threshold": "x"}}}"#, meant(SearchMode::Auto, None, &[])),
    ];
    for (text, expected) in cases {
        let room = Room::new().with_user(text);
        assert_eq!(load(&room.env(), &LoadOptions::default()).tool_search(), expected, "{text}");
    }
}

#[test]
fn a_named_file_stands_alone_above_the_built_in_layer() {
    let room = Room::new();
    assert_eq!(sources(&load(&room.env(), &LoadOptions::default())), [SettingsSource::BuiltIn]);
    let room = room.with_user(r#"{"tools": {"naming": "qualified"}}"#);
    let settings = load(&room.env(), &LoadOptions::default());
    assert_eq!(sources(&settings), [SettingsSource::BuiltIn, SettingsSource::User]);
    assert_eq!(settings.naming(), ToolNaming::Qualified);
    fs::write(room.folder.path().join("c.json"), "{}").unwrap();
    let absolute = room.folder.path().join("c.json");
    for config in [Path::new("c.json"), &absolute] {
        let settings = load(&room.env(), &with(Some(config)));
        assert_eq!(sources(&settings), [SettingsSource::BuiltIn, SettingsSource::CommandLine]);
        assert_eq!(settings.naming(), ToolNaming::Short);
        assert_eq!(settings.layers[1].path.as_deref(), Some(absolute.as_path()));
    }
    let built_in = &settings.layers[0].settings.mcp_servers;
    assert_eq!((built_in.len(), built_in[0].name.value.as_str()), (1, "workspace"));
}

#[test]
fn files_that_cannot_be_read_name_themselves() {
    let readable = "make it a file that you may read, or remove it";
    let room = Room::new();
    assert_eq!(
        room.complaint(Some("none.json")),
        ("none.json: no such file".to_owned(), "check the path given with `--config`".to_owned())
    );
    fs::create_dir(room.folder.path().join("user").join(SETTINGS_FILE)).unwrap();
    let folder = ("user/settings.json: a folder, not a settings file".to_owned(), readable.to_owned());
    assert_eq!(room.complaint(None), folder);

    let room = Room::new().with_user("{\"a\": \n\"\u{e9}\"}");
    fs::write(room.folder.path().join("user").join(SETTINGS_FILE), b"{\"a\": \n\"\xe9\"}").unwrap();
    let not_utf8 = ("user/settings.json:2:2: not UTF-8 text".to_owned(), "save it as UTF-8".to_owned());
    assert_eq!(room.complaint(None), not_utf8);

    let room = Room::new().with_user(&" ".repeat(SETTINGS_FILE_BYTES_MAX + 1));
    let too_large = "user/settings.json: larger than 4 MiB, the most a settings file may have".to_owned();
    assert_eq!(room.complaint(None), (too_large, "check that this is the file you mean".to_owned()));

    let room = Room::new().with_user("{\"mcpServers\": {");
    let (message, hint) = room.complaint(None);
    assert_eq!(message, "user/settings.json:1:16: expected `}` at the end of the object that starts here");
    assert_eq!(hint, "the file ends before it");
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_and_special_files() {
    let room = Room::new();
    let file = room.folder.path().join("user").join(SETTINGS_FILE);
    std::os::unix::fs::symlink(&file, &file).unwrap();
    let (message, _) = room.complaint(None);
    assert!(message.starts_with("user/settings.json: cannot be read: "), "{message}");

    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    assert_eq!(room.complaint(None).0, "user/settings.json: cannot be read: not a regular file");
    assert_eq!(room.complaint(Some("/dev/zero")).0, "/dev/zero: larger than 4 MiB, the most a settings file may have");

    // A home that is no folder has no settings.
    let mut env = room.env();
    env.dirs.user = "/dev/null/.toolgate".into();
    assert!(load(&env, &LoadOptions::default()).broken.is_empty());
}

#[test]
fn values_for_all_servers_have_defaults_and_bounds() {
    let limits = [
        ("{}", CONNECT_LIMIT_COUNT),
        (r#"{"mcp": {"connectLimit": 3}}"#, 3),
        (r#"{"mcp": {"connectLimit": 0}}"#, 1),
        (r#"{"mcp": {"connectLimit": -5}}"#, 1),
        (r#"{"mcp": {"connectLimit": 1e30}}"#, CONNECT_LIMIT_MAX),
    ];
    for (text, expected) in limits {
        assert_eq!(
            load(&Room::new().with_user(text).env(), &LoadOptions::default()).connect_limit(),
            expected,
            "{text}"
        );
    }
    let thresholds = [("{}", None), ("40000", Some(40_000)), ("0", Some(0)), ("-1", Some(0))];
    for (number, expected) in thresholds {
        let text = match number {
            "{}" => number.to_owned(),
            number => format!(r#"{{"tools": {{"truncateToolOutputThreshold": {number}}}}}"#),
        };
        assert_eq!(
            load(&Room::new().with_user(&text).env(), &LoadOptions::default()).output_threshold_chars(),
            expected,
            "{text}"
        );
    }
    let text = r#"{"security": {"environmentVariableRedaction": {"allowed": ["A"], "blocked": ["B", "C"]}}}"#;
    let exceptions = load(&Room::new().with_user(text).env(), &LoadOptions::default()).env_exceptions();
    let expected = EnvExceptions {
        allowed: vec!["A".to_owned()],
        blocked: vec!["B".to_owned(), "C".to_owned()],
        ..EnvExceptions::default()
    };
    assert_eq!(exceptions, expected);
}
