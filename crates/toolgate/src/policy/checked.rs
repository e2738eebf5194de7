//! What one rule alone is about, for those who do not ask all of them.

use std::sync::Arc;

use super::facts::CallFacts;
use super::matching::{Fit, matches};
use super::rank;
use super::rule::{Rule, ServerPattern};
use super::subject::Subject;
use crate::server_name::ServerName;
use crate::servers::folded;
use crate::shell::Reach;

impl Rule {
    /// Whether it is about a call; also when that cannot be told, as for any restriction.
    #[must_use]
    pub fn is_about(&self, facts: &CallFacts<'_>) -> bool {
        let ranked = rank::in_order([Arc::new(self.clone())]);
        let subject = Subject::call(facts);
        ranked.iter().any(|ranked| matches(ranked, &subject).is_ok_and(|fit| fit != Fit::No))
    }

    /// Whether it is about some calls of a tool.
    pub(super) fn is_about_tool(&self, server: &ServerName, builtin: Option<&str>, tool: &str) -> bool {
        let is_about_server = match (&self.server, self.reach()) {
            (ServerPattern::Any, _) => true,
            (ServerPattern::BuiltIn(name), _) => builtin == Some(name),
            (ServerPattern::Named(name), Reach::Permission) => name.matches(server),
            (named @ ServerPattern::Named(_), Reach::Restriction) => {
                rank::folded_server(named).is_some_and(|name| name.matches(&folded(server)))
            }
        };
        is_about_server && self.tool.matches(tool)
    }
}
