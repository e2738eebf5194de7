//! Streamable HTTP of 2026-07-28: stateless, headers checked, streams that are requests.

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, Change, Event, ListKind, Script, ScriptedHttp, ToolScript};

use crate::http_client::{RawHttp, RequestText};
use crate::support::{PATIENCE, call, text};

fn script(behaviour: Behaviour) -> Script {
    let schema = json!({
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        },
    });
    Script::new("demo")
        .versions(&["2026-07-28"])
        .tool(ToolScript::new("it", behaviour))
        .tool(ToolScript::echo("placed").input_schema(schema))
}

async fn start(behaviour: Behaviour) -> ScriptedHttp {
    ScriptedHttp::start(script(behaviour)).await.unwrap()
}

#[tokio::test]
async fn requests_are_answered_by_events_or_by_json() {
    let answer = Behaviour::text("hi");
    for (script, kind) in
        [(script(answer.clone()), "text/event-stream"), (script(answer).json_answers(), "application/json")]
    {
        let server = ScriptedHttp::start(script).await.unwrap();
        let request = RequestText::modern(1, "tools/call", call("it", json!({})));
        let mut response = request.send(server.address()).await;
        assert_eq!((response.status, response.header("content-type")), (200, Some(kind)));
        assert_eq!(response.header("mcp-session-id"), None);
        let is_json = kind == "application/json";
        let answer = if is_json { response.json().await } else { response.message().await };
        assert_eq!(text(&answer), "hi");
        let seen = &server.record().requests()[0];
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/mcp"));
        assert_eq!(seen.header("Mcp-Name"), Some("it"));
        assert_eq!(server.received()[0]["method"], "tools/call");
    }
}

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let server = start(Behaviour::text("hi")).await;
    let mut connection = RawHttp::connect(server.address()).await;
    for id in 1..=3 {
        let request = RequestText::modern(id, "tools/call", call("it", json!({})));
        let response = connection.send(&request).await.unwrap();
        connection = response.body().await.1;
    }
    let connections: Vec<u64> = server.record().requests().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [1, 1, 1]);
}

async fn refused(server: &ScriptedHttp, request: RequestText) -> (u16, Value) {
    let response = request.send(server.address()).await;
    (response.status, response.json().await["error"]["code"].clone())
}

#[tokio::test]
async fn headers_must_say_what_the_body_says() {
    let server = start(Behaviour::Echo).await;
    let good = RequestText::modern(1, "tools/call", call("it", json!({})));
    let mismatch = (400, json!(-32020));
    for header in ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"] {
        assert_eq!(refused(&server, good.clone().without(header)).await, mismatch, "{header}");
        let wrong = good.clone().without(header).header(header, "other");
        assert_eq!(refused(&server, wrong).await, mismatch, "{header}");
    }
    let encoded = good.without("Mcp-Name").header("Mcp-Name", "=?base64?aXQ=?=");
    assert_eq!(encoded.send(server.address()).await.status, 200);

    let arguments = json!({"region": "Hello, 世界", "deep": {"n": 42}});
    let placed = RequestText::modern(2, "tools/call", call("placed", arguments))
        .header("Mcp-Param-Region", "=?base64?SGVsbG8sIOS4lueVjA==?=")
        .header("Mcp-Param-N", "42.0");
    assert_eq!(placed.send(server.address()).await.status, 200);
    assert_eq!(refused(&server, placed.clone().without("Mcp-Param-Region")).await, mismatch);
    let wrong = placed.without("Mcp-Param-N").header("Mcp-Param-N", "43");
    assert_eq!(refused(&server, wrong).await, mismatch);
    let none = RequestText::modern(3, "tools/call", call("placed", json!({"region": null})));
    assert_eq!(none.send(server.address()).await.status, 200);
    let extra = none.header("Mcp-Param-Region", "x");
    assert_eq!(refused(&server, extra).await, mismatch);
}

#[tokio::test]
async fn statuses_of_a_modern_server() {
    let server = start(Behaviour::elicit_text("name")).await;
    assert_eq!(refused(&server, RequestText::modern(1, "no/such", json!({}))).await, (404, json!(-32601)));
    let mut params = crate::support::modern(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
    let other =
        RequestText::post(&message).header("MCP-Protocol-Version", "2099-01-01").header("Mcp-Method", "tools/list");
    assert_eq!(refused(&server, other).await, (400, json!(-32022)));

    let address = server.address();
    assert_eq!(RequestText::get("/mcp").send(address).await.status, 405);
    assert_eq!(RequestText::new("DELETE", "/mcp").send(address).await.status, 405);
    assert_eq!(RequestText::new("PUT", "/mcp").send(address).await.status, 405);
    assert_eq!(RequestText::get("/nowhere").send(address).await.status, 404);
    let good = RequestText::modern(1, "tools/list", json!({}));
    assert_eq!(good.clone().without("Accept").send(address).await.status, 406);
    assert_eq!(good.clone().without("Content-Type").send(address).await.status, 415);
    assert_eq!(good.clone().header("Origin", "http://evil.example").send(address).await.status, 403);
    assert_eq!(good.header("Origin", "http://localhost:1").send(address).await.status, 200);
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    assert_eq!(refused(&server, RequestText::post(&initialize)).await, (400, json!(-32020)));
    let note = json!({"jsonrpc": "2.0", "method": "notifications/x"});
    assert_eq!(RequestText::post(&note).send(address).await.status, 202);
}

#[tokio::test]
async fn progress_comes_on_the_stream_even_in_json_mode() {
    let progress = Behaviour::progress(2, 1, Behaviour::text("done"));
    for script in [script(progress.clone()), script(progress).json_answers()] {
        let server = ScriptedHttp::start(script).await.unwrap();
        let mut params = call("it", json!({}));
        params["_meta"] = json!({"progressToken": 5});
        let mut response = RequestText::modern(1, "tools/call", params).send(server.address()).await;
        assert_eq!(response.message().await["params"]["progress"], 1);
        assert_eq!(response.message().await["params"]["progress"], 2);
        assert_eq!(text(&response.message().await), "done");
        assert_eq!(response.event().await, None);
    }
}

#[tokio::test]
async fn rounds_span_connections() {
    let server = start(Behaviour::elicit_text("name")).await;
    let mut params = call("it", json!({}));
    let request = RequestText::modern(1, "tools/call", params.clone());
    let asked = request.send(server.address()).await.message().await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({"elicit": {"action": "accept"}});
    let retry = RequestText::modern(2, "tools/call", params);
    assert_eq!(text(&retry.send(server.address()).await.message().await), r#"{"action":"accept"}"#);
}

#[tokio::test]
async fn closing_the_stream_cancels_and_is_recorded() {
    for script in [script(Behaviour::Never), script(Behaviour::Never).json_answers()] {
        let server = ScriptedHttp::start(script).await.unwrap();
        let request = RequestText::modern(7, "tools/call", call("it", json!({})));
        let waiting = tokio::spawn({
            let (request, address) = (request, server.address());
            async move { request.send(address).await }
        });
        server.record().wait_for_method("tools/call", PATIENCE).await.unwrap();
        waiting.abort();
        drop(waiting.await);
        let closed = Event::StreamClosedByClient { method: "tools/call".to_owned(), id: "7".to_owned() };
        server.record().wait_for_event(|event| *event == closed, PATIENCE).await.unwrap();
    }
}

#[tokio::test]
async fn subscribers_hear_of_changes() {
    let server = start(Behaviour::text("hi")).await;
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let request = RequestText::modern(9, "subscriptions/listen", wanted);
    let mut stream = request.send(server.address()).await;
    assert_eq!(stream.message().await["method"], "notifications/subscriptions/acknowledged");
    server.change(&Change::Announce(ListKind::Prompts));
    server.change(&Change::AddTool(ToolScript::echo("new")));
    let note = stream.message().await;
    assert_eq!(note["method"], "notifications/tools/list_changed");
    assert_eq!(note["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 9);
    server.stop().await;
    assert_eq!(stream.event().await, None);
}
