//! Servers change what they offer; the catalog follows, and names that were shown stay.

use serde_json::json;
use toolgate::connect::Kind;
use toolgate::{Host, HostEvent};
use toolgate_testkit::{Behaviour, Change, ListKind, PromptScript, Script, ScriptedHttp, ToolScript};

use crate::support::{LONG, Room, call, names};

/// Waits until a server's list has changed.
async fn changed(host: &Host, events: &mut toolgate::HostEvents, kind: Kind) {
    let change = async {
        loop {
            match events.next().await {
                Some(HostEvent::Changed { kind: changed, .. }) if changed == kind => return,
                Some(_) => {}
                None => panic!("the host is gone"),
            }
        }
    };
    tokio::time::timeout(LONG, change)
        .await
        .unwrap_or_else(|_| panic!("no change came; tools: {:?}", names(&host.catalog())));
}

fn growing(version: &str) -> Script {
    let add = Behaviour::add_tool(ToolScript::echo("added"));
    let prompt = Change::AddPrompt(PromptScript::text("later", "ok"));
    Script::new("grows")
        .versions(&[version])
        .tool(ToolScript::new("add", add))
        .tool(ToolScript::new("add_prompt", Behaviour::change(prompt, Behaviour::text("ok"))))
        .prompt(PromptScript::text("first", "ok"))
}

#[tokio::test]
async fn a_list_that_changes_is_read_again_in_every_version() {
    for version in ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let room = Room::new().server("grows", &growing(version));
        let host = room.host().await;
        let mut events = host.events();
        // Over 2026-07-28 changes are told only to those who asked; the host asks right after it has settled.
        if version == "2026-07-28" {
            room.record(0).wait_for_method("subscriptions/listen", LONG).await.unwrap();
        }
        call(&host, "add", json!({})).await;
        changed(&host, &mut events, Kind::Tools).await;
        assert_eq!(names(&host.catalog()), ["add", "add_prompt", "added"], "{version}");
        call(&host, "add_prompt", json!({})).await;
        changed(&host, &mut events, Kind::Prompts).await;
        assert_eq!(host.catalog().prompts().len(), 2, "{version}");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_name_that_was_shown_stays_when_others_come() {
    let late = ScriptedHttp::start(Script::new("late").versions(&["2026-07-28"])).await.unwrap();
    let room = Room::new()
        .entry("early", json!({"url": late.url(), "type": "http"}))
        .server("good", &Script::new("good").tool(ToolScript::echo("search")));
    let host = room.host().await;
    assert_eq!(names(&host.catalog()), ["search"]);
    let mut events = host.events();
    late.record().wait_for_method("subscriptions/listen", LONG).await.unwrap();
    late.change(&Change::AddTool(ToolScript::echo("search")));
    changed(&host, &mut events, Kind::Tools).await;
    assert_eq!(names(&host.catalog()), ["early__search", "search"], "`search` still means what it meant");
    assert_eq!(names(&host.catalog_now()), ["search", "good__search"], "a new host would name them so");
}

#[tokio::test]
async fn an_announcement_without_a_change_changes_nothing() {
    let announce = Behaviour::change(Change::Announce(ListKind::Tools), Behaviour::text("ok"));
    let room = Room::new()
        .server("noisy", &Script::new("noisy").versions(&["2025-06-18"]).tool(ToolScript::new("noise", announce)));
    let host = room.host().await;
    let before = host.catalog();
    call(&host, "noise", json!({})).await;
    // The list is read twice: some servers announce a change before they have made it.
    let is_third = |seen: &serde_json::Value| seen["method"] == "tools/list" && seen["id"].as_u64() > Some(4);
    room.record(0).wait_for(is_third, LONG).await.unwrap();
    assert_eq!(names(&host.catalog()), names(&before));
}
