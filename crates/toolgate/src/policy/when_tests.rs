//! Conditions on arguments, one line of data each: the condition, the arguments, whether a permission and whether a restriction holds.

use std::path::Path;

use serde_json::{Value, json};

use super::When;
use crate::asker::Asker;
use crate::filter::Arguments;
use crate::policy::decision::{Mode, Tier};
use crate::policy::facts::{CallFacts, Presence};
use crate::policy::file::{FileSource, parse};
use crate::policy::rule::Condition;
use crate::server_name::ServerName;
use crate::shell::Reach;

fn read(when: &str) -> When {
    let text = format!("[[rule]]\ntoolName = 'a'\ndecision = 'deny'\npriority = 1\nwhen = {when}\n");
    let parsed = parse(&text, &FileSource::new(Tier::User, Path::new("t.toml")));
    assert_eq!(parsed.findings, [], "{when}");
    match parsed.rules.into_iter().next().unwrap().conditions.pop() {
        Some(Condition::When(when)) => (*when).clone(),
        other => panic!("{when} became {other:?}"),
    }
}

fn holds(when: &When, arguments: &Value, reach: Reach) -> bool {
    let server = ServerName::new("s").unwrap();
    let facts = CallFacts {
        server: &server,
        builtin: None,
        tool: "a",
        arguments: &Arguments::new(arguments),
        annotations: &Value::Null,
        mode: Mode::Default,
        presence: Presence::Interactive,
        asker: Asker::Model,
        subagent: None,
        folder: Path::new("/home/u/proj"),
        folder_is_trusted: true,
        remembered: None,
    };
    when.holds(&facts, reach)
}

/// Each case: condition, arguments, then `+` when it holds for a permission and for a restriction, else `-`.
fn check(cases: &[(&str, Value, &str)]) {
    for (when, arguments, expected) in cases {
        let condition = read(when);
        let sign = |reach| if holds(&condition, arguments, reach) { '+' } else { '-' };
        let found: String = [sign(Reach::Permission), sign(Reach::Restriction)].into_iter().collect();
        assert_eq!(found, *expected, "{when} of {arguments}");
    }
}

#[test]
fn under_is_certain_for_permissions_and_possible_for_restrictions() {
    let src = "{'/p' = {under = 'src'}}";
    check(&[
        (src, json!({"p": "src/a.rs"}), "++"),
        (src, json!({"p": "src"}), "++"),
        (src, json!({"p": "./src//a.rs"}), "++"),
        (src, json!({"p": "/home/u/proj/src/a.rs"}), "++"),
        (src, json!({"p": "srcs/a.rs"}), "--"),
        (src, json!({"p": "other/src/a.rs"}), "--"),
        (src, json!({"p": "src/../secret"}), "-+"),
        (src, json!({"p": "src/../../../../etc/passwd"}), "-+"),
        (src, json!({"p": "../proj/src/a"}), "-+"),
        (src, json!({"p": "a/../src/a"}), "-+"),
        (src, json!({"p": "/etc/passwd"}), "--"),
        (src, json!({"p": "~/x"}), "--"),
        (src, json!({"p": "~/proj/src/x"}), "-+"),
        (src, json!({"p": "~u/proj/src/x"}), "-+"),
        (src, json!({"p": "~/src/x"}), "-+"),
        (src, json!({"p": "SRC/a.rs"}), "-+"),
        (src, json!({"p": " src/a.rs"}), "-+"),
        (src, json!({"p": "src/a.rs\n"}), "-+"),
        (src, json!({"p": "src\\a.rs"}), if cfg!(windows) { "++" } else { "-+" }),
        (src, json!({"p": "src\\..\\..\\x"}), "-+"),
        (src, json!({"p": "file:///home/u/proj/src/a"}), "-+"),
        (src, json!({"p": "file:///home/u/proj/%73rc/a"}), "-+"),
        (src, json!({"p": "file:src/a"}), "-+"),
        (src, json!({"p": "FILE://localhost/home/u/proj/src/a"}), "-+"),
        (src, json!({"p": ""}), "--"),
        (src, json!({"p": 5}), "--"),
        (src, json!({"p": null}), "--"),
        (src, json!({}), "--"),
        (src, json!({"p": ["src/a", "b"]}), "-+"),
        ("{'/p' = {under = '.'}}", json!({"p": "anything/below"}), "++"),
        ("{'/p' = {under = '.'}}", json!({"p": ""}), "-+"),
        ("{'/p' = {under = '.'}}", json!({"p": "file:///etc/passwd"}), "-+"),
        ("{'/p' = {under = '.'}}", json!({"p": "https://example.org/x"}), "-+"),
        ("{'/p' = {under = '.'}}", json!({"p": "C:\\x"}), "-+"),
        ("{'/p' = {under = '.'}}", json!({"p": "~/x"}), "-+"),
        ("{'/p' = {under = '/etc'}}", json!({"p": "/etc/passwd"}), "++"),
        ("{'/p' = {under = '/etc'}}", json!({"p": "../../../etc/passwd"}), "-+"),
        ("{'/p' = {under = '/etc'}}", json!({"p": "//etc//passwd"}), "++"),
        ("{'/p' = {under = '/etc'}}", json!({"p": "etc/passwd"}), "--"),
        ("{'/p' = {under = '/'}}", json!({"p": "anything"}), "++"),
        ("{'/p' = {under = '../shared'}}", json!({"p": "/home/u/shared/x"}), "++"),
        ("{'/p' = {under = ['src', 'docs']}}", json!({"p": "docs/x"}), "++"),
    ]);
}

#[test]
fn values_are_compared() {
    check(&[
        ("{'/a' = {equals = 'x'}}", json!({"a": "x"}), "++"),
        ("{'/a' = {equals = 'x'}}", json!({"a": "X "}), "-+"),
        ("{'/a' = {equals = 'x'}}", json!({"a": "y"}), "--"),
        ("{'/a' = {equals = 'x'}}", json!({"a": ["x"]}), "-+"),
        ("{'/a' = {equals = 5}}", json!({"a": 5}), "++"),
        ("{'/a' = {equals = 5}}", json!({"a": 5.0}), "++"),
        ("{'/a' = {equals = 5}}", json!({"a": "5"}), "-+"),
        ("{'/a' = {equals = 9007199254740993}}", json!({"a": 9007199254740992_i64}), "--"),
        ("{'/a' = {equals = true}}", json!({"a": true}), "++"),
        ("{'/a' = {equals = true}}", json!({"a": "true"}), "-+"),
        ("{'/a' = {equals = true}}", json!({"a": false}), "--"),
        ("{'/a' = {equals = [1, {b = 'c'}]}}", json!({"a": [1, {"b": "c"}]}), "++"),
        ("{'/a' = {equals = {b = 1}}}", json!({"a": {"b": 1, "c": 2}}), "--"),
        ("{'/a' = {one_of = ['x', 1]}}", json!({"a": "x"}), "++"),
        ("{'/a' = {one_of = ['x', 1]}}", json!({"a": 1}), "++"),
        ("{'/a' = {one_of = ['x', 1]}}", json!({"a": "z"}), "--"),
        ("{'/a' = {matches = '^v[0-9]+$'}}", json!({"a": "v12"}), "++"),
        ("{'/a' = {matches = 'b'}}", json!({"a": "abc"}), "++"),
        ("{'/a' = {matches = 'b'}}", json!({"a": "xyz"}), "--"),
        ("{'/a' = {matches = '1'}}", json!({"a": 1}), "--"),
        ("{'/a' = {max = 10}}", json!({"a": 10}), "++"),
        ("{'/a' = {max = 10}}", json!({"a": 10.5}), "--"),
        ("{'/a' = {max = 10}}", json!({"a": -3}), "++"),
        ("{'/a' = {max = 10}}", json!({"a": "7"}), "-+"),
        ("{'/a' = {max = 10}}", json!({"a": "many"}), "--"),
        ("{'/a' = {max = 10}}", json!({"a": u64::MAX}), "--"),
        ("{'/a' = {min = 0.5}}", json!({"a": 1}), "++"),
        ("{'/a' = {min = 2, max = 4}}", json!({"a": 3}), "++"),
        ("{'/a' = {min = 2, max = 4}}", json!({"a": 5}), "--"),
        ("{'/a/b' = {equals = 1}}", json!({"a": {"b": 1}}), "++"),
        ("{'/a/1' = {equals = 'y'}}", json!({"a": ["x", "y"]}), "++"),
        ("{'/a/01' = {equals = 'y'}}", json!({"a": ["x", "y"]}), "--"),
        ("{'/a~1b~0c' = {equals = 1}}", json!({"a/b~c": 1}), "++"),
    ]);
}

#[test]
fn globs_are_certain_for_permissions_and_possible_for_restrictions() {
    check(&[
        ("{'/p' = {glob = 'src/*.rs'}}", json!({"p": "src/a.rs"}), "++"),
        ("{'/p' = {glob = 'src/*.rs'}}", json!({"p": "src/x/a.rs"}), "--"),
        ("{'/p' = {glob = 'src/**/*.rs'}}", json!({"p": "src/x/y/a.rs"}), "++"),
        ("{'/p' = {glob = 'src/**/*.rs'}}", json!({"p": "src/a.rs"}), "++"),
        ("{'/p' = {glob = 'src/**'}}", json!({"p": "src/x/a"}), "++"),
        ("{'/p' = {glob = 'src/**'}}", json!({"p": "./src/x/a"}), "++"),
        ("{'/p' = {glob = 'src/**'}}", json!({"p": "/home/u/proj/src/a"}), "++"),
        ("{'/p' = {glob = 'src/**'}}", json!({"p": "src/../../x"}), "-+"),
        ("{'/p' = {glob = 'src/**'}}", json!({"p": "a/../src/x"}), "-+"),
        ("{'/p' = {glob = 'a?c'}}", json!({"p": "abc"}), "++"),
        ("{'/p' = {glob = 'a?c'}}", json!({"p": "a/c"}), "--"),
        ("{'/p' = {glob = '**/*.md'}}", json!({"p": "a/b.md"}), "++"),
        ("{'/p' = {glob = '**/*.md'}}", json!({"p": "/etc/b.md"}), "-+"),
        ("{'/p' = {glob = '**/*.md'}}", json!({"p": "~/b.md"}), "-+"),
        ("{'/p' = {glob = '**/*.md'}}", json!({"p": "file:///etc/b.md"}), "-+"),
        ("{'/p' = {glob = '/etc/*'}}", json!({"p": "/etc/b"}), "++"),
        ("{'/p' = {glob = '*.pem'}}", json!({"p": "a.pem"}), "++"),
        ("{'/p' = {glob = '*.pem'}}", json!({"p": "keys/A.PEM"}), "-+"),
        ("{'/p' = {glob = '*.pem'}}", json!({"p": "/etc/x.pem"}), "-+"),
        ("{'/p' = {glob = 'https://example.org/*'}}", json!({"p": "https://example.org/x"}), "++"),
        ("{'/p' = {glob = 'https://example.org/*'}}", json!({"p": "https://example.org.evil/x"}), "--"),
        ("{'/p' = {glob = 'a+b(c)'}}", json!({"p": "a+b(c)"}), "++"),
        ("{'/p' = {glob = ['x', 'y']}}", json!({"p": "y"}), "++"),
        ("{'/p' = {glob = 'x'}}", json!({"p": 1}), "--"),
    ]);
}

#[test]
fn presence_is_known_except_for_null() {
    check(&[
        ("{'/a' = {present = true}}", json!({"a": 1}), "++"),
        ("{'/a' = {present = true}}", json!({"a": null}), "-+"),
        ("{'/a' = {present = true}}", json!({}), "--"),
        ("{'/a' = {absent = true}}", json!({}), "++"),
        ("{'/a' = {absent = true}}", json!({"a": null}), "-+"),
        ("{'/a' = {absent = true}}", json!({"a": 1}), "--"),
        ("{'/a' = {present = false}}", json!({}), "++"),
        ("{'/a' = {absent = false}}", json!({"a": 1}), "++"),
        ("{'/a/b' = {absent = true}}", json!({"a": 1}), "++"),
        ("{'/a' = {present = true, max = 3}}", json!({"a": 2}), "++"),
        ("{not = {'/a' = {present = true}}}", json!({}), "++"),
        ("{not = {'/a' = {absent = true}}}", json!({"a": 1}), "++"),
    ]);
}

#[test]
fn conditions_combine() {
    check(&[
        ("{'/a' = {equals = 1}, '/b' = {equals = 2}}", json!({"a": 1, "b": 2}), "++"),
        ("{'/a' = {equals = 1}, '/b' = {equals = 2}}", json!({"a": 1, "b": 3}), "--"),
        ("{all = [{'/a' = {equals = 1}}, {'/b' = {equals = 2}}]}", json!({"a": 1}), "--"),
        ("{any = [{'/a' = {equals = 1}}, {'/b' = {equals = 2}}]}", json!({"a": 1}), "++"),
        ("{any = [{'/a' = {equals = 1}}, {'/b' = {equals = 2}}]}", json!({"a": 2}), "--"),
        ("{any = [{'/a' = {equals = 1}}], '/c' = {present = true}}", json!({"a": 1}), "--"),
        ("{not = {'/a' = {equals = 1}}}", json!({"a": 2}), "++"),
        ("{not = {'/a' = {equals = 1}}}", json!({"a": 1}), "--"),
        // What cannot be told: a permission is never given for it, a restriction within `not` holds.
        ("{not = {'/a' = {equals = 'x'}}}", json!({"a": "X"}), "-+"),
        ("{not = {'/a' = {equals = 1}}}", json!({}), "-+"),
        ("{not = {'/p' = {under = 'secrets'}}}", json!({"p": "src/a"}), "++"),
        ("{not = {'/p' = {under = 'secrets'}}}", json!({"p": "secrets/a"}), "--"),
        ("{not = {'/p' = {under = 'secrets'}}}", json!({"p": "src/../secrets/a"}), "-+"),
        ("{not = {'/p' = {under = 'secrets'}}}", json!({}), "-+"),
        ("{not = {'/p' = {under = 'secrets'}}}", json!({"p": 5}), "-+"),
        ("{not = {not = {'/a' = {equals = 1}}}}", json!({"a": 1}), "++"),
        ("{not = {not = {'/a' = {equals = 1}}}}", json!({}), "--"),
        ("{not = {any = [{'/a' = {equals = 1}}, {'/b' = {equals = 1}}]}}", json!({"a": 2, "b": 2}), "++"),
        ("{not = {any = [{'/a' = {equals = 1}}, {'/b' = {equals = 1}}]}}", json!({"a": 2}), "-+"),
    ]);
}

#[test]
fn a_star_is_each_element_for_permissions_and_any_for_restrictions() {
    check(&[
        ("{'/p/*' = {under = 'src'}}", json!({"p": ["src/a", "src/b"]}), "++"),
        ("{'/p/*' = {under = 'src'}}", json!({"p": ["src/a", "b"]}), "-+"),
        ("{'/p/*' = {under = 'src'}}", json!({"p": ["a", "b"]}), "--"),
        ("{'/p/*' = {under = 'src'}}", json!({"p": []}), "--"),
        ("{'/p/*' = {under = 'src'}}", json!({"p": "src/a"}), "-+"),
        ("{'/p/*' = {under = 'src'}}", json!({}), "--"),
        ("{'/p/*' = {equals = 1}}", json!({"p": {"a": 1, "b": 1}}), "++"),
        ("{'/p/*' = {equals = 1}}", json!({"p": {"a": 1, "b": 2}}), "-+"),
        ("{'/f/*/name' = {equals = 'x'}}", json!({"f": [{"name": "x"}, {"name": "x"}]}), "++"),
        ("{'/f/*/name' = {equals = 'x'}}", json!({"f": [{"name": "x"}, {}]}), "-+"),
        ("{not = {'/p/*' = {under = 'secrets'}}}", json!({"p": ["src/a", "src/b"]}), "++"),
        ("{not = {'/p/*' = {under = 'secrets'}}}", json!({"p": ["src/a", "secrets/b"]}), "-+"),
        ("{not = {'/f/*/name' = {equals = 'x'}}}", json!({"f": [{"name": "y"}, {}]}), "-+"),
        ("{'/p/*' = {min = 1, max = 2}}", json!({"p": [1, 2]}), "++"),
        ("{'/p/*' = {min = 1, max = 2}}", json!({"p": [0, 3]}), "--"),
    ]);
}

#[test]
fn a_permission_never_holds_where_the_same_restriction_does_not() {
    let conditions = [
        "{'/p' = {under = 'src'}}",
        "{'/p' = {glob = 'src/**'}}",
        "{'/p' = {equals = 'src/a'}}",
        "{not = {'/p' = {under = 'b'}}}",
    ];
    let pieces = ["src", "..", ".", "", "a", "b", "~", "/", "file:", "SRC", " ", "%2e%2e", "\\"];
    for condition in conditions.map(read) {
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    let arguments = json!({"p": format!("{first}/{second}/{third}")});
                    let permitted = holds(&condition, &arguments, Reach::Permission);
                    assert!(
                        !permitted || holds(&condition, &arguments, Reach::Restriction),
                        "{condition:?} {arguments}"
                    );
                }
            }
        }
    }
}
