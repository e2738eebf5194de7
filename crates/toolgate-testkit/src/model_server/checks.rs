//! What providers refuse about a conversation: calls without results, results without calls, calls that cannot be told apart, and names they
//! do not take.

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
    let calls = || request.messages.iter().flat_map(|message| &message.calls);
    let mut names = request.tools.iter().map(|tool| &tool.name).chain(calls().map(|call| &call.name));
    names.find_map(|name| bad_name(name, request.format)).or_else(|| bad_id(request)).or_else(|| unanswered(request))
}

fn bad_name(name: &str, format: WireFormat) -> Option<String> {
    let is_good =
        !name.is_empty() && name.len() <= TOOL_NAME_CHARS_MAX && name.chars().all(|letter| fits(letter, format));
    (!is_good).then(|| format!("`{name}` is no name of a tool"))
}

fn fits(letter: char, format: WireFormat) -> bool {
    let is_more = format == WireFormat::Gemini && matches!(letter, '.' | ':');
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' || is_more
}

/// Calls are told apart by their ids: those of one message, or of the whole conversation. One format goes by their order.
fn bad_id(request: &SeenRequest) -> Option<String> {
    let mut known: Vec<&str> = Vec::new();
    for message in request.messages.iter().filter(|_| request.format != WireFormat::Gemini) {
        if request.format == WireFormat::OpenAi {
            known.clear();
        }
        for call in &message.calls {
            let is_strange =
                request.format == WireFormat::Anthropic && !call.id.chars().all(|letter| fits(letter, request.format));
            if call.id.is_empty() || is_strange || known.contains(&call.id.as_str()) {
                return Some(format!("`{}` is no id of its own for a call", call.id));
            }
            known.push(&call.id);
        }
    }
    None
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
