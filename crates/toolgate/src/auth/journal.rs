//! What was done for a login, step by step, for `mcp auth explain` and for errors. Nothing secret is ever written here.

use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::LOGIN_STEPS_MAX;

/// The steps so far. Cheap to clone; all clones write to the same pages.
#[derive(Clone, Debug, Default)]
pub struct Journal(Arc<Mutex<Vec<Step>>>);

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was done, such as `GET https://a.example/.well-known/oauth-authorization-server`.
    pub what: String,
    /// How it went.
    pub outcome: StepOutcome,
    /// What it turned out to be or why it went wrong, in words.
    pub detail: String,
    /// The rule that decided, such as `RFC 8414 §3.3: issuer must be the one asked`.
    pub rule: Option<&'static str>,
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// As hoped.
    Good,
    /// There was nothing, and the next way is tried.
    Nothing,
    /// The rule is broken; the login cannot go on this way.
    Failed,
}

impl Journal {
    /// Writes a step down. Beyond the limit nothing more is written: whoever makes so many steps walks in circles.
    pub(crate) fn note(
        &self,
        what: impl Into<String>,
        outcome: StepOutcome,
        detail: impl Into<String>,
        rule: Option<&'static str>,
    ) {
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if steps.len() < LOGIN_STEPS_MAX {
            steps.push(Step { what: what.into(), outcome, detail: detail.into(), rule });
        }
    }

    /// A step that went as hoped.
    pub(crate) fn good(&self, what: impl Into<String>, detail: impl Into<String>) {
        self.note(what, StepOutcome::Good, detail, None);
    }

    /// All steps so far.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
