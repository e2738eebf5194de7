//! When servers are started: at once, when they are used, or when nothing is kept of them.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use toolgate::discovery::Availability;
use toolgate::{HostEvent, Memory, ServerStatus};
use toolgate_testkit::{Script, ToolScript, What, When};

use crate::chaos_room::until;
use crate::lifecycle_room::{connected, in_time, learn, next, remembering, starts};
use crate::support::{LONG, Room, call, names, text};

fn echo() -> Script {
    Script::new("echo").tool(ToolScript::echo("echo"))
}

fn room(start: &str) -> Room {
    Room::new().server_with("one", &echo(), &json!({"start": start}))
}

#[tokio::test]
async fn how_many_processes_there_are_when_nobody_uses_anything() {
    // How a server is to be started, whether something is kept of it, how many processes that makes, and what is shown.
    let cases = [
        ("eager", false, 1, "echo"),
        ("eager", true, 1, "echo"),
        ("auto", false, 1, "echo"),
        ("auto", true, 0, "echo"),
        ("lazy", false, 0, ""),
        ("lazy", true, 0, "echo"),
    ];
    for (start, is_kept, expected, shown) in cases {
        let room = room(start);
        if is_kept {
            learn(&room).await;
        }
        let before = starts(&room.record(0));
        let host = connected(&room, remembering(&room, Memory::Used)).await;
        assert_eq!(names(&host.catalog()).join(" "), shown, "{start} {is_kept}");
        if expected > 0 {
            in_time(host.line("one").unwrap().live()).await.unwrap();
        }
        assert_eq!(starts(&room.record(0)) - before, expected, "{start} {is_kept}");
        let availability = host.line("one").unwrap().availability();
        assert_eq!(matches!(availability, Availability::Resting), expected == 0, "{start} {is_kept}: {availability:?}");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_rests_is_started_by_whoever_wants_it() {
    for wakes in ["refresh", "live", "ping"] {
        let room = room("lazy");
        let host = connected(&room, room.builder()).await;
        assert!(host.catalog().tools().is_empty() && host.servers()[0].is_settled);
        assert_eq!(host.servers()[0].status, ServerStatus::Disconnected);
        let mut events = host.events();
        match wakes {
            "refresh" => host.refresh(),
            "live" => drop(in_time(host.line("one").unwrap().live()).await.unwrap()),
            _ => drop(in_time(host.ping("one")).await.unwrap()),
        }
        next(&mut events, |event| matches!(event, HostEvent::Settled(_))).await;
        assert_eq!(text(&call(&host, "echo", json!({"message": wakes})).await), wakes);
        assert_eq!(starts(&room.record(0)), 1);
        host.shutdown().await;
    }
}

#[tokio::test]
async fn those_who_ask_at_once_share_one_attempt() {
    let missing = json!({"command": "./not-yet-there", "start": "lazy"});
    let room = room("lazy").entry("missing", missing);
    let host = connected(&room, room.builder()).await;
    let mut events = host.events();
    let line = host.line("one").unwrap();
    let all = in_time(join_all((0..20).map(|_| line.live()))).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(starts(&room.record(0)), 1);
    assert_eq!(line.traffic().connections, 1);
    let line = host.line("missing").unwrap();
    let all = in_time(join_all((0..20).map(|_| line.live()))).await;
    assert!(all.iter().all(Result::is_err));
    host.shutdown().await;
    drop(host);
    let mut attempts = 0;
    while let Some(event) = events.next().await {
        let is_it = |server: &str, status| server == "missing" && status == ServerStatus::Connecting;
        attempts += usize::from(matches!(event, HostEvent::Status { server, status, .. } if is_it(&server, status)));
    }
    assert_eq!(attempts, 1);
}

#[tokio::test]
async fn whoever_asks_while_it_starts_does_not_start_it_again_later() {
    let script = echo()
        .tool(ToolScript::text("end", "bye"))
        .fault(When::Start.in_life(1), What::Pause { ms: 300 })
        .fault(When::Tool("end").after().in_life(1), What::Exit(0));
    let room = Room::new().server_with("one", &script, &json!({"start": "lazy"}));
    let host = connected(&room, room.builder()).await;
    let line = host.line("one").unwrap();
    host.refresh();
    until("the start", LONG, || matches!(line.availability(), Availability::Connecting)).await;
    host.refresh();
    in_time(line.live()).await.unwrap();
    let mut events = host.events();
    call(&host, "end", json!({})).await;
    next(&mut events, |event| matches!(event, HostEvent::Status { status: ServerStatus::Disconnected, .. })).await;
    let is_started = |event: &HostEvent| matches!(event, HostEvent::Status { .. });
    let again = tokio::time::timeout(Duration::from_millis(300), next(&mut events, is_started)).await;
    assert!(again.is_err(), "{again:?}");
    assert_eq!((starts(&room.record(0)), host.servers()[0].next_attempt), (1, None), "it rests until it is used");
    assert_eq!(text(&call(&host, "echo", json!({"message": "used"})).await), "used");
    assert_eq!(starts(&room.record(0)), 2);
}
