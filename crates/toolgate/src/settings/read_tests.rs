//! Tests of one file: every message in full, and what is kept of a file that has problems.

use std::path::Path;

use super::read_text;
use crate::limits::{SETTINGS_DEPTH_MAX, SETTINGS_DIAGNOSTICS_MAX};
use crate::settings::raw::{OnBusy, RawEntry, RawServer, RawValue, StartMode, ToolNaming, TransportType};
use crate::settings::{Diagnostic, Located, Position, SettingsLayer, SettingsSource};

fn read(text: &str) -> SettingsLayer {
    read_text(text, Path::new("s.json"), SettingsSource::User).unwrap()
}

/// `severity: place: key: message (hint)`
fn line(diagnostic: &Diagnostic) -> String {
    let hint = diagnostic.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{}: {diagnostic}{hint}", diagnostic.severity)
}

fn check(text: &str, expected: &[&str]) {
    let found: Vec<String> = read(text).diagnostics.iter().map(line).collect();
    assert_eq!(found, expected, "in {text}");
}

fn server(layer: &SettingsLayer, index: usize) -> &RawServer {
    match &layer.settings.mcp_servers[index].entry {
        RawEntry::Server(server) => server,
        RawEntry::Broken(reason) => panic!("{reason}"),
    }
}

#[test]
fn every_field_is_read_with_its_place() {
    let text = r#"// My servers.
{
  "$schema": "x",
  "mcpServers": {
    "a": {
      "command": "c", "args": ["x", "y",], "env": {"K": "v"}, "cwd": "w", "url": "u", "httpUrl": "h",
      "headers": {"H": "v"}, "type": "sse", "tcp": "t", "builtin": "b", "timeout": 1, "connectTimeout": 2.5,
      "maxDuration": 3e3, "maxConcurrency": 4, "onBusy": "reject", "start": "lazy", "trust": true,
      "description": "d\n\u00e9", "includeTools": ["i"], "excludeTools": ["e"],
      "oauth": {"enabled": true, "scopes": ["s", "t"]}, /* between */
      "authProviderType": "google_credentials", "targetAudience": "ta", "targetServiceAccount": "ts",
    },
    "空 格": {"command": null, "args": null, "env": null, "timeout": null, "trust": null, "oauth": null, "type": null},
  },
  "mcp": {"connectLimit": 3, "allowed": ["a"], "excluded": [], "serverCommand": "x", "allowedApproves": true},
  "tools": {"naming": "qualified", "truncateToolOutputThreshold": -1, "search": {"mode": "auto"}},
  "security": {"strict": true, "environmentVariableRedaction": {"enabled": true, "allowed": ["A"], "blocked": ["B"]}},
  "model": {"name": "m"}, "audit": {"fsync": "never"}, "policyPaths": ["p"],
}"#;
    let layer = read(text);
    assert_eq!(layer.diagnostics, []);
    let names: Vec<_> =
        layer.settings.mcp_servers.iter().map(|entry| (entry.name.value.as_str(), entry.name.at)).collect();
    assert_eq!(names, [("a", Position { line: 5, column: 5 }), ("空 格", Position { line: 13, column: 5 })]);
    let a = server(&layer, 0);
    let text_of = |text: &Option<Located<String>>| text.as_ref().unwrap().value.clone();
    let texts = [&a.command, &a.cwd, &a.url, &a.http_url, &a.tcp, &a.builtin, &a.description];
    assert_eq!(texts.map(text_of), ["c", "w", "u", "h", "t", "b", "d\né"]);
    assert_eq!([&a.target_audience, &a.target_service_account].map(text_of), ["ta", "ts"]);
    let args = a.args.as_ref().unwrap();
    assert_eq!(args.at, Position { line: 6, column: 31 });
    assert_eq!(args.value[1], Located { value: "y".to_owned(), at: Position { line: 6, column: 37 } });
    assert_eq!(a.env.as_ref().unwrap().value[0].value.value, "v");
    assert_eq!(a.headers.as_ref().unwrap().value[0].name.value, "H");
    assert_eq!(a.transport_type.unwrap().value, TransportType::Sse);
    let numbers = [a.timeout, a.connect_timeout, a.max_duration, a.max_concurrency].map(|number| number.unwrap().value);
    assert_eq!(numbers, [1.0, 2.5, 3000.0, 4.0]);
    assert_eq!((a.on_busy.unwrap().value, a.start.unwrap().value), (OnBusy::Reject, StartMode::Lazy));
    assert!(a.trust.unwrap().value);
    assert_eq!(
        format!("{:?}", a.oauth.as_ref().unwrap().value),
        r#"{"enabled": true, "scopes": [a string, a string]}"#
    );
    let nothing = server(&layer, 1);
    assert!(nothing.command.is_none() && nothing.args.is_none() && nothing.oauth.is_none() && nothing.trust.is_none());
    let settings = &layer.settings;
    assert_eq!(settings.mcp.connect_limit.unwrap().value, 3.0);
    assert_eq!(settings.mcp.excluded.as_ref().unwrap().value, []);
    assert_eq!(text_of(&settings.mcp.server_command), "x");
    assert_eq!(settings.mcp.others.len(), 1);
    assert_eq!(settings.tools.naming.unwrap().value, ToolNaming::Qualified);
    assert_eq!(settings.security.env_blocked.as_ref().unwrap().value[0].value, "B");
    assert!(matches!(settings.security.others[0].value.value, RawValue::Bool(true)));
    let others: Vec<_> = settings.others.iter().map(|member| member.key.value.as_str()).collect();
    assert_eq!(others, ["model", "audit", "policyPaths"]);
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    let cases: &[(&str, &[&str])] = &[
        (
            "{\"mcpServers\": {\"gh\": {\n  \"comand\": \"x\", \"serverUrl\": \"y\", \"banana\": 1, \"disabled\": true}}}",
            &[
                "warning: s.json:2:3: mcpServers.gh.comand: unknown key (did you mean `command`?)",
                "warning: s.json:2:18: mcpServers.gh.serverUrl: unknown key (write `url`)",
                "warning: s.json:2:36: mcpServers.gh.banana: unknown key (remove it; it has no effect)",
                "warning: s.json:2:49: mcpServers.gh.disabled: unknown key (it has no effect; name the server in `mcp.excluded`)",
            ],
        ),
        (r#"{"mcpServer": {}}"#, &["warning: s.json:1:2: mcpServer: unknown key (did you mean `mcpServers`?)"]),
        (r#"{"ui": {}}"#, &["warning: s.json:1:2: ui: a key of another program; it has no effect here"]),
        (
            r#"{"ui": {}, "tools": {"shell": {}, "exclud": []}, "security": {"auth": 1}}"#,
            &[
                "warning: s.json:1:35: tools.exclud: unknown key (did you mean `exclude`?)",
                "warning: s.json:1:2: 3 keys of other programs have no effect here: `ui`, `tools.shell`, `security.auth`",
            ],
        ),
        (
            r#"{"servers": {"a": {}}}"#,
            &["warning: s.json:1:2: servers: unknown key (servers stand under `mcpServers` here; rename `servers`)"],
        ),
        (
            r#"{"mcp_servers": {}}"#,
            &[
                "warning: s.json:1:2: mcp_servers: unknown key (servers stand under `mcpServers` here; rename `mcp_servers`)",
            ],
        ),
        (
            r#"{"context_servers": {}}"#,
            &[
                "warning: s.json:1:2: context_servers: unknown key (servers stand under `mcpServers` here; rename `context_servers`)",
            ],
        ),
        (
            r#"{"github": {"command": "x"}}"#,
            &["warning: s.json:1:2: github: unknown key (a server stands under `mcpServers`)"],
        ),
        (
            r#"{"mcp": {"servers": {}, "conectLimit": 1}}"#,
            &[
                "warning: s.json:1:10: mcp.servers: unknown key (servers stand under `mcpServers`, at the top of the file)",
                "warning: s.json:1:25: mcp.conectLimit: unknown key (did you mean `connectLimit`?)",
            ],
        ),
        (
            r#"{"tools": {"nameing": 1}}"#,
            &["warning: s.json:1:12: tools.nameing: unknown key (did you mean `naming`?)"],
        ),
        (
            r#"{"tools": {"search": {"x": 1}}}"#,
            &["warning: s.json:1:23: tools.search.x: unknown key (the keys here are `mode`, `threshold`, `pinned`)"],
        ),
        (
            r#"{"security": {"environmentVariableRedaction": {"x": 1}, "folderTrust": {"enable": 1}}}"#,
            &[
                "warning: s.json:1:48: security.environmentVariableRedaction.x: unknown key (the keys here are `allowed`, `blocked`, `enabled`)",
                "warning: s.json:1:73: security.folderTrust.enable: unknown key (did you mean `enabled`?)",
            ],
        ),
    ];
    for (text, expected) in cases {
        check(text, expected);
    }
}

#[test]
fn keys_of_old_versions_name_the_key_of_today() {
    check(
        r#"{"excludeTools": ["x"], "coreTools": []}"#,
        &[
            "warning: s.json:1:2: excludeTools: unknown key (it has no effect; write `tools.exclude`)",
            "warning: s.json:1:25: coreTools: unknown key (it has no effect; write `tools.core`)",
        ],
    );
}

#[test]
fn wrong_kinds_say_what_was_expected_and_found() {
    let field = |field: &str| format!(r#"{{"mcpServers": {{"x": {{{field}}}}}}}"#);
    let hint_list = "write a list such as [\"one\", \"two\"]";
    let cases = [
        (r#""args": 5"#, format!("31: mcpServers.x.args: expected a list of strings, found a number ({hint_list})")),
        (r#""args": {}"#, format!("31: mcpServers.x.args: expected a list of strings, found an object ({hint_list})")),
        (
            r#""args": "-y x""#,
            "31: mcpServers.x.args: expected a list of strings, found a string (write a list, each entry in double quotes: [\"one\", \"two\"])"
                .to_owned(),
        ),
        (r#""args": ["a", []]"#, "37: mcpServers.x.args[1]: expected a string, found a list (write one text in double quotes)".to_owned()),
        (r#""args": [null]"#, "32: mcpServers.x.args[0]: expected a string, found null (write one text in double quotes)".to_owned()),
        (
            r#""command": 5"#,
            "34: mcpServers.x.command: expected a string, found a number (put it in double quotes)".to_owned(),
        ),
        (r#""command": ["npx"]"#, "34: mcpServers.x.command: expected a string, found a list (write one text in double quotes)".to_owned()),
        (
            r#""env": ["A=b"]"#,
            "30: mcpServers.x.env: expected an object with strings, found a list (write an object such as {\"NAME\": \"value\"})"
                .to_owned(),
        ),
        (r#""env": {"A": {}}"#, "36: mcpServers.x.env.A: expected a string, found an object (write one text in double quotes)".to_owned()),
        (r#""timeout": "soon""#, "34: mcpServers.x.timeout: expected a number, found a string (write a number such as 30000, without quotes)".to_owned()),
        (r#""timeout": true"#, "34: mcpServers.x.timeout: expected a number, found a boolean (write a number such as 30000, without quotes)".to_owned()),
        (r#""timeout": 1e999"#, "34: mcpServers.x.timeout: expected a number, found a number (write a number such as 30000, without quotes)".to_owned()),
        (r#""trust": 1"#, "32: mcpServers.x.trust: expected true or false, found a number (write true or false, without quotes)".to_owned()),
        (
            r#""type": "websocket""#,
            "31: mcpServers.x.type: expected \"http\", \"sse\" or \"stdio\", found another word (write one of these words, in double quotes)".to_owned(),
        ),
        (r#""onBusy": 1"#, "33: mcpServers.x.onBusy: expected \"queue\" or \"reject\", found a number (write one of these words, in double quotes)".to_owned()),
        (
            r#""start": "now""#,
            "32: mcpServers.x.start: expected \"auto\", \"eager\" or \"lazy\", found another word (write one of these words, in double quotes)".to_owned(),
        ),
        (r#""oauth": "yes""#, "32: mcpServers.x.oauth: expected an object, found a string (write an object: `{ … }`)".to_owned()),
    ];
    for (text, expected) in cases {
        let text = field(text);
        check(&text, &[&format!("error: s.json:1:{expected}")]);
        let layer = read(&text);
        let RawEntry::Broken(reason) = &layer.settings.mcp_servers[0].entry else { panic!("not broken: {text}") };
        assert!(expected.contains(reason), "{reason}");
    }
}

#[test]
fn what_was_surely_meant_is_taken_with_a_warning() {
    let field = |field: &str| format!(r#"{{"mcpServers": {{"x": {{{field}}}}}}}"#);
    let cases = [
        (
            r#""timeout": "3e4""#,
            "34: mcpServers.x.timeout: expected a number, found a string; it is read as 30000 (write 30000 without quotes)",
        ),
        (
            r#""trust": "True""#,
            "32: mcpServers.x.trust: expected true or false, found a string; it is read as true (write true without quotes)",
        ),
        (
            r#""env": {"PORT": 8080}"#,
            "39: mcpServers.x.env.PORT: expected a string, found a number; it is read as it is written (put it in double quotes)",
        ),
        (
            r#""args": ["-p", true]"#,
            "38: mcpServers.x.args[1]: expected a string, found a boolean; it is read as it is written (put it in double quotes)",
        ),
        (
            r#""excludeTools": "x""#,
            "39: mcpServers.x.excludeTools: expected a list of strings, found a string; it is read as a list of one (put it between `[` and `]`)",
        ),
        (r#""type": "streamable-http""#, "31: mcpServers.x.type: `streamable-http` is read as `http` (write \"http\")"),
    ];
    for (text, expected) in cases {
        check(&field(text), &[&format!("warning: s.json:1:{expected}")]);
    }
    let all = cases.map(|(text, _)| text).join(",");
    let layer = read(&field(&all));
    let x = server(&layer, 0);
    assert_eq!((x.timeout.unwrap().value, x.trust.unwrap().value), (30_000.0, true));
    assert_eq!(x.env.as_ref().unwrap().value[0].value.value, "8080");
    assert_eq!(x.args.as_ref().unwrap().value[1].value, "true");
    assert_eq!(x.exclude_tools.as_ref().unwrap().value[0].value, "x");
    assert_eq!(x.transport_type.unwrap().value, TransportType::Http);
}

#[test]
fn one_broken_entry_does_not_take_the_others_with_it() {
    let text =
        r#"{"mcpServers": {"a": 5, "b": {"command": "x"}, "c": {"command": "y", "args": 1, "env": 2}, "d": null}}"#;
    let hint = "write an object such as {\"command\": \"npx\", \"args\": [\"-y\", \"package\"]}";
    check(
        text,
        &[
            &format!("error: s.json:1:22: mcpServers.a: expected an object, found a number ({hint})"),
            "error: s.json:1:78: mcpServers.c.args: expected a list of strings, found a number (write a list such as [\"one\", \"two\"])",
            "error: s.json:1:88: mcpServers.c.env: expected an object with strings, found a number (write an object such as {\"NAME\": \"value\"})",
            &format!("error: s.json:1:97: mcpServers.d: expected an object, found null ({hint})"),
        ],
    );
    let layer = read(text);
    let broken = layer.settings.mcp_servers.iter().map(|entry| matches!(entry.entry, RawEntry::Broken(_)));
    assert_eq!(broken.collect::<Vec<_>>(), [true, false, true, true]);
    let servers = layer.diagnostics.iter().map(|one| one.server.as_deref().unwrap());
    assert_eq!(servers.collect::<Vec<_>>(), ["a", "c", "c", "d"]);
    assert_eq!(server(&layer, 1).command.as_ref().unwrap().value, "x");
}

#[test]
fn sections_of_the_wrong_kind_are_as_good_as_not_written() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#"{"mcpServers": []}"#,
            &["error: s.json:1:16: mcpServers: expected an object, found a list (write an object: `{ … }`)"],
        ),
        (
            r#"{"mcp": {"connectLimit": {}}}"#,
            &[
                "error: s.json:1:26: mcp.connectLimit: expected a number, found an object (write a number such as 30000, without quotes)",
            ],
        ),
        (
            r#"{"tools": {"naming": "long"}}"#,
            &[
                "error: s.json:1:22: tools.naming: expected \"short\" or \"qualified\", found another word (write one of these words, in double quotes)",
            ],
        ),
        (r#"{"mcpServers": null, "mcp": null, "tools": null, "security": null}"#, &[]),
    ];
    for (text, expected) in cases {
        check(text, expected);
    }
}

#[test]
fn a_list_of_servers_that_cannot_be_read_allows_nothing() {
    for key in ["allowed", "excluded"] {
        let layer = read(&format!(r#"{{"mcp": {{"{key}": 5}}}}"#));
        assert_eq!(layer.diagnostics.len(), 1);
        assert_eq!(layer.settings.mcp.allowed.unwrap().value, []);
    }
    let one = read(r#"{"mcp": {"excluded": "github"}}"#).settings.mcp;
    assert!(one.allowed.is_none());
    assert_eq!(one.excluded.unwrap().value[0].value, "github");
}

#[test]
fn a_key_written_twice_leaves_nobody_guessing() {
    let cases = [
        ("{\"mcp\": {},\n\"mcp\": {}}", "s.json:1:2: mcp: written twice; the other one is in line 2"),
        (
            "{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}",
            "s.json:2:1: mcpServers.a: written twice; the other one is in line 3",
        ),
        (
            "{\"mcpServers\": {\"b\": {\"env\": {\"K\": \"1\", \"K\": \"2\"}}}}",
            "s.json:1:31: mcpServers.b.env.K: written twice; the other one is in line 1",
        ),
        (
            "{\"audit\": {\"fsync\": \"never\", \"fsync\": \"always\"}}",
            "s.json:1:12: audit.fsync: written twice; the other one is in line 1",
        ),
    ];
    for (text, expected) in cases {
        let error = read_text(text, Path::new("s.json"), SettingsSource::User).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.hint(), Some("remove one of the two"));
    }
}

#[test]
fn texts_that_are_no_settings_say_what_was_expected_where() {
    let brackets = Some("a list ends with `]`, an object with `}`");
    let words = Some("keys and strings stand in double quotes; other words are only true, false and null");
    let not_closed = Some("a string ends on the line it starts on; a line break in it is written `\\n`");
    let cases = [
        ("[]", "1:1: expected `{`: a settings file is one object", Some("put everything between `{` and `}`")),
        ("{\"a\" 1}", "1:6: expected `:` after the key", None),
        ("{\"a\":", "1:6: expected a value after `:`", None),
        ("{\"a\": 1 \"b\": 2}", "1:8: expected `,` between two entries", None),
        ("{\"a\": [1 2]}", "1:9: expected `,` between two entries", None),
        ("{a: 1}", "1:2: expected a key in double quotes", None),
        ("{,}", "1:2: expected a key in double quotes or `}`", None),
        ("{\"a\": 1,, }", "1:9: expected a key in double quotes or `}`", None),
        ("{'a': 1}", "1:2: expected double quotes", None),
        ("{\"a\": npx}", "1:7: expected JSON", words),
        ("{\"a\": npx }", "1:7: expected JSON", words),
        ("{\u{201c}a\u{201d}: 1}", "1:2: expected JSON", words),
        ("{\"a\": [,]}", "1:8: expected a value, found `,`", None),
        ("{\"a\": :}", "1:7: expected a value, found `:`", None),
        ("{\"a\": }", "1:7: expected a value, found `}`", brackets),
        ("{\"a\": [\"x\"}", "1:11: expected a value, found `}`", brackets),
        ("{\"a\": ]}", "1:7: expected a value, found `]`", brackets),
        (
            "{\n \"a\": {\"b\": 1",
            "2:7: expected `}` at the end of the object that starts here",
            Some("the file ends before it"),
        ),
        ("{\"a\": [1,", "1:7: expected `]` at the end of the list that starts here", Some("the file ends before it")),
        ("{} /* x", "1:4: expected `*/` at the end of the comment that starts here", None),
        (
            "{}\n}",
            "2:1: expected the end of the file",
            Some("a settings file is one object; is there a `}` too many above?"),
        ),
        ("{\"a\": \"x\n\"}", "1:7: expected `\"` at the end of the string that starts here", not_closed),
        ("{\"a\": \"x}", "1:7: expected `\"` at the end of the string that starts here", not_closed),
        (
            "{\"a\": \"C:\\tools\\x\"}",
            "1:16: expected an escape that JSON knows",
            Some("a backslash itself is written `\\\\`, for instance in `C:\\\\tools`"),
        ),
        ("{\"a\": 0x10}", "1:7: expected a decimal number such as 30000", None),
        ("{\"a\": -}", "1:8: expected a decimal number such as 30000", None),
        (
            "{\"a\": \"\0\"}",
            "1:8: the control character U+0000 has no place in a settings file",
            Some("remove it; in a string it is written as an escape such as `\\u0007`"),
        ),
        (
            "\u{1b}{}",
            "1:1: the control character U+001B has no place in a settings file",
            Some("remove it; in a string it is written as an escape such as `\\u0007`"),
        ),
    ];
    for (text, expected, hint) in cases {
        let error = read_text(text, Path::new("s.json"), SettingsSource::User).expect_err(text);
        assert_eq!((error.to_string(), error.hint()), (format!("s.json:{expected}"), hint), "{text}");
        assert!(error.excerpt().is_some_and(|excerpt| excerpt.contains(" | ") && excerpt.ends_with('^')), "{text}");
    }
}

#[test]
fn a_syntax_error_shows_its_line_without_values() {
    let text = "{\n  \"env\": {\"TOKEN\": \"sesame\" \"B\": 1}\n}";
    let error = read_text(text, Path::new("s.json"), SettingsSource::User).unwrap_err();
    assert_eq!(error.to_string(), "s.json:2:28: expected `,` between two entries");
    assert_eq!(error.excerpt(), Some("2 |   \"env\": {\"TOKEN\": \"…\" \"B\": 1}\n  |                       ^"));
}

#[test]
fn nesting_has_an_end() {
    let nested = |depth: usize| format!("{{\"hooks\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(read(&nested(SETTINGS_DEPTH_MAX - 1)).diagnostics, []);
    for depth in [SETTINGS_DEPTH_MAX, 1_000_000] {
        let error = read_text(&nested(depth), Path::new("s.json"), SettingsSource::User).unwrap_err();
        assert_eq!(error.to_string(), "s.json:1:74: more than 64 levels of `{` and `[`");
        assert_eq!(error.hint(), Some("no setting is nested that deep"));
    }
}

#[test]
fn empty_texts_and_marks_at_the_start() {
    for text in ["", " \n", "// nothing\n", "\u{feff}"] {
        check(text, &["warning: s.json: nothing is written in this file (an empty settings file is `{}`)"]);
    }
    check("\u{feff}{\"x\": 1}", &["warning: s.json:1:2: x: unknown key (remove it; it has no effect)"]);
    check("{}\r\n", &[]);
}

#[test]
fn what_is_wrong_is_listed_up_to_a_limit() {
    let text = format!("{{\"mcpServers\": {{{}}}}}", (0..50_000).map(|n| format!("\"s{n}\": 1,")).collect::<String>());
    let layer = read(&text);
    assert_eq!(layer.settings.mcp_servers.len(), 50_000);
    assert_eq!(layer.diagnostics.len(), SETTINGS_DIAGNOSTICS_MAX + 1);
    assert_eq!(layer.diagnostics.last().unwrap().to_string(), "s.json: 49800 more problems are not listed");
}

#[test]
fn nothing_secret_is_printed() {
    let text = r#"{"mcpServers": {"a": {"command": "c", "args": ["sesame"], "env": {"K": "sesame"}, "url": "http://sesame",
        "headers": {"H": "sesame"}, "oauth": {"clientSecret": "sesame"}}}, "model": {"key": "sesame"}}"#;
    let printed = format!("{:?}", read(text));
    assert!(!printed.contains("sesame"), "{printed}");
}

#[test]
fn no_damage_to_a_file_makes_the_reader_fall_over() {
    let text = r#"{"mcpServers": {"é": {"command": "c", "args": ["\u00e9", 1,], "env": {"A": "b"}}}, "mcp": {"allowed": []}} // x
        /* y */"#;
    let places: Vec<usize> = text.char_indices().map(|(index, _)| index).collect();
    let mut read_well = 0;
    for &place in &places {
        let (before, after) = text.split_at(place);
        let without: String = before.chars().chain(after.chars().skip(1)).collect();
        let damaged = ["\"", "'", "{", "]", ",", ":", "\\", "/", "\0", "\n", "漢", "-", "t"]
            .map(|sign| format!("{before}{sign}{after}"));
        for text in damaged.iter().chain([&without, &before.to_owned(), &after.to_owned()]) {
            match read_text(text, Path::new("s.json"), SettingsSource::User) {
                Ok(_) => read_well += 1,
                Err(error) => assert!(error.to_string().starts_with("s.json:"), "{error}"),
            }
        }
    }
    assert!(read_well > places.len(), "damage inside strings and comments is no damage to the form: {read_well}");
}
