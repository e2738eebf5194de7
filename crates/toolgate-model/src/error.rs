//! `ModelError`: why there is no answer of a model, and what to do about it.

use std::fmt;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The settings name no model that could be asked: the name, the address or the key is wrong or missing.
    Settings,
    /// The provider does not know the key, or does not let it do this.
    Denied,
    /// The provider is there and cannot answer now, also after some attempts.
    Busy,
    /// The provider cannot be reached, or the answer was cut off, also after some attempts.
    Unreachable,
    /// The provider does not take the request.
    Refused,
    /// The answer cannot be used: it is empty, too long or not in the format of the provider.
    Unusable,
}

impl ModelErrorKind {
    /// The word for it in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "model_settings",
            Self::Denied => "model_denied",
            Self::Busy => "model_busy",
            Self::Unreachable => "model_unreachable",
            Self::Refused => "model_refused",
            Self::Unusable => "model_unusable",
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    hint: Option<String>,
}

impl ModelError {
    pub(crate) fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    pub(crate) fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What kind it is.
    #[must_use]
    pub const fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}

impl From<toolgate::Error> for ModelError {
    fn from(error: toolgate::Error) -> Self {
        let told = Self::new(ModelErrorKind::Settings, error.to_string());
        match error.hint() {
            Some(hint) => told.hinting(hint),
            None => told,
        }
    }
}
