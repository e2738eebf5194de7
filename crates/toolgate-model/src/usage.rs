//! `TokenUsage`: what answers cost.

use std::ops::AddAssign;

/// Tokens of one answer, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// What the model was given.
    pub input: u64,
    /// What of that the provider had seen before.
    pub cached: u64,
    /// What it answered, thoughts included.
    pub output: u64,
}

impl TokenUsage {
    /// All of it.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.cached = self.cached.saturating_add(more.cached);
        self.output = self.output.saturating_add(more.output);
    }
}

impl From<&genai::chat::Usage> for TokenUsage {
    fn from(usage: &genai::chat::Usage) -> Self {
        let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or_default();
        let cached = usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        Self { input: count(usage.prompt_tokens), cached: count(cached), output: count(usage.completion_tokens) }
    }
}
