//! Clients as data against the server role: every version on a byte stream and over HTTP, well behaved and not.
//! Whatever one client does, the others are served, nothing panics and nothing is left running.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use toolgate_testkit::script::VERSIONS;
use toolgate_testkit::{ClientScript, End, Step, Transcript};
use toolgate_wire::Error;
use toolgate_wire::transport::http_server::{Serving, serve};

use crate::room::{Room, soon};

/// Plays a script on a pipe of its own; the server has noticed its end when this returns.
async fn over_stream(room: &Room, script: &ClientScript) -> Transcript {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(theirs);
    let server = room.server.clone();
    let served = tokio::spawn(async move { server.serve_stream(read, write).await });
    let (read, write) = tokio::io::split(ours);
    let seen = script.over(read, write).await;
    soon(served).await.expect("serving a stream does not panic");
    seen
}

pub(crate) async fn listen(room: &Room) -> Serving {
    serve(TcpListener::bind("127.0.0.1:0").await.unwrap(), room.http.clone())
}

pub(crate) async fn over_http(serving: &Serving, script: &ClientScript) -> Transcript {
    script.over_http(serving.address().unwrap(), "/mcp").await
}

/// Ends everything and waits until no task is left.
pub(crate) async fn nothing_is_left(room: Room, serving: Serving) {
    room.http.close_sessions();
    room.server.end_subscriptions();
    soon(serving.stop()).await;
    drop(room);
    eventually(|| tokio::runtime::Handle::current().metrics().num_alive_tasks() == 0).await;
}

pub(crate) async fn eventually(holds: impl Fn() -> bool) {
    soon(async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

pub(crate) fn named(tool: &str) -> Value {
    json!({"name": tool, "arguments": {"a": 1}, "_meta": {"progressToken": tool}})
}

/// What a good client does, and what it must see.
type Case = (&'static str, fn(ClientScript) -> ClientScript, fn(&str, &Transcript) -> bool);

const CASES: [Case; 7] = [
    (
        "handshake",
        |script| script,
        |version, seen| {
            let result = seen.result_of("handshake");
            let agreed = result.and_then(|result| result.get("protocolVersion"));
            let offered = result.and_then(|result| result.get("supportedVersions")?.as_array().cloned());
            agreed.is_some_and(|agreed| agreed == version) || offered.is_some_and(|all| all.contains(&json!(version)))
        },
    ),
    (
        "list",
        |script| script.request(1, "tools/list", json!({})),
        |_, seen| seen.result_of(1).is_some_and(|result| result["tools"] == json!([])),
    ),
    (
        "call",
        |script| script.request("c", "tools/call", named("echo")),
        |_, seen| seen.result_of("c").is_some_and(|result| result["echo"] == json!({"a": 1})),
    ),
    (
        "progress",
        |script| script.request(1, "tools/call", named("progress")),
        |_, seen| {
            let place = |wanted: fn(&Value) -> bool| seen.messages.iter().rposition(wanted);
            let last_progress = place(|message| message["method"] == "notifications/progress");
            let result = place(|message| message["result"]["done"] == true);
            seen.notifications("notifications/progress").len() == 3 && last_progress < result
        },
    ),
    (
        "cancel",
        |script| {
            script
                .start(1, "tools/call", named("progress_then_wait"))
                .step(Step::AwaitMethod("notifications/progress".to_owned()))
                .step(Step::Cancel(json!(1)))
                .request(2, "tools/list", json!({}))
        },
        |_, seen| seen.answer_to(1).is_none() && seen.result_of(2).is_some(),
    ),
    (
        "elicitation",
        |script| {
            let answer = json!({"action": "accept", "content": {"x": "yes"}});
            script.answer("elicitation/create", answer).request(1, "tools/call", named("ask_in_turn"))
        },
        |version, seen| match seen.result_of(1) {
            Some(result) => version >= "2025-06-18" && result["x"] == json!(["yes", "yes"]),
            None => version < "2025-06-18" && seen.code_of(1) == Some(-32603),
        },
    ),
    ("unknown method", |script| script.request(1, "no/such", json!({})), |_, seen| seen.code_of(1) == Some(-32601)),
];

#[tokio::test]
async fn every_version_is_served_on_every_transport() {
    let room = Room::new();
    let serving = listen(&room).await;
    let mut cancelled = 0;
    for version in VERSIONS {
        for (name, steps, holds) in CASES {
            let script = steps(ClientScript::new(version).handshake());
            let streamed = over_stream(&room, &script).await;
            assert!(streamed.end != End::TimedOut && holds(version, &streamed), "{name} {version}: {streamed:#?}");
            let posted = over_http(&serving, &script).await;
            assert!(posted.end != End::TimedOut && holds(version, &posted), "{name} {version}, HTTP: {posted:#?}");
            cancelled += if name == "cancel" { 2 } else { 0 };
            eventually(|| room.sample.memory.dropped.load(Ordering::SeqCst) == cancelled).await;
        }
    }
    nothing_is_left(room, serving).await;
}

/// What the server makes of a misbehaving client.
#[derive(Debug)]
enum Then {
    /// It says so, and goes on serving this very client. The code of the error; 0 for nothing to say.
    GoesOn(i64),
    /// The client has gone.
    Gone,
}

fn client() -> ClientScript {
    ClientScript::new("2025-11-25").handshake()
}

fn message(id: &Value, method: &str) -> Value {
    client().message(id, method, &json!({}))
}

fn stray() -> Value {
    json!({"jsonrpc": "2.0", "id": 77, "result": {}})
}

fn misbehaviour_on_a_stream() -> Vec<(&'static str, ClientScript, Then)> {
    let list = message(&json!("slow"), "tools/list");
    let mut cases = vec![
        ("garbage", client().line("how do you do"), Then::GoesOn(-32700)),
        ("an empty line", client().line(""), Then::GoesOn(0)),
        ("no request", client().line("{\"jsonrpc\":\"2.0\"}"), Then::GoesOn(-32600)),
        ("invalid UTF-8", client().step(Step::InvalidUtf8), Then::GoesOn(-32700)),
        ("100 MB without a newline", client().step(Step::LongLine { bytes: 100_000_000 }), Then::GoesOn(-32600)),
        ("a batch", client().step(Step::Batch(vec![list.clone()])), Then::GoesOn(0)),
        ("a stray answer", client().line(&stray().to_string()), Then::GoesOn(0)),
        ("half a line, then nothing", client().step(Step::Raw(b"{\"jsonrpc\"".to_vec())).step(Step::Close), Then::Gone),
        ("a reset", client().start(1, "tools/call", named("wait")).step(Step::Reset), Then::Gone),
        ("a slow drip", client().step(Step::Drip { bytes: 7, every_ms: 1, message: list.clone() }), Then::GoesOn(0)),
    ];
    let length = list.to_string().len();
    for bytes in [0, 1, 10, length / 2, length - 1, length] {
        cases.push(("a cut", client().step(Step::Cut { bytes, message: list.clone() }), Then::Gone));
    }
    cases
}

#[tokio::test]
async fn misbehaviour_on_a_stream_harms_nobody() {
    let room = Room::new();
    let serving = listen(&room).await;
    for (name, script, then) in misbehaviour_on_a_stream() {
        let script = script.request(9, "tools/list", json!({}));
        let seen = over_stream(&room, &script).await;
        assert_ne!(seen.end, End::TimedOut, "{name}: {seen:#?}");
        match then {
            Then::GoesOn(code) => {
                let expected: Vec<i64> = Some(code).filter(|code| *code != 0).into_iter().collect();
                assert_eq!(seen.errors_without_id(), expected, "{name}: {seen:#?}");
                assert!(seen.result_of(9).is_some(), "{name}: {seen:#?}");
                // A stream is lenient about batches: every version gets its answers.
                let has_asked = matches!(name, "a batch" | "a slow drip");
                assert_eq!(seen.result_of("slow").is_some(), has_asked, "{name}: {seen:#?}");
            }
            Then::Gone => assert!(seen.answer_to(9).is_none() && seen.end == End::ByClient, "{name}: {seen:#?}"),
        }
    }
    nothing_is_left(room, serving).await;
}

#[tokio::test]
async fn an_id_in_use_is_refused_to_others() {
    let room = Room::new();
    let serving = listen(&room).await;
    for version in VERSIONS {
        let script = ClientScript::new(version)
            .handshake()
            .start(1, "tools/call", named("progress_then_wait"))
            .step(Step::AwaitMethod("notifications/progress".to_owned()))
            .request(1, "tools/call", named("echo"))
            .request(2, "tools/list", json!({}));
        let streamed = over_stream(&room, &script).await;
        assert_eq!(streamed.code_of(1), Some(-32600), "{version}: {streamed:#?}");
        assert!(streamed.result_of(2).is_some(), "{version}: {streamed:#?}");
        let posted = over_http(&serving, &script).await;
        // Without sessions each POST stands for itself, and so do its ids.
        let echoed = posted.result_of(1).is_some_and(|result| result["echo"] == json!({"a": 1}));
        let refused = posted.errors_without_id().contains(&-32600) || posted.code_of(1) == Some(-32600);
        assert!(if script.is_modern() { echoed } else { refused }, "{version}: {posted:#?}");
        assert!(posted.result_of(2).is_some(), "{version}: {posted:#?}");
    }
    nothing_is_left(room, serving).await;
}

#[tokio::test]
async fn a_client_that_stops_reading_loses_nothing_and_holds_up_nobody() {
    let room = Room::new();
    let serving = listen(&room).await;
    for version in ["2025-11-25", "2026-07-28"] {
        let flooded = ClientScript::new(version).handshake().step(Step::StopReading { ms: 100 }).request(
            1,
            "tools/call",
            named("flood"),
        );
        let deaf = ClientScript::new(version)
            .handshake()
            .step(Step::StopReading { ms: 600_000 })
            .start(1, "tools/call", named("flood"))
            .step(Step::Wait { ms: 50 })
            .step(Step::Close);
        let (streamed, posted, _, _) = tokio::join!(
            over_stream(&room, &flooded),
            over_http(&serving, &flooded),
            over_stream(&room, &deaf),
            over_http(&serving, &deaf),
        );
        for seen in [streamed, posted] {
            assert_eq!(seen.notifications("notifications/progress").len(), 2000, "{version} {:?}", seen.end);
            assert!(seen.result_of(1).is_some_and(|result| result["done"] == true), "{version}");
        }
    }
    nothing_is_left(room, serving).await;
}

#[tokio::test]
async fn a_flood_of_garbage_is_answered_as_far_as_somebody_reads() {
    const LINES: usize = 50_000;
    let room = Room::new();
    let serving = listen(&room).await;
    let garbage = Step::Raw("x\n".repeat(LINES).into_bytes());
    let script = client().step(Step::StopReading { ms: 100 }).step(garbage).request(9, "tools/list", json!({}));
    let seen = over_stream(&room, &script).await;
    let answered = seen.errors_without_id();
    assert!(!answered.is_empty() && answered.len() <= LINES && answered.iter().all(|code| *code == -32700));
    assert!(seen.result_of(9).is_some(), "{:?}", seen.end);
    nothing_is_left(room, serving).await;
}

#[tokio::test]
async fn a_reset_socket_ends_what_it_asked_for() {
    let room = Room::new();
    let serving = listen(&room).await;
    for version in VERSIONS {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script = ClientScript::new(version)
            .handshake()
            .start(1, "tools/call", named("progress_then_wait"))
            .step(Step::AwaitMethod("notifications/progress".to_owned()))
            .step(Step::Reset);
        let served = async {
            let (read, write) = listener.accept().await.unwrap().0.into_split();
            room.server.serve_stream(read, write).await
        };
        let dropped = room.sample.memory.dropped.load(Ordering::SeqCst);
        let client = async { script.over_tcp(TcpStream::connect(address).await.unwrap()).await };
        let (why, seen) = soon(async { tokio::join!(served, client) }).await;
        assert!(matches!(why, Error::Closed(_)), "{why}");
        assert_eq!(seen.end, End::ByClient);
        eventually(|| room.sample.memory.dropped.load(Ordering::SeqCst) == dropped + 1).await;
    }
    nothing_is_left(room, serving).await;
}
