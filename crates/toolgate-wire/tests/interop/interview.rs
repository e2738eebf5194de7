//! What our client asks every partner server: the same questions in every version, the answers compared by content.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate_wire::view::Content;
use toolgate_wire::{
    Call, Client, ClientSide, ConnectOptions, Endpoint, Question, RawJson, Result, RpcError, Version, connect,
};

/// A person called Ada, with one folder.
pub(crate) struct Ada;

impl ClientSide for Ada {
    fn info(&self) -> RawJson {
        json!({"name": "toolgate-interop", "version": "1.0.0"}).into()
    }

    fn capabilities(&self, _version: Version) -> RawJson {
        json!({"elicitation": {}, "sampling": {}, "roots": {}}).into()
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        Box::pin(async move {
            Ok(match &*question.method {
                "elicitation/create" => json!({"action": "accept", "content": {"name": "Ada"}}).into(),
                "sampling/createMessage" => {
                    json!({"role": "assistant", "content": {"type": "text", "text": "sampled"}, "model": "none", "stopReason": "endTurn"}).into()
                }
                "roots/list" => json!({"roots": [{"uri": "file:///workspace", "name": "workspace"}]}).into(),
                other => return Err(RpcError::method_not_found(other)),
            })
        })
    }
}

/// What is expected of one partner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) version: Version,
    pub(crate) cancel: Cancel,
    pub(crate) instructions: bool,
}

/// What a partner makes of a cancelled call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cancel {
    /// It stops the call and goes on.
    Heard,
    /// It stops the call, and itself: a defect of that SDK version.
    Fatal,
    /// It handles one request at a time, and hears of it too late.
    Unheard,
}

impl Expected {
    pub(crate) const fn version(version: Version) -> Self {
        Self { version, cancel: Cancel::Heard, instructions: true }
    }
}

pub(crate) async fn connected(endpoint: Endpoint) -> Client {
    connect(endpoint, ConnectOptions::new(Arc::new(Ada))).await.expect("the partner is understood")
}

/// Asks everything once and compares the answers.
pub(crate) async fn interview(client: &Client, expected: Expected, log: &Path) {
    assert_eq!(client.version(), expected.version);
    assert_eq!(client.about().info.member("name").expect("a name").as_str(), "\"partner\"");
    let instructions = expected.instructions.then_some("partner instructions");
    assert_eq!(client.about().instructions.as_deref(), instructions);
    tools(client, expected.version).await;
    progress(client).await;
    prompts_and_resources(client).await;
    if expected.version.has_elicitation() {
        assert_eq!(text(client, "ask", json!({})).await, "hello Ada");
    }
    if expected.cancel != Cancel::Unheard {
        cancellation(client, log).await;
    }
    if expected.cancel == Cancel::Heard {
        assert_eq!(text(client, "echo", json!({"message": "still here"})).await, "still here");
    }
    assert_eq!(client.peer().tally().of(toolgate_wire::DefectKind::NotJson), 0, "nothing was garbled");
}

pub(crate) async fn text(client: &Client, tool: &str, arguments: Value) -> String {
    let result = client.call_tool(tool, arguments.into()).await.unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert!(!result.is_error, "{tool} failed: {}", result.raw);
    result.text()
}

async fn tools(client: &Client, version: Version) {
    let listing = client.list_tools().await.expect("tools");
    assert!(listing.defects.is_empty(), "{:?}", listing.defects);
    let mut names: Vec<_> = listing.entries.iter().map(|tool| tool.name.as_str()).collect();
    names.sort_unstable();
    let ask: &[&str] = if version.has_elicitation() { &["ask"] } else { &[] };
    assert_eq!(names, ["add"].iter().chain(ask).chain(&["count", "echo", "slow"]).copied().collect::<Vec<_>>());
    assert_eq!(text(client, "echo", json!({"message": "hello wörld ✓"})).await, "hello wörld ✓");
    let sum = client.call_tool("add", json!({"a": 2, "b": 3}).into()).await.expect("add");
    assert_eq!(sum.text(), "5");
    if version.has_structured_output() {
        let sum: Value = sum.structured.expect("structured content").read().expect("JSON");
        assert_eq!(sum["sum"].as_f64(), Some(5.0));
    }
}

async fn progress(client: &Client) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let steps = seen.clone();
    let call = Call::tool("count", &json!({"n": 3}).into()).on_progress(move |note| {
        let params = note.params.as_ref().expect("params");
        let step: f64 = params.member("progress").expect("progress").read().expect("a number");
        steps.lock().expect("not poisoned").push(step);
    });
    let result = client.finish_tool_call(call).await.expect("count");
    assert_eq!(result.text(), "counted 3");
    assert_eq!(*seen.lock().expect("not poisoned"), [1.0, 2.0, 3.0], "all of it, in order, before the result");
}

async fn prompts_and_resources(client: &Client) {
    let prompts = client.list_prompts().await.expect("prompts");
    assert_eq!(prompts.entries.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["greet"]);
    assert_eq!(prompts.entries[0].arguments[0].name, "name");
    let prompt = client.get_prompt("greet", Some(json!({"name": "Ada"}).into())).await.expect("greet");
    let Content::Text(greeting) = &prompt.messages[0].block.content else { panic!("{:?}", prompt.messages) };
    assert_eq!(greeting, "Please greet Ada.");
    let resources = client.list_resources().await.expect("resources");
    assert_eq!(resources.entries[0].uri.trim_end_matches('/'), "note://one");
    let note = client.read_resource(&resources.entries[0].uri).await.expect("the note");
    assert_eq!(note.contents[0].text.as_deref(), Some("first note"));
}

/// Gives a running call up, and waits until the partner has noticed.
async fn cancellation(client: &Client, log: &Path) {
    let slow = client.call_tool("slow", RawJson::EMPTY_OBJECT);
    assert!(tokio::time::timeout(Duration::from_millis(700), slow).await.is_err(), "it runs until it is cancelled");
    for _ in 0..200 {
        if std::fs::read_to_string(log).is_ok_and(|log| log.contains("cancelled slow")) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the partner never heard that the call was cancelled");
}
