//! One answer of a model, read from its stream to its end.

use futures_util::{Stream, StreamExt as _};
use genai::chat::{ChatMessage, ChatStreamEvent, ContentPart, MessageContent, StopReason, StreamEnd, ToolCall};
use serde_json::{Map, Value};

use crate::arguments;
use crate::declare::function_name;
use crate::frames::Frames;
use crate::limits::{ANSWER_BYTES_MAX, CALLS_READ_MAX};
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
    /// As the model wrote it, which may be no name at all.
    pub(crate) name: String,
    /// The same in letters that the provider takes back.
    pub(crate) function: String,
    /// An object, or what is wrong with what was written in its place.
    pub(crate) arguments: Result<Map<String, Value>, String>,
    /// What the provider wants to see again.
    thought_signatures: Option<Vec<String>>,
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

/// How the answers of a provider are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) provider: Provider,
    /// Whether calls are put together here, because they come in the format of `chat/completions`.
    pub(crate) joins_calls: bool,
    /// Whether the provider wants to see the thoughts again that led to calls.
    pub(crate) returns_thoughts: bool,
}

/// Reads a stream to its end, and gives each piece to `hears` as it comes. `frames` sees what the stream is made of.
pub(crate) async fn read(
    stream: impl Stream<Item = genai::Result<ChatStreamEvent>>,
    frames: &Frames,
    manner: Manner,
    mut hears: impl FnMut(Piece<'_>),
) -> Result<Answer, Trouble> {
    let mut stream = std::pin::pin!(stream);
    let mut silence = std::pin::pin!(frames.silence());
    let mut bytes = 0_usize;
    loop {
        let event = tokio::select! {
            biased;
            event = stream.next() => event,
            what = frames.exceeded() => return Err(Trouble::unusable(what)),
            () = &mut silence => return Err(Trouble::silent()),
        };
        if let Some(what) = frames.excess() {
            return Err(Trouble::unusable(what));
        }
        let Some(event) = event else { return Err(Trouble::cut()) };
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
            ChatStreamEvent::ThoughtSignatureChunk(chunk) => bytes = bytes.saturating_add(chunk.content.len()),
            ChatStreamEvent::End(end) => return whole(end, frames.take_calls(), manner),
            ChatStreamEvent::Start | ChatStreamEvent::Heartbeat => {}
        }
        if bytes > ANSWER_BYTES_MAX {
            return Err(Trouble::unusable(format!("the model's answer is longer than {ANSWER_BYTES_MAX} bytes")));
        }
    }
}

fn whole(end: StreamEnd, joined: Vec<ToolCall>, manner: Manner) -> Result<Answer, Trouble> {
    let provider = manner.provider;
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
    let captured = end.captured_content.map(MessageContent::into_parts).unwrap_or_default();
    for part in captured.into_iter().chain(joined.into_iter().map(ContentPart::ToolCall)) {
        match part {
            // Not all providers take blanks back.
            ContentPart::Text(said) if said.trim().is_empty() => {}
            ContentPart::Text(said) => {
                text.push_str(&said);
                parts.push(ContentPart::Text(said));
            }
            ContentPart::ToolCall(_) if calls.len() >= CALLS_READ_MAX => {
                return Err(Trouble::unusable(format!("the model asks for more than {CALLS_READ_MAX} calls at once")));
            }
            ContentPart::ToolCall(call) => {
                let call = AskedCall::read(call, (provider, &ending), &calls);
                parts.push(ContentPart::ToolCall(call.as_told()));
                calls.push(call);
            }
            other => parts.push(other),
        }
    }
    let thoughts = end.captured_reasoning_content.filter(|_| manner.returns_thoughts && !calls.is_empty());
    parts.extend(thoughts.map(ContentPart::ReasoningContent));
    let message = ChatMessage::assistant(MessageContent::from_parts(parts));
    Ok(Answer { text, calls, message, usage, ending })
}

impl AskedCall {
    /// A call that stands behind `others` in an answer.
    fn read(call: ToolCall, (provider, ending): (Provider, &Ending), others: &[Self]) -> Self {
        let is_unwritten = matches!(&call.fn_arguments, Value::String(text) if text.trim().is_empty());
        let arguments = match ending {
            // Without arguments it might be a call that takes none, were the answer whole.
            Ending::TooLong if is_unwritten => Err("the answer ended before the arguments".to_owned()),
            _ => arguments::read(call.fn_arguments),
        };
        let is_taken = |id: &str| others.iter().any(|other| other.id == id);
        // Gemini goes by the order of calls, and the library has its own names for those without an id.
        let is_good = provider == Provider::Gemini || !(call.call_id.is_empty() || is_taken(&call.call_id));
        let id = match is_good {
            true => call.call_id,
            false => {
                (others.len()..).map(|number| format!("call_{number}")).find(|id| !is_taken(id)).unwrap_or_default()
            }
        };
        let function = function_name(provider, &call.fn_name);
        Self { id, name: call.fn_name, function, arguments, thought_signatures: call.thought_signatures }
    }

    /// The same for the history.
    fn as_told(&self) -> ToolCall {
        ToolCall {
            call_id: self.id.clone(),
            fn_name: self.function.clone(),
            fn_arguments: Value::Object(self.arguments.clone().unwrap_or_default()),
            thought_signatures: self.thought_signatures.clone(),
        }
    }
}
