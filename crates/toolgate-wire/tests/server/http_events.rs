//! Streams of events in sessions: the one without a request, streams taken up again, streams that the server ends early.

use std::sync::atomic::Ordering;

use http::StatusCode;
use serde_json::json;
use toolgate_wire::limits::QUEUE_FRAMES_MAX;

use crate::room::{Events, Room, USUAL, soon};

async fn get(room: &Room, session: &str, last: Option<&str>) -> Events {
    let mut headers = [USUAL, &[("mcp-session-id", session)]].concat();
    headers.extend(last.map(|last| ("last-event-id", last)));
    Events::of(room.send("GET", &headers, "").await)
}

#[tokio::test]
async fn news_come_on_the_stream_of_the_session() {
    let room = Room::new();
    let session = room.initialize("2025-11-25").await;
    let mut stream = get(&room, &session, None).await;
    assert_eq!(stream.next().await.unwrap().data, "", "so that the client knows where it began");
    room.server.changes().tools_changed();
    assert_eq!(stream.message().await, json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    room.server.changes().prompts_changed();
    let event = stream.next().await.unwrap();
    assert_eq!(event.json()["method"], "notifications/prompts/list_changed");

    let mut newer = get(&room, &session, None).await;
    assert_eq!(stream.next().await, None, "the newer stream takes over");
    newer.next().await.unwrap();
    room.server.changes().resources_changed();
    assert_eq!(
        newer.message().await["method"],
        "notifications/resources/list_changed",
        "without what the older one had read"
    );

    drop(newer);
    room.server.changes().tools_changed();
    let mut resumed = get(&room, &session, Some(&event.id)).await;
    resumed.next().await.unwrap();
    assert_eq!(resumed.message().await["method"], "notifications/resources/list_changed", "what came after that event");
    assert_eq!(resumed.message().await["method"], "notifications/tools/list_changed", "and what nobody has read yet");
}

#[tokio::test]
async fn older_clients_see_no_empty_events() {
    let room = Room::new();
    let session = room.initialize("2025-06-18").await;
    let mut stream = get(&room, &session, None).await;
    room.server.changes().tools_changed();
    let event = stream.next().await.unwrap();
    assert_eq!(
        (event.event.as_str(), event.json()["method"].as_str()),
        ("message", Some("notifications/tools/list_changed"))
    );
}

#[tokio::test]
async fn a_broken_stream_is_taken_up_where_it_broke() {
    let room = Room::new();
    let session = room.initialize("2025-11-25").await;
    let named = [("mcp-session-id", session.as_str())];
    let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"progress_then_wait","_meta":{"progressToken":"t"}}}"#;
    let mut events = room.post_open(&named, call).await;
    let priming = events.next().await.unwrap();
    let progress = events.next().await.unwrap();
    assert_eq!(progress.json()["params"], json!({"progressToken": "t", "progress": 1}));
    drop(events);
    soon(room.sample.memory.waiting.notified()).await;
    room.sample.memory.gate.notify_one();

    let mut resumed = get(&room, &session, Some(&progress.id)).await;
    assert_eq!(resumed.next().await.unwrap().id, progress.id, "its place is told again");
    let answer = resumed.next().await.unwrap();
    assert_eq!(answer.json(), json!({"jsonrpc": "2.0", "id": 5, "result": {"waited": true}}));
    assert_eq!(resumed.next().await, None);

    let mut whole = get(&room, &session, Some(&priming.id)).await;
    let mut ids = Vec::new();
    while let Some(event) = whole.next().await {
        ids.push(event.id);
    }
    assert_eq!(ids, [priming.id, progress.id, answer.id], "a finished stream is kept for a while");
    let lost = room.send("GET", &[USUAL, &named, &[("last-event-id", "99-1")]].concat(), "").await;
    assert_eq!(lost.status(), StatusCode::BAD_REQUEST, "what is not known cannot be resumed");
}

#[tokio::test]
async fn streams_that_are_kept_are_bounded() {
    let room = Room::new();
    let session = room.initialize("2025-11-25").await;
    let named = [("mcp-session-id", session.as_str())];
    let mut first = String::new();
    for id in 0..120 {
        let params = json!({"name": "progress", "_meta": {"progressToken": 1}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
        let mut events = room.post_open(&named, &call).await;
        let priming = events.next().await.unwrap();
        if id == 0 {
            first = priming.id;
        }
        while events.next().await.is_some() {}
    }
    let lost = room.send("GET", &[USUAL, &named, &[("last-event-id", first.as_str())]].concat(), "").await;
    assert_eq!(lost.status(), StatusCode::BAD_REQUEST, "the oldest has been forgotten");
}

#[tokio::test]
async fn a_handler_may_end_its_stream_early() {
    let room = Room::new();
    let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"part"}}"#;
    let session = room.initialize("2025-11-25").await;
    let named = [("mcp-session-id", session.as_str())];
    let mut events = room.post_open(&named, call).await;
    let priming = events.next().await.unwrap();
    assert!(priming.retry.is_some(), "says when to come back");
    assert_eq!(events.next().await, None, "ended before the answer");
    let mut waiting = get(&room, &session, Some(&priming.id)).await;
    assert_eq!(waiting.next().await.unwrap().id, priming.id);
    room.sample.memory.gate.notify_one();
    assert_eq!(waiting.message().await["result"], json!({"parted": true}));

    let session = room.initialize("2025-06-18").await;
    room.sample.memory.gate.notify_one();
    let answer = room.post(&[("mcp-session-id", &session)], call).await;
    assert_eq!(answer.json()["result"], json!({"parted": false}), "older clients would not come back");
}

#[tokio::test]
async fn a_slow_reader_makes_the_sender_wait() {
    let room = Room::new();
    let session = room.initialize("2025-11-25").await;
    let call =
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"flood","_meta":{"progressToken":1}}}"#;
    let mut events = room.post_open(&[("mcp-session-id", &session)], call).await;
    for _ in 0..5000 {
        tokio::task::yield_now().await;
    }
    let sent = room.sample.memory.sent.load(Ordering::SeqCst);
    assert!((1..=QUEUE_FRAMES_MAX).contains(&sent), "{sent} messages went out to one who reads none");
    events.next().await.unwrap();
    for step in 1..=2000 {
        assert_eq!(events.message().await["params"]["progress"], step, "in order, and none is lost");
    }
    assert_eq!(events.message().await["result"]["done"], true);
}
