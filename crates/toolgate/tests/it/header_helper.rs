//! `headersHelper`: a command whose headers go with every request, run again when the server refuses them, and told to nobody. And credentials
//! of Google, which no other host is given.

use std::fs;

use serde_json::{Value, json};
use toolgate::{ErrorKind, Host, ServerStatus};
use toolgate_testkit::{AuthScript, AuthServer, Script, ScriptedHttp, ToolScript};

use crate::support::{Room, call, text};

/// A server that takes this token and gives no other.
async fn takes(token: &str) -> AuthServer {
    let script = AuthScript::new().protection(|protection| protection.accepts = vec![token.to_owned()]);
    AuthServer::start(script).await.unwrap()
}

/// A room whose helper notes that it was run and prints what the file says.
fn room(url: &str, printed: &str) -> Room {
    let command = "echo run >> runs; cat headers";
    let room = Room::new().entry("s", json!({"url": url, "type": "http", "headersHelper": command}));
    print(&room, printed);
    room
}

fn print(room: &Room, printed: &str) {
    room.world.write_in_home("headers", printed).unwrap();
}

fn runs(room: &Room) -> usize {
    fs::read_to_string(room.world.home().join("runs")).unwrap_or_default().lines().count()
}

fn failure(host: &Host) -> (ServerStatus, ErrorKind, String) {
    let view = host.servers().into_iter().next().unwrap();
    let error = view.error.unwrap();
    (view.status, error.kind(), error.to_string())
}

#[tokio::test]
async fn its_headers_go_with_every_request_and_it_is_run_once() {
    let server = takes("sesame").await;
    let room = room(server.mcp_url(), r#"{"Authorization": "Bearer sesame", "X-Team": "gate"}"#);
    let host = room.host().await;
    assert_eq!(host.servers()[0].status, ServerStatus::Connected, "{:?}", host.servers()[0].error);
    let said = call(&host, "echo", json!({"message": "hello"})).await;
    assert!(text(&said).contains("hello"), "{said:?}");
    let requests = server.record().requests();
    assert!(requests.len() >= 3, "{requests:?}");
    for request in &requests {
        assert_eq!(request.header("authorization"), Some("Bearer sesame"), "{request:?}");
        assert_eq!(request.header("x-team"), Some("gate"), "{request:?}");
    }
    assert_eq!(runs(&room), 1);
}

#[tokio::test]
async fn refused_headers_are_printed_anew_once() {
    let server = takes("fresh-sesame").await;
    let room = room(server.mcp_url(), r#"{"Authorization": "Bearer stale-sesame"}"#);
    // The first run prints what is stale, every later one what is fresh.
    let printed = "echo run >> runs; cat headers; printf '{\"Authorization\": \"Bearer fresh-sesame\"}' > headers";
    let room = room.with("s", "headersHelper", json!(printed));
    let host = room.host().await;
    assert_eq!(host.servers()[0].status, ServerStatus::Connected, "{:?}", host.servers()[0].error);
    call(&host, "echo", json!({"message": "hello"})).await;
    assert_eq!(runs(&room), 2);
    assert_eq!(server.record().tally().unauthorized, 1, "what was refused is not sent again");
}

#[tokio::test]
async fn headers_that_stay_refused_are_told_without_their_values() {
    let server = takes("other").await;
    let room = room(server.mcp_url(), r#"{"Authorization": "Bearer stale-sesame"}"#);
    let host = room.host().await;
    let (status, kind, said) = failure(&host);
    assert_eq!((status, kind), (ServerStatus::NeedsLogin, ErrorKind::LoginNeeded), "{said}");
    assert_eq!(runs(&room), 2, "once more, and not for ever");
    let all = format!("{said} {host:?} {:?} {:?}", host.servers(), host.servers()[0].error);
    assert!(!all.contains("stale-sesame"), "{all}");
    assert!(server.record().requests_to("/token").is_empty() && server.record().requests_to("/register").is_empty());
}

#[tokio::test]
async fn a_helper_that_fails_says_why() {
    let server = takes("sesame").await;
    let none = "what it prints is no JSON object with texts, such as {\"Authorization\": \"Bearer …\"}";
    let cases = [
        ("echo sesame; echo 'no network' >&2; exit 3", "the command ended with exit status 3: no network"),
        ("echo sesame", none),
        ("true", none),
        ("printf '{\"a b\": \"sesame\"}'", "`a b`: not the name of a header"),
    ];
    for (command, why) in cases {
        let room = room(server.mcp_url(), "").with("s", "headersHelper", json!(command));
        let host = room.host().await;
        let (status, _, said) = failure(&host);
        assert_eq!(status, ServerStatus::Failed, "{said}");
        assert!(said.ends_with(&format!("`headersHelper` of `s`: {why}")), "{said}");
        let all = format!("{said} {host:?} {:?}", host.servers());
        assert!(!all.contains("sesame\""), "{all}");
    }
    assert!(server.record().requests().is_empty(), "without its headers nothing is sent");
}

fn google(url: &str) -> Room {
    let mut room = Room::new();
    let file = room.world.write_in_home("adc.json", &adc("http://127.0.0.1:9/token").to_string()).unwrap();
    room.world.set_variable("GOOGLE_APPLICATION_CREDENTIALS", file.display().to_string());
    room.entry("s", json!({"url": url, "authProviderType": "google_credentials", "oauth": {"scopes": ["a"]}}))
}

fn adc(token_uri: &str) -> Value {
    json!({"type": "authorized_user", "client_id": "me", "client_secret": "sesame", "refresh_token": "sesame",
           "token_uri": token_uri})
}

#[tokio::test]
async fn credentials_of_google_go_to_no_other_host() {
    let other = ScriptedHttp::start(Script::new("other").tool(ToolScript::echo("echo"))).await.unwrap();
    let tokens = takes("none").await;
    let room = google(&other.url());
    room.world.write_in_home("adc.json", &adc(&format!("{}/token", tokens.url())).to_string()).unwrap();
    let host = room.host().await;
    let (status, kind, said) = failure(&host);
    assert_eq!((status, kind), (ServerStatus::Failed, ErrorKind::Settings));
    assert_eq!(said, "credentials of Google are not sent to `127.0.0.1`");
    assert!(host.servers()[0].error.as_ref().unwrap().hint().unwrap().contains("googleapis.com"));
    assert_eq!(other.record().requests().len(), 0, "nothing is sent");
    assert!(tokens.record().requests().is_empty(), "no token is asked for");
}

#[tokio::test]
async fn credentials_of_google_that_are_not_there_are_asked_for_in_words() {
    let mut room = google("https://x.googleapis.com/mcp");
    room.world.set_variable("GOOGLE_APPLICATION_CREDENTIALS", "/gone.json");
    let (_, kind, said) = failure(&room.host().await);
    assert_eq!(said, "`GOOGLE_APPLICATION_CREDENTIALS` names /gone.json, and there is no such file");
    assert_eq!(kind, ErrorKind::LoginFailed);
}
