//! Tools that ask the client something before they answer: elicitation, sampling and roots, in one round or several.

use serde_json::{Value, json};
use toolgate_wire::server::{InputRequest, Interruption, Reply, RequestContext};
use toolgate_wire::{RawJson, RpcError};

use crate::content::said;
use crate::fixture::string_argument;

const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";

/// A form for the person at the other end.
pub(crate) fn form(message: &str, properties: &Value, required: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"mode": "form", "message": message, "requestedSchema": schema})
}

/// A question for the model at the other end.
fn sampling(prompt: &str, max_tokens: u32) -> Value {
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": prompt}}], "maxTokens": max_tokens})
}

/// What was filled in for one field of a form.
pub(crate) fn field(answer: &RawJson, name: &str) -> String {
    let value = answer.member("content").and_then(|content| content.member(name));
    value.map_or_else(String::new, |value| value.read::<String>().unwrap_or_else(|_| value.to_string()))
}

/// One property that must be filled in.
fn ask_for(message: &str, name: &str, kind: &str) -> Value {
    form(message, &json!({name: {"type": kind}}), &[name])
}

/// Asks for a name under the key that the suite expects.
pub(crate) async fn ask_name(cx: &RequestContext) -> Result<String, Interruption> {
    let answer = cx.ask("user_name", ELICIT, ask_for("What is your name?", "name", "string")).await?;
    Ok(field(&answer, "name"))
}

/// The tools of this file; `None` when `tool` is none of them.
pub(crate) async fn call(tool: &str, cx: &RequestContext) -> Option<Result<Reply, Interruption>> {
    Some(match tool {
        "test_sampling" => sample(cx).await,
        "test_elicitation" => elicit(cx).await,
        "test_elicitation_sep1034_defaults" => elicit_with(cx, "Please check the defaults", &defaults()).await,
        "test_elicitation_sep1330_enums" => elicit_with(cx, "Please choose", &choices()).await,
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
            ask_name(cx).await.map(|name| said(format!("Hello, {name}!")))
        }
        "test_input_required_result_sampling" => capital(cx).await,
        "test_input_required_result_list_roots" => roots(cx).await,
        "test_input_required_result_request_state" => with_state(cx).await,
        "test_input_required_result_tampered_state" => confirmed(cx).await,
        "test_input_required_result_multiple_inputs" => three_at_once(cx).await,
        "test_input_required_result_multi_round" => two_rounds(cx).await,
        "test_input_required_result_capabilities" => whatever_is_possible(cx).await,
        _ => return None,
    })
}

async fn sample(cx: &RequestContext) -> Result<Reply, Interruption> {
    let answer = cx.ask("sampled", SAMPLE, sampling(&string_argument(cx, "prompt")?, 100)).await?;
    let text =
        answer.member("content").and_then(|content| content.member("text")).and_then(|text| text.read::<String>().ok());
    Ok(said(format!("LLM response: {}", text.unwrap_or_default())))
}

fn described(answer: &RawJson) -> String {
    let action = answer.member("action").and_then(|action| action.read::<String>().ok()).unwrap_or_default();
    let content = answer.member("content").unwrap_or(RawJson::EMPTY_OBJECT);
    format!("action={action}, content={content}")
}

async fn elicit(cx: &RequestContext) -> Result<Reply, Interruption> {
    let properties = json!({
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    });
    let question = form(&string_argument(cx, "message")?, &properties, &["username", "email"]);
    let answer = cx.ask("elicited", ELICIT, question).await?;
    Ok(said(format!("User response: {}", described(&answer))))
}

async fn elicit_with(cx: &RequestContext, message: &str, properties: &Value) -> Result<Reply, Interruption> {
    let answer = cx.ask("elicited", ELICIT, form(message, properties, &[])).await?;
    Ok(said(format!("Elicitation completed: {}", described(&answer))))
}

fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    })
}

fn choices() -> Value {
    let titled = json!([{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]);
    let plain = json!(["option1", "option2", "option3"]);
    json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    })
}

async fn capital(cx: &RequestContext) -> Result<Reply, Interruption> {
    let answer = cx.ask("capital_question", SAMPLE, sampling("What is the capital of France?", 100)).await?;
    Ok(said(format!("The model says: {}", answer.member("content").unwrap_or(RawJson::NULL))))
}

async fn roots(cx: &RequestContext) -> Result<Reply, Interruption> {
    let answer = cx.ask("client_roots", ROOTS, json!({})).await?;
    Ok(said(format!("Roots: {}", answer.member("roots").unwrap_or(RawJson::NULL))))
}

async fn with_state(cx: &RequestContext) -> Result<Reply, Interruption> {
    cx.keep_state("confirming");
    cx.ask("confirm", ELICIT, ask_for("Please confirm", "ok", "boolean")).await?;
    if cx.version().is_modern() && cx.request_state() != Some("confirming") {
        return Err(RpcError::invalid_params("the answer came without the state it belongs to").into());
    }
    Ok(said("state-ok"))
}

async fn confirmed(cx: &RequestContext) -> Result<Reply, Interruption> {
    cx.keep_state("confirming");
    cx.ask("confirm", ELICIT, ask_for("Please confirm", "ok", "boolean")).await?;
    Ok(said("Confirmed."))
}

async fn three_at_once(cx: &RequestContext) -> Result<Reply, Interruption> {
    cx.keep_state("asking three things");
    let answers = cx
        .ask_all(vec![
            InputRequest::new("user_name", ELICIT, ask_for("What is your name?", "name", "string")),
            InputRequest::new("greeting", SAMPLE, sampling("Generate a greeting", 50)),
            InputRequest::new("client_roots", ROOTS, json!({})),
        ])
        .await?;
    Ok(said(format!("{} answers for {}", answers.len(), field(&answers[0], "name"))))
}

async fn two_rounds(cx: &RequestContext) -> Result<Reply, Interruption> {
    cx.keep_state("round 1");
    let name = cx.ask("step1", ELICIT, ask_for("Step 1: What is your name?", "name", "string")).await?;
    cx.keep_state("round 2");
    let color = cx.ask("step2", ELICIT, ask_for("Step 2: What is your favorite color?", "color", "string")).await?;
    Ok(said(format!("{} likes {}", field(&name, "name"), field(&color, "color"))))
}

async fn whatever_is_possible(cx: &RequestContext) -> Result<Reply, Interruption> {
    let mut questions = Vec::new();
    if cx.has_capability("sampling") {
        questions.push(InputRequest::new("sampled", SAMPLE, sampling("Say something", 20)));
    }
    if cx.has_capability("elicitation") {
        questions.push(InputRequest::new("elicited", ELICIT, ask_for("Say something", "text", "string")));
    }
    let answers = cx.ask_all(questions).await?;
    Ok(said(format!("{} answers", answers.len())))
}
