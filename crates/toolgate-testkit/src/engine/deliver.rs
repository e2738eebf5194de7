//! Turns an answer and its faults into the steps a transport carries out.

use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::engine::dispatch::{Failure, Outcome};
use crate::engine::exchange::Exchange;
use crate::engine::lists::{ENDLESS_CURSOR, REPEATED_CURSOR};
use crate::engine::server::Server;
use crate::engine::steps::{End, Frame, Role, Step, StepLog};
use crate::engine::trigger::Hit;
use crate::fault::{Place, What};
use crate::record::Event;

/// Whether a message is still to be handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Handle,
    Drop,
}

/// What happens before a message is handled.
pub(crate) fn act_before(server: &Server, outlet: &StepLog, hits: &[Hit]) -> Flow {
    let mut flow = Flow::Handle;
    for hit in hits.iter().filter(|hit| hit.place == Place::Before) {
        if hit.what == What::NoAnswer {
            flow = Flow::Drop;
        }
        let steps = act(server, &hit.what);
        if steps.iter().any(|step| matches!(step, Step::End(_) | Step::Stall | Step::Freeze)) {
            flow = Flow::Drop;
        }
        outlet.push(steps);
    }
    flow
}

/// What happens on a message that has no answer.
pub(crate) fn act_on_notification(server: &Server, outlet: &StepLog, hits: &[Hit]) {
    for hit in hits.iter().filter(|hit| hit.place != Place::Before) {
        outlet.push(act(server, &hit.what));
    }
}

/// The steps that answer a request.
pub(crate) async fn conclude(exchange: &Exchange, outcome: Outcome) -> Vec<Step> {
    let hits: Vec<&Hit> = exchange.hits.iter().filter(|hit| hit.place != Place::Before).collect();
    let mut outcome = outcome;
    for hit in &hits {
        outcome = changed_outcome(exchange, outcome, &hit.what);
    }
    let status = match &outcome {
        Outcome::Error(failure) => failure.status,
        Outcome::Result(_) | Outcome::Text(_) => 200,
    };
    let mut message = message_of(&exchange.id, outcome);
    for hit in &hits {
        if let Some(changed) = changed_message(&message, &hit.what) {
            message = Answer::Json(changed);
        }
    }
    let text = match (message, exchange.take_held_back()) {
        (Answer::Json(value), Some(mut batch)) => {
            batch.push(value);
            Value::Array(batch).to_string()
        }
        (Answer::Json(value), None) => value.to_string(),
        (Answer::Text(text), _) => text,
    };
    let mut steps = vec![Step::Frame(Frame::new(text, Role::Answer { status }))];
    for hit in hits {
        if let What::LateResponse { ms } = hit.what {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        steps = changed_steps(&exchange.server, steps, hit);
    }
    steps
}

/// An answer before it is written.
enum Answer {
    Json(Value),
    Text(String),
}

fn message_of(id: &Value, outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Result(result) => Answer::Json(json!({"jsonrpc": "2.0", "id": id, "result": result})),
        Outcome::Error(failure) => {
            let mut error = json!({"code": failure.code, "message": failure.message});
            if let Some(data) = failure.data {
                error["data"] = data;
            }
            Answer::Json(json!({"jsonrpc": "2.0", "id": id, "error": error}))
        }
        Outcome::Text(text) => Answer::Text(text.replace("$ID", &id.to_string())),
    }
}

/// Faults that change what is said.
fn changed_outcome(exchange: &Exchange, outcome: Outcome, what: &What) -> Outcome {
    match what {
        What::EmptyResult => Outcome::Result(json!({})),
        What::AnswerWith(result) => Outcome::Result(result.clone()),
        What::AnswerText(text) => Outcome::Text(text.clone()),
        What::AnswerError { code, message } => {
            Outcome::Error(Failure { code: *code, message: message.clone(), data: None, status: 200 })
        }
        What::Version(version) => with_field(outcome, "protocolVersion", json!(version)),
        What::RepeatedCursor => with_field(outcome, "nextCursor", json!(REPEATED_CURSOR)),
        What::EndlessPages => {
            let cursor = format!("{ENDLESS_CURSOR}{}", exchange.server.fresh_number());
            with_field(outcome, "nextCursor", json!(cursor))
        }
        _ => outcome,
    }
}

fn with_field(outcome: Outcome, key: &str, value: Value) -> Outcome {
    match outcome {
        Outcome::Result(mut result) if result.is_object() => {
            result[key] = value;
            Outcome::Result(result)
        }
        other => other,
    }
}

/// Faults that change the message around what is said; `None` when this is not one of them.
fn changed_message(answer: &Answer, what: &What) -> Option<Value> {
    let Answer::Json(message) = answer else { return None };
    let mut message = message.clone();
    match what {
        What::WrongId => message["id"] = json!(987_654_321),
        What::NullId => message["id"] = Value::Null,
        What::StringId => {
            let id = &message["id"];
            message["id"] = json!(id.as_str().map_or_else(|| id.to_string(), str::to_owned));
        }
        What::ResultWithoutId => {
            message.as_object_mut()?.remove("id");
        }
        What::MissingId => {
            let error = json!({"code": -32000, "message": "an error that belongs to no request"});
            message = json!({"jsonrpc": "2.0", "error": error});
        }
        What::ResultAndError => {
            message["result"] = Value::Null;
            message["error"] = json!({"code": -32603, "message": "both a result and an error"});
        }
        _ => return None,
    }
    Some(message)
}

/// Faults that change how the message is written.
fn changed_steps(server: &Server, mut steps: Vec<Step>, hit: &Hit) -> Vec<Step> {
    match &hit.what {
        What::DuplicateResponse => {
            let copies = steps.clone();
            steps.extend(copies);
            return steps;
        }
        What::NoAnswer => return Vec::new(),
        What::Drip { bytes, every_ms } => {
            for step in &mut steps {
                if let Step::Frame(frame) = step {
                    frame.drip = Some(((*bytes).max(1), Duration::from_millis(*every_ms)));
                }
            }
            return steps;
        }
        What::CloseAfterPriming { retry_ms } => {
            let priming = Step::PrimeAndClose { retry_ms: *retry_ms };
            return std::iter::once(priming).chain(steps).collect();
        }
        _ => (),
    }
    let extra = act(server, &hit.what);
    if extra.is_empty() {
        return steps;
    }
    match hit.place {
        Place::Instead => extra,
        Place::Before | Place::After => steps.into_iter().chain(extra).collect(),
        Place::AfterBytes(bytes) => split(steps, bytes, extra),
    }
}

/// Puts `extra` after that many bytes of the first frame.
fn split(steps: Vec<Step>, bytes: usize, extra: Vec<Step>) -> Vec<Step> {
    let mut extra = Some(extra);
    let mut result = Vec::new();
    for step in steps {
        match (step, extra.take()) {
            (Step::Frame(frame), Some(extra)) => {
                result.push(Step::Frame(Frame { to: Some(bytes), ..frame.clone() }));
                result.extend(extra);
                result.push(Step::Frame(Frame { from: bytes, ..frame }));
            }
            (step, rest) => {
                extra = rest;
                result.push(step);
            }
        }
    }
    result
}

/// Carries out what is no step, and gives the steps of what is.
pub(crate) fn act(server: &Server, what: &What) -> Vec<Step> {
    let step = match what {
        What::Exit(code) => Step::End(End::Exit(*code)),
        What::Close => Step::End(End::Close),
        What::Reset => Step::End(End::Reset),
        What::Stall => Step::Stall,
        What::Freeze => Step::Freeze,
        What::Pause { ms } => Step::Pause(Duration::from_millis(*ms)),
        What::LongLine { bytes } => Step::Fill { bytes: *bytes },
        What::StderrFlood { bytes } => Step::StderrFlood { bytes: *bytes },
        What::InvalidUtf8 => Step::InvalidUtf8,
        What::Junk(lines) => {
            let frames = lines.iter().map(|line| Frame::new(line.as_str(), Role::Aside));
            return frames.map(Step::Frame).collect();
        }
        What::ForgetSessions => {
            server.forget_sessions();
            return Vec::new();
        }
        What::Grandchild { seconds, holds_stdout } => {
            start_grandchild(server, *seconds, *holds_stdout);
            return Vec::new();
        }
        _ => return Vec::new(),
    };
    vec![step]
}

fn start_grandchild(server: &Server, seconds: u32, holds_stdout: bool) {
    let mut command = Command::new("sleep");
    command.arg(seconds.to_string()).stdin(Stdio::null()).stderr(Stdio::null());
    if !holds_stdout {
        command.stdout(Stdio::null());
    }
    if let Ok(child) = command.spawn() {
        server.record.event(Event::Grandchild { pid: child.id() });
    }
}
