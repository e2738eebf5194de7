//! `TurnEvent`: what happens while a model works, for whoever shows it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use toolgate::CallOutcome;

use crate::error::ModelError;
use crate::limits::{EXPLANATION_CHARS_MAX, EXPLANATION_NAMES_MAX};
use crate::usage::TokenUsage;

/// Hears what happens. Must not block.
pub type TurnEvents<'a> = dyn Fn(TurnEvent) + Send + Sync + 'a;

/// What happens while a model works. What comes from models and tools has to be made visible before it reaches a terminal.
#[derive(Debug, Clone)]
pub enum TurnEvent {
    /// A request goes out: number one is the first of this input.
    Asked {
        /// Which.
        number: u32,
    },
    /// A piece of what the model thinks.
    Thinking(String),
    /// A piece of what it says.
    Text(String),
    /// An answer is there as a whole.
    Answered {
        /// What it says.
        text: String,
        /// Calls that it asks for.
        calls: usize,
        /// What it cost.
        usage: TokenUsage,
    },
    /// A request failed and is made again. What was shown of its answer does not count.
    Retry {
        /// Which attempt failed, counted from 1.
        attempt: u32,
        /// How long is waited first.
        wait: Duration,
        /// Why it failed.
        error: ModelError,
        /// Whether pieces of its answer were shown.
        discards: bool,
    },
    /// The model wants a tool called. All calls of one answer are told before the first begins.
    CallAsked(Arc<CallNews>),
    /// The call is on its way: through the rules, the person, and to its server.
    CallStarted(Arc<CallNews>),
    /// The call has ended. Each that was asked for does, also when the person gives up.
    CallEnded(Arc<CallNews>, CallEnding),
}

/// A call that a model wants.
#[derive(Debug, Clone, PartialEq)]
pub struct CallNews {
    /// Tells the calls of one input apart.
    pub id: String,
    /// The name it was called by.
    pub name: String,
    /// With what; nothing when that could not be read.
    pub arguments: Map<String, Value>,
}

impl CallNews {
    /// What it is shown as: the command of a call that runs one, else the name of the tool.
    #[must_use]
    pub fn title(&self) -> &str {
        self.arguments.get("command").and_then(Value::as_str).unwrap_or(&self.name)
    }

    /// What it is called with, in short.
    #[must_use]
    pub fn explanation(&self) -> String {
        let whole = Value::Object(self.arguments.clone()).to_string();
        if whole.chars().count() <= EXPLANATION_CHARS_MAX {
            return whole;
        }
        let names: Vec<&str> = self.arguments.keys().take(EXPLANATION_NAMES_MAX).map(String::as_str).collect();
        let more = if self.arguments.len() > names.len() { ", …" } else { "" };
        format!("({}{more})", names.join(", "))
    }
}

/// How a call ended.
#[derive(Debug, Clone)]
pub struct CallEnding {
    /// The word for it: that of its outcome, or `malformed`, `unknown_tool` or `answered` for calls that never got to a server.
    pub word: &'static str,
    /// Whether it gave no result, or one that says so.
    pub is_error: bool,
    /// How long it took.
    pub took: Duration,
    /// All about it, when it went through the host.
    pub outcome: Option<Arc<CallOutcome>>,
    /// What the model is told.
    pub told: String,
}

/// What a model is told of a call that was given up.
pub(crate) const CANCELLED: &str = "The call was cancelled by the person.";

impl CallEnding {
    /// Of a call that was given up.
    pub(crate) fn cancelled(took: Duration) -> Self {
        let word = CallOutcome::Cancelled.as_str();
        Self { word, is_error: true, took, outcome: None, told: CANCELLED.to_owned() }
    }
}

/// How work on one input ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model said what it had to say.
    Done,
    /// The same, and the provider let it go no further: it says why.
    CutShort(String),
    /// It went on by itself as often as it may.
    TurnLimit(u32),
    /// Somebody gave it up.
    Cancelled,
    /// The model did not answer.
    Failed(ModelError),
}

/// What came of one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnReport {
    /// How it ended.
    pub end: TurnEnd,
    /// The last thing the model said.
    pub text: String,
    /// How often the model was asked for the next step.
    pub turns: u32,
    /// Requests that were made for that: one that fails is made again.
    pub requests: u32,
    /// Calls of tools.
    pub calls: u32,
    /// Those of them that gave an error.
    pub failed_calls: u32,
    /// What it cost.
    pub usage: TokenUsage,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::CallNews;

    #[test]
    fn calls_are_shown_in_short() {
        let cases = [
            (json!({"command": "ls -l", "cwd": "."}), "ls -l", r#"{"command":"ls -l","cwd":"."}"#),
            (json!({"command": 7}), "t", r#"{"command":7}"#),
            (json!({"a": "x".repeat(600), "b": 1}), "t", "(a, b)"),
            (json!({"a": "x".repeat(600), "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}), "t", "(a, b, c, d, e, …)"),
        ];
        for (arguments, title, explanation) in cases {
            let arguments = arguments.as_object().unwrap().clone();
            let news = CallNews { id: "1".into(), name: "t".into(), arguments };
            assert_eq!((news.title(), news.explanation().as_str()), (title, explanation));
        }
    }
}
