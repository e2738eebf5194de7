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
