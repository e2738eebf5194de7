//! Our client against `server-everything`, the reference server of the protocol, over its three transports: what it lists and answers.
//!
//! What moves while a call runs is in `everything_live`; the guest that talks to it is here.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;
use toolgate_wire::view::{Block, CallResult, Content};
use toolgate_wire::{
    Call, Client, ClientSide, ConnectOptions, Direction, Endpoint, Error, Notification, Question, RawJson, Result,
    RpcError, Version, connect,
};

use crate::partners::{Over, Partner, Running, node};

pub(crate) const EVERYTHING: Partner = node("node/everything.mjs");

/// A client that can do everything, and remembers everything.
pub(crate) struct Guest {
    asked: Mutex<Vec<Question>>,
    heard: Mutex<Vec<Notification>>,
    sent: Mutex<Vec<Value>>,
    received: Mutex<Vec<Value>>,
    /// Counts whatever arrives.
    arrivals: watch::Sender<u64>,
}

impl Guest {
    pub(crate) fn new() -> Arc<Self> {
        let arrivals = watch::Sender::new(0);
        Arc::new(Self {
            asked: Mutex::default(),
            heard: Mutex::default(),
            sent: Mutex::default(),
            received: Mutex::default(),
            arrivals,
        })
    }

    /// The last question of that kind.
    pub(crate) fn last_asked(&self, method: &str) -> Value {
        let asked = self.asked.lock().expect("not poisoned");
        let question = asked.iter().rev().find(|question| question.method == method);
        question.unwrap_or_else(|| panic!("`{method}` was not asked")).params.read().expect("JSON")
    }

    pub(crate) fn has_heard(&self, wanted: impl Fn(&str, &Value) -> bool) -> bool {
        let heard = self.heard.lock().expect("not poisoned");
        heard.iter().any(|note| {
            let params = note.params.as_ref().map_or(Value::Null, |params| params.read().expect("JSON"));
            wanted(&note.method, &params)
        })
    }

    /// Waits until something is so; looks again whenever anything arrives.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let mut arrivals = self.arrivals.subscribe();
        let waiting = async {
            while !is_so(self) {
                arrivals.changed().await.expect("the guest is still there");
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(30), waiting).await;
        assert!(in_time.is_ok(), "not seen in time: {what}");
    }

    /// Waits for a notification.
    pub(crate) async fn hears(&self, what: &str, wanted: impl Fn(&str, &Value) -> bool) {
        self.until(what, |guest| guest.has_heard(&wanted)).await;
    }

    /// What went over the wire one way, as JSON.
    pub(crate) fn frames(&self, direction: Direction) -> Vec<Value> {
        let frames = if direction == Direction::Sent { &self.sent } else { &self.received };
        frames.lock().expect("not poisoned").clone()
    }

    fn arrived(&self) {
        self.arrivals.send_modify(|count| *count += 1);
    }
}

impl ClientSide for Guest {
    fn info(&self) -> RawJson {
        json!({"name": "toolgate-interop", "version": "1.0.0"}).into()
    }

    fn capabilities(&self, _version: Version) -> RawJson {
        json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {"listChanged": true}}).into()
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        let params: Value = question.params.read().expect("JSON");
        let answer = match &*question.method {
            "elicitation/create" if params["mode"] == "url" => json!({"action": "accept"}),
            "elicitation/create" => json!({"action": "accept", "content": {"name": "Ada", "check": true}}),
            "sampling/createMessage" => {
                let content = json!({"type": "text", "text": "sampled ✓"});
                json!({"role": "assistant", "content": content, "model": "interop-model", "stopReason": "endTurn"})
            }
            "roots/list" => json!({"roots": [{"uri": "file:///workspace", "name": "workspace"}]}),
            other => panic!("asked for {other}"),
        };
        self.asked.lock().expect("not poisoned").push(question);
        self.arrived();
        Box::pin(async move { Ok(answer.into()) })
    }

    fn notification(&self, notification: Notification) {
        self.heard.lock().expect("not poisoned").push(notification);
        self.arrived();
    }
}

/// A connection to a running `server-everything`.
pub(crate) struct Visit {
    pub(crate) client: Client,
    pub(crate) guest: Arc<Guest>,
    _server: Running,
}

impl Visit {
    pub(crate) async fn begin(over: Over) -> Self {
        let mut server = Running::start(EVERYTHING, over).await;
        let guest = Guest::new();
        let client = enter(server.endpoint.take().expect("an endpoint"), &guest).await;
        Self { client, guest, _server: server }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallResult {
        self.client.call_tool(tool, arguments.into()).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    pub(crate) async fn request(&self, method: &'static str, params: Value) -> Value {
        let result = self.client.request(Call::new(method, Some(params.into()))).await;
        result.unwrap_or_else(|error| panic!("{method}: {error}")).read().expect("JSON")
    }
}

/// Connects as `guest`, who sees every frame.
pub(crate) async fn enter(endpoint: Endpoint, guest: &Arc<Guest>) -> Client {
    let mut options = ConnectOptions::new(guest.clone());
    let watching = guest.clone();
    options.tap = Some(Arc::new(move |direction, bytes| {
        let frames = if direction == Direction::Sent { &watching.sent } else { &watching.received };
        frames.lock().expect("not poisoned").push(serde_json::from_slice(bytes).expect("every frame is JSON"));
        watching.arrived();
    }));
    connect(endpoint, options).await.expect("the server is understood")
}

/// The code and the words of a refusal.
fn refusal<T: std::fmt::Debug>(outcome: Result<T>) -> (i64, String) {
    match outcome {
        Err(Error::Rpc(error)) => (error.code, error.message),
        other => panic!("not refused: {other:?}"),
    }
}

fn text(block: &Block) -> &str {
    let Content::Text(text) = &block.content else { panic!("{:?} is no text", block.content) };
    text
}

async fn introduces_itself_and_lists_its_tools(over: Over) {
    let visit = Visit::begin(over).await;
    let about = visit.client.about();
    assert_eq!(visit.client.version(), Version::V2025_11_25);
    assert_eq!(about.info.member("title").expect("a title").as_str(), r#""Everything Reference Server""#);
    assert!(about.instructions.expect("instructions").starts_with("# Everything Server"));
    let listing = visit.client.list_tools().await.expect("tools");
    assert!(listing.defects.is_empty(), "{:?}", listing.defects);
    let names: Vec<_> = listing.entries.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), 17, "{names:?}");
    for conditional in
        ["get-roots-list", "trigger-elicitation-request", "trigger-url-elicitation", "trigger-sampling-request"]
    {
        assert!(names.contains(&conditional), "{conditional} is offered because its capability was declared");
    }
    let echo = listing.entries.iter().find(|tool| tool.name == "echo").expect("echo");
    let schema: Value = echo.input_schema.as_ref().expect("a schema").read().expect("JSON");
    assert_eq!(schema["required"], json!(["message"]));
    visit.client.close().await;
}

async fn answers_calls(over: Over) {
    let visit = Visit::begin(over).await;
    assert_eq!(visit.call("echo", json!({"message": "hello wörld ✓"})).await.text(), "Echo: hello wörld ✓");
    assert_eq!(visit.call("get-sum", json!({"a": 2, "b": 3})).await.text(), "The sum of 2 and 3 is 5.");
    let weather = visit.call("get-structured-content", json!({"location": "New York"})).await;
    let structured: Value = weather.structured.as_ref().expect("structured content").read().expect("JSON");
    assert_eq!(structured, json!({"temperature": 33, "conditions": "Cloudy", "humidity": 82}));
    assert_eq!(serde_json::from_str::<Value>(&weather.text()).expect("JSON in the text"), structured);
    let wrong = visit.call("echo", json!({})).await;
    assert!(wrong.is_error && wrong.text().contains("Invalid arguments for tool echo"), "{}", wrong.raw);
    let unknown = visit.call("nope", json!({})).await;
    assert!(unknown.is_error, "{}", unknown.raw);
    assert_eq!(unknown.text(), "MCP error -32602: Tool nope not found");
    let method = visit.client.request(Call::new("acme/nope", None)).await;
    assert_eq!(refusal(method), (RpcError::METHOD_NOT_FOUND, "Method not found".to_owned()));
    visit.client.ping().await.expect("an answer to a ping");
    visit.client.close().await;
}

async fn every_kind_of_content_is_read(over: Over) {
    let visit = Visit::begin(over).await;
    let picture = visit.call("get-tiny-image", json!({})).await;
    assert_eq!(text(&picture.content[0]), "Here's the image you requested:");
    let Content::Image { data, mime_type } = &picture.content[1].content else { panic!("{:?}", picture.content[1]) };
    assert_eq!(mime_type, "image/png");
    assert!(data.starts_with("iVBORw0KGgo"), "the signature of PNG in Base64: {data:.20}");
    let message = visit.call("get-annotated-message", json!({"messageType": "error", "includeImage": false})).await;
    assert_eq!(text(&message.content[0]), "Error: Operation failed");
    let annotations: Value = message.content[0].raw.member("annotations").expect("annotations").read().expect("JSON");
    assert_eq!(annotations, json!({"audience": ["user", "assistant"], "priority": 1}));
    let links = visit.call("get-resource-links", json!({"count": 2})).await;
    let uris: Vec<_> = links
        .content
        .iter()
        .filter_map(|block| if let Content::Link { uri, .. } = &block.content { Some(uri) } else { None })
        .collect();
    assert_eq!(uris, ["demo://resource/dynamic/blob/1", "demo://resource/dynamic/text/2"]);
    let embedded = visit.call("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1})).await;
    let Content::Resource(resource) = &embedded.content[1].content else { panic!("{:?}", embedded.content[1]) };
    assert_eq!(resource.uri, "demo://resource/dynamic/text/1");
    let words = resource.text.as_deref().expect("a text");
    assert!(words.starts_with("Resource 1: This is a plaintext resource"), "{words}");
    visit.client.close().await;
}

async fn prompts_and_completions(over: Over) {
    let visit = Visit::begin(over).await;
    let prompts = visit.client.list_prompts().await.expect("prompts");
    let names: Vec<_> = prompts.entries.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(names, ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"]);
    assert!(prompts.entries[1].arguments.iter().any(|argument| argument.name == "city" && argument.required));
    let simple = visit.client.get_prompt("simple-prompt", None).await.expect("a prompt");
    assert_eq!(text(&simple.messages[0].block), "This is a simple prompt without arguments.");
    let weather = visit
        .client
        .get_prompt("args-prompt", Some(json!({"city": "Paris", "state": "TX"}).into()))
        .await
        .expect("a prompt");
    assert_eq!(text(&weather.messages[0].block), "What's weather in Paris, TX?");
    let resource = Some(json!({"resourceType": "Text", "resourceId": "1"}).into());
    let resource = visit.client.get_prompt("resource-prompt", resource).await.expect("a prompt");
    let embeds = |block: &Block| matches!(&block.content, Content::Resource(resource) if resource.uri == "demo://resource/dynamic/text/1");
    assert!(resource.messages.iter().any(|message| embeds(&message.block)), "{}", resource.raw);
    assert_eq!(refusal(visit.client.get_prompt("args-prompt", None).await).0, RpcError::INVALID_PARAMS);
    let unknown = refusal(visit.client.get_prompt("nope", None).await);
    assert_eq!(unknown, (RpcError::INVALID_PARAMS, "MCP error -32602: Prompt nope not found".to_owned()));
    let prompt = json!({"type": "ref/prompt", "name": "completable-prompt"});
    let department = json!({"ref": prompt, "argument": {"name": "department", "value": "E"}});
    assert_eq!(visit.request("completion/complete", department).await["completion"]["values"], json!(["Engineering"]));
    let context = json!({"arguments": {"department": "Engineering"}});
    let name = json!({"ref": prompt, "argument": {"name": "name", "value": ""}, "context": context});
    assert_eq!(
        visit.request("completion/complete", name).await["completion"]["values"],
        json!(["Alice", "Bob", "Charlie"])
    );
    visit.client.close().await;
}

async fn resources_and_templates(over: Over) {
    let visit = Visit::begin(over).await;
    let resources = visit.client.list_resources().await.expect("resources");
    assert_eq!(resources.entries.len(), 7, "{:?}", resources.entries);
    assert!(resources.entries.iter().all(|resource| resource.mime_type.as_deref() == Some("text/markdown")));
    let templates = visit.client.list_resource_templates().await.expect("templates");
    let patterns: Vec<_> = templates.entries.iter().map(|template| template.uri_template.as_str()).collect();
    assert_eq!(patterns, ["demo://resource/dynamic/text/{resourceId}", "demo://resource/dynamic/blob/{resourceId}"]);
    let page = visit.client.read_resource("demo://resource/static/document/instructions.md").await.expect("a document");
    assert_eq!(page.contents[0].text, visit.client.about().instructions, "this document is the instructions");
    let blob = visit.client.read_resource("demo://resource/dynamic/blob/7").await.expect("a blob");
    assert_eq!(blob.contents[0].uri, "demo://resource/dynamic/blob/7");
    assert!(blob.contents[0].blob.is_some() && blob.contents[0].text.is_none(), "{}", blob.raw);
    let unknown = refusal(visit.client.read_resource("demo://nope").await);
    assert_eq!(unknown, (RpcError::INVALID_PARAMS, "MCP error -32602: Resource demo://nope not found".to_owned()));
    visit.client.close().await;
}

/// The same questions over every transport.
macro_rules! over_every_transport {
    ($($check:ident),* $(,)?) => {
        mod stdio { $(#[tokio::test] async fn $check() { super::$check(crate::partners::Over::Stdio).await; })* }
        mod http { $(#[tokio::test] async fn $check() { super::$check(crate::partners::Over::Http).await; })* }
        mod sse { $(#[tokio::test] async fn $check() { super::$check(crate::partners::Over::Sse).await; })* }
    };
}
pub(crate) use over_every_transport;

over_every_transport! {
    introduces_itself_and_lists_its_tools,
    answers_calls,
    every_kind_of_content_is_read,
    prompts_and_completions,
    resources_and_templates,
}
