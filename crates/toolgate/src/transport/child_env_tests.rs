//! Tests of which variables reach a child, rule by rule, and of what people are told about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{PassedOn, Receiver, WhyHeldBack, WhyReceived, child_variables, inherited};
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
        blocked: ["NOTES", "BOTH", "PATH", "user", "LANG", "MY_NOTES_*"].map(str::to_owned).to_vec(),
        of_project: vec!["NODE_OPTIONS".to_owned(), "GIT_CONFIG_COUNT".to_owned()],
    }
}

#[test]
fn each_rule_decides_in_its_turn() {
    let token = format!("ghp_{}", "a".repeat(36));
    let cases = [
        ("PATH", "/bin", false),
        ("USER", "ada", false),
        ("LOGNAME", "ada", true),
        ("LOGNAME", token.as_str(), false),
        ("LOGNAME", "sk-proj-abcdefghijklmnopqrstuvwx", false),
        ("EDITOR", "glpat-abcdefghijklmnopqrst", false),
        ("EDITOR", "code --wait", true),
        ("TERM", "http://ada:sesame@h/", false),
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
        ("MY_NOTES_OF_TODAY", "plain", false),
        ("BOTH", "plain", true),
        ("DATABASE_URL", "x", false),
        ("database_url", "x", false),
        ("SSH_AUTH_SOCK", "/tmp/x", false),
        ("HTTPS_PROXY", "http://proxy:3128", true),
        ("HTTPS_PROXY", "http://ada:sesame@proxy:3128", false),
        ("TOOLGATE_HOME", "/t", true),
        ("TOOLGATE_API_KEY", "x", false),
        ("TOOLGATE_TRUST_WORKSPACE", "true", false),
        ("TOOLGATE_IDE_TRUST", "trusted", false),
    ];
    for (name, value, expected) in cases {
        let passed = PassedOn::from_host(&map(&[(name, value)]), &exceptions(), Receiver::Shell);
        assert_eq!(passed.names().any(|one| one == name), expected, "{name}={value}");
    }
}

#[test]
fn a_server_gets_what_programs_need_and_nothing_else() {
    let cases = [
        ("PATH", false),
        ("SHELL", true),
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
            ["NOTES", "PATH"].contains(&name)
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
    assert_eq!(passed.for_child(BTreeMap::new(), BTreeMap::new()), map(&[("EDITOR", "vi"), ("TOOLGATE", "1")]));
    let configured = [("EDITOR", "ed"), ("API_KEY", "sesame")];
    let configured = configured.map(|(name, value)| (name.to_owned(), Secret::new(value))).into();
    let expected = map(&[("API_KEY", "sesame"), ("EDITOR", "ed"), ("TOOLGATE", "1")]);
    assert_eq!(passed.for_child(BTreeMap::new(), configured), expected);
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
    let expected = ["EDITOR declared", "MY_API_KEY allowed", "SHARED_TOKEN declared", "TOOLGATE mark"];
    assert_eq!(received, expected);
    let held_back: Vec<_> = variables.held_back.iter().map(|(name, why)| format!("{name} {}", why.as_str())).collect();
    let expected = [
        "DATABASE_URL never_passed",
        "FUNCTION shell_function",
        "LANG blocked",
        "NOTES blocked",
        "OTHER_API_KEY secret_by_name",
        "PATH blocked",
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
fn a_server_inherits_what_its_entry_names() {
    let token = format!("ghp_{}", "a".repeat(36));
    let host = map(&[
        ("PATH", "/bin"),
        ("LOGNAME", &token),
        ("EDITOR", "vi"),
        ("AWS_PROFILE", "work"),
        ("AWS_SECRET_ACCESS_KEY", "sesame"),
        ("GH_TOKEN", &token),
        ("NOTES", "plain"),
        ("DATABASE_URL", "x"),
        ("NODE_OPTIONS", "--require=x"),
        ("SHELL_FUNCTION", "() { :; }"),
        ("TOOLGATE_TRUST_WORKSPACE", "true"),
        ("TOOLGATE_IDE_TRUST", "trusted"),
    ]);
    let all = ["AWS_PROFILE", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "EDITOR", "GH_TOKEN", "LOGNAME"];
    let cases: [(&[&str], &[&str]); 8] = [
        (&[], &[]),
        (&["EDITOR"], &["EDITOR"]),
        (&["gh_token"], &["GH_TOKEN"]),
        (&["AWS_*"], &["AWS_PROFILE", "AWS_SECRET_ACCESS_KEY"]),
        (&["NOTES", "NODE_OPTIONS", "SHELL_FUNCTION", "NONE"], &[]),
        (&["TOOLGATE_*"], &[]),
        (&["TOOLGATE_IDE_TRUST"], &["TOOLGATE_IDE_TRUST"]),
        (&["*"], &all),
    ];
    let exceptions = EnvExceptions { blocked: vec!["NOTES".to_owned(), "PATH".to_owned()], ..exceptions() };
    for (inherit, expected) in cases {
        let inherit: Vec<String> = inherit.iter().map(|&name| name.to_owned()).collect();
        let found = inherited(&host, &exceptions, &inherit);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected, "{inherit:?}");
    }
}

#[test]
fn a_star_in_the_allowed_names_means_every_variable() {
    let token = format!("ghp_{}", "a".repeat(36));
    let host = [("EDITOR", "vi"), ("GH_TOKEN", token.as_str()), ("AWS_KEY", "x"), ("NOTES", "x"), ("FN", "() { :; }")];
    let cases: [(&[&str], &[&str]); 4] = [
        (&[], &["TOOLGATE"]),
        (&["AWS_*"], &["AWS_KEY", "TOOLGATE"]),
        (&["GH_*"], &["TOOLGATE"]),
        (&["*"], &["AWS_KEY", "EDITOR", "GH_TOKEN", "TOOLGATE"]),
    ];
    for (allowed, expected) in cases {
        let allowed = allowed.iter().map(|&name| name.to_owned()).collect();
        let exceptions = EnvExceptions { allowed, blocked: vec!["NOTES".to_owned()], of_project: Vec::new() };
        let passed = PassedOn::from_host(&map(&host), &exceptions, Receiver::Server);
        assert_eq!(passed.names().collect::<Vec<_>>(), expected, "{:?}", exceptions.allowed);
    }
}

/// Settings of a folder or an extension cannot hand out the person's variables.
#[test]
fn only_the_person_and_the_administrator_say_what_is_inherited() {
    use SettingsSource as S;
    let env = host(&[("EDITOR", "vi")]);
    let text = r#"{"mcpServers": {"x": {"command": "c", "inheritEnv": true}}}"#;
    for (source, expected) in [
        (S::User, true),
        (S::SystemOverrides, true),
        (S::CommandLine, true),
        (S::Workspace, false),
        (S::Extension, false),
    ] {
        let layer = read_text(text, Path::new("/s.json"), source).unwrap();
        let set = resolve(&[layer], &Switches::default(), &env);
        let told = child_variables(&env, &EnvExceptions::default(), &set.active[0]).unwrap();
        let is_inherited = told.received.contains(&("EDITOR".to_owned(), WhyReceived::Inherited));
        assert_eq!((is_inherited, set.diagnostics.is_empty()), (expected, expected), "{source}");
    }
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
    let passed = passed.for_child(BTreeMap::new(), [("OWN".to_owned(), Secret::new("1"))].into());
    assert_eq!(told.received.iter().map(|(name, _)| name).collect::<Vec<_>>(), passed.keys().collect::<Vec<_>>());
}
