//! `Verdict`: what was decided about a call, and why.

use std::sync::Arc;

use super::decision::Decision;
use super::rule::{Rule, RuleOrigin};

/// What was decided, and why.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What was decided.
    pub decision: Decision,
    /// What decided it.
    pub because: Because,
    /// What made it stricter or milder than that, in words, in order: a dangerous command, nobody who can be asked.
    pub adjustments: Vec<String>,
}

/// What decided.
#[derive(Clone, Debug)]
pub enum Because {
    /// A rule.
    Rule(Arc<Rule>),
    /// An entry of the server's own lists.
    Filter(RuleOrigin),
    /// What the person allowed before: which grant.
    Remembered(String),
    /// Nothing speaks of the call.
    NoRule,
}
