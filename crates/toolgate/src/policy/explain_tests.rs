//! What an explanation says.

use super::test_notation::{call, rules};
use super::{Because, Decision, Explanation, Found, Part, Policy, WhyClose};

fn explain(written: &str, called: &str) -> Explanation {
    call(called).with_facts(|facts| Policy::new(rules(written)).explain(facts))
}

/// What was looked at: the place of the rule, the part of the command, what came of it.
fn trace(explanation: &Explanation) -> Vec<String> {
    let one = |found, rule: &super::Rule| match found {
        Found::Matches => "matches".to_owned(),
        Found::Unsure => "unsure".to_owned(),
        Found::WeighedInPart => "weighed in part".to_owned(),
        Found::Misses(part) => format!("misses {}", rule.key_of(part)),
    };
    let steps = explanation.trace.iter();
    steps
        .map(|step| {
            let command = step.command.as_deref().map(|command| format!(" [{command}]")).unwrap_or_default();
            format!("{}{command} {}", step.rule.origin.label, one(step.found, &step.rule))
        })
        .collect()
}

fn close(explanation: &Explanation) -> Vec<String> {
    let close = explanation.close.iter();
    close
        .map(|close| match close.why {
            WhyClose::Misses(part) => format!("{} misses {}", close.rule.origin.label, close.rule.key_of(part)),
            WhyClose::Outranked => format!("{} outranked", close.rule.origin.label),
            WhyClose::HasNoEffect => format!("{} has no effect", close.rule.origin.label),
        })
        .collect()
}

#[test]
fn every_rule_is_traced_until_one_decides() {
    let written = "u9 deny s/t modes=plan ; u8 ask s/* args=x ; u7 deny other/t ; u6 allow */t ; u5 deny s/t";
    let explanation = explain(written, "s/t {\"a\": 1}");
    assert_eq!(trace(&explanation), ["u9 misses modes", "u8 misses argsPattern", "u6 matches"]);
    assert_eq!(explanation.verdict.decision, Decision::Allow);
    assert!(matches!(&explanation.verdict.because, Because::Rule(rule) if rule.origin.label == "u6"));
    assert!(explanation.visible);
}

#[test]
fn rules_that_came_close_say_why() {
    let written = "u9 allow s/t modes=plan ; u8 allow s/t modes=plan askers=cli ; u7 allow S/t ; u6 allow s/other ; \
        u5 allow s/T ; u5 allow s/t subagent=x ; u4 allow s/t interactive=false ; u3 ask s/t ; u2 allow s/t ; w1 allow s/t ; d9 deny */* modes=plan";
    let explanation = explain(written, "s/t {\"a\": 1}");
    let expected = [
        "u9 misses modes",
        "u7 misses mcpName",
        "u5 misses toolName",
        "u5 misses subagent",
        "u4 misses interactive",
        "u2 outranked",
        "w1 has no effect",
    ];
    assert_eq!(close(&explanation), expected);
}

#[test]
fn a_restriction_came_close_by_the_name_that_is_shown() {
    let written = "u9 allow */* ; u8 deny */delete_all ; u7 deny */my_server__delete_all ; u6 ask */DELETE* modes=plan ; u5 allow */delete_all";
    let expected = ["u8 outranked", "u7 outranked", "u6 misses modes", "u5 misses toolName"];
    assert_eq!(close(&explain(written, "my·server/delete·all")), expected);
}

#[test]
fn each_part_of_a_command_is_traced() {
    let written = "u9 deny */run_shell_command prefix=rm ; u8 allow */run_shell_command prefix=ls ; u7 ask */run_shell_command args='ls.*rm'";
    let explanation = explain(written, "s$ ls && rm x");
    let expected = [
        "u9 [ls] misses commandPrefix",
        "u8 [ls] matches",
        "u9 [rm x] matches",
        "u9 weighed in part",
        "u8 misses commandPrefix",
        "u7 matches",
    ];
    assert_eq!(trace(&explanation), expected);
    assert_eq!(explanation.verdict.decision, Decision::Deny);
    assert_eq!(explanation.verdict.adjustments, ["the part that decides is `rm x`"]);
    assert_eq!(close(&explanation), ["u8 misses commandPrefix", "u7 outranked"]);
}

#[test]
fn adjustments_are_said_in_words() {
    let cases: [(&str, &str, &[&str]); 5] = [
        ("u9 allow */*", "$ rm -rf y", &["`rm -rf y`: "]),
        ("u9 allow */*", "$ make > log", &["its input or output is redirected"]),
        ("", "$ ls", &["`ls` is known to look only"]),
        ("u9 allow */*", "headless $ echo 'a", &["the command cannot be taken apart: ", "nobody can be asked"]),
        ("u9 deny */* prefix=rm", "yolo $ $x", &["it cannot be told whether the rule is about this call"]),
    ];
    for (written, called, expected) in cases {
        let adjustments = explain(written, called).verdict.adjustments;
        let is_right = adjustments.len() == expected.len()
            && adjustments.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
        assert!(is_right, "{called}: {adjustments:?}");
    }
}

#[test]
fn parts_are_called_as_they_are_written() {
    let rule = super::test_notation::rule("u1 deny s/t prefix=a regex=b args=c entry=d read-only");
    let keys: Vec<&str> = (0..6).map(|at| rule.key_of(Part::Condition(at))).collect();
    assert_eq!(keys, ["commandPrefix", "commandRegex", "argsPattern", "arguments", "toolAnnotations", "conditions"]);
}
