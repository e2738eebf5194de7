//! A call from its arguments to its outcome: checked before, checked after, bounded in time, cancelled at the server.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate::{Asker, CallOutcome, ErrorKind, RunOptions, ToolCall};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::support::{LONG, Room, call, text};

fn sum() -> ToolScript {
    let numbers = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"], "additionalProperties": false});
    ToolScript::new("sum", Behaviour::Params).input_schema(numbers)
}

#[tokio::test]
async fn arguments_are_checked_before_the_server_hears_of_them() {
    let room = Room::new().server("math", &Script::new("math").tool(sum()));
    let host = room.host().await;
    let cases: [(Value, &[&str]); 4] = [
        (json!({"a": "one"}), &["/a", "integer"]),
        (json!({}), &["a"]),
        (json!({"a": 1, "c": 2}), &["c"]),
        (json!([]), &["not an object"]),
    ];
    for (arguments, expected) in cases {
        let CallOutcome::Failed(error) = call(&host, "sum", arguments.clone()).await else { panic!("{arguments}") };
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{arguments}");
        for part in expected {
            assert!(error.to_string().contains(part), "{arguments}: {error}");
        }
    }
    assert_eq!(room.record(0).count("tools/call"), 0, "the server heard nothing");
    let outcome = call(&host, "sum", json!({"a": 12345678901234567890u64})).await;
    assert!(text(&outcome).contains("12345678901234567890"), "numbers keep their digits: {outcome:?}");
}

#[tokio::test]
async fn results_are_held_to_what_the_tool_promises() {
    let promise = json!({"type": "object", "properties": {"t": {"type": "number"}}, "required": ["t"]});
    let tool = |name: &str, behaviour| ToolScript::new(name, behaviour).output_schema(promise.clone());
    let script = Script::new("promises")
        .tool(tool("kept", Behaviour::structured(json!({"t": 1}))))
        .tool(tool("as_text", Behaviour::text(r#"{"t": 2}"#)))
        .tool(tool("broken", Behaviour::structured(json!({"t": "warm"}))))
        .tool(tool("missing", Behaviour::text("warm")))
        .tool(tool("a_list", Behaviour::text("[1]")))
        .tool(tool("error", Behaviour::tool_error("no thermometer")));
    let room = Room::new().server("promises", &script);
    let host = room.host().await;
    let cases = [
        ("kept", "completed", ""),
        ("as_text", "completed", ""),
        ("broken", "failed", "not what the tool promises: "),
        ("missing", "failed", "it has no structured content"),
        ("a_list", "failed", "it has no structured content"),
        ("error", "tool_error", ""),
    ];
    for (name, expected, why) in cases {
        let outcome = call(&host, name, json!({})).await;
        assert_eq!(outcome.as_str(), expected, "{name}: {outcome:?}");
        if let CallOutcome::Failed(error) = &outcome {
            assert_eq!(error.kind(), ErrorKind::InvalidResult);
            assert!(error.to_string().contains(why), "{name}: {error}");
        }
    }
    let outcome = call(&host, "as_text", json!({})).await;
    assert_eq!(outcome.report().unwrap().structured.as_ref().unwrap().as_str(), r#"{"t": 2}"#);
}

#[tokio::test]
async fn every_ending_is_a_value() {
    let script = Script::new("ends")
        .tool(ToolScript::text("text", "hello"))
        .tool(ToolScript::new("error", Behaviour::tool_error("broken")))
        .tool(ToolScript::new("flag_as_text", Behaviour::Reply(json!({"content": [], "isError": "true"}))))
        .tool(ToolScript::new("rpc_error", Behaviour::error(-32000, "no")))
        .tool(ToolScript::new("never", Behaviour::Never));
    let room = Room::new().server_with("ends", &script, &json!({"timeout": 200}));
    let host = room.host().await;
    let cases = [
        ("text", "completed"),
        ("error", "tool_error"),
        ("flag_as_text", "tool_error"),
        ("rpc_error", "failed"),
        ("never", "timed_out"),
    ];
    for (name, expected) in cases {
        let outcome = call(&host, name, json!({})).await;
        assert_eq!(outcome.as_str(), expected, "{name}: {outcome:?}");
    }
    room.record(0).wait_for_method("notifications/cancelled", LONG).await.unwrap();
}

#[tokio::test]
async fn progress_keeps_a_call_alive_and_the_absolute_limit_ends_it() {
    let slow = Behaviour::progress(20, 50, Behaviour::text("done"));
    let room = Room::new().server("slow", &Script::new("slow").tool(ToolScript::new("work", slow)));
    let host = room.host().await;
    let run = |options: RunOptions| {
        let call = ToolCall { name: "work".into(), arguments: json!({}).into(), asked_by: Asker::Cli };
        host.run(host.catalog().prepare(call).unwrap(), options)
    };
    let idle = Some(Duration::from_millis(800));
    assert_eq!(text(&run(RunOptions { timeout: idle, max_duration: None }).await), "done");
    let outcome = run(RunOptions { timeout: idle, max_duration: Some(Duration::from_millis(300)) }).await;
    assert!(matches!(outcome, CallOutcome::TimedOut { idle: false, .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_server() {
    let room = Room::new().server(
        "slow",
        &Script::new("slow").versions(&["2025-06-18"]).tool(ToolScript::new("never", Behaviour::Never)),
    );
    let host = room.host().await;
    let call = ToolCall { name: "never".into(), arguments: json!({}).into(), asked_by: Asker::Cli };
    let prepared = host.catalog().prepare(call).unwrap();
    let running = tokio::time::timeout(Duration::from_millis(300), host.run(prepared, RunOptions::default()));
    assert!(running.await.is_err());
    let cancelled = room.record(0).wait_for_method("notifications/cancelled", LONG).await.unwrap();
    assert!(cancelled["params"]["requestId"].is_number(), "{cancelled}");
}

#[tokio::test]
async fn a_ping_is_answered() {
    for version in ["2025-06-18", "2026-07-28"] {
        let room =
            Room::new().server("there", &Script::new("there").versions(&[version]).tool(ToolScript::echo("echo")));
        let host = room.host().await;
        assert!(host.ping("there").await.is_ok(), "{version}");
        assert_eq!(host.ping("elsewhere").await.unwrap_err().hint(), Some("there is `there`"));
    }
}
