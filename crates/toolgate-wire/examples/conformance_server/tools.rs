//! The tools of the conformance server: what they are, and those that simply answer.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use toolgate_wire::server::{Interruption, LogLevel, Reply, RequestContext};
use toolgate_wire::{RawJson, RpcError, meta};

use crate::asking::{self, ask_name};
use crate::content::{WAV, failed, image, resource, said, text};
use crate::fixture::{Shared, string_argument, string_param};

/// What the steps of a slow tool take.
const STEP: Duration = Duration::from_millis(50);

/// Name, description and properties of the input, all of which must be given.
const TOOLS: &[(&str, &str, &str)] = &[
    ("test_simple_text", "Answers with a text", "{}"),
    ("test_image_content", "Answers with a picture", "{}"),
    ("test_audio_content", "Answers with a sound", "{}"),
    ("test_embedded_resource", "Answers with a resource", "{}"),
    ("test_multiple_content_types", "Answers with text, picture and resource", "{}"),
    ("test_tool_with_logging", "Logs three times while it works", "{}"),
    ("test_error_handling", "Always fails", "{}"),
    ("test_tool_with_progress", "Reports its progress", "{}"),
    ("test_sampling", "Asks the client's model", r#"{"prompt":{"type":"string"}}"#),
    ("test_elicitation", "Asks the person", r#"{"message":{"type":"string"}}"#),
    ("test_elicitation_sep1034_defaults", "Asks with defaults of every type", "{}"),
    ("test_elicitation_sep1330_enums", "Asks with choices of every form", "{}"),
    ("test_reconnection", "Ends its stream early and answers later", "{}"),
    ("test_missing_capability", "Needs a client that can sample", "{}"),
    ("test_streaming_elicitation", "Asks the person for a name", "{}"),
    ("test_logging_tool", "Logs once", "{}"),
    ("test_trigger_tool_change", "Announces that the tools have changed", "{}"),
    ("test_trigger_prompt_change", "Announces that the prompts have changed", "{}"),
    (
        "test_custom_header",
        "Takes an argument that travels as a header too",
        r#"{"region":{"type":"string","x-mcp-header":"Region"}}"#,
    ),
    ("test_input_required_result_elicitation", "Asks the person for a name", "{}"),
    ("test_input_required_result_sampling", "Asks the client's model", "{}"),
    ("test_input_required_result_list_roots", "Asks for the roots", "{}"),
    ("test_input_required_result_request_state", "Asks and wants its state back", "{}"),
    ("test_input_required_result_multiple_inputs", "Asks three things at once", "{}"),
    ("test_input_required_result_multi_round", "Asks in two rounds", "{}"),
    ("test_input_required_result_tampered_state", "Asks and trusts nobody with its state", "{}"),
    ("test_input_required_result_capabilities", "Asks only what the client can answer", "{}"),
    ("greet", "Greets", r#"{"name":{"type":"string"}}"#),
    ("slow_compute", "Takes its time", r#"{"seconds":{"type":"number"}}"#),
    ("failing_job", "A task that fails as a tool", "{}"),
    ("protocol_error_job", "A task that fails as a request", "{}"),
    ("confirm_delete", "A task that asks before it ends", r#"{"filename":{"type":"string"}}"#),
    ("multi_input", "A task that asks two things at once", "{}"),
    ("test_tool_with_task", "Asks first, then becomes a task", "{}"),
];

const JSON_SCHEMA_TOOL: &str = "json_schema_2020_12_tool";

/// The suite compares it word for word.
const JSON_SCHEMA: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}"##;

pub(crate) fn input_schema(tool: &str) -> Option<RawJson> {
    if tool == JSON_SCHEMA_TOOL {
        return RawJson::from_bytes(JSON_SCHEMA).ok();
    }
    let (_, _, properties) = TOOLS.iter().find(|(name, ..)| *name == tool)?;
    let properties: Value = serde_json::from_str(properties).ok()?;
    let required: Vec<_> = properties.as_object()?.keys().cloned().collect();
    Some(json!({"type": "object", "properties": properties, "required": required}).into())
}

pub(crate) fn list() -> Reply {
    let described = TOOLS.iter().map(|(name, description, _)| (*name, *description));
    let all = described.chain([(JSON_SCHEMA_TOOL, "Has every keyword of JSON Schema 2020-12 that the suite knows")]);
    let tools: Vec<_> = all
        .map(|(name, description)| {
            let schema = input_schema(name).unwrap_or(RawJson::EMPTY_OBJECT);
            json!({"name": name, "description": description, "inputSchema": schema})
        })
        .collect();
    json!({"tools": tools}).into()
}

pub(crate) async fn call(shared: &Shared, cx: &RequestContext) -> Result<Reply, Interruption> {
    let tool = string_param(cx, "name")?;
    if let Some(outcome) = asking::call(&tool, cx).await {
        return outcome;
    }
    if let Some(outcome) = call_task(&tool, shared, cx).await {
        return outcome;
    }
    Ok(match tool.as_str() {
        "test_simple_text" => said("This is a simple text response for testing."),
        "test_image_content" => json!({"content": [image()]}).into(),
        "test_audio_content" => json!({"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}).into(),
        "test_embedded_resource" => {
            let embedded = resource("test://embedded-resource", "text/plain", "This is an embedded resource content.");
            json!({"content": [embedded]}).into()
        }
        "test_multiple_content_types" => {
            let mixed = resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
            json!({"content": [text("Multiple content types test:"), image(), mixed]}).into()
        }
        "test_tool_with_logging" => log_three_times(cx).await?,
        "test_logging_tool" => {
            cx.log(LogLevel::Info, Some("conformance"), json!("Tool was called")).await?;
            said("Logged.")
        }
        "test_error_handling" => failed("This tool intentionally returns an error for testing").into(),
        "test_tool_with_progress" => report_progress(cx).await?,
        "test_reconnection" => {
            cx.close_stream();
            sleep(STEP * 2).await;
            said("The answer, fetched after the stream had ended.")
        }
        "test_missing_capability" => {
            cx.require_capability("sampling")?;
            said("The client can sample.")
        }
        "test_trigger_tool_change" => {
            shared.announce(|changes| changes.tools_changed());
            said("The tools have changed.")
        }
        "test_trigger_prompt_change" => {
            shared.announce(|changes| changes.prompts_changed());
            said("The prompts have changed.")
        }
        "test_custom_header" => said(string_argument(cx, "region")?),
        "greet" => said(format!("Hello, {}!", string_argument(cx, "name")?)),
        JSON_SCHEMA_TOOL => said(format!("Called with {}", cx.arguments())),
        _ => return Err(RpcError::invalid_params(format!("there is no tool `{tool}`")).into()),
    })
}

async fn log_three_times(cx: &RequestContext) -> Result<Reply, Interruption> {
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        cx.log(LogLevel::Info, None, json!(message)).await?;
        sleep(STEP).await;
    }
    Ok(said("Logged three times."))
}

async fn report_progress(cx: &RequestContext) -> Result<Reply, Interruption> {
    for done in [0.0, 50.0, 100.0] {
        cx.progress(done, Some(100.0), Some("working")).await?;
        sleep(STEP).await;
    }
    Ok(said("Done."))
}

/// The tools that become tasks; `None` when `tool` is none of them.
async fn call_task(tool: &str, shared: &Shared, cx: &RequestContext) -> Option<Result<Reply, Interruption>> {
    let tasks = &shared.tasks;
    if matches!(tool, "failing_job" | "protocol_error_job" | "confirm_delete" | "multi_input")
        && let Err(error) = cx.require_extension(meta::TASKS_EXTENSION)
    {
        return Some(Err(error.into()));
    }
    Some(Ok(match tool {
        "slow_compute" => {
            let seconds =
                cx.arguments().member("seconds").and_then(|value| value.read::<f64>().ok()).unwrap_or_default();
            let work = async move {
                sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await;
                Ok::<_, RpcError>(json!({"content": [text(format!("Computed for {seconds} s"))]}))
            };
            match cx.takes_tasks() {
                true => tasks.start(shared, |_| work),
                false => match work.await {
                    Ok(result) => result.into(),
                    Err(error) => return Some(Err(error.into())),
                },
            }
        }
        "failing_job" => tasks.start(shared, |_| async {
            sleep(Duration::from_secs(1)).await;
            Ok(failed("The job has failed."))
        }),
        "protocol_error_job" => tasks.start(shared, |_| async { Err(RpcError::internal("the job could not be run")) }),
        "confirm_delete" => match string_argument(cx, "filename") {
            Ok(filename) => ask_in_task(shared, &[("confirm", &format!("Delete {filename}?"))]),
            Err(error) => return Some(Err(error.into())),
        },
        "multi_input" => ask_in_task(shared, &[("first", "The first thing?"), ("second", "The second thing?")]),
        "test_tool_with_task" => match ask_name(cx).await {
            Err(interruption) => return Some(Err(interruption)),
            Ok(name) => {
                tasks.start(shared, |_| async move { Ok(json!({"content": [text(format!("Hello, {name}!"))]})) })
            }
        },
        _ => return None,
    }))
}

/// A task that asks these questions at once and ends when all are answered.
fn ask_in_task(shared: &Shared, questions: &[(&str, &str)]) -> Reply {
    let questions: BTreeMap<_, _> = questions
        .iter()
        .map(|(key, message)| {
            let params = asking::form(message, &json!({"confirmed": {"type": "boolean"}}), &[]);
            ((*key).to_owned(), json!({"method": "elicitation/create", "params": params}))
        })
        .collect();
    shared.tasks.start(shared, |task| async move {
        let answers = task.ask(questions).await;
        Ok(json!({"content": [text(format!("{} answers: {}", answers.len(), json!(answers)))]}))
    })
}
