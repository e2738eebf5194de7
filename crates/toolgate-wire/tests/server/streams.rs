//! Byte streams and in-process pairs: every version on the same pipe.

use serde_json::{Value, json};
use toolgate_wire::server::About;
use toolgate_wire::transport::pair::pair;
use toolgate_wire::{Call, Error, Handler, Incoming, Notification, Origin, Peer, RawJson, RpcError, Version};

use crate::room::{Pipe, Room, modern, modern_with, soon};
use crate::sample::{Sample, capabilities};
use toolgate_wire::transport::http_server::HttpOptions;

#[tokio::test]
async fn each_version_is_agreed_on() {
    let room = Room::new();
    let cases = [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("tomorrow", "2025-11-25"),
    ];
    for (asked, agreed) in cases {
        let mut pipe = Pipe::to(&room.server);
        let result = pipe.initialize(asked, json!({})).await["result"].clone();
        assert_eq!(result["protocolVersion"], agreed, "{asked}");
        assert_eq!(result["serverInfo"], json!({"name": "sample", "version": "1.0"}));
        assert!(result["capabilities"].get("extensions").is_none() && result["capabilities"].get("tools").is_some());
        let who = pipe.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who"}}"#).await;
        assert_eq!(who["result"], json!({"info": {"name": "c", "version": "1"}, "version": agreed, "http": false}));
    }
}

#[tokio::test]
async fn errors_on_a_pipe_have_the_same_codes() {
    let room = Room::new();
    let mut pipe = Pipe::to(&room.server);
    let version = json!({"io.modelcontextprotocol/protocolVersion": "v9"});
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned(), -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#.to_owned(), -32602),
        (modern_with(1, "tools/list", json!({}), &version), -32022),
        (modern(1, "initialize", json!({})), -32601),
        (modern(1, "ping", json!({})), -32601),
        (modern(1, "unknown/method", json!({})), -32601),
        (modern(1, "tasks/get", json!({"taskId": "t"})), -32021),
        (modern(1, "tools/call", json!({"name": "fail"})), -32602),
    ];
    for (request, code) in cases {
        let answer = pipe.ask(&request).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &json!(1)), "{request}");
    }
    assert_eq!(
        pipe.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await["result"],
        json!({}),
        "ping needs no handshake"
    );
}

#[tokio::test]
async fn both_eras_share_one_pipe() {
    let room = Room::new();
    let mut pipe = Pipe::to(&room.server);
    let discovered = pipe.ask(&modern(1, "server/discover", json!({}))).await;
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
    pipe.initialize("2025-06-18", json!({})).await;
    let old = pipe.ask(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#).await;
    assert_eq!(old["result"], json!({"tools": [], "unknown": 12}));
    let new = pipe.ask(&modern(3, "tools/list", json!({}))).await;
    assert_eq!(new["result"]["resultType"], "complete");
    let refused = pipe.ask(r#"{"jsonrpc":"2.0","id":4,"method":"completion/complete","params":{}}"#).await;
    assert_eq!(refused["error"]["code"], -32601, "not declared");
}

#[tokio::test]
async fn a_server_without_the_newest_version_is_not_taken_for_one() {
    let old = About::new("old", "1", capabilities()).versions([Version::V2025_03_26, Version::V2024_11_05]);
    let room = Room::of(Sample::with(old), HttpOptions::new());
    let mut pipe = Pipe::to(&room.server);
    let answer = pipe.ask(&modern(1, "server/discover", json!({}))).await;
    let code = answer["error"]["code"].as_i64().unwrap();
    assert!(![-32020, -32021, -32022].contains(&code), "{answer}");
    assert_eq!(pipe.initialize("2025-11-25", json!({})).await["result"]["protocolVersion"], "2025-03-26");
}

#[tokio::test]
async fn progress_and_logs_come_before_the_answer() {
    let room = Room::new();
    for (version, message) in [("2024-11-05", false), ("2025-03-26", true)] {
        let mut pipe = Pipe::to(&room.server);
        pipe.initialize(version, json!({})).await;
        pipe.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":7}}}"#).await;
        for step in 1..=3 {
            let progress = pipe.receive().await;
            assert_eq!(
                (&progress["params"]["progress"], &progress["params"]["progressToken"]),
                (&json!(step), &json!(7))
            );
            assert_eq!(progress["params"].get("message").is_some(), message, "{version}");
        }
        assert_eq!(pipe.receive().await["result"]["done"], true);
    }
    let mut pipe = Pipe::to(&room.server);
    pipe.initialize("2025-11-25", json!({})).await;
    let log = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log"}}"#;
    let warning = json!({"level": "warning", "logger": "sample", "data": {"loud": true}});
    assert_eq!(pipe.ask(log).await["params"], warning, "before a level was set, from `info` on");
    assert_eq!(pipe.receive().await["result"]["logged"], true);
    let set = |level: &str| {
        json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": {"level": level}}).to_string()
    };
    assert_eq!(pipe.ask(&set("debug")).await["result"], json!({}));
    assert_eq!(pipe.ask(log).await["params"]["level"], "debug");
    pipe.receive().await;
    pipe.receive().await;
    assert_eq!(pipe.ask(&set("emergency")).await["result"], json!({}));
    assert_eq!(pipe.ask(log).await["result"]["logged"], true, "nothing is that loud");
    assert_eq!(pipe.ask(&set("loud")).await["error"]["code"], -32602);
}

#[tokio::test]
async fn batches_are_answered_together() {
    let room = Room::new();
    let mut pipe = Pipe::to(&room.server);
    pipe.initialize("2025-03-26", json!({})).await;
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]"#;
    let answers = pipe.ask(batch).await;
    assert_eq!(answers.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn serving_ends_with_the_stream_and_everything_is_written() {
    let room = Room::new();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for _ in 0..20 {
        let input = std::io::Cursor::new(format!("{request}\n{request}\n").into_bytes());
        let (ours, theirs) = tokio::io::duplex(1024);
        let why = soon(room.server.serve_stream(input, theirs)).await;
        assert!(matches!(why, Error::Closed(_)), "{why}");
        let mut text = String::new();
        let mut ours = ours;
        soon(tokio::io::AsyncReadExt::read_to_string(&mut ours, &mut text)).await.unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
    }
}

#[tokio::test]
async fn a_pair_needs_no_bytes() {
    struct Nobody;
    impl Handler for Nobody {
        fn request(&self, _: Incoming) -> futures_util::future::BoxFuture<'static, Result<RawJson, RpcError>> {
            Box::pin(std::future::ready(Err(RpcError::method_not_found("anything"))))
        }
        fn notification(&self, _: Notification, _: Origin) {}
    }
    let room = Room::new();
    let (ours, theirs) = pair();
    let server = room.server.clone();
    let served = tokio::spawn(async move { server.serve_pair(theirs).await });
    let peer = Peer::start(std::sync::Arc::new(Nobody), None, ours.open());
    let request: Value = serde_json::from_str(&modern(1, "tools/call", json!({"name": "who"}))).unwrap();
    let result = soon(peer.call(Call::new("tools/call", Some(request["params"].clone().into())))).await.unwrap();
    assert_eq!(result.member("version").unwrap().as_str(), "\"2026-07-28\"");
    soon(peer.close()).await;
    soon(served).await.unwrap();
}
