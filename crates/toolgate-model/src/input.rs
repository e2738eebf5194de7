//! `Input`: what the person says.

/// What the person says: texts, and data such as pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    /// The parts, in order.
    pub parts: Vec<InputPart>,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputPart {
    /// Text.
    Text(String),
    /// Data such as a picture.
    Inline {
        /// Its media type.
        mime: String,
        /// The bytes in Base64.
        data: String,
    },
}

impl Input {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, InputPart::Text(text) if text.trim().is_empty()))
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self { parts: vec![InputPart::Text(text)] }
    }
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}
