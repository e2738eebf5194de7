//! The format of Anthropic's `messages`: content in blocks, each block in events of its own.

use serde_json::{Value, json};

use super::WireFormat;
use super::openai::{call_id, call_text, halves};
use super::record::{SeenCall, SeenMessage, SeenRequest, SeenResult, SeenTool, Speaker};
use super::script::{ModelAnswer, ModelStop, Said};
use super::serve::Step;

/// Reads a request.
pub(super) fn read(body: Value) -> Result<SeenRequest, String> {
    if !body["max_tokens"].is_u64() {
        return Err("`max_tokens` is missing".to_owned());
    }
    let messages = body["messages"].as_array().ok_or("`messages` is missing")?;
    let messages = messages.iter().map(message).collect::<Result<_, _>>()?;
    let tool = |tool: &Value| SeenTool {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        description: tool["description"].as_str().unwrap_or_default().to_owned(),
        parameters: tool["input_schema"].clone(),
    };
    Ok(SeenRequest {
        format: WireFormat::Anthropic,
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        is_streamed: body["stream"] == true,
        key: None,
        system: text_of(&body["system"]),
        messages,
        tools: body["tools"].as_array().into_iter().flatten().map(tool).collect(),
        body,
    })
}

/// A text, or the texts of blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        blocks => {
            let blocks = blocks.as_array().into_iter().flatten();
            blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}

fn message(message: &Value) -> Result<SeenMessage, String> {
    let by = match message["role"].as_str() {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Model,
        role => return Err(format!("the role {role:?} is not known")),
    };
    let mut seen = SeenMessage::by(by);
    if let Some(text) = message["content"].as_str() {
        seen.say(not_blank(text)?);
    }
    for block in message["content"].as_array().into_iter().flatten() {
        let text_at = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        match block["type"].as_str() {
            Some("text") => seen.say(not_blank(&text_at("text"))?),
            Some("tool_use") => {
                seen.calls.push(SeenCall {
                    id: text_at("id"),
                    name: text_at("name"),
                    arguments: block["input"].clone(),
                });
            }
            Some("tool_result") => {
                let text = text_of(&block["content"]);
                seen.results.push(SeenResult { id: text_at("tool_use_id"), name: None, text });
            }
            Some("image") => {
                seen.media.push(block["source"]["media_type"].as_str().unwrap_or_default().to_owned());
            }
            Some("thinking" | "redacted_thinking") => {}
            kind => return Err(format!("a block of the type {kind:?} is not known")),
        }
    }
    Ok(seen)
}

/// This provider takes no texts of blanks alone.
fn not_blank(text: &str) -> Result<&str, String> {
    if text.trim().is_empty() {
        Err("text content blocks must contain non-whitespace text".to_owned())
    } else {
        Ok(text)
    }
}

/// The events of an answer. Texts that follow each other are pieces of one block.
pub(super) fn events(answer: &ModelAnswer, number: usize) -> Vec<Step> {
    let usage = json!({"input_tokens": answer.usage.input, "output_tokens": 1});
    let start = json!({"type": "message_start", "message": {"id": "scripted", "role": "assistant", "content": [], "usage": usage}});
    let mut stream = Blocks { steps: vec![event(&start), event(&json!({"type": "ping"}))], open: None, next: 0 };
    let mut calls = 0;
    for said in &answer.said {
        match said {
            Said::Pause { ms } => stream.steps.push(Step::Pause(*ms)),
            Said::Event(data) => stream.steps.push(event(data)),
            Said::Text(text) => {
                stream.within("text", &json!({"type": "text", "text": ""}));
                stream.delta(&json!({"type": "text_delta", "text": text}));
            }
            Said::Thinking(text) => {
                stream.within("thinking", &json!({"type": "thinking", "thinking": "", "signature": "signed"}));
                stream.delta(&json!({"type": "thinking_delta", "thinking": text}));
            }
            Said::Call { .. } | Said::BrokenCall { .. } => {
                let Some((name, arguments)) = call_text(said) else { continue };
                stream.close();
                let block = json!({"type": "tool_use", "id": call_id(number, calls), "name": name, "input": {}});
                stream.within("tool_use", &block);
                for piece in halves(&arguments) {
                    stream.delta(&json!({"type": "input_json_delta", "partial_json": piece}));
                }
                stream.close();
                calls += 1;
            }
        }
    }
    if let Some(reason) = stop_reason(answer) {
        stream.close();
        let delta = json!({"stop_reason": reason});
        let usage = json!({"output_tokens": answer.usage.output});
        stream.steps.push(event(&json!({"type": "message_delta", "delta": delta, "usage": usage})));
        stream.steps.push(event(&json!({"type": "message_stop"})));
    }
    stream.steps
}

/// Blocks while they are written.
struct Blocks {
    steps: Vec<Step>,
    open: Option<&'static str>,
    next: usize,
}

impl Blocks {
    /// Begins a block, unless one of that kind is open.
    fn within(&mut self, kind: &'static str, block: &Value) {
        if self.open == Some(kind) {
            return;
        }
        self.close();
        self.open = Some(kind);
        self.steps.push(event(&json!({"type": "content_block_start", "index": self.next, "content_block": block})));
    }

    fn delta(&mut self, delta: &Value) {
        self.steps.push(event(&json!({"type": "content_block_delta", "index": self.next, "delta": delta})));
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.steps.push(event(&json!({"type": "content_block_stop", "index": self.next})));
            self.next += 1;
        }
    }
}

/// The same as one document.
pub(super) fn document(answer: &ModelAnswer, number: usize) -> Value {
    let mut calls = 0;
    let block = |said: &Said| match said {
        Said::Text(text) => Some(json!({"type": "text", "text": text})),
        Said::Thinking(text) => Some(json!({"type": "thinking", "thinking": text, "signature": "signed"})),
        Said::Call { name, arguments } => {
            calls += 1;
            Some(json!({"type": "tool_use", "id": call_id(number, calls - 1), "name": name, "input": arguments}))
        }
        Said::BrokenCall { name, arguments } => {
            calls += 1;
            Some(json!({"type": "tool_use", "id": call_id(number, calls - 1), "name": name, "input": arguments}))
        }
        Said::Event(_) | Said::Pause { .. } => None,
    };
    let content: Vec<Value> = answer.said.iter().filter_map(block).collect();
    let usage = json!({"input_tokens": answer.usage.input, "output_tokens": answer.usage.output});
    json!({"id": "scripted", "type": "message", "role": "assistant", "model": "scripted", "content": content, "stop_reason": stop_reason(answer), "usage": usage})
}

fn stop_reason(answer: &ModelAnswer) -> Option<&str> {
    match &answer.stop {
        ModelStop::Whole if answer.has_calls() => Some("tool_use"),
        ModelStop::Whole => Some("end_turn"),
        ModelStop::TooLong => Some("max_tokens"),
        ModelStop::Other(reason) => Some(reason),
        ModelStop::Cut | ModelStop::Short | ModelStop::Hang => None,
    }
}

fn event(data: &Value) -> Step {
    Step::Bytes(format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default()))
}
