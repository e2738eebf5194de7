//! Rules that can never match, one line of data each.

use serde_json::{Value, json};

use super::rule_tests::{parsed, rule_text};
use super::schema_lint::lint_against_schema;
use super::{KnownTool, Severity, lint, lint_against_tools};
use crate::policy::decision::Tier;
use crate::policy::rule::RuleKind;
use crate::server_name::ServerName;

/// The first rule stands on line 1, the second on line 10.
fn findings(first: &str, second: &str) -> Vec<(usize, Severity, String)> {
    let mut text = rule_text(first);
    while text.lines().count() < 9 {
        text.push('\n');
    }
    let parsed = parsed(&(text + &rule_text(second)), Tier::User);
    assert!(!parsed.has_errors(), "{:?}", parsed.findings);
    lint(&parsed.rules).into_iter().map(|one| (one.line, one.severity, one.message)).collect()
}

/// The rule before, the rule after, whether the second can never match.
const SHADOWS: &[(&str, &str, bool)] = &[
    ("toolName = 'a'; decision = 'deny'; priority = 2", "toolName = 'a'; decision = 'allow'; priority = 1", true),
    ("toolName = 'a'; decision = 'allow'; priority = 2", "toolName = 'a'; decision = 'deny'; priority = 1", true),
    ("toolName = '*'; decision = 'deny'; priority = 2", "toolName = 'a'; decision = 'deny'; priority = 1", true),
    ("toolName = '*'; decision = 'deny'; priority = 2", "mcpName = 's'; decision = 'allow'; priority = 1", true),
    ("toolName = 'a*'; decision = 'deny'; priority = 2", "toolName = 'ab'; decision = 'allow'; priority = 1", true),
    ("toolName = 'a*'; decision = 'deny'; priority = 2", "toolName = 'ab*'; decision = 'allow'; priority = 1", true),
    ("toolName = 'a*c'; decision = 'deny'; priority = 2", "toolName = 'a*b*c'; decision = 'allow'; priority = 1", true),
    ("toolName = 'ab*'; decision = 'deny'; priority = 2", "toolName = 'a*'; decision = 'allow'; priority = 1", false),
    ("toolName = 'a*'; decision = 'deny'; priority = 2", "toolName = '*'; decision = 'allow'; priority = 1", false),
    ("toolName = 'a'; decision = 'deny'; priority = 2", "toolName = 'b'; decision = 'allow'; priority = 1", false),
    ("toolName = 'a'; decision = 'deny'; priority = 2", "toolName = 'a*'; decision = 'allow'; priority = 1", false),
    // equal priority: the stricter one counts
    ("toolName = 'a'; decision = 'deny'; priority = 1", "toolName = 'a'; decision = 'allow'; priority = 1", true),
    ("toolName = 'a'; decision = 'ask'; priority = 1", "toolName = 'a'; decision = 'allow'; priority = 1", true),
    ("toolName = 'a'; decision = 'deny'; priority = 1", "toolName = 'a'; decision = 'deny'; priority = 1", false),
    // servers
    (
        "mcpName = 's'; decision = 'deny'; priority = 2",
        "mcpName = 's'; toolName = 'a'; decision = 'allow'; priority = 1",
        true,
    ),
    (
        "mcpName = 's*'; decision = 'deny'; priority = 2",
        "mcpName = 'st'; toolName = 'a'; decision = 'allow'; priority = 1",
        true,
    ),
    (
        "mcpName = 's'; decision = 'deny'; priority = 2",
        "mcpName = 't'; toolName = 'a'; decision = 'allow'; priority = 1",
        false,
    ),
    ("mcpName = 's'; decision = 'deny'; priority = 2", "toolName = 'a'; decision = 'allow'; priority = 1", false),
    (
        "builtin = 'workspace'; decision = 'deny'; priority = 2",
        "builtin = 'workspace'; toolName = 'glob'; decision = 'allow'; priority = 1",
        true,
    ),
    (
        "builtin = 'workspace'; decision = 'deny'; priority = 2",
        "mcpName = 'workspace'; decision = 'allow'; priority = 1",
        false,
    ),
    (
        "toolName = '*'; decision = 'deny'; priority = 2",
        "builtin = 'workspace'; decision = 'allow'; priority = 1",
        true,
    ),
    // conditions of the first leave something over, those of the second do not matter
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; argsPattern = 'x'",
        "toolName = 'a'; decision = 'allow'; priority = 1",
        false,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; when = {'/a' = {max = 1}}",
        "toolName = 'a'; decision = 'allow'; priority = 1",
        false,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; toolAnnotations = {x = 1}",
        "toolName = 'a'; decision = 'allow'; priority = 1",
        false,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2",
        "toolName = 'a'; decision = 'allow'; priority = 1; argsPattern = 'x'",
        true,
    ),
    // a permission of its own for a dangerous or redirected command counts below a wider one
    (
        "toolName = 'run_shell_command'; decision = 'allow'; priority = 2",
        "toolName = 'run_shell_command'; decision = 'allow'; priority = 1; commandPrefix = 'rm'",
        false,
    ),
    (
        "toolName = 'run_shell_command'; decision = 'allow'; priority = 2",
        "toolName = 'run_shell_command'; decision = 'ask'; priority = 1; commandPrefix = 'rm'",
        true,
    ),
    // capitals
    ("toolName = 'Drop'; decision = 'deny'; priority = 2", "toolName = 'drop'; decision = 'allow'; priority = 1", true),
    (
        "toolName = 'Drop'; decision = 'allow'; priority = 2",
        "toolName = 'drop'; decision = 'allow'; priority = 1",
        false,
    ),
    (
        "mcpName = 'S'; decision = 'deny'; priority = 2",
        "mcpName = 's'; toolName = 'drop'; decision = 'allow'; priority = 1",
        true,
    ),
    // modes, interactive, askers, subagent
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; modes = ['plan']",
        "toolName = 'a'; decision = 'allow'; priority = 1",
        false,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; modes = ['plan', 'yolo']",
        "toolName = 'a'; decision = 'allow'; priority = 1; modes = ['plan']",
        true,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; modes = ['plan', 'default', 'autoEdit', 'yolo']",
        "toolName = 'a'; decision = 'allow'; priority = 1",
        true,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; interactive = true",
        "toolName = 'a'; decision = 'allow'; priority = 1",
        false,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; interactive = true",
        "toolName = 'a'; decision = 'allow'; priority = 1; interactive = true",
        true,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; interactive = true",
        "toolName = 'a'; decision = 'allow'; priority = 1; interactive = false",
        false,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; askers = ['model']",
        "toolName = 'a'; decision = 'allow'; priority = 1",
        false,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; askers = ['model', 'cli']",
        "toolName = 'a'; decision = 'allow'; priority = 1; askers = ['cli']",
        true,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; subagent = 'x'",
        "toolName = 'a'; decision = 'allow'; priority = 1",
        false,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; subagent = 'x'",
        "toolName = 'a'; decision = 'allow'; priority = 1; subagent = 'x'",
        true,
    ),
    (
        "toolName = 'a'; decision = 'deny'; priority = 2; subagent = 'x'",
        "toolName = 'a'; decision = 'allow'; priority = 1; subagent = 'y'",
        false,
    ),
];

#[test]
fn a_rule_behind_a_wider_one_can_never_match() {
    for (first, second, is_dead) in SHADOWS.iter().copied() {
        let message = "can never match: line 1 of /p/test.toml decides first".to_owned();
        let expected = if is_dead { vec![(10, Severity::Error, message)] } else { Vec::new() };
        assert_eq!(findings(first, second), expected, "{first} | {second}");
    }
}

#[test]
fn a_list_of_which_only_a_part_can_match_is_a_warning() {
    let found = findings(
        "toolName = 'a'; decision = 'deny'; priority = 2",
        "toolName = ['a', 'b']; decision = 'allow'; priority = 1",
    );
    assert_eq!(
        found,
        [(10, Severity::Warning, "can never match `a`: line 1 of /p/test.toml decides first".to_owned())]
    );
}

#[test]
fn tiers_do_not_shadow_each_other_and_settings_forbid_first() {
    let allow = parsed(&rule_text("toolName = 'a'; decision = 'allow'; priority = 900"), Tier::User).rules;
    let mut deny = parsed(&rule_text("toolName = 'a'; decision = 'deny'; priority = 999"), Tier::Admin).rules;
    assert_eq!(lint(&[allow.clone(), deny.clone()].concat()), []);
    for rule in &mut deny {
        (rule.tier, rule.priority, rule.kind) = (Tier::User, 200, RuleKind::Settings);
        rule.origin = crate::policy::RuleOrigin { label: "`tools.exclude`".to_owned(), ..Default::default() };
    }
    let found = lint(&[allow, deny].concat());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "can never match: `tools.exclude` decides first");
    assert_eq!(found[0].severity, Severity::Warning, "a folder's settings make no policy unusable");
}

#[test]
fn many_rules_are_compared_quickly() {
    let text: String = (0..10_000)
        .map(|at| format!("[[rule]]\ntoolName='t{at}'\ndecision='deny'\npriority={}\n", at % 1_000))
        .collect();
    assert_eq!(lint(&parsed(&text, Tier::User).rules), []);
}

#[test]
fn arguments_that_a_tool_does_not_take_are_found() {
    let closed = json!({"type": "object", "additionalProperties": false, "properties": {
        "path": {"type": "string"}, "limit": {"type": "integer"},
        "files": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "any": {}, "either": {"anyOf": [{"type": "string"}]}}});
    let listed = json!({"type": "object", "properties": {"path": {}}});
    let open = json!({"type": "object", "properties": {"path": {}}, "additionalProperties": true});
    let referring = json!({"$ref": "#/$defs/x", "properties": {"path": {}}});
    let cases: [(&Value, &str, Option<&str>); 19] = [
        (&closed, "/path", None),
        (&closed, "/pth", Some("did you mean `path`?")),
        (&closed, "/banana", Some("it takes")),
        (&closed, "/path/x", Some("nothing to be named")),
        (&closed, "/files/*/name", None),
        (&closed, "/files/0/name", None),
        (&closed, "/files/*/nam", Some("did you mean `name`?")),
        (&closed, "/files/x/name", None),
        (&closed, "/tags/anything", None),
        (&closed, "/tags/*", None),
        (&closed, "/any/x/y", None),
        (&closed, "/either/x", None),
        (&closed, "/path/*", None),
        (&listed, "/path", None),
        (&listed, "/other", Some("it takes `path`")),
        (&open, "/other", None),
        (&referring, "/other", None),
        (&json!(true), "/other", None),
        (&json!({"type": "object"}), "/other", None),
    ];
    for (schema, pointer, hint) in cases {
        let body = format!(
            "toolName = 'a'; decision = 'deny'; priority = 1; when = {{not = {{'{pointer}' = {{present = true}}}}}}"
        );
        let rule = parsed(&rule_text(&body), Tier::User).rules.remove(0);
        let found = lint_against_schema(&rule, schema, None);
        assert_eq!(found.len(), usize::from(hint.is_some()), "{pointer}: {found:?}");
        if let (Some(hint), Some(found)) = (hint, found.first()) {
            assert!(found.is_error() && found.line == 1 && found.message.contains("points at nothing"), "{found}");
            assert!(found.hint.as_deref().unwrap_or_default().contains(hint), "{found:?}");
        }
    }
    // `name(key=pattern)` of the settings
    let mut rule = parsed(&rule_text("toolName = 'a'; decision = 'deny'; priority = 1"), Tier::User).rules.remove(0);
    let entry = |key: &str| {
        crate::policy::Condition::Entry(crate::filter::ArgumentPattern::Key {
            key: key.to_owned(),
            pattern: "x".to_owned(),
        })
    };
    rule.conditions = vec![entry("path"), entry("pats")];
    let found = lint_against_schema(&rule, &listed, None);
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("`pats=`"), "{found:?}");
}

#[test]
fn a_rule_is_held_against_all_tools_it_is_about() {
    let (files, notes) = (ServerName::new("files").unwrap(), ServerName::new("Notes").unwrap());
    let (path, text) = (json!({"properties": {"path": {}}}), json!({"properties": {"text": {}}}));
    let tool = |server, tool, schema| KnownTool { server, builtin: None, tool, schema };
    let known = [tool(&files, "write", &path), tool(&notes, "write", &text), tool(&notes, "read", &text)];
    // a rule with a condition on `/path`, and whether that points at nothing
    let cases = [
        ("toolName = 'write'; decision = 'deny'", false),
        ("toolName = 'read'; decision = 'deny'", true),
        ("toolName = 'other'; decision = 'deny'", false),
        ("mcpName = 'files'; decision = 'allow'", false),
        ("mcpName = 'Notes'; decision = 'allow'", true),
        ("mcpName = 'notes'; decision = 'allow'", false),
        ("mcpName = 'notes'; toolName = 'w*'; decision = 'ask'", true),
        ("builtin = 'workspace'; toolName = 'read_file'; decision = 'deny'", false),
    ];
    for (rule, is_wrong) in cases {
        let text = rule_text(&format!("{rule}; priority = 1; when = {{'/path' = {{equals = 'x'}}}}"));
        let rules = parsed(&text, Tier::User).rules;
        let found = lint_against_tools(rules.iter(), &known);
        assert_eq!(found.len(), usize::from(is_wrong), "{rule}: {found:?}");
    }
    // Each argument belongs to one of the tools, or to none.
    let any = "any = [{'/path' = {present = true}}, {'/text' = {present = true}}, {'/size' = {present = true}}]";
    let text = rule_text(&format!("toolName = '*'; decision = 'deny'; priority = 1; when = {{{any}}}"));
    let found = lint_against_tools(parsed(&text, Tier::User).rules.iter(), &known);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.starts_with("`/size` points at nothing"), "{found:?}");
}
