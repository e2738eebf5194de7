//! The format of Gemini: `contents` in, `candidates` out; no ids, results go by name and order.

use serde_json::{Value, json};

use super::WireFormat;
use super::record::{SeenCall, SeenMessage, SeenRequest, SeenResult, SeenTool, Speaker};
use super::script::{ModelAnswer, ModelStop, Said};
use super::serve::Step;

/// Reads a request.
pub(super) fn read(path: &str, body: Value) -> Result<SeenRequest, String> {
    let method = path.rsplit('/').next().unwrap_or_default();
    let (model, method) = method.split_once(':').unwrap_or_default();
    let contents = body["contents"].as_array().ok_or("`contents` is missing")?;
    let messages = contents.iter().map(message).collect::<Result<_, _>>()?;
    let declarations = body["tools"].as_array().into_iter().flatten();
    let declarations = declarations.filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
    Ok(SeenRequest {
        format: WireFormat::Gemini,
        model: model.to_owned(),
        is_streamed: method == "streamGenerateContent",
        key: None,
        system: parts_text(&body["systemInstruction"]),
        messages,
        tools: declarations.map(tool).collect(),
        body,
    })
}

fn tool(declaration: &Value) -> SeenTool {
    let parameters = declaration.get("parametersJsonSchema").or_else(|| declaration.get("parameters"));
    SeenTool {
        name: declaration["name"].as_str().unwrap_or_default().to_owned(),
        description: declaration["description"].as_str().unwrap_or_default().to_owned(),
        parameters: parameters.cloned().unwrap_or_default(),
    }
}

fn parts_text(content: &Value) -> String {
    let parts = content["parts"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn message(content: &Value) -> Result<SeenMessage, String> {
    let by = match content["role"].as_str() {
        Some("user") => Speaker::User,
        Some("model") => Speaker::Model,
        role => return Err(format!("the role {role:?} is not known")),
    };
    let mut message = SeenMessage::by(by);
    for part in content["parts"].as_array().ok_or("`parts` is missing")? {
        if let Some(text) = part["text"].as_str() {
            message.say(text);
        } else if let Some(call) = part.get("functionCall") {
            let name = call["name"].as_str().unwrap_or_default().to_owned();
            message.calls.push(SeenCall { id: String::new(), name, arguments: call["args"].clone() });
        } else if let Some(answer) = part.get("functionResponse") {
            let name = answer["name"].as_str().map(ToOwned::to_owned);
            let text = answer["response"]["content"].as_str().unwrap_or_default().to_owned();
            message.results.push(SeenResult { id: String::new(), name, text });
        } else if let Some(data) = part.get("inlineData").or_else(|| part.get("inline_data")) {
            let mime = data.get("mimeType").or_else(|| data.get("mime_type"));
            message.media.push(mime.and_then(Value::as_str).unwrap_or_default().to_owned());
        }
    }
    Ok(message)
}

/// The events of an answer. Calls that follow each other come in one event, as they do.
pub(super) fn events(answer: &ModelAnswer) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut calls = Vec::new();
    for said in &answer.said {
        let part = part(said);
        let is_call = matches!(said, Said::Call { .. } | Said::BrokenCall { .. });
        if !is_call && !calls.is_empty() {
            steps.push(event(&chunk(&std::mem::take(&mut calls), None, answer)));
        }
        match (said, part) {
            (Said::Pause { ms }, _) => steps.push(Step::Pause(*ms)),
            (Said::Event(data), _) => steps.push(event(data)),
            (_, Some(part)) if is_call => calls.push(part),
            (_, Some(part)) => steps.push(event(&chunk(&[part], None, answer))),
            (_, None) => {}
        }
    }
    if !calls.is_empty() {
        steps.push(event(&chunk(&calls, None, answer)));
    }
    if let Some(reason) = finish_reason(answer) {
        steps.push(event(&chunk(&[], Some(reason), answer)));
    }
    steps
}

/// The same as one document.
pub(super) fn document(answer: &ModelAnswer) -> Value {
    chunk(&answer.said.iter().filter_map(part).collect::<Vec<_>>(), finish_reason(answer), answer)
}

fn part(said: &Said) -> Option<Value> {
    Some(match said {
        Said::Text(text) => json!({"text": text}),
        Said::Thinking(text) => json!({"text": text, "thought": true}),
        Said::Call { name, arguments } => json!({"functionCall": {"name": name, "args": arguments}}),
        Said::BrokenCall { name, arguments } => json!({"functionCall": {"name": name, "args": arguments}}),
        Said::Event(_) | Said::Pause { .. } => return None,
    })
}

fn chunk(parts: &[Value], reason: Option<&str>, answer: &ModelAnswer) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if let Some(reason) = reason {
        candidate["finishReason"] = reason.into();
    }
    let (input, output) = (answer.usage.input, answer.usage.output);
    let usage = json!({"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output});
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"})
}

fn finish_reason(answer: &ModelAnswer) -> Option<&str> {
    match &answer.stop {
        ModelStop::Whole => Some("STOP"),
        ModelStop::TooLong => Some("MAX_TOKENS"),
        ModelStop::Other(reason) => Some(reason),
        ModelStop::Cut | ModelStop::Short | ModelStop::Hang => None,
    }
}

fn event(data: &Value) -> Step {
    Step::Bytes(format!("data: {data}\r\n\r\n"))
}
