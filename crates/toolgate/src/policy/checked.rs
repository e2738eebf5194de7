//! What one rule alone is about, for those who do not ask all of them.

use std::sync::Arc;

use super::facts::CallFacts;
use super::matching::{Fit, matches};
use super::rank::Ranked;
use super::rule::{Rule, ServerPattern};
use super::spellings::Spellings;
use super::subject::Subject;
use crate::server_name::ServerName;
use crate::shell::Reach;

impl Rule {
    /// Whether it is about a call; also when that cannot be told, as for any restriction.
    #[must_use]
    pub fn is_about(&self, facts: &CallFacts<'_>) -> bool {
        let ranked = Ranked::new(Arc::new(self.clone()));
        matches(&ranked, &Subject::call(facts)).is_ok_and(|fit| fit != Fit::No)
    }

    /// Whether it is about some calls of a tool.
    pub(super) fn is_about_tool(&self, server: &ServerName, builtin: Option<&str>, tool: &str) -> bool {
        let ranked = Ranked::new(Arc::new(self.clone()));
        let spellings = Spellings::new(server, tool);
        let is_about_server = match (&self.server, ranked.reach) {
            (ServerPattern::Any, _) => true,
            (ServerPattern::BuiltIn(name), _) => builtin == Some(name),
            (ServerPattern::Named(name), Reach::Permission) => name.matches(server),
            (ServerPattern::Named(_), Reach::Restriction) => ranked.could_be_server(&spellings),
        };
        let is_about_tool = match ranked.reach {
            Reach::Permission => self.tool.matches(tool),
            Reach::Restriction => ranked.could_be_tool(&spellings),
        };
        is_about_server && is_about_tool
    }
}
