//! One path in every spelling that some program understands. Restrictions of every kind hold for all of them, and no
//! permission does.

use std::path::Path;

use serde_json::{Value, json};

use super::allowed_path::check_paths;
use crate::asker::Asker;
use crate::filter::{ArgumentPattern, Arguments};
use crate::policy::file::{FileSource, parse};
use crate::policy::{CallFacts, Decision, Mode, Policy, Presence, Tier};
use crate::server_name::ServerName;
use crate::shell::Reach;

/// The folder in which relative paths start.
const FOLDER: &str = "/home/u/proj";

/// `/etc/passwd`, and spellings that may mean it.
const SPELLINGS: [&str; 109] = [
    "/etc/passwd",
    "//etc/passwd",
    "/etc//passwd",
    "/etc/./passwd",
    "/./etc/passwd",
    "/etc/passwd/",
    "/etc/../etc/passwd",
    "../../../etc/passwd",
    "src/../../../../etc/passwd",
    " /etc/passwd",
    "/etc/passwd ",
    "/etc/passwd\n",
    "\t/etc/passwd",
    "\"/etc/passwd\"",
    "'/etc/passwd'",
    "`/etc/passwd`",
    "\" /etc/passwd \"",
    "'\"/etc/passwd\"'",
    "%2fetc%2fpasswd",
    "%2Fetc/passwd",
    "/%65tc/passwd",
    "/etc%2fpasswd",
    "%252fetc%252fpasswd",
    "%25252fetc%25252fpasswd",
    "%22/etc/passwd%22",
    "/etc/passwd%0a",
    "/etc/passwd\0.txt",
    "/etc/passwd%00.txt",
    "/et\u{1}c/passwd",
    "/e\u{200b}tc/passwd",
    "\u{feff}/etc/passwd",
    "/etc/pass\u{7f}wd",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "FILE:///etc/passwd",
    "file://localhost/etc/passwd",
    "file:%2f%2f%2fetc%2fpasswd",
    "\\etc\\passwd",
    "/etc\\passwd",
    "/ETC/PASSWD",
    "/proc/self/root/etc/passwd",
    "/proc/thread-self/root/etc/passwd",
    "/proc/1/root/etc/passwd",
    "/proc/self/task/7/root/etc/passwd",
    "/proc//self/./root/etc/passwd",
    "/proc/self/../self/root/etc/passwd",
    "/proc/self/root/proc/self/root/etc/passwd",
    "%2fproc%2fself%2froot%2fetc%2fpasswd",
    "\"/proc/self/root/etc/passwd\"",
    "/proc/self/cwd/../../../etc/passwd",
    "/proc/self/fd/3",
    "/dev/fd/3",
    "/DEV//fd/./3",
    "/dev/shm/../fd/3",
    "../../../dev/fd/3",
    "../../../proc/self/root/etc/passwd",
    "src/../../../../proc/1/root/etc/passwd",
    "%2e%2e/%2e%2e/..%2fproc/self/root/etc/passwd",
    "~/../../proc/self/root/etc/passwd",
    "/etc/passwd/.",
    "/etc/passwd/./",
    "/etc/passwd//",
    "/../etc/passwd",
    "/../../etc/passwd",
    "./../../../etc/passwd",
    "////etc////passwd",
    "/proc/42/task/7/cwd/../../../etc/passwd",
    "/proc/self/root/./etc/passwd",
    "/proc//self/root//etc/passwd",
    "/proc/self/root/../etc/passwd",
    "/proc/self/map_files/x",
    "/dev/fd/0",
    "/dev/./fd//63",
    "%2Fetc%2Fpasswd%00",
    "%00/etc/passwd",
    "%20/etc/passwd",
    "/etc/passwd%20",
    "/etc/passwd%09",
    "%25%32%66etc/passwd",
    "%c0%afetc%c0%afpasswd",
    "/x%ff/../%65tc/passwd",
    "file://///etc/passwd",
    "file:///%65tc/passwd",
    "file:///etc/passwd?x=1",
    "file:///etc/passwd#x",
    "file:/etc/../etc/passwd",
    " file:///etc/passwd",
    "\"file:///etc/passwd\"",
    "file://127.0.0.1/etc/passwd",
    "file:///proc/self/root/etc/passwd",
    "file:\\\\\\etc\\passwd",
    "/etc/passwd\u{ad}",
    "\u{202e}/etc/passwd",
    "/etc\u{2060}/passwd",
    "/etc/pass\u{e0041}wd",
    "/etc/passwd\u{fe0f}",
    "／etc／passwd",
    "/ｅtc/passwd",
    "/etc∕passwd",
    "/etc/passwd\u{a0}",
    "\u{3000}/etc/passwd",
    "/etc/passwd.",
    "/etc./passwd",
    "/etc/passwd. .",
    "'`/etc/passwd`'",
    "\"\"/etc/passwd\"\"",
    "%2522/etc/passwd%2522",
    "/etc/passwd\r\n",
    "\u{b}/etc/passwd\u{c}",
];

/// Spellings of one file in the folder that no permission may match.
const INSIDE: [&str; 19] = [
    "/proc/self/cwd/src/a",
    "/proc/thread-self/cwd/src/a",
    "/proc/7/cwd/src/a",
    "/proc/self/root/home/u/proj/src/a",
    "/dev/fd/4",
    "\"src/a\"",
    "'src/a'",
    "src%2fa",
    "src/%252e%252e/src/a",
    "src/a\0",
    "src/\u{1}a",
    "src/\u{200b}a",
    " src/a",
    "x/../src/a",
    "src／a",
    "src/\u{ad}a",
    "src%c0%afa",
    "src/a\u{a0}",
    "/proc/self/task/7/cwd/src/a",
];

fn decision(rule: &str, arguments: &Value) -> Decision {
    let text = format!("[[rule]]\ntoolName = 'read'\npriority = 1\n{rule}\n");
    let parsed = parse(&text, &FileSource::new(Tier::User, Path::new("t.toml")));
    assert_eq!(parsed.findings, [], "{rule}");
    let server = ServerName::new("s").unwrap();
    let facts = CallFacts {
        server: &server,
        builtin: None,
        tool: "read",
        arguments: &Arguments::new(arguments).in_folder(Path::new(FOLDER)),
        annotations: &Value::Null,
        mode: Mode::Default,
        presence: Presence::Interactive,
        asker: Asker::Model,
        subagent: None,
        folder: Path::new(FOLDER),
        folder_is_trusted: true,
        remembered: None,
    };
    Policy::new(parsed.rules).decide(&facts).decision
}

#[test]
fn every_condition_that_restricts_knows_every_spelling() {
    let conditions = [
        "{under = '/etc'}",
        "{under = '../../../etc'}",
        "{equals = '/etc/passwd'}",
        "{one_of = ['/x', '/etc/passwd']}",
        "{matches = '(?i)^/etc/passwd$'}",
        "{glob = '/etc/*'}",
        "{glob = '/etc/**'}",
    ];
    let room = tempfile::tempdir().unwrap();
    let entries =
        ["path=/etc/passwd", "/etc/passwd", "path=/etc/*"].map(|entry| ArgumentPattern::parse(entry).unwrap());
    let mut rows = 0;
    for spelling in SPELLINGS {
        let arguments = json!({ "path": spelling });
        for condition in conditions {
            let rule = format!("decision = 'deny'\nwhen = {{'/path' = {condition}}}");
            assert_eq!(decision(&rule, &arguments), Decision::Deny, "{condition} of {spelling:?}");
            rows += 1;
        }
        for entry in &entries {
            let arguments = Arguments::new(&arguments).in_folder(Path::new(FOLDER));
            assert!(entry.matches(&arguments, Reach::Restriction), "{entry:?} of {spelling:?}");
            rows += 1;
        }
        let checked = check_paths(&[("path".to_owned(), spelling.to_owned())], &room.path().into());
        assert_eq!(checked.map(|(decision, _)| decision), Some(Decision::Deny), "allowed-path of {spelling:?}");
        rows += 1;
    }
    assert!(rows >= 120, "{rows}");
}

#[test]
fn no_condition_that_permits_is_sure_of_them() {
    let conditions = [
        "{under = '.'}",
        "{under = '/home/u/proj'}",
        "{glob = '**'}",
        "{glob = 'src/**'}",
        "{glob = '/home/u/proj/**'}",
        "{equals = 'src/a'}",
        "{one_of = ['src/a']}",
        "{matches = '^src/a$'}",
    ];
    let entries = ["path=/home/u/proj", "path=src", "path=src/*"].map(|entry| ArgumentPattern::parse(entry).unwrap());
    for spelling in SPELLINGS.iter().chain(&INSIDE) {
        let arguments = json!({ "path": spelling });
        for condition in conditions {
            let rule = format!("decision = 'allow'\nwhen = {{'/path' = {condition}}}");
            assert_eq!(decision(&rule, &arguments), Decision::Ask, "{condition} of {spelling:?}");
        }
        for entry in &entries {
            let arguments = Arguments::new(&arguments).in_folder(Path::new(FOLDER));
            assert!(!entry.matches(&arguments, Reach::Permission), "{entry:?} of {spelling:?}");
        }
    }
    let climbing = [
        "src/%2e%2e/%2e%2e/x",
        "src/%252e%252e/x",
        "src/..\\..\\x",
        "src/\u{200b}../../x",
        "src/.\0./../x",
        "file:src/../../x",
    ];
    for spelling in climbing {
        let rule = "decision = 'allow'\nwhen = {'/path' = {matches = 'src/'}}";
        assert_eq!(decision(rule, &json!({ "path": spelling })), Decision::Ask, "{spelling:?}");
    }
    for plain in ["src/a", "./src/a", "/home/u/proj/src/a", "src//a"] {
        let rule = "decision = 'allow'\nwhen = {'/path' = {under = 'src'}}";
        assert_eq!(decision(rule, &json!({ "path": plain })), Decision::Allow, "{plain}");
    }
}

#[test]
fn what_is_inside_is_found_by_restrictions_however_it_is_written() {
    let conditions = ["{under = 'src'}", "{equals = 'src/a'}", "{matches = '^src/a$'}", "{glob = 'src/*'}"];
    for spelling in INSIDE {
        for condition in conditions {
            let rule = format!("decision = 'deny'\nwhen = {{'/path' = {condition}}}");
            assert_eq!(decision(&rule, &json!({ "path": spelling })), Decision::Deny, "{condition} of {spelling:?}");
        }
    }
}

#[test]
fn a_number_is_the_same_however_it_is_spelled() {
    // The condition, the value, whether it restricts, whether it permits.
    let cases = [
        ("{equals = 1}", json!(1), true, true),
        ("{equals = 1}", json!(1.0), true, true),
        ("{equals = 1}", json!("1"), true, false),
        ("{equals = 1}", json!("1.0"), true, false),
        ("{equals = 1}", json!("1e0"), true, false),
        ("{equals = 1}", json!("+1"), true, false),
        ("{equals = 1}", json!("01"), true, false),
        ("{equals = 1}", json!(" 1 "), true, false),
        ("{equals = 1}", json!("0x1"), true, false),
        ("{equals = 1}", json!("\"1\""), true, false),
        ("{equals = 1}", json!("2"), false, false),
        ("{equals = 1}", json!("1x"), false, false),
        ("{equals = '1'}", json!(1), true, false),
        ("{equals = '1.0'}", json!(1), true, false),
        ("{equals = '1'}", json!("1.0"), true, false),
        ("{one_of = [1, 2]}", json!("2.0"), true, false),
        ("{one_of = ['1', '2']}", json!(2.0), true, false),
        ("{max = 10}", json!("0x0a"), true, false),
        ("{max = 10}", json!("1_0"), true, false),
        ("{min = 10}", json!("1e1"), true, false),
        ("{min = 10}", json!("9.99"), false, false),
        ("{equals = true}", json!("TRUE"), true, false),
    ];
    for (condition, value, restricts, permits) in cases {
        let arguments = json!({ "path": value });
        let deny = format!("decision = 'deny'\nwhen = {{'/path' = {condition}}}");
        assert_eq!(decision(&deny, &arguments) == Decision::Deny, restricts, "{condition} restricts {value}");
        let allow = format!("decision = 'allow'\nwhen = {{'/path' = {condition}}}");
        assert_eq!(decision(&allow, &arguments) == Decision::Allow, permits, "{condition} permits {value}");
    }
}
