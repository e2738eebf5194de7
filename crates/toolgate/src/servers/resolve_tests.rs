//! Tests of what layers of settings mean: order, transports, variables, limits, lists, and every message in full.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{ServerSet, SetAside, SetAsideReason, Switches, resolve};
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::limits::{SERVER_TEXT_BYTES_MAX, SERVERS_MAX};
use crate::servers::config::{ServerConfig, TransportConfig};
use crate::settings::raw::{OnBusy, StartMode};
use crate::settings::read::read_text;
use crate::settings::{SettingsLayer, SettingsSource};

fn env() -> HostEnv {
    let vars = [("HOST", "h.example"), ("TOKEN", "se$ame"), ("NUL", "a\0b"), ("BIG", &"x".repeat(100_000))];
    let vars: BTreeMap<_, _> = vars.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let dirs = HostDirs { user: "/u".into(), system: "/s".into(), home: Some("/home/ada".into()) };
    HostEnv { vars, dirs, workspace: "/work space".into(), clock: Arc::new(SystemClock) }
}

fn layer(source: SettingsSource, text: &str) -> SettingsLayer {
    let name = format!("/{source}.json");
    let path = Path::new(&name);
    let mut layer = read_text(text, path, source).unwrap();
    if source == SettingsSource::BuiltIn {
        layer.path = None;
    }
    layer
}

fn resolve_user(servers: &str) -> ServerSet {
    resolve(&[layer(SettingsSource::User, &format!(r#"{{"mcpServers": {servers}}}"#))], &Switches::default(), &env())
}

fn only(set: &ServerSet) -> &ServerConfig {
    match set.active.as_slice() {
        [server] => server,
        _ => panic!("{set:?}"),
    }
}

fn problems(set: &ServerSet) -> Vec<String> {
    let line = |one: &crate::settings::Diagnostic| {
        let hint = one.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}: {one}{hint}", one.severity).replace("/user.json:1:", "")
    };
    set.diagnostics.iter().map(line).collect()
}

#[test]
fn the_transport_follows_from_the_keys() {
    let cases = [
        (r#""httpUrl": "http://a/""#, "http"),
        (r#""httpUrl": "http://a/", "type": "sse""#, "http"),
        (r#""url": "http://a/", "type": "http""#, "http"),
        (r#""url": "http://a/", "type": "sse""#, "sse"),
        (r#""url": "http://a/", "type": "stdio""#, "http"),
        (r#""url": "http://a/""#, "http or sse"),
        (r#""url": "http://a/", "command": """#, "http or sse"),
        (r#""url": "", "command": "c""#, "stdio"),
        (r#""command": "c""#, "stdio"),
        (r#""command": "c", "type": "stdio""#, "stdio"),
        (r#""builtin": "workspace""#, "builtin"),
        (r#""httpUrl": "http://a/", "authProviderType": "google_credentials", "oauth": {"scopes": ["s"]}"#, "http"),
        (r#""command": "c", "authProviderType": "dynamic_discovery""#, "stdio"),
    ];
    for (keys, expected) in cases {
        let set = resolve_user(&format!(r#"{{"x": {{{keys}}}}}"#));
        let found = match &only(&set).transport {
            TransportConfig::Stdio(_) => "stdio",
            TransportConfig::Http(_) => "http",
            TransportConfig::Sse(_) => "sse",
            TransportConfig::HttpOrSse(_) => "http or sse",
            TransportConfig::BuiltIn(_) => "builtin",
        };
        assert_eq!((found, set.diagnostics.len()), (expected, 0), "{keys}");
    }
}

#[test]
fn combinations_that_were_hardly_meant_are_used_with_a_warning() {
    let cases = [
        (
            r#""url": "http://a/", "httpUrl": "http://b/""#,
            "http://b/",
            "30: mcpServers.x.url: `httpUrl` (deprecated) used instead of `url` (keep `url` alone and add \"type\": \"http\")",
        ),
        (
            r#""url": "http://a/", "command": "c""#,
            "http://a/",
            "54: mcpServers.x.command: not used, because `url` is set (keep one of the two)",
        ),
        (
            r#""httpUrl": "http://a/", "command": "c""#,
            "http://a/",
            "58: mcpServers.x.command: not used, because `httpUrl` is set (keep one of the two)",
        ),
        (
            r#""builtin": "workspace", "url": "http://a/""#,
            "workspace",
            "54: mcpServers.x.url: not used, because `builtin` is set (keep one of the two)",
        ),
        (
            r#""command": "c", "type": "http""#,
            "c",
            "47: mcpServers.x.type: there is no `url`, so the `command` is started (set `url`, or remove `type`)",
        ),
        (
            r#""command": "c", "headers": {"A": "b"}"#,
            "c",
            "50: mcpServers.x.headers: headers are for a `url`; a command gets none (use `env`)",
        ),
        (
            r#""url": "http://a/", "headers": {"content-length": "1"}"#,
            "http://a/",
            "55: mcpServers.x.headers.content-length: left out: this header belongs to HTTP itself (remove it)",
        ),
        (
            r#""url": "http://a/", "headers": {"X-A": "1", "x-a": "2"}"#,
            "http://a/",
            "67: mcpServers.x.headers.x-a: the same header as `X-A`; this one counts (remove one of the two)",
        ),
    ];
    for (keys, target, expected) in cases {
        let set = resolve_user(&format!(r#"{{"x": {{{keys}}}}}"#));
        assert_eq!(only(&set).transport.target(), target, "{keys}");
        assert_eq!(problems(&set), [format!("warning: {expected}")], "{keys}");
    }
}

#[test]
fn what_cannot_work_is_set_aside_with_its_reason() {
    let start = "it must start with `https://` or `http://`";
    let cases = [
        ("", "17: mcpServers.x: set `url` or `command`", "`command` starts a program, `url` names a remote server"),
        (r#""tcp": "h:1""#, "17: mcpServers.x: set `url` or `command`", "`tcp` is accepted but cannot be used"),
        (
            r#""builtin": "mail""#,
            "34: mcpServers.x.builtin: no built-in server is called `mail`",
            "there is `workspace`",
        ),
        (r#""url": "h.example/mcp""#, "30: mcpServers.x.url: not a URL", start),
        (r#""url": "ws://h/""#, "30: mcpServers.x.url: `ws` addresses cannot be used", start),
        (
            r#""httpUrl": "http://h:99999/""#,
            "34: mcpServers.x.httpUrl: the port of the URL is no number up to 65535",
            "an address looks like https://host/path",
        ),
        (
            r#""url": "http://h/", "headers": {"a b": "c"}"#,
            "62: mcpServers.x.headers[\"a b\"]: not the name of a header",
            "names of headers have letters, digits and `-`",
        ),
        (
            r#""url": "http://h/", "headers": {"a": "b\nc"}"#,
            "60: mcpServers.x.headers.a: the value cannot be sent as a header",
            "a header is one line without control characters",
        ),
        (
            r#""command": "c", "env": {"A=B": "c"}"#,
            "47: mcpServers.x.env[\"A=B\"]: not the name of a variable",
            "names of variables are not empty and have no `=`",
        ),
        (r#""command": "$NUL""#, "34: mcpServers.x.command: the text has a NUL character", "remove the `\\u0000`"),
        (
            r#""command": "c", "args": ["a", "\u0000"]"#,
            "53: mcpServers.x.args[1]: the text has a NUL character",
            "remove the `\\u0000`",
        ),
        (
            r#""command": "c", "authProviderType": "google_credentials""#,
            "59: mcpServers.x.authProviderType: these credentials are for a server with a `url`",
            "set `url`, or remove this key",
        ),
    ];
    for (keys, expected, hint) in cases {
        let set = resolve_user(&format!(r#"{{"x": {{{keys}}}, "y": {{"command": "works"}}}}"#));
        assert_eq!(only(&set).name.as_str(), "y", "the others are used");
        assert_eq!(problems(&set), [format!("error: {expected} ({hint})")], "{keys}");
        let [SetAside { name, origin, reason, .. }] = set.set_aside.as_slice() else { panic!("{set:?}") };
        assert_eq!((name.as_str(), origin.to_string().as_str()), ("x", "/user.json:1"));
        assert!(expected.ends_with(&reason.to_string()), "{reason}");
    }
}

#[test]
fn names_that_cannot_be_shown_are_set_aside() {
    let cases = [
        ("", r#"[""]: a server needs a name"#),
        (r"a\u001bb", r#"["a\u{1b}b"]: the name of a server has no control characters"#),
    ];
    for (name, expected) in cases {
        let set = resolve_user(&format!(r#"{{"{name}": {{"command": "c"}}}}"#));
        assert_eq!(problems(&set), [format!("error: 17: mcpServers{expected} (give it another name)")]);
        assert_eq!(set.active.len(), 0);
    }
    let long = "n".repeat(257);
    let set = resolve_user(&format!(r#"{{"{long}": {{"command": "c"}}}}"#));
    assert_eq!(
        problems(&set),
        [format!(
            "error: 17: mcpServers.{long}: the name of a server has at most 256 characters (give it another name)"
        )]
    );
    for name in ["mcp", "_", "my server", "文件", "a.b"] {
        let set = resolve_user(&format!(r#"{{"{name}": {{"command": "c"}}}}"#));
        assert_eq!(only(&set).name.as_str(), name);
    }
}

#[test]
fn entries_the_reader_refused_are_set_aside_and_reported_once() {
    let set = resolve_user(r#"{"x": {"command": 5}, "y": {"command": "c"}}"#);
    assert_eq!(only(&set).name.as_str(), "y");
    assert_eq!(set.diagnostics.len(), 1);
    assert_eq!(set.set_aside[0].reason.to_string(), "mcpServers.x.command: expected a string, found a number");
}

#[test]
fn higher_layers_come_first_and_replace_whole_entries() {
    use SettingsSource::{BuiltIn, CommandLine, User};
    let built_in = r#"{"mcpServers": {"workspace": {"builtin": "workspace"}}}"#;
    type Case<'a> = (&'a [(SettingsSource, &'a str)], &'a [&'a str], &'a [&'a str]);
    let cases: &[Case<'_>] = &[
        (&[(BuiltIn, built_in)], &["workspace=workspace"], &[]),
        (
            &[(BuiltIn, built_in), (User, r#"{"mcpServers": {"z": {"command": "1"}, "a": {"command": "2"}}}"#)],
            &["z=1", "a=2", "workspace=workspace"],
            &[],
        ),
        (
            &[
                (BuiltIn, built_in),
                (User, r#"{"mcpServers": {"workspace": {"command": "own"}, "a": {"command": "2"}}}"#),
            ],
            &["workspace=own", "a=2"],
            &["workspace: built-in settings: replaced by the entry in /user.json:1"],
        ),
        (
            &[
                (User, r#"{"mcpServers": {"files": {"builtin": "workspace"}, "more": {"builtin": "workspace"}}}"#),
                (BuiltIn, built_in),
            ],
            &["files=workspace", "more=workspace", "workspace=workspace"],
            &[],
        ),
        (
            &[
                (User, r#"{"mcpServers": {"a": {"command": "user", "args": ["x"]}, "b": {"command": "2"}}}"#),
                (CommandLine, r#"{"mcpServers": {"c": {"command": "3"}, "a": {"command": "flag"}}}"#),
            ],
            &["c=3", "a=flag", "b=2"],
            &["a: /user.json:1: replaced by the entry in /command-line.json:1"],
        ),
        (
            // Whoever wrote the broken entry did not mean the one below it.
            &[
                (BuiltIn, built_in),
                (User, r#"{"mcpServers": {"workspace": {"builtin": "workspace", "excludeTools": 5}}}"#),
            ],
            &[],
            &[
                "workspace: /user.json:1: mcpServers.workspace.excludeTools: expected a list of strings, found a number",
                "workspace: built-in settings: replaced by the entry in /user.json:1",
            ],
        ),
        (
            &[
                (BuiltIn, built_in),
                (User, r#"{"mcpServers": {"a": {"command": "1"}}, "mcp": {"excluded": ["Work*"]}}"#),
            ],
            &["a=1"],
            &["workspace: built-in settings: in `mcp.excluded` of /user.json:1"],
        ),
        (
            &[(BuiltIn, built_in), (User, r#"{"mcpServers": {"a": {}}, "mcp": {"allowed": ["workspace"]}}"#)],
            &["workspace=workspace"],
            &["a: /user.json:1: not in `mcp.allowed` of /user.json:1"],
        ),
    ];
    for (layers, active, set_aside) in cases {
        let layers: Vec<_> = layers.iter().map(|(source, text)| layer(*source, text)).collect();
        let set = resolve(&layers, &Switches::default(), &env());
        let found: Vec<_> = set.active.iter().map(|one| format!("{}={}", one.name, one.transport.target())).collect();
        assert_eq!(found, *active);
        let found: Vec<_> =
            set.set_aside.iter().map(|one| format!("{}: {}: {}", one.name, one.origin, one.reason)).collect();
        assert_eq!(found, *set_aside);
    }
}

#[test]
fn variables_are_filled_in_once_and_paths_made_whole() {
    let set = resolve_user(
        r#"{"x": {"command": "~/bin/$HOST", "args": ["--to=${HOST}", "$1", "~/x"],
            "env": {"T": "$TOKEN", "D": "${NONE:-d}"}, "cwd": "sub/${HOST}"}}"#,
    );
    let TransportConfig::Stdio(stdio) = &only(&set).transport else { panic!("{set:?}") };
    assert_eq!(stdio.command, "/home/ada/bin/h.example");
    let args: Vec<_> = stdio.args.iter().map(|arg| arg.as_plain().unwrap()).collect();
    assert_eq!(args, ["--to=h.example", "$1", "~/x"]);
    let env: Vec<_> = stdio.env.iter().map(|(name, value)| format!("{name}={}", value.as_plain().unwrap())).collect();
    assert_eq!(env, ["D=d", "T=se$ame"]);
    assert_eq!(stdio.cwd.as_deref(), Some(Path::new("/work space/sub/h.example")));
    assert_eq!(problems(&set), [""; 0]);

    for (cwd, expected) in [("/abs", "/abs"), ("~", "/home/ada"), ("~/x", "/home/ada/x"), ("~x", "/work space/~x")] {
        let set = resolve_user(&format!(r#"{{"x": {{"command": "c", "cwd": "{cwd}"}}}}"#));
        let TransportConfig::Stdio(stdio) = &only(&set).transport else { panic!("{set:?}") };
        assert_eq!(stdio.cwd.as_deref(), Some(Path::new(expected)));
    }

    let set = resolve_user(
        r#"{"x": {"url": " https://${HOST}/mcp?k=$TOKEN ", "headers": {"Authorization": "Bearer ${TOKEN}"}}}"#,
    );
    let TransportConfig::HttpOrSse(http) = &only(&set).transport else { panic!("{set:?}") };
    assert_eq!(http.url.as_plain(), Some("https://h.example/mcp?k=se$ame"));
    assert_eq!(http.headers["Authorization"].as_plain(), Some("Bearer se$ame"));
}

#[test]
fn variables_that_are_not_set_are_reported_where_they_stand() {
    let stays = "the variable `NONE` is not set; the text stays as it is written (set it, or write `${NAME:-default}`; a dollar sign itself is written `\\\\$`)";
    let gone = "the variable `NONE` is not set; nothing is put in its place (set it, or write `${NAME:-default}`; a dollar sign itself is written `\\\\$`)";
    let cases = [
        (r#""command": "$NONE""#, format!("34: mcpServers.x.command: {stays}"), "'$NONE'"),
        (r#""command": "c", "args": ["a", "${NONE}"]"#, format!("53: mcpServers.x.args[1]: {stays}"), "c a '${NONE}'"),
        (r#""command": "c", "cwd": "$NONE""#, format!("46: mcpServers.x.cwd: {stays}"), "c"),
        (r#""command": "c", "env": {"A": "$NONE"}"#, format!("52: mcpServers.x.env.A: {gone}"), "c"),
        (r#""url": "http://h/$NONE""#, format!("30: mcpServers.x.url: {stays}"), "http://h/$NONE"),
        (r#""httpUrl": "http://h/$NONE""#, format!("34: mcpServers.x.httpUrl: {stays}"), "http://h/$NONE"),
        (
            r#""url": "http://h/", "headers": {"A": "Bearer $NONE"}"#,
            format!("60: mcpServers.x.headers.A: {gone}"),
            "http://h/",
        ),
    ];
    for (keys, expected, target) in cases {
        let set = resolve_user(&format!(r#"{{"x": {{{keys}}}}}"#));
        assert_eq!(problems(&set), [format!("warning: {expected}")]);
        assert_eq!(only(&set).transport.target(), target);
    }
    let mut homeless = env();
    homeless.dirs.home = None;
    let set = resolve(
        &[layer(SettingsSource::User, r#"{"mcpServers": {"x": {"command": "~/c"}}}"#)],
        &Switches::default(),
        &homeless,
    );
    let expected =
        "warning: 34: mcpServers.x.command: `~` has no meaning here: no home folder is known (write the whole path)";
    assert_eq!(problems(&set), [expected]);
}

#[test]
fn what_variables_bring_in_is_bounded() {
    let enough = SERVER_TEXT_BYTES_MAX / 100_000;
    let args = |count: usize| format!(r#"{{"x": {{"command": "c", "args": [{}"end"]}}}}"#, "\"$BIG\", ".repeat(count));
    assert_eq!(resolve_user(&args(enough)).active.len(), 1);
    let set = resolve_user(&args(enough + 1));
    assert_eq!(
        set.set_aside[0].reason.to_string(),
        "mcpServers.x.args[20]: with this the texts of the server have more than 2 MiB"
    );
    let hint = set.diagnostics[0].hint.as_deref();
    assert_eq!(hint, Some("no system takes a command line of that length"));
}

#[test]
fn the_number_of_servers_is_bounded() {
    let servers: String = (0..=SERVERS_MAX).map(|n| format!("\"s{n}\": {{\"command\": \"c\"}},")).collect();
    let set = resolve_user(&format!("{{{servers}}}"));
    assert_eq!((set.active.len(), set.set_aside.len()), (SERVERS_MAX, 1));
    assert_eq!(set.set_aside[0].reason, SetAsideReason::TooMany);
    assert_eq!(set.set_aside[0].reason.to_string(), "there are already 10000 servers");
}

#[test]
fn limits_have_defaults() {
    let server = |keys: &str| only(&resolve_user(&format!(r#"{{"x": {{"command": "c"{keys}}}}}"#))).clone();
    let plain = server("");
    assert_eq!((plain.call_timeout, plain.connect_timeout), (Duration::from_secs(600), Duration::from_secs(30)));
    assert_eq!((plain.max_duration, plain.max_concurrency), (None, 5));
    assert_eq!((plain.on_busy, plain.start, plain.trust), (OnBusy::Queue, StartMode::Auto, false));
    assert_eq!((plain.description, plain.include_tools, plain.exclude_tools), (None, None, Vec::new()));
    let full = server(
        r#", "timeout": 1500.5, "connectTimeout": 200, "maxDuration": 3000, "maxConcurrency": 2, "onBusy": "reject",
            "start": "eager", "trust": true, "description": "d", "includeTools": [], "excludeTools": ["e(*)"]"#,
    );
    assert_eq!(
        (full.call_timeout, full.connect_timeout),
        (Duration::from_micros(1_500_500), Duration::from_millis(200))
    );
    assert_eq!((full.max_duration, full.max_concurrency), (Some(Duration::from_secs(3)), 2));
    assert_eq!((full.on_busy, full.start, full.trust), (OnBusy::Reject, StartMode::Eager, true));
    assert_eq!(full.description.as_deref(), Some("d"));
    assert_eq!((full.include_tools, full.exclude_tools), (Some(Vec::new()), vec!["e(*)".to_owned()]));
}

#[test]
fn limits_that_cannot_work_are_replaced_with_a_warning() {
    let week = Duration::from_secs(7 * 24 * 3600);
    let cases = [
        (
            "timeout",
            "0",
            600_000,
            "a time limit is more than 0 milliseconds; 600000 is used (remove it to get the default)",
        ),
        (
            "timeout",
            "-5",
            600_000,
            "a time limit is more than 0 milliseconds; 600000 is used (remove it to get the default)",
        ),
        (
            "timeout",
            "1e300",
            week.as_millis(),
            "the longest time limit is a week; 604800000 is used (the unit is milliseconds)",
        ),
        (
            "timeout",
            "30",
            30,
            "30 milliseconds are very short (the unit is milliseconds; 30 seconds are written 30000)",
        ),
    ];
    for (key, value, millis, expected) in cases {
        let set = resolve_user(&format!(r#"{{"x": {{"command": "c", "{key}": {value}}}}}"#));
        assert_eq!(problems(&set), [format!("warning: 50: mcpServers.x.{key}: {expected}")]);
        assert_eq!(only(&set).call_timeout.as_millis(), millis);
    }
    let others = [
        (
            "maxDuration",
            "0",
            "54: mcpServers.x.maxDuration: a time limit is more than 0 milliseconds; no limit is set (remove it to get the default)",
        ),
        (
            "connectTimeout",
            "0",
            "57: mcpServers.x.connectTimeout: a time limit is more than 0 milliseconds; 30000 is used (remove it to get the default)",
        ),
        (
            "maxConcurrency",
            "0",
            "57: mcpServers.x.maxConcurrency: at least one call must be able to run; 5 is used (remove it to get the default)",
        ),
        (
            "maxConcurrency",
            "1e30",
            "57: mcpServers.x.maxConcurrency: at most 1000 calls run at once; that is used (write a smaller number)",
        ),
    ];
    for (key, value, expected) in others {
        let set = resolve_user(&format!(r#"{{"x": {{"command": "c", "{key}": {value}}}}}"#));
        assert_eq!(problems(&set), [format!("warning: {expected}")]);
    }
}

#[test]
fn nothing_secret_is_printed() {
    let set = resolve_user(
        r#"{"x": {"command": "c", "args": ["--token", "se$ame"], "env": {"A": "$TOKEN"}},
            "y": {"url": "http://ada:se$ame@h/?k=$TOKEN", "headers": {"A": "$TOKEN"}},
            "z": {"url": "se$ame://x"}}"#,
    );
    assert_eq!((set.active.len(), set.set_aside.len()), (2, 1));
    let printed = format!("{set:?}");
    assert!(!printed.contains("$ame") && !printed.contains("`ame"), "{printed}");
}
