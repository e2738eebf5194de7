//! What policy files mean, one line of data each. `; ` stands for a line break, and the first line is `[[rule]]`.

use std::path::Path;

use super::{FileSource, ParsedFile, Rule, parse};
use crate::filter::NamePattern;
use crate::policy::decision::Tier;
use crate::policy::rule::{Condition, ServerPattern};

pub(super) fn parsed(text: &str, tier: Tier) -> ParsedFile {
    parse(text, &FileSource::new(tier, Path::new("/p/test.toml")))
}

pub(super) fn rule_text(body: &str) -> String {
    format!("[[rule]]\n{}\n", body.replace("; ", "\n"))
}

fn name(pattern: &NamePattern) -> &str {
    match pattern {
        NamePattern::Any => "*",
        NamePattern::Exact(name) | NamePattern::Glob(name) => name,
    }
}

/// A rule in a line: decision, priority, server/tool, then whatever else it says.
fn shown(rule: &Rule) -> String {
    let server = match &rule.server {
        ServerPattern::Any => "any".to_owned(),
        ServerPattern::Named(server) => name(server).to_owned(),
        ServerPattern::BuiltIn(server) => format!("<{server}>"),
    };
    let mut text = format!("{} {} {server}/{}", rule.decision.as_str(), rule.priority, name(&rule.tool));
    for condition in &rule.conditions {
        text += &match condition {
            Condition::ArgsPattern(regex) => format!(" args~{regex}"),
            Condition::CommandPrefix(prefixes) => format!(" prefix={}", prefixes.join("|")),
            Condition::CommandRegex(regex) => format!(" command~{regex}"),
            Condition::Entry(_) => " entry".to_owned(),
            Condition::Annotations(pairs) => format!(" annotations={pairs:?}"),
            Condition::When(when) => {
                format!(" when={:?}", when.pointers().iter().map(ToString::to_string).collect::<Vec<_>>())
            }
        };
    }
    let modes: Vec<&str> = rule.modes.iter().map(|mode| mode.as_str()).collect();
    let askers: Vec<&str> = rule.askers.iter().map(|asker| asker.as_str()).collect();
    text += &if modes.is_empty() { String::new() } else { format!(" modes={}", modes.join("|")) };
    text += &if askers.is_empty() { String::new() } else { format!(" askers={}", askers.join("|")) };
    text += &rule.interactive.map(|it| format!(" interactive={it}")).unwrap_or_default();
    text += &rule.subagent.as_ref().map(|it| format!(" subagent={it}")).unwrap_or_default();
    text += if rule.allows_redirection { " redirection" } else { "" };
    text += &rule.deny_message.as_ref().map(|it| format!(" message={it}")).unwrap_or_default();
    text
}

fn shown_all(rules: &[Rule]) -> String {
    rules.iter().map(shown).collect::<Vec<_>>().join(" ; ")
}

/// The body of a rule, and what it means.
const FIELDS: &[(&str, &str)] = &[
    // 6.3 decision
    ("toolName = 'a'; decision = 'allow'; priority = 1", "allow 1 any/a"),
    ("toolName = 'a'; decision = 'deny'; priority = 1", "deny 1 any/a"),
    ("toolName = 'a'; decision = 'ask_user'; priority = 1", "ask 1 any/a"),
    ("toolName = 'a'; decision = 'ask'; priority = 1", "ask 1 any/a"),
    // 6.3 priority
    ("toolName = 'a'; decision = 'deny'; priority = 0", "deny 0 any/a"),
    ("toolName = 'a'; decision = 'deny'; priority = 999", "deny 999 any/a"),
    ("toolName = 'a'; decision = 'deny'; priority = 0x10", "deny 16 any/a"),
    // 6.3 toolName
    ("toolName = '*'; decision = 'deny'; priority = 1", "deny 1 any/*"),
    ("toolName = ['a', 'b']; decision = 'deny'; priority = 1", "deny 1 any/a ; deny 1 any/b"),
    ("toolName = ['a', 'a']; decision = 'deny'; priority = 1", "deny 1 any/a"),
    ("toolName = 'read_*'; decision = 'deny'; priority = 1", "deny 1 any/read_*"),
    ("toolName = 'discovered_tool_*'; decision = 'deny'; priority = 1", "deny 1 any/discovered_tool_*"),
    // 6.3 mcpName
    ("mcpName = 's'; toolName = 'a'; decision = 'deny'; priority = 1", "deny 1 s/a"),
    ("mcpName = '*'; toolName = 'a'; decision = 'deny'; priority = 1", "deny 1 any/a"),
    ("mcpName = 'git*'; toolName = 'a'; decision = 'allow'; priority = 1", "allow 1 git*/a"),
    ("mcpName = 's'; toolName = ['a', 'b_*']; decision = 'ask'; priority = 1", "ask 1 s/a ; ask 1 s/b_*"),
    // D-11: only mcpName
    ("mcpName = 's'; decision = 'deny'; priority = 1", "deny 1 s/*"),
    ("mcpName = '*'; decision = 'deny'; priority = 1", "deny 1 any/*"),
    // D-17: with a server, a name is what the server calls it
    ("mcpName = 'mcp'; toolName = 'mcp_a_b'; decision = 'allow'; priority = 1", "allow 1 mcp/mcp_a_b"),
    ("mcpName = 's'; toolName = 'x__y'; decision = 'allow'; priority = 1", "allow 1 s/x__y"),
    // 6.3 subagent
    ("toolName = 'a'; decision = 'deny'; priority = 1; subagent = 'helper'", "deny 1 any/a subagent=helper"),
    // 6.3 argsPattern, commandPrefix, commandRegex
    ("toolName = 'a'; decision = 'deny'; priority = 1; argsPattern = 'x+'", "deny 1 any/a args~x+"),
    ("toolName = 'a'; decision = 'deny'; priority = 1; argsPattern = '\\x00\"k\":'", "deny 1 any/a args~\\x00\"k\":"),
    (
        "toolName = 'run_shell_command'; decision = 'deny'; priority = 1; commandPrefix = 'git'",
        "deny 1 any/run_shell_command prefix=git",
    ),
    (
        "toolName = 'run_shell_command'; decision = 'deny'; priority = 1; commandPrefix = ['git', 'rm -rf']",
        "deny 1 any/run_shell_command prefix=git|rm -rf",
    ),
    (
        "toolName = 'run_shell_command'; decision = 'deny'; priority = 1; commandPrefix = 'grep \"a|b\"'",
        "deny 1 any/run_shell_command prefix=grep \"a|b\"",
    ),
    (
        "toolName = 'run_shell_command'; decision = 'deny'; priority = 1; commandRegex = 'git (push|pull)'",
        "deny 1 any/run_shell_command command~git (push|pull)",
    ),
    (
        "mcpName = 's'; toolName = ['run_shell_command']; decision = 'deny'; priority = 1; commandPrefix = 'x'",
        "deny 1 s/run_shell_command prefix=x",
    ),
    // D-15: patterns that look dangerous elsewhere are fine
    ("toolName = 'a'; decision = 'deny'; priority = 1; argsPattern = '(?:a+)+b'", "deny 1 any/a args~(?:a+)+b"),
    // 6.3 modes
    ("toolName = 'a'; decision = 'deny'; priority = 1; modes = ['plan', 'yolo']", "deny 1 any/a modes=plan|yolo"),
    (
        "toolName = 'a'; decision = 'deny'; priority = 1; modes = ['default', 'autoEdit']",
        "deny 1 any/a modes=default|autoEdit",
    ),
    ("toolName = 'a'; decision = 'deny'; priority = 1; modes = ['auto_edit']", "deny 1 any/a modes=autoEdit"),
    // 6.3 interactive
    ("toolName = 'a'; decision = 'deny'; priority = 1; interactive = true", "deny 1 any/a interactive=true"),
    ("toolName = 'a'; decision = 'deny'; priority = 1; interactive = false", "deny 1 any/a interactive=false"),
    // 6.3 toolAnnotations
    (
        "toolName = 'a'; decision = 'deny'; priority = 1; toolAnnotations = {readOnlyHint = true}",
        "deny 1 any/a annotations=[(\"readOnlyHint\", Bool(true))]",
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 1; toolAnnotations = {n = 1, l = ['x']}",
        "deny 1 any/a annotations=[(\"n\", Number(1)), (\"l\", Array [String(\"x\")])]",
    ),
    // 6.3 allowRedirection, denyMessage, both spellings
    ("toolName = 'a'; decision = 'allow'; priority = 1; allowRedirection = true", "allow 1 any/a redirection"),
    ("toolName = 'a'; decision = 'allow'; priority = 1; allow_redirection = true", "allow 1 any/a redirection"),
    ("toolName = 'a'; decision = 'allow'; priority = 1; allowRedirection = false", "allow 1 any/a"),
    ("toolName = 'a'; decision = 'deny'; priority = 1; denyMessage = 'no'", "deny 1 any/a message=no"),
    ("toolName = 'a'; decision = 'deny'; priority = 1; deny_message = 'no'", "deny 1 any/a message=no"),
    // our own keys
    ("name = 'n'; description = 'd'; toolName = 'a'; decision = 'deny'; priority = 1", "deny 1 any/a"),
    (
        "builtin = 'workspace'; toolName = 'read_file'; decision = 'allow'; priority = 1",
        "allow 1 <workspace>/read_file",
    ),
    ("builtin = 'workspace'; toolName = '*_file'; decision = 'allow'; priority = 1", "allow 1 <workspace>/*_file"),
    ("builtin = 'workspace'; decision = 'allow'; priority = 1", "allow 1 <workspace>/*"),
    ("toolName = 'a'; decision = 'deny'; priority = 1; askers = ['model']", "deny 1 any/a askers=model"),
    (
        "toolName = 'a'; decision = 'deny'; priority = 1; askers = ['model', 'session', 'cli', 'gateway']",
        "deny 1 any/a askers=model|session|cli|gateway",
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 1; [rule.when]; '/path' = {under = 'src'}",
        "deny 1 any/a when=[\"/path\"]",
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 1; when = {any = [{'/a' = {max = 1}}, {not = {'/b' = {min = 1.5}}}]}",
        "deny 1 any/a when=[\"/a\", \"/b\"]",
    ),
    // aliases of built-in tools
    (
        "toolName = 'grep_search'; decision = 'allow'; priority = 1",
        "allow 1 any/grep_search ; allow 1 <workspace>/search_file_content",
    ),
    (
        "toolName = 'ShellTool'; decision = 'deny'; priority = 1; commandPrefix = 'rm'",
        "deny 1 any/ShellTool prefix=rm ; deny 1 <workspace>/run_shell_command prefix=rm",
    ),
    (
        "toolName = 'shelltool'; decision = 'ask'; priority = 1",
        "ask 1 any/shelltool ; ask 1 <workspace>/run_shell_command",
    ),
    ("toolName = 'shelltool'; decision = 'allow'; priority = 1", "allow 1 any/shelltool"),
    // capitals
    ("toolName = 'Read_File'; decision = 'deny'; priority = 1", "deny 1 any/Read_File"),
    ("builtin = 'workspace'; toolName = 'Read_File'; decision = 'ask'; priority = 1", "ask 1 <workspace>/Read_File"),
    (
        "builtin = 'workspace'; toolName = 'shelltool'; decision = 'deny'; priority = 1",
        "deny 1 <workspace>/run_shell_command",
    ),
    (
        "builtin = 'workspace'; toolName = 'ShellTool'; decision = 'allow'; priority = 1",
        "allow 1 <workspace>/run_shell_command",
    ),
    (
        "mcpName = 's'; toolName = 'ShellTool'; decision = 'deny'; priority = 1",
        "deny 1 s/ShellTool ; deny 1 s/run_shell_command",
    ),
    ("mcpName = 's'; toolName = 'ShellTool'; decision = 'allow'; priority = 1", "allow 1 s/ShellTool"),
];

#[test]
fn every_field_means_what_it_says() {
    for (body, expected) in FIELDS.iter().copied() {
        let parsed = parsed(&rule_text(body), Tier::User);
        assert_eq!(parsed.findings, [], "{body}");
        assert_eq!(shown_all(&parsed.rules), expected, "{body}");
    }
}

#[test]
fn shown_names_are_taken_apart_with_a_warning() {
    // toolName, what an allow is about (empty: an error), what a deny is about
    let cases = [
        ("gh__list", "gh/list", "gh/list any/gh__list"),
        ("a__b__c", "", "a/b__c a__b/c any/a__b__c"),
        ("mcp_*", "*/*", "*/* any/mcp_*"),
        ("mcp_gh_list", "gh/list", "gh/list any/mcp_gh_list"),
        ("mcp_gh_*", "gh/*", "gh/* gh_*/* any/mcp_gh_*"),
        ("mcp_a_b_c", "", "a/b_c a_b/c any/mcp_a_b_c"),
        ("mcp_a_b_*", "", "a/b_* a_b/* a_b_*/* any/mcp_a_b_*"),
    ];
    for (tool, allowed, denied) in cases {
        for (decision, expected) in [("allow", allowed), ("deny", denied)] {
            let parsed =
                parsed(&rule_text(&format!("toolName = '{tool}'; decision = '{decision}'; priority = 1")), Tier::User);
            let names: Vec<String> =
                parsed.rules.iter().filter_map(|rule| shown(rule).split(' ').nth(2).map(str::to_owned)).collect();
            let [finding] = parsed.findings.as_slice() else { panic!("{tool}: {:?}", parsed.findings) };
            assert_eq!(finding.is_error(), expected.is_empty(), "{decision} {tool}: {finding}");
            assert!(finding.hint.as_deref().is_some_and(|hint| hint.contains("mcpName = ")), "{finding:?}");
            let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut expected: Vec<&str> = expected.split(' ').filter(|name| !name.is_empty()).collect();
            names.sort_unstable();
            expected.sort_unstable();
            assert_eq!(names, expected, "{decision} {tool}");
        }
    }
}

#[test]
fn names_that_only_look_like_shown_ones_are_left_alone() {
    for tool in ["__init__", "mcp_", "mcp_x", "a__", "__a", "_a_", "mcp"] {
        for decision in ["allow", "deny"] {
            let parsed =
                parsed(&rule_text(&format!("toolName = '{tool}'; decision = '{decision}'; priority = 1")), Tier::User);
            assert_eq!(parsed.findings, [], "{tool}");
            assert_eq!(shown_all(&parsed.rules), format!("{decision} 1 any/{tool}"));
        }
    }
}

#[test]
fn a_list_shares_one_origin_and_lines_are_those_of_the_entries() {
    let text = "# first\n[[rule]]\nname = 'n'\ntoolName = ['a', 'b']\ndecision = 'deny'\npriority = 1\n\n  [[rule]]\ntoolName='c'\ndecision='ask'\npriority=2\n";
    let parsed = parsed(text, Tier::Admin);
    let origins: Vec<_> = parsed.rules.iter().map(|rule| (rule.origin.line, rule.origin.name.as_deref())).collect();
    assert_eq!(origins, [(Some(2), Some("n")), (Some(2), Some("n")), (Some(8), None)]);
    assert!(parsed.rules.iter().all(|rule| rule.origin.label == "Admin: test.toml" && rule.tier == Tier::Admin));
    assert_eq!(parsed.rules[0].origin, parsed.rules[1].origin);
}

#[test]
fn tiers_that_only_restrict_drop_allows_with_a_warning() {
    let text = rule_text("toolName = 'a'; decision = 'allow'; priority = 1")
        + &rule_text("toolName = 'b'; decision = 'ask'; priority = 1");
    for tier in Tier::ALL {
        let parsed = parsed(&text, tier);
        assert!(!parsed.has_errors());
        assert_eq!(parsed.findings.len(), usize::from(tier.only_restricts()), "{tier:?}");
        assert_eq!(parsed.rules.len(), if tier.only_restricts() { 1 } else { 2 }, "{tier:?}");
        assert!(parsed.findings.iter().all(|finding| finding.line == 1 && finding.message.contains("only restrict")));
    }
}

#[test]
fn checkers_are_read() {
    let text = "[[safety_checker]]\nname = 'c'\ntoolName = ['write_file', 'replace']\nmcpName = 'fs'\npriority = 7\nmodes = ['yolo']\nargsPattern = 'x'\n\
        toolAnnotations = {a = 1}\n[safety_checker.checker]\ntype = 'in-process'\nname = 'allowed-path'\n\
        [safety_checker.checker.config]\nincluded_args = ['target']\nexcluded_args = ['profile']\n\
        [[safety_checker]]\ntoolName = '*'\nchecker = {type = 'in-process', name = 'allowed-path'}\n";
    let parsed = parsed(text, Tier::Workspace);
    assert_eq!(parsed.findings, []);
    let rules: Vec<String> = parsed.checkers.iter().map(|checker| shown(&checker.rule)).collect();
    let pair = "args~x annotations=[(\"a\", Number(1))] modes=yolo";
    assert_eq!(
        rules,
        [format!("deny 7 fs/write_file {pair}"), format!("deny 7 fs/replace {pair}"), "deny 0 any/*".to_owned()]
    );
    assert_eq!(parsed.checkers[0].check.included_args, ["target"]);
    assert_eq!(parsed.checkers[0].check.excluded_args, ["profile"]);
    assert_eq!(parsed.checkers[2].check, crate::policy::AllowedPath::default());
}

#[test]
fn nothing_written_is_nothing_wrong() {
    for text in ["", "\n\n", "# only a comment", "\u{feff}# a mark at the beginning\n"] {
        let parsed = parsed(text, Tier::User);
        assert!(parsed.rules.is_empty() && parsed.checkers.is_empty());
        assert_eq!(parsed.findings, [], "{text:?}");
    }
}
