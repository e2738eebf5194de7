//! The older versions over HTTP: sessions, and what is said within them.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use toolgate_wire::limits::SESSIONS_MAX;
use toolgate_wire::transport::http_server::HttpOptions;

use crate::room::{Headers, Room, USUAL, request, soon};
use crate::sample::Sample;

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

#[tokio::test]
async fn a_session_begins_is_used_and_ends() {
    let room = Room::new();
    let session = room.initialize("2025-11-25").await;
    assert_eq!(session.len(), 32);
    assert!(session.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(room.http.session_count(), 1);
    let named = [("mcp-session-id", session.as_str())];

    let list = room.post(&named, LIST).await;
    assert_eq!(list.form(), "application/json");
    assert_eq!(
        list.json(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [], "unknown": 12}}),
        "nothing is added"
    );
    let ping = room.post(&named, r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#).await;
    assert_eq!(ping.json(), json!({"jsonrpc": "2.0", "id": "p", "result": {}}));

    let end = room.send("DELETE", &[USUAL, &named].concat(), "").await;
    assert_eq!(end.status(), StatusCode::NO_CONTENT);
    assert_eq!(room.http.session_count(), 0);
    assert_eq!(room.post(&named, LIST).await.status, StatusCode::NOT_FOUND);
    assert_eq!(room.send("DELETE", &[USUAL, &named].concat(), "").await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn without_a_session_nothing_is_answered() {
    let room = Room::new();
    let session = room.initialize("2025-11-25").await;
    let unknown = [("mcp-session-id", "0123")];
    let cases: [(&str, Headers<'_>, &str, u16); 9] = [
        ("POST", &[], LIST, 400),
        ("POST", &unknown, LIST, 404),
        ("POST", &[], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 400),
        ("GET", &[], "", 400),
        ("GET", &unknown, "", 404),
        ("DELETE", &[], "", 400),
        ("POST", &[("mcp-session-id", &session), ("mcp-protocol-version", "2025-06-18")], LIST, 200),
        ("POST", &[("mcp-session-id", &session), ("mcp-protocol-version", "1999-01-01")], LIST, 400),
        ("POST", &[("mcp-session-id", &session)], r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, 400),
    ];
    for (method, headers, body, expected) in cases {
        let answer = room.send(method, &[USUAL, headers].concat(), body).await;
        assert_eq!(answer.status().as_u16(), expected, "{method} {headers:?} {body}");
    }
    let wrong = room.post(&[], r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#).await;
    assert_eq!((wrong.status.as_u16(), &wrong.json()["error"]["code"]), (400, &json!(-32602)));
    assert_eq!(room.http.session_count(), 1, "a handshake that failed leaves nothing behind");
}

#[tokio::test]
async fn each_session_keeps_what_it_agreed_on() {
    let room = Room::new();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = room.initialize(version).await;
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who"}}"#;
        let who = room.post(&[("mcp-session-id", &session)], call).await.json();
        assert_eq!(who["result"], json!({"info": {"name": "c", "version": "1"}, "version": version, "http": true}));
    }
    let session = room.initialize("2030-01-01").await;
    let modern = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}"#;
    let answer = room.post(&[("mcp-session-id", &session)], modern).await;
    assert_eq!(answer.json()["error"]["code"], -32602, "not without saying which version: {}", answer.text);
}

#[tokio::test]
async fn batches_are_answered_where_they_exist() {
    let room = Room::new();
    let batch = format!(
        r#"[{LIST},{{"jsonrpc":"2.0","method":"notifications/x"}},{{"jsonrpc":"2.0","id":2,"method":"ping"}}]"#
    );
    let session = room.initialize("2025-03-26").await;
    let answer = room.post(&[("mcp-session-id", &session)], &batch).await;
    let json = answer.json();
    let mut ids: Vec<_> = json.as_array().unwrap().iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
    let only_news =
        room.post(&[("mcp-session-id", &session)], r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#).await;
    assert_eq!(only_news.status, StatusCode::ACCEPTED);
    let session = room.initialize("2025-11-25").await;
    assert_eq!(room.post(&[("mcp-session-id", &session)], &batch).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_question_travels_on_the_stream_of_its_request() {
    let room = Room::new();
    let session = room.initialize("2025-11-25").await;
    let named = [("mcp-session-id", session.as_str())];
    let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask"}}"#;
    let mut events = room.post_open(&named, call).await;
    let priming = events.next().await.unwrap();
    assert_eq!((priming.data.as_str(), priming.retry.is_some(), priming.id.is_empty()), ("", true, false));
    let question = events.message().await;
    assert_eq!((&question["method"], &question["params"]["message"]), (&json!("elicitation/create"), &json!("first?")));
    let answer =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"x": "yes"}}});
    assert_eq!(room.post(&named, &answer.to_string()).await.status, StatusCode::ACCEPTED);
    assert_eq!(events.message().await, json!({"jsonrpc": "2.0", "id": 5, "result": {"x": "yes"}}));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_cancelled_request_gets_no_answer() {
    let room = Room::new();
    let session = room.initialize("2025-11-25").await;
    let named = [("mcp-session-id", session.as_str())];
    let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"wait"}}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    let cancelling = async {
        soon(room.sample.memory.waiting.notified()).await;
        let twice = room.post(&named, call).await;
        assert_eq!(twice.status, StatusCode::BAD_REQUEST, "its id is taken while it runs: {}", twice.text);
        room.post(&named, cancel).await
    };
    let (answer, cancelled) = tokio::join!(room.post(&named, call), cancelling);
    assert_eq!((answer.status, answer.text.as_str()), (StatusCode::ACCEPTED, ""));
    assert_eq!(cancelled.status, StatusCode::ACCEPTED);
    assert_eq!(room.sample.memory.dropped.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(
        *room.sample.memory.heard.lock().unwrap(),
        ["notifications/initialized 2025-11-25", "notifications/cancelled 2025-11-25"]
    );
}

#[tokio::test]
async fn a_batch_is_answered_without_what_was_cancelled() {
    let room = Room::new();
    let session = room.initialize("2025-03-26").await;
    let named = [("mcp-session-id", session.as_str())];
    let wait = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "wait"}});
    let cancel = |id: u64| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string()
    };
    let cases = [
        (
            json!([wait(5), {"jsonrpc": "2.0", "id": 6, "method": "ping"}]),
            vec![5],
            200,
            r#"[{"jsonrpc":"2.0","id":6,"result":{}}]"#,
        ),
        (json!([wait(7), wait(8)]), vec![7, 8], 202, ""),
    ];
    for (batch, cancelled, status, text) in cases {
        let cancelling = async {
            soon(room.sample.memory.waiting.notified()).await;
            for id in &cancelled {
                room.post(&named, &cancel(*id)).await;
            }
        };
        let body = batch.to_string();
        let (answer, ()) = tokio::join!(room.post(&named, &body), cancelling);
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (status, text), "{batch}");
    }
}

#[tokio::test]
async fn ending_a_session_ends_what_runs_in_it() {
    let room = Room::new();
    let session = room.initialize("2025-11-25").await;
    let named = [("mcp-session-id", session.as_str())];
    let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"wait"}}"#;
    let ending = async {
        soon(room.sample.memory.waiting.notified()).await;
        room.send("DELETE", &[USUAL, &named].concat(), "").await
    };
    let (answer, ended) = tokio::join!(room.post(&named, call), ending);
    assert_eq!((answer.status, ended.status()), (StatusCode::ACCEPTED, StatusCode::NO_CONTENT));
    soon(async {
        while room.sample.memory.dropped.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_client_that_loses_its_connection_does_not_lose_its_request() {
    let room = Room::new();
    let session = room.initialize("2025-06-18").await;
    let headers = [USUAL, &[("mcp-session-id", session.as_str())]].concat();
    let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"wait"}}"#;
    {
        let answering = room.http.handle(request("POST", &headers, call));
        tokio::pin!(answering);
        tokio::select! {
            answer = &mut answering => panic!("it should wait: {answer:?}"),
            () = soon(room.sample.memory.waiting.notified()) => {}
        }
    }
    tokio::task::yield_now().await;
    assert_eq!(room.sample.memory.dropped.load(std::sync::atomic::Ordering::SeqCst), 0);
    room.sample.memory.gate.notify_one();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_uses_ends() {
    let room = Room::of(Sample::new(), HttpOptions::new().session_idle(Duration::from_secs(60)));
    let used = room.initialize("2025-11-25").await;
    let unused = room.initialize("2025-11-25").await;
    let listening = room.initialize("2025-11-25").await;
    let stream = room.send("GET", &[USUAL, &[("mcp-session-id", listening.as_str())]].concat(), "").await;
    for _ in 0..6 {
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(room.post(&[("mcp-session-id", &used)], LIST).await.status, StatusCode::OK);
    }
    assert_eq!(room.post(&[("mcp-session-id", &unused)], LIST).await.status, StatusCode::NOT_FOUND);
    assert_eq!(room.http.session_count(), 2, "one is in use, one is listened to");
    drop(stream);
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(room.http.session_count(), 0);
}

#[tokio::test]
async fn there_are_only_so_many_sessions() {
    let room = Room::new();
    let first = room.initialize("2025-11-25").await;
    let second = room.initialize("2025-11-25").await;
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    for _ in 2..SESSIONS_MAX {
        assert_eq!(room.post(&[], body).await.status, StatusCode::OK);
    }
    assert_eq!(
        room.post(&[("mcp-session-id", &first)], LIST).await.status,
        StatusCode::OK,
        "now the second is idle longest"
    );
    assert_eq!(room.post(&[], body).await.status, StatusCode::OK);
    assert_eq!(room.http.session_count(), SESSIONS_MAX);
    assert_eq!(room.post(&[("mcp-session-id", &first)], LIST).await.status, StatusCode::OK);
    assert_eq!(room.post(&[("mcp-session-id", &second)], LIST).await.status, StatusCode::NOT_FOUND);
}
