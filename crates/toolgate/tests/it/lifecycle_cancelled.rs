//! Calls that are given up or take too long: the server is told where it knows of them, and late answers reach nobody.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate::{CallOutcome, Memory};
use toolgate_testkit::record::Event;
use toolgate_testkit::{Behaviour, Script, ScriptedHttp, ToolScript, What, When};

use crate::chaos_room::until;
use crate::lifecycle_room::{Notes, called, connected, learn, remembering, spawned, starts};
use crate::support::{LONG, Room, call, text};

fn never() -> Script {
    Script::new("one").tool(ToolScript::new("never", Behaviour::Never)).tool(ToolScript::text("quick", "done"))
}

#[tokio::test]
async fn a_server_hears_that_a_call_was_given_up() {
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        for is_http in [false, true] {
            let script = never().versions(&[version]);
            let http = ScriptedHttp::start(script.clone()).await.unwrap();
            let room = match is_http {
                true => Room::new().entry("one", json!({"url": http.url(), "type": "http"})),
                false => Room::new().server("one", &script),
            };
            let record = if is_http { http.record().clone() } else { room.record(0) };
            let notes = Arc::new(Notes::default());
            let host = Arc::new(connected(&room, room.builder().call_rules(notes.rules())).await);
            let running = spawned(&host, "never", json!({}));
            until("the call at the server", LONG, || called(&record, "never") == 1).await;
            running.abort();
            let is_told = |event: &Event| match event {
                Event::Cancelled { .. } => true,
                Event::StreamClosedByClient { method, .. } => is_http && method == "tools/call",
                _ => false,
            };
            record.wait_for_event(is_told, LONG).await.unwrap();
            until("the record", LONG, || notes.told() == ["cancelled never"]).await;
            assert_eq!(text(&call(&host, "quick", json!({})).await), "done", "{version}: the connection goes on");
            assert_eq!(host.line("one").unwrap().traffic().connections, 1);
            host.shutdown().await;
        }
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_while_its_server_starts_is_never_sent() {
    let room = Room::new().server("one", &never().fault(When::Start.in_life(2), What::Pause { ms: 1_000 }));
    learn(&room).await;
    let notes = Arc::new(Notes::default());
    let builder = remembering(&room, Memory::Used).call_rules(notes.rules());
    let host = Arc::new(connected(&room, builder).await);
    let running = spawned(&host, "quick", json!({}));
    until("the start", LONG, || starts(&room.record(0)) == 2).await;
    running.abort();
    until("the record", LONG, || notes.told() == ["cancelled quick"]).await;
    // The server starts all the same: somebody wanted it.
    assert!(host.line("one").unwrap().live().await.is_ok());
    assert!(host.ping("one").await.is_ok());
    assert_eq!(called(&room.record(0), "quick"), 0);
    assert_eq!(notes.told().len(), 1);
}

#[tokio::test]
async fn how_long_a_call_may_take() {
    let works = Behaviour::progress(20, 50, Behaviour::text("done"));
    let script = never().tool(ToolScript::new("works", works));
    // The settings, the tool, how it ends, and whether progress would have helped.
    let cases: [(Value, &str, &str, Option<bool>); 5] = [
        (json!({"timeout": 800}), "works", "completed", None),
        (json!({"timeout": 300}), "never", "timed_out", Some(true)),
        (json!({"timeout": 5_000, "maxDuration": 300}), "works", "timed_out", Some(false)),
        (json!({"timeout": 60_000, "maxDuration": 300}), "never", "timed_out", Some(false)),
        (json!({"timeout": 300, "maxDuration": 60_000}), "never", "timed_out", Some(true)),
    ];
    for (settings, tool, expected, is_idle) in cases {
        let room = Room::new().server_with("one", &script, &settings);
        let notes = Arc::new(Notes::default());
        let host = connected(&room, room.builder().call_rules(notes.rules())).await;
        let outcome = call(&host, tool, json!({})).await;
        assert_eq!(outcome.as_str(), expected, "{settings} {tool}: {outcome:?}");
        if let CallOutcome::TimedOut { idle, after } = outcome {
            assert_eq!((Some(idle), after.as_millis()), (is_idle, 300), "{settings} {tool}");
            room.record(0).wait_for_method("notifications/cancelled", LONG).await.unwrap();
        }
        assert_eq!(notes.told(), [format!("{expected} {tool}")]);
        host.shutdown().await;
    }
}

#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_counted_and_reaches_nobody() {
    let script = never().tool(ToolScript::echo("echo")).fault(When::Tool("quick"), What::DuplicateResponse);
    let room = Room::new().server("one", &script);
    let host = room.host().await;
    let line = host.line("one").unwrap();
    for times in 1..=3 {
        assert_eq!(text(&call(&host, "quick", json!({})).await), "done");
        until("the second answer", LONG, || line.traffic().late_answers == times).await;
        assert_eq!(text(&call(&host, "echo", json!({"message": "mine"})).await), "mine");
    }
}

#[tokio::test]
async fn an_answer_after_the_time_limit_is_counted_over_the_life_of_the_line() {
    // The call is answered by the next one, which nobody could foresee; every number that was used so far gets an answer.
    let late: String =
        (1..=8).map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n")).collect();
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"mine\"}]}}";
    let script = Script::new("one")
        .tool(ToolScript::new("never", Behaviour::Never))
        .tool(
            ToolScript::new("late", Behaviour::Raw(format!("{late}{answer}")))
                .annotations(json!({"readOnlyHint": true})),
        )
        .fault(When::Tool("late").after().in_life(1), What::Exit(1));
    let room = Room::new().server_with("one", &script, &json!({"timeout": 300}));
    let host = room.host().await;
    let line = host.line("one").unwrap();
    assert_eq!(call(&host, "never", json!({})).await.as_str(), "timed_out");
    call(&host, "late", json!({})).await;
    until("the late answers", LONG, || line.traffic().late_answers > 0).await;
    let counted = line.traffic().late_answers;
    until("its next life", LONG, || line.traffic().connections == 2 && line.now().is_some()).await;
    assert!(line.traffic().late_answers >= counted, "what was counted is not forgotten");
}
