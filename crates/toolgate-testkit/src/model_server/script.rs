//! What a model answers, in no format at all: one answer for each request, in order.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A model as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelScript {
    /// The answers, one for each request. When they are used up, a request is refused with a status of 400.
    pub answers: Vec<ModelAnswer>,
}

/// One answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelAnswer {
    /// How long it takes to begin.
    pub delay_ms: u64,
    /// A refusal in place of an answer.
    pub refusal: Option<Refusal>,
    /// What it says, piece by piece.
    pub said: Vec<Said>,
    /// How it ends.
    pub stop: ModelStop,
    /// What it costs.
    pub usage: ModelUsage,
}

/// A request that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The status.
    pub status: u16,
    /// The `Retry-After` header.
    #[serde(default)]
    pub retry_after: Option<String>,
}

/// One piece of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// A piece of text, in an event of its own.
    Text(String),
    /// A piece of what it thinks.
    Thinking(String),
    /// A tool it wants called.
    Call {
        /// The tool.
        name: String,
        /// With what.
        arguments: Value,
    },
    /// The same with arguments that are not what they should be: any text.
    BrokenCall {
        /// The tool.
        name: String,
        /// The text where an object should be.
        arguments: String,
    },
    /// An event as it stands here, whatever that is in the format of the provider.
    Event(Value),
    /// A pause.
    Pause {
        /// How long.
        ms: u64,
    },
}

/// How an answer ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelStop {
    /// As it should.
    #[default]
    Whole,
    /// At the longest answer that the provider gives.
    TooLong,
    /// For a reason in the words of the provider.
    Other(String),
    /// Not at all: the connection is lost.
    Cut,
    /// Not at all: the body ends in order, before the answer does.
    Short,
    /// Not at all: nothing more comes until the client leaves.
    Hang,
}

/// What an answer costs, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUsage {
    /// What it was asked.
    pub input: u32,
    /// What it answered.
    pub output: u32,
}

impl Default for ModelUsage {
    fn default() -> Self {
        Self { input: 10, output: 5 }
    }
}

impl ModelScript {
    /// These answers.
    #[must_use]
    pub fn new(answers: impl IntoIterator<Item = ModelAnswer>) -> Self {
        Self { answers: answers.into_iter().collect() }
    }

    /// Reads a script.
    ///
    /// # Errors
    /// When the text is not one.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}

impl ModelAnswer {
    /// A text, in these pieces.
    #[must_use]
    pub fn text<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let said = pieces.into_iter().map(|piece| Said::Text(piece.to_owned())).collect();
        Self { said, ..Self::default() }
    }

    /// Calls of tools, all at once.
    #[must_use]
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let call = |(name, arguments): (&str, Value)| Said::Call { name: name.to_owned(), arguments };
        Self { said: calls.into_iter().map(call).collect(), ..Self::default() }
    }

    /// A call with arguments that are any text.
    #[must_use]
    pub fn broken_call(name: &str, arguments: &str) -> Self {
        let said = vec![Said::BrokenCall { name: name.to_owned(), arguments: arguments.to_owned() }];
        Self { said, ..Self::default() }
    }

    /// A refusal.
    #[must_use]
    pub fn refused(status: u16, retry_after: Option<&str>) -> Self {
        let refusal = Some(Refusal { status, retry_after: retry_after.map(ToOwned::to_owned) });
        Self { refusal, ..Self::default() }
    }

    /// The same with more to say.
    #[must_use]
    pub fn and(mut self, said: impl IntoIterator<Item = Said>) -> Self {
        self.said.extend(said);
        self
    }

    /// The same with another end.
    #[must_use]
    pub fn ending(mut self, stop: ModelStop) -> Self {
        self.stop = stop;
        self
    }

    /// The same at another price.
    #[must_use]
    pub const fn costing(mut self, input: u32, output: u32) -> Self {
        self.usage = ModelUsage { input, output };
        self
    }

    /// Whether it wants tools called.
    pub(super) fn has_calls(&self) -> bool {
        self.said.iter().any(|said| matches!(said, Said::Call { .. } | Said::BrokenCall { .. }))
    }
}
