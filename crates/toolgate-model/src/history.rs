//! `History`: what was said so far, always in a state that every provider takes: each call has its result behind it.

use std::collections::VecDeque;

use genai::chat::{BinarySource, ChatMessage, ChatRole, ContentPart, MessageContent, ToolResponse};

use crate::answer::AskedCall;
use crate::declare::function_name;
use crate::input::{self, Input, InputPart};
use crate::model::Model;

/// What was said so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    messages: Vec<ChatMessage>,
}

/// What a model gets of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// Pictures, as media type and Base64.
    pub(crate) images: Vec<(String, String)>,
}

impl From<String> for Told {
    fn from(text: String) -> Self {
        Self { text, images: Vec::new() }
    }
}

impl History {
    pub(crate) fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(crate) fn clear(&mut self) {
        self.messages.clear();
    }

    /// Forgets what was said after that many messages, if the model has said nothing since.
    pub(crate) fn forget_unanswered(&mut self, length: usize) {
        let since = self.messages.get(length..).unwrap_or_default();
        if since.iter().all(|message| message.role == ChatRole::User) {
            self.messages.truncate(length);
        }
    }

    /// The person says something.
    pub(crate) fn ask(&mut self, input: Input) {
        let part = |part: InputPart| match part {
            InputPart::Text(text) => ContentPart::Text(text),
            InputPart::Inline { mime, data } => ContentPart::from_binary_base64(mime, data, None),
        };
        let parts = input.parts.into_iter().filter(|part| !part.is_blank()).map(part);
        let parts: Vec<ContentPart> = parts.collect();
        self.messages.push(ChatMessage::user(MessageContent::from_parts(parts)));
    }

    /// Somebody who speaks for the person tells the model something.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.messages.push(ChatMessage::user(text.into()));
    }

    /// The model said something.
    pub(crate) fn answer(&mut self, message: ChatMessage) {
        self.messages.push(message);
    }

    /// The model said a part of something.
    pub(crate) fn answer_in_part(&mut self, text: String) {
        if !text.trim().is_empty() {
            self.messages.push(ChatMessage::assistant(text));
        }
    }

    /// The model wanted tools called, and this came of it: both at once, so that no call is ever without its result. Results are texts in the
    /// formats of providers; pictures follow them as if the person had shown them.
    pub(crate) fn exchange(&mut self, message: ChatMessage, results: Vec<(AskedCall, Told)>) {
        self.messages.push(message);
        let mut responses = Vec::with_capacity(results.len());
        let mut pictures = Vec::new();
        for (call, told) in results {
            if !told.images.is_empty() {
                pictures.push(ContentPart::Text(format!(
                    "[What the call of {} returned as pictures, as data:]",
                    call.name
                )));
                let shown = told.images.into_iter();
                pictures.extend(shown.map(|(mime, data)| ContentPart::from_binary_base64(mime, data, None)));
            }
            responses.push(ToolResponse::new(call.id, told.text).with_fn_name(call.function));
        }
        self.messages.push(ChatMessage::from(responses));
        if !pictures.is_empty() {
            self.messages.push(ChatMessage::user(MessageContent::from_parts(pictures)));
        }
    }

    /// Puts everything into words that another model takes. What only the provider of that time can read is left out; calls get ids and names
    /// that every provider takes, and so do their results, which stand in the same order. How many pictures it does not take.
    pub(crate) fn for_another_model(&mut self, model: &Model) -> usize {
        let mut unseen = 0;
        let mut calls = 0_u64;
        let mut open = VecDeque::new();
        for message in &mut self.messages {
            let parts = std::mem::take(&mut message.content).into_parts().into_iter();
            let kept = parts.filter_map(|part| match part {
                ContentPart::ToolCall(mut call) => {
                    calls += 1;
                    call.call_id = format!("call_{calls}");
                    call.fn_name = function_name(model.provider(), &call.fn_name);
                    call.thought_signatures = None;
                    open.push_back((call.call_id.clone(), call.fn_name.clone()));
                    Some(ContentPart::ToolCall(call))
                }
                ContentPart::ToolResponse(response) => {
                    let (id, name) = open.pop_front()?;
                    Some(ContentPart::ToolResponse(ToolResponse::new(id, response.content).with_fn_name(name)))
                }
                ContentPart::Binary(data) if !model.takes_images() => {
                    unseen += 1;
                    let bytes = match &data.source {
                        BinarySource::Base64(base64) => base64.len(),
                        BinarySource::Url(_) => 0,
                    };
                    Some(ContentPart::Text(input::not_taken(&data.content_type, bytes)))
                }
                ContentPart::Text(_) | ContentPart::Binary(_) => Some(part),
                ContentPart::ThoughtSignature(_) | ContentPart::ReasoningContent(_) | ContentPart::Custom(_) => None,
            });
            message.content = MessageContent::from_parts(kept.collect::<Vec<_>>());
        }
        self.messages.retain(|message| !message.content.is_empty());
        unseen
    }
}
