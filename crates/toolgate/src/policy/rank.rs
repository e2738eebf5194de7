//! The order in which rules are looked at, so that the first one that matches decides.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use super::decision::Decision;
use super::rule::{Rule, RuleKind, ServerPattern};
use crate::filter::NamePattern;
use crate::servers::folded;
use crate::shell::Reach;

/// A rule in its place.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    /// The rule.
    pub(super) rule: Arc<Rule>,
    /// Whose tools, as [`folded`]: what a restriction compares with.
    pub(super) folded_server: Option<NamePattern>,
    /// How far it reaches.
    pub(super) reach: Reach,
}

impl Ranked {
    fn new(rule: Arc<Rule>) -> Self {
        Self { reach: rule.reach(), folded_server: folded_server(&rule.server), rule }
    }
}

/// The names of servers as a restriction compares them.
pub(super) fn folded_server(server: &ServerPattern) -> Option<NamePattern> {
    let ServerPattern::Named(name) = server else { return None };
    Some(match name {
        NamePattern::Any => NamePattern::Any,
        NamePattern::Exact(exact) => NamePattern::Exact(folded(exact)),
        NamePattern::Glob(glob) => NamePattern::Glob(folded(glob)),
    })
}

/// Rules in the order they are looked at: the weightier tier; in a tier a deny of the settings; the higher priority; the stricter decision.
///
/// Rules that are alike in all that stand so that what is decided does not depend on the order they came in: the one that speaks of arguments
/// before the general one, the one that leaves redirections to a question before the one that does not.
pub(super) fn in_order(rules: impl IntoIterator<Item = Arc<Rule>>) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = rules.into_iter().map(Ranked::new).collect();
    ranked.sort_by(|one, other| compare(&one.rule, &other.rule));
    ranked
}

fn compare(one: &Rule, other: &Rule) -> Ordering {
    let key = |rule: &Rule| {
        let is_deny_of_settings = rule.kind == RuleKind::Settings && rule.decision == Decision::Deny;
        let weight = (Reverse(rule.tier), Reverse(is_deny_of_settings), Reverse(rule.priority), Reverse(rule.decision));
        (weight, Reverse(rule.speaks_of_arguments()), rule.allows_redirection)
    };
    key(one).cmp(&key(other))
}
