//! The fault matrix over HTTP: statuses, bodies and connections that go wrong at each phase, on streamable HTTP of
//! both eras and on HTTP+SSE.

use std::sync::Arc;

use serde_json::json;
use toolgate_testkit::fault::{BodyOddity, EventOddity, Trigger};
use toolgate_testkit::{Behaviour, HttpAnswer, Script, ScriptedHttp, ToolScript, What, When};
use toolgate_wire::{ConnectOptions, Endpoint, Notification};

use crate::demo::{CALL, HANDSHAKE, LIST, PROBE, READY, legacy, modern};
use crate::support::{Census, Limits, Met, Side, Way, endpoint, http, journey, raw, within};

const OK: &[&str] = &["ok hi"];

async fn meet(way: Way, script: Script) -> Met {
    meet_within(way, script, &Limits::expecting(&[])).await
}

async fn meet_within(way: Way, script: Script, limits: &Limits) -> Met {
    let side = Arc::new(Side::default());
    let mut options = ConnectOptions::new(side.clone());
    options.limit = limits.connect;
    options.probe_patience = limits.probe_patience;
    let place = |server: &ScriptedHttp| match way {
        Way::Sse => Endpoint::Url(endpoint(&server.sse_url())),
        _ => Endpoint::Url(endpoint(&server.url())),
    };
    let script = if way == Way::HttpJson { script.json_answers() } else { script };
    let (connected, record, server) = http(script, options, place).await;
    Met { connected, side, record, server }
}

async fn run(name: &str, way: Way, script: Script, expected: &[&str]) {
    let name = &format!("{name} over {way:?}");
    let limits = Limits::expecting(expected);
    let met = within(name, meet_within(way, script, &limits)).await;
    let said = within(name, journey(&met, &limits)).await;
    for part in expected {
        assert!(said.contains(part), "{name}: expected `{part}` in `{said}`");
    }
    if let Ok(client) = &met.connected {
        within(name, client.close()).await;
    }
}

/// Runs one row and counts what stays behind.
async fn check(name: &str, way: Way, script: Script, expected: &[&str]) {
    let before = Census::take();
    run(name, way, script, expected).await;
    before.expect_no_more(name).await;
}

type Row<'a> = (String, Way, Script, Vec<&'a str>);

/// Runs rows that wait for time to pass, all at once.
async fn check_at_once(rows: Vec<Row<'_>>) {
    let before = Census::take();
    let rows =
        rows.into_iter().map(|(name, way, script, expected)| async move { run(&name, way, script, &expected).await });
    futures_util::future::join_all(rows).await;
    before.expect_no_more("all rows").await;
}

fn status(code: u16, kind: &str, body: &str) -> What {
    What::HttpStatus(HttpAnswer::status(code).header("Content-Type", kind).body(body))
}

const STATUSES: [(u16, &str); 7] = [
    (400, "HTTP 400 Bad Request"),
    (404, "HTTP 404 Not Found"),
    (405, "HTTP 405 Method Not Allowed"),
    (406, "HTTP 406 Not Acceptable"),
    (429, "HTTP 429 Too Many Requests"),
    (500, "HTTP 500 Internal Server Error"),
    (502, "HTTP 502 Bad Gateway"),
];

/// Content type, body, and what of it must be shown.
const BODIES: [(&str, &str, &str); 3] = [
    ("text/html", "<html><body>Sorry</body></html>", "<body>Sorry</body>"),
    ("application/json", r#"{"detail":"nothing for you"}"#, "nothing for you"),
    ("text/plain", "", ""),
];

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table, one check for each phase")]
async fn every_status_at_each_phase_is_shown_with_its_body() {
    let rpc_error = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32050,"message":"quota used up"}}"#;
    for (code, shown) in STATUSES {
        for (kind, body, excerpt) in BODIES {
            let what = status(code, kind, body);
            let name = &format!("{code} with {kind}");
            check(
                &format!("{name} on the handshake"),
                Way::HttpJson,
                legacy().fault(HANDSHAKE, what.clone()),
                &["connect:", shown, excerpt],
            )
            .await;
            check(
                &format!("{name} on the news that all is ready"),
                Way::HttpEvents,
                legacy().fault(READY, what.clone()),
                &["connect:"],
            )
            .await;
            check(
                &format!("{name} on a modern list"),
                Way::HttpJson,
                modern().fault(LIST, what.clone()),
                &["list:", shown, excerpt],
            )
            .await;
            check(
                &format!("{name} on a modern call"),
                Way::HttpEvents,
                modern().fault(CALL, what.clone()),
                &["call:", shown, excerpt],
            )
            .await;
            let lost_session = format!("the server has lost the session (HTTP {code})");
            let legacy_says = if code == 404 { &*lost_session } else { shown };
            check(
                &format!("{name} on a legacy call"),
                Way::HttpEvents,
                legacy().fault(CALL, what.clone()),
                &["call:", legacy_says],
            )
            .await;
            check(
                &format!("{name} on the stream of news"),
                Way::HttpEvents,
                legacy().fault(When::Get(1), what.clone()),
                OK,
            )
            .await;
            check(
                &format!("{name} on the end of the session"),
                Way::HttpEvents,
                legacy().fault(When::Delete, what),
                OK,
            )
            .await;
        }
        let what = status(code, "application/json", rpc_error);
        check(
            &format!("{code} with an error"),
            Way::HttpJson,
            modern().fault(CALL, what.clone()),
            &["call: quota used up (code -32050)"],
        )
        .await;
        check(
            &format!("{code} with an error"),
            Way::HttpEvents,
            legacy().fault(CALL, what),
            &["call: quota used up (code -32050)"],
        )
        .await;
    }
}

#[tokio::test]
async fn connections_that_break_say_so_at_each_phase() {
    for what in [What::Close, What::Reset] {
        for way in [Way::HttpJson, Way::HttpEvents] {
            let rows: [(&str, Trigger, Script, &[&str]); 9] = [
                ("at the start", When::Start.into(), legacy(), &["connect: ", "http://127.0.0.1:"]),
                ("on the probe", PROBE.into(), modern(), &["connect:", "http://127.0.0.1:"]),
                ("on the handshake", HANDSHAKE.into(), legacy(), &["connect:", "http://127.0.0.1:"]),
                ("on the news that all is ready", READY.into(), legacy(), &["connect: ", "http://127.0.0.1:"]),
                ("on the stream of news", When::Get(1).into(), legacy(), OK),
                ("on a legacy list", LIST.into(), legacy(), &["list:", "http://127.0.0.1:"]),
                ("on a legacy call", CALL.into(), legacy(), &["call:", "http://127.0.0.1:"]),
                ("on a modern call", CALL.into(), modern(), &["call:", "http://127.0.0.1:"]),
                ("in the middle of a modern call", CALL.after_bytes(30), modern(), &["call: read the answer"]),
            ];
            for (name, when, script, expected) in rows {
                check(&format!("{what:?} {name}"), way, script.fault(when, what.clone()), expected).await;
            }
        }
        check(&format!("{what:?} at the end"), Way::HttpEvents, legacy().fault(When::Delete, what), OK).await;
    }
}

#[tokio::test]
async fn a_server_that_goes_away_says_so_at_each_phase() {
    let rows: [(&str, Trigger, Script, &[&str]); 5] = [
        ("on the probe", PROBE.into(), modern(), &["connect:", "http://127.0.0.1:"]),
        ("after the handshake", HANDSHAKE.after(), legacy(), &["http://127.0.0.1:"]),
        ("on the list", LIST.into(), legacy(), &["list:", "http://127.0.0.1:"]),
        ("after the list", LIST.after(), modern(), &["call: ", "http://127.0.0.1:"]),
        ("on a call", CALL.into(), modern(), &["call:", "http://127.0.0.1:"]),
    ];
    for (name, when, script, expected) in rows {
        check(&format!("gone {name}"), Way::HttpEvents, script.fault(when, What::Exit(0)), expected).await;
    }
}

#[tokio::test]
async fn a_silent_server_is_given_up_in_time_at_each_phase() {
    let unanswered = "did not answer the handshake within 2.5s";
    let (list, call) = (
        "list: `tools/list` timed out: no answer or progress within 300ms",
        "call: `tools/call` timed out: no answer or progress within 300ms",
    );
    let mut all: Vec<Row<'_>> = Vec::new();
    for what in [What::Stall, What::Freeze] {
        for way in [Way::HttpJson, Way::HttpEvents] {
            let rows: [(&str, Trigger, Script, Vec<&str>); 8] = [
                ("at the start", When::Start.into(), legacy(), vec!["connect:", unanswered]),
                ("on the probe of a legacy server", PROBE.into(), legacy(), vec!["ok hi"]),
                ("on the probe of a modern server", PROBE.into(), modern(), vec!["connect:", unanswered]),
                ("on the handshake", HANDSHAKE.into(), legacy(), vec!["connect:", unanswered]),
                ("on the news that all is ready", READY.into(), legacy(), vec!["connect:", unanswered]),
                ("on the list", LIST.into(), legacy(), vec![list]),
                ("on a call", CALL.into(), modern(), vec![call]),
                ("in the middle of a call", CALL.after_bytes(30), modern(), vec![call]),
            ];
            for (name, when, script, expected) in rows {
                all.push((format!("{what:?} {name}"), way, script.fault(when, what.clone()), expected));
            }
        }
    }
    check_at_once(all).await;
}

/// Messages without an answer have no caller who could set a limit; they end by themselves.
#[tokio::test]
async fn a_message_that_is_never_accepted_is_given_up() {
    let news = "notifications/roots/list_changed";
    let met = meet(Way::HttpEvents, legacy().fault(When::Method(news), What::Freeze)).await;
    let client = met.client(); // Connected in real time; from here on, waiting costs none.
    tokio::time::pause();
    let error = client.notify(Notification::new(news, None)).await.unwrap_err().to_string();
    assert!(
        error.starts_with("POST http://127.0.0.1:") && error.ends_with("the message was not accepted within 30s"),
        "{error}"
    );
}

#[tokio::test]
async fn odd_bodies_are_read_where_they_are_legal() {
    let legal = [BodyOddity::OneByteChunks, BodyOddity::ChunkExtensions, BodyOddity::Trailers, BodyOddity::UntilClose];
    let broken =
        [BodyOddity::BadChunkSize, BodyOddity::NoLastChunk, BodyOddity::LengthTooLong, BodyOddity::LengthTooShort];
    for way in [Way::HttpJson, Way::HttpEvents] {
        for oddity in legal {
            let script = [PROBE, HANDSHAKE, LIST, CALL]
                .into_iter()
                .fold(legacy(), |script, when| script.fault(when, What::Body(oddity)));
            check(&format!("{oddity:?}"), way, script, OK).await;
            check(&format!("{oddity:?}, modern"), way, modern().fault(CALL, What::Body(oddity)), OK).await;
        }
    }
    for oddity in broken {
        // An event stream that breaks after its answer has done its work; a document that breaks is not whole.
        check(&format!("{oddity:?}"), Way::HttpJson, modern().fault(CALL, What::Body(oddity)), &["call: "]).await;
    }
    for oddity in [
        EventOddity::CrLf,
        EventOddity::Cr,
        EventOddity::ByteOrderMark,
        EventOddity::Comments,
        EventOddity::SplitData,
        EventOddity::NoSpace,
        EventOddity::UnknownTypes,
    ] {
        let script =
            [HANDSHAKE, LIST, CALL].into_iter().fold(legacy(), |script, when| script.fault(when, What::Events(oddity)));
        check(&format!("{oddity:?}"), Way::HttpEvents, script, OK).await;
    }
    let unfinished = modern().fault(CALL, What::Events(EventOddity::NoFinalBlankLine));
    check("an event without an end", Way::HttpEvents, unfinished, &["call:", "the stream ended before the answer"])
        .await;
    let drip = |script: Script| script.fault(CALL, What::Drip { bytes: 2, every_ms: 1 });
    for way in [Way::HttpJson, Way::HttpEvents] {
        check("a slow drip", way, drip(legacy()), OK).await;
    }
}

#[tokio::test]
async fn content_types_that_lie() {
    let kind = |kind: &str| What::ContentType(kind.to_owned());
    let rows: [(&str, Way, What, &[&str]); 7] = [
        ("JSON called text", Way::HttpJson, kind("text/plain"), OK),
        ("JSON called HTML", Way::HttpJson, kind("text/html; charset=utf-8"), OK),
        ("JSON without a type", Way::HttpJson, kind(""), OK),
        ("JSON with parameters", Way::HttpJson, kind("Application/JSON; charset=UTF-8"), OK),
        ("events in capitals", Way::HttpEvents, kind("Text/Event-Stream; charset=utf-8"), OK),
        ("events called JSON", Way::HttpEvents, kind("application/json"), &["call: unusable answer: not JSON"]),
        (
            "JSON called events",
            Way::HttpJson,
            kind("text/event-stream"),
            &["call:", "the stream ended before the answer"],
        ),
    ];
    for (name, way, what, expected) in rows {
        check(name, way, modern().fault(CALL, what), expected).await;
    }
}

#[tokio::test]
async fn heads_that_are_cut_or_too_large() {
    for bytes in [0, 1, 9, 20, 60] {
        check(
            &format!("a head of {bytes} bytes"),
            Way::HttpJson,
            modern().fault(CALL, What::CutHead { bytes }),
            &["call: ", "http://127.0.0.1:"],
        )
        .await;
    }
    let json = HttpAnswer::status(200).header("Content-Type", "application/json").body("{}");
    let large = json.clone().header("X-Large", "x".repeat(1 << 20));
    let many = (0..500).fold(json, |answer, n| answer.header(format!("X-Header-{n}"), "x"));
    let expected: &[&str] =
        &["call: too much: POST http://127.0.0.1:", "the head of the answer (limit HEADER_BYTES_MAX = 65536)"];
    for (name, answer) in [("a large header", large), ("many headers", many)] {
        check(name, Way::HttpJson, modern().fault(CALL, What::HttpStatus(answer)), expected).await;
    }
}

#[tokio::test]
async fn answers_with_something_wrong_about_them() {
    let text = |text: &str| What::AnswerText(text.to_owned());
    let without: &[&str] = &["call:", "holds no answer to the request"];
    let rows: Vec<(&str, Way, What, &[&str])> = vec![
        ("a wrong id", Way::HttpJson, What::WrongId, without),
        ("an error without an id", Way::HttpJson, What::MissingId, &["call: an error that belongs to no request"]),
        ("an error without an id", Way::HttpEvents, What::MissingId, &["call: an error that belongs to no request"]),
        ("a result without an id", Way::HttpJson, What::ResultWithoutId, OK),
        ("a null id", Way::HttpEvents, What::NullId, OK),
        ("a string id", Way::HttpJson, What::StringId, OK),
        ("sent twice", Way::HttpEvents, What::DuplicateResponse, OK),
        ("cut", Way::HttpJson, text(r#"{"jsonrpc":"2.0","id":$ID,"result":{"#), &["call: unusable answer: not JSON"]),
        ("cut", Way::HttpEvents, text(r#"{"jsonrpc":"2.0","id":$ID,"result":{"#), &["call: unusable answer: not JSON"]),
        ("a result and an error", Way::HttpJson, What::ResultAndError, &["call: both a result and an error"]),
        (
            "nothing",
            Way::HttpJson,
            What::HttpStatus(HttpAnswer::status(200)),
            &["call:", "(HTTP 200 OK) without answering it"],
        ),
        (
            "accepted",
            Way::HttpJson,
            What::HttpStatus(HttpAnswer::status(202)),
            &["call:", "(HTTP 202 Accepted) without answering it"],
        ),
        (
            "no content",
            Way::HttpJson,
            What::HttpStatus(HttpAnswer::status(204)),
            &["call:", "(HTTP 204 No Content) without answering it"],
        ),
        ("another message", Way::HttpJson, text(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#), without),
    ];
    for (name, way, what, expected) in rows {
        check(name, way, modern().fault(CALL, what), expected).await;
    }
}

#[tokio::test]
async fn bodies_that_are_too_large_are_refused_by_name() {
    let named: &[&str] = &["call: too much:", "(limit MESSAGE_BYTES_MAX = 67108864)"];
    let announced = HttpAnswer::status(200).header("Content-Type", "application/json").body(" ".repeat(70 << 20));
    check("a body too large", Way::HttpJson, modern().fault(CALL, What::HttpStatus(announced)), named).await;
    let met = meet(Way::HttpEvents, modern().fault(CALL.before(), What::LongLine { bytes: 70 << 20 })).await;
    let error = within("an endless event", met.client().call_tool("echo", raw(json!({"message": "hi"}))))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(error, "too much: one server-sent event (limit MESSAGE_BYTES_MAX = 67108864)");
    // A failure is quoted, not swallowed whole.
    let failure = HttpAnswer::status(500).body("x".repeat(20 << 20));
    let met = meet(Way::HttpJson, modern().fault(CALL, What::HttpStatus(failure))).await;
    let said = within("a large failure", journey(&met, &Limits::expecting(&[]))).await;
    assert!(said.contains("HTTP 500 Internal Server Error: xxx") && said.len() < 400, "{} characters", said.len());
    for way in [Way::HttpJson, Way::HttpEvents] {
        let met = meet(way, modern().tool(ToolScript::new("big", Behaviour::Big { bytes: 3 << 20 }))).await;
        let result = within("a large result", met.client().call_tool("big", raw(json!({})))).await.unwrap();
        assert_eq!(result.text().len(), 3 << 20, "{way:?}");
    }
}

#[tokio::test]
async fn redirects_are_followed_on_the_same_origin_only() {
    let to = |code: u16, location: &str| What::HttpStatus(HttpAnswer::status(code).header("Location", location));
    let elsewhere = ScriptedHttp::start(modern()).await.unwrap();
    let rows: [(&str, Script, &[&str]); 6] = [
        ("once, to here", modern().fault(CALL.nth(1), to(307, "/mcp")), OK),
        ("once, for good", modern().fault(PROBE.nth(1), to(308, "mcp")), OK),
        ("in circles", modern().fault(CALL, to(307, "/mcp")), &["call: http://127.0.0.1:", "redirects in circles"]),
        (
            "to another origin",
            modern().fault(CALL, to(307, &elsewhere.url())),
            &["call:", "HTTP 307 Temporary Redirect"],
        ),
        ("with a change of method", modern().fault(CALL, to(302, "/mcp")), &["call:", "HTTP 302 Found"]),
        (
            "to nowhere",
            modern().fault(CALL, What::HttpStatus(HttpAnswer::status(307))),
            &["call:", "HTTP 307 Temporary Redirect"],
        ),
    ];
    for (name, script, expected) in rows {
        check(name, Way::HttpJson, script, expected).await;
    }
    assert_eq!(elsewhere.record().requests().len(), 0, "nothing was sent to the other origin");
}

#[tokio::test]
async fn http_and_sse_at_each_phase() {
    let server = legacy().versions(&["2024-11-05"]);
    let (unanswered, timed_out) =
        ("did not answer the handshake within 2.5s", "timed out: no answer or progress within 300ms");
    let first = When::Get(1);
    let mut rows: Vec<Row<'_>> = vec![
        ("all is well".into(), Way::Sse, server.clone(), vec!["ok hi"]),
        (
            "the stream is refused".into(),
            Way::Sse,
            server.clone().fault(first, status(503, "text/plain", "later")),
            vec!["connect:", "HTTP 405"],
        ),
        (
            "the stream is no stream".into(),
            Way::Sse,
            server.clone().fault(first, status(200, "text/html", "<html>")),
            vec!["connect:", "HTTP 405"],
        ),
        ("a drip".into(), Way::Sse, server.clone().fault(CALL, What::Drip { bytes: 3, every_ms: 1 }), vec!["ok hi"]),
        ("junk".into(), Way::Sse, server.clone().fault(CALL, What::Junk(vec!["junk".into()])), vec!["ok hi"]),
        ("a wrong id".into(), Way::Sse, server.clone().fault(CALL, What::WrongId), vec!["call:", timed_out]),
    ];
    for (name, when, phase) in [("handshake", HANDSHAKE, "connect:"), ("list", LIST, "list:"), ("call", CALL, "call:")]
    {
        let late = if phase == "connect:" { unanswered } else { timed_out };
        rows.push((
            format!("closed on the {name}"),
            Way::Sse,
            server.clone().fault(when, What::Close),
            vec![phase, "the event stream"],
        ));
        rows.push((
            format!("reset on the {name}"),
            Way::Sse,
            server.clone().fault(when, What::Reset),
            vec![phase, "the event stream"],
        ));
        rows.push((
            format!("stalls on the {name}"),
            Way::Sse,
            server.clone().fault(when, What::Stall),
            vec![phase, late],
        ));
    }
    rows.push((
        "cut in the middle of a call".into(),
        Way::Sse,
        server.clone().fault(CALL.after_bytes(30), What::Close),
        vec!["call:", "the event stream"],
    ));
    rows.push((
        "refused POST".into(),
        Way::Sse,
        server.fault(When::Post(5), status(500, "text/plain", "no")),
        vec!["list:", "HTTP 500 Internal Server Error: no"],
    ));
    check_at_once(rows).await;
}
