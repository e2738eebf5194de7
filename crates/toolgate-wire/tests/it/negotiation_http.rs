//! Agreeing on a version over HTTP: what a server may answer to the probe and to the handshake, row by row, and which
//! headers say what.

use std::sync::Arc;

use serde_json::json;
use toolgate_testkit::record::HttpSeen;
use toolgate_testkit::script::VERSIONS;
use toolgate_testkit::{HttpAnswer, Script, ScriptedHttp, What, When};
use toolgate_wire::transport::http_client::HttpEndpoint;
use toolgate_wire::{ConnectOptions, Endpoint, Era, Error, connect};

use crate::demo::{HANDSHAKE, PROBE, both, legacy, modern, server};
use crate::support::{Met, Side, endpoint, http, raw, within};

async fn meet(script: Script, era: Option<Era>, place: impl FnOnce(&ScriptedHttp) -> Endpoint) -> Met {
    let side = Arc::new(Side::default());
    let mut options = ConnectOptions::new(side.clone());
    options.era = era;
    let (connected, record, server) = within("connecting", http(script, options, place)).await;
    Met { connected, side, record, server }
}

fn url(server: &ScriptedHttp) -> Endpoint {
    Endpoint::Url(endpoint(&server.url()))
}

fn sse_url(server: &ScriptedHttp) -> Endpoint {
    Endpoint::Url(endpoint(&server.sse_url()))
}

async fn check(name: &str, met: &Met, era: Era, methods: &[&str]) {
    assert_eq!(met.connected.as_ref().map(|client| client.era()).map_err(ToString::to_string), Ok(era), "{name}");
    let result = within(name, met.client().call_tool("echo", raw(json!({"message": "hi"})))).await;
    assert_eq!(result.unwrap_or_else(|error| panic!("{name}: {error}")).text(), "hi", "{name}");
    let mut seen = met.record.methods();
    seen.truncate(methods.len());
    assert_eq!(seen, methods, "{name}");
}

fn status(code: u16, body: &str) -> What {
    What::HttpStatus(HttpAnswer::status(code).header("Content-Type", "application/json").body(body))
}

fn html(code: u16) -> What {
    What::HttpStatus(
        HttpAnswer::status(code).header("Content-Type", "text/html").body("<html><body>nothing here</body></html>"),
    )
}

const LEGACY: [&str; 3] = ["server/discover", "initialize", "notifications/initialized"];

#[tokio::test]
async fn what_only_a_modern_server_answers() {
    let error = |code: i64, data: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{{"code":{code},"message":"no"{data}}}}}"#)
    };
    let supported = r#","data":{"supported":["2026-07-28"]}"#;
    let twice = ["server/discover", "server/discover"];
    let rows: [(&str, Script, &[&str]); 6] = [
        ("a result", modern(), &["server/discover"]),
        ("a result, of both eras", both(), &["server/discover"]),
        ("400, unsupported version", modern().fault(PROBE.nth(1), status(400, &error(-32022, supported))), &twice),
        ("400, header mismatch", modern().fault(PROBE.nth(1), status(400, &error(-32020, ""))), &twice),
        ("400, missing capability", modern().fault(PROBE.nth(1), status(400, &error(-32021, ""))), &twice),
        (
            "404, method not found",
            modern().fault(PROBE, status(404, &error(-32601, ""))),
            &["server/discover", "tools/call"],
        ),
    ];
    for (name, script, methods) in rows {
        let met = meet(script, None, url).await;
        check(name, &met, Era::Modern, methods).await;
    }
    // Nothing in the refusal says that the server would do better with a handshake.
    let only_legacy = r#","data":{"supported":["2025-06-18"]}"#;
    let met = meet(both().fault(PROBE, status(400, &error(-32022, only_legacy))), None, url).await;
    check("400, only legacy versions", &met, Era::Legacy, &LEGACY).await;
}

#[tokio::test]
async fn refusals_that_lead_to_the_handshake() {
    let bodies = [
        ("empty", ""),
        ("text", "Bad Request"),
        ("an error without an id", r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}"#),
        ("an error with a null id", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#),
        ("an error with a text id", r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no"}}"#),
        ("an error with the id", r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no"}}"#),
        ("some JSON", r#"{"detail":"Not Found"}"#),
    ];
    for code in [400, 404, 405, 406, 415, 422] {
        for (body, text) in bodies {
            let name = format!("{code}, {body}");
            let met = meet(legacy().fault(PROBE, status(code, text)), None, url).await;
            check(&name, &met, Era::Legacy, &LEGACY).await;
        }
        let met = meet(legacy().fault(PROBE, html(code)), None, url).await;
        check(&format!("{code}, HTML"), &met, Era::Legacy, &LEGACY).await;
    }
    let answers = [
        ("200, an empty result", What::EmptyResult),
        ("200, method not found", What::AnswerError { code: -32601, message: "no".into() }),
        (
            "200, HTML",
            What::HttpStatus(HttpAnswer::status(200).header("Content-Type", "text/html").body("<html>hello</html>")),
        ),
        ("200, nothing", What::HttpStatus(HttpAnswer::status(200))),
        ("202", What::HttpStatus(HttpAnswer::status(202))),
    ];
    for (name, answer) in answers {
        let met = meet(legacy().fault(PROBE, answer), None, url).await;
        check(name, &met, Era::Legacy, &LEGACY).await;
    }
}

#[tokio::test]
async fn a_login_is_never_taken_for_an_old_server() {
    let challenge =
        |code: u16| HttpAnswer::status(code).header("WWW-Authenticate", r#"Bearer resource_metadata="https://x/y""#);
    let rows = [
        ("401", challenge(401), "the server asks for a login (HTTP 401)"),
        ("401 without a challenge", HttpAnswer::status(401), "the server asks for a login (HTTP 401)"),
        ("403 with a challenge", challenge(403), "the server asks for a login (HTTP 403)"),
        ("403", HttpAnswer::status(403).body("go away"), "answered HTTP 403 Forbidden: go away"),
    ];
    for (name, answer, expected) in rows {
        for when in [PROBE, HANDSHAKE] {
            let met = meet(legacy().fault(when, What::HttpStatus(answer.clone())), None, url).await;
            assert!(met.refusal().contains(expected), "{name}: {}", met.refusal());
            let posts = met.record.requests().len();
            assert_eq!(posts, if when == PROBE { 1 } else { 2 }, "{name}: nothing else is tried");
            if let Err(Error::LoginNeeded(failure)) = &met.connected {
                let challenges: &[String] = &failure.challenges;
                assert_eq!(challenges.len(), answer.headers.len(), "{name}: the challenge is kept");
            }
        }
    }
}

#[tokio::test]
async fn failures_that_no_era_explains_are_final() {
    let rows = [
        (500, "500 Internal Server Error"),
        (502, "502 Bad Gateway"),
        (503, "503 Service Unavailable"),
        (429, "429 Too Many Requests"),
    ];
    for (code, expected) in rows {
        let met = meet(both().fault(PROBE, html(code)), None, url).await;
        assert!(
            met.refusal().contains(expected) && met.refusal().contains("nothing here"),
            "{code}: {}",
            met.refusal()
        );
        assert_eq!(met.record.requests().len(), 1, "{code}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_both_is_met_over_http_and_sse() {
    let script = server(&["2024-11-05"]);
    let met = meet(script.clone(), None, sse_url).await;
    check("POST is not allowed", &met, Era::LegacySse, &["initialize"]).await;
    let seen: Vec<String> =
        met.record.requests().iter().map(|request| format!("{} {}", request.method, path(request))).collect();
    assert_eq!(seen[..4], ["POST /sse", "POST /sse", "GET /sse", "POST /messages"]);
    let remembered = meet(script.clone(), Some(Era::LegacySse), sse_url).await;
    check("remembered", &remembered, Era::LegacySse, &["initialize"]).await;
    assert_eq!(remembered.record.requests()[0].method, "GET", "no probe");
    let wrongly = meet(script.clone(), Some(Era::LegacySse), url).await;
    check("remembered wrongly", &wrongly, Era::Legacy, &LEGACY).await;
    let named = meet(script, None, |server| Endpoint::Sse(endpoint(&server.sse_url()))).await;
    check("asked for by name", &named, Era::LegacySse, &["initialize"]).await;
}

fn path(request: &HttpSeen) -> &str {
    request.path.split('?').next().unwrap_or_default()
}

#[tokio::test]
async fn an_endpoint_on_another_origin_is_refused() {
    let elsewhere = ScriptedHttp::start(legacy()).await.unwrap();
    let target = format!("http://{}/messages", elsewhere.address());
    let script = legacy().fault(When::Get(1), What::Endpoint(target.clone()));
    let met = meet(script, None, |server| Endpoint::Sse(endpoint(&server.sse_url()))).await;
    let refusal = met.refusal();
    assert!(refusal.contains("another origin, which is refused") && refusal.contains(&target), "{refusal}");
    assert_eq!(elsewhere.record().requests().len(), 0, "nothing was sent there");
}

#[tokio::test]
async fn what_was_remembered_is_used_and_checked() {
    let rows: [(&str, Script, Era, Era, &[&str]); 4] = [
        ("legacy, and it is", legacy(), Era::Legacy, Era::Legacy, &["initialize", "notifications/initialized"]),
        ("legacy, of both eras", both(), Era::Legacy, Era::Legacy, &["initialize", "notifications/initialized"]),
        ("legacy, but it is modern", modern(), Era::Legacy, Era::Modern, &["initialize", "server/discover"]),
        ("modern, but it is legacy", legacy(), Era::Modern, Era::Legacy, &LEGACY),
    ];
    for (name, script, remembered, found, methods) in rows {
        let met = meet(script, Some(remembered), url).await;
        check(name, &met, found, methods).await;
    }
    let met = meet(legacy().fault(HANDSHAKE, What::HttpStatus(HttpAnswer::status(401))), Some(Era::Legacy), url).await;
    assert_eq!((met.refusal().as_str(), met.record.requests().len()), ("the server asks for a login (HTTP 401)", 1));
}

#[tokio::test]
async fn headers_say_what_each_version_wants() {
    for version in VERSIONS {
        let met = meet(server(&[version]), None, url).await;
        check(version, &met, if version == "2026-07-28" { Era::Modern } else { Era::Legacy }, &["server/discover"])
            .await;
        met.client().close().await;
        let requests = met.record.requests();
        let header = |request: &HttpSeen, name: &str| request.header(name).unwrap_or("-").to_owned();
        let probe = &requests[0];
        assert_eq!(header(probe, "mcp-protocol-version"), "2026-07-28");
        assert_eq!(header(probe, "mcp-method"), "server/discover");
        let call = requests.iter().find(|request| request.body.contains("tools/call")).unwrap();
        assert_eq!(header(call, "accept"), "application/json, text/event-stream");
        assert_eq!(header(call, "content-type"), "application/json");
        if version == "2026-07-28" {
            assert_eq!(
                [header(call, "mcp-protocol-version"), header(call, "mcp-method"), header(call, "mcp-name")],
                [version, "tools/call", "echo"]
            );
            assert!(
                requests.iter().all(|request| request.method == "POST" && request.header("mcp-session-id").is_none())
            );
            continue;
        }
        let handshake = requests.iter().find(|request| request.body.contains("\"initialize\"")).unwrap();
        assert_eq!(header(handshake, "mcp-protocol-version"), "-", "nothing is agreed on yet");
        let expected = if version >= "2025-06-18" { version } else { "-" };
        let after = requests.iter().skip_while(|request| !request.body.contains("notifications/initialized"));
        for request in after {
            assert_eq!(header(request, "mcp-protocol-version"), expected, "{version}: {request:?}");
            assert!(
                request.header("mcp-session-id").is_some() && request.header("mcp-method").is_none(),
                "{version}: {request:?}"
            );
        }
        let methods: Vec<_> =
            requests.iter().map(|request| request.method.as_str()).filter(|method| *method != "POST").collect();
        assert_eq!(methods, ["GET", "DELETE"], "{version}: one stream, and the end of the session");
    }
}

#[tokio::test]
async fn headers_of_the_caller_are_sent_and_do_not_displace_those_of_the_protocol() {
    let with_headers = |server: &ScriptedHttp| {
        let mut endpoint: HttpEndpoint = endpoint(&server.url());
        endpoint.headers.insert("authorization", "Bearer secret".parse().unwrap());
        endpoint.headers.insert("accept", "text/plain".parse().unwrap());
        endpoint.headers.insert("x-tenant", "seven".parse().unwrap());
        Endpoint::Url(endpoint)
    };
    let met = meet(legacy(), None, with_headers).await;
    check("own headers", &met, Era::Legacy, &LEGACY).await;
    for request in met.record.requests() {
        assert_eq!(request.header("authorization"), Some("Bearer secret"));
        assert_eq!(request.header("x-tenant"), Some("seven"));
        assert!(request.header("accept").is_some_and(|accept| accept.contains("text/event-stream")));
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_an_error_that_names_it() {
    let server = ScriptedHttp::start(legacy()).await.unwrap();
    let address = server.address();
    server.stop().await;
    for era in [None, Some(Era::Legacy), Some(Era::LegacySse)] {
        let mut options = ConnectOptions::new(Arc::new(Side::default()));
        options.era = era;
        let error =
            connect(Endpoint::Url(endpoint(&format!("http://{address}/mcp"))), options).await.unwrap_err().to_string();
        assert!(error.contains(&format!("http://{address}/mcp")) && error.contains("refused"), "{error}");
    }
}
