//! `Answer`: what a tool gives back, as the protocol writes it.

use serde_json::{Value, json};
use toolgate_wire::server::Reply;

use crate::error::Failure;

/// The result of one call.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    blocks: Vec<Value>,
    structured: Option<Value>,
    is_error: bool,
}

impl Answer {
    /// One text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// An image, as its bytes in base64.
    pub(crate) fn image(data: &str, mime_type: &str) -> Self {
        Self { blocks: vec![json!({"type": "image", "data": data, "mimeType": mime_type})], ..Self::default() }
    }

    /// Another text after what is there.
    pub(crate) fn and_text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(json!({"type": "text", "text": text.into()}));
        self
    }

    /// The same as data.
    pub(crate) fn structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }

    /// Says that it went wrong.
    pub(crate) fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self::text(failure.to_string()).failed()
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        let mut result = json!({"content": answer.blocks});
        if let Some(structured) = answer.structured {
            result["structuredContent"] = structured;
        }
        if answer.is_error {
            result["isError"] = Value::Bool(true);
        }
        result.into()
    }
}
