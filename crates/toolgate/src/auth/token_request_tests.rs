//! Every grant as it is sent: headers, form, proof; what a nonce changes; and the login that an answer makes.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use url::Url;

use super::super::dpop::{Nonces, ProofKey};
use super::super::exchange::Exchange;
use super::super::journal::{Journal, StepOutcome};
use super::super::login::{ClientIdentity, ClientMethod, ClientOrigin, TokenType};
use super::super::scripted_exchange::{ScriptedExchange, SetClock, json};
use super::super::signature::SigningKey;
use super::super::token_error::{TokenError, TokenErrorKind};
use super::{Grant, TokenEndpoint, Wanted};
use crate::secret::Secret;

const GOOD: &str = r#"{"access_token":"acc3ss","token_type":"Bearer","expires_in":60,"refresh_token":"n3xt"}"#;

/// Everything an endpoint borrows.
struct Room {
    url: Url,
    client: ClientIdentity,
    key: Option<SigningKey>,
    proof: Option<ProofKey>,
    nonces: Nonces,
    clock: SetClock,
    journal: Journal,
}

impl Room {
    fn new(method: ClientMethod) -> Self {
        let client = ClientIdentity {
            issuer: "https://as.example".to_owned(),
            client_id: "m:e".to_owned(),
            client_secret: Some(Secret::new("s3cret")),
            method,
            origin: ClientOrigin::Settings,
            redirect_uri: None,
            expires_at: None,
        };
        let pem = Secret::new(include_str!("../../tests/fixtures/keys/rsa-pkcs8.pem"));
        Self {
            url: Url::parse("https://as.example/token?tenant=1").unwrap(),
            client,
            key: SigningKey::from_pem(&pem, None).ok(),
            proof: None,
            nonces: Nonces::default(),
            clock: SetClock::new(),
            journal: Journal::default(),
        }
    }

    fn endpoint<'a>(&'a self, exchange: &'a dyn Exchange) -> TokenEndpoint<'a> {
        TokenEndpoint {
            exchange,
            url: &self.url,
            issuer: &self.client.issuer,
            client: &self.client,
            key: self.key.as_ref(),
            proof: self.proof.as_ref(),
            nonces: &self.nonces,
            clock: &self.clock,
            journal: &self.journal,
        }
    }
}

fn claims(token: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

#[tokio::test]
async fn every_grant_is_sent_as_its_rule_says() {
    let secret = Secret::new("gr@nt");
    let verifier = Secret::new("v3rifier");
    let code = Grant::Code { code: &secret, verifier: &verifier, redirect_uri: "http://127.0.0.1:7777/cb" };
    let rows = [
        (
            code,
            "grant_type=authorization_code\ncode=gr@nt\ncode_verifier=v3rifier\nclient_id=m:e\n\
             redirect_uri=http://127.0.0.1:7777/cb\naudience=api\nresource=https://mcp.example/mcp\n",
        ),
        (
            Grant::Refresh(&secret),
            "grant_type=refresh_token\nrefresh_token=gr@nt\nclient_id=m:e\nscope=a b\naudience=api\n\
             resource=https://mcp.example/mcp\n",
        ),
        (
            Grant::ClientCredentials,
            "grant_type=client_credentials\nclient_id=m:e\nscope=a b\naudience=api\nresource=https://mcp.example/mcp\n",
        ),
        (
            Grant::DeviceCode(&secret),
            "grant_type=urn:ietf:params:oauth:grant-type:device_code\ndevice_code=gr@nt\naudience=api\n\
             resource=https://mcp.example/mcp\nclient_id=m:e\n",
        ),
        (
            Grant::JwtBearer(&secret),
            "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer\nassertion=gr@nt\nscope=a b\naudience=api\n\
             resource=https://mcp.example/mcp\nclient_id=m:e\n",
        ),
        (
            Grant::TokenExchange(&secret),
            "grant_type=urn:ietf:params:oauth:grant-type:token-exchange\n\
             requested_token_type=urn:ietf:params:oauth:token-type:id-jag\nsubject_token=gr@nt\n\
             subject_token_type=urn:ietf:params:oauth:token-type:id_token\nscope=a b\naudience=api\n\
             resource=https://mcp.example/mcp\nclient_id=m:e\n",
        ),
    ];
    let scopes = ["a".to_owned(), "b".to_owned()];
    let audiences = ["api".to_owned()];
    let wanted = Wanted { scopes: &scopes, audiences: &audiences, resource: Some("https://mcp.example/mcp") };
    for (grant, form) in rows {
        let exchange = ScriptedExchange::new([json(200, GOOD)]);
        let room = Room::new(ClientMethod::None);
        let token = room.endpoint(&exchange).redeem(grant, &wanted).await.unwrap();
        assert_eq!(token.access_token.expose(), "acc3ss");
        let asked = exchange.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].url, "https://as.example/token?tenant=1");
        assert_eq!(asked[0].form(), form);
        assert_eq!(asked[0].header("accept"), Some("application/json"));
        assert_eq!(asked[0].header("content-type"), Some("application/x-www-form-urlencoded"));
        assert_eq!(asked[0].header("authorization"), None);
        assert_eq!(asked[0].header("dpop"), None);
    }
}

#[tokio::test]
async fn the_client_shows_who_it_is_in_the_same_way_with_every_grant() {
    let secret = Secret::new("gr@nt");
    for grant in [Grant::Refresh(&secret), Grant::JwtBearer(&secret)] {
        for (method, header, posted) in [
            (ClientMethod::None, None, None),
            // `m%3Ae:s3cret`
            (ClientMethod::SecretBasic, Some("Basic bSUzQWU6czNjcmV0"), None),
            (ClientMethod::SecretPost, None, Some("s3cret")),
            (ClientMethod::PrivateKeyJwt, None, None),
        ] {
            let exchange = ScriptedExchange::new([json(200, GOOD)]);
            let room = Room::new(method);
            room.endpoint(&exchange).redeem(grant, &Wanted::default()).await.unwrap();
            let asked = &exchange.asked()[0];
            let fields = asked.fields();
            assert_eq!(asked.header("authorization"), header);
            assert_eq!(fields.get("client_secret").map(String::as_str), posted);
            assert_eq!(fields.get("client_id").map(String::as_str), Some("m:e"));
            let signs = method == ClientMethod::PrivateKeyJwt;
            assert_eq!(fields.contains_key("client_assertion"), signs);
            if signs {
                let claims = claims(&fields["client_assertion"]);
                assert_eq!((&claims["iss"], &claims["aud"]), (&"m:e".into(), &"https://as.example".into()));
                assert_eq!(fields["client_assertion_type"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
            }
        }
    }
}

#[tokio::test]
async fn a_nonce_is_shown_once_it_is_asked_for() {
    let ask_for = |nonce| {
        let body = br#"{"error":"use_dpop_nonce"}"#.to_vec();
        Ok((400, vec![("dpop-nonce", nonce)], body))
    };
    let bound = r#"{"access_token":"acc3ss","token_type":"DPoP"}"#;
    let exchange = ScriptedExchange::new([ask_for("one"), json(200, bound), json(200, bound)]);
    let mut room = Room::new(ClientMethod::PrivateKeyJwt);
    room.proof = Some(ProofKey::generate().unwrap());
    let endpoint = room.endpoint(&exchange);
    let token = endpoint.redeem(Grant::ClientCredentials, &Wanted::default()).await.unwrap();
    assert_eq!(token.token_type, TokenType::Dpop);
    endpoint.redeem(Grant::ClientCredentials, &Wanted::default()).await.unwrap();
    let asked = exchange.asked();
    let proofs: Vec<Value> = asked.iter().map(|asked| claims(asked.header("dpop").unwrap())).collect();
    let nonces: Vec<_> = proofs.iter().map(|claims| claims["nonce"].as_str()).collect();
    assert_eq!(nonces, [None, Some("one"), Some("one")]);
    assert_eq!(proofs[0]["htu"], "https://as.example/token");
    assert_eq!(proofs[0]["htm"], "POST");
    assert_ne!(proofs[0]["jti"], proofs[1]["jti"]);
    let statements: Vec<_> = asked.iter().map(|asked| asked.fields()["client_assertion"].clone()).collect();
    assert_ne!(statements[0], statements[1], "a statement is used once");
}

#[tokio::test]
async fn a_nonce_that_is_asked_for_again_and_again_is_shown_only_once() {
    let ask_for = |nonce| Ok((400, vec![("dpop-nonce", nonce)], br#"{"error":"use_dpop_nonce"}"#.to_vec()));
    for (answers, asked) in [
        (vec![ask_for("one"), ask_for("two")], 2),
        // Without a nonce there is nothing to show.
        (vec![json(400, r#"{"error":"use_dpop_nonce"}"#)], 1),
    ] {
        let exchange = ScriptedExchange::new(answers);
        let mut room = Room::new(ClientMethod::None);
        room.proof = Some(ProofKey::generate().unwrap());
        let error = room.endpoint(&exchange).redeem(Grant::ClientCredentials, &Wanted::default()).await.unwrap_err();
        assert_eq!(error.words, "the token endpoint https://as.example/token refused with `use_dpop_nonce`");
        assert_eq!(exchange.asked().len(), asked);
    }
}

#[tokio::test]
async fn failures_say_who_it_was_and_leave_no_secret_behind() {
    let secret = Secret::new("gr@nt");
    let echo = r#"{"error":"invalid_grant","error_description":"gr@nt of s3cret is void"}"#;
    let rows = [
        (
            json(400, echo),
            TokenErrorKind::Rejected("invalid_grant".to_owned()),
            "the token endpoint https://as.example/token refused with `invalid_grant`: … of … is void",
        ),
        (
            Err("no route to host"),
            TokenErrorKind::Transient,
            "the token endpoint https://as.example/token cannot be reached: no route to host",
        ),
        (json(503, ""), TokenErrorKind::Transient, "the token endpoint https://as.example/token answered 503"),
    ];
    for (scripted, kind, words) in rows {
        let exchange = ScriptedExchange::new([scripted]);
        let room = Room::new(ClientMethod::SecretPost);
        let error = room.endpoint(&exchange).redeem(Grant::Refresh(&secret), &Wanted::default()).await.unwrap_err();
        assert_eq!(error, TokenError { kind, words: words.to_owned() });
        let steps = room.journal.steps();
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].what, "POST https://as.example/token (refresh_token)");
        assert_eq!((steps[0].outcome, steps[0].detail.as_str()), (StepOutcome::Failed, words));
        assert!(!format!("{:?}", room.endpoint(&exchange)).contains("s3cret"));
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_not_asked() {
    let secret = Secret::new("gr@nt");
    let mut keyless = Room::new(ClientMethod::PrivateKeyJwt);
    keyless.key = None;
    let lost = Grant::Code { code: &secret, verifier: &secret, redirect_uri: "back" };
    for (room, grant, words) in [
        (
            keyless,
            Grant::ClientCredentials,
            "this client logs in with a private key, and `oauth.privateKey` is not set",
        ),
        (Room::new(ClientMethod::None), lost, "`oauth.redirectUri` is not an address"),
    ] {
        let exchange = ScriptedExchange::new([]);
        let error = room.endpoint(&exchange).redeem(grant, &Wanted::default()).await.unwrap_err();
        assert_eq!(error, TokenError::unasked(words));
    }
}

#[tokio::test]
async fn an_answer_makes_a_login() {
    let exchange = ScriptedExchange::new([json(200, GOOD)]);
    let mut room = Room::new(ClientMethod::None);
    room.proof = Some(ProofKey::generate().unwrap());
    let endpoint = room.endpoint(&exchange);
    let scopes = ["a".to_owned()];
    let wanted = Wanted { scopes: &scopes, audiences: &[], resource: Some("https://mcp.example/mcp") };
    let answer = endpoint.redeem(Grant::ClientCredentials, &wanted).await.unwrap();
    let first = endpoint.login(answer.clone(), &wanted, None);
    assert_eq!(first.scopes, ["a"], "what was asked for, as nothing was said");
    assert_eq!(first.expires_at, Some(SetClock::start() + Duration::from_secs(60)));
    assert_eq!(first.obtained_at, SetClock::start());
    assert_eq!((first.token_type, &first.proof_key), (TokenType::Bearer, &None), "the server knows no proofs");
    assert_eq!(first.token_endpoint, "https://as.example/token?tenant=1");
    assert_eq!(
        (first.issuer.as_str(), first.resource.as_deref()),
        ("https://as.example", Some("https://mcp.example/mcp"))
    );
    assert_eq!((&first.client, first.generation), (&room.client, 0));

    let bound = super::TokenAnswer {
        token_type: TokenType::Dpop,
        refresh_token: None,
        scopes: Some(vec!["b".to_owned()]),
        expires_in: None,
        ..answer.clone()
    };
    let second = endpoint.login(bound, &wanted, Some(&first));
    assert_eq!(second.refresh_token, Some(Secret::new("n3xt")), "the old one is kept");
    assert_eq!(second.proof_key.as_ref(), room.proof.as_ref().map(ProofKey::kept));
    assert_eq!((second.expires_at, second.generation), (None, 1));
    let third = endpoint.login(answer, &wanted, Some(&second));
    assert_eq!(third.scopes, ["b"], "what was granted before, as nothing was said");
}
