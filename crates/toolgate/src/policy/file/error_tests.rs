//! What is wrong with policy files, one line of data each: the file (`; ` stands for a line break), where, and what is said.

use super::rule_tests::{parsed, rule_text};
use super::{Finding, Severity};
use crate::limits::{POLICY_FILE_BYTES_MAX, POLICY_FINDINGS_MAX, POLICY_RULES_MAX, POLICY_WHEN_DEPTH_MAX};
use crate::policy::decision::Tier;

/// Bodies of one rule that is otherwise complete; lines are counted from `[[rule]]`, so the first of a body is 4.
const OF_FIELDS: &[(&str, usize, &str, &str)] = &[
    // unknown keys, with the nearest known one
    ("toolName = 'b'; tolName = 'a'", 5, "unknown key `tolName` in a rule", "did you mean `toolName`?"),
    ("toolName = 'b'; tool_name = 'a'", 5, "unknown key `tool_name`", "did you mean `toolName`?"),
    ("toolName = 'b'; mcp_name = 'a'", 5, "unknown key `mcp_name`", "did you mean `mcpName`?"),
    ("toolName = 'b'; args_pattern = 'a'", 5, "unknown key `args_pattern`", "did you mean `argsPattern`?"),
    ("toolName = 'b'; mode = ['plan']", 5, "unknown key `mode`", "did you mean `modes`?"),
    ("toolName = 'b'; desicion = 'x'", 5, "unknown key `desicion`", "did you mean `decision`?"),
    ("toolName = 'b'; banana = 1", 5, "unknown key `banana`", "nothing is ignored silently"),
    // D-14: a checker within a rule
    ("toolName = 'b'; safety_checker = {type = 'in-process'}", 5, "unknown key `safety_checker`", ""),
    ("toolName = 'b'; [rule.safety_checker]", 5, "unknown key `safety_checker`", ""),
    ("toolName = 'b'; \"\\u001b[2J\" = 1", 5, "unknown key `\\u{1b}[2J`", ""),
    // types
    ("toolName = 1", 4, "`toolName` takes a text or a list of texts, not a number", "in quotes"),
    ("toolName = true", 4, "`toolName` takes a text or a list of texts, not `true` or `false`", ""),
    ("toolName = ['a', 1]", 4, "`toolName` takes texts, not a number", ""),
    ("toolName = {a = 1}", 4, "not a table", ""),
    ("mcpName = ['a']", 4, "`mcpName` takes a text, not a list", ""),
    ("toolName = 'a'; modes = 'plan'", 5, "`modes` takes a list, not a text", "modes = [\"plan\"]"),
    ("toolName = 'a'; modes = []", 5, "`modes` is an empty list", "or remove the key"),
    ("toolName = 'a'; askers = []", 5, "`askers` is an empty list", "or remove the key"),
    ("toolName = 'a'; toolAnnotations = {}", 5, "`toolAnnotations` is empty", "or remove the key"),
    ("toolName = 'a'; modes = [1]", 5, "`modes` takes texts, not a number", ""),
    ("toolName = 'a'; interactive = 'yes'", 5, "`interactive` takes `true` or `false`, not a text", ""),
    ("toolName = 'a'; allowRedirection = 1", 5, "`allowRedirection` takes `true` or `false`", ""),
    ("toolName = 'a'; denyMessage = 3", 5, "`denyMessage` takes a text", ""),
    ("toolName = 'a'; name = 3", 5, "`name` takes a text", ""),
    ("toolName = 'a'; description = 3", 5, "`description` takes a text", ""),
    ("toolName = 'a'; toolAnnotations = 'x'", 5, "`toolAnnotations` takes a table, not a text", ""),
    (
        "toolName = 'a'; toolAnnotations = {d = 2020-01-01}",
        5,
        "`d` has a value that JSON does not have",
        "a date as a text",
    ),
    ("toolName = 'a'; toolAnnotations = {n = inf}", 5, "`n` has a value that JSON does not have", ""),
    ("toolName = 'a'; argsPattern = ['x']", 5, "`argsPattern` takes a text, not a list", ""),
    ("toolName = 'a'; when = 'x'", 5, "`when` takes a table, not a text", ""),
    // names
    ("subagent = 'x'", 1, "names no tool", "add `toolName`"),
    ("toolName = ''", 4, "`toolName` is empty", ""),
    ("toolName = ' '", 4, "`toolName` is empty", ""),
    ("toolName = []", 4, "`toolName` is an empty list", ""),
    ("toolName = ['a', '']", 4, "`toolName` is empty", ""),
    ("mcpName = ''", 4, "`mcpName` is empty", ""),
    ("toolName = 'a'; subagent = ''", 5, "`subagent` is empty", ""),
    ("toolName = 'a'; name = ''", 5, "`name` is empty", ""),
    ("mcpName = 's'; builtin = 'workspace'", 5, "both name a server", "keep one"),
    ("builtin = 'files'", 4, "names no built-in server: `files`", "`workspace`"),
    (
        "builtin = 'workspace'; toolName = 'read_fil'",
        5,
        "can never match: the built-in server has no tool `read_fil`",
        "did you mean `read_file`?",
    ),
    // words
    ("toolName = 'a'; modes = ['plann']", 5, "`modes` has no mode `plann`", "did you mean `plan`?"),
    ("toolName = 'a'; modes = ['x']", 5, "`modes` has no mode `x`", "`plan`, `default`, `autoEdit`, `yolo`"),
    ("toolName = 'a'; askers = ['modl']", 5, "`askers` has no asker `modl`", "did you mean `model`?"),
    // regular expressions
    ("toolName = 'a'; argsPattern = ''", 5, "`argsPattern` is empty", ""),
    ("toolName = 'a'; argsPattern = '('", 5, "`argsPattern` is no regular expression: unclosed group", ""),
    ("toolName = 'a'; argsPattern = '(?=x)'", 5, "look-around", ""),
    ("toolName = 'a'; argsPattern = '(?:a{1000}){1000}'", 5, "`argsPattern` takes more than", "regex"),
    ("toolName = 'run_shell_command'; commandRegex = 'a)|(b'", 5, "`commandRegex` is no regular expression", ""),
    // shell shorthand
    (
        "toolName = 'run_shell_command'; commandPrefix = 'a'; commandRegex = 'b'",
        6,
        "`commandPrefix` and `commandRegex` cannot both",
        "",
    ),
    (
        "toolName = 'run_shell_command'; commandPrefix = 'a'; argsPattern = 'b'",
        5,
        "`argsPattern` and `commandPrefix` cannot both",
        "",
    ),
    (
        "toolName = 'run_shell_command'; argsPattern = 'b'; commandRegex = 'a'",
        6,
        "`argsPattern` and `commandRegex` cannot both",
        "",
    ),
    (
        "toolName = 'write_file'; commandPrefix = 'a'",
        5,
        "`commandPrefix` is only for `run_shell_command`",
        "argsPattern",
    ),
    ("toolName = '*'; commandPrefix = 'a'", 5, "`commandPrefix` is only for", ""),
    ("toolName = ['run_shell_command', 'x']; commandRegex = 'a'", 5, "`commandRegex` is only for", ""),
    ("mcpName = 's'; commandRegex = 'a'", 5, "`commandRegex` is only for", ""),
    ("toolName = 'run_shell_command'; commandPrefix = ''", 5, "`commandPrefix` is empty", ""),
    ("toolName = 'run_shell_command'; commandPrefix = []", 5, "`commandPrefix` is an empty list", ""),
    (
        "toolName = 'run_shell_command'; commandPrefix = 'a && b'",
        5,
        "can never match: `a && b` is more than one",
        "one by one",
    ),
    ("toolName = 'run_shell_command'; commandPrefix = 'a > b'", 5, "can never match", ""),
    // both spellings
    (
        "toolName = 'a'; allowRedirection = true; allow_redirection = true",
        6,
        "`allow_redirection` is the same as",
        "keep one",
    ),
    ("toolName = 'a'; denyMessage = 'x'; deny_message = 'x'", 6, "`deny_message` is the same as", ""),
    // when
    ("toolName = 'a'; [rule.when]", 5, "a condition says nothing", "under"),
    ("toolName = 'a'; [rule.when]; path = {under = 'x'}", 6, "unknown key `path` in a condition", "`\"/path\"`"),
    ("toolName = 'a'; [rule.when]; '/' = {under = 'x'}", 6, "a pointer names an argument", ""),
    ("toolName = 'a'; [rule.when]; '/a~b' = {under = 'x'}", 6, "`~0`", ""),
    ("toolName = 'a'; [rule.when]; '/a' = 'x'", 6, "`/a` takes a test, not a text", "equals"),
    ("toolName = 'a'; [rule.when]; '/a' = {}", 6, "`/a` says nothing", "`under`"),
    ("toolName = 'a'; [rule.when]; '/a' = {equal = 1}", 6, "unknown key `equal` in a test", "did you mean `equals`?"),
    ("toolName = 'a'; [rule.when]; '/a' = {under = 1}", 6, "`under` takes a text or a list of texts", ""),
    ("toolName = 'a'; [rule.when]; '/a' = {under = '~/x'}", 6, "`under` cannot begin with `~`", "whole path"),
    ("toolName = 'a'; [rule.when]; '/a' = {one_of = 'x'}", 6, "`one_of` takes a list, not a text", ""),
    ("toolName = 'a'; [rule.when]; '/a' = {one_of = []}", 6, "`one_of` is an empty list", ""),
    (
        "toolName = 'a'; [rule.when]; '/a' = {equals = 2020-01-01}",
        6,
        "`equals` has a value that JSON does not have",
        "",
    ),
    ("toolName = 'a'; [rule.when]; '/a' = {matches = '['}", 6, "`matches` is no regular expression", ""),
    ("toolName = 'a'; [rule.when]; '/a' = {glob = '*.{a,b}'}", 6, "brackets and braces", ""),
    ("toolName = 'a'; [rule.when]; '/a' = {max = '1'}", 6, "`max` takes a number, not a text", ""),
    ("toolName = 'a'; [rule.when]; '/a' = {min = nan}", 6, "`min` has a value that JSON", ""),
    ("toolName = 'a'; [rule.when]; '/a' = {present = 1}", 6, "`present` takes `true` or `false`", ""),
    ("toolName = 'a'; [rule.when]; '/a' = {absent = true, max = 1}", 6, "can never hold", ""),
    ("toolName = 'a'; [rule.when]; all = []", 6, "`all` is an empty list", ""),
    ("toolName = 'a'; [rule.when]; any = [1]", 6, "`any` takes tables, not a number", ""),
    ("toolName = 'a'; [rule.when]; any = {'/a' = {max = 1}}", 6, "`any` takes a list, not a table", ""),
    ("toolName = 'a'; [rule.when]; not = [1]", 6, "`not` takes a table, not a list", ""),
    ("toolName = 'a'; [rule.when]; not = {}", 6, "a condition says nothing", ""),
    ("toolName = 'a'; [rule.when.not]; x = 1", 6, "unknown key `x` in a condition", ""),
];

/// Whole files.
const OF_FILES: &[(&str, usize, &str, &str)] = &[
    ("[[rule]]; toolName = 'a'; priority = 1", 1, "a rule needs a `decision`", "ask"),
    ("[[rule]]; toolName = 'a'; decision = 'deny'", 1, "a rule needs a `priority`", "from 0 to 999"),
    ("[[rule]]; toolName = 'a'; decision = 'maybe'; priority = 1", 3, "`decision` is no decision: `maybe`", "`allow`"),
    (
        "[[rule]]; toolName = 'a'; decision = 'Allow'; priority = 1",
        3,
        "`decision` is no decision",
        "did you mean `allow`?",
    ),
    ("[[rule]]; toolName = 'a'; decision = 1; priority = 1", 3, "`decision` takes a text", ""),
    ("[[rule]]; toolName = 'a'; decision = 'deny'; priority = -1", 4, "`priority` is not from 0 to 999", ""),
    ("[[rule]]; toolName = 'a'; decision = 'deny'; priority = 1000", 4, "`priority` is not from 0 to 999", ""),
    ("[[rule]]; toolName = 'a'; decision = 'deny'; priority = 99999999999999999999", 4, "", ""),
    (
        "[[rule]]; toolName = 'a'; decision = 'deny'; priority = 1.0",
        4,
        "`priority` takes a whole number, not a number with a fraction",
        "",
    ),
    (
        "[[rule]]; toolName = 'a'; decision = 'deny'; priority = '1'",
        4,
        "`priority` takes a whole number, not a text",
        "",
    ),
    ("[[rules]]; toolName = 'a'", 1, "unknown key `rules` in a policy", "did you mean `rule`?"),
    ("[rule]; toolName = 'a'", 1, "`rule` takes a list of tables", "[[rule]]"),
    ("rule = [1]", 1, "`rule` takes a list of tables", ""),
    ("x = 1", 1, "unknown key `x` in a policy", "`rule`, `safety_checker`"),
    // TOML itself
    ("[[rule]]; toolName = ", 2, "this is no TOML", ""),
    ("[[rule]]; toolName = 'a", 2, "this is no TOML", ""),
    ("[[rule]; x = 1", 1, "this is no TOML", ""),
    ("[[rule]]; toolName = 'a'; toolName = 'b'", 3, "this is no TOML: duplicate key", ""),
    // checkers
    ("[[safety_checker]]; toolName = '*'", 1, "a safety checker needs a `checker`", "allowed-path"),
    ("[[safety_checker]]; checker = {type = 'in-process', name = 'allowed-path'}", 1, "names no tool", ""),
    ("[[safety_checker]]; toolName = '*'; checker = 'allowed-path'", 3, "`checker` takes a table", ""),
    (
        "[[safety_checker]]; toolName = '*'; checker = {name = 'allowed-path'}",
        3,
        "`checker` needs a `type`",
        "in-process",
    ),
    (
        "[[safety_checker]]; toolName = '*'; checker = {type = 'in-process'}",
        3,
        "`checker` needs a `name`",
        "allowed-path",
    ),
    (
        "[[safety_checker]]; toolName = '*'; checker = {type = 'in-process', name = 'conseca'}",
        3,
        "`name` of a checker cannot be `conseca`",
        "one kind",
    ),
    (
        "[[safety_checker]]; toolName = '*'; checker = {type = 'external', name = 'allowed-path'}",
        3,
        "`type` of a checker cannot be `external`",
        "",
    ),
    (
        "[[safety_checker]]; toolName = '*'; checker = {type = 'in-process', name = 'allowed-path', cfg = {}}",
        3,
        "unknown key `cfg` in `checker`",
        "",
    ),
    (
        "[[safety_checker]]; toolName = '*'; checker = {type = 'in-process', name = 'allowed-path', config = {include = []}}",
        3,
        "unknown key `include` in the config",
        "included_args",
    ),
    (
        "[[safety_checker]]; toolName = '*'; checker = {type = 'in-process', name = 'allowed-path', config = {included_args = 'x'}}",
        3,
        "`included_args` takes a list",
        "",
    ),
    (
        "[[safety_checker]]; toolName = '*'; decision = 'deny'; checker = {type = 'in-process', name = 'allowed-path'}",
        3,
        "unknown key `decision` in a safety checker",
        "",
    ),
    (
        "[[safety_checker]]; toolName = '*'; priority = 1000; checker = {type = 'in-process', name = 'allowed-path'}",
        3,
        "`priority` is not from 0",
        "",
    ),
    ("[[safety_checkers]]; toolName = '*'", 1, "unknown key `safety_checkers`", "did you mean `safety_checker`?"),
];

/// Things that are only odd.
const WARNINGS: &[(&str, usize, &str, &str)] = &[
    ("toolName = 'readfile'", 4, "the built-in server has no tool `readfile`", "did you mean `read_file`?"),
    ("toolName = 'write_fil'", 4, "the built-in server has no tool `write_fil`", "add `mcpName`"),
    ("toolName = 'run_shel_comand'", 4, "has no tool `run_shel_comand`", "`run_shell_command`"),
    ("toolName = ['read_file', 'globb']", 4, "has no tool `globb`", "`glob`"),
    ("toolName = 'gh__list'", 4, "`gh__list` is a name as it is shown", "`mcpName = \"gh\"` and `toolName = \"list\"`"),
    ("toolName = 'mcp_gh_*'", 4, "`mcp_gh_*` is a name as it is shown", "`mcpName = \"gh\"` without `toolName`"),
    ("toolName = 'mcp_*'", 4, "`mcp_*` is a name as it is shown", "`mcpName = \"*\"` without `toolName`"),
];

fn assert_only(findings: &[Finding], (line, message, hint): (usize, &str, &str), of: &str) -> Severity {
    let [finding] = findings else { panic!("{of}: {findings:#?}") };
    assert_eq!(finding.line, line, "{of}: {finding}");
    assert!(finding.column > 0 && finding.message.contains(message), "{of}: {finding}");
    assert!(finding.hint.as_deref().unwrap_or_default().contains(hint), "{of}: {:?}", finding.hint);
    finding.severity
}

#[test]
fn what_is_wrong_with_a_field_is_said_with_its_line() {
    for (body, line, message, hint) in OF_FIELDS {
        let parsed = parsed(&rule_text(&format!("decision = 'deny'; priority = 1; {body}")), Tier::User);
        assert_eq!(assert_only(&parsed.findings, (*line, message, hint), body), Severity::Error);
        assert!(parsed.has_errors() && parsed.rules.is_empty(), "{body}");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    for (text, line, message, hint) in OF_FILES {
        let parsed = parsed(&text.replace("; ", "\n"), Tier::User);
        assert_eq!(assert_only(&parsed.findings, (*line, message, hint), text), Severity::Error);
        assert!(parsed.rules.is_empty() && parsed.checkers.is_empty(), "{text}");
    }
}

#[test]
fn what_is_only_odd_leaves_the_rules() {
    for (body, line, message, hint) in WARNINGS {
        let parsed = parsed(&rule_text(&format!("decision = 'deny'; priority = 1; {body}")), Tier::User);
        assert_eq!(assert_only(&parsed.findings, (*line, message, hint), body), Severity::Warning);
        assert!(!parsed.has_errors() && !parsed.rules.is_empty(), "{body}");
    }
    for harmless in ["log", "blob_get", "read_files_of_the_project", "replicate_all", "mcpName_of_it", "get"] {
        let parsed =
            parsed(&rule_text(&format!("toolName = '{harmless}'; decision = 'deny'; priority = 1")), Tier::User);
        assert_eq!(parsed.findings, [], "{harmless}");
    }
    let with_server =
        parsed(&rule_text("mcpName = 'fs'; toolName = 'readfile'; decision = 'deny'; priority = 1"), Tier::User);
    assert_eq!(with_server.findings, []);
}

#[test]
fn everything_that_is_wrong_is_found_in_the_order_of_the_file() {
    let text = "[[rule]]\ntolName = 'a'\npriority = 1000\nmodes = ['x']\n[[rule]]\ntoolName = 'ok'\ndecision = 'deny'\npriority = 1\n[[rule]]\ntoolName = ''\n";
    let found: Vec<(usize, String)> =
        parsed(text, Tier::User).findings.into_iter().map(|one| (one.line, one.message)).collect();
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 1, 2, 3, 4, 9, 9, 10], "{found:#?}");
    let twice = parsed("a = \nb = \n", Tier::User).findings;
    assert_eq!(twice.iter().map(|one| one.line).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn columns_point_at_what_is_wrong() {
    let finding = |text: &str| parsed(text, Tier::User).findings.remove(0);
    assert_eq!(finding("é = 1").column, 1);
    let late = finding("[[rule]]\ntoolName = ['ä', 1]\ndecision = 'deny'\npriority = 1\n");
    assert_eq!((late.line, late.column), (2, 18));
    assert_eq!(late.to_string(), "/p/test.toml:2:18: error: `toolName` takes texts, not a number");
}

#[test]
fn files_have_a_bound() {
    let too_large = parsed(&"#".repeat(POLICY_FILE_BYTES_MAX + 1), Tier::User);
    assert_only(&too_large.findings, (1, "at most", "several files"), "size");

    let names: Vec<String> = (0..200).map(|at| format!("'t{at}'")).collect();
    let rule = format!("[[rule]]\nmcpName='s'\ntoolName=[{}]\ndecision='deny'\npriority=1\n", names.join(","));
    let full = rule.repeat(POLICY_RULES_MAX / 200);
    assert!(!parsed(&full, Tier::User).has_errors());
    assert!(parsed(&(full + &rule), Tier::User).has_errors());
}

#[test]
fn conditions_have_a_bound() {
    let nested = |depth: usize| {
        let when = format!("{}{{\"/a\" = {{max = 1}}}}{}", "{not = ".repeat(depth), "}".repeat(depth));
        parsed(&rule_text(&format!("toolName = 'a'; decision = 'deny'; priority = 1; when = {when}")), Tier::User)
    };
    assert_eq!(nested(POLICY_WHEN_DEPTH_MAX).findings, []);
    assert_only(&nested(POLICY_WHEN_DEPTH_MAX + 1).findings, (5, "nested more than", "several"), "depth");
    assert!(nested(500).has_errors(), "the parser of TOML has a bound of its own");
}

#[test]
fn findings_and_texts_have_a_bound() {
    let many = parsed(&"[[rule]]\nx=1\n".repeat(1_000), Tier::User).findings;
    assert_eq!(many.len(), POLICY_FINDINGS_MAX + 1);
    assert!(many.last().is_some_and(|last| last.message.contains("more problems are not listed")));

    let long_name = format!("toolName = '{}'; decision = 'deny'; priority = 1", "x".repeat(100_000));
    let long = parsed(&rule_text(&long_name), Tier::User);
    assert_only(&long.findings, (2, "`toolName` has more than", "shorter"), "name");
    let list = format!("toolName = [{}]; decision = 'deny'; priority = 1", "'a',".repeat(1_000));
    assert_only(
        &parsed(&rule_text(&list), Tier::User).findings,
        (2, "`toolName` has more than", "several rules"),
        "list",
    );
    let tests: String = (0..300).map(|at| format!("; '/{at}' = {{max = 1}}")).collect();
    let tests =
        parsed(&rule_text(&format!("toolName = 'a'; decision = 'deny'; priority = 1; [rule.when]{tests}")), Tier::User);
    assert!(tests.findings.iter().all(|one| one.message.contains("one test too many")) && tests.has_errors());
}
