//! Assertions on the result of a tool call, with failures that show the result.

use serde_json::Value;

use crate::limits::SHOWN_MESSAGE_CHARS_MAX;

/// Begins assertions on a call result: the `result` object, or a whole JSON-RPC answer that has one.
///
/// ```
/// use serde_json::json;
/// use toolgate_testkit::assert_call_result;
///
/// let result = json!({"content": [{"type": "text", "text": "sunny"}], "structuredContent": {"sky": "blue"}});
/// assert_call_result(&result).succeeded().text("sunny").structured(&json!({"sky": "blue"}));
/// ```
///
/// # Panics
/// When it is not a call result: an error answer, or no content.
#[track_caller]
#[must_use]
pub fn assert_call_result(answer: &Value) -> CallResultAssertions<'_> {
    let result = answer.get("result").unwrap_or(answer);
    assert!(answer.get("error").is_none(), "the call ended with a protocol error:\n{}", shown(answer));
    let has_content = result.get("content").is_some_and(Value::is_array);
    assert!(has_content, "a call result has a `content` list; this one has none:\n{}", shown(answer));
    CallResultAssertions { result }
}

/// Assertions on one call result; each of them gives it back for the next.
#[derive(Clone, Copy, Debug)]
pub struct CallResultAssertions<'a> {
    result: &'a Value,
}

impl CallResultAssertions<'_> {
    /// The tool did not report an error.
    ///
    /// # Panics
    /// When it did.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert!(!self.is_error(), "the tool reported an error:\n{}", shown(self.result));
        self
    }

    /// The tool reported an error (`isError`).
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn failed(self) -> Self {
        assert!(self.is_error(), "the tool reported no error:\n{}", shown(self.result));
        self
    }

    /// All text blocks, joined by line breaks, are this text.
    ///
    /// # Panics
    /// When they are not.
    #[track_caller]
    pub fn text(self, expected: &str) -> Self {
        let actual = self.joined_text();
        assert!(actual == expected, "the text is `{actual}`, expected `{expected}`:\n{}", shown(self.result));
        self
    }

    /// The joined text contains this.
    ///
    /// # Panics
    /// When it does not.
    #[track_caller]
    pub fn text_contains(self, expected: &str) -> Self {
        let actual = self.joined_text();
        assert!(actual.contains(expected), "`{expected}` is not in the text `{actual}`:\n{}", shown(self.result));
        self
    }

    /// The structured content is this value.
    ///
    /// # Panics
    /// When it is not, or there is none.
    #[track_caller]
    pub fn structured(self, expected: &Value) -> Self {
        let Some(actual) = self.result.get("structuredContent") else {
            panic!("there is no structured content; expected {expected}:\n{}", shown(self.result));
        };
        assert!(actual == expected, "the structured content is {actual}, expected {expected}");
        self
    }

    /// There are that many content blocks of these types, in order.
    ///
    /// # Panics
    /// When there are others.
    #[track_caller]
    pub fn block_types(self, expected: &[&str]) -> Self {
        let blocks = self.blocks().iter();
        let actual: Vec<&str> = blocks.map(|block| block["type"].as_str().unwrap_or("(no type)")).collect();
        assert!(actual == expected, "the blocks are {actual:?}, expected {expected:?}");
        self
    }

    fn is_error(self) -> bool {
        self.result.get("isError") == Some(&Value::Bool(true))
    }

    fn joined_text(self) -> String {
        let blocks = self.blocks().iter().filter(|block| block["type"] == "text");
        let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }
}

impl<'a> CallResultAssertions<'a> {
    fn blocks(self) -> &'a [Value] {
        self.result["content"].as_array().map_or(&[], Vec::as_slice)
    }
}

fn shown(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut shown: String = text.chars().take(SHOWN_MESSAGE_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push_str("\n… (cut)");
    }
    shown
}
