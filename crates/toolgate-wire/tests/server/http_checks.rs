//! What an HTTP service refuses before it looks into the body.

use bytes::Bytes;
use http::StatusCode;
use serde_json::json;
use toolgate_wire::limits::{HEADER_BYTES_MAX, REQUEST_BODY_BYTES_MAX};
use toolgate_wire::transport::http_server::HttpOptions;

use crate::room::{Headers, Room, USUAL, modern, modern_headers};
use crate::sample::Sample;

async fn status(room: &Room, headers: Headers<'_>) -> u16 {
    let all = [headers, &USUAL[1..], &modern_headers("tools/list", None)].concat();
    room.send("POST", &all, modern(1, "tools/list", json!({}))).await.status().as_u16()
}

#[tokio::test]
async fn only_those_on_this_machine_are_answered() {
    let room = Room::new();
    let cases: [(Headers<'_>, u16); 14] = [
        (&[("host", "localhost")], 200),
        (&[("host", "LOCALHOST:8080")], 200),
        (&[("host", "127.0.0.1:1")], 200),
        (&[("host", "[::1]:1")], 200),
        (&[], 403),
        (&[("host", "evil.example.com")], 403),
        (&[("host", "localhost.evil.example.com")], 403),
        (&[("host", "evil.example.com:80")], 403),
        (&[("host", "localhost"), ("origin", "http://localhost:3000")], 200),
        (&[("host", "localhost"), ("origin", "http://evil.example.com")], 403),
        (&[("host", "localhost"), ("origin", "null")], 403),
        (&[("host", "localhost"), ("origin", "file://")], 403),
        (&[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil.example.com")], 403),
        (&[("host", "evil.example.com"), ("origin", "http://evil.example.com")], 403),
    ];
    for (headers, expected) in cases {
        assert_eq!(status(&room, headers).await, expected, "{headers:?}");
    }
}

#[tokio::test]
async fn others_are_let_in_by_name() {
    let options = HttpOptions::new()
        .allow_host("gate.example.com")
        .allow_host("gate.example.org:8443")
        .allow_origin("https://app.example.com");
    let room = Room::of(Sample::new(), options);
    let cases: [(Headers<'_>, u16); 6] = [
        (&[("host", "gate.example.com:443")], 200),
        (&[("host", "gate.example.org:8443")], 200),
        (&[("host", "gate.example.org")], 403),
        (&[("host", "gate.example.com"), ("origin", "https://gate.example.com")], 200),
        (&[("host", "gate.example.com"), ("origin", "https://app.example.com")], 200),
        (&[("host", "gate.example.com"), ("origin", "https://other.example.com")], 403),
    ];
    for (headers, expected) in cases {
        assert_eq!(status(&room, headers).await, expected, "{headers:?}");
    }
    let room = Room::of(Sample::new(), HttpOptions::new().allow_any_host());
    assert_eq!(status(&room, &[("host", "anything.example.com")]).await, 200);
    assert_eq!(
        status(&room, &[("host", "a.example.com"), ("origin", "http://b.example.com")]).await,
        403,
        "any host is not any origin"
    );
    let room = Room::of(Sample::new(), HttpOptions::new().allow_any_origin());
    assert_eq!(status(&room, &[("host", "localhost"), ("origin", "http://b.example.com")]).await, 200);
}

#[tokio::test]
async fn forms_must_be_right() {
    let room = Room::new();
    let body = modern(1, "tools/list", json!({}));
    let cases: [(Headers<'_>, u16); 9] = [
        (&[("content-type", "application/json"), ("accept", "text/event-stream, application/json;q=0.5")], 200),
        (&[("content-type", "Application/JSON; charset=utf-8"), ("accept", "*/*")], 200),
        (&[("content-type", "application/json"), ("accept", "application/*"), ("accept", "text/*")], 200),
        (&[("content-type", "application/json")], 200),
        (&[("content-type", "text/plain"), ("accept", "*/*")], 415),
        (&[("accept", "*/*")], 415),
        (&[("content-type", "application/json"), ("accept", "application/json")], 406),
        (&[("content-type", "application/json"), ("accept", "text/event-stream")], 406),
        (&[("content-type", "application/json"), ("accept", "text/html")], 406),
    ];
    for (headers, expected) in cases {
        let all = [&USUAL[..1], headers, &modern_headers("tools/list", None)].concat();
        assert_eq!(room.send("POST", &all, body.clone()).await.status().as_u16(), expected, "{headers:?}");
    }
}

#[tokio::test]
async fn too_much_is_refused() {
    let room = Room::new();
    let usual = [USUAL, &modern_headers("tools/list", None)].concat();
    let announced = (REQUEST_BODY_BYTES_MAX + 1).to_string();
    let answer = room.send("POST", &[&usual[..], &[("content-length", &announced)]].concat(), "").await;
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE, "announced");
    let answer = room.send("POST", &usual, Bytes::from(vec![b' '; REQUEST_BODY_BYTES_MAX + 1])).await;
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE, "sent");
    let answer = room.send("POST", &[&usual[..], &[("x-filler", &"x".repeat(HEADER_BYTES_MAX))]].concat(), "{}").await;
    assert_eq!(answer.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
}

#[tokio::test]
async fn a_service_may_have_a_path_of_its_own() {
    let here = Room::of(Sample::new(), HttpOptions::new().path("/mcp"));
    assert_eq!(status(&here, &USUAL[..1]).await, 200);
    let elsewhere = Room::of(Sample::new(), HttpOptions::new().path("/other"));
    assert_eq!(status(&elsewhere, &USUAL[..1]).await, 404);
}
