//! Servers change what they offer; the catalog follows, and names that were shown stay.

use std::time::Duration;

use serde_json::json;
use toolgate::connect::Kind;
use toolgate::{Host, HostEvent};
use toolgate_testkit::{Behaviour, Change, ListKind, PromptScript, Script, ScriptedHttp, ToolScript};

use crate::chaos_room::until;
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

#[tokio::test]
async fn many_announcements_are_few_readings() {
    let script = Script::new("noisy").versions(&["2026-07-28"]).tool(ToolScript::echo("echo"));
    let http = ScriptedHttp::start(script).await.unwrap();
    let host = Room::new().entry("noisy", json!({"url": http.url(), "type": "http"})).host().await;
    let mut events = host.events();
    http.record().wait_for_method("subscriptions/listen", LONG).await.unwrap();
    for _ in 0..200 {
        http.change(&Change::Announce(ListKind::Tools));
        // Each on its own, so that it could be followed.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    http.change(&Change::AddTool(ToolScript::echo("last")));
    changed(&host, &mut events, Kind::Tools).await;
    assert_eq!(names(&host.catalog()), ["echo", "last"]);
    let readings = http.record().count("tools/list");
    assert!(readings <= 20, "{readings} readings");
}

#[tokio::test]
async fn a_server_that_comes_back_is_news_when_it_says_something_else() {
    let server = |name: &str, tools: &[&str]| {
        let server = Script::new(name).versions(&["2025-06-18"]).instructions("use it well");
        tools.iter().fold(server, |server, tool| server.tool(ToolScript::echo(*tool)))
    };
    let tools = ["b", "a", "c"];
    let cases = [
        ("the same", server("one", &tools), vec![]),
        ("another order", server("one", &["c", "b", "a"]), vec![]),
        ("another name", server("other", &tools), vec!["about"]),
        ("other instructions", server("one", &tools).instructions("use it better"), vec!["about"]),
        ("another tool", server("one", &["b", "a", "c"]).tool(ToolScript::echo("d")), vec!["tools"]),
    ];
    for (what, other, expected) in cases {
        let http = ScriptedHttp::start(server("one", &tools)).await.unwrap();
        let address = http.address();
        let host = Room::new().entry("one", json!({"url": http.url(), "type": "http"})).host().await;
        let mut events = host.events();
        http.stop().await;
        let more = other.tools.len() > tools.len();
        let _http = ScriptedHttp::start_at(other, address).await.unwrap();
        until("that it is back", LONG, || host.line("one").unwrap().traffic().connections == 2).await;
        let shown = if more { vec!["b", "a", "c", "d"] } else { tools.to_vec() };
        assert_eq!(names(&host.catalog()), shown, "{what}");
        host.shutdown().await;
        drop(host);
        let mut news = Vec::new();
        while let Some(event) = events.next().await {
            match event {
                HostEvent::Changed { kind, .. } => news.push(kind.as_str()),
                HostEvent::About(_) => news.push("about"),
                _ => {}
            }
        }
        assert_eq!(news, expected, "{what}");
    }
}
