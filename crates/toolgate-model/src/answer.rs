//! One answer of a model, read from its stream to its end.

use futures_util::{Stream, StreamExt as _};
use genai::chat::{ChatMessage, ChatStreamEvent, ContentPart, MessageContent, StopReason, StreamEnd};
use serde_json::{Map, Value};

use crate::arguments;
use crate::limits::ANSWER_BYTES_MAX;
use crate::provider::Provider;
use crate::trouble::Trouble;
use crate::usage::TokenUsage;

/// A piece of an answer while it comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    Thinking(&'a str),
}

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<AskedCall>,
    /// The same as it goes into the history: arguments are objects there, whatever the model wrote.
    pub(crate) message: ChatMessage,
    pub(crate) usage: TokenUsage,
    pub(crate) ending: Ending,
}

/// A call that the model asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AskedCall {
    /// What its result is told by.
    pub(crate) id: String,
    pub(crate) name: String,
    /// An object, or what is wrong with what was written in its place.
    pub(crate) arguments: Result<Map<String, Value>, String>,
}

/// Why an answer is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    Whole,
    /// At the longest answer that the provider gives.
    TooLong,
    /// For another reason, in the words of the provider.
    Other(String),
}

/// Reads a stream to its end, and gives each piece to `hears` as it comes.
pub(crate) async fn read(
    stream: impl Stream<Item = genai::Result<ChatStreamEvent>>,
    provider: Provider,
    mut hears: impl FnMut(Piece<'_>),
) -> Result<Answer, Trouble> {
    let mut stream = std::pin::pin!(stream);
    let mut bytes = 0_usize;
    while let Some(event) = stream.next().await {
        match event? {
            ChatStreamEvent::Chunk(chunk) => {
                bytes = bytes.saturating_add(chunk.content.len());
                hears(Piece::Text(&chunk.content));
            }
            ChatStreamEvent::ReasoningChunk(chunk) => {
                bytes = bytes.saturating_add(chunk.content.len());
                hears(Piece::Thinking(&chunk.content));
            }
            ChatStreamEvent::ToolCallChunk(chunk) => {
                // Some streams repeat what was there before with each piece, so the largest counts.
                bytes = bytes.max(chunk.tool_call.size());
            }
            ChatStreamEvent::End(end) => return whole(end, provider),
            ChatStreamEvent::Start | ChatStreamEvent::ThoughtSignatureChunk(_) | ChatStreamEvent::Heartbeat => {}
        }
        if bytes > ANSWER_BYTES_MAX {
            return Err(Trouble::unusable(format!("the model's answer is longer than {ANSWER_BYTES_MAX} bytes")));
        }
    }
    Err(Trouble::cut())
}

fn whole(end: StreamEnd, provider: Provider) -> Result<Answer, Trouble> {
    // This provider marks the end by its reason alone, and a stream that just ends looks like one otherwise.
    if provider == Provider::Gemini && end.captured_stop_reason.is_none() {
        return Err(Trouble::cut());
    }
    let usage = end.captured_usage.as_ref().map(TokenUsage::from).unwrap_or_default();
    let ending = match end.captured_stop_reason {
        None | Some(StopReason::Completed(_) | StopReason::ToolCall(_) | StopReason::StopSequence(_)) => Ending::Whole,
        Some(StopReason::MaxTokens(_)) => Ending::TooLong,
        Some(StopReason::ContentFilter(reason) | StopReason::Other(reason)) => Ending::Other(reason),
    };
    let (mut text, mut calls, mut parts) = (String::new(), Vec::new(), Vec::new());
    for part in end.captured_content.map(MessageContent::into_parts).unwrap_or_default() {
        match part {
            ContentPart::Text(said) => {
                text.push_str(&said);
                parts.push(ContentPart::Text(said));
            }
            ContentPart::ToolCall(mut call) => {
                let arguments = arguments::read(std::mem::take(&mut call.fn_arguments));
                call.fn_arguments = Value::Object(arguments.clone().unwrap_or_default());
                calls.push(AskedCall { id: call.call_id.clone(), name: call.fn_name.clone(), arguments });
                parts.push(ContentPart::ToolCall(call));
            }
            other => parts.push(other),
        }
    }
    let message = ChatMessage::assistant(MessageContent::from_parts(parts));
    Ok(Answer { text, calls, message, usage, ending })
}
