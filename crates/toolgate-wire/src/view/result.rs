//! Results of `tools/call`, `prompts/get` and `resources/read`.

use super::{Block, EntryDefect, ResourceContents, read_entries};
use crate::error::{Error, Result};
use crate::limits::RESULT_PARTS_MAX;
use crate::raw::{RawJson, is_key};
use crate::scan;

/// What a tool gave back.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// The blocks, in order; empty when there are none.
    pub content: Vec<Block>,
    /// The result as data.
    pub structured: Option<RawJson>,
    /// Whether the tool says that it failed: `isError`, also as the word `"true"` or inside an `error` object, as servers write it.
    pub is_error: bool,
    /// All of it.
    pub raw: RawJson,
}

impl CallResult {
    /// Reads a result. Only something that is no object at all is an error.
    pub fn read(raw: RawJson) -> Result<Self> {
        if !raw.is_object() {
            return Err(Error::protocol(format!("the result of a tool is not an object: {}", excerpt(&raw))));
        }
        let take = |name: &str| scan::find_member(raw.as_bytes(), |key| is_key(key, name)).map(|value| raw.part(value));
        let blocks = take("content").and_then(|content| content.elements_within(RESULT_PARTS_MAX));
        let (blocks, others) = blocks.unwrap_or_default();
        let says_so = |flag: &RawJson| matches!(flag.as_bytes(), b"true" | b"\"true\"");
        let error = take("error").and_then(|error| error.member("isError"));
        let structured = take("structuredContent").filter(|value| !value.is_null());
        let is_error = take("isError").as_ref().is_some_and(says_so) || error.as_ref().is_some_and(says_so);
        let content = blocks.into_iter().map(Block::read).chain((others > 0).then(|| Block::others(others)));
        Ok(Self { content: content.collect(), structured, is_error, raw })
    }

    /// The texts of all text blocks, one after the other.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match &block.content {
            super::Content::Text(text) => Some(&**text),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// What a prompt gave back.
#[derive(Debug, Clone)]
pub struct PromptResult {
    /// What it is.
    pub description: Option<String>,
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
    /// All of it.
    pub raw: RawJson,
}

/// One message of a prompt.
#[derive(Debug, Clone)]
pub struct PromptMessage {
    /// `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub block: Block,
}

impl PromptResult {
    /// Reads a result.
    pub fn read(raw: RawJson) -> Result<Self> {
        let messages = raw.member("messages").and_then(|messages| messages.elements_within(RESULT_PARTS_MAX));
        let Some((messages, others)) = messages else {
            return Err(Error::protocol(format!("the result of a prompt has no messages: {}", excerpt(&raw))));
        };
        let read = |message: RawJson| PromptMessage {
            role: message.member("role").and_then(|role| role.read().ok()).unwrap_or_else(|| "user".to_owned()),
            block: Block::read(message.member("content").unwrap_or(RawJson::NULL)),
        };
        let description = raw.member("description").and_then(|text| text.read().ok());
        let rest = (others > 0).then(|| PromptMessage { role: "user".to_owned(), block: Block::others(others) });
        Ok(Self { description, messages: messages.into_iter().map(read).chain(rest).collect(), raw })
    }
}

/// What a resource gave back.
#[derive(Debug, Clone)]
pub struct ReadResult {
    /// Its parts.
    pub contents: Vec<ResourceContents>,
    /// Parts that could not be read.
    pub defects: Vec<EntryDefect>,
    /// All of it.
    pub raw: RawJson,
}

impl ReadResult {
    /// Reads a result.
    pub fn read(raw: RawJson) -> Result<Self> {
        let contents = raw.member("contents").and_then(|contents| contents.elements_within(RESULT_PARTS_MAX));
        let Some((contents, others)) = contents else {
            return Err(Error::protocol(format!("the result of reading has no contents: {}", excerpt(&raw))));
        };
        let (contents, defects) = read_entries(contents, others);
        Ok(Self { contents, defects, raw })
    }
}

fn excerpt(raw: &RawJson) -> String {
    raw.as_str().chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::{CallResult, RawJson};

    #[test]
    fn failures_are_recognised_in_every_spelling() {
        let cases = [
            (r#"{"content":[]}"#, false),
            (r#"{"content":[],"isError":false}"#, false),
            (r#"{"content":[],"isError":true}"#, true),
            (r#"{"content":[],"isError":"true"}"#, true),
            (r#"{"content":[],"isError":"false"}"#, false),
            (r#"{"content":[],"isError":1}"#, false),
            (r#"{"error":{"isError":true}}"#, true),
            (r#"{"error":{"isError":"true"}}"#, true),
            (r#"{"error":"broken"}"#, false),
        ];
        for (text, expected) in cases {
            let result = CallResult::read(RawJson::from_bytes(text).unwrap()).unwrap();
            assert_eq!(result.is_error, expected, "{text}");
        }
    }
}
