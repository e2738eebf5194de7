//! The order in which rules are looked at, so that the first one that matches decides.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use super::decision::Decision;
use super::rule::{Rule, RuleKind, ServerPattern};
use super::spellings::Spellings;
use super::target::is_shown_form;
use crate::filter::NamePattern;
use crate::shell::Reach;
use crate::shown_name::has_hash;

/// A rule in its place.
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    /// The rule.
    pub(super) rule: Arc<Rule>,
    /// Whose tools, when it names servers: what a restriction compares with.
    pub(super) folded_server: Option<NamePattern>,
    /// Which tools: what a restriction compares with.
    pub(super) folded_tool: NamePattern,
    /// Whether that may be a name shown with the server in it.
    pub(super) is_of_both: bool,
    /// How far it reaches.
    pub(super) reach: Reach,
}

impl Ranked {
    pub(super) fn new(rule: Arc<Rule>) -> Self {
        let folded_server = match &rule.server {
            ServerPattern::Named(name) => Some(name.folded()),
            ServerPattern::Any | ServerPattern::BuiltIn(_) => None,
        };
        let folded_tool = rule.tool.folded();
        let is_of_both = rule.server == ServerPattern::Any
            && match &folded_tool {
                NamePattern::Any => false,
                NamePattern::Exact(name) => is_shown_form(name) || has_hash(name),
                NamePattern::Glob(glob) => is_shown_form(glob),
            };
        Self { reach: rule.reach(), folded_server, folded_tool, is_of_both, rule }
    }

    /// Whether the tools it names could be this one.
    pub(super) fn could_be_tool(&self, spellings: &Spellings<'_>) -> bool {
        self.folded_tool.matches_any(spellings.of_tool())
            || (self.is_of_both && self.folded_tool.matches_any(spellings.of_both()))
    }

    /// Whether the servers it names could be this one.
    pub(super) fn could_be_server(&self, spellings: &Spellings<'_>) -> bool {
        self.folded_server.as_ref().is_some_and(|name| name.matches_any(spellings.of_server()))
    }
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
