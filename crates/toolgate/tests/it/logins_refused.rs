//! Servers that are never satisfied, and those that want more: a person is asked a bounded number of times, and a call that works runs once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate::auth::guide::LoginReason;
use toolgate::connect::NobodyToAsk;
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::Answer;

use crate::lifecycle_room::in_time;
use crate::login_room::{LoginRoom, Way};
use crate::support::{call, text};

#[tokio::test]
async fn a_server_that_is_never_satisfied_does_not_keep_anybody_logging_in() {
    let once = "register authorize token";
    let twice = "register authorize token authorize token";
    let refuses = |status, challenge: &str| {
        let answer = Answer::status(status);
        let answer = if challenge.is_empty() { answer } else { answer.header("WWW-Authenticate", challenge) };
        AuthScript::new().answer("/mcp", answer)
    };
    let metadata = "resource_metadata=\"$ORIGIN/.well-known/oauth-protected-resource/mcp\"";
    let bearer = format!("Bearer error=\"invalid_token\", {metadata}");
    let scopes = format!("Bearer error=\"insufficient_scope\", scope=\"more\", {metadata}");
    for (what, script, expected, seen) in [
        ("401 for ever", refuses(401, &bearer), "the server asks for a login (HTTP 401)", twice),
        ("401 for ever, without a challenge", refuses(401, ""), "the server asks for a login (HTTP 401)", twice),
        (
            "401 for ever, for passwords",
            refuses(401, "Basic realm=\"x\""),
            "the server asks for a login (HTTP 401)",
            twice,
        ),
        ("403 for ever, for more", refuses(403, &scopes), "the server asks for a login (HTTP 403)", once),
        ("403 for ever, for nothing", refuses(403, ""), "$ORIGIN/mcp answered HTTP 403 Forbidden", ""),
    ] {
        let room = LoginRoom::new(script, &json!({}), Way::Opens).await;
        let told = room.connect(&room.host()).await;
        let seen_now = room.seen().replace(" refresh", "");
        assert_eq!(
            (told.as_str(), seen_now.as_str()),
            (expected, seen),
            "{what}: {:?} {}",
            room.person.reasons(),
            room.seen()
        );
    }
}

fn needs_more() -> AuthScript {
    AuthScript::new().protection(|protection| {
        protection.scopes = vec!["read".to_owned()];
        protection.needs.insert("tools/call:echo".to_owned(), vec!["write".to_owned()]);
    })
}

#[tokio::test]
async fn a_call_that_needs_more_works_after_one_more_login() {
    let room = LoginRoom::new(needs_more(), &json!({}), Way::Opens).await;
    let host = room.host();
    assert_eq!(room.connect(&host).await, "connected");
    assert_eq!(text(&call(&host, "echo", json!({"message": "hello"})).await), "hello");
    assert_eq!(text(&call(&host, "echo", json!({"message": "again"})).await), "again");
    let more = LoginReason::MoreScopes(vec!["write".to_owned()]);
    assert_eq!(room.person.reasons(), [LoginReason::New, more]);
    assert_eq!(room.seen(), "register authorize token authorize token");
    let asked = room.server.record().requests_to("/authorize");
    let scopes: Vec<_> = asked.iter().filter_map(|request| request.parameter("scope")).collect();
    assert_eq!(scopes, ["read", "read write"]);
    assert_eq!(room.server.service_record().count("tools/call"), 2);
    // Whoever has logged in may be offered something else: more is read than at the beginning, and when the server is asked to tell.
    let read_again = async {
        while room.server.service_record().count("tools/list") < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    in_time(read_again).await;
}

#[tokio::test]
async fn a_call_for_which_no_login_is_enough_ends() {
    let script = needs_more().issuer(|issuer| issuer.grants_scopes = Some("read".to_owned()));
    let room = LoginRoom::new(script, &json!({}), Way::Opens).await;
    let host = room.host();
    assert_eq!(room.connect(&host).await, "connected");
    let told = room.plain(&text(&call(&host, "echo", json!({"message": "hello"})).await));
    assert!(told.contains("the server asks for a login (HTTP 403)"), "{told}");
    assert_eq!(room.seen(), "register authorize token authorize token authorize token");
    assert_eq!(room.server.service_record().count("tools/call"), 0);
    let told = room.plain(&text(&call(&host, "echo", json!({"message": "hello"})).await));
    assert!(told.contains("the server asks for a login (HTTP 403)"), "{told}");
}

#[tokio::test]
async fn a_person_who_is_not_there_or_does_not_want_to_is_not_sent_anywhere() {
    let room = LoginRoom::new(AuthScript::new(), &json!({}), Way::Declines).await;
    let declined = room.connect(&room.host()).await;
    assert_eq!(
        (declined.as_str(), room.person.reasons().as_slice()),
        ("the server asks for a login (HTTP 401)", &[LoginReason::New][..])
    );
    let nobody = room.connect(&room.host_for(Arc::new(NobodyToAsk))).await;
    assert_eq!(nobody, declined);
    let room = LoginRoom::new(AuthScript::new(), &json!({"enabled": false}), Way::Opens).await;
    assert_eq!(room.connect(&room.host()).await, declined);
    assert_eq!((room.seen().as_str(), room.person.reasons().len()), ("", 0));
}
