//! Tests of which variables reach a child, rule by rule, and of what people are told about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{PassedOn, Receiver, WhyHeldBack, WhyReceived, child_variables};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::secret::Secret;
use crate::servers::{Switches, resolve};
use crate::settings::read::read_text;
use crate::settings::{EnvExceptions, SettingsSource};

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn exceptions() -> EnvExceptions {
    EnvExceptions {
        allowed: vec!["my_api_key".to_owned(), "BOTH".to_owned()],
        blocked: vec!["NOTES".to_owned(), "BOTH".to_owned(), "PATH".to_owned(), "LANG".to_owned()],
        of_project: vec!["NODE_OPTIONS".to_owned(), "GIT_CONFIG_COUNT".to_owned()],
    }
}

#[test]
fn each_rule_decides_in_its_turn() {
    let token = format!("ghp_{}", "a".repeat(36));
    let cases = [
        ("PATH", "/bin", true),
        ("PATH", token.as_str(), true),
        ("LANG", "C", false),
        ("TMPDIR", "/tmp", true),
        ("TMPDIR", token.as_str(), false),
        ("EDITOR", "vi", true),
        ("EDITOR", token.as_str(), false),
        ("EDITOR", "() { :; }; rm x", false),
        ("HOME", "() { :; }", false),
        ("NODE_OPTIONS", "--require=x", false),
        ("GIT_CONFIG_COUNT", "1", false),
        ("GIT_CONFIG_KEY_0", "user.name", true),
        ("GIT_CONFIG_VALUE_0", token.as_str(), false),
        ("MY_API_KEY", "plain", true),
        ("My_Api_Key", "plain", true),
        ("MY_API_KEY", token.as_str(), false),
        ("OTHER_API_KEY", "plain", false),
        ("NOTES", "plain", false),
        ("BOTH", "plain", true),
        ("DATABASE_URL", "x", false),
        ("database_url", "x", false),
        ("SSH_AUTH_SOCK", "/tmp/x", false),
        ("HTTPS_PROXY", "http://proxy:3128", true),
        ("HTTPS_PROXY", "http://ada:sesame@proxy:3128", false),
        ("TOOLGATE_HOME", "/t", true),
        ("TOOLGATE_API_KEY", "x", false),
        ("TOOLGATE_TRUST_WORKSPACE", "true", false),
        ("TOOLGATE_IDE_WORKSPACE_TRUST", "true", false),
    ];
    for (name, value, expected) in cases {
        let passed = PassedOn::from_host(&map(&[(name, value)]), &exceptions(), Receiver::Shell);
        assert_eq!(passed.names().any(|one| one == name), expected, "{name}={value}");
    }
}

#[test]
fn a_server_gets_what_programs_need_and_nothing_else() {
    let cases = [
        ("PATH", true),
        ("HOME", true),
        ("LC_ALL", true),
        ("XDG_RUNTIME_DIR", true),
        ("https_proxy", true),
        ("SSL_CERT_FILE", true),
        ("MY_API_KEY", true),
        ("EDITOR", false),
        ("NODE_PATH", false),
        ("FOO_CUSTOM", false),
        ("NOTES", false),
    ];
    for (name, expected) in cases {
        let host = map(&[(name, "plain")]);
        let passed = PassedOn::from_host(&host, &exceptions(), Receiver::Server);
        assert_eq!(passed.names().any(|one| one == name), expected, "{name}");
        assert!(
            name == "NOTES"
                || PassedOn::from_host(&host, &exceptions(), Receiver::Shell).names().any(|one| one == name)
        );
    }
}

#[test]
fn in_automation_only_what_is_known_passes() {
    for mark in [("GITHUB_SHA", "abc"), ("SURFACE", "Github")] {
        let host = [mark, ("EDITOR", "vi"), ("PATH", "/bin"), ("ISSUE_TITLE", "t"), ("TOOLGATE_HOME", "/t")];
        let passed = PassedOn::from_host(&map(&host), &EnvExceptions::default(), Receiver::Shell);
        assert_eq!(passed.names().collect::<Vec<_>>(), ["ISSUE_TITLE", "PATH", "TOOLGATE", "TOOLGATE_HOME"]);
    }
    let ordinary = map(&[("GITHUB_SHA", ""), ("SURFACE", "desk"), ("EDITOR", "vi")]);
    let passed = PassedOn::from_host(&ordinary, &EnvExceptions::default(), Receiver::Shell);
    assert!(passed.names().any(|name| name == "EDITOR"));
}

#[test]
fn what_the_settings_say_comes_last_and_is_never_held_back() {
    let host = map(&[("EDITOR", "vi"), ("TOOLGATE", "0"), ("API_KEY", "of the host")]);
    let passed = PassedOn::from_host(&host, &EnvExceptions::default(), Receiver::Shell);
    assert_eq!(passed.for_child(BTreeMap::new()), map(&[("EDITOR", "vi"), ("TOOLGATE", "1")]));
    let configured = [("EDITOR", "ed"), ("API_KEY", "sesame")];
    let configured = configured.map(|(name, value)| (name.to_owned(), Secret::new(value))).into();
    let expected = map(&[("API_KEY", "sesame"), ("EDITOR", "ed"), ("TOOLGATE", "1")]);
    assert_eq!(passed.for_child(configured), expected);
    assert!(!format!("{passed:?}").contains("vi"));
}

fn host(vars: &[(&str, &str)]) -> HostEnv {
    let dirs = HostDirs { user: "/u".into(), system: "/s".into(), home: None };
    HostEnv { vars: map(vars), dirs, workspace: "/w".into(), clock: Arc::new(SystemClock) }
}

#[test]
fn people_are_told_names_and_reasons() {
    let token = format!("ghp_{}", "a".repeat(36));
    let env = host(&[
        ("PATH", "/bin"),
        ("EDITOR", "sesame"),
        ("LANG", "sesame"),
        ("MY_API_KEY", "sesame"),
        ("OTHER_API_KEY", "sesame"),
        ("DATABASE_URL", "sesame"),
        ("NOTES", "sesame"),
        ("REMOTE", &token),
        ("FUNCTION", "() { sesame; }"),
        ("SHARED_TOKEN", "sesame"),
        ("TOOLGATE", "sesame"),
    ]);
    let text = r#"{"mcpServers": {
        "x": {"command": "c", "env": {"SHARED_TOKEN": "${keychain:sesame}", "EDITOR": "sesame"}},
        "y": {"url": "http://h/"}}}"#;
    let layer = read_text(text, Path::new("/u/settings.json"), SettingsSource::User).unwrap();
    let set = resolve(&[layer], &Switches::default(), &env);
    let variables = child_variables(&env, &exceptions(), &set.active[0]).unwrap();
    let received: Vec<_> = variables.received.iter().map(|(name, why)| format!("{name} {}", why.as_str())).collect();
    let expected = ["EDITOR declared", "MY_API_KEY allowed", "PATH needed", "SHARED_TOKEN declared", "TOOLGATE mark"];
    assert_eq!(received, expected);
    let held_back: Vec<_> = variables.held_back.iter().map(|(name, why)| format!("{name} {}", why.as_str())).collect();
    let expected = [
        "DATABASE_URL never_passed",
        "FUNCTION shell_function",
        "LANG blocked",
        "NOTES blocked",
        "OTHER_API_KEY secret_by_name",
        "REMOTE secret_by_value",
    ];
    assert_eq!(held_back, expected);
    assert!(!format!("{variables:?}").contains("sesame"));
    assert_eq!(child_variables(&env, &exceptions(), &set.active[1]), None, "it is no program of its own");

    let automation = host(&[("GITHUB_SHA", "1"), ("EDITOR", "vi"), ("REPOSITORY", "r")]);
    let variables = child_variables(&automation, &EnvExceptions::default(), &set.active[0]).unwrap();
    assert!(variables.received.contains(&("REPOSITORY".to_owned(), WhyReceived::PassedOn)));
    assert_eq!(variables.held_back, [("GITHUB_SHA".to_owned(), WhyHeldBack::Automation)]);
}

#[test]
fn what_is_told_is_what_is_passed() {
    let token = format!("ghp_{}", "a".repeat(36));
    let env = host(&[("PATH", "/bin"), ("A", "b"), ("A_KEY", "b"), ("B", &token), ("GIT_CONFIG_COUNT", "0")]);
    let text = r#"{"mcpServers": {"x": {"command": "c", "env": {"OWN": "1"}}}}"#;
    let layer = read_text(text, Path::new("/u/settings.json"), SettingsSource::User).unwrap();
    let server = &resolve(&[layer], &Switches::default(), &env).active[0];
    let told = child_variables(&env, &EnvExceptions::default(), server).unwrap();
    let passed = PassedOn::from_host(&env.vars, &EnvExceptions::default(), Receiver::Server);
    let passed = passed.for_child([("OWN".to_owned(), Secret::new("1"))].into());
    assert_eq!(told.received.iter().map(|(name, _)| name).collect::<Vec<_>>(), passed.keys().collect::<Vec<_>>());
}
