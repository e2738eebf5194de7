//! Every behaviour of the policy as one line of data: rules, a call, what is decided, and the section that asks for it.

use super::test_notation::{call, rules};
use super::{Because, Decision, Policy, ToolFacts};

/// What is expected: a decision, then `hidden` or `shown`, then `by` and the place of the rule, `grant` or `nothing`.
fn check(line: &str) -> Result<(), String> {
    let columns: Vec<&str> = line.split('¦').map(str::trim).collect();
    let [written, called, expected, section] = columns[..] else { return Err("not four columns".to_owned()) };
    if section.is_empty() {
        return Err("proves nothing".to_owned());
    }
    let policy = Policy::new(rules(written));
    call(called).with_facts(|facts| {
        let verdict = policy.decide(facts);
        let visible = policy.visible(&ToolFacts::from(facts));
        if !visible && verdict.decision != Decision::Deny {
            return Err(format!("hidden, and yet {}", verdict.decision.as_str()));
        }
        if policy.explain(facts).verdict.decision != verdict.decision {
            return Err("explained otherwise than decided".to_owned());
        }
        let by = match &verdict.because {
            Because::Rule(rule) => rule.origin.label.clone(),
            Because::Remembered(_) => "grant".to_owned(),
            Because::NoRule => "nothing".to_owned(),
            Because::Filter(_) => "filter".to_owned(),
        };
        let mut words = expected.split(' ');
        let decision = words.next().unwrap_or_default();
        let mut is_right = decision == verdict.decision.as_str();
        while let Some(word) = words.next() {
            is_right &= match word {
                "hidden" => !visible,
                "shown" => visible,
                "by" => words.next() == Some(by.as_str()),
                other => return Err(format!("unknown expectation: {other}")),
            };
        }
        let shown = if visible { "shown" } else { "hidden" };
        let found = format!("{} {shown} by {by} {:?}", verdict.decision.as_str(), verdict.adjustments);
        if is_right { Ok(()) } else { Err(format!("found {found}")) }
    })
}

fn check_all(cases: &str) -> usize {
    let lines: Vec<&str> =
        cases.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("##")).collect();
    let wrong: Vec<String> =
        lines.iter().filter_map(|line| Some(format!("{line}\n    {}", check(line).err()?))).collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
    lines.len()
}

#[test]
fn rules_decide() {
    assert!(check_all(include_str!("cases/rules.txt")) >= 100);
}

#[test]
fn arguments_of_built_in_tools_have_other_names() {
    assert!(check_all(include_str!("cases/other_names.txt")) >= 18);
}

#[test]
fn shell_commands_are_decided_part_by_part() {
    assert!(check_all(include_str!("cases/shell.txt")) >= 90);
}

/// Prefixes that are denied where ordinary commands are tried.
const DENIED: &str = "npm publish|git push|rm -rf|sudo|curl|docker run|terraform apply|kubectl delete|cargo publish|make deploy|shutdown";

/// The decision on a command that every rule but a deny allows, and its adjustments.
fn decided(denied: &str, command: &str) -> (Decision, Vec<String>) {
    let policy = Policy::new(rules(&format!(
        "u100 allow */run_shell_command redirection ; u90 allow */run_shell_command prefix='git|find' ; u200 deny */run_shell_command prefix='{denied}'"
    )));
    call(&format!("$ {}", command.replace('␤', "\n"))).with_facts(|facts| {
        let verdict = policy.decide(facts);
        (verdict.decision, verdict.adjustments)
    })
}

fn lines(table: &str) -> Vec<&str> {
    table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("##")).collect()
}

#[test]
fn a_denied_command_is_not_allowed_in_other_words() {
    let rows = lines(include_str!("cases/evasion.txt"));
    let is_allowed = |row: &&&str| {
        let (denied, command) = row.split_once(" ¦ ").unwrap_or_else(|| panic!("not two columns: {row}"));
        decided(denied, command).0 == Decision::Allow
    };
    let wrong: Vec<&&str> = rows.iter().filter(is_allowed).collect();
    assert!(wrong.is_empty(), "{} of {} are allowed:\n{wrong:#?}", wrong.len(), rows.len());
    assert!(rows.len() >= 300, "{}", rows.len());
}

#[test]
fn ordinary_commands_stay_allowed_beside_denials() {
    let rows = lines(include_str!("cases/ordinary.txt"));
    let found =
        |row: &&str| Some((row.to_string(), decided(DENIED, row))).filter(|(_, (it, _))| *it != Decision::Allow);
    let wrong: Vec<_> = rows.iter().filter_map(found).collect();
    assert!(wrong.is_empty(), "{} of {} are not allowed:\n{wrong:#?}", wrong.len(), rows.len());
    assert!(rows.len() >= 200, "{}", rows.len());
}
