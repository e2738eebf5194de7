//! The authorization server when things are not as they should be: what it refuses, and what it gets wrong on purpose.

use serde_json::json;
use std::time::{Duration, Instant};
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::{Consent, Registration, TokenFormat};
use toolgate_testkit::auth_server::{Answer, AnswerAt, Ending};
use toolgate_testkit::fault::BodyOddity;

use crate::auth_client::{REDIRECT, Room, parameter};
use crate::http_client::{RawHttp, RequestText};

#[tokio::test]
async fn a_wrong_authorization_request_is_refused() {
    let script = AuthScript::new().client("app", None).issuer(|issuer| issuer.needs_resource = true);
    let room = Room::open(script).await;
    let right = room.authorization("app");
    let pages = [
        (right.clone().without("client_id"), "`client_id` is missing"),
        (right.clone().with("client_id", "x"), "the client `x` is not known"),
        (right.clone().with("redirect_uri", "https://evil.example/"), "is not registered for the client"),
    ];
    for (parameters, words) in pages {
        let page = room.get(&format!("/authorize?{}", parameters.text())).await;
        assert_eq!(page.status, 400);
        assert!(page.body().await.0.contains(words), "{words}");
    }
    let errors = [
        (right.clone().without("code_challenge"), "invalid_request"),
        (right.clone().with("code_challenge_method", "plain"), "invalid_request"),
        (right.clone().without("state"), "invalid_request"),
        (right.clone().with("response_type", "token"), "unsupported_response_type"),
        (right.clone().with("resource", "http://other.example"), "invalid_target"),
    ];
    for (parameters, error) in errors {
        let callback = room.authorize(&parameters).await;
        assert_eq!(parameter(&callback, "error").as_deref(), Some(error), "{callback}");
        assert_eq!(parameter(&callback, "code"), None);
    }
    let other_port = right.with("redirect_uri", "http://127.0.0.1:1/callback");
    assert!(room.authorize(&other_port).await.starts_with("http://127.0.0.1:1/callback?code="));
}

#[tokio::test]
async fn a_wrong_redemption_is_refused() {
    let room = Room::open(AuthScript::new().client("app", None).client("other", None)).await;
    let code = || async { room.redemption("app", &room.authorize(&room.authorization("app")).await) };
    let cases = [
        (code().await.with("code", "x"), "the code is not known"),
        (code().await.with("code_verifier", "x"), "`code_verifier` does not fit"),
        (code().await.without("code_verifier"), "`code_verifier` does not fit"),
        (code().await.with("redirect_uri", "http://127.0.0.1:1/callback"), "`redirect_uri` is not what it was"),
        (code().await.with("client_id", "other"), "the code is another client's"),
    ];
    for (parameters, words) in cases {
        let (status, refusal) = room.token(&parameters).await;
        assert_eq!(
            (status, &refusal["error"], &refusal["error_description"]),
            (400, &json!("invalid_grant"), &json!(words))
        );
    }
    let json = RequestText::new("POST", "/token").content("application/json", "{}");
    let refusal = json.send(room.issuer_address()).await.json().await;
    assert_eq!(refusal["error_description"], "the body is not a form");
    let twice = code().await;
    let (_, tokens) = room.token(&twice).await;
    assert_eq!(room.token(&twice).await.1["error_description"], "the code was used before");
    assert_eq!(room.server.record().tally().code_replays, 1);
    assert_eq!(room.echo(tokens["access_token"].as_str().unwrap()).await.err().unwrap().status, 401);
}

#[tokio::test]
async fn the_callback_can_be_anything() {
    let cases: [(AuthScript, &str, Option<&str>); 6] = [
        (AuthScript::new().callback("state", Some("forged")), "state", Some("forged")),
        (AuthScript::new().callback("iss", None), "iss", None),
        (AuthScript::new().callback("iss", Some("$ISSUER/evil")), "iss", Some("/evil")),
        (AuthScript::new().callback("code", None), "code", None),
        (AuthScript::new().callback("error", Some("server_error")), "error", Some("server_error")),
        (AuthScript::new().issuer(|issuer| issuer.consent = Consent::Denied), "error", Some("access_denied")),
    ];
    for (script, name, expected) in cases {
        let room = Room::open(script.client("app", None)).await;
        let callback = room.authorize(&room.authorization("app")).await;
        let seen = parameter(&callback, name);
        assert_eq!(seen.is_some(), expected.is_some(), "{callback}");
        assert!(seen.unwrap_or_default().ends_with(expected.unwrap_or_default()), "{callback}");
        assert!(callback.starts_with(REDIRECT), "{callback}");
    }
    let script = AuthScript::new().client("app", None);
    let room = Room::open(script.issuer(|issuer| issuer.callback.to = Some("http://evil.example/x?y=1".into()))).await;
    let callback = room.authorize(&room.authorization("app")).await;
    assert!(callback.starts_with("http://evil.example/x?y=1&code="), "{callback}");
}

#[tokio::test]
async fn documents_say_what_the_script_wants() {
    let script = AuthScript::new()
        .says("issuer", json!("http://evil.example"))
        .says("jwks_uri", json!("$AS/keys"))
        .omits("token_endpoint")
        .token_says("expires_in", json!("3600"))
        .token_omits("token_type")
        .issuer(|issuer| drop(issuer.registration_members.insert("redirect_uris".into(), Some(json!(["http://x/"])))))
        .protection(|protection| drop(protection.metadata_members.insert("resource".into(), Some(json!("$ORIGIN")))));
    let room = Room::open(AuthScript::from_json(&script.to_json()).unwrap()).await;
    let about = room.get("/.well-known/oauth-authorization-server").await.json().await;
    assert_eq!(about["issuer"], "http://evil.example");
    assert_eq!(about["jwks_uri"], format!("{}/keys", room.server.url()));
    assert_eq!(about.get("token_endpoint"), None);
    let about = room.get("/.well-known/oauth-protected-resource/mcp").await.json().await;
    assert_eq!(about["resource"], room.server.url());
    assert_eq!(room.register().await["redirect_uris"], json!(["http://x/"]));
    let (_, tokens) = room.log_in().await;
    assert_eq!((&tokens["expires_in"], tokens.get("token_type")), (&json!("3600"), None));
}

#[tokio::test]
async fn tokens_can_be_written_in_other_ways() {
    for (format, kind) in
        [(TokenFormat::Form, "application/x-www-form-urlencoded"), (TokenFormat::JsonAsText, "text/plain")]
    {
        let room =
            Room::open(AuthScript::new().client("app", None).issuer(|issuer| issuer.token_format = format)).await;
        let callback = room.authorize(&room.authorization("app")).await;
        let answer = room.post("/token", &room.redemption("app", &callback)).await;
        assert_eq!(answer.header("content-type"), Some(kind));
        let (body, _) = answer.body().await;
        let token = room.server.record().tokens_issued()[0].access_token.clone();
        assert!(body.contains(&token), "{body}");
        assert_eq!(body.starts_with('{'), format == TokenFormat::JsonAsText, "{body}");
    }
}

#[tokio::test]
async fn registration_can_be_refused_or_absent() {
    for (registration, status) in [(Registration::Refused, 403), (Registration::Absent, 404)] {
        let room = Room::open(AuthScript::new().issuer(|issuer| issuer.registration = registration)).await;
        let request =
            RequestText::new("POST", "/register").content("application/json", "{\"redirect_uris\":[\"http://x/\"]}");
        assert_eq!(request.send(room.issuer_address()).await.status, status);
        let about = room.get("/.well-known/oauth-authorization-server").await.json().await;
        assert_eq!(about.get("registration_endpoint").is_none(), registration == Registration::Absent);
    }
}

#[tokio::test]
async fn a_document_can_describe_a_client() {
    let room = Room::open(AuthScript::new().issuer(|issuer| issuer.client_documents = true)).await;
    let client = "https://app.example/client.json";
    let callback = room.authorize(&room.authorization(client)).await;
    assert_eq!(room.token(&room.redemption(client, &callback)).await.0, 200);
    let about = room.get("/.well-known/oauth-authorization-server").await.json().await;
    assert_eq!(about["client_id_metadata_document_supported"], true);
}

#[tokio::test]
async fn any_address_can_answer_anything() {
    let script = AuthScript::new()
        .answer("/page", Answer::html(500, "at $ORIGIN"))
        .answer("/bytes", Answer::status(200).bytes(&[0xff, 0xfe]))
        .answer("/large", Answer::status(200).body("{").filler(10_000_000))
        .answer("/loop*", Answer::redirect("$ORIGIN/loop/$N"))
        .answer("/slow", Answer::status(200).body("slow").delay(100).drip(1, 20))
        .answer("/odd", Answer::status(200).body("odd").oddity(BodyOddity::OneByteChunks))
        .answer("/authorize", Answer::html(200, "$STATE goes to $REDIRECT"));
    let room = Room::open(AuthScript::from_json(&script.to_json()).unwrap()).await;
    let page = room.get("/page").await;
    assert_eq!((page.status, page.body().await.0), (500, format!("at {}", room.server.url())));
    assert_eq!(room.get("/bytes").await.header("content-length"), Some("2"));
    assert_eq!(room.get("/large").await.body().await.0.len(), 10_000_001);
    let first = room.get("/loop").await.header("location").unwrap().to_owned();
    let next = room.get(first.strip_prefix(room.server.url()).unwrap()).await.header("location").unwrap().to_owned();
    assert_ne!(first, next);
    let begun = Instant::now();
    assert_eq!(room.get("/slow").await.body().await.0, "slow");
    assert!(begun.elapsed() >= Duration::from_millis(160));
    assert_eq!(room.get("/odd").await.body().await.0, "odd");
    let page = room.get(&format!("/authorize?{}", room.authorization("app").text())).await;
    assert_eq!(page.body().await.0, format!("the-state goes to {REDIRECT}"));
}

#[tokio::test]
async fn an_answer_can_be_lost_after_the_request_was_handled() {
    let lost = AnswerAt::new("/token", Answer::ending(Ending::Close)).nth(2).handled();
    let busy = AnswerAt::new("/token", Answer::status(503)).method("POST").nth(3);
    let room = Room::open(AuthScript::new().answer_at(lost).answer_at(busy)).await;
    let (client, tokens) = room.log_in().await;
    let old = tokens["refresh_token"].as_str().unwrap();
    let body = format!("grant_type=refresh_token&client_id={client}&refresh_token={old}");
    let request = RequestText::new("POST", "/token").content("application/x-www-form-urlencoded", &body);
    assert!(RawHttp::connect(room.issuer_address()).await.send(&request).await.is_none());
    assert_eq!(room.server.record().tokens_issued().len(), 2, "it was redeemed all the same");
    assert_eq!(request.send(room.issuer_address()).await.status, 503);
    assert_eq!(room.server.record().double_redemptions(), 0, "an answer that is not handled redeems nothing");
    assert_eq!(room.refresh(&client, old).await.0, 400);
    assert_eq!(room.server.record().double_redemptions(), 1);
}

#[tokio::test]
async fn a_service_can_refuse_with_any_challenge() {
    let challenges = vec!["Basic realm=\"x\"".to_owned(), "Bearer resource_metadata=\"$ORIGIN/elsewhere\"".to_owned()];
    let script = AuthScript::new().protection(|protection| {
        protection.challenges = Some(challenges);
        protection.accepts = vec!["fixed".into()];
    });
    let room = Room::open(script).await;
    let refusal = room.knock(&[("Authorization", "Bearer nonsense")]).await;
    let seen: Vec<_> =
        refusal.headers.iter().filter(|(name, _)| name == "www-authenticate").map(|(_, value)| value.clone()).collect();
    assert_eq!(
        seen,
        ["Basic realm=\"x\"".to_owned(), format!("Bearer resource_metadata=\"{}/elsewhere\"", room.server.url())]
    );
    assert_eq!(room.echo("fixed").await.ok().unwrap(), "hi");
}
