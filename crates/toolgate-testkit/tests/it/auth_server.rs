//! The authorization server when all is well: from the challenge to a call, the next token, and the program.

use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use toolgate_testkit::auth_server::script::{Consent, IssuerMetadata, Refresh, Registration, ResourceMetadata};
use toolgate_testkit::auth_server::{Answer, browser};
use toolgate_testkit::{AuthScript, auth_server_path};

use crate::auth_client::{Parameters, REDIRECT, Room, VERIFIER, basic, parameter};
use crate::http_client::RequestText;
use crate::support::PATIENCE;

#[tokio::test]
async fn a_login_leads_from_the_challenge_to_a_call() {
    let room = Room::open(AuthScript::new().protection(|protection| protection.scopes = vec!["read".into()])).await;
    let refusal = room.knock(&[]).await;
    assert_eq!(refusal.status, 401);
    let place = format!("{}/.well-known/oauth-protected-resource/mcp", room.server.url());
    let challenge = refusal.header("www-authenticate").unwrap();
    assert_eq!(challenge, format!("Bearer resource_metadata=\"{place}\", scope=\"read\""));
    let about = room.get("/.well-known/oauth-protected-resource/mcp").await.json().await;
    assert_eq!(about["resource"], room.server.mcp_url());
    assert_eq!(about["authorization_servers"], json!([room.server.issuer()]));
    assert_eq!(about["scopes_supported"], json!(["read"]));
    let about = room.get("/.well-known/oauth-authorization-server").await.json().await;
    assert_eq!(about["issuer"], room.server.issuer());
    assert_eq!(about["token_endpoint"], format!("{}/token", room.server.issuer()));

    let client = room.register().await["client_id"].as_str().unwrap().to_owned();
    let callback = room.authorize(&room.authorization(&client)).await;
    assert!(callback.starts_with(&format!("{REDIRECT}?")), "{callback}");
    assert_eq!(parameter(&callback, "state").as_deref(), Some("the-state"));
    assert_eq!(parameter(&callback, "iss").as_deref(), Some(room.server.issuer()));
    let (status, tokens) = room.token(&room.redemption(&client, &callback)).await;
    assert_eq!((status, &tokens["token_type"], &tokens["scope"]), (200, &json!("Bearer"), &json!("read write")));
    let access = tokens["access_token"].as_str().unwrap();
    assert_eq!(room.echo(access).await.ok().unwrap(), "hi");

    let record = room.server.record();
    assert_eq!((record.tally().authorized, record.tally().unauthorized), (2, 1));
    assert_eq!(record.requests_to("/token")[0].parameter("code_verifier").as_deref(), Some(VERIFIER));
    assert_eq!(record.client_methods(), [(client.clone(), "none".to_owned())]);
    let issued = record.tokens_issued();
    assert_eq!(
        (issued.len(), issued[0].grant.as_str(), issued[0].client_id.as_str()),
        (1, "authorization_code", &*client)
    );
    assert_eq!(issued[0].resource.as_deref(), Some(room.server.mcp_url()));
    let secrets = record.secrets_seen();
    let code = parameter(&callback, "code").unwrap();
    for secret in [access, tokens["refresh_token"].as_str().unwrap(), &code, VERIFIER] {
        assert!(secrets.iter().any(|seen| seen == secret), "{secret} is not in {secrets:?}");
    }
}

#[tokio::test]
async fn a_refresh_token_that_is_used_twice_is_noticed_and_ends_the_login() {
    let room = Room::open(AuthScript::new()).await;
    let (client, first) = room.log_in().await;
    let old = first["refresh_token"].as_str().unwrap();
    let (status, second) = room.refresh(&client, old).await;
    assert_eq!(status, 200, "{second}");
    assert_ne!(second["refresh_token"], first["refresh_token"]);
    assert_eq!(room.server.record().double_redemptions(), 0);
    let (status, refusal) = room.refresh(&client, old).await;
    assert_eq!((status, &refusal["error"]), (400, &json!("invalid_grant")));
    assert_eq!(room.server.record().double_redemptions(), 1);
    let (status, _) = room.refresh(&client, second["refresh_token"].as_str().unwrap()).await;
    assert_eq!(status, 400, "the whole login is over");
    let refused = room.echo(second["access_token"].as_str().unwrap()).await.err().unwrap();
    assert_eq!(refused.status, 401);
}

#[tokio::test]
async fn a_static_refresh_token_stays_and_an_absent_one_is_not_there() {
    let room = Room::open(AuthScript::new().issuer(|issuer| issuer.refresh = Refresh::Static)).await;
    let (client, first) = room.log_in().await;
    for _ in 0..3 {
        let (status, next) = room.refresh(&client, first["refresh_token"].as_str().unwrap()).await;
        assert_eq!((status, next.get("refresh_token")), (200, None));
    }
    assert_eq!(room.server.record().tally().refreshes, 3);
    let room = Room::open(AuthScript::new().issuer(|issuer| issuer.refresh = Refresh::Absent)).await;
    assert_eq!(room.log_in().await.1.get("refresh_token"), None);
}

#[tokio::test]
async fn a_person_decides_on_a_page() {
    let room = Room::open(AuthScript::new().issuer(|issuer| issuer.consent = Consent::Page)).await;
    let client = room.register().await["client_id"].as_str().unwrap().to_owned();
    for decision in ["allow", "deny"] {
        let page = room.get(&format!("/authorize?{}", room.authorization(&client).text())).await;
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        let (page, _) = page.body().await;
        assert!(page.contains(&client) && page.contains("read write"), "{page}");
        assert!(page.contains(&format!("name=\"decision\" value=\"{decision}\"")), "{page}");
        let ticket = page.split("name=\"ticket\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let answer = Parameters::default().with("ticket", ticket).with("decision", decision);
        let sent_back = room.post("/consent", &answer).await;
        assert_eq!(sent_back.status, 302);
        let callback = sent_back.header("location").unwrap().to_owned();
        assert_eq!(parameter(&callback, "code").is_some(), decision == "allow", "{callback}");
        assert_eq!(parameter(&callback, "error").is_some(), decision == "deny", "{callback}");
        assert_eq!(parameter(&callback, "state").as_deref(), Some("the-state"));
        assert_eq!(room.post("/consent", &answer).await.status, 400, "decided once");
    }
}

#[tokio::test]
async fn a_browser_goes_the_way_of_a_person() {
    let script = AuthScript::new().client("app", None).issuer(|issuer| issuer.consent = Consent::Page);
    let room = Room::open(script.answer("/done", Answer::html(200, "all is well"))).await;
    let back = format!("{}/done", room.server.url()).replace("127.0.0.1", "localhost");
    let parameters = room.authorization("app").with("redirect_uri", &back);
    let page = browser::open(&format!("{}/authorize?{}", room.server.issuer(), parameters.text())).await.unwrap();
    assert!(page.body.contains("Allow access?"), "{page:?}");
    let page = page.press("allow").await.unwrap();
    assert_eq!((page.status, page.body.as_str(), page.visited.len()), (200, "all is well", 2));
    assert!(page.url.starts_with(&format!("{back}?code=")), "{page:?}");
    let seen = room.server.record().wait_for_request_to("/done", PATIENCE).await.unwrap();
    assert_eq!(seen.parameter("state").as_deref(), Some("the-state"));
}

#[tokio::test]
async fn documents_are_where_the_script_wants_them() {
    let script = AuthScript::new()
        .issuer(|issuer| {
            issuer.path = "/tenant".into();
            issuer.metadata = vec![IssuerMetadata::Oauth, IssuerMetadata::Oidc, IssuerMetadata::OidcBehindPath];
            issuer.own_origin = true;
        })
        .protection(|protection| {
            protection.mcp_path = "/deep/endpoint".into();
            protection.metadata = ResourceMetadata::AtRoot;
        });
    let room = Room::open(script).await;
    assert_ne!(room.issuer_address(), room.server.address());
    for path in [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ] {
        let about = room.get(path).await.json().await;
        assert_eq!(about["authorization_endpoint"], format!("{}/authorize", room.server.issuer()), "{path}");
    }
    assert_eq!(room.get("/.well-known/oauth-authorization-server").await.status, 404);
    assert_eq!(room.get("/.well-known/oauth-protected-resource").await.status, 404, "it is at the other origin");
    let about = RequestText::new("GET", "/.well-known/oauth-protected-resource").send(room.server.address()).await;
    assert_eq!(about.json().await["authorization_servers"], json!([room.server.issuer()]));
    assert_eq!(room.knock(&[]).await.status, 401);
}

#[tokio::test]
async fn servers_of_2025_03_26_have_the_authorization_server_and_no_document_about_themselves() {
    let script = AuthScript::new().without_resource_metadata().issuer(|issuer| issuer.metadata.clear());
    let room = Room::open(script).await;
    assert_eq!(room.knock(&[]).await.header("www-authenticate"), Some("Bearer"));
    assert_eq!(room.get("/.well-known/oauth-protected-resource/mcp").await.status, 404);
    assert_eq!(room.get("/.well-known/oauth-authorization-server").await.status, 404);
    let (_, tokens) = room.log_in().await;
    assert_eq!(room.echo(tokens["access_token"].as_str().unwrap()).await.ok().unwrap(), "hi");
}

#[tokio::test]
async fn a_call_can_need_more_than_the_rest() {
    let script = AuthScript::new().protection(|protection| {
        protection.scopes = vec!["read".into()];
        protection.needs.insert("tools/call:echo".into(), vec!["admin".into()]);
        protection.open_methods = vec!["tools/list".into()];
    });
    let room = Room::open(script).await;
    let (_, tokens) = room.log_in().await;
    let refusal = room.echo(tokens["access_token"].as_str().unwrap()).await.err().unwrap();
    assert_eq!(refusal.status, 403);
    let challenge = refusal.header("www-authenticate").unwrap();
    assert!(
        challenge.starts_with("Bearer error=\"insufficient_scope\", scope=\"read admin\", resource_metadata="),
        "{challenge}"
    );
    assert_eq!(room.server.record().tally().insufficient, 1);
    let open = RequestText::post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(open.send(room.server.address()).await.status, 400, "the service is reached and misses a session");
}

#[tokio::test]
async fn tokens_end_with_time_and_when_they_are_taken_back() {
    let room = Room::open(AuthScript::new().lifetime_ms(200)).await;
    let (client, tokens) = room.log_in().await;
    assert_eq!(tokens["expires_in"], 1);
    tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    let refusal = room.echo(tokens["access_token"].as_str().unwrap()).await.err().unwrap();
    assert!(refusal.header("www-authenticate").unwrap().contains("error=\"invalid_token\""));
    room.server.revoke_refresh_tokens();
    assert_eq!(room.refresh(&client, tokens["refresh_token"].as_str().unwrap()).await.0, 400);

    let room = Room::open(AuthScript::new()).await;
    let (_, tokens) = room.log_in().await;
    room.server.revoke_access_tokens();
    assert_eq!(room.echo(tokens["access_token"].as_str().unwrap()).await.err().unwrap().status, 401);
}

#[tokio::test]
async fn a_registered_secret_has_to_be_shown_the_registered_way() {
    for (registration, method) in
        [(Registration::SecretBasic, "client_secret_basic"), (Registration::SecretPost, "client_secret_post")]
    {
        let room = Room::open(AuthScript::new().issuer(|issuer| issuer.registration = registration)).await;
        let client = room.register().await;
        let (id, secret) = (client["client_id"].as_str().unwrap(), client["client_secret"].as_str().unwrap());
        assert_eq!(client["token_endpoint_auth_method"], method);
        let code = || async { room.redemption(id, &room.authorize(&room.authorization(id)).await) };
        let (by_header, by_form) = (code().await.without("client_id"), code().await.with("client_secret", secret));
        let header = room.post_with("/token", &by_header, &[("Authorization", &basic(id, secret))]).await.status;
        let form = room.token(&by_form).await.0;
        let expected = if method == "client_secret_basic" { (200, 401) } else { (401, 200) };
        assert_eq!((header, form), expected, "{method}");
        assert_eq!(room.token(&code().await).await.0, 401, "no secret at all");
        assert_eq!(room.token(&code().await.with("client_secret", "wrong")).await.0, 401);
    }
}

#[tokio::test]
async fn the_program_serves_until_its_input_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    std::fs::write(&path, AuthScript::new().client("known", Some("hush")).to_json()).unwrap();
    let mut child = tokio::process::Command::new(auth_server_path().unwrap())
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().parse().unwrap();
    assert_eq!(RequestText::get("/mcp").send(address).await.status, 401);
    let summary: Value = RequestText::get("/__summary").send(address).await.json().await;
    assert_eq!(summary["tally"]["unauthorized"], 1);
    assert_eq!(summary["requests"]["/mcp"], 1);
    drop(child.stdin.take());
    let ended = tokio::time::timeout(PATIENCE, child.wait()).await.expect("it does not end").unwrap();
    assert!(ended.success());
}
