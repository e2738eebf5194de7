//! What a host hears from its servers without asking: that they changed, that they have forgotten it, that they are not there any more.

use serde_json::json;
use toolgate::connect::Kind;
use toolgate::{CallOutcome, HostEvent, ServerStatus};
use toolgate_testkit::script::GetStream;
use toolgate_testkit::{Behaviour, HttpAnswer, ResourceScript, Script, ScriptedHttp, ToolScript, What, When};

use crate::chaos_room::until;
use crate::lifecycle_room::{called, in_time, next, story_until};
use crate::support::{LONG, Room, call, names, text};

fn echo() -> Script {
    Script::new("one").tool(ToolScript::echo("echo"))
}

fn is_changed(event: &HostEvent) -> bool {
    matches!(event, HostEvent::Changed { kind: Kind::Tools, .. })
}

fn web(http: &ScriptedHttp) -> Room {
    Room::new().entry("one", json!({"url": http.url(), "type": "http"}))
}

#[tokio::test]
async fn a_server_that_stops_to_tell_of_changes_is_asked_again() {
    let end = Behaviour::EndSubscriptions { then: Box::new(Behaviour::text("ended")) };
    let script = echo()
        .versions(&["2026-07-28"])
        .capabilities(json!({"tools": {"listChanged": true}}))
        .tool(ToolScript::new("end", end))
        .tool(ToolScript::new("add", Behaviour::add_tool(ToolScript::echo("added"))));
    for is_http in [false, true] {
        let http = ScriptedHttp::start(script.clone()).await.unwrap();
        let room = if is_http { web(&http) } else { Room::new().server("one", &script) };
        let record = if is_http { http.record().clone() } else { room.record(0) };
        let host = room.host().await;
        let mut events = host.events();
        record.wait_for_method("subscriptions/listen", LONG).await.unwrap();
        call(&host, "end", json!({})).await;
        until("that it is asked again", LONG, || record.count("subscriptions/listen") == 2).await;
        call(&host, "add", json!({})).await;
        next(&mut events, is_changed).await;
        assert_eq!(names(&host.catalog()), ["echo", "end", "add", "added"]);
        assert_eq!(host.line("one").unwrap().traffic().connections, 1, "the connection goes on");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_does_not_tell_of_changes_at_first_is_asked_again() {
    let script = echo()
        .versions(&["2026-07-28"])
        .capabilities(json!({"tools": {"listChanged": true}}))
        .tool(ToolScript::new("add", Behaviour::add_tool(ToolScript::echo("added"))));
    let first = When::Method("subscriptions/listen").nth(1);
    let body = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"not yet"}}"#;
    let refusal = HttpAnswer::status(200).header("Content-Type", "application/json").body(body);
    for what in [refusal, HttpAnswer::status(503)] {
        let script = script.clone().fault(first, What::HttpStatus(what.clone()));
        let http = ScriptedHttp::start(script).await.unwrap();
        let host = web(&http).host().await;
        let mut events = host.events();
        until("that it is asked again", LONG, || http.record().count("subscriptions/listen") == 2).await;
        call(&host, "add", json!({})).await;
        next(&mut events, is_changed).await;
        assert_eq!(names(&host.catalog()), ["echo", "add", "added"], "{what:?}");
        assert_eq!(host.line("one").unwrap().traffic().connections, 1, "{what:?}: the connection goes on");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_is_silent_about_its_changes_is_followed_all_the_same() {
    let script = echo()
        .versions(&["2026-07-28"])
        .capabilities(json!({"tools": {"listChanged": true}}))
        .method("subscriptions/listen", Behaviour::Never)
        .tool(ToolScript::new("add", Behaviour::add_tool(ToolScript::echo("added"))));
    let room = Room::new().server("one", &script);
    let host = room.host().await;
    let mut events = host.events();
    room.record(0).wait_for_method("subscriptions/listen", LONG).await.unwrap();
    call(&host, "add", json!({})).await;
    host.refresh();
    // Far sooner than it would be given up.
    tokio::time::timeout(LONG / 2, next(&mut events, is_changed)).await.expect("its lists are not read");
    assert_eq!(names(&host.catalog()), ["echo", "add", "added"]);
}

#[tokio::test]
async fn a_server_that_was_started_anew_is_met_again_before_anybody_calls() {
    for version in ["2025-06-18", "2026-07-28"] {
        let script = echo().versions(&[version]).capabilities(json!({"tools": {"listChanged": true}}));
        let http = ScriptedHttp::start(script.clone()).await.unwrap();
        let (address, room) = (http.address(), web(&http));
        let host = room.host().await;
        let mut events = host.events();
        if version == "2026-07-28" {
            http.record().wait_for_method("subscriptions/listen", LONG).await.unwrap();
        }
        http.stop().await;
        let http = ScriptedHttp::start_at(script.tool(ToolScript::echo("more")), address).await.unwrap();
        next(&mut events, is_changed).await;
        assert_eq!(names(&host.catalog()), ["echo", "more"], "{version}");
        assert_eq!(http.record().count("tools/call"), 0);
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_lost_and_comes_back_by_itself() {
    // Nothing but a request can find out.
    let script =
        echo().resource(ResourceScript::text("note://1", "first")).http(|http| http.get_stream = GetStream::Refused);
    for is_call in [true, false] {
        let http = ScriptedHttp::start(script.clone()).await.unwrap();
        let (address, room) = (http.address(), web(&http));
        let host = room.host().await;
        let mut events = host.events();
        http.stop().await;
        if is_call {
            let outcome = call(&host, "echo", json!({"message": "x"})).await;
            assert!(matches!(outcome, CallOutcome::Failed(_)), "it was never sent: {outcome:?}");
        } else {
            assert!(in_time(host.read_resource("one", "note://1")).await.is_err());
        }
        story_until(&mut events, ServerStatus::Failed).await;
        assert_eq!(names(&host.catalog()), ["echo"], "what it offers stays listed");
        until("the plan", LONG, || host.servers()[0].next_attempt.is_some()).await;
        let http = ScriptedHttp::start_at(script.clone(), address).await.unwrap();
        story_until(&mut events, ServerStatus::Connected).await;
        assert_eq!(text(&call(&host, "echo", json!({"message": "back"})).await), "back");
        assert_eq!(called(http.record(), "echo"), 1);
        host.shutdown().await;
    }
}

#[tokio::test]
async fn whatever_finds_out_that_the_session_is_lost_what_is_offered_is_read_anew() {
    let script =
        echo().resource(ResourceScript::text("note://1", "first")).http(|http| http.get_stream = GetStream::Refused);
    let http = ScriptedHttp::start(script.clone()).await.unwrap();
    let (address, room) = (http.address(), web(&http));
    let host = room.host().await;
    let mut events = host.events();
    http.stop().await;
    let other = script.tool(ToolScript::echo("more"));
    let http = ScriptedHttp::start_at(other, address).await.unwrap();
    assert_eq!(in_time(host.read_resource("one", "note://1")).await.unwrap().contents.len(), 1);
    next(&mut events, is_changed).await;
    assert_eq!(names(&host.catalog()), ["echo", "more"]);
    assert_eq!(host.line("one").unwrap().traffic().connections, 2);
    http.stop().await;
}

#[tokio::test]
async fn a_session_that_is_said_to_be_lost_in_an_ordinary_answer_is_made_anew_for_the_next_call() {
    let body = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"Session not found"}}"#;
    let answer = HttpAnswer::status(200).header("Content-Type", "application/json").body(body);
    let script = echo()
        .http(|http| http.get_stream = GetStream::Refused)
        .fault(When::Tool("echo").nth(1), What::HttpStatus(answer));
    let http = ScriptedHttp::start(script).await.unwrap();
    let host = web(&http).host().await;
    assert_eq!(call(&host, "echo", json!({"message": "1"})).await.as_str(), "failed", "it may have been looked at");
    assert_eq!(text(&call(&host, "echo", json!({"message": "2"})).await), "2");
    assert_eq!(host.line("one").unwrap().traffic().connections, 2);
}
