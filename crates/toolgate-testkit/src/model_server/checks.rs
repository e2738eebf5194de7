//! What providers refuse about a conversation: calls without results, results without calls, and tools they could not name.

use super::WireFormat;
use super::record::{SeenCall, SeenRequest, SeenResult, Speaker};

/// Longest name of a tool that all providers take.
const TOOL_NAME_CHARS_MAX: usize = 64;

/// What is wrong with a request.
pub(super) fn complaint(request: &SeenRequest) -> Option<String> {
    if request.key.as_deref().is_none_or(str::is_empty) {
        return Some("there is no key".to_owned());
    }
    if request.messages.first().is_none_or(|first| first.by != Speaker::User) {
        return Some("the first message is not the user's".to_owned());
    }
    request.tools.iter().find_map(|tool| bad_name(&tool.name)).or_else(|| unanswered(request))
}

fn bad_name(name: &str) -> Option<String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let is_good = !name.is_empty() && name.len() <= TOOL_NAME_CHARS_MAX && name.chars().all(is_letter);
    (!is_good).then(|| format!("`{name}` is no name of a tool"))
}

/// Every call has its result in the messages that follow it, before the model speaks again, and nothing else has one.
fn unanswered(request: &SeenRequest) -> Option<String> {
    let mut open: Vec<&SeenCall> = Vec::new();
    for message in &request.messages {
        for result in &message.results {
            let Some(at) = open.iter().position(|call| answers(request.format, result, call)) else {
                return Some(format!("a result of `{}` belongs to no call", result.id));
            };
            open.remove(at);
        }
        let speaks = message.by == Speaker::Model || !message.text.is_empty();
        if let Some(call) = open.first().filter(|_| speaks) {
            return Some(format!("the call of `{}` ({}) has no result", call.name, call.id));
        }
        open.extend(&message.calls);
        if let Some(call) = message.calls.iter().find(|call| !call.arguments.is_object()) {
            return Some(format!("the arguments of `{}` are not an object", call.name));
        }
    }
    open.first().map(|call| format!("the call of `{}` ({}) has no result", call.name, call.id))
}

fn answers(format: WireFormat, result: &SeenResult, call: &SeenCall) -> bool {
    match format {
        WireFormat::Gemini => result.name.as_deref() == Some(&call.name),
        WireFormat::OpenAi | WireFormat::Anthropic => result.id == call.id,
    }
}
