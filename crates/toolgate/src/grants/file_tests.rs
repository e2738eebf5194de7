//! What is written is read back, and whatever is not as it should be is named with its place.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{parse, render};
use crate::error::ErrorKind;
use crate::grants::{Grant, GrantScope};
use crate::policy::Mode;
use crate::server_name::ServerName;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn grant(id: &str, scope: GrantScope) -> Grant {
    Grant {
        id: id.to_owned(),
        server: ServerName::new("git hub").unwrap(),
        server_identity: "sha256:aa".to_owned(),
        scope,
        tools: BTreeMap::from([("create_issue".to_owned(), "sha256:bb".to_owned())]),
        mode: Mode::Default,
        given_at: at(1_785_240_000),
        given_in: "/home/ada/project".into(),
        expires_at: None,
    }
}

#[test]
fn the_file_can_be_read_by_a_person() {
    let tools = [("a", "sha256:cc"), ("b.c \"d\"", "sha256:dd")].map(|(name, hash)| (name.to_owned(), hash.to_owned()));
    let second = Grant {
        tools: BTreeMap::from(tools),
        mode: Mode::AutoEdit,
        expires_at: Some(at(1_785_243_600)),
        ..grant("9f", GrantScope::Server)
    };
    let grants = [grant("3fa9c1", GrantScope::Arguments(r#"{"a":"it's\n"}"#.to_owned())), second];
    let text = render(&grants).unwrap();
    let below = text.lines().skip_while(|line| line.starts_with('#')).collect::<Vec<_>>().join("\n");
    let expected = r#"version = 1

[[grant]]
id = "3fa9c1"
server = "git hub"
scope = "arguments"
arguments = '''{"a":"it's\n"}'''
mode = "default"
given_at = "2026-07-28T12:00:00Z"
given_in = "/home/ada/project"
server_identity = "sha256:aa"

[grant.tools]
create_issue = "sha256:bb"

[[grant]]
id = "9f"
server = "git hub"
scope = "server"
mode = "autoEdit"
given_at = "2026-07-28T12:00:00Z"
given_in = "/home/ada/project"
expires_at = "2026-07-28T13:00:00Z"
server_identity = "sha256:aa"

[grant.tools]
a = "sha256:cc"
'b.c "d"' = "sha256:dd""#;
    assert_eq!(below, expected);
    assert_eq!(parse(&text, Path::new("g")).unwrap(), grants);
}

#[test]
fn whatever_can_be_allowed_is_read_as_it_was_written() {
    let texts = ["", " ", "a\nb\r\n", "\u{1b}[2J\0\u{7f}\u{202e}", "'''\"\"\"", "\\", "工具", "a.b.c", "#", "[x]"];
    for text in texts {
        let mut one = grant("x", GrantScope::Arguments(serde_json::json!({ text: text }).to_string()));
        one.tools = BTreeMap::from([(text.to_owned(), text.to_owned())]);
        one.given_in = text.into();
        one.server_identity = text.to_owned();
        let written = render(std::slice::from_ref(&one)).unwrap();
        assert_eq!(parse(&written, Path::new("g")).unwrap(), [one], "{text:?}");
    }
    let none = render(&[]).unwrap();
    assert_eq!(parse(&none, Path::new("g")).unwrap(), []);
}

const GOOD: &str = r#"version = 1
[[grant]]
id = "a"
server = "s"
scope = "tool"
mode = "default"
given_at = "2026-07-28T12:00:00Z"
given_in = "/w"
server_identity = "sha256:1"
tools = {t = "sha256:2"}
"#;

#[test]
fn what_is_not_as_it_should_be_is_named_with_its_place() {
    assert_eq!(parse(GOOD, Path::new("g")).unwrap().len(), 1);
    let twice = format!("{GOOD}{}", GOOD.replace("version = 1\n", ""));
    let huge_number = r#"scope = "arguments"
arguments = '{"id":123456789012345678901}'"#;
    let cases = [
        ("", "", "g:1:1: `version = 1` is missing"),
        ("version = 1", "version = 2\nnew = true", "g:1:11: version 2 is not known here, only 1"),
        ("version = 1", "version = \"1\"", "g:1:11: invalid type: string \"1\", expected i64"),
        ("version = 1", "version = 1\ntrust = true", "g:2:1: unknown field `trust`, expected `version` or `grant`"),
        ("scope = \"tool\"", "scope = ", "g:5:9: string values must be quoted, expected literal string"),
        ("scope = \"tool\"\n", "", "g:2:1: missing field `scope`"),
        ("\"tool\"", "\"all\"", "g:5:9: expected \"tool\", \"server\", \"reading\" or \"arguments\""),
        ("\"tool\"", "\"arguments\"", "g:5:9: scope \"arguments\" needs `arguments`"),
        ("\"tool\"", "\"tool\"\narguments = '{}'", "g:6:13: scope \"tool\" has no `arguments`"),
        ("\"tool\"", "\"arguments\"\narguments = '[]'", "g:6:13: `arguments` is not a JSON object"),
        (
            "\"tool\"",
            "\"arguments\"\narguments = '{'",
            "g:6:13: `arguments` is not JSON: EOF while parsing an object at line 1 column 1",
        ),
        ("scope = \"tool\"", huge_number, "g:6:13: `arguments`: they have numbers that are too large to be told apart"),
        ("\"default\"", "\"relaxed\"", "g:6:8: expected one of the modes plan, default, autoEdit, yolo"),
        ("\"a\"", "\"\"", "g:3:6: an id is one word"),
        ("\"a\"", "\"a b\"", "g:3:6: an id is one word"),
        ("\"s\"", "\" \"", "g:4:10: a server needs a name"),
        ("\"s\"", "\"s\"\nserver = \"t\"", "g:5:1: duplicate key"),
        (
            "12:00:00Z",
            "25:00:00Z",
            "g:7:12: \"2026-07-28T25:00:00Z\" is not a time; one looks like 2026-07-28T12:00:00Z",
        ),
        (
            "\"2026-07-28T12:00:00Z\"",
            "\"2026-07-28 12:00\"",
            "g:7:12: \"2026-07-28 12:00\" is not a time; one looks like 2026-07-28T12:00:00Z",
        ),
        (
            "given_in",
            "expires_at = \"never\"\ngiven_in",
            "g:8:14: \"never\" is not a time; one looks like 2026-07-28T12:00:00Z",
        ),
        ("{t = \"sha256:2\"}", "{}", "g:2:1: a grant without tools covers nothing"),
        ("{t = \"sha256:2\"}", "{t = \"1\", u = \"2\"}", "g:5:9: scope \"tool\" is about one tool"),
        ("{t = \"sha256:2\"}", "[\"t\"]", "g:10:9: invalid type: sequence, expected a map"),
        ("tools", "allow = true\ntools", "g:10:1: unknown field `allow`, expected one of"),
        (GOOD, &twice, "g:12:6: id \"a\" is already that of the grant in line 3"),
    ];
    for (from, to, expected) in cases {
        let text = if from.is_empty() { String::new() } else { GOOD.replacen(from, to, 1) };
        let error = parse(&text, Path::new("g")).expect_err(expected);
        assert_eq!(error.kind(), ErrorKind::State);
        assert!(error.hint().is_some_and(|hint| hint.contains("nothing in it counts until then")), "{error}");
        let said = error.to_string();
        assert!(said == expected || expected.ends_with("one of") && said.starts_with(expected), "{said}\n{expected}");
    }
}

#[test]
fn hostile_files_are_refused_and_never_shown_raw() {
    let deep = format!("version = 1\ngrant = {}{}", "[".repeat(5_000), "]".repeat(5_000));
    let many = format!("version = 1\n{}", "[[grant]]\n".repeat(20_000));
    let dotted = format!("version = 1\n{}x = 1", "a.".repeat(20_000));
    let escape = "version = 1\n\"\\u001b[2J\" = 1".to_owned();
    for text in [deep, many, dotted, escape, "\0".to_owned(), "[[grant]]".to_owned(), "grant = 7".to_owned()] {
        let error = parse(&text, Path::new("g")).unwrap_err().to_string();
        assert!(error.starts_with("g:") && !error.contains('\u{1b}') && error.len() < 100_000, "{error}");
    }
}
