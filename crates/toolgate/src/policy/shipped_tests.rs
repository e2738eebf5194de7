//! What toolgate brings is without fault.

use std::path::Path;

use super::{PARSED_DEFAULT_RULES, PRESETS, PresetKind, default_rules, preset};
use crate::filter::NamePattern;
use crate::policy::decision::Tier;
use crate::policy::file::{FileSource, lint, parse};
use crate::policy::test_notation::call;
use crate::policy::{Policy, Rule, ServerPattern};

#[test]
fn the_default_rules_have_no_findings() {
    assert_eq!(PARSED_DEFAULT_RULES.findings, []);
    assert_eq!(lint(&PARSED_DEFAULT_RULES.rules), []);
    let mut priorities: Vec<(u16, &str)> =
        PARSED_DEFAULT_RULES.rules.iter().map(|rule| (rule.priority, rule.decision.as_str())).collect();
    priorities.dedup();
    assert_eq!(priorities, [(50, "allow"), (10, "ask"), (15, "allow"), (40, "deny"), (45, "ask"), (998, "allow")]);
    assert!(default_rules().iter().all(|rule| rule.tier == Tier::Default && rule.origin.name.is_some()));
}

#[test]
fn the_presets_have_no_findings() {
    for preset in PRESETS {
        let parsed = parse(preset.text, &FileSource::new(Tier::User, Path::new(preset.name)));
        assert_eq!(parsed.findings, [], "{}", preset.name);
        assert_eq!(lint(&parsed.rules), [], "{}", preset.name);
        assert!(parsed.rules.len() > 1 && preset.text.starts_with('#'), "{}", preset.name);
    }
    assert_eq!(preset("read-only").map(|preset| preset.name), Some("read-only"));
    assert_eq!(preset("nothing"), None);
}

#[test]
fn a_preset_for_a_server_is_about_the_server_that_is_named() {
    for preset in PRESETS {
        let text = preset.text_for("mine\"x");
        let parsed = parse(&text, &FileSource::new(Tier::User, Path::new(preset.name)));
        assert_eq!(parsed.findings, [], "{}", preset.name);
        let is_of_server = |rule: &Rule| rule.server == ServerPattern::Named(NamePattern::of("mine\"x"));
        let is_about_one = matches!(preset.kind, PresetKind::Server { .. });
        assert_eq!(parsed.rules.iter().all(is_of_server), is_about_one, "{}", preset.name);
        assert_eq!(text == preset.text, !is_about_one, "{}", preset.name);
    }
}

/// A preset; a call, with the mode before it when that is not the default one; what is decided.
const CALLS: [(&str, &str, &str); 137] = [
    ("read-only", r#"@workspace/read_file {"path": "src/a.rs"}"#, "allow"),
    ("read-only", r#"plan @workspace/read_file {"path": "src/a.rs"}"#, "allow"),
    ("read-only", r#"@workspace/list_directory {"path": "."}"#, "allow"),
    ("read-only", r#"@workspace/read_file {"path": ".env"}"#, "deny"),
    ("read-only", r#"yolo @workspace/read_file {"path": "a/.env.local"}"#, "deny"),
    ("read-only", r#"@workspace/read_file {"path": "deploy/server.pem"}"#, "deny"),
    ("read-only", r#"@workspace/search_file_content {"pattern": "x", "path": ".env"}"#, "deny"),
    ("read-only", r#"@workspace/write_file {"path": "a", "content": ""}"#, "deny"),
    ("read-only", r#"autoEdit @workspace/write_file {"path": "a", "content": ""}"#, "deny"),
    ("read-only", r#"yolo @workspace/replace {"path": "a"}"#, "deny"),
    ("read-only", "$ pwd", "allow"),
    ("read-only", "$ ls -la && pwd", "allow"),
    ("read-only", "$ ls > pwned", "ask"),
    ("read-only", "headless $ ls > pwned", "deny"),
    ("read-only", "$ cat README.md", "ask"),
    ("read-only", "headless $ cat README.md", "deny"),
    ("read-only", "$ cat .env", "deny"),
    ("read-only", "$ 'cat' '.env'", "deny"),
    ("read-only", "$ head -n 1 ~/.ssh/id_rsa", "deny"),
    ("read-only", "$ git status", "ask"),
    ("read-only", "$ git log --oneline", "ask"),
    ("read-only", "$ git log --output=pwned", "deny"),
    ("read-only", "$ git diff --output=pwned", "deny"),
    ("read-only", "yolo $ git diff --ext-diff", "deny"),
    ("read-only", "$ git push", "deny"),
    ("read-only", "$ ls && rm -rf x", "deny"),
    ("read-only", "$ find . -delete", "deny"),
    ("read-only", "yolo $ make", "deny"),
    ("read-only", "read-only web/fetch {}", "ask"),
    ("read-only", "headless read-only web/fetch {}", "deny"),
    ("read-only", "yolo web/send {}", "deny"),
    ("locked-down", r#"@workspace/read_file {"path": "a"}"#, "ask"),
    ("locked-down", r#"headless @workspace/read_file {"path": "a"}"#, "deny"),
    ("locked-down", r#"yolo @workspace/write_file {"path": "a"}"#, "deny"),
    ("locked-down", "$ ls", "deny"),
    ("locked-down", "yolo $ ls", "deny"),
    ("locked-down", "read-only web/fetch {}", "deny"),
    ("developer", r#"@workspace/read_file {"path": "a"}"#, "allow"),
    ("developer", r#"@workspace/write_file {"path": "src/a.rs", "content": ""}"#, "allow"),
    ("developer", r#"plan @workspace/write_file {"path": "src/a.rs", "content": ""}"#, "deny"),
    ("developer", r#"@workspace/write_file {"path": "src/../.git/hooks/x", "content": ""}"#, "ask"),
    ("developer", r#"autoEdit @workspace/write_file {"path": "src/build.rs", "content": ""}"#, "ask"),
    ("developer", r#"yolo @workspace/write_file {"path": ".github/workflows/x.yml", "content": ""}"#, "ask"),
    ("developer", r#"@workspace/write_file {"path": "/etc/passwd", "content": ""}"#, "ask"),
    ("developer", "$ cargo test", "allow"),
    ("developer", "$ git status && cargo build", "allow"),
    ("developer", "$ git diff --output=.git/hooks/pre-commit", "ask"),
    ("developer", "yolo $ git log --output=x", "ask"),
    ("developer", "$ git commit --no-verify -m x", "ask"),
    ("developer", "$ cargo build --config 'build.rustc=\"./x\"'", "ask"),
    ("developer", "$ make test SHELL=./x", "ask"),
    ("developer", "$ go test -exec ./x", "ask"),
    ("developer", "$ rm a", "ask"),
    ("developer", "yolo $ rm -rf x", "ask"),
    ("developer", "$ cargo test && git push", "ask"),
    ("developer", "yolo $ rm -rf /", "deny"),
    ("developer", "plan $ cargo test", "deny"),
    ("developer", "headless $ curl http://x", "deny"),
    ("developer", "web/send {}", "ask"),
    ("developer", "headless web/send {}", "deny"),
    ("development", r#"@workspace/write_file {"path": "src/a.rs", "content": ""}"#, "allow"),
    ("development", r#"@workspace/write_file {"path": "Cargo.toml", "content": ""}"#, "ask"),
    ("development", r#"@workspace/read_file {"path": ".env"}"#, "ask"),
    ("development", "$ cargo test", "allow"),
    ("development", "$ cargo test --config x", "ask"),
    ("development", "$ git diff --output=x", "ask"),
    ("development", "$ git add -A src/lib.rs", "allow"),
    ("development", "$ git diff --no-index /etc/passwd /dev/null", "ask"),
    ("development", "$ npm test --pref=/other", "ask"),
    ("development", "$ pytest /tmp/evil", "ask"),
    ("development", "yolo $ git diff --output=x", "ask"),
    ("development", "plan $ cargo test", "deny"),
    ("development", "yolo web/delete_all {}", "ask"),
    ("development", "plan web/delete_all {}", "deny"),
    ("development", "web/search {}", "ask"),
    ("ci", r#"headless @workspace/read_file {"path": "src/a.rs"}"#, "allow"),
    ("ci", r#"headless @workspace/read_file {"path": "a/.env.local"}"#, "deny"),
    ("ci", "headless $ cargo test", "allow"),
    ("ci", "headless $ cargo test && git push", "deny"),
    ("ci", "headless $ cargo build --config x", "deny"),
    ("ci", "headless $ git diff --stat main..next -- src/lib.rs", "allow"),
    ("ci", "headless $ git log --oneline -5 HEAD~3", "allow"),
    ("ci", "headless $ cargo test --workspace --locked some_test", "allow"),
    ("ci", "headless $ pytest -q tests/unit/test_a.py::test_b", "allow"),
    ("ci", "headless $ npm test", "allow"),
    ("ci", "headless $ git diff --no-index /etc/passwd /dev/null", "deny"),
    ("ci", "headless $ git diff -O/etc/passwd", "deny"),
    ("ci", "headless $ git diff a/../../b", "deny"),
    ("ci", "headless $ git log --out=x", "deny"),
    ("ci", "headless $ git -c core.pager=x log", "deny"),
    ("ci", "headless $ npm test -C /other", "deny"),
    ("ci", "headless $ npm test --pref=/other", "deny"),
    ("ci", "headless $ npm test --globalconfig x", "deny"),
    ("ci", "headless $ pytest /tmp/evil", "deny"),
    ("ci", "headless $ pytest ../evil", "deny"),
    ("ci", "headless $ pytest --pdbcls=x:y", "deny"),
    ("ci", "headless $ pytest --junitxml=/x", "deny"),
    ("ci", "headless $ cargo test --manifest-path ../x/Cargo.toml", "deny"),
    ("ci", "headless $ cargo test -- --nocapture", "deny"),
    ("ci", "$ make", "deny"),
    ("ci", "yolo web/search {}", "deny"),
    ("ci", r#"yolo @workspace/write_file {"path": "a", "content": ""}"#, "deny"),
    ("production", r#"@workspace/read_file {"path": "a"}"#, "allow"),
    ("production", r#"@workspace/read_file {"path": "server.key"}"#, "deny"),
    ("production", "yolo $ ls", "deny"),
    ("production", "yolo live/restart {}", "ask"),
    ("production", "headless yolo live/restart {}", "deny"),
    ("production", "plan read-only live/status {}", "deny"),
    ("production", "yolo live/delete_pod {}", "deny"),
    ("production", "yolo live/pod_delete {}", "deny"),
    ("files", r#"files/read_text_file {"path": "a"}"#, "allow"),
    ("files", r#"files/read_text_file {"path": "/home/me/.ssh/id_rsa"}"#, "deny"),
    ("files", r#"files/read_multiple_files {"paths": ["a", "b/.env"]}"#, "deny"),
    ("files", r#"files/move_file {"source": ".env", "destination": "a"}"#, "deny"),
    ("files", r#"yolo files/write_file {"path": "a"}"#, "ask"),
    ("files", r#"other/read_text_file {"path": "a"}"#, "ask"),
    ("git", "git/git_status {}", "allow"),
    ("git", r#"git/git_diff {"target": "main"}"#, "allow"),
    ("git", r#"git/git_diff {"target": "--output=x"}"#, "deny"),
    ("git", r#"git/git_show {"revision": " --output=x"}"#, "deny"),
    ("git", "yolo git/git_reset {}", "ask"),
    ("git", "yolo git/git_commit {}", "ask"),
    ("code-hosting", "github/list_issues {}", "allow"),
    ("code-hosting", "yolo github/create_issue {}", "ask"),
    ("code-hosting", "yolo github/merge_pull_request {}", "ask"),
    ("code-hosting", "yolo github/delete_file {}", "deny"),
    ("code-hosting", "gitlab/list_issues {}", "ask"),
    ("database", "database/list_tables {}", "allow"),
    ("database", r#"yolo database/query {"sql": "select 1"}"#, "ask"),
    ("database", r#"yolo database/query {"sql": "Drop table a"}"#, "deny"),
    ("database", r#"yolo database/execute {"query": "select 1; TRUNCATE a"}"#, "deny"),
    ("browser", "browser/browser_snapshot {}", "allow"),
    ("browser", r#"yolo browser/browser_navigate {"url": "https://example.org"}"#, "ask"),
    ("browser", r#"yolo browser/browser_navigate {"url": "file:///etc/passwd"}"#, "deny"),
    ("browser", r#"yolo browser/browser_navigate {"url": "http://169.254.169.254/"}"#, "deny"),
    ("browser", r#"yolo browser/browser_navigate {"url": "http://a@LOCALHOST:80"}"#, "deny"),
    ("browser", "yolo browser/browser_evaluate {}", "deny"),
];

#[test]
fn presets_decide_as_they_say() {
    for preset in PRESETS {
        let parsed = parse(preset.text, &FileSource::new(Tier::User, Path::new(preset.name)));
        let policy = Policy::new(default_rules().into_iter().chain(parsed.rules).collect());
        for (_, text, expected) in CALLS.into_iter().filter(|(name, ..)| *name == preset.name) {
            let verdict = call(text).with_facts(|facts| policy.decide(facts));
            assert_eq!(verdict.decision.as_str(), expected, "{}: {text}: {verdict}", preset.name);
        }
    }
    assert!(CALLS.iter().all(|(name, ..)| preset(name).is_some()));
}
