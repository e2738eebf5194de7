//! `When`: what must hold of the arguments of a call, each named by a JSON pointer. Pure: paths are compared as texts, nothing is looked up.
//!
//! A permission holds only when it certainly does, a restriction when it may. Where nothing can be told, because an argument is missing or
//! is of another kind than the test, neither holds; within `not`, a permission still does not hold, and a restriction does.

mod path_text;

mod pointer;

mod test;

use serde_json::Value;

pub use path_text::PathGlob;
pub use pointer::{Pointer, Segment};
pub use test::Test;

use self::test::Reading;
use super::facts::CallFacts;
use crate::shell::Reach;

/// What must hold of the arguments.
#[derive(Clone, Debug)]
pub enum When {
    /// All of these.
    All(Vec<Self>),
    /// One of these.
    Any(Vec<Self>),
    /// Not this.
    Not(Box<Self>),
    /// All of these tests, of one argument.
    Argument {
        /// Which argument, or which arguments.
        pointer: Pointer,
        /// What must hold of it. A permission wants it of each argument that is pointed at, a restriction of one.
        tests: Vec<Test>,
    },
}

impl When {
    /// Whether it holds for a call.
    #[must_use]
    pub fn holds(&self, facts: &CallFacts<'_>, reach: Reach) -> bool {
        self.holds_in(facts.arguments.value(), &Reading { folder: facts.folder, reach, is_negated: false })
    }

    fn holds_in(&self, arguments: &Value, reading: &Reading<'_>) -> bool {
        match self {
            Self::All(all) => all.iter().all(|one| one.holds_in(arguments, reading)),
            Self::Any(any) => any.iter().any(|one| one.holds_in(arguments, reading)),
            Self::Not(not) => !not.holds_in(arguments, &reading.negated()),
            Self::Argument { pointer, tests } => {
                let found = pointer.find(arguments, reading.reach);
                let certain = test::all_hold(tests, &found, reading);
                certain.unwrap_or(reading.is_negated && reading.reach == Reach::Restriction)
            }
        }
    }

    /// The arguments it looks at.
    #[must_use]
    pub fn pointers(&self) -> Vec<&Pointer> {
        match self {
            Self::All(several) | Self::Any(several) => several.iter().flat_map(Self::pointers).collect(),
            Self::Not(not) => not.pointers(),
            Self::Argument { pointer, .. } => vec![pointer],
        }
    }
}

#[cfg(test)]
#[path = "when_tests.rs"]
mod tests;
