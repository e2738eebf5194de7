//! Tests of references to secrets in the entry of a server: where they may stand, and every message in full.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::limits::SECRETS_MAX;
use crate::servers::{ServerSet, Switches, TransportConfig, resolve};
use crate::settings::SettingsSource;
use crate::settings::read::read_text;

fn env() -> HostEnv {
    let vars = [("SET", "x"), ("SLY", "${cmd:touch pwned}")];
    let vars: BTreeMap<_, _> = vars.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let dirs = HostDirs { user: "/u".into(), system: "/s".into(), home: Some("/home/ada".into()) };
    HostEnv { vars, dirs, workspace: "/w".into(), clock: Arc::new(SystemClock) }
}

fn resolve_in(source: SettingsSource, keys: &str) -> ServerSet {
    let text = format!(r#"{{"mcpServers": {{"x": {{{keys}}}}}}}"#);
    resolve(&[read_text(&text, Path::new("/s.json"), source).unwrap()], &Switches::default(), &env())
}

fn problems(set: &ServerSet) -> Vec<String> {
    let line = |one: &crate::settings::Diagnostic| {
        let hint = one.hint.as_deref().unwrap_or_default();
        format!("{}: {one} ({hint})", one.severity).replace("/s.json:1:", "")
    };
    set.diagnostics.iter().map(line).collect()
}

#[test]
fn references_stay_what_they_are() {
    let keys =
        r#""command": "c", "args": ["--a=${cmd:x}", "\\${cmd:x}"], "env": {"A": "${keychain:a}", "B": "${file:b}"}"#;
    let set = resolve_in(SettingsSource::User, keys);
    assert_eq!(problems(&set), [""; 0]);
    let TransportConfig::Stdio(stdio) = &set.active[0].transport else { panic!("{set:?}") };
    let seen = |text: &crate::servers::ConfigText| text.references().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(stdio.args.iter().map(seen).collect::<Vec<_>>(), [vec!["${cmd:x}".to_owned()], vec![]]);
    assert_eq!(stdio.env.values().map(seen).collect::<Vec<_>>(), [["${keychain:a}"], ["${file:b}"]]);

    let keys = r#""url": " https://h/${cmd:x} ", "headers": {"Authorization": "Bearer ${env:SET}"}"#;
    let set = resolve_in(SettingsSource::User, keys);
    assert_eq!(problems(&set), [""; 0]);
    let TransportConfig::HttpOrSse(http) = &set.active[0].transport else { panic!("{set:?}") };
    assert_eq!((seen(&http.url), http.url.with_stand_ins("!").as_str()), (vec!["${cmd:x}".to_owned()], "https://h/!"));
    assert_eq!(seen(&http.headers["Authorization"]), ["${env:SET}"]);
}

#[test]
fn a_variable_brings_no_reference_in() {
    for keys in [r#""command": "c", "args": ["$SLY", "${NONE:-${cmd:x}}"]"#, r#""command": "$SLY""#] {
        let set = resolve_in(SettingsSource::User, keys);
        let TransportConfig::Stdio(stdio) = &set.active[0].transport else { panic!("{set:?}") };
        assert!(stdio.args.iter().all(|arg| !arg.has_references()), "{set:?}");
    }
}

#[test]
fn what_others_wrote_reaches_no_secret_of_the_person() {
    use SettingsSource as S;
    let own = [S::BuiltIn, S::SystemDefaults, S::User, S::SystemOverrides, S::CommandLine];
    let others = [(S::Workspace, "a workspace folder"), (S::Extension, "an extension")];
    let entries = [
        ("args[0]", r#""command": "c", "args": ["REF"]"#),
        ("env.A", r#""command": "c", "env": {"A": "a REF"}"#),
        ("url", r#""url": "https://h/REF""#),
        ("httpUrl", r#""httpUrl": "https://h/REF""#),
        ("headers.A", r#""url": "https://h/", "headers": {"A": "REF"}"#),
    ];
    for (key, entry) in entries {
        for reference in ["${cmd:touch pwned}", "${file:~/x}", "${keychain:x}", "${env:SET}"] {
            let entry = entry.replace("REF", reference);
            for source in own {
                let set = resolve_in(source, &entry);
                assert_eq!((set.active.len(), problems(&set).len()), (1, 0), "{source} {entry}");
            }
            for (source, of) in others {
                let set = resolve_in(source, &entry);
                if reference == "${env:SET}" {
                    assert_eq!((set.active.len(), problems(&set).len()), (1, 0), "{source} {entry}");
                    continue;
                }
                assert!(set.active.is_empty(), "{source} {entry}");
                let kind = reference.split(':').next().unwrap();
                let expected = format!("mcpServers.x.{key}: `{kind}:…}}` cannot stand in the settings of {of}");
                assert_eq!(set.set_aside[0].reason.to_string(), expected);
                let hint = set.diagnostics[0].hint.as_deref().unwrap();
                assert!(hint.starts_with("it can stand in your own settings"), "{hint}");
            }
        }
    }
}

#[test]
fn what_cannot_work_is_refused_where_it_stands() {
    let here = "a reference to a secret cannot stand here (references stand in `args`, `url`, the values of `env` and `headers`, and secrets of `oauth`)";
    let kinds = r"(there are `${env:NAME}`, `${keychain:NAME}`, `${file:PATH}` and `${cmd:COMMAND}`; a dollar sign itself is written `\\$`)";
    let looks = "(an address looks like https://host/path)";
    let cases = [
        (r#""command": "${cmd:x}""#, format!("34: mcpServers.x.command: {here}")),
        (r#""command": "c", "cwd": "${env:SET}""#, format!("46: mcpServers.x.cwd: {here}")),
        (r#""builtin": "${env:SET}""#, format!("34: mcpServers.x.builtin: {here}")),
        (r#""command": "c", "env": {"${env:SET}": "x"}"#, format!("47: mcpServers.x.env[\"${{env:SET}}\"]: {here}")),
        (
            r#""url": "http://h/", "headers": {"${env:SET}": "x"}"#,
            format!("55: mcpServers.x.headers[\"${{env:SET}}\"]: {here}"),
        ),
        (
            r#""command": "c", "args": ["a", "${vault:x}"]"#,
            format!("53: mcpServers.x.args[1]: `${{vault:…}}` refers to no secret: nothing is kept in `vault` {kinds}"),
        ),
        (
            r#""command": "c", "args": ["${cmd:{}"]"#,
            "48: mcpServers.x.args[0]: `${cmd:` is not closed (end it with `}`; braces within a command come in pairs, or in quotes)"
                .to_owned(),
        ),
        (
            r#""command": "c", "args": ["\u0000${cmd:x}"]"#,
            r"48: mcpServers.x.args[0]: the text has a NUL character (remove the `\u0000`)".to_owned(),
        ),
        (r#""url": "http://h x${env:SET}/""#, "30: mcpServers.x.url: not a URL ".to_owned() + looks),
        (r#""url": "${env:SET} /mcp""#, "30: mcpServers.x.url: not a URL ".to_owned() + looks),
        (
            r#""url": "ws://${env:SET}/""#,
            "30: mcpServers.x.url: `ws` addresses cannot be used (it must start with `https://` or `http://`)".to_owned(),
        ),
        (
            r#""url": "http://h/", "headers": {"A": "${env:SET}\n"}"#,
            "60: mcpServers.x.headers.A: the value cannot be sent as a header (a header is one line without control characters)"
                .to_owned(),
        ),
    ];
    for (keys, expected) in cases {
        let set = resolve_in(SettingsSource::User, keys);
        assert_eq!(problems(&set), [format!("error: {expected}")], "{keys}");
        assert!(set.active.is_empty(), "{keys}");
    }
    let text = r#"{"mcpServers": {"${env:SET}": {"command": "c"}}}"#;
    let set =
        resolve(&[read_text(text, Path::new("/s.json"), SettingsSource::User).unwrap()], &Switches::default(), &env());
    assert_eq!(problems(&set), [format!("error: 17: mcpServers[\"${{env:SET}}\"]: {here}")]);
}

#[test]
fn a_variable_that_a_reference_misses_is_told_early() {
    let set = resolve_in(SettingsSource::Workspace, r#""command": "c", "env": {"A": "${env:NONE}"}"#);
    let expected = "warning: 52: mcpServers.x.env.A: the variable `NONE` is not set; the server cannot be started without it (set it)";
    assert_eq!((problems(&set), set.active.len()), (vec![expected.to_owned()], 1));
}

#[test]
fn the_number_of_secrets_is_bounded() {
    let keys = |count: usize| format!(r#""command": "c", "args": ["{}"]"#, "${env:SET}".repeat(count));
    assert_eq!(resolve_in(SettingsSource::User, &keys(SECRETS_MAX)).active.len(), 1);
    let set = resolve_in(SettingsSource::User, &keys(SECRETS_MAX + 1));
    let expected = "mcpServers.x.args[0]: with this the server refers to more than 64 secrets";
    assert_eq!(set.set_aside[0].reason.to_string(), expected);
}

#[test]
fn an_extension_lends_no_reference_to_the_entry_over_it() {
    let layer = |source, keys: &str| {
        let text = format!(r#"{{"mcpServers": {{"x": {{{keys}}}}}}}"#);
        read_text(&text, Path::new("/s.json"), source).unwrap()
    };
    let extension = || layer(SettingsSource::Extension, r#""command": "c", "env": {"A": "${cmd:touch pwned}"}"#);
    let person = layer(SettingsSource::User, r#""timeout": 1000"#);
    let set = resolve(&[extension(), person], &Switches::default(), &env());
    assert!(set.active.is_empty(), "{set:?}");
    let expected = "mcpServers.x: `env.A` of the extension has `${cmd:…}`, which cannot stand there";
    assert_eq!(set.set_aside[0].reason.to_string(), expected);

    let person = layer(SettingsSource::User, r#""env": {"A": "${keychain:mine}"}"#);
    let set = resolve(&[extension(), person], &Switches::default(), &env());
    assert_eq!(set.active[0].transport.target(), "c", "{set:?}");
}
