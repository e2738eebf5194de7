//! One generic MCP client: connects to the URL it is given, uses everything the server offers once, and answers whatever it asks.
//!
//! The official conformance suite drives it (`conformance/run client …`), and it shows how a client is written on this library. There is no
//! code for single scenarios; `MCP_CONFORMANCE_CONTEXT` may name the calls to make, like any settings file could.

use std::process::ExitCode;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolgate::wire::transport::http_client::HttpEndpoint;
use toolgate::wire::transport::http_pool::HttpPool;
use toolgate::wire::view::Tool;
use toolgate::wire::{
    Client, ClientSide, ConnectOptions, Endpoint, Question, RawJson, Result, RpcError, Version, connect,
};

/// A side that can answer every kind of question without a person.
struct Generous;

impl ClientSide for Generous {
    fn info(&self) -> RawJson {
        json!({"name": "toolgate-conformance-client", "version": env!("CARGO_PKG_VERSION")}).into()
    }

    fn capabilities(&self, _version: Version) -> RawJson {
        json!({"elicitation": {}, "sampling": {}, "roots": {}}).into()
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(async move {
            let params: Value = question.params.read()?;
            Ok(match &*question.method {
                "elicitation/create" => json!({"action": "accept", "content": sample(&params["requestedSchema"], Fill::Everything)}).into(),
                "sampling/createMessage" => {
                    json!({"role": "assistant", "content": {"type": "text", "text": "a sampled answer"}, "model": "none", "stopReason": "endTurn"}).into()
                }
                "roots/list" => json!({"roots": [{"uri": "file:///workspace", "name": "workspace"}]}).into(),
                other => return Err(RpcError::method_not_found(other)),
            })
        })
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().next_back() else { return ExitCode::from(2) };
    match run(&url).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{url}: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str) -> Result<()> {
    let endpoint = HttpEndpoint::new(HttpPool::default(), url)?;
    let client = connect(Endpoint::Url(endpoint), ConnectOptions::new(Arc::new(Generous))).await?;
    say(&format!("{} speaks {}", client.about().info, client.version()));
    use_tools(&client).await?;
    if client.about().offers("resources") {
        for resource in client.list_resources().await?.entries.iter().take(2) {
            report(&resource.uri, client.read_resource(&resource.uri).await.map(|result| result.raw));
        }
    }
    if client.about().offers("prompts") {
        for prompt in client.list_prompts().await?.entries.iter().take(1) {
            let arguments: Map<String, Value> =
                prompt.arguments.iter().map(|argument| (argument.name.clone(), "test".into())).collect();
            let arguments = (!arguments.is_empty()).then(|| Value::Object(arguments).into());
            report(&prompt.name, client.get_prompt(&prompt.name, arguments).await.map(|result| result.raw));
        }
    }
    client.close().await;
    Ok(())
}

async fn use_tools(client: &Client) -> Result<()> {
    let listing = client.list_tools().await?;
    for defect in &listing.defects {
        say(&format!("left out {:?}: {}", defect.name, defect.reason));
    }
    for (name, arguments) in calls_to_make(&listing.entries)? {
        report(&name, client.call_tool(&name, arguments).await.map(|result| result.raw));
    }
    Ok(())
}

/// The calls that the context asks for, or else every tool once with arguments made from its schema.
fn calls_to_make(tools: &[Tool]) -> Result<Vec<(String, RawJson)>> {
    let context: Value = context().and_then(|context| serde_json::from_str(&context).ok()).unwrap_or_default();
    if let Some(calls) = context["toolCalls"].as_array() {
        let call =
            |call: &Value| (call["name"].as_str().unwrap_or_default().to_owned(), call["arguments"].clone().into());
        return Ok(calls.iter().map(call).collect());
    }
    let mut calls = Vec::new();
    for tool in tools {
        let schema: Value = tool.input_schema.as_ref().map_or(Ok(Value::Null), RawJson::read)?;
        let mut arguments = RawJson::from(sample(&schema, Fill::Required));
        // A tool that takes a schema is shown one: that of another tool, exactly as it was listed.
        let wants_schema = schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == "schema"));
        if let Some(other) =
            tools.iter().find(|other| other.name != tool.name).and_then(|other| other.input_schema.as_ref())
            && wants_schema
        {
            arguments = arguments.with_member("schema", other);
        }
        calls.push((tool.name.clone(), arguments));
    }
    Ok(calls)
}

#[expect(clippy::disallowed_methods, reason = "a program's own entry reads its environment")]
fn context() -> Option<String> {
    std::env::var("MCP_CONFORMANCE_CONTEXT").ok()
}

/// Which properties of a schema get a value.
#[derive(Clone, Copy, PartialEq)]
enum Fill {
    /// Those that must have one.
    Required,
    /// Those, and every one with a default.
    Everything,
}

/// A value that fits a schema. References outside the schema are never followed.
fn sample(schema: &Value, fill: Fill) -> Value {
    if let Some(value) = schema.get("default").or_else(|| schema.get("const")) {
        return value.clone();
    }
    if let Some(first) = schema["enum"].get(0).or_else(|| schema["oneOf"].get(0).and_then(|choice| choice.get("const")))
    {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("string") => "test".into(),
        Some("number" | "integer") => 1.into(),
        Some("boolean") => true.into(),
        Some("array") => json!([]),
        _ => {
            let required =
                |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name));
            let properties = schema["properties"].as_object().into_iter().flatten();
            let chosen = properties.filter(|(name, property)| {
                required(name) || (fill == Fill::Everything && property.get("default").is_some())
            });
            chosen.map(|(name, property)| (name.clone(), sample(property, fill))).collect::<Map<_, _>>().into()
        }
    }
}

/// A failed call is news, not the end: the next one may work.
fn report(what: &str, outcome: Result<RawJson>) {
    match outcome {
        Ok(result) => say(&format!("{what}: {result}")),
        Err(error) => say(&format!("{what}: error: {error}")),
    }
}

#[expect(clippy::print_stdout, reason = "an example program talks to whoever runs it")]
fn say(text: &str) {
    println!("{text}");
}
