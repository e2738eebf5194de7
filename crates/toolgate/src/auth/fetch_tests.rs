//! Tests.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use toolgate_wire::transport::http_pool::HttpPool;
use url::Url;

use super::{FetchFailure, Fetcher, Pools};
use crate::auth::account::LoginOptions;
use crate::auth::loopback::{Answer, Loopback};
use crate::auth::place::Place;
use crate::limits::{METADATA_BYTES_MAX, TOKEN_ANSWER_BYTES_MAX};

fn pools() -> Pools {
    Pools { anywhere: HttpPool::default(), public: HttpPool::default() }
}

fn local() -> Fetcher {
    Fetcher::at(pools(), Place::of(&Url::parse("http://localhost:1/mcp").unwrap(), &[]))
}

/// The same with little patience for paths that never end.
fn local_for(path: &str) -> Fetcher {
    let mut fetcher = local();
    if matches!(path, "/drip" | "/slow") {
        fetcher.patience = Duration::from_millis(400);
    }
    fetcher
}

fn public() -> Fetcher {
    Fetcher::at(pools(), Place::of(&Url::parse("https://mcp.example/mcp").unwrap(), &["8.8.8.8".parse().unwrap()]))
}

/// Everything that can happen to a document, one page each.
fn pages() -> Vec<(&'static str, Answer)> {
    vec![
        ("/good", Answer::json(r#"{"a": 1}"#)),
        ("/error", Answer::text(500, "text/plain", "broken")),
        ("/bytes", Answer::bytes(b"\xff\xfe".to_vec())),
        ("/full", Answer::bytes(vec![b' '; METADATA_BYTES_MAX])),
        ("/large", Answer::bytes(vec![b' '; 10 * 1024 * 1024])),
        ("/flood", Answer::flood()),
        ("/drip", Answer::drip()),
        ("/torn", Answer::torn()),
        ("/1", Answer::redirect(302, "/good")),
        ("/2", Answer::redirect(307, "{origin}/1")),
        ("/3", Answer::redirect(308, "2")),
        ("/4", Answer::redirect(301, "/3")),
        ("/away", Answer::redirect(303, "{other}/good")),
        ("/round", Answer::redirect(302, "/round")),
        ("/slow", Answer::redirect(302, "/drip")),
        ("/file", Answer::redirect(302, "file:///etc/passwd")),
        ("/named", Answer::redirect(302, "http://name:word@localhost/good")),
        ("/clear", Answer::redirect(302, "http://as.example/good")),
        ("/nowhere", Answer::status(302)),
        ("/bad", Answer::redirect(302, "http://[")),
        ("/same", Answer::status(304)),
    ]
}

#[tokio::test]
async fn a_document_is_read_within_bounds() {
    use FetchFailure::{Forbidden, Redirects, TooLarge, TooSlow, Unreachable};
    let server = Loopback::serving(pages()).await;
    let too_large = "the answer is larger than 262144 bytes";
    let cases = [
        ("/good", Ok((200, 8, "{origin}/good"))),
        ("/good?key=1#part", Ok((404, 0, "{origin}/good?key=1#part"))),
        ("/missing", Ok((404, 0, "{origin}/missing"))),
        ("/error", Ok((500, 6, "{origin}/error"))),
        ("/bytes", Ok((200, 2, "{origin}/bytes"))),
        ("/full", Ok((200, METADATA_BYTES_MAX, "{origin}/full"))),
        ("/large", Err((TooLarge, format!("GET {{origin}}/large: {too_large}")))),
        ("/flood", Err((TooLarge, format!("GET {{origin}}/flood: {too_large}")))),
        ("/drip", Err((TooSlow, "GET {origin}/drip: no whole answer within 400 ms".to_owned()))),
        ("/1", Ok((200, 8, "{origin}/good"))),
        ("/3", Ok((200, 8, "{origin}/good"))),
        ("/4", Err((Redirects, "GET {origin}/good: more than 3 redirects".to_owned()))),
        ("/away", Ok((200, 8, "{other}/good"))),
        ("/round", Err((Redirects, "GET {origin}/round: more than 3 redirects".to_owned()))),
        ("/slow", Err((TooSlow, "GET {origin}/slow: no whole answer within 400 ms".to_owned()))),
        (
            "/file",
            Err((Forbidden, "GET file:/etc/passwd: this address may not be used: `file:` is not `https:`".to_owned())),
        ),
        (
            "/named",
            Err((
                Forbidden,
                "GET http://localhost/good: this address may not be used: it has a name or password in it".to_owned(),
            )),
        ),
        (
            "/clear",
            Err((Forbidden, "GET http://as.example/good: this address may not be used: it is not `https`".to_owned())),
        ),
        ("/nowhere", Err((Redirects, "GET {origin}/nowhere: a redirect that does not say where to".to_owned()))),
        ("/bad", Err((Redirects, "GET {origin}/bad: a redirect to what is no URL".to_owned()))),
        ("/same", Ok((304, 0, "{origin}/same"))),
    ];
    for (path, expected) in cases {
        let url = Url::parse(&server.fill(&format!("{{origin}}{path}"))).unwrap();
        let found = local_for(path).get(&url).await;
        let found = found.map(|answer| (answer.status.as_u16(), answer.body.len(), server.strip(answer.url.as_str())));
        let found = found.map_err(|error| (error.what, server.strip(&error.why)));
        assert_eq!(found, expected.map(|(status, bytes, url)| (status, bytes, url.to_owned())), "{path}");
    }
    let torn = local().get(&Url::parse(&server.fill("{origin}/torn")).unwrap()).await.unwrap_err();
    assert_eq!(torn.what, Unreachable);
    assert!(torn.why.contains("/torn: the answer broke off: "), "{torn}");
}

#[tokio::test]
async fn nobody_there_is_told_with_the_address() {
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = local().get(&Url::parse(&format!("http://{gone}/x?key=1")).unwrap()).await.unwrap_err();
    assert_eq!(error.what, FetchFailure::Unreachable);
    assert!(error.why.starts_with(&format!("GET http://{gone}/x?…: ")), "{error}");
    assert_eq!(error.why.matches("GET").count(), 1, "{error}");
}

#[tokio::test]
async fn requests_say_what_they_take_and_nothing_about_us() {
    let server = Loopback::serving(pages()).await;
    local().get(&Url::parse(&server.fill("{origin}/away#part")).unwrap()).await.unwrap();
    let heads = server.heads();
    assert_eq!(server.asked(), ["GET /away", "GET /good"]);
    for head in heads {
        let names: Vec<String> =
            head.lines().skip(1).filter_map(|line| line.split_once(':')).map(|(name, _)| name.to_lowercase()).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept", "host"], "{head}");
        assert!(head.contains("accept: application/json"), "{head}");
    }
}

#[tokio::test]
async fn what_is_secret_is_sent_once_and_not_carried_on() {
    let server = Loopback::serving(vec![
        ("/token", Answer::json(r#"{"access_token": "x"}"#)),
        ("/moved", Answer::redirect(307, "/token")),
        ("/large", Answer::bytes(vec![b' '; TOKEN_ANSWER_BYTES_MAX + 1])),
        ("/full", Answer::bytes(vec![b' '; TOKEN_ANSWER_BYTES_MAX])),
        ("/drip", Answer::drip()),
    ])
    .await;
    let cases = [
        ("/token", Ok(200)),
        ("/full", Ok(200)),
        ("/moved", Ok(307)),
        ("/large", Err("POST {origin}/large: the answer is larger than 1048576 bytes")),
        ("/drip", Err("POST {origin}/drip: no whole answer within 400 ms")),
        ("/token#part", Err("POST {origin}/token: this address may not be used: it has a fragment")),
    ];
    for (path, expected) in cases {
        let url = Url::parse(&server.fill(&format!("{{origin}}{path}"))).unwrap();
        let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static("Basic c2VzYW1l"))]);
        let found = local_for(path).post(&url, headers, Bytes::from_static(b"grant_type=x")).await;
        let found = found.map(|answer| answer.status.as_u16()).map_err(|error| server.strip(&error.why));
        assert_eq!(found, expected.map_err(str::to_owned), "{path}");
    }
    assert_eq!(server.asked(), ["POST /token", "POST /full", "POST /moved", "POST /large", "POST /drip"]);
    assert!(server.heads().iter().all(|head| head.contains("authorization: Basic c2VzYW1l")));
}

#[tokio::test]
async fn a_public_server_does_not_lead_into_this_network() {
    let server = Loopback::serving(pages()).await;
    let near = "it is on this machine or in this network, and the server is not";
    for address in ["{origin}/good", "{other}/good", "https://169.254.169.254/latest", "https://[::1]/good"] {
        let url = Url::parse(&server.fill(address)).unwrap();
        for error in [
            public().get(&url).await.unwrap_err(),
            public().post(&url, HeaderMap::new(), Bytes::new()).await.unwrap_err(),
        ] {
            assert_eq!(error.what, FetchFailure::Forbidden);
            assert!(error.why.ends_with(near), "{error}");
        }
    }
    assert_eq!(server.asked(), [""; 0]);

    // What the settings name may be reached, and a redirect from there leads no further.
    let options = LoginOptions { token_url: Some(server.fill("{origin}/token")), ..LoginOptions::default() };
    let fetcher = public().trusting(&options);
    assert!(fetcher.get(&Url::parse(&server.fill("{origin}/good")).unwrap()).await.is_ok());
    let error = fetcher.get(&Url::parse(&server.fill("{origin}/away")).unwrap()).await.unwrap_err();
    assert_eq!(server.strip(&error.why), format!("GET {{other}}/good: this address may not be used: {near}"));
    assert_eq!(server.asked(), ["GET /good", "GET /away"]);
}

#[tokio::test]
async fn a_server_is_looked_up_to_see_where_it_is() {
    let cases = [
        ("http://localhost:1/mcp", true),
        ("http://127.0.0.1:1/mcp", true),
        ("http://[::1]:1/mcp", true),
        ("https://8.8.8.8/mcp", false),
    ];
    for (server, expected) in cases {
        let fetcher = Fetcher::for_server(pools(), &Url::parse(server).unwrap()).await;
        assert_eq!(fetcher.place().is_local(), expected, "{server}");
    }
}

#[tokio::test]
async fn answers_are_not_printed() {
    let server = Loopback::serving(vec![("/token", Answer::json(r#"{"access_token": "sesame"}"#))]).await;
    let answer = local().get(&Url::parse(&server.fill("{origin}/token")).unwrap()).await.unwrap();
    let printed = format!("{answer:?}");
    assert!(!printed.contains("sesame") && printed.contains("bytes: 26"), "{printed}");
    assert_eq!(answer.excerpt(), r#"{"access_token": "sesame"}"#);
}
