//! Tests of the gate: what passes in which folder, whatever set of servers is handed in.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::admit;
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::error::ErrorKind;
use crate::servers::{ServerConfig, ServerName, ServerSet, StartLimit, StdioConfig, TransportConfig};
use crate::settings::raw::{OnBusy, StartMode};
use crate::settings::read::read_text;
use crate::settings::source::{Extension, SettingsOrigin, SettingsSource, Variables};
use crate::settings::{Brought, Settings};
use crate::trust::{TrustLevel, confirm_all, judge, set_rule};

fn server(name: &str, source: SettingsSource, path: &str) -> ServerConfig {
    let stdio = StdioConfig {
        command: "true".to_owned(),
        args: Vec::new(),
        env: Default::default(),
        inherit_env: Vec::new(),
        cwd: None,
    };
    ServerConfig {
        name: ServerName::new(name).unwrap(),
        transport: TransportConfig::Stdio(stdio),
        call_timeout: Duration::from_secs(1),
        max_duration: None,
        connect_timeout: Duration::from_secs(1),
        start_limit: StartLimit::of(None, None),
        max_concurrency: 1,
        on_busy: OnBusy::Queue,
        start: StartMode::Auto,
        trust: false,
        description: None,
        include_tools: None,
        replaces_own: false,
        exclude_tools: Vec::new(),
        strict: None,
        origin: SettingsOrigin { source, path: Some(PathBuf::from(path)), line: Some(1) },
        extension: None,
    }
}

/// One of each origin, as a careless caller would hand them in.
fn every_kind() -> ServerSet {
    let mut changed_by_person = server("merged", SettingsSource::User, "/home/.toolgate/settings.json");
    let folder = PathBuf::from("/elsewhere/extension");
    changed_by_person.extension = Some(Arc::new(Extension {
        name: "brought".to_owned(),
        version: "1".to_owned(),
        manifest: folder.join("toolgate-extension.json"),
        folder,
        exclude_tools: Vec::new(),
        variables: Variables::default(),
        is_of_workspace: true,
    }));
    let active = vec![
        server("mine", SettingsSource::User, "/home/.toolgate/settings.json"),
        server("installed", SettingsSource::Extension, "/home/.toolgate/extensions/e/toolgate-extension.json"),
        server("brought", SettingsSource::Workspace, "/w/.toolgate/settings.json"),
        server("strayed", SettingsSource::Workspace, "/somewhere/settings.json"),
        server("carried", SettingsSource::Extension, "/w/.toolgate/extensions/e/toolgate-extension.json"),
        changed_by_person,
    ];
    ServerSet { active: active.into_iter().map(Arc::new).collect(), ..ServerSet::default() }
}

fn settings(own: &str) -> Settings {
    let person = read_text(own, Path::new("/home/.toolgate/settings.json"), SettingsSource::User).unwrap();
    let text = r#"{"mcpServers": {"brought": {"command": "x"}, "strayed": {"command": "x"}}}"#;
    let layer = read_text(text, Path::new("/w/.toolgate/settings.json"), SettingsSource::Workspace).unwrap();
    let brought = Brought { folder: Some("/w/.toolgate".into()), layers: vec![layer], ..Brought::default() };
    Settings { layers: vec![person], brought, ..Settings::default() }
}

#[test]
fn only_what_may_start_passes() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("w")).unwrap();
    let dirs = HostDirs { user: root.join("user"), system: root.join("system"), home: None };
    let env =
        HostEnv { vars: Default::default(), dirs, workspace: root.join("w").into(), clock: Arc::new(SystemClock) };
    let passing = |own: &str, this_run: Option<bool>| -> Result<Vec<String>, ErrorKind> {
        let folder = judge(&env, &settings(own), this_run).unwrap();
        let admitted = admit(&every_kind(), &folder).map_err(|error| error.kind())?;
        Ok(admitted.iter().map(|server| server.name.to_string()).collect())
    };
    let names = |names: &[&str]| Ok(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
    let relaxed = r#"{"security": {"folderTrust": {"userServers": true}}}"#;
    let everything = ["mine", "installed", "brought", "strayed", "carried", "merged"];
    assert_eq!(passing("{}", None), Err(ErrorKind::Untrusted), "undecided");
    assert_eq!(passing("{}", Some(false)), Err(ErrorKind::Untrusted));
    assert_eq!(passing("{}", Some(true)), names(&everything));
    assert_eq!(passing(relaxed, None), names(&["mine", "installed"]), "the person's own");
    assert_eq!(passing(relaxed, Some(false)), names(&["mine", "installed"]));
    assert_eq!(passing(relaxed, Some(true)), names(&everything));
    set_rule(&env, &env.workspace, TrustLevel::Not).unwrap();
    assert_eq!(passing("{}", None), Err(ErrorKind::Untrusted));
    assert_eq!(passing(relaxed, None), names(&["mine", "installed"]));
    // Trusted by a rule, but with something else in the record.
    set_rule(&env, &env.workspace, TrustLevel::Folder).unwrap();
    confirm_all(&env, &env.workspace, &Settings::default()).unwrap();
    assert_eq!(passing("{}", None), names(&["mine", "installed", "carried", "merged"]), "two are new");
    assert_eq!(passing("{}", Some(true)), names(&everything), "this run asks about nothing");
}

#[test]
fn the_refusal_says_who_decided_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let dirs = HostDirs { user: root.join("user"), system: root.join("system"), home: None };
    let env = HostEnv { vars: Default::default(), dirs, workspace: root.clone().into(), clock: Arc::new(SystemClock) };
    let refusal = |this_run| {
        let folder = judge(&env, &settings("{}"), this_run).unwrap();
        let error = admit(&every_kind(), &folder).unwrap_err();
        assert!(error.hint().unwrap().contains("toolgate trust") && error.hint().unwrap().contains("--trust-folder"));
        error.to_string().replace(&root.display().to_string(), "ROOT")
    };
    assert_eq!(refusal(None), "the folder ROOT is not trusted, so nothing is started");
    assert_eq!(refusal(Some(false)), "the folder ROOT is not trusted in this run, so nothing is started");
    set_rule(&env, &root, TrustLevel::Not).unwrap();
    assert_eq!(
        refusal(None),
        "the folder ROOT is not trusted (the rule for ROOT says DO_NOT_TRUST), so nothing is started"
    );
}
