//! Every fault of the message and of the stream, over a pipe.

use serde_json::{Value, json};
use std::time::Duration;
use toolgate_testkit::fault::Trigger;
use toolgate_testkit::{Behaviour, Event, Script, ToolScript, What, When};

use crate::support::{PATIENCE, PipeClient, call, modern, start, start_legacy, text};

const LEGACY: &str = "2025-11-25";

fn echo_server() -> Script {
    Script::new("demo").tool(ToolScript::echo("echo"))
}

async fn faulty(when: impl Into<Trigger>, what: What) -> PipeClient {
    start_legacy(echo_server().fault(when, what), LEGACY).await.0
}

/// Calls `echo` and gives the next message, whatever it is.
async fn call_echo(client: &mut PipeClient) -> (i64, Value) {
    let id = client.ask("tools/call", call("echo", json!({"message": "hi"}))).await;
    (id, client.next().await)
}

const CALL: When = When::Method("tools/call");

#[tokio::test]
async fn answers_with_something_wrong_about_the_id() {
    let (id, answer) = call_echo(&mut faulty(CALL, What::WrongId).await).await;
    assert_ne!(answer["id"], id);
    assert_eq!(text(&answer), "hi");
    let (_, answer) = call_echo(&mut faulty(CALL, What::MissingId).await).await;
    assert_eq!((answer.get("id"), answer.get("result")), (None, None));
    assert!(answer["error"]["message"].is_string());
    let (_, answer) = call_echo(&mut faulty(CALL, What::ResultWithoutId).await).await;
    assert_eq!((answer.get("id"), text(&answer)), (None, "hi"));
    let (_, answer) = call_echo(&mut faulty(CALL, What::NullId).await).await;
    assert_eq!((answer.get("id"), text(&answer)), (Some(&Value::Null), "hi"));
    let (id, answer) = call_echo(&mut faulty(CALL, What::StringId).await).await;
    assert_eq!(answer["id"], id.to_string());
}

#[tokio::test]
async fn answers_with_something_wrong_about_the_result() {
    let (_, answer) = call_echo(&mut faulty(CALL, What::EmptyResult).await).await;
    assert_eq!(answer["result"], json!({}));
    let (_, answer) = call_echo(&mut faulty(CALL, What::ResultAndError).await).await;
    assert_eq!(answer.get("result"), Some(&Value::Null));
    assert!(answer["error"].is_object());
    let (_, answer) = call_echo(&mut faulty(CALL, What::AnswerWith(json!([1]))).await).await;
    assert_eq!(answer["result"], json!([1]));
    let error = What::AnswerError { code: -32000, message: "no".to_owned() };
    let (_, answer) = call_echo(&mut faulty(CALL, error).await).await;
    assert_eq!(answer["error"]["code"], -32000);
    let (_, answer) = call_echo(&mut faulty(CALL, What::AnswerText(r#"{"id":$ID}"#.to_owned())).await).await;
    assert_eq!(answer, json!({"id": 2}));
}

#[tokio::test]
async fn duplicates_late_answers_and_none() {
    let mut client = faulty(CALL, What::DuplicateResponse).await;
    let (_, first) = call_echo(&mut client).await;
    assert_eq!(first, client.next().await);

    let mut client = faulty(CALL.nth(1), What::LateResponse { ms: 30 }).await;
    let late = client.ask("tools/call", call("echo", json!({"message": "late"}))).await;
    assert_eq!(text(&client.request("tools/call", call("echo", json!({"message": "on time"}))).await), "on time");
    assert_eq!(client.next().await["id"], late);

    let mut client = faulty(CALL.nth(1), What::NoAnswer).await;
    client.ask("tools/call", call("echo", json!({"message": "lost"}))).await;
    assert_eq!(text(&client.request("tools/call", call("echo", json!({"message": "kept"}))).await), "kept");
}

#[tokio::test]
async fn lists_that_do_not_end() {
    let mut client = faulty(When::Method("tools/list"), What::RepeatedCursor).await;
    let first = client.request("tools/list", json!({})).await;
    let second = client.request("tools/list", json!({"cursor": first["result"]["nextCursor"]})).await;
    assert_eq!(first["result"], second["result"]);
    let mut client = faulty(When::Method("tools/list"), What::EndlessPages).await;
    let first = client.request("tools/list", json!({})).await;
    let second = client.request("tools/list", json!({"cursor": first["result"]["nextCursor"]})).await;
    assert_eq!(first["result"]["tools"], second["result"]["tools"]);
    assert_ne!(first["result"]["nextCursor"], second["result"]["nextCursor"]);
}

#[tokio::test]
async fn a_partial_frame_can_be_cut_at_every_byte() {
    let (mut whole, _) = start_legacy(echo_server(), LEGACY).await;
    whole.ask("tools/call", call("echo", json!({"message": "hi"}))).await;
    let line = whole.line().await;
    for cut in 0..line.len() {
        let mut client = faulty(CALL.after_bytes(cut), What::Close).await;
        client.ask("tools/call", call("echo", json!({"message": "hi"}))).await;
        assert_eq!(client.line().await, line[..cut]);
        assert_eq!(client.line().await, b"");
    }
}

#[tokio::test]
async fn the_stream_ends_stalls_or_drips() {
    for what in [What::Close, What::Reset, What::Exit(3)] {
        let mut client = faulty(CALL, what.clone()).await;
        client.ask("tools/call", call("echo", json!({}))).await;
        assert_eq!(client.line().await, b"", "{what:?}");
        let mut client = faulty(CALL.after(), what).await;
        assert_eq!(text(&call_echo(&mut client).await.1), "hi");
        assert_eq!(client.line().await, b"");
    }
    for what in [What::Stall, What::Freeze] {
        let mut client = faulty(CALL, what).await;
        client.ask("tools/call", call("echo", json!({}))).await;
        client.ask("ping", json!({})).await;
        client.expect_silence().await;
    }
    let mut client = faulty(CALL, What::Drip { bytes: 7, every_ms: 1 }).await;
    assert_eq!(text(&call_echo(&mut client).await.1), "hi");
    let mut client = faulty(CALL.after_bytes(10), What::Pause { ms: 5 }).await;
    assert_eq!(text(&call_echo(&mut client).await.1), "hi");
}

#[tokio::test]
async fn output_that_is_no_message() {
    let junk = What::Junk(vec!["Server starting...".to_owned(), String::new()]);
    let (mut client, _) = start(echo_server().fault(When::Start, junk));
    assert_eq!(client.line().await, b"Server starting...\n");
    assert_eq!(client.line().await, b"\n");
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));

    let mut client = faulty(CALL, What::InvalidUtf8).await;
    client.ask("tools/call", call("echo", json!({}))).await;
    assert!(String::from_utf8(client.line().await).is_err());

    let mut client = faulty(CALL.before(), What::LongLine { bytes: 3_000_000 }).await;
    client.ask("tools/call", call("echo", json!({"message": "hi"}))).await;
    let line = client.line().await;
    assert!(line.len() > 3_000_000);
    assert!(line.starts_with(b"xxxx") && line.ends_with(b"}\n"));
}

#[tokio::test]
async fn faults_wait_for_their_moment() {
    let mut client = faulty(When::Message(4), What::EmptyResult).await;
    assert_eq!(text(&call_echo(&mut client).await.1), "hi");
    assert_eq!(call_echo(&mut client).await.1["result"], json!({}));
    assert_eq!(text(&call_echo(&mut client).await.1), "hi");

    let mut client = faulty(CALL.nth(2), What::EmptyResult).await;
    assert_eq!(text(&call_echo(&mut client).await.1), "hi");
    assert_eq!(call_echo(&mut client).await.1["result"], json!({}));

    let script = echo_server().tool(ToolScript::echo("other")).fault(When::Tool("other"), What::EmptyResult);
    let (mut client, _) = start_legacy(script, LEGACY).await;
    assert_eq!(text(&call_echo(&mut client).await.1), "hi");
    assert_eq!(client.request("tools/call", call("other", json!({}))).await["result"], json!({}));

    let mut client = faulty(CALL.in_life(2), What::EmptyResult).await;
    assert_eq!(text(&call_echo(&mut client).await.1), "hi");
}

#[tokio::test]
async fn servers_that_cannot_bear_unknown_methods() {
    let (mut client, _) = start(echo_server().fault(When::UnknownMethod, What::Exit(1)));
    client.ask("server/discover", modern(json!({}))).await;
    assert_eq!(client.line().await, b"");
    let (mut client, _) = start(echo_server().fault(When::UnknownMethod, What::EmptyResult));
    assert_eq!(client.request("server/discover", modern(json!({}))).await["result"], json!({}));
    let (mut client, _) = start(echo_server().fault(When::UnknownMethod, What::Stall));
    client.ask("server/discover", modern(json!({}))).await;
    client.ask("ping", json!({})).await;
    client.expect_silence().await;
    let script = echo_server().fault(When::Method("initialize"), What::Version("2019-01-01".to_owned()));
    let (mut client, _) = start(script);
    let answer = client.request("initialize", json!({"protocolVersion": LEGACY})).await;
    assert_eq!(answer["result"]["protocolVersion"], "2019-01-01");
}

#[tokio::test]
async fn instead_means_handled_and_before_means_not() {
    let script = Script::new("demo").tool(ToolScript::new("count", Behaviour::Count));
    let lost = script.clone().fault(CALL.nth(1).instead(), What::NoAnswer);
    let (mut client, _) = start_legacy(lost, LEGACY).await;
    client.ask("tools/call", call("count", json!({}))).await;
    assert_eq!(text(&client.request("tools/call", call("count", json!({}))).await), "2");
    let dropped = script.fault(CALL.nth(1).before(), What::NoAnswer);
    let (mut client, _) = start_legacy(dropped, LEGACY).await;
    client.ask("tools/call", call("count", json!({}))).await;
    assert_eq!(text(&client.request("tools/call", call("count", json!({}))).await), "1");
}

#[tokio::test]
async fn faults_on_notifications() {
    let script = echo_server().fault(When::Method("notifications/initialized"), What::Close);
    let (mut client, _) = start_legacy(script, LEGACY).await;
    assert_eq!(client.line().await, b"");
}

#[tokio::test]
async fn the_record_tells_what_is_missing() {
    let (mut client, record) = start(echo_server());
    client.request("ping", json!({})).await;
    let missing = record.wait_for_method("tools/list", Duration::from_millis(20)).await.unwrap_err();
    assert!(missing.to_string().contains("ping"), "{missing}");
    drop(client);
    record.wait_for_event(|event| *event == Event::EndOfInput, PATIENCE).await.unwrap();
}

#[test]
fn a_script_survives_json() {
    let script = echo_server()
        .versions(&["2025-03-26", "2026-07-28"])
        .tool(ToolScript::new("slow", Behaviour::progress(2, 10, Behaviour::elicit_text("name"))))
        .fault(When::Method("tools/list").after_bytes(3), What::Reset)
        .fault(When::Start, What::Grandchild { seconds: 5, holds_stdout: true });
    assert_eq!(Script::from_json(&script.to_json()).unwrap(), script);
    let refused = Script::from_json(r#"{"name": "x", "tols": []}"#).unwrap_err();
    assert!(refused.to_string().contains("tols"), "{refused}");
}
