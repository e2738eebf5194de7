//! Suggestions, as tables: what they say, that a policy file can say it, and that they allow what was allowed and nothing beside it.

use std::path::Path;

use serde_json::{Value, json};

use super::{AllowedCall, suggest};
use crate::policy::file::{FileSource, parse};
use crate::policy::test_notation::call;
use crate::policy::{Decision, Policy, Rule, Tier};

fn toml(tool: &str, calls: &[Value]) -> Vec<String> {
    let call =
        |arguments: &Value| AllowedCall { server: "s".to_owned(), tool: tool.to_owned(), arguments: arguments.clone() };
    let calls: Vec<AllowedCall> = calls.iter().map(call).collect();
    suggest(&calls).into_iter().map(|one| one.toml).collect()
}

fn rules(toml: &[String]) -> Vec<Rule> {
    let parsed = parse(&toml.join("\n"), &FileSource::new(Tier::User, Path::new("suggested.toml")));
    assert_eq!(parsed.findings, [], "{toml:?}");
    parsed.rules
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn every_argument_is_asked_for() {
    let many_paths: Vec<Value> = (0..42).map(|nth| json!({"path": format!("src/{nth}.rs")})).collect();
    let many_writes: Vec<Value> =
        (0..42).map(|nth| json!({"path": format!("src/{nth}.rs"), "content": format!("{nth}")})).collect();
    let many_notes: Vec<Value> =
        (0..42).map(|nth| json!({"path": format!("src/{nth}.rs"), "note": format!("{nth}")})).collect();
    let cases = [
        (vec![json!({})], vec!["argsPattern = \"^\\\\{\\\\}$\"\n"]),
        (vec![json!({"a": 1})], vec!["[rule.when]\n\"/a\" = { equals = 1 }\n"]),
        (
            vec![json!({"a": "x"}), json!({"a": "y"}), json!({"a": "x"})],
            vec!["[rule.when]\n\"/a\" = { one_of = [\"x\", \"y\"] }\n"],
        ),
        (
            vec![json!({"a": "x"}), json!({})],
            vec!["argsPattern = \"^\\\\{\\\\}$\"\n", "[rule.when]\n\"/a\" = { equals = \"x\" }\n"],
        ),
        (
            vec![json!({"a": "x"}), json!({"b": 1.5})],
            vec![
                "[rule.when]\n\"/a\" = { equals = \"x\" }\n\"/b\" = { absent = true }\n",
                "[rule.when]\n\"/b\" = { equals = 1.5 }\n\"/a\" = { absent = true }\n",
            ],
        ),
        (
            vec![json!({"p": "src/a.rs"}), json!({"p": "src/b/c.rs"})],
            vec!["[rule.when]\n\"/p\" = { one_of = [\"src/a.rs\", \"src/b/c.rs\"] }\n"],
        ),
        (
            vec![json!({"p": "a", "c": 1}), json!({"p": "b", "c": 2})],
            vec![
                "[rule.when]\nany = [\n  { \"/c\" = { equals = 1 }, \"/p\" = { equals = \"a\" } },\n  \
                 { \"/c\" = { equals = 2 }, \"/p\" = { equals = \"b\" } },\n]\n",
            ],
        ),
        (many_paths, vec!["[rule.when]\n\"/path\" = { under = \"src\" }\n"]),
        (many_writes, vec!["[rule.when]\n\"/content\" = { present = true }\n\"/path\" = { under = \"src\" }\n"]),
        (
            many_notes,
            vec![
                "# no rule for `t` of s: the argument `note` had 42 different values, which have no folder in common\n",
            ],
        ),
        (
            ["src/a.rs", "src/b/c.rs", "src/b/d.rs"].map(|path| json!({"p": path, "mode": "r"})).to_vec(),
            vec!["[rule.when]\n\"/mode\" = { equals = \"r\" }\n\"/p\" = { under = \"src\" }\n"],
        ),
        (
            ["/a/1", "/b/2", "/c/3"].map(|path| json!({"p": path})).to_vec(),
            vec!["[rule.when]\n\"/p\" = { one_of = [\"/a/1\", \"/b/2\", \"/c/3\"] }\n"],
        ),
        (
            ["/home/a/1", "/home/b/2", "/home/c/3"].map(|path| json!({"p": path})).to_vec(),
            vec!["[rule.when]\n\"/p\" = { one_of = [\"/home/a/1\", \"/home/b/2\", \"/home/c/3\"] }\n"],
        ),
        (vec![json!({"a": [1, {"b": true}]})], vec!["[rule.when]\n\"/a\" = { equals = [1, { \"b\" = true }] }\n"]),
        (vec![json!({"a": null})], vec!["# no rule for `t` of s: no condition can say what the argument `a` was\n"]),
        (vec![json!({"*": 1})], vec!["# no rule for `t` of s: no condition can name the argument `*`\n"]),
        (vec![json!({"a/b~c": "x"})], vec!["[rule.when]\n\"/a~1b~0c\" = { equals = \"x\" }\n"]),
        (
            vec![json!({"a": "\u{9b}2J\u{202e}\u{1F600}\u{e0041}\n\"\\"})],
            vec!["[rule.when]\n\"/a\" = { equals = \"\\u009B2J\\u202E\\U0001F600\\U000E0041\\n\\\"\\\\\" }\n"],
        ),
    ];
    for (calls, expected) in cases {
        let found = toml("t", &calls);
        let shown: Vec<&str> = found.iter().map(|one| one.split("priority = 100\n").last().unwrap()).collect();
        assert_eq!(shown, expected, "{calls:?}");
        let policy = Policy::new(rules(&found));
        for arguments in calls.iter().filter(|_| !found[0].starts_with('#')) {
            let verdict = call(&format!("s/t {arguments}")).with_facts(|facts| policy.decide(facts));
            assert_eq!(verdict.decision, Decision::Allow, "{arguments}: {found:?}");
        }
    }
}

/// Commands that were allowed; then those that the suggested rules allow, and those that they do not.
type Case = (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

#[test]
fn commands_are_allowed_as_they_were_written() {
    let cases: [Case; 14] = [
        (&["rm a", "rm b"], &["rm a", "rm b", "rm a && rm b"], &["rm c", "rm -rf /", "rm a b", "rm  a", "/tmp/rm a"]),
        (&["rm -rf build"], &[], &["rm -rf build", "rm -rf build ~", "cd / && rm -rf build"]),
        (&["cd x && rm -rf y"], &[], &["rm -rf y", "cd / && rm -rf y"]),
        (&["bash -c 'make all'"], &["make all", "bash -c 'make all'"], &["bash -c 'make'", "bash -c 'rm x'", "make"]),
        (&["python3 -c 'print(1)'"], &["python3 -c 'print(1)'"], &["python3 -c 'print(2)'", "python3 -c x", "python3"]),
        (&["rm 'a b'"], &["rm 'a b'"], &["rm a", "rm a b", "rm 'a b' c"]),
        (&["make > out"], &[], &["make", "make > out"]),
        (&["make $TARGET"], &[], &["make $TARGET", "make"]),
        (&["npm test && npm run lint"], &["npm test", "npm run lint && npm test"], &["npm run evil", "npm"]),
        (&["FOO=1 make"], &["FOO=1 make"], &["make", "FOO=2 make"]),
        (&["echo $(("], &[], &["echo $(("]),
        (
            &[
                "cargo test a",
                "cargo test b",
                "cargo test c",
                "cargo test d",
                "cargo test e",
                "cargo test f",
                "cargo test g",
                "cargo test h",
                "cargo test i",
            ],
            &["cargo test z"],
            &["cargo run", "cargo"],
        ),
        (&["rm a", "rm b", "rm c", "rm d", "rm e", "rm f", "rm g", "rm h", "rm i"], &[], &["rm a", "rm z", "rm -rf /"]),
        (
            &[
                "git push a",
                "git push b",
                "git push c",
                "git push d",
                "git push e",
                "git push f",
                "git push g",
                "git push h",
                "git push i",
            ],
            &[],
            &["git push z", "git push --force"],
        ),
    ];
    for (allowed, then_allowed, not_allowed) in cases {
        let calls: Vec<Value> = allowed.iter().map(|command| json!({"command": command, "timeout": 5})).collect();
        let found = toml("run_shell_command", &calls);
        assert!(!found.is_empty(), "{allowed:?}");
        let policy = Policy::new(rules(&found));
        let expected = then_allowed.iter().map(|it| (it, true)).chain(not_allowed.iter().map(|it| (it, false)));
        for (command, expected) in expected {
            let verdict = call(&format!("s$ {command}")).with_facts(|facts| policy.decide(facts));
            assert_eq!(verdict.decision == Decision::Allow, expected, "{command} after {allowed:?}: {found:?}");
        }
    }
    let elsewhere = json!({"command": "make", "cwd": "/"});
    for (given, other) in [(json!({"command": "make"}), &elsewhere), (elsewhere.clone(), &json!({"command": "make"}))] {
        let policy = Policy::new(rules(&toml("run_shell_command", &[given])));
        let verdict = call(&format!("s/run_shell_command {other}")).with_facts(|facts| policy.decide(facts));
        assert_eq!(verdict.decision, Decision::Ask, "{other}");
    }
}

#[test]
fn what_a_rule_permits_beyond_the_calls_is_said() {
    let calls = |arguments: &[Value], tool: &str| -> Vec<AllowedCall> {
        let call = |arguments: &Value| AllowedCall {
            server: "s".to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.clone(),
        };
        arguments.iter().map(call).collect()
    };
    let paths = ["src/a", "src/b", "src/c"].map(|path| json!({"path": path, "content": path}));
    let commands = ["cargo test a", "cargo test b", "cargo test c"].map(|command| json!({"command": command}));
    let cases: [(&[Value], &str, &[&str]); 4] = [
        (&paths[..2], "write", &[]),
        (&commands[..2], "run_shell_command", &[]),
        (
            &paths,
            "write",
            &["any value of `content`", "every path below `src` as `path`, not only the 3 that were given"],
        ),
        (
            &commands,
            "run_shell_command",
            &["every command that begins with `cargo test`, not only the 3 that were run"],
        ),
    ];
    for (arguments, tool, expected) in cases {
        let suggested = suggest(&calls(arguments, tool));
        assert_eq!(suggested.len(), 1, "{suggested:?}");
        assert!(suggested[0].is_rule() && suggested[0].permits == expected, "{suggested:?}");
    }
}
