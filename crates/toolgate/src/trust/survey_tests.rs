//! Tests of what a person is shown before they decide: everything that could matter, no secret, nothing without a bound.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::{Survey, survey};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::limits::{SURVEY_ITEMS_MAX, SURVEY_TEXT_CHARS_MAX};
use crate::servers::shown::shown_raw_url;
use crate::settings::read::read_text;
use crate::settings::source::SettingsSource;
use crate::settings::{Brought, Settings};
use crate::trust::judge;

fn looked_at(text: &str, env_file: Option<&str>) -> Survey {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let dirs = HostDirs { user: root.join("user"), system: root.join("system"), home: None };
    let vars = BTreeMap::from([("TOKEN".to_owned(), "sesame".to_owned())]);
    let env = HostEnv { vars, dirs, workspace: root.clone().into(), clock: Arc::new(SystemClock) };
    let layer = read_text(text, Path::new("/w/.toolgate/settings.json"), SettingsSource::Workspace).unwrap();
    let env_file = env_file.map(|text| {
        fs::write(root.join(".env"), text).unwrap();
        root.join(".env")
    });
    let brought = Brought { folder: Some(root), layers: vec![layer], env_file, ..Brought::default() };
    let settings = Settings { brought, ..Settings::default() };
    let folder = judge(&env, &settings, None).unwrap();
    survey(&settings, &folder)
}

#[test]
fn servers_are_shown_as_they_are_written_with_their_secrets_covered() {
    let cases = [
        (r#"{"command": "touch", "args": ["pwned"]}"#, "stdio", "touch pwned"),
        (r#"{"command": "$SHELL", "args": ["-c", "${cmd:touch pwned}"]}"#, "stdio", "'$SHELL' -c '${cmd:touch pwned}'"),
        (
            r#"{"command": "a", "args": ["--api-key", "sesame", "--token=sesame"]}"#,
            "stdio",
            "a --api-key **** --token=****",
        ),
        (r#"{"url": "https://h/p?k=sesame"}"#, "http", "https://h/p?…"),
        (r#"{"url": "https://a:sesame@${HOST}:1/p", "type": "sse"}"#, "sse", "https://${HOST}:1/p"),
        (r#"{"httpUrl": "$URL", "command": "unused"}"#, "http", "$URL"),
        (r#"{"builtin": "workspace"}"#, "builtin", "workspace"),
        (r#"{"command": " "}"#, "", "(neither a `url` nor a `command`)"),
        (r#"{"args": ["x"]}"#, "", "(neither a `url` nor a `command`)"),
        (r#"{"command": 1, "url": "http://x"}"#, "", "mcpServers.s.command: expected a string, found a number"),
    ];
    for (entry, transport, target) in cases {
        let found = looked_at(&format!("{{\"mcpServers\": {{\"s\": {entry}}}}}"), None);
        let server = &found.servers[0];
        assert_eq!((server.transport.unwrap_or_default(), server.target.as_str()), (transport, target), "{entry}");
        assert_eq!((server.name.as_str(), server.origin.line), ("s", Some(1)), "{entry}");
        assert!(!format!("{found:?}").contains("sesame"), "{entry}: {found:?}");
    }
}

#[test]
fn variables_headers_and_references_are_named_and_nothing_is_filled_in() {
    let text = r#"{"mcpServers": {
        "s": {"command": "x", "args": ["$TOKEN"], "env": {"A": "${cmd:touch pwned}", "B": "sesame"}, "cwd": "${HOME}/x", "trust": true},
        "h": {"url": "http://h", "headers": {"Authorization": "Bearer ${keychain:github}"}},
        "broken": 1
    }}"#;
    let found = looked_at(text, None);
    let [s, h, broken] = found.servers.as_slice() else { panic!("{found:?}") };
    assert_eq!(s.env, ["A", "B"]);
    assert_eq!(s.references, ["$HOME", "$TOKEN", "${cmd:touch pwned}"]);
    assert_eq!((s.cwd.as_deref(), s.is_unasked, s.target.as_str()), (Some("${HOME}/x"), true, "x '$TOKEN'"));
    assert_eq!(
        (h.headers.as_slice(), h.references.as_slice()),
        (&["Authorization".to_owned()][..], &["${keychain:github}".to_owned()][..])
    );
    assert!(!h.is_unasked);
    assert_eq!(
        (broken.transport, broken.target.as_str()),
        (None, "mcpServers.broken: expected an object, found a number")
    );
    assert!(!format!("{found:?}").contains("sesame"), "{found:?}");
}

#[test]
fn own_servers_that_would_be_replaced_are_named() {
    let user = r#"{"mcpServers": {"s": {"command": "mine", "args": ["--token", "sesame"]}, "b": 1, "other": {"command": "x"}}}"#;
    let layer = |source, path: &str, text: &str| read_text(text, Path::new(path), source).unwrap();
    let cases = [
        (SettingsSource::User, "s", Some(("/h/settings.json", Some("mine --token ****")))),
        (SettingsSource::SystemDefaults, "s", Some(("/h/settings.json", Some("mine --token ****")))),
        (SettingsSource::User, "b", Some(("/h/settings.json", None))),
        (SettingsSource::User, "S", None),
        // The administrator's entry wins over that of the folder.
        (SettingsSource::SystemOverrides, "s", None),
    ];
    for (source, name, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let dirs = HostDirs { user: root.join("user"), system: root.join("system"), home: None };
        let env = HostEnv { vars: BTreeMap::new(), dirs, workspace: root.clone().into(), clock: Arc::new(SystemClock) };
        let text = format!(r#"{{"mcpServers": {{"{name}": {{"command": "theirs"}}}}}}"#);
        let brought = layer(SettingsSource::Workspace, "/w/.toolgate/settings.json", &text);
        let brought = Brought { folder: Some(root), layers: vec![brought], ..Brought::default() };
        let layers = vec![layer(source, "/h/settings.json", user)];
        let settings = Settings { layers, brought, ..Settings::default() };
        let found = survey(&settings, &judge(&env, &settings, None).unwrap());
        let replaced = found.servers[0].replaces.as_ref();
        let replaced = replaced.map(|one| (one.origin.path.as_deref().unwrap(), one.target.as_deref()));
        let expected = expected.map(|(path, target)| (Path::new(path), target));
        assert_eq!(replaced, expected, "{source:?} {name}");
    }
}

#[test]
fn settings_that_reach_far_are_warned_about() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("{}", &[], &[]),
        (r#"{"tools": {"naming": "short", "exclude": ["a"]}}"#, &["tools.exclude", "tools.naming"], &[]),
        (
            r#"{"tools": {"allowed": ["a", "b", "c", "d", "e", "f", "g"]}}"#,
            &["tools.allowed"],
            &[
                "`tools.allowed` wants tools to run without asking you, which a folder cannot have: a, b, c, d, e and 2 more",
            ],
        ),
        (r#"{"tools": {"allowed": []}}"#, &["tools.allowed"], &[]),
        (
            r#"{"mcp": {"allowedApproves": true, "allowed": ["a"], "excluded": [], "connectLimit": 1}}"#,
            &["mcp.allowed", "mcp.excluded", "mcp.connectLimit", "mcp.allowedApproves"],
            &[
                "`mcp.allowedApproves` wants every tool of the allowed servers to run without asking you, which a folder cannot have",
            ],
        ),
        (r#"{"mcp": {"allowedApproves": false}}"#, &["mcp.allowedApproves"], &[]),
        (
            r#"{"security": {"strict": false, "folderTrust": {"enabled": false, "userServers": true}}}"#,
            &["security.folderTrust.enabled", "security.folderTrust.userServers", "security.strict"],
            &[
                "`security.folderTrust.enabled` changes what protects you",
                "`security.folderTrust.userServers` changes what protects you",
                "`security.strict` changes what protects you",
            ],
        ),
        (
            r#"{"security": {"environmentVariableRedaction": {"allowed": ["TOKEN"]}}}"#,
            &["security.environmentVariableRedaction.allowed"],
            &["`security.environmentVariableRedaction.allowed` changes what protects you"],
        ),
        (
            r#"{"model": {"baseUrl": "http://evil"}, "audit": {}, "advanced": {"ignoreLocalEnv": true, "x": 1}}"#,
            &["advanced.ignoreLocalEnv", "advanced.x", "model", "audit"],
            &["`model.baseUrl` sends what you ask, and your key, to another address"],
        ),
    ];
    for (text, keys, warnings) in cases {
        let found = looked_at(text, None);
        let found_keys: Vec<_> = found.keys.iter().map(|key| key.key.as_str()).collect();
        let found_warnings: Vec<_> = found.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!((found_keys.as_slice(), found_warnings.as_slice()), (*keys, *warnings), "{text}");
        assert_eq!(found.is_empty(), keys.is_empty(), "{text}");
    }
}

#[test]
fn of_an_env_file_the_names_are_told() {
    let found = looked_at("{}", Some("A=sesame\nexport B='sesame\nC=sesame'\n# D=1\n"));
    let file = found.env_file.unwrap();
    assert_eq!((file.names.as_slice(), file.problem), (&["A".to_owned(), "B".to_owned()][..], None));
    let found = looked_at("{}", Some(&"x".repeat(2 << 20)));
    assert!(found.env_file.unwrap().problem.unwrap().contains("larger than"));
}

#[test]
fn everything_has_a_bound_and_what_is_missing_is_counted() {
    let entries: Vec<String> = (0..SURVEY_ITEMS_MAX + 7).map(|n| format!("\"s{n}\": {{\"command\": \"x\"}}")).collect();
    let found = looked_at(&format!("{{\"mcpServers\": {{{}}}}}", entries.join(",")), None);
    assert_eq!((found.servers.len(), found.left_out), (SURVEY_ITEMS_MAX, 7));
    let long = "x".repeat(SURVEY_TEXT_CHARS_MAX + 5);
    let found = looked_at(&format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"{long}\"}}}}}}"), None);
    assert!(found.servers[0].target.ends_with("… (5 more characters)"), "{}", found.servers[0].target);
}

#[test]
fn addresses_are_shown_without_what_may_be_secret() {
    let cases = [
        ("https://h/p", "https://h/p"),
        ("https://a:b@h/p#f", "https://h/p?…"),
        ("https://a@b@h/p", "https://h/p"),
        ("http://${H:-a}/x", "http://${H:-a}/x"),
        ("$URL?x=1", "$URL?…"),
        ("not a url", "not a url"),
        ("", ""),
    ];
    for (url, expected) in cases {
        assert_eq!(shown_raw_url(url), expected, "{url}");
    }
}
