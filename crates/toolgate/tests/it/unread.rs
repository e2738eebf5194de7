//! Lists that a server cannot give for a while: what was shown stays, and they are asked for again.

use serde_json::json;
use toolgate::connect::Kind;
use toolgate::{Host, HostEvent};
use toolgate_testkit::fault::Trigger;
use toolgate_testkit::{Behaviour, PromptScript, ResourceScript, Script, ToolScript, What, When};

use crate::chaos_room::until;
use crate::lifecycle_room::next;
use crate::support::{LONG, Room, call, names, text};

fn server() -> Script {
    Script::new("one")
        .versions(&["2025-06-18"])
        .tool(ToolScript::echo("echo"))
        .tool(ToolScript::new("add", Behaviour::add_tool(ToolScript::echo("added"))))
        .tool(ToolScript::text("end", "bye"))
        .prompt(PromptScript::text("ask", "ok"))
}

fn failing(script: Script, when: impl Into<Trigger>, code: i64) -> Script {
    script.fault(when, What::AnswerError { code, message: "not now".into() })
}

fn error(host: &Host) -> Option<String> {
    host.servers()[0].error.as_ref().map(ToString::to_string)
}

fn is_changed(event: &HostEvent) -> bool {
    matches!(event, HostEvent::Changed { kind: Kind::Tools, .. })
}

fn says<'a>(what: &'a str) -> impl Fn(&HostEvent) -> bool + 'a {
    move |event| matches!(event, HostEvent::Diagnostic(one) if one.text.contains(what))
}

const REFUSED: &str = "listing tools failed: not now (code -32603)";

#[tokio::test]
async fn a_list_that_could_not_be_read_at_the_start_comes_later() {
    // Twice, so that what is tried again is tried again.
    let list = When::Method("tools/list");
    let room = Room::new().server("one", &failing(failing(server(), list.nth(1), -32603), list.nth(2), -32603));
    let host = room.host().await;
    let mut events = host.events();
    assert_eq!((names(&host.catalog()).as_slice(), host.catalog().prompts().len()), ([].as_slice(), 1));
    assert_eq!(error(&host).as_deref(), Some(REFUSED));
    next(&mut events, is_changed).await;
    assert_eq!(names(&host.catalog()), ["echo", "add", "end"]);
    assert_eq!((error(&host), room.record(0).count("tools/list")), (None, 3));
    assert_eq!(text(&call(&host, "echo", json!({"message": "there"})).await), "there");
}

#[tokio::test]
async fn a_change_that_could_not_be_read_is_read_later() {
    let room = Room::new().server("one", &failing(server(), When::Method("tools/list").nth(2), -32603));
    let host = room.host().await;
    let mut events = host.events();
    call(&host, "add", json!({})).await;
    next(&mut events, says(REFUSED)).await;
    assert_eq!(names(&host.catalog()), ["echo", "add", "end"], "what was shown stays");
    assert_eq!(error(&host).as_deref(), Some(REFUSED));
    assert_eq!(text(&call(&host, "echo", json!({"message": "still"})).await), "still");
    next(&mut events, is_changed).await;
    assert_eq!(names(&host.catalog()), ["echo", "add", "end", "added"]);
    assert_eq!(error(&host), None);
}

#[tokio::test]
async fn a_server_that_comes_back_without_a_list_is_shown_as_before() {
    let script = failing(server(), When::Method("tools/list").nth(1).in_life(2), -32603)
        .fault(When::Tool("end").after().in_life(1), What::Exit(0));
    let room = Room::new().server("one", &script);
    let host = room.host().await;
    let mut events = host.events();
    call(&host, "end", json!({})).await;
    next(&mut events, says(REFUSED)).await;
    until("that it is back", LONG, || error(&host).as_deref() == Some(REFUSED)).await;
    assert_eq!(names(&host.catalog()), ["echo", "add", "end"]);
    next(&mut events, says("Tools of MCP server one can be read again")).await;
    assert_eq!(names(&host.catalog()), ["echo", "add", "end"]);
    assert_eq!(error(&host), None);
    assert_eq!(text(&call(&host, "echo", json!({"message": "back"})).await), "back");
}

#[tokio::test]
async fn a_list_that_does_not_exist_is_not_asked_for_again() {
    let script = failing(server(), When::Method("tools/list"), -32601);
    let script = failing(script, When::Method("prompts/list").nth(1), -32603)
        .resource(ResourceScript::text("note://1", "first"));
    let room = Room::new().server("one", &script);
    let host = room.host().await;
    until("that prompts are read again", LONG, || host.catalog().prompts().len() == 1).await;
    let asked = ["tools/list", "prompts/list", "resources/list"].map(|method| room.record(0).count(method));
    assert_eq!(asked, [1, 2, 1]);
}
