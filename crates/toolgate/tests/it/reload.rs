//! Settings that change while a host runs: only what changed is started or stopped, and nothing that runs is lost.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate::{HostEvent, HostEvents, LiveSettings, Reconciled, ServerName, ServerStatus, SetupOptions};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::chaos_room::until;
use crate::support::{LONG, Room, call, names, text};

fn one_tool(name: &str) -> Script {
    Script::new(name).tool(ToolScript::echo(name))
}

fn servers(names: &[&str]) -> Vec<ServerName> {
    names.iter().map(|name| ServerName::new(name).unwrap()).collect()
}

async fn next(events: &mut HostEvents, wanted: impl Fn(&HostEvent) -> bool) -> HostEvent {
    let waiting = async {
        loop {
            let event = events.next().await.expect("the host lives");
            if wanted(&event) {
                return event;
            }
        }
    };
    tokio::time::timeout(LONG, waiting).await.expect("the event did not come")
}

#[tokio::test]
async fn only_what_changed_is_started_or_stopped() {
    let room =
        Room::new().server("kept", &one_tool("a")).server("changed", &one_tool("b")).server("gone", &one_tool("c"));
    let host = room.host().await;
    assert_eq!(names(&host.catalog()), ["a", "b", "c"]);
    let room = room.with("changed", "timeout", json!(5000)).without("gone").server("new", &one_tool("d"));
    let changed = host.reconcile(room.servers());
    let expected =
        Reconciled { added: servers(&["new"]), restarted: servers(&["changed"]), removed: servers(&["gone"]) };
    assert_eq!(changed, expected);
    tokio::time::timeout(LONG, host.all_settled()).await.unwrap();
    assert_eq!(names(&host.catalog()), ["a", "b", "d"]);
    let starts = |nth: usize| room.record(nth).count("initialize");
    assert_eq!((starts(0), starts(1)), (1, 2), "one went on, the other was started again");
    assert_eq!(host.reconcile(room.servers()), Reconciled::default());
    host.shutdown().await;
}

#[tokio::test]
async fn a_call_that_runs_ends_where_it_began() {
    let slow = Behaviour::delay(1500, Behaviour::text("done"));
    let room = Room::new().server("slow", &Script::new("slow").tool(ToolScript::new("wait", slow)));
    let host = room.host().await;
    let calling = call(&host, "wait", json!({}));
    let reloading = async {
        room.record(0).wait_for_method("tools/call", LONG).await.unwrap();
        let other = room.with("slow", "timeout", json!(60_000));
        assert_eq!(host.reconcile(other.servers()).restarted, servers(&["slow"]));
        other
    };
    let (outcome, _room) = tokio::join!(calling, reloading);
    assert_eq!(text(&outcome), "done");
    tokio::time::timeout(LONG, host.all_settled()).await.unwrap();
    assert_eq!(text(&call(&host, "wait", json!({})).await), "done", "the new one answers too");
    let traffic = host.line("slow").unwrap().traffic();
    assert_eq!((traffic.calls, traffic.connections), (2, 2), "what went over the one before counts");
    host.shutdown().await;
}

#[tokio::test]
async fn a_server_that_is_still_being_started_can_be_taken_away() {
    let room = Room::new().entry("hangs", json!({"command": "sleep", "args": ["1000"]}));
    let host = room.builder().build();
    host.start(room.servers());
    tokio::time::sleep(Duration::from_millis(50)).await;
    let nothing = room.servers().only(|_| false);
    assert_eq!(host.reconcile(nothing).removed, servers(&["hangs"]));
    tokio::time::timeout(LONG, host.all_settled()).await.unwrap();
    assert_eq!(host.servers().len(), 0);
    host.shutdown().await;
}

#[tokio::test]
async fn files_are_followed_and_a_broken_one_changes_nothing() {
    let room = Room::new().server("first", &one_tool("a"));
    let host = room.host().await;
    let mut events = host.events();
    let live = LiveSettings::read(room.env(), SetupOptions::default()).unwrap();
    let follow = live.follow(&host);
    let story = async {
        let file = ".toolgate/settings.json";
        room.world.write_in_home(file, "{\"mcpServers\": {\"first\": ").unwrap();
        let refused = next(&mut events, |event| matches!(event, HostEvent::SettingsRefused(_))).await;
        let HostEvent::SettingsRefused(error) = refused else { unreachable!() };
        assert!(error.to_string().contains("settings.json:1:"), "{error}");
        assert_eq!(names(&host.catalog()), ["a"], "what was in force stays so");

        let room = room.server("second", &one_tool("b"));
        room.write_settings();
        let event = next(&mut events, |event| matches!(event, HostEvent::Reconciled(_))).await;
        let HostEvent::Reconciled(changed) = event else { unreachable!() };
        // The built-in server was not part of the room's host.
        assert_eq!(changed.added, servers(&["second", "workspace"]));
        tokio::time::timeout(LONG, host.all_settled()).await.unwrap();
        assert_eq!(room.record(0).count("initialize"), 1, "the first one went on");
        assert!(names(&host.catalog()).contains(&"b"));
    };
    tokio::select! {
        () = follow => panic!("it follows for ever"),
        () = story => {}
    }
    host.shutdown().await;
}

#[tokio::test]
async fn folders_that_are_included_later_are_told_and_reached() {
    for (version, is_told) in [("2025-11-25", 1), ("2026-07-28", 0)] {
        let script = Script::new("asks").tool(ToolScript::new("roots", Behaviour::roots())).versions(&[version]);
        let room = Room::new().server_with("asks", &script, &json!({"trust": true}));
        room.write_settings();
        std::fs::create_dir(room.world.root().join("inc")).unwrap();
        std::fs::write(room.world.root().join("inc/i.txt"), "in inc").unwrap();
        let inc = room.world.root().canonicalize().unwrap().join("inc");
        let read = json!({"path": inc.join("i.txt")});
        let mut live = LiveSettings::read(room.env(), SetupOptions::default()).unwrap();
        let host = live.setup().host().unwrap().build();
        host.connect(live.setup().admitted().unwrap()).await;
        assert!(!text(&call(&host, "roots", json!({})).await).contains("/inc"), "{version}");
        assert!(text(&call(&host, "read_file", read.clone()).await).contains("leads out"), "{version}");

        let settings = room.world.home().join(".toolgate/settings.json");
        let mut written: Value = serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
        written["context"] = json!({"includeDirectories": [inc]});
        std::fs::write(&settings, written.to_string()).unwrap();
        let changed = live.reload(&host).await.unwrap();
        assert_eq!(changed.restarted, servers(&["workspace"]), "{version}: the others go on");
        tokio::time::timeout(LONG, host.all_settled()).await.unwrap();
        assert!(text(&call(&host, "roots", json!({})).await).contains("/inc\""), "{version}");
        assert_eq!(text(&call(&host, "read_file", read).await), "in inc", "{version}");
        assert_eq!(room.record(0).count("notifications/roots/list_changed"), is_told, "{version}");
        live.reload(&host).await.unwrap();
        assert_eq!(room.record(0).count("notifications/roots/list_changed"), is_told, "{version}: said once");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn every_end_of_a_server_is_told() {
    let hangs = json!({"command": "sleep", "args": ["1000"]});
    let room = Room::new().server("gone", &one_tool("a")).entry("hangs", hangs);
    let host = room.builder().build();
    let mut events = host.events();
    host.start(room.servers());
    let expected = [ServerStatus::Connected, ServerStatus::Connecting];
    let stand = || host.servers().iter().map(|view| view.status).collect::<Vec<_>>();
    until("both servers on their way", LONG, || stand() == expected).await;
    let is_told = |name: &'static str, wanted: ServerStatus| move |event: &HostEvent| matches!(event, HostEvent::Status { server, status, .. } if **server == *name && *status == wanted);
    let room = room.without("gone");
    assert_eq!(host.reconcile(room.servers()).removed, servers(&["gone"]));
    next(&mut events, is_told("gone", ServerStatus::Disconnecting)).await;
    next(&mut events, is_told("gone", ServerStatus::Disconnected)).await;
    host.shutdown().await;
    next(&mut events, is_told("hangs", ServerStatus::Disconnected)).await;
}
