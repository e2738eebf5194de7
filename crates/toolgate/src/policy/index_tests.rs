//! That rules about other tools are not looked at.

use std::sync::Arc;

use super::matching::{Fit, Part};
use super::subject::Subject;
use super::test_notation::{call, rule, rules};
use super::walk::Watch;
use super::{Decision, Policy, Rule};

#[derive(Default)]
struct Count(usize);

impl Watch for Count {
    fn looked_at(&mut self, _: &Arc<Rule>, _: &Subject<'_>, _: Result<Fit, Part>) {
        self.0 += 1;
    }
}

/// Rules that name other tools, in every way a rule can.
fn others(count: usize) -> Vec<Rule> {
    let one = |at: usize| match at % 8 {
        0 => format!("u500 deny server{at}/tool"),
        1 => format!("u500 deny server{at}/*"),
        2 => format!("u500 deny */tool{at}"),
        3 => format!("u500 deny */tool{at}_*"),
        4 => format!("u500 deny */*_tool{at}"),
        5 => format!("u500 deny */other__tool{at}"),
        6 => format!("u500 allow wanted/Tool{at}"),
        _ => format!("u500 deny wanted/other{at}"),
    };
    (0..count).map(|at| rule(&one(at))).collect()
}

fn looked_at(rules: Vec<Rule>, called: &str) -> (usize, Decision) {
    let mut count = Count::default();
    let verdict = call(called).with_facts(|facts| Policy::new(rules).judge(facts, &mut count));
    (count.0, verdict.decision)
}

#[test]
fn rules_about_other_tools_are_not_looked_at() {
    let own = "u100 allow wanted/tool ; u90 deny */* ; u80 deny */to* ; u70 deny wanted/*";
    for count in [0, 100, 10_000] {
        let rules = [others(count), rules(own)].concat();
        assert_eq!(looked_at(rules, "wanted/tool"), (1, Decision::Allow), "{count}");
    }
}

#[test]
fn every_list_is_looked_at_in_the_order_of_the_rules() {
    let own = "u9 ask s/t args=no ; u8 ask */t args=no ; u7 ask s/t* args=no ; u6 ask */*t args=no ; u5 ask s/* args=no ; \
        u4 ask */*a*t* args=no ; u3 ask x*/t args=no ; u2 ask @b/t args=no ; u1 ask */* args=no ; u0 deny S/t ; d9 allow s/t";
    let mut rules = rules(own);
    rules.reverse();
    let policy = Policy::new(rules);
    let facts = call("s/t");
    let trace = facts.with_facts(|facts| policy.explain(facts)).trace;
    let places: Vec<&str> = trace.iter().map(|step| step.rule.origin.label.as_str()).collect();
    assert_eq!(places, ["u9", "u8", "u7", "u6", "u5", "u4", "u3", "u2", "u1", "u0"]);
}

#[test]
fn a_rule_that_two_spellings_find_is_looked_at_once() {
    let own = "u9 deny */a* args=no ; u8 deny */* args=no ; u7 deny s/*c args=no ; u6 deny */mcp_* args=no ; u5 deny */a_c ; u4 deny */*";
    assert_eq!(looked_at(rules(own), "s/A·c"), (5, Decision::Deny));
}

#[test]
fn names_that_are_cut_within_a_letter_are_no_danger() {
    let rules = rules("u5 deny */é* ; u5 deny */*é ; u5 deny */aé* ; u5 deny */abcdef*");
    for (tool, expected) in [
        ("é", Decision::Deny),
        ("è", Decision::Ask),
        ("aè", Decision::Ask),
        ("", Decision::Ask),
        ("aéb", Decision::Deny),
    ] {
        assert_eq!(looked_at(rules.clone(), &format!("s/{tool}")).1, expected, "{tool}");
    }
}
