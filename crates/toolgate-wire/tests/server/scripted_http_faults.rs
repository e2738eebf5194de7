//! Misbehaving clients over HTTP: each is answered clearly or dropped, while somebody else is served on another connection.

use std::sync::atomic::Ordering;

use serde_json::json;
use toolgate_testkit::{ClientScript, End, Step};

use crate::room::Room;
use crate::scripted_clients::{eventually, listen, named, nothing_is_left, over_http};

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

fn client(version: &str) -> ClientScript {
    ClientScript::new(version).handshake()
}

fn list(script: ClientScript) -> ClientScript {
    script.request(1, "tools/list", json!({}))
}

fn post(body: &str) -> Step {
    Step::Http { verb: "POST".to_owned(), body: body.to_owned() }
}

/// What is done after the handshake, and the status it gets; 0 for none.
fn cases(version: &'static str) -> Vec<(&'static str, ClientScript, u16)> {
    let message = client(version).message(&json!(1), "tools/list", &json!({}));
    let stray = json!({"jsonrpc": "2.0", "id": 77, "result": {}}).to_string();
    let batch = Step::Batch(vec![message.clone()]);
    let head = client(version);
    vec![
        ("no HTTP at all", client(version).line("how do you do\r\n\r"), 400),
        ("no JSON", client(version).step(post("how do you do")), 400),
        ("no message", client(version).step(post("{}")), 400),
        ("invalid UTF-8", client(version).step(Step::InvalidUtf8), 400),
        ("a body over the limit", client(version).step(Step::LongLine { bytes: 17 * 1024 * 1024 }), 413),
        ("a batch", client(version).step(batch), 400),
        ("a slow drip", client(version).step(Step::Drip { bytes: 40, every_ms: 1, message }), 200),
        ("a stray answer", client(version).step(post(&stray)), if version == OLD { 202 } else { 400 }),
        ("another host", list(head.clone().header("host", "evil.example")), 403),
        ("another origin", list(head.clone().header("origin", "https://evil.example")), 403),
        ("no JSON wanted", list(head.clone().header("accept", "text/html")), 406),
        ("a form", list(head.clone().header("content-type", "text/plain")), 415),
        ("an unknown version", list(head.clone().header("mcp-protocol-version", "1999-01-01")), 400),
        ("an unknown verb", head.step(Step::Http { verb: "PUT".to_owned(), body: String::new() }), 405),
    ]
}

#[tokio::test]
async fn misbehaviour_over_http_is_answered_and_harms_nobody() {
    let room = Room::new();
    let serving = listen(&room).await;
    let bystander = ClientScript::new(NEW).handshake().request(1, "tools/call", named("progress"));
    let own = [
        ("no session", list(client(OLD).without_header("mcp-session-id")), 400),
        ("an unknown session", list(client(OLD).header("mcp-session-id", "0123")), 404),
        ("no Mcp-Method", list(client(NEW).without_header("mcp-method")), 400),
        ("another Mcp-Method", list(client(NEW).header("mcp-method", "tools/call")), 400),
        ("another Mcp-Name", client(NEW).header("mcp-name", "other").request(1, "tools/call", named("echo")), 400),
    ];
    for (name, script, expected) in cases(OLD).into_iter().chain(cases(NEW)).chain(own) {
        let version = script.version.clone();
        let script = script.step(Step::AwaitEnd);
        let (seen, other) = tokio::join!(over_http(&serving, &script), over_http(&serving, &bystander));
        assert_ne!(seen.end, End::TimedOut, "{name} {version}: {seen:#?}");
        let last = seen.exchanges.last().unwrap();
        // Who is still sending when it is refused may find the connection reset before the refusal.
        let was_dropped = expected == 413 && matches!(last.end, End::Broken(_));
        assert!(last.status == Some(expected) || was_dropped, "{name} {version}: {seen:#?}");
        assert!(other.result_of(1).is_some_and(|result| result["done"] == true), "{name} {version}: {other:#?}");
    }
    nothing_is_left(room, serving).await;
}

#[tokio::test]
async fn requests_that_break_off_leave_nothing_behind() {
    let room = Room::new();
    let serving = listen(&room).await;
    for version in [OLD, NEW] {
        let call = client(version).message(&json!(1), "tools/call", &named("wait"));
        for bytes in [0, 1, 16, 60, 150, 260, 300] {
            let cut = client(version).step(Step::Cut { bytes, message: call.clone() });
            let after = list(ClientScript::new(version).handshake());
            let seen = over_http(&serving, &cut).await;
            let last = seen.exchanges.last().unwrap();
            assert_eq!((last.status, &last.end), (None, &End::ByClient), "{bytes} {version}");
            assert!(over_http(&serving, &after).await.result_of(1).is_some(), "{bytes} {version}");
        }
    }
    assert_eq!(room.sample.memory.dropped.load(Ordering::SeqCst), 0, "none of them was ever begun");
    let reset = |version| {
        let begun = Step::AwaitMethod("notifications/progress".to_owned());
        client(version).start(1, "tools/call", named("progress_then_wait")).step(begun).step(Step::Reset)
    };
    let seen = over_http(&serving, &reset(NEW).step(Step::AwaitEnd)).await;
    assert_eq!(seen.exchanges.last().unwrap().end, End::ByClient, "{seen:#?}");
    eventually(|| room.sample.memory.dropped.load(Ordering::SeqCst) == 1).await;
    // An older client may come back for its answer: the request ends with the session.
    over_http(&serving, &reset(OLD).step(Step::AwaitEnd)).await;
    assert_eq!(room.sample.memory.dropped.load(Ordering::SeqCst), 1);
    room.http.close_sessions();
    eventually(|| room.sample.memory.dropped.load(Ordering::SeqCst) == 2).await;
    nothing_is_left(room, serving).await;
}
