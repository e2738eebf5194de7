//! What programs that use MCP test with: a tool and a server with canned answers, and assertions on results.

use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use toolgate_testkit::mock_server::calls_of;
use toolgate_testkit::{MockServer, TestTool, assert_call_result};

use crate::http_client::RequestText;
use crate::support::{RawClient, call, initialize_params};

fn weather() -> TestTool {
    TestTool::new("weather")
        .description("says what the sky does")
        .schema(json!({"type": "object", "properties": {"city": {"type": "string"}}}))
        .read_only()
        .answers("sunny")
        .answers_json(json!({"sky": "grey"}))
        .fails("no such city")
}

#[tokio::test]
async fn canned_answers_come_in_order_and_calls_are_seen() {
    let server = MockServer::new("mock").tool(weather()).prompt("p", "text").resource("test://r", "text");
    let (half, record) = server.start_in_process();
    let (read, write) = tokio::io::split(half);
    let mut client = RawClient::new(read, write);
    client.request("initialize", initialize_params("2025-06-18")).await;
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["annotations"]["readOnlyHint"], true);
    let city = json!({"city": "Oslo"});
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(client.request("tools/call", call("weather", city.clone())).await);
    }
    assert_call_result(&answers[0]).succeeded().text("sunny").block_types(&["text"]);
    assert_call_result(&answers[1]).succeeded().structured(&json!({"sky": "grey"})).text_contains("grey");
    assert_call_result(&answers[2]).failed().text("no such city");
    assert_call_result(&answers[3]["result"]).failed();
    assert_eq!(calls_of(&record, "weather"), [city.clone(), city.clone(), city.clone(), city]);
    assert!(calls_of(&record, "other").is_empty());
}

#[tokio::test]
async fn the_same_server_speaks_http() {
    let server = MockServer::new("mock").tool(weather()).start_http().await.unwrap();
    assert!(server.url().ends_with("/mcp") && server.sse_url().ends_with("/sse"));
    let request = RequestText::modern(1, "tools/call", call("weather", json!({})));
    assert_call_result(&request.send(server.address()).await.message().await).text("sunny");
}

/// An assertion on a result.
type Check = fn(&Value);

/// The message of the panic of an assertion.
fn failure(check: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(check)).expect_err("the assertion should fail");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn failures_say_what_was_there() {
    let good = json!({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]});
    let bad = json!({"content": [], "isError": true});
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}});
    let cases: [(Value, Check, &str); 7] = [
        (
            good.clone(),
            |result| {
                assert_call_result(result).text("x");
            },
            "the text is `a\nb`, expected `x`",
        ),
        (
            good.clone(),
            |result| {
                assert_call_result(result).failed();
            },
            "the tool reported no error",
        ),
        (
            good.clone(),
            |result| {
                assert_call_result(result).structured(&json!(1));
            },
            "there is no structured content",
        ),
        (
            good,
            |result| {
                assert_call_result(result).block_types(&["text"]);
            },
            r#"["text", "image", "text"]"#,
        ),
        (
            bad,
            |result| {
                assert_call_result(result).succeeded();
            },
            "the tool reported an error",
        ),
        (
            error,
            |result| {
                assert_call_result(result).succeeded();
            },
            "protocol error",
        ),
        (
            json!({}),
            |result| {
                assert_call_result(result).succeeded();
            },
            "`content` list",
        ),
    ];
    for (result, check, expected) in cases {
        let message = failure(|| check(&result));
        assert!(message.contains(expected), "{message}");
    }
}
