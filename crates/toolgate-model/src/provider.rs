//! Whose wire format a model is spoken to in.

/// A family of models that share a wire format, and so what a function declaration may look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Google's `generateContent`.
    Gemini,
    /// `chat/completions`, as OpenAI and most local servers (Ollama, llama.cpp) speak it.
    OpenAi,
    /// Anthropic's `messages`.
    Anthropic,
}

impl Provider {
    /// What people call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gemini => "Gemini",
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
        }
    }
}
