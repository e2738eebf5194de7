//! Clients as data: against the kit's own servers, and against a socket that shows every byte.

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use toolgate_testkit::script::VERSIONS;
use toolgate_testkit::{Behaviour, ClientScript, End, Script, ScriptedHttp, Step, ToolScript, Transcript, in_process};

fn server() -> Script {
    Script::new("demo")
        .versions(&VERSIONS)
        .tool(ToolScript::new("ask", Behaviour::elicit_text("name")))
        .tool(ToolScript::new("steps", Behaviour::progress(3, 1, Behaviour::text("done"))))
        .tool(ToolScript::new("slow", Behaviour::delay(600_000, Behaviour::text("late"))))
}

async fn over_pipe(script: &ClientScript) -> Transcript {
    let (half, _record) = in_process::serve(server());
    let (read, write) = tokio::io::split(half);
    script.over(read, write).await
}

async fn over_http(script: &ClientScript) -> Transcript {
    let server = ScriptedHttp::start(server()).await.unwrap();
    script.over_http(server.address(), "/mcp").await
}

fn named(tool: &str) -> Value {
    json!({"name": tool, "arguments": {}, "_meta": {"progressToken": tool}})
}

#[tokio::test]
async fn every_version_is_spoken_on_both_transports() {
    for version in VERSIONS {
        let script = ClientScript::new(version)
            .answer("elicitation/create", json!({"action": "accept", "content": {"name": "x"}}))
            .handshake()
            .request(1, "tools/list", json!({}))
            .request("two", "tools/call", named("steps"))
            .request(3, "tools/call", named("ask"))
            .request(4, "no/such", json!({}));
        let mut runs = vec![over_pipe(&script).await];
        // Before sessions there was no streamable HTTP.
        if version != "2024-11-05" {
            runs.push(over_http(&script).await);
        }
        for seen in runs {
            assert_ne!(seen.end, End::TimedOut, "{version} {seen:?}");
            assert!(seen.result_of("handshake").is_some(), "{version} {seen:?}");
            assert_eq!(seen.result_of(1).unwrap()["tools"].as_array().unwrap().len(), 3, "{version}");
            assert_eq!(seen.notifications("notifications/progress").len(), 3, "{version} {seen:?}");
            assert!(seen.result_of("two").is_some(), "{version}");
            assert!(seen.result_of(3).unwrap().to_string().contains("accept"), "{version} {seen:?}");
            assert_eq!(seen.code_of(4), Some(-32601), "{version}");
            assert_eq!(seen.texts.len(), seen.messages.len(), "{version}");
        }
    }
}

#[tokio::test]
async fn a_request_that_was_taken_back_has_no_answer() {
    for version in ["2025-11-25", "2026-07-28"] {
        let script = ClientScript::new(version)
            .handshake()
            .start(1, "tools/call", named("slow"))
            .step(Step::Wait { ms: 50 })
            .step(Step::Cancel(json!(1)))
            .request(2, "tools/list", json!({}));
        for seen in [over_pipe(&script).await, over_http(&script).await] {
            assert!(seen.answer_to(1).is_none(), "{version}");
            assert!(seen.result_of(2).is_some(), "{version} {seen:?}");
        }
    }
}

#[tokio::test]
async fn a_run_never_outlives_its_limit() {
    let script = ClientScript::new("2025-11-25").limit_ms(300).handshake().request(1, "tools/call", named("slow"));
    assert_eq!(over_pipe(&script).await.end, End::TimedOut);
    assert_eq!(over_http(&script).await.end, End::TimedOut);
}

#[tokio::test]
async fn headers_are_chosen() {
    let script = ClientScript::new("2026-07-28")
        .request(1, "tools/list", json!({}))
        .without_header("Mcp-Method")
        .request(2, "tools/list", json!({}))
        .header("Mcp-Method", "tools/call")
        .request(3, "tools/list", json!({}))
        .step(Step::UsualHeaders)
        .request(4, "tools/list", json!({}))
        .step(Step::Http { verb: "PUT".to_owned(), body: String::new() })
        .step(Step::AwaitEnd);
    let seen = over_http(&script).await;
    assert_eq!(seen.statuses(), [200, 400, 400, 200, 405], "{seen:?}");
    assert_eq!(seen.exchanges[3].id, Some(json!(4)));
    assert!(seen.exchanges[3].header("Content-Type").is_some());
}

#[derive(Clone, Copy)]
enum Way {
    Stream,
    Http,
}

/// What a socket receives, and whether the connection was reset.
async fn received(script: ClientScript, way: Way) -> (Vec<u8>, Option<std::io::ErrorKind>, Transcript) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = tokio::spawn(async move {
        match way {
            Way::Http => script.over_http(address, "/mcp").await,
            Way::Stream => script.over_tcp(TcpStream::connect(address).await.unwrap()).await,
        }
    });
    let (mut socket, _) = listener.accept().await.unwrap();
    let (mut bytes, mut block) = (Vec::new(), [0; 64 * 1024]);
    let error = loop {
        match socket.read(&mut block).await {
            Ok(0) => break None,
            Ok(length) => bytes.extend_from_slice(&block[..length]),
            Err(error) => break Some(error.kind()),
        }
    };
    drop(socket);
    (bytes, error, client.await.unwrap())
}

#[tokio::test]
async fn faults_are_made_as_they_are_written() {
    let script = || ClientScript::new("2025-11-25");
    let message = json!({"id": 1});
    let drip = Step::Drip { bytes: 2, every_ms: 1, message: message.clone() };
    let cases: [(Step, &[u8]); 5] = [
        (Step::Raw(b"abc".to_vec()), b"abc"),
        (Step::Cut { bytes: 4, message: message.clone() }, b"{\"id"),
        (drip, b"{\"id\":1}\n"),
        (Step::LongLine { bytes: 3 }, b"xxx\n"),
        (Step::Batch(vec![message.clone()]), b"[{\"id\":1}]\n"),
    ];
    for (step, expected) in cases {
        let (bytes, error, _) = received(script().step(step).step(Step::Close), Way::Stream).await;
        assert_eq!((bytes.as_slice(), error), (expected, None));
    }
    let (bytes, _, _) = received(script().step(Step::InvalidUtf8), Way::Stream).await;
    assert!(std::str::from_utf8(&bytes).is_err());
    let (bytes, error, seen) = received(script().step(Step::HalfClose).step(Step::AwaitEnd), Way::Stream).await;
    assert_eq!((bytes.len(), error, seen.end), (0, None, End::ByServer));
    let (bytes, _, _) = received(script().step(Step::LongLine { bytes: 20_000_000 }), Way::Stream).await;
    assert_eq!(bytes.len(), 20_000_001);
}

#[tokio::test]
async fn a_reset_is_a_reset() {
    let script = ClientScript::new("2025-11-25").line("{").step(Step::Reset);
    for way in [Way::Stream, Way::Http] {
        let (bytes, error, seen) = received(script.clone().step(Step::AwaitEnd), way).await;
        assert_eq!(error, Some(std::io::ErrorKind::ConnectionReset), "{seen:?}");
        assert!(b"{\n".starts_with(&bytes), "a reset may overtake what was sent: {bytes:?}");
    }
}

#[tokio::test]
async fn a_request_over_http_can_be_cut_anywhere() {
    for cut in [0, 1, 20, 150] {
        let step = Step::Cut { bytes: cut, message: json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}) };
        let (bytes, error, seen) = received(ClientScript::new("2025-11-25").step(step), Way::Http).await;
        assert_eq!((bytes.len(), error), (cut, None));
        assert_eq!(seen.exchanges[0].end, End::ByClient);
        assert!(b"POST /mcp HTTP/1.1\r\n".starts_with(&bytes[..cut.min(20)]));
    }
}
