//! Tests of the decision about a folder: who is heard, in which order, and what each of them means.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::{DecidedBy, FolderTrust, judge, trusts_env_file};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::error::ErrorKind;
use crate::settings::read::read_text;
use crate::settings::source::SettingsSource;
use crate::settings::{Brought, Settings};

use FolderTrust::{Trusted, Undecided, Untrusted};

/// Everybody who may have something to say.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    flag: Option<bool>,
    variable: Option<&'static str>,
    switch: Option<bool>,
    editor: Option<&'static str>,
    rule: Option<&'static str>,
    brings_nothing: bool,
}

fn world(said: Said) -> (tempfile::TempDir, HostEnv, Settings) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("user")).unwrap();
    fs::create_dir_all(root.join("w")).unwrap();
    let dirs = HostDirs { user: root.join("user"), system: root.join("system"), home: None };
    let mut env =
        HostEnv { vars: Default::default(), dirs, workspace: root.join("w").into(), clock: Arc::new(SystemClock) };
    for (name, value) in [("TOOLGATE_TRUST_WORKSPACE", said.variable), ("TOOLGATE_IDE_TRUST", said.editor)] {
        env.vars.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    }
    if let Some(level) = said.rule {
        let text = format!("{{\"{}\": \"{level}\"}}", root.join("w").display());
        fs::write(root.join("user/trustedFolders.json"), text).unwrap();
    }
    let text = said
        .switch
        .map_or("{}".to_owned(), |on| format!("{{\"security\": {{\"folderTrust\": {{\"enabled\": {on}}}}}}}"));
    let person = read_text(&text, Path::new("/u/settings.json"), SettingsSource::User).unwrap();
    // What the folder says about trust counts for nothing.
    let text = r#"{"security": {"folderTrust": {"enabled": false, "userServers": true}}}"#;
    let own = read_text(text, Path::new("/w/.toolgate/settings.json"), SettingsSource::Workspace).unwrap();
    let brought = if said.brings_nothing {
        Brought::default()
    } else {
        Brought { folder: Some("/w/.toolgate".into()), layers: vec![own], ..Brought::default() }
    };
    (folder, env, Settings { layers: vec![person], brought, ..Settings::default() })
}

fn decision(said: Said) -> (FolderTrust, &'static str) {
    let (_folder, env, settings) = world(said);
    let folder = judge(&env, &settings, said.flag).unwrap();
    assert_eq!(folder.lets_own_servers_start(), folder.is_trusted(), "{said:?}");
    (folder.trust(), folder.by().as_str())
}

#[test]
fn the_first_who_has_something_to_say_decides() {
    let nobody = Said::default();
    let all_against = Said {
        flag: Some(false),
        variable: Some("false"),
        switch: Some(true),
        editor: Some("untrusted"),
        rule: Some("DO_NOT_TRUST"),
        brings_nothing: false,
    };
    let cases = [
        (nobody, Undecided, "nobody"),
        (all_against, Untrusted, "this-run"),
        (Said { flag: Some(true), ..all_against }, Trusted, "this-run"),
        (Said { flag: Some(true), variable: Some("false"), ..nobody }, Trusted, "this-run"),
        (Said { flag: Some(false), variable: Some("true"), ..nobody }, Untrusted, "this-run"),
        (Said { flag: None, variable: Some("true"), ..all_against }, Trusted, "this-run"),
        (Said { flag: None, ..all_against }, Untrusted, "this-run"),
        (Said { variable: Some("false"), switch: Some(false), ..nobody }, Untrusted, "this-run"),
        (Said { flag: None, variable: None, switch: Some(false), ..all_against }, Trusted, "switched-off"),
        (Said { flag: None, variable: Some(""), switch: Some(false), ..all_against }, Trusted, "switched-off"),
        (Said { flag: None, variable: None, ..all_against }, Untrusted, "editor"),
        // An editor does not lift the person's denial.
        (Said { flag: None, variable: None, editor: Some("trusted"), ..all_against }, Untrusted, "rule"),
        (Said { editor: Some("trusted"), ..nobody }, Trusted, "editor"),
        (Said { editor: Some("trusted"), rule: Some("TRUST_FOLDER"), ..nobody }, Trusted, "editor"),
        (Said { editor: Some("untrusted"), rule: Some("TRUST_FOLDER"), ..nobody }, Untrusted, "editor"),
        (Said { editor: Some(""), rule: Some("TRUST_FOLDER"), ..nobody }, Trusted, "rule"),
        (Said { rule: Some("TRUST_FOLDER"), ..nobody }, Trusted, "rule"),
        (Said { rule: Some("TRUST_PARENT"), ..nobody }, Trusted, "rule"),
        (Said { rule: Some("DO_NOT_TRUST"), ..nobody }, Untrusted, "rule"),
        (Said { switch: Some(true), ..nobody }, Undecided, "nobody"),
    ];
    for (said, trust, by) in cases {
        assert_eq!(decision(said), (trust, by), "{said:?}");
    }
}

#[test]
fn a_folder_that_brings_nothing_needs_no_decision_but_can_be_distrusted() {
    let nothing = Said { brings_nothing: true, ..Said::default() };
    let cases = [
        (nothing, Trusted, "nothing-brought"),
        (Said { editor: Some("untrusted"), ..nothing }, Trusted, "nothing-brought"),
        (Said { editor: Some("trusted"), ..nothing }, Trusted, "editor"),
        (Said { variable: Some("false"), ..nothing }, Untrusted, "this-run"),
        (Said { flag: Some(false), ..nothing }, Untrusted, "this-run"),
        (Said { rule: Some("DO_NOT_TRUST"), ..nothing }, Untrusted, "rule"),
        (Said { editor: Some("untrusted"), rule: Some("DO_NOT_TRUST"), ..nothing }, Untrusted, "rule"),
        (Said { rule: Some("TRUST_FOLDER"), ..nothing }, Trusted, "rule"),
    ];
    for (said, trust, by) in cases {
        assert_eq!(decision(said), (trust, by), "{said:?}");
    }
}

#[test]
fn variables_say_one_of_two_words() {
    for value in ["1", "yes", "TRUE", " true", "Trusted"] {
        for (name, said) in [
            ("TOOLGATE_TRUST_WORKSPACE", Said { variable: Some(value), ..Said::default() }),
            ("TOOLGATE_IDE_TRUST", Said { editor: Some(value), ..Said::default() }),
        ] {
            let (_folder, env, settings) = world(said);
            let error = judge(&env, &settings, None).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Settings, "{said:?}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

/// An editor that trusts a folder does not answer the question about a changed entry.
#[test]
fn an_editor_does_not_confirm_an_entry_that_changed() {
    let (_folder, env, mut settings) = world(Said { editor: Some("trusted"), ..Said::default() });
    let bring = |settings: &mut Settings, command: &str| {
        let text = format!(r#"{{"mcpServers": {{"x": {{"command": "{command}"}}}}}}"#);
        let layer = read_text(&text, Path::new("/w/.toolgate/settings.json"), SettingsSource::Workspace).unwrap();
        settings.brought.layers = vec![layer];
    };
    bring(&mut settings, "one");
    let judged = judge(&env, &settings, None).unwrap();
    assert!(judged.is_trusted() && judged.unconfirmed().is_empty());
    judged.record_first_use(&env, &settings).unwrap();
    bring(&mut settings, "other");
    let judged = judge(&env, &settings, None).unwrap();
    assert_eq!(judged.by().as_str(), "editor");
    assert!(judged.unconfirmed().contains("x"), "{judged:?}");
}

#[test]
fn rules_that_cannot_be_read_end_it_unless_somebody_before_them_decides() {
    let said = Said { rule: Some("PERHAPS"), ..Said::default() };
    let (_folder, env, settings) = world(said);
    assert_eq!(judge(&env, &settings, None).unwrap_err().kind(), ErrorKind::State);
    assert!(judge(&env, &settings, Some(true)).unwrap().is_trusted());
    assert!(!trusts_env_file(&env, &env.workspace, &env.workspace.join(".env")));
}

#[cfg(unix)]
#[test]
fn the_folder_is_the_real_one() {
    let (folder, mut env, settings) = world(Said { rule: Some("TRUST_FOLDER"), ..Said::default() });
    let link = folder.path().canonicalize().unwrap().join("link");
    std::os::unix::fs::symlink(&env.workspace, &link).unwrap();
    let real = std::mem::replace(&mut env.workspace, link.into()).to_path_buf();
    let judged = judge(&env, &settings, None).unwrap();
    assert_eq!((judged.path(), judged.trust()), (real.as_path(), Trusted));
    assert!(matches!(judged.by(), DecidedBy::Rule { path, .. } if *path == real));
    let file = env.workspace.join(".env");
    std::fs::write(&file, "A=1").unwrap();
    assert!(!trusts_env_file(&env, &env.workspace, &file), "nobody has seen it");
    let with_file =
        Settings { brought: Brought { env_file: Some(file.clone()), ..Brought::default() }, ..Settings::default() };
    crate::trust::confirm_all(&env, &env.workspace, &with_file).unwrap();
    assert!(trusts_env_file(&env, &env.workspace, &file));
    assert!(!trusts_env_file(&env, Path::new("/"), &file));
}
