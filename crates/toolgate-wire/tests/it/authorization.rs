//! Credentials that change with time: every request shows them, and one that is refused is sent again with better ones.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Uri};
use serde_json::json;
use toolgate_testkit::fault::Trigger;
use toolgate_testkit::{HttpAnswer, Record, Script, ScriptedHttp, What, When};
use toolgate_wire::limits::AUTHORIZATION_ATTEMPTS_MAX;
use toolgate_wire::transport::http_client::{Credentials, HttpEndpoint, Refusal, RequestFacts};
use toolgate_wire::{Client, ConnectOptions, Endpoint, Error, connect};

use crate::demo::{CALL, HANDSHAKE, PROBE, legacy, modern};
use crate::support::{Side, endpoint, raw, within};

/// Gives every request a proof of its own and writes down what it hears.
#[derive(Debug, Default)]
struct Proofs {
    seen: Mutex<Vec<String>>,
    has_no_more: bool,
    fails: bool,
}

impl Proofs {
    fn note(&self, what: String) -> usize {
        let mut seen = self.seen.lock().unwrap();
        seen.push(what);
        seen.len()
    }

    fn refusals(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().filter(|line| line.starts_with("refused")).cloned().collect()
    }
}

impl Credentials for Proofs {
    fn headers<'a>(&'a self, request: RequestFacts<'a>) -> BoxFuture<'a, Result<HeaderMap, Error>> {
        Box::pin(async move {
            if self.fails {
                return Err(Error::Protocol("no key can be found".into()));
            }
            let number = self.note(format!("asked for {request:?}"));
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::try_from(format!("Proof {number}")).unwrap());
            headers
                .insert("dpop", HeaderValue::try_from(format!("{} {}", request.method, request.url.path())).unwrap());
            Ok(headers)
        })
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal<'a>) -> BoxFuture<'a, Result<bool, Error>> {
        let sent = refusal.sent.contains_key(AUTHORIZATION);
        let (status, attempt, challenges) = (refusal.status.as_u16(), refusal.attempt, &refusal.challenges);
        self.note(format!("refused {status}, attempt {attempt}, sent {sent}, {challenges:?}"));
        Box::pin(async move { Ok(!self.has_no_more) })
    }

    fn answered(&self, url: &Uri, headers: &HeaderMap) {
        if let Some(nonce) = headers.get("dpop-nonce") {
            self.note(format!("{} gave {nonce:?}", url.path()));
        }
    }
}

fn refusal(status: u16) -> What {
    let answer = HttpAnswer::status(status).header("WWW-Authenticate", "Bearer scope=\"a b\"").body("who are you?");
    What::HttpStatus(answer.header("DPoP-Nonce", "n1"))
}

struct Room {
    proofs: Arc<Proofs>,
    record: Record,
    connected: Result<Client, Error>,
    _server: ScriptedHttp,
}

impl Room {
    async fn open(script: Script, proofs: Proofs) -> Self {
        Self::open_at(script, proofs, ScriptedHttp::url, Endpoint::Http).await
    }

    async fn open_at(
        script: Script,
        proofs: Proofs,
        url: impl FnOnce(&ScriptedHttp) -> String,
        way: impl FnOnce(HttpEndpoint) -> Endpoint,
    ) -> Self {
        let server = ScriptedHttp::start(script).await.unwrap();
        let proofs = Arc::new(proofs);
        let mut endpoint = endpoint(&url(&server));
        endpoint.credentials = Some(proofs.clone());
        let options = ConnectOptions::new(Arc::new(Side::default()));
        let connected = within("connecting", connect(way(endpoint), options)).await;
        Self { proofs, record: server.record().clone(), connected, _server: server }
    }

    async fn call(&self) -> String {
        let client = self.connected.as_ref().unwrap();
        match within("a call", client.call_tool("echo", raw(json!({"message": "hi"})))).await {
            Ok(result) => result.text(),
            Err(error) => error.to_string(),
        }
    }

    /// Every request showed who we are, with a proof that no other request had, made for its method and path.
    fn assert_all_proven(&self) {
        let requests = self.record.requests();
        let mut proofs: Vec<_> = requests.iter().map(|seen| seen.header("authorization").unwrap().to_owned()).collect();
        let count = proofs.len();
        proofs.sort();
        proofs.dedup();
        assert_eq!(proofs.len(), count, "each request has a proof of its own: {proofs:?}");
        for seen in requests {
            let path = seen.path.split('?').next().unwrap();
            assert_eq!(seen.header("dpop").unwrap(), format!("{} {path}", seen.method));
        }
    }

    fn methods(&self) -> Vec<String> {
        self.record.requests().into_iter().map(|seen| seen.method).collect()
    }
}

#[tokio::test]
async fn a_refused_request_is_sent_again_with_better_credentials() {
    for (status, script) in [(401, modern()), (403, modern()), (401, legacy())] {
        let room = Room::open(script.fault(CALL.nth(1), refusal(status)), Proofs::default()).await;
        assert_eq!(room.call().await, "hi");
        let expected = format!(r#"refused {status}, attempt 1, sent true, ["Bearer scope=\"a b\""]"#);
        assert_eq!(room.proofs.refusals(), [expected]);
        assert_eq!(room.record.count("tools/call"), 2);
        room.assert_all_proven();
        let heard = room.proofs.seen.lock().unwrap().join("\n");
        assert!(heard.contains("/mcp gave \"n1\""), "{heard}");
    }
}

#[tokio::test]
async fn a_server_that_always_refuses_is_asked_so_often_and_no_more() {
    let script = modern().fault(PROBE, refusal(401)).fault(HANDSHAKE, refusal(401));
    let room = Room::open(script, Proofs::default()).await;
    let Err(Error::LoginNeeded(failure)) = &room.connected else { panic!("{:?}", room.connected) };
    assert_eq!(failure.challenges, ["Bearer scope=\"a b\""]);
    assert_eq!(failure.body, "who are you?");
    assert_eq!(room.record.requests().len(), AUTHORIZATION_ATTEMPTS_MAX);
    assert_eq!(room.proofs.refusals().len(), AUTHORIZATION_ATTEMPTS_MAX - 1, "not asked when it would change nothing");
}

#[tokio::test]
async fn a_refusal_that_nothing_helps_against_goes_on_as_it_came() {
    let proofs = Proofs { has_no_more: true, ..Proofs::default() };
    let room = Room::open(modern().fault(CALL, refusal(403)), proofs).await;
    assert_eq!(room.call().await, "the server asks for a login (HTTP 403)");
    assert_eq!(room.record.count("tools/call"), 1);
}

#[tokio::test]
async fn a_403_without_a_challenge_is_no_question_about_credentials() {
    let what = What::HttpStatus(HttpAnswer::status(403).body("no"));
    let room = Room::open(modern().fault(CALL, what), Proofs::default()).await;
    assert!(room.call().await.contains("HTTP 403"));
    assert!(room.proofs.refusals().is_empty());
}

#[tokio::test]
async fn streams_and_the_end_of_a_session_are_authorized_too() {
    let room = Room::open(
        legacy().fault(When::Get(1), refusal(401)).fault(When::Delete.nth(1), refusal(401)),
        Proofs::default(),
    )
    .await;
    assert_eq!(room.call().await, "hi");
    room.connected.as_ref().unwrap().close().await;
    room.assert_all_proven();
    let methods = room.methods();
    let count = |method: &str| methods.iter().filter(|one| *one == method).count();
    assert_eq!((count("GET"), count("DELETE")), (2, 2), "{methods:?}");
}

#[tokio::test]
async fn a_stream_is_resumed_with_credentials_of_its_own() {
    let script = legacy().http(|http| http.priming = toolgate_testkit::script::Priming::Retry(1));
    let cut = Trigger::from(CALL).nth(1).after_bytes(1);
    let room = Room::open(script.fault(cut, What::Close), Proofs::default()).await;
    assert_eq!(room.call().await, "hi");
    let resumed = room.record.requests().iter().filter(|seen| seen.header("last-event-id").is_some()).count();
    assert!(resumed > 0, "{:?}", room.methods());
    room.assert_all_proven();
}

#[tokio::test]
async fn the_stream_and_the_posts_of_http_sse_are_authorized() {
    let script = legacy().fault(When::Get(1), refusal(401)).fault(When::Post(1), refusal(401));
    let room = Room::open_at(script, Proofs::default(), ScriptedHttp::sse_url, Endpoint::Sse).await;
    assert_eq!(room.call().await, "hi");
    room.assert_all_proven();
    assert_eq!(room.proofs.refusals().len(), 2);
    assert_eq!(room.methods()[..2], ["GET", "GET"]);
}

#[tokio::test]
async fn a_header_from_the_settings_wins() {
    let server = ScriptedHttp::start(modern()).await.unwrap();
    let proofs = Arc::new(Proofs::default());
    let mut endpoint = endpoint(&server.url());
    endpoint.credentials = Some(proofs.clone());
    endpoint.add_header("authorization", "Bearer mine").unwrap();
    let options = ConnectOptions::new(Arc::new(Side::default()));
    let client = connect(Endpoint::Http(endpoint), options).await.unwrap();
    client.close().await;
    let requests = server.record().requests();
    assert!(!requests.is_empty());
    assert!(requests.iter().all(|seen| seen.header("authorization") == Some("Bearer mine")), "{requests:?}");
    assert!(proofs.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn credentials_that_cannot_be_had_fail_the_request() {
    let room = Room::open(modern(), Proofs { fails: true, ..Proofs::default() }).await;
    assert_eq!(room.connected.as_ref().unwrap_err().to_string(), "no key can be found");
    assert!(room.record.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_gets_credentials_for_where_it_leads() {
    let moved = HttpAnswer::status(307).header("Location", "/mcp?moved=1");
    let room = Room::open(modern().fault(CALL.nth(1), What::HttpStatus(moved)), Proofs::default()).await;
    assert_eq!(room.call().await, "hi");
    room.assert_all_proven();
    let last = room.record.requests().pop().unwrap();
    assert_eq!(last.path, "/mcp?moved=1");
}
