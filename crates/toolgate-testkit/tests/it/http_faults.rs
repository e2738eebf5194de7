//! Faults of HTTP: statuses, heads, bodies and events in every legal and broken form.

use serde_json::{Value, json};
use std::io::ErrorKind;
use toolgate_testkit::fault::{BodyOddity, EventOddity};
use toolgate_testkit::{Behaviour, HttpAnswer, Script, ScriptedHttp, ToolScript, What, When};

use crate::http_client::{RawHttp, RequestText};
use crate::support::{PATIENCE, call, text};

const CALL: When = When::Method("tools/call");

fn script() -> Script {
    Script::new("demo").versions(&["2026-07-28"]).tool(ToolScript::new("it", Behaviour::text("hi")))
}

async fn start(script: Script) -> ScriptedHttp {
    ScriptedHttp::start(script).await.unwrap()
}

fn call_it() -> RequestText {
    RequestText::modern(1, "tools/call", call("it", json!({})))
}

#[tokio::test]
async fn any_status_for_any_post() {
    let answer = HttpAnswer::status(401)
        .header("WWW-Authenticate", "Bearer scope=\"x\"")
        .header("Content-Type", "application/json")
        .body("{\"id\":$ID}");
    let server = start(script().fault(CALL, What::HttpStatus(answer.clone()))).await;
    let refused = call_it().send(server.address()).await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), Some("Bearer scope=\"x\""));
    assert_eq!(refused.json().await["id"], 1);

    let server = start(script().fault(When::Post(2), What::HttpStatus(HttpAnswer::status(503)))).await;
    let statuses = [
        call_it().send(server.address()).await.status,
        call_it().send(server.address()).await.status,
        call_it().send(server.address()).await.status,
    ];
    assert_eq!(statuses, [200, 503, 200]);

    let counted = script().tool(ToolScript::new("count", Behaviour::Count));
    let server = start(counted.fault(CALL.nth(1).instead(), What::HttpStatus(answer))).await;
    let count = RequestText::modern(1, "tools/call", call("count", json!({})));
    assert_eq!(count.send(server.address()).await.status, 401);
    assert_eq!(text(&count.send(server.address()).await.message().await), "2");
}

#[tokio::test]
async fn wrong_content_types() {
    let server = start(script().fault(CALL, What::ContentType("text/html".to_owned()))).await;
    assert_eq!(call_it().send(server.address()).await.header("content-type"), Some("text/html"));
    let server = start(script().json_answers().fault(CALL, What::ContentType("text/plain".to_owned()))).await;
    assert_eq!(call_it().send(server.address()).await.header("content-type"), Some("text/plain"));
}

#[tokio::test]
async fn legal_bodies_and_events_say_the_same() {
    for oddity in [BodyOddity::OneByteChunks, BodyOddity::ChunkExtensions, BodyOddity::Trailers, BodyOddity::UntilClose]
    {
        for script in [script(), script().json_answers()] {
            let server = start(script.fault(CALL, What::Body(oddity))).await;
            let mut response = call_it().send(server.address()).await;
            let is_json = response.header("content-type") == Some("application/json");
            let answer = if is_json { response.json().await } else { response.message().await };
            assert_eq!(text(&answer), "hi", "{oddity:?}");
        }
    }
    for oddity in [EventOddity::Comments, EventOddity::SplitData, EventOddity::NoSpace] {
        let server = start(script().fault(CALL, What::Events(oddity))).await;
        let answer = call_it().send(server.address()).await.message().await;
        assert_eq!(text(&answer), "hi", "{oddity:?}");
    }
    let expectations: [(EventOddity, &str, &str); 5] = [
        (EventOddity::CrLf, "event: message\r\n", "\r\n\r\n"),
        (EventOddity::Cr, "event: message\r", "\r\r"),
        (EventOddity::ByteOrderMark, "\u{feff}event: message\n", "\n\n"),
        (EventOddity::UnknownTypes, "event: surprise\n", "\n\n"),
        (EventOddity::NoFinalBlankLine, "event: message\n", "}\n"),
    ];
    for (oddity, start_of, end_of) in expectations {
        let server = start(script().fault(CALL, What::Events(oddity))).await;
        let (body, _) = call_it().send(server.address()).await.body().await;
        assert!(body.starts_with(start_of) && body.ends_with(end_of), "{oddity:?}: {body:?}");
    }
}

#[tokio::test]
async fn broken_bodies_break() {
    let server = start(script().fault(CALL, What::Body(BodyOddity::NoLastChunk))).await;
    let mut response = call_it().send(server.address()).await;
    assert_eq!(text(&response.message().await), "hi");
    assert_eq!(response.event().await, None);
    let server = start(script().fault(CALL, What::Body(BodyOddity::BadChunkSize))).await;
    assert_eq!(call_it().send(server.address()).await.event().await, None);
    let json = || script().json_answers();
    let server = start(json().fault(CALL, What::Body(BodyOddity::LengthTooLong))).await;
    assert_eq!(call_it().send(server.address()).await.body().await.0, "");
    let server = start(json().fault(CALL, What::Body(BodyOddity::LengthTooShort))).await;
    let (body, _) = call_it().send(server.address()).await.body().await;
    assert!(serde_json::from_str::<Value>(&body).is_err(), "{body}");
}

#[tokio::test]
async fn the_connection_can_be_cut_at_every_byte() {
    let (whole, _) = {
        let server = start(script().json_answers()).await;
        call_it().send(server.address()).await.body().await
    };
    for cut in (0..whole.len()).step_by(13) {
        for what in [What::Close, What::Reset] {
            let server = start(script().json_answers().fault(CALL.after_bytes(cut), what)).await;
            let response = call_it().send(server.address()).await;
            assert_eq!(response.header("content-length"), Some(whole.len().to_string().as_str()));
            assert_eq!(response.body().await.0, "");
        }
    }
    for bytes in [0, 5, 20, 60] {
        let server = start(script().fault(CALL, What::CutHead { bytes })).await;
        let connection = RawHttp::connect(server.address()).await;
        assert!(connection.send(&call_it()).await.is_none(), "{bytes}");
    }
}

#[tokio::test]
async fn a_reset_is_a_reset() {
    let server = start(script().fault(CALL, What::Reset)).await;
    let mut connection = call_it().send(server.address()).await.into_connection();
    let (_, ended) = connection.rest().await;
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn answers_drip_and_pause_and_carry_bad_utf8() {
    let server = start(script().fault(CALL, What::Drip { bytes: 9, every_ms: 1 })).await;
    assert_eq!(text(&call_it().send(server.address()).await.message().await), "hi");
    let server = start(script().fault(CALL.after_bytes(20), What::Pause { ms: 5 })).await;
    assert_eq!(text(&call_it().send(server.address()).await.message().await), "hi");
    let server = start(script().fault(CALL.before(), What::InvalidUtf8)).await;
    let mut response = call_it().send(server.address()).await;
    assert!(response.event().await.unwrap().data.contains('\u{fffd}'));
    assert_eq!(text(&response.message().await), "hi");
}

#[tokio::test]
async fn faults_of_the_connection_itself() {
    let server = start(script().fault(When::Start.nth(1), What::Close)).await;
    assert!(RawHttp::connect(server.address()).await.send(&call_it()).await.is_none());
    assert_eq!(call_it().send(server.address()).await.status, 200);

    let server = start(script().fault(CALL, What::Exit(1))).await;
    let mut response = call_it().send(server.address()).await;
    assert_eq!(response.event().await, None);
    let gone = async {
        while tokio::net::TcpStream::connect(server.address()).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.unwrap();
}

#[tokio::test]
async fn nothing_is_left_when_the_clients_are_gone() {
    let never = script().tool(ToolScript::new("never", Behaviour::Never));
    let server = start(never.fault(When::Tool("it"), What::Stall)).await;
    let request = RequestText::modern(1, "tools/call", call("never", json!({})));
    let streams = [request.send(server.address()).await, call_it().send(server.address()).await];
    assert_eq!(server.open_connections(), 2);
    drop(streams);
    let closed = async {
        while server.open_connections() > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, closed).await.unwrap();
    let address = server.address();
    server.stop().await;
    let back = ScriptedHttp::start_at(script(), address).await.unwrap();
    assert_eq!(call_it().send(back.address()).await.status, 200);
}
