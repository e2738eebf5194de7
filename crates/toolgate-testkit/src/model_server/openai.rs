//! The format of OpenAI's `chat/completions`, which most local servers speak too.

use serde_json::{Value, json};

use super::WireFormat;
use super::record::{SeenCall, SeenMessage, SeenRequest, SeenResult, SeenTool, Speaker};
use super::script::{ModelAnswer, ModelStop, Said};
use super::serve::Step;

/// Reads a request.
pub(super) fn read(body: Value) -> Result<SeenRequest, String> {
    let mut system = Vec::new();
    let mut messages = Vec::new();
    for message in body["messages"].as_array().ok_or("`messages` is missing")? {
        match message["role"].as_str() {
            Some("system" | "developer") => system.push(content_text(&message["content"])),
            Some("user") => messages.push(of_user(message)),
            Some("assistant") => messages.push(of_model(message)?),
            Some("tool") => messages.push(of_tool(message)),
            role => return Err(format!("the role {role:?} is not known")),
        }
    }
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]);
    let tool = |function: &Value| SeenTool {
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        description: function["description"].as_str().unwrap_or_default().to_owned(),
        parameters: function["parameters"].clone(),
    };
    Ok(SeenRequest {
        format: WireFormat::OpenAi,
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        is_streamed: body["stream"] == true,
        key: None,
        system: system.join("\n"),
        messages,
        tools: tools.map(tool).collect(),
        body,
    })
}

fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        content => {
            let parts = content.as_array().into_iter().flatten();
            parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}

fn of_user(message: &Value) -> SeenMessage {
    let mut seen = SeenMessage::by(Speaker::User);
    seen.say(&content_text(&message["content"]));
    let parts = message["content"].as_array().into_iter().flatten();
    let pictures = parts.filter_map(|part| part["image_url"]["url"].as_str());
    let mime = |url: &str| url.strip_prefix("data:").and_then(|rest| rest.split(';').next()).map(ToOwned::to_owned);
    seen.media = pictures.filter_map(mime).collect();
    seen
}

fn of_model(message: &Value) -> Result<SeenMessage, String> {
    let mut seen = SeenMessage::by(Speaker::Model);
    seen.say(&content_text(&message["content"]));
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let arguments = call["function"]["arguments"].as_str().ok_or("`arguments` is not a text")?;
        seen.calls.push(SeenCall {
            id: call["id"].as_str().unwrap_or_default().to_owned(),
            name: call["function"]["name"].as_str().unwrap_or_default().to_owned(),
            arguments: serde_json::from_str(arguments).map_err(|error| format!("`arguments`: {error}"))?,
        });
    }
    Ok(seen)
}

fn of_tool(message: &Value) -> SeenMessage {
    let id = message["tool_call_id"].as_str().unwrap_or_default().to_owned();
    let result = SeenResult { id, name: None, text: content_text(&message["content"]) };
    SeenMessage { results: vec![result], ..SeenMessage::by(Speaker::User) }
}

/// The events of an answer. Arguments of calls come in two pieces.
pub(super) fn events(answer: &ModelAnswer, number: usize) -> Vec<Step> {
    let mut steps = vec![event(&chunk(&json!({"role": "assistant", "content": ""}), None))];
    let mut calls = 0;
    for said in &answer.said {
        match said {
            Said::Pause { ms } => steps.push(Step::Pause(*ms)),
            Said::Event(data) => steps.push(event(data)),
            Said::Text(text) => steps.push(event(&chunk(&json!({"content": text}), None))),
            Said::Thinking(text) => steps.push(event(&chunk(&json!({"reasoning_content": text}), None))),
            Said::Call { .. } | Said::BrokenCall { .. } => {
                let Some((name, arguments)) = call_text(said) else { continue };
                let first = json!({"index": calls, "id": call_id(number, calls), "type": "function", "function": {"name": name, "arguments": ""}});
                steps.push(event(&chunk(&json!({"tool_calls": [first]}), None)));
                for piece in halves(&arguments) {
                    let more = json!({"index": calls, "function": {"arguments": piece}});
                    steps.push(event(&chunk(&json!({"tool_calls": [more]}), None)));
                }
                calls += 1;
            }
        }
    }
    if let Some(reason) = finish_reason(answer) {
        steps.push(event(&chunk(&json!({}), Some(reason))));
        let usage = json!({"id": "scripted", "object": "chat.completion.chunk", "choices": [], "usage": usage(answer)});
        steps.push(event(&usage));
        steps.push(Step::Bytes("data: [DONE]\n\n".to_owned()));
    }
    steps
}

/// The same as one document.
pub(super) fn document(answer: &ModelAnswer, number: usize) -> Value {
    let texts = answer.said.iter().filter_map(|said| match said {
        Said::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let calls = answer.said.iter().filter_map(call_text).enumerate().map(|(index, (name, arguments))| {
        json!({"id": call_id(number, index), "type": "function", "function": {"name": name, "arguments": arguments}})
    });
    let mut message = json!({"role": "assistant", "content": texts.collect::<String>()});
    if answer.has_calls() {
        message["tool_calls"] = calls.collect();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(answer)});
    json!({"id": "scripted", "object": "chat.completion", "model": "scripted", "choices": [choice], "usage": usage(answer)})
}

pub(super) fn call_id(number: usize, index: usize) -> String {
    format!("call_{number}_{index}")
}

/// A call with its arguments as text.
pub(super) fn call_text(said: &Said) -> Option<(&str, String)> {
    match said {
        Said::Call { name, arguments } => Some((name, arguments.to_string())),
        Said::BrokenCall { name, arguments } => Some((name, arguments.clone())),
        Said::Text(_) | Said::Thinking(_) | Said::Event(_) | Said::Pause { .. } => None,
    }
}

/// A text in two pieces, cut between characters.
pub(super) fn halves(text: &str) -> [String; 2] {
    let middle = text.chars().count() / 2;
    [text.chars().take(middle).collect(), text.chars().skip(middle).collect()]
}

fn chunk(delta: &Value, reason: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
    json!({"id": "scripted", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice]})
}

fn usage(answer: &ModelAnswer) -> Value {
    let (input, output) = (answer.usage.input, answer.usage.output);
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}

fn finish_reason(answer: &ModelAnswer) -> Option<&str> {
    match &answer.stop {
        ModelStop::Whole if answer.has_calls() => Some("tool_calls"),
        ModelStop::Whole => Some("stop"),
        ModelStop::TooLong => Some("length"),
        ModelStop::Other(reason) => Some(reason),
        ModelStop::Cut | ModelStop::Short | ModelStop::Hang => None,
    }
}

fn event(data: &Value) -> Step {
    Step::Bytes(format!("data: {data}\n\n"))
}
