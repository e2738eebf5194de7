//! `History`: what was said so far, always in a state that every provider takes: each call has its result behind it.

use genai::chat::{ChatMessage, ContentPart, MessageContent, ToolResponse};

use crate::answer::AskedCall;
use crate::input::{Input, InputPart};

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

    /// Forgets what was said after that many messages.
    pub(crate) fn forget_after(&mut self, length: usize) {
        self.messages.truncate(length);
    }

    /// The person says something.
    pub(crate) fn ask(&mut self, input: Input) {
        let part = |part: InputPart| match part {
            InputPart::Text(text) => ContentPart::Text(text),
            InputPart::Inline { mime, data } => ContentPart::from_binary_base64(mime, data, None),
        };
        let parts: Vec<ContentPart> = input.parts.into_iter().map(part).collect();
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
        if !text.is_empty() {
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
            responses.push(ToolResponse::new(call.id, told.text).with_fn_name(call.name));
        }
        self.messages.push(ChatMessage::from(responses));
        if !pictures.is_empty() {
            self.messages.push(ChatMessage::user(MessageContent::from_parts(pictures)));
        }
    }

    /// Leaves out what only the provider of that time can read, and pictures where the next one takes none. How many those are.
    pub(crate) fn for_another_model(&mut self, takes_images: bool) -> usize {
        let mut unseen = 0;
        for message in &mut self.messages {
            let parts = std::mem::take(&mut message.content).into_parts().into_iter();
            let kept = parts.filter_map(|part| match part {
                ContentPart::ToolCall(mut call) => {
                    call.thought_signatures = None;
                    Some(ContentPart::ToolCall(call))
                }
                ContentPart::Binary(_) if !takes_images => {
                    unseen += 1;
                    Some(ContentPart::Text("[A picture or file was here, which this model does not take.]".to_owned()))
                }
                ContentPart::Text(_) | ContentPart::Binary(_) | ContentPart::ToolResponse(_) => Some(part),
                ContentPart::ThoughtSignature(_) | ContentPart::ReasoningContent(_) | ContentPart::Custom(_) => None,
            });
            message.content = MessageContent::from_parts(kept.collect::<Vec<_>>());
        }
        self.messages.retain(|message| !message.content.is_empty());
        unseen
    }
}

#[cfg(test)]
mod tests {
    use super::History;
    use crate::input::{Input, InputPart};

    #[test]
    fn pictures_stay_for_models_that_look_at_them() {
        for (takes_images, unseen) in [(true, 0), (false, 1)] {
            let picture = InputPart::Inline { mime: "image/png".to_owned(), data: "AAAA".to_owned() };
            let mut history = History::default();
            history.ask(Input { parts: vec![InputPart::Text("look".to_owned()), picture] });
            assert_eq!(history.for_another_model(takes_images), unseen);
            let [message] = history.messages() else { panic!("{history:?}") };
            assert_eq!((message.content.parts().len(), message.content.binaries().len()), (2, 1 - unseen));
        }
    }
}
