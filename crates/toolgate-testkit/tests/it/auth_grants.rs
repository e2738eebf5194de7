//! Tokens without a browser: other devices, machines, statements made elsewhere.

use serde_json::json;
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::{DeviceScript, IssuedBefore};

use crate::auth_client::{Parameters, Room, basic};

const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";

fn with_device(polls: &[&str]) -> AuthScript {
    let polls = polls.iter().map(|&error| error.to_owned()).collect();
    let device = DeviceScript { polls, ..DeviceScript::default() };
    AuthScript::new().client("tv", None).issuer(|issuer| issuer.device = Some(device))
}

#[tokio::test]
async fn a_login_on_another_device_takes_its_time() {
    let cases: [(&[&str], &[&str]); 4] = [
        (&["authorization_pending", "slow_down"], &["authorization_pending", "slow_down", "granted"]),
        (&[], &["granted"]),
        (&["authorization_pending", "access_denied"], &["authorization_pending", "access_denied"]),
        (&["expired_token"], &["expired_token"]),
    ];
    for (polls, expected) in cases {
        let room = Room::open(with_device(polls)).await;
        let asked = Parameters::default().with("client_id", "tv").with("scope", "read");
        let begun = room.post("/device_authorization", &asked).await.json().await;
        assert_eq!(begun["verification_uri"], format!("{}/device", room.server.issuer()));
        assert_eq!((&begun["interval"], &begun["expires_in"]), (&json!(1), &json!(600)));
        let code = begun["device_code"].as_str().unwrap();
        let poll = Parameters::default().with("grant_type", DEVICE).with("client_id", "tv").with("device_code", code);
        for outcome in expected {
            let (status, document) = room.token(&poll).await;
            let seen = if status == 200 { "granted" } else { document["error"].as_str().unwrap() };
            assert_eq!(seen, *outcome, "{document}");
        }
        if expected.last() == Some(&"granted") {
            assert_eq!(room.server.record().tokens_issued()[0].scope, "read");
            assert_eq!(room.token(&poll).await.1["error"], "invalid_grant", "granted once");
        }
    }
}

#[tokio::test]
async fn there_is_no_device_login_unless_the_script_has_one() {
    let room = Room::open(AuthScript::new().client("tv", None)).await;
    assert_eq!(room.post("/device_authorization", &Parameters::default().with("client_id", "tv")).await.status, 404);
}

#[tokio::test]
async fn machines_log_in_as_themselves() {
    let room = Room::open(AuthScript::new().client("robot", Some("hush")).client("public", None)).await;
    let asked = Parameters::default().with("grant_type", "client_credentials").with("scope", "read");
    let answer = room.post_with("/token", &asked, &[("Authorization", &basic("robot", "hush"))]).await;
    let tokens = answer.json().await;
    assert_eq!(tokens.get("refresh_token"), None);
    assert_eq!(room.echo(tokens["access_token"].as_str().unwrap()).await.ok().unwrap(), "hi");
    let (status, refusal) = room.token(&asked.clone().with("client_id", "public")).await;
    assert_eq!((status, &refusal["error"]), (400, &json!("unauthorized_client")));
    let (status, refusal) = room.token(&asked.with("client_id", "nobody")).await;
    assert_eq!((status, &refusal["error"]), (401, &json!("invalid_client")));
    assert!(room.server.record().secrets_seen().contains(&"hush".to_owned()));
}

#[tokio::test]
async fn statements_are_exchanged_for_statements_and_for_tokens() {
    let script = AuthScript::new().client("app", None).issuer(|issuer| issuer.assertions = vec!["signed".into()]);
    let room = Room::open(script).await;
    let exchange = Parameters::default()
        .with("client_id", "app")
        .with("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
        .with("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag");
    let (status, answer) = room.token(&exchange.clone().with("subject_token", "signed")).await;
    assert_eq!((status, &answer["issued_token_type"]), (200, &json!("urn:ietf:params:oauth:token-type:id-jag")));
    assert_eq!(room.token(&exchange.with("subject_token", "forged")).await.0, 400);
    let bearer = Parameters::default()
        .with("client_id", "app")
        .with("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert_eq!(room.token(&bearer.clone().with("assertion", "signed")).await.0, 200);
    assert_eq!(room.token(&bearer.clone().with("assertion", "forged")).await.1["error"], "invalid_grant");
    assert_eq!(room.token(&bearer).await.1["error"], "invalid_request");
}

#[tokio::test]
async fn a_login_from_before_the_start_can_be_renewed() {
    let before = IssuedBefore { client_id: "app".into(), refresh_token: "seed".into(), scope: "read".into() };
    let script = AuthScript::new().client("app", None).issuer(|issuer| issuer.refresh_tokens.push(before));
    let room = Room::open(script).await;
    let (status, tokens) = room.refresh("app", "seed").await;
    assert_eq!((status, &tokens["scope"]), (200, &json!("read")));
    assert_eq!(room.refresh("app", "seed").await.0, 400);
    assert_eq!(room.server.record().double_redemptions(), 1);
}
