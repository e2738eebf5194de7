//! Whether a rule is about a call, for those who ask about one rule alone.

use super::facts::CallFacts;
use super::matching::{Fit, matches};
use super::rank;
use super::rule::Rule;
use super::subject::Subject;
use std::sync::Arc;

impl Rule {
    /// Whether it is about a call; also when that cannot be told, as for any restriction.
    #[must_use]
    pub fn is_about(&self, facts: &CallFacts<'_>) -> bool {
        let ranked = rank::in_order([Arc::new(self.clone())]);
        let subject = Subject::call(facts);
        ranked.iter().any(|ranked| matches(ranked, &subject).is_ok_and(|fit| fit != Fit::No))
    }
}
