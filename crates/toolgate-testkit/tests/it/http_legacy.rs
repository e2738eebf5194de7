//! Streamable HTTP with sessions, and the older HTTP+SSE.

use serde_json::{Value, json};
use toolgate_testkit::script::{GetStream, Priming, Sessions, UnknownSession};
use toolgate_testkit::{Behaviour, Change, Event, ListKind, Script, ScriptedHttp, ToolScript, What, When};

use crate::http_client::{RequestText, initialize, legacy};
use crate::support::{PATIENCE, call, initialize_params, text};

const VERSION: &str = "2025-06-18";

fn script(behaviour: Behaviour) -> Script {
    Script::new("demo").versions(&[VERSION]).tool(ToolScript::new("it", behaviour)).tool(ToolScript::echo("echo"))
}

async fn start(script: Script) -> (ScriptedHttp, String) {
    let server = ScriptedHttp::start(script).await.unwrap();
    let session = initialize(server.address(), VERSION).await;
    (server, session)
}

fn call_it(session: &str, id: i64) -> RequestText {
    legacy(session, id, "tools/call", &call("it", json!({})))
}

#[tokio::test]
async fn a_session_lives_from_initialize_to_delete() {
    let (server, session) = start(script(Behaviour::text("hi"))).await;
    let address = server.address();
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(RequestText::post(&note).session(&session).send(address).await.status, 202);
    let good = call_it(&session, 1).header("MCP-Protocol-Version", VERSION);
    assert_eq!(text(&good.send(address).await.message().await), "hi");
    let wrong = call_it(&session, 2).header("MCP-Protocol-Version", "2024-11-05");
    assert_eq!(wrong.send(address).await.status, 400);
    assert_eq!(RequestText::new("DELETE", "/mcp").session(&session).send(address).await.status, 200);
    assert!(server.record().events().contains(&Event::SessionDeleted { id: session.clone() }));
    assert_eq!(call_it(&session, 3).send(address).await.status, 404);
    let without = call_it(&session, 4).without("Mcp-Session-Id").send(address).await;
    assert_eq!(without.status, 400);
    assert_eq!(without.json().await["id"], Value::Null);
}

#[tokio::test]
async fn lost_sessions_are_told_in_three_ways() {
    for (how, status, has_json) in [
        (UnknownSession::NotFound, 404, true),
        (UnknownSession::BadRequestWithoutId, 400, true),
        (UnknownSession::BadRequestText, 400, false),
    ] {
        let (server, session) = start(script(Behaviour::Echo).http(|http| http.unknown_session = how)).await;
        server.restart().await;
        let answer = call_it(&session, 1).send(server.address()).await;
        assert_eq!(answer.status, status);
        let (body, _) = answer.body().await;
        let json = serde_json::from_str::<Value>(&body);
        assert_eq!(json.is_ok(), has_json, "{body}");
        if how == UnknownSession::BadRequestWithoutId {
            assert_eq!(json.unwrap().get("id"), None);
        }
        let again = initialize(server.address(), VERSION).await;
        assert_ne!(again, session);
        let lives = server.record().events();
        assert!(lives.iter().any(|event| matches!(event, Event::Started { life: 2, .. })));
    }
}

#[tokio::test]
async fn sessions_can_be_forgotten_in_the_middle_and_can_be_absent() {
    let forgetful = script(Behaviour::text("hi")).fault(When::Tool("it").nth(2), What::ForgetSessions);
    let (server, session) = start(forgetful).await;
    assert_eq!(call_it(&session, 1).send(server.address()).await.status, 200);
    assert_eq!(call_it(&session, 2).send(server.address()).await.status, 404);

    let shared = script(Behaviour::text("hi")).http(|http| http.sessions = Sessions::Absent);
    let (server, session) = start(shared).await;
    assert_eq!(session, "");
    let request = call_it("", 1).without("Mcp-Session-Id");
    assert_eq!(text(&request.send(server.address()).await.message().await), "hi");
}

#[tokio::test]
async fn a_legacy_server_refuses_the_modern_probe() {
    let (server, _) = start(script(Behaviour::Echo)).await;
    let probe = RequestText::modern(1, "server/discover", json!({})).send(server.address()).await;
    assert_eq!(probe.status, 400);
    let body = probe.json().await;
    assert_eq!((&body["id"], &body["error"]["code"]), (&Value::Null, &json!(-32000)));
}

#[tokio::test]
async fn questions_come_on_the_stream_of_the_request_and_answers_by_post() {
    let (server, session) = start(script(Behaviour::elicit_text("name"))).await;
    let mut stream = call_it(&session, 1).send(server.address()).await;
    let asked = stream.message().await;
    assert_eq!(asked["method"], "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}});
    let posted = RequestText::post(&answer).session(&session).send(server.address()).await;
    assert_eq!(posted.status, 202);
    assert_eq!(text(&stream.message().await), r#"{"action":"decline"}"#);
    assert_eq!(stream.event().await, None);
}

#[tokio::test]
async fn the_get_stream_carries_changes_and_can_be_resumed() {
    let (server, session) = start(script(Behaviour::Echo)).await;
    server.change(&Change::Announce(ListKind::Tools));
    let get = RequestText::get("/mcp").session(&session);
    let mut stream = get.send(server.address()).await;
    let first = stream.event().await.unwrap();
    assert_eq!(first.json()["method"], "notifications/tools/list_changed");
    assert_eq!(get.send(server.address()).await.status, 409);
    server.change(&Change::Announce(ListKind::Prompts));
    assert_eq!(stream.message().await["method"], "notifications/prompts/list_changed");
    drop(stream);
    let closed = Event::StreamClosedByClient { method: "GET".to_owned(), id: String::new() };
    server.record().wait_for_event(|event| *event == closed, PATIENCE).await.unwrap();
    let mut again = get.header("Last-Event-ID", &first.id).send(server.address()).await;
    assert_eq!(again.message().await["method"], "notifications/prompts/list_changed");
    let strange = RequestText::get("/mcp").session(&session).header("Last-Event-ID", "x-9");
    assert_eq!(strange.send(server.address()).await.status, 400);

    let (server, session) = start(script(Behaviour::Echo).http(|http| http.get_stream = GetStream::Refused)).await;
    assert_eq!(RequestText::get("/mcp").session(&session).send(server.address()).await.status, 405);
}

#[tokio::test]
async fn a_request_outlives_its_stream_and_its_answer_waits() {
    let slow = Behaviour::progress(2, 1, Behaviour::delay(50, Behaviour::text("done")));
    let (server, session) = start(script(slow).http(|http| http.priming = Priming::Retry(20))).await;
    let mut params = call("it", json!({}));
    params["_meta"] = json!({"progressToken": 1});
    let mut stream = legacy(&session, 1, "tools/call", &params).send(server.address()).await;
    let priming = stream.event().await.unwrap();
    assert_eq!((priming.retry.as_str(), priming.data.as_str()), ("20", ""));
    assert_eq!(stream.message().await["params"]["progress"], 1);
    drop(stream);
    let resume = RequestText::get("/mcp").session(&session).header("Last-Event-ID", &priming.id);
    let mut stream = resume.send(server.address()).await;
    assert_eq!(stream.message().await["params"]["progress"], 1);
    assert_eq!(stream.message().await["params"]["progress"], 2);
    assert_eq!(text(&stream.message().await), "done");
    assert_eq!(stream.event().await, None);
}

#[tokio::test]
async fn a_stream_closed_after_priming_answers_on_resumption() {
    let fault = What::CloseAfterPriming { retry_ms: Some(15) };
    let (server, session) = start(script(Behaviour::text("hi")).fault(When::Tool("it"), fault)).await;
    let mut stream = call_it(&session, 1).send(server.address()).await;
    let priming = stream.event().await.unwrap();
    assert_eq!((priming.retry.as_str(), priming.data.as_str()), ("15", ""));
    assert_eq!(stream.event().await, None);
    let resume = RequestText::get("/mcp").session(&session).header("Last-Event-ID", &priming.id);
    assert_eq!(text(&resume.send(server.address()).await.message().await), "hi");
}

#[tokio::test]
async fn a_cancelled_request_ends_its_stream_without_an_answer() {
    let (server, session) = start(script(Behaviour::Never)).await;
    let mut stream = call_it(&session, 5).send(server.address()).await;
    let note = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    assert_eq!(RequestText::post(&note).session(&session).send(server.address()).await.status, 202);
    assert_eq!(stream.event().await, None);
    assert!(server.record().events().contains(&Event::Cancelled { id: "5".to_owned() }));
}

#[tokio::test]
async fn batches_are_answered_by_batches() {
    let script = script(Behaviour::text("hi")).versions(&["2025-03-26"]);
    let server = ScriptedHttp::start(script.json_answers()).await.unwrap();
    let session = initialize(server.address(), "2025-03-26").await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]);
    let answers = RequestText::post(&batch).session(&session).send(server.address()).await.json().await;
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(1), &json!(2)));
}

/// Opens the older transport; the stream and the endpoint it named.
async fn open_sse(server: &ScriptedHttp) -> (crate::http_client::Response, String) {
    let mut stream = RequestText::get("/sse").send(server.address()).await;
    let first = stream.event().await.unwrap();
    assert_eq!(first.kind, "endpoint");
    (stream, first.data)
}

#[tokio::test]
async fn the_older_transport_answers_on_its_stream() {
    let script = script(Behaviour::elicit_text("name")).versions(&["2024-11-05"]);
    let server = ScriptedHttp::start(script).await.unwrap();
    assert_eq!(RequestText::new("POST", "/sse").send(server.address()).await.status, 405);
    let (mut stream, endpoint) = open_sse(&server).await;
    let post = |message: Value| {
        let mut request = RequestText::post(&message);
        request.redirect(&endpoint);
        let address = server.address();
        async move { assert_eq!(request.send(address).await.status, 202) }
    };
    let params = initialize_params("2024-11-05");
    post(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    assert_eq!(stream.message().await["result"]["protocolVersion"], "2024-11-05");
    let params = call("it", json!({}));
    post(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})).await;
    let asked = stream.message().await;
    post(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "cancel"}})).await;
    assert_eq!(text(&stream.message().await), r#"{"action":"cancel"}"#);
    drop(stream);
    let closed = Event::StreamClosedByClient { method: "GET".to_owned(), id: String::new() };
    server.record().wait_for_event(|event| *event == closed, PATIENCE).await.unwrap();
}

#[tokio::test]
async fn the_older_transport_can_name_an_endpoint_elsewhere() {
    let elsewhere = "http://127.0.0.2:9/messages";
    let script = script(Behaviour::Echo).fault(When::Get(1), What::Endpoint(elsewhere.to_owned()));
    let server = ScriptedHttp::start(script).await.unwrap();
    assert_eq!(open_sse(&server).await.1, elsewhere);
    assert!(open_sse(&server).await.1.starts_with("/messages?session="));
}
