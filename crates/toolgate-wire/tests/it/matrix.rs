//! The scripted matrix: every protocol version over every transport, each with everything a client does. A cell is a
//! connection of its own that asserts what came back and what the server saw.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, Event, PromptScript, ResourceScript, Script, ToolScript};
use toolgate_wire::{Call, Client, Era, Error, Version, Watch};

use crate::support::{Met, PATIENCE, Running, Way, expect_gone, raw, within};

/// Cells that run at once.
const AT_ONCE: usize = 6;

/// What a cell does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    List,
    Call,
    Progress,
    Cancel,
    Elicitation,
    Sampling,
    ListChanged,
    Pagination,
    Timeout,
}

impl Act {
    const ALL: [Self; 9] = [
        Self::List,
        Self::Call,
        Self::Progress,
        Self::Cancel,
        Self::Elicitation,
        Self::Sampling,
        Self::ListChanged,
        Self::Pagination,
        Self::Timeout,
    ];
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    version: Version,
    way: Way,
    act: Act,
}

/// All cells of a transport. Elicitation came with 2025-06-18; HTTP+SSE went with 2026-07-28.
fn cells(way: Way) -> Vec<Cell> {
    let versions = Version::ALL.into_iter().filter(|version| way != Way::Sse || !version.is_modern());
    let acts = |version: Version| {
        Act::ALL.into_iter().filter(move |act| *act != Act::Elicitation || version.has_elicitation())
    };
    versions.flat_map(|version| acts(version).map(move |act| Cell { version, way, act })).collect()
}

fn script(cell: Cell) -> Script {
    let tool = |name: &str, behaviour| ToolScript::new(name, behaviour);
    let script = Script::new("matrix")
        .versions(&[cell.version.as_str()])
        .tool(ToolScript::echo("echo").description("says it again"))
        .tool(tool("steps", Behaviour::progress(5, 1, Behaviour::text("done"))))
        .tool(tool("never", Behaviour::Never))
        .tool(tool("elicit", Behaviour::elicit_text("name")))
        .tool(tool("sample", Behaviour::sample("What is six times seven?")))
        .tool(tool("grow", Behaviour::add_tool(ToolScript::text("grown", "new"))))
        .tool(tool("last", Behaviour::structured(json!({"n": 1}))))
        .prompt(PromptScript::text("greet", "hello"))
        .resource(ResourceScript::text("demo://one", "one"));
    if cell.act == Act::Pagination { script.page_size(2) } else { script }
}

const TOOLS: [&str; 7] = ["echo", "steps", "never", "elicit", "sample", "grow", "last"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_child_process() {
    check(Way::Child, 43).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_pipe_in_this_process() {
    check(Way::Duplex, 43).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_a_unix_socket() {
    check(Way::Socket, 43).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_with_json_answers() {
    check(Way::HttpJson, 43).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_with_event_streams() {
    check(Way::HttpEvents, 43).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_and_sse() {
    check(Way::Sse, 34).await;
}

/// The cells of all transports together, so that none is lost when one of the tables changes.
#[test]
fn no_cell_is_missing() {
    assert_eq!(Way::ALL.map(|way| cells(way).len()).iter().sum::<usize>(), 249);
}

#[expect(clippy::print_stdout, reason = "the table of cells, for whoever asks for output")]
async fn check(way: Way, expected: usize) {
    let run = |cell: Cell| async move {
        within(&format!("{cell:?}"), run(cell)).await;
        cell
    };
    let mut done: Vec<Cell> = stream::iter(cells(way)).map(run).buffer_unordered(AT_ONCE).collect().await;
    done.sort_by_key(|cell| (cell.version, cell.act as usize));
    for version in Version::ALL {
        let acts = done.iter().filter(|cell| cell.version == version).map(|cell| format!("{:?}", cell.act));
        println!("{way:?} {version}: {}", acts.collect::<Vec<_>>().join(" "));
    }
    assert_eq!(done.len(), expected);
}

async fn run(cell: Cell) {
    let met = cell.way.meet(script(cell)).await;
    let client = met.client();
    assert_eq!(client.version(), cell.version, "{cell:?}");
    let era = match cell {
        Cell { version, .. } if version.is_modern() => Era::Modern,
        Cell { way: Way::Sse, .. } => Era::LegacySse,
        _ => Era::Legacy,
    };
    assert_eq!(client.era(), era, "{cell:?}");
    match cell.act {
        Act::List => list(cell, &met).await,
        Act::Call => call(cell, &met).await,
        Act::Progress => progress(cell, client).await,
        Act::Cancel => cancel(cell, &met).await,
        Act::Elicitation => elicitation(cell, &met).await,
        Act::Sampling => sampling(cell, &met).await,
        Act::ListChanged => list_changed(cell, &met).await,
        Act::Pagination => pagination(cell, &met).await,
        Act::Timeout => timeout(cell, &met).await,
    }
    assert_eq!(client.peer().tally().total(), 0, "{cell:?}: {:?}", met.side.heard().defects);
    close(cell, &met).await;
}

/// Ends the connection and sees that the server noticed.
async fn close(cell: Cell, met: &Met) {
    let pid = met.client().child().and_then(|child| child.pid());
    met.client().close().await;
    match &met.server {
        Running::Child { .. } => expect_gone(pid.unwrap()).await,
        Running::Duplex | Running::Socket { .. } => {
            met.record.wait_for_event(|event| *event == Event::EndOfInput, PATIENCE).await.unwrap();
        }
        Running::Http(_) if cell.way != Way::Sse && !cell.version.is_modern() => {
            let deleted =
                met.record.wait_for_event(|event| matches!(event, Event::SessionDeleted { .. }), PATIENCE).await;
            deleted.unwrap_or_else(|error| panic!("{cell:?}: {error}"));
        }
        Running::Http(_) => {}
    }
    assert_eq!(met.side.heard().closed, ["connection closed: closed by this side"], "{cell:?}");
}

async fn list(cell: Cell, met: &Met) {
    let client = met.client();
    let tools = client.list_tools().await.unwrap();
    assert_eq!(tools.entries.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), TOOLS, "{cell:?}");
    assert_eq!(tools.entries[0].description.as_deref(), Some("says it again"), "{cell:?}");
    assert!(tools.defects.is_empty(), "{cell:?}: {:?}", tools.defects);
    let prompts = client.list_prompts().await.unwrap();
    assert_eq!(prompts.entries.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["greet"], "{cell:?}");
    let resources = client.list_resources().await.unwrap();
    assert_eq!(
        resources.entries.iter().map(|resource| resource.uri.as_str()).collect::<Vec<_>>(),
        ["demo://one"],
        "{cell:?}"
    );
    for method in ["tools/list", "prompts/list", "resources/list"] {
        assert_eq!(met.record.count(method), 1, "{cell:?}: {method}");
    }
}

async fn call(cell: Cell, met: &Met) {
    let result = met.client().call_tool("echo", raw(json!({"message": "grüß dich"}))).await.unwrap();
    assert_eq!((result.text().as_str(), result.is_error), ("grüß dich", false), "{cell:?}");
    let seen = met.record.wait_for_method("tools/call", PATIENCE).await.unwrap();
    assert_eq!(seen["params"]["arguments"], json!({"message": "grüß dich"}), "{cell:?}");
    let introduced = &seen["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    let expected = if cell.version.is_modern() { json!(cell.version.as_str()) } else { Value::Null };
    assert_eq!(*introduced, expected, "{cell:?}");
    let structured = met.client().call_tool("last", raw(json!({}))).await.unwrap();
    assert_eq!(structured.structured.unwrap().as_str(), r#"{"n":1}"#, "{cell:?}");
}

async fn progress(cell: Cell, client: &Client) {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let written = steps.clone();
    let call = Call::tool("steps", &raw(json!({}))).on_progress(move |note| {
        let step = note.params.as_ref().and_then(|params| params.member("progress")).unwrap();
        written.lock().unwrap().push(step.read::<f64>().unwrap());
    });
    let result = client.finish_tool_call(call).await.unwrap();
    assert_eq!(result.text(), "done", "{cell:?}");
    assert_eq!(*steps.lock().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0], "{cell:?}");
}

async fn cancel(cell: Cell, met: &Met) {
    let client = met.client().clone();
    let calling = tokio::spawn(async move { client.call_tool("never", raw(json!({}))).await });
    let asked = met.record.wait_for_method("tools/call", PATIENCE).await.unwrap();
    calling.abort();
    expect_given_up(cell, met, &asked["id"]).await;
}

async fn timeout(cell: Cell, met: &Met) {
    let call = Call::tool("never", &raw(json!({}))).idle_limit(Duration::from_millis(100));
    let error = met.client().finish_tool_call(call).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { idle: true, .. }), "{cell:?}: {error}");
    assert_eq!(error.to_string(), "`tools/call` timed out: no answer or progress within 100ms", "{cell:?}");
    let asked = met.record.wait_for_method("tools/call", PATIENCE).await.unwrap();
    expect_given_up(cell, met, &asked["id"]).await;
}

/// The server was told that nobody waits any more, and the connection goes on.
async fn expect_given_up(cell: Cell, met: &Met, id: &Value) {
    let id = id.to_string();
    if cell.version.is_modern() && matches!(cell.way, Way::HttpJson | Way::HttpEvents) {
        let is_it =
            |event: &Event| *event == Event::StreamClosedByClient { method: "tools/call".to_owned(), id: id.clone() };
        met.record.wait_for_event(is_it, PATIENCE).await.unwrap();
        assert_eq!(met.record.count("notifications/cancelled"), 0, "{cell:?}: closing the stream says it");
    } else {
        met.record.wait_for_event(|event| *event == Event::Cancelled { id: id.clone() }, PATIENCE).await.unwrap();
        assert_eq!(met.record.count("notifications/cancelled"), 1, "{cell:?}");
    }
    let result = met.client().call_tool("echo", raw(json!({"message": "still there"}))).await.unwrap();
    assert_eq!(result.text(), "still there", "{cell:?}");
}

async fn elicitation(cell: Cell, met: &Met) {
    let answer = asked(cell, met, "elicit", "elicitation/create").await;
    assert_eq!(answer["content"], json!({"name": "Ada"}), "{cell:?}");
}

async fn sampling(cell: Cell, met: &Met) {
    let answer = asked(cell, met, "sample", "sampling/createMessage").await;
    assert_eq!(answer["content"]["text"], "forty-two", "{cell:?}");
}

/// Calls a tool that asks us something; gives what the server says it heard.
async fn asked(cell: Cell, met: &Met, tool: &str, method: &str) -> Value {
    let result = met.client().call_tool(tool, raw(json!({}))).await.unwrap();
    let questions = met.side.heard().questions;
    assert_eq!(questions.iter().map(|question| &*question.method).collect::<Vec<_>>(), [method], "{cell:?}");
    let rounds = met.record.count("tools/call");
    assert_eq!(rounds, if cell.version.is_modern() { 2 } else { 1 }, "{cell:?}: {method}");
    let lost_state = met.record.events().into_iter().find(|event| matches!(event, Event::StateNotEchoed { .. }));
    assert_eq!(lost_state, None, "{cell:?}");
    serde_json::from_str(&result.text()).unwrap_or_else(|error| panic!("{cell:?}: {error}: {}", result.text()))
}

async fn list_changed(cell: Cell, met: &Met) {
    let client = met.client();
    let watch = Watch { tools: true, ..Watch::default() };
    let subscription = client.watch(&watch).await.unwrap();
    assert_eq!(subscription.honoured.as_str(), r#"{"toolsListChanged":true}"#, "{cell:?}");
    assert_eq!(client.call_tool("grow", raw(json!({}))).await.unwrap().text(), "added", "{cell:?}");
    met.side.wait_until(&format!("{cell:?}: the news"), |heard| !heard.notifications.is_empty()).await;
    assert_eq!(met.side.notified(), ["notifications/tools/list_changed"], "{cell:?}");
    let tools = client.list_tools().await.unwrap();
    assert_eq!(tools.entries.last().map(|tool| tool.name.as_str()), Some("grown"), "{cell:?}");
}

async fn pagination(cell: Cell, met: &Met) {
    let tools = met.client().list_tools().await.unwrap();
    assert_eq!(tools.entries.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), TOOLS, "{cell:?}");
    let lists: Vec<Value> =
        met.record.received().into_iter().filter(|message| message["method"] == "tools/list").collect();
    assert_eq!(lists.len(), 4, "{cell:?}");
    assert!(lists[0]["params"].get("cursor").is_none(), "{cell:?}");
    assert!(lists[1..].iter().all(|list| list["params"]["cursor"].is_string()), "{cell:?}: {lists:?}");
}

/// Batches exist in one version only, and there over every transport.
#[tokio::test]
async fn a_batch_of_calls_is_answered_over_every_transport() {
    for way in Way::ALL {
        let met = way.meet(script(Cell { version: Version::V2025_03_26, way, act: Act::Call })).await;
        let echo = |text: &str| Call::tool("echo", &raw(json!({"message": text})));
        let calls = vec![echo("one"), Call::new("ping", None), echo("three"), Call::new("no/such", None)];
        let answers = within(&format!("a batch over {way:?}"), met.client().peer().call_batch(calls)).await.unwrap();
        let said: Vec<String> = answers
            .into_iter()
            .map(|answer| {
                answer.map_or_else(|error| error.rpc_code().unwrap_or(0).to_string(), |result| result.to_string())
            })
            .collect();
        assert!(said[0].contains("\"one\"") && said[1] == "{}" && said[2].contains("\"three\""), "{way:?}: {said:?}");
        assert_eq!(said[3], "-32601", "{way:?}: a failure within a batch is the failure of its call alone");
        let batch = met.record.received_texts().into_iter().find(|text| text.starts_with('['));
        assert!(
            batch.is_some_and(|batch| batch.contains("\"one\"") && batch.contains("no/such")),
            "{way:?}: sent as one array"
        );
    }
}
