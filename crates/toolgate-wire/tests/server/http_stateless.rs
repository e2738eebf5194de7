//! 2026-07-28 over HTTP: which errors are found, in which order and with which status; what answers look like.

use std::sync::atomic::Ordering;

use http::StatusCode;
use serde_json::{Value, json};
use toolgate_wire::Version;
use toolgate_wire::server::About;
use toolgate_wire::transport::http_server::HttpOptions;

use crate::room::{Events, Room, USUAL, modern, modern_headers, modern_with, request, soon};
use crate::sample::{Sample, capabilities};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// What is sent, and the status and code that must come of it.
struct Row {
    what: &'static str,
    headers: Vec<(&'static str, &'static str)>,
    body: String,
    expected: (u16, Option<i64>),
}

fn row(
    what: &'static str,
    headers: &[(&'static str, &'static str)],
    body: String,
    expected: (u16, Option<i64>),
) -> Row {
    Row { what, headers: headers.to_vec(), body, expected }
}

/// A call of `echo` with something taken out of `_meta`.
fn without(key: &str) -> String {
    let mut body: Value = serde_json::from_str(&modern(1, "tools/call", json!({"name": "echo"}))).unwrap();
    body["params"]["_meta"].as_object_mut().unwrap().remove(key);
    body.to_string()
}

fn header_rows() -> Vec<Row> {
    let good = modern_headers("tools/call", Some("echo"));
    let version =
        |value: &'static str| vec![("mcp-protocol-version", value), ("mcp-method", "tools/call"), ("mcp-name", "echo")];
    let call = modern(1, "tools/call", json!({"name": "echo"}));
    let asks = |value: &str| modern_with(1, "tools/call", json!({"name": "echo"}), &json!({VERSION: value}));
    vec![
        row("all is well", &good, call.clone(), (200, None)),
        row(
            "no _meta at all",
            &good,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#.into(),
            (400, Some(-32602)),
        ),
        row("no params", &good, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#.into(), (400, Some(-32602))),
        row(
            "params in a list",
            &good,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#.into(),
            (400, Some(-32602)),
        ),
        row("no version in _meta", &good, without(VERSION), (400, Some(-32602))),
        row("no capabilities", &good, without("io.modelcontextprotocol/clientCapabilities"), (400, Some(-32602))),
        row(
            "capabilities in a list",
            &good,
            modern_with(
                1,
                "tools/call",
                json!({"name": "echo"}),
                &json!({"io.modelcontextprotocol/clientCapabilities": []}),
            ),
            (400, Some(-32602)),
        ),
        row("no version header", &good[1..], call.clone(), (400, Some(-32020))),
        row("another version in the header", &good, asks("v999.0.0"), (400, Some(-32020))),
        row("a version nobody knows", &version("v999.0.0"), asks("v999.0.0"), (400, Some(-32022))),
        row("an older version, written the new way", &version("2025-11-25"), asks("2025-11-25"), (400, Some(-32022))),
        row("no Mcp-Method", &good[..1], call.clone(), (400, Some(-32020))),
        row("another Mcp-Method", &modern_headers("tools/list", Some("echo")), call.clone(), (400, Some(-32020))),
        row("no Mcp-Name", &good[..2], call.clone(), (400, Some(-32020))),
        row("another Mcp-Name", &modern_headers("tools/call", Some("other")), call.clone(), (400, Some(-32020))),
        row("Mcp-Name with space around it", &modern_headers("tools/call", Some("  echo ")), call.clone(), (200, None)),
        row("Mcp-Name in Base64", &modern_headers("tools/call", Some("=?base64?ZWNobw==?=")), call, (200, None)),
        row(
            "a log level that does not exist",
            &good,
            modern_with(1, "tools/call", json!({"name": "echo"}), &json!({"io.modelcontextprotocol/logLevel": "loud"})),
            (400, Some(-32602)),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table, one row for each rule")]
fn method_rows() -> Vec<Row> {
    let named = |method: &'static str| modern_headers(method, None);
    let gone = [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/result",
        "tasks/list",
    ];
    let mut rows: Vec<_> = gone
        .into_iter()
        .map(|method| row(method, &named(method), modern(1, method, json!({})), (404, Some(-32601))))
        .collect();
    let regional = |region: &'static str| {
        [modern_headers("tools/call", Some("regional")), vec![("mcp-param-region", region)]].concat()
    };
    let region = modern(1, "tools/call", json!({"name": "regional", "arguments": {"region": "Hello"}}));
    let task = modern_headers("tasks/get", Some("t"));
    let tasks =
        json!({"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}});
    rows.extend([
        row("an unknown method", &named("unknown/method"), modern(1, "unknown/method", json!({})), (404, Some(-32601))),
        row(
            "a capability not offered",
            &named("completion/complete"),
            modern(1, "completion/complete", json!({})),
            (404, Some(-32601)),
        ),
        row("an argument header that agrees", &regional("Hello"), region.clone(), (200, None)),
        row("one that does not", &regional("hello"), region.clone(), (400, Some(-32020))),
        row("one that is missing", &modern_headers("tools/call", Some("regional")), region, (400, Some(-32020))),
        row("tasks, not declared", &task, modern(1, "tasks/get", json!({"taskId": "t"})), (400, Some(-32021))),
        row("tasks, declared", &task, modern_with(1, "tasks/get", json!({"taskId": "t"}), &tasks), (200, None)),
        row(
            "a wrong name comes before a missing capability",
            &modern_headers("tasks/get", Some("other")),
            modern(1, "tasks/get", json!({"taskId": "t"})),
            (400, Some(-32020)),
        ),
        row(
            "a task for one who takes none",
            &modern_headers("tools/call", Some("task")),
            modern(1, "tools/call", json!({"name": "task"})),
            (400, Some(-32021)),
        ),
        row(
            "a task for one who takes them",
            &modern_headers("tools/call", Some("task")),
            modern_with(1, "tools/call", json!({"name": "task"}), &tasks),
            (200, None),
        ),
        row(
            "sampling by one who cannot",
            &modern_headers("tools/call", Some("sample")),
            modern(1, "tools/call", json!({"name": "sample"})),
            (400, Some(-32021)),
        ),
        row(
            "an error of the handler",
            &modern_headers("tools/call", Some("fail")),
            modern(1, "tools/call", json!({"name": "fail"})),
            (200, Some(-32602)),
        ),
        row(
            "listening for tasks, not declared",
            &named("subscriptions/listen"),
            modern(1, "subscriptions/listen", json!({"notifications": {"taskIds": ["t"]}})),
            (400, Some(-32021)),
        ),
        row(
            "listening for nothing in particular",
            &named("subscriptions/listen"),
            modern(1, "subscriptions/listen", json!({})),
            (200, Some(-32602)),
        ),
    ]);
    rows
}

#[tokio::test]
async fn each_error_has_its_status_and_its_code() {
    let room = Room::new();
    for row in header_rows().into_iter().chain(method_rows()) {
        let answer = room.post(&row.headers, &row.body).await;
        let json = answer.json();
        let found = (answer.status.as_u16(), json["error"]["code"].as_i64());
        assert_eq!(found, row.expected, "{}: {json}", row.what);
        assert_eq!(json["id"], 1, "{}", row.what);
        assert_eq!(answer.form(), "application/json", "{}", row.what);
    }
}

#[tokio::test]
async fn errors_carry_the_data_that_helps() {
    let room = Room::new();
    let headers = [("mcp-protocol-version", "v9"), ("mcp-method", "tools/list")];
    let answer = room.post(&headers, &modern_with(1, "tools/list", json!({}), &json!({VERSION: "v9"}))).await.json();
    assert_eq!(answer["error"]["data"], json!({"supported": ["2026-07-28"], "requested": "v9"}));
    let headers = modern_headers("tools/call", Some("sample"));
    let answer = room.post(&headers, &modern(1, "tools/call", json!({"name": "sample"}))).await.json();
    assert_eq!(answer["error"]["data"], json!({"requiredCapabilities": {"sampling": {}}}));
}

#[tokio::test]
async fn what_is_no_request_is_told_so() {
    let room = Room::new();
    let version = [("mcp-protocol-version", "2026-07-28")];
    let cases = [
        ("{", 400, Some(-32700)),
        ("7", 400, Some(-32600)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, 400, Some(-32600)),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 400, Some(-32600)),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, 400, Some(-32600)),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#, 202, None),
    ];
    for (body, status, code) in cases {
        let answer = room.post(&version, body).await;
        assert_eq!(answer.status, status, "{body}");
        if let Some(code) = code {
            assert_eq!(answer.json()["error"]["code"], code, "{body}");
            assert!(answer.json().get("id").is_none(), "an id that is not known is left out: {}", answer.text);
        }
    }
    assert_eq!(*room.sample.memory.heard.lock().unwrap(), ["notifications/cancelled 2026-07-28"]);
    for method in ["GET", "DELETE", "PUT"] {
        let answer = room.send(method, &[USUAL, &version].concat(), "").await;
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert!(answer.headers()["allow"].to_str().unwrap().contains("POST"));
    }
}

#[tokio::test]
async fn results_say_what_the_version_wants() {
    let room = Room::new();
    let info = json!({"io.modelcontextprotocol/serverInfo": {"name": "sample", "version": "1.0"}});
    let list = room.post(&modern_headers("tools/list", None), &modern(1, "tools/list", json!({}))).await;
    let expected = json!({"tools": [], "unknown": 12, "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": info});
    assert_eq!(list.json()["result"], expected);
    let prompts = room.post(&modern_headers("prompts/list", None), &modern(1, "prompts/list", json!({}))).await.json();
    assert_eq!(
        (&prompts["result"]["ttlMs"], &prompts["result"]["cacheScope"]),
        (&json!(7), &json!("public")),
        "its own hints win"
    );

    let arguments = r#"{"n":12345678901234567890123,"f":1e2}"#;
    let call =
        modern(1, "tools/call", json!({"name": "echo", "arguments": {"here": 0}})).replace(r#"{"here":0}"#, arguments);
    let echo = room.post(&modern_headers("tools/call", Some("echo")), &call).await;
    assert!(echo.text.contains(arguments), "every byte survives: {}", echo.text);
    assert_eq!(echo.json()["result"]["resultType"], "complete");
    assert!(echo.json()["result"].get("ttlMs").is_none(), "calls are not cached");
    let length = echo.text.len();
    let response = room.send("POST", &[USUAL, &modern_headers("tools/call", Some("echo"))].concat(), call).await;
    assert_eq!(
        http_body::Body::size_hint(response.body()).exact(),
        Some(length as u64),
        "the length is known beforehand"
    );

    let own = room
        .post(&modern_headers("tools/call", Some("meta")), &modern(1, "tools/call", json!({"name": "meta"})))
        .await
        .json();
    let meta = &own["result"]["_meta"];
    assert_eq!((&meta["acme/k"], &meta["io.modelcontextprotocol/serverInfo"]["name"]), (&json!(1), &json!("sample")));

    let discover =
        room.post(&modern_headers("server/discover", None), &modern(1, "server/discover", json!({}))).await.json();
    let result = &discover["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["capabilities"], serde_json::from_str::<Value>(capabilities().as_str()).unwrap());
    assert_eq!((&result["ttlMs"], &result["resultType"]), (&json!(0), &json!("complete")));
}

#[tokio::test]
async fn news_before_the_answer_make_it_a_stream() {
    let room = Room::new();
    let headers = modern_headers("tools/call", Some("progress"));
    let quiet = room.post(&headers, &modern(1, "tools/call", json!({"name": "progress"}))).await;
    assert_eq!(quiet.form(), "application/json", "nobody asked for progress");

    let call = modern_with(1, "tools/call", json!({"name": "progress"}), &json!({"progressToken": "p"}));
    let mut events = room.post_open(&headers, &call).await;
    assert_eq!(events.response.headers()["x-accel-buffering"], "no");
    for step in 1..=3 {
        let params = json!({"progressToken": "p", "progress": step, "total": 3, "message": "step"});
        assert_eq!(
            events.message().await,
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        );
    }
    let last = events.next().await.unwrap();
    assert_eq!((last.json()["result"]["done"].clone(), last.id.as_str()), (json!(true), ""));
    assert_eq!(events.next().await, None, "the answer ends the stream");
}

#[tokio::test]
async fn logs_come_only_when_asked_for_and_only_that_loud() {
    let room = Room::new();
    let headers = modern_headers("tools/call", Some("log"));
    let quiet = room.post(&headers, &modern(1, "tools/call", json!({"name": "log"}))).await;
    assert_eq!(quiet.form(), "application/json");
    for (level, heard) in [("debug", 2), ("warning", 1), ("error", 0)] {
        let call =
            modern_with(1, "tools/call", json!({"name": "log"}), &json!({"io.modelcontextprotocol/logLevel": level}));
        let answer = room.post(&headers, &call).await;
        assert_eq!(answer.text.matches("notifications/message").count(), heard, "{level}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_request_along() {
    let room = Room::new();
    let memory = &room.sample.memory;
    let headers = [USUAL, &modern_headers("tools/call", Some("wait"))].concat();
    let call = modern(1, "tools/call", json!({"name": "wait"}));
    {
        let answering = room.http.handle(request("POST", &headers, call));
        tokio::pin!(answering);
        tokio::select! {
            answer = &mut answering => panic!("it should wait: {answer:?}"),
            () = soon(memory.waiting.notified()) => {}
        }
        assert_eq!(memory.dropped.load(Ordering::SeqCst), 0);
    }
    assert_eq!(memory.dropped.load(Ordering::SeqCst), 1, "before anything was sent");

    let headers = modern_headers("tools/call", Some("progress_then_wait"));
    let call = modern_with(1, "tools/call", json!({"name": "progress_then_wait"}), &json!({"progressToken": 1}));
    let mut events = room.post_open(&headers, &call).await;
    events.message().await;
    drop(events);
    assert_eq!(memory.dropped.load(Ordering::SeqCst), 2, "in the middle of a stream");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_long_is_begun_as_a_stream() {
    let room = Room::new();
    let headers = modern_headers("tools/call", Some("wait"));
    let response =
        room.send("POST", &[USUAL, &headers].concat(), modern(1, "tools/call", json!({"name": "wait"}))).await;
    let mut events = Events::of(response);
    room.sample.memory.gate.notify_one();
    assert_eq!(events.message().await["result"]["waited"], true);
}

#[tokio::test]
async fn a_server_speaks_only_what_it_says() {
    let old = About::new("old", "1", capabilities()).versions([Version::V2025_06_18]);
    let room = Room::of(Sample::with(old), HttpOptions::new());
    let answer = room.post(&modern_headers("server/discover", None), &modern(1, "server/discover", json!({}))).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.json()["error"]["code"], -32600, "no sign of the new version: {}", answer.text);

    let new = About::new("new", "1", capabilities()).versions([Version::V2026_07_28]);
    let room = Room::of(Sample::with(new), HttpOptions::new());
    let initialize =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}});
    let answer = room.post(&[], &initialize.to_string()).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["error"]["code"]), (400, &json!(-32022)));
    assert_eq!(answer.json()["error"]["data"]["supported"], json!(["2026-07-28"]), "and says what it speaks");
    assert!(!answer.headers.contains_key("mcp-session-id"));
    assert_eq!(room.send("GET", USUAL, "").await.status(), StatusCode::METHOD_NOT_ALLOWED);
}
