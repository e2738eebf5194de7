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
        self.parts.iter().all(InputPart::is_blank)
    }

    /// The same for a model that takes texts only: it is told what it does not see.
    pub(crate) fn without_data(mut self) -> Self {
        for part in &mut self.parts {
            if let InputPart::Inline { mime, data } = part {
                *part = InputPart::Text(not_taken(mime, data.len()));
            }
        }
        self
    }
}

impl InputPart {
    /// Whether it says nothing.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self, Self::Text(text) if text.trim().is_empty())
    }
}

/// What a model is told of data that it does not take: its media type, and how long it is in Base64.
pub(crate) fn not_taken(mime: &str, base64_len: usize) -> String {
    format!("[{mime}, {} bytes, which this model does not take]", base64_len / 4 * 3)
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

#[cfg(test)]
mod tests {
    use super::{Input, InputPart};

    #[test]
    fn data_is_named_to_a_model_that_does_not_take_it() {
        let picture = InputPart::Inline { mime: "image/png".to_owned(), data: "AAAAAAAA".to_owned() };
        let input = Input { parts: vec![InputPart::Text("look".to_owned()), picture] }.without_data();
        let named = InputPart::Text("[image/png, 6 bytes, which this model does not take]".to_owned());
        assert_eq!(input.parts, [InputPart::Text("look".to_owned()), named]);
    }
}
