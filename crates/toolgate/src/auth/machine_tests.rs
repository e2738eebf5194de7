//! Logins without a person, as they are sent, and that nothing is tried twice.

use url::Url;

use super::super::dpop::{Nonces, ProofKey};
use super::super::journal::Journal;
use super::super::login::{ClientIdentity, ClientMethod, ClientOrigin, Login, TokenType};
use super::super::scripted_exchange::{Scripted, ScriptedExchange, SetClock, json};
use super::super::token_error::{TokenError, TokenErrorKind};
use super::super::token_request::{TokenEndpoint, Wanted};
use super::{IdentityProvider, client_credentials, enterprise, refresh, workload_identity};
use crate::secret::Secret;

const TOKEN: &str = r#"{"access_token":"acc3ss","expires_in":60}"#;

struct Room {
    exchange: ScriptedExchange,
    url: Url,
    company: Url,
    client: ClientIdentity,
    proof: Option<ProofKey>,
    nonces: Nonces,
    clock: SetClock,
    journal: Journal,
    scopes: [String; 1],
}

impl Room {
    fn new(method: ClientMethod, answers: impl IntoIterator<Item = Scripted>) -> Self {
        let client = ClientIdentity {
            issuer: "https://as.example/tenant".to_owned(),
            client_id: "me".to_owned(),
            client_secret: Some(Secret::new("s3cret")),
            method,
            origin: ClientOrigin::Settings,
            redirect_uri: None,
            expires_at: None,
        };
        Self {
            exchange: ScriptedExchange::new(answers),
            url: Url::parse("https://as.example/token").unwrap(),
            company: Url::parse("https://idp.example/token").unwrap(),
            client,
            proof: None,
            nonces: Nonces::default(),
            clock: SetClock::new(),
            journal: Journal::default(),
            scopes: ["a".to_owned()],
        }
    }

    fn endpoint(&self) -> TokenEndpoint<'_> {
        TokenEndpoint {
            exchange: &self.exchange,
            url: &self.url,
            issuer: &self.client.issuer,
            client: &self.client,
            key: None,
            proof: self.proof.as_ref(),
            nonces: &self.nonces,
            clock: &self.clock,
            journal: &self.journal,
        }
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted { scopes: &self.scopes, audiences: &[], resource: Some("https://mcp.example/mcp") }
    }

    fn forms(&self) -> Vec<String> {
        self.exchange.asked().iter().map(|asked| asked.form()).collect()
    }
}

#[tokio::test]
async fn a_machine_logs_in_as_itself() {
    let room = Room::new(ClientMethod::SecretBasic, [json(200, TOKEN)]);
    let login = client_credentials(&room.endpoint(), &room.wanted()).await.unwrap();
    assert_eq!((login.access_token.expose(), login.token_type), ("acc3ss", TokenType::Bearer));
    assert_eq!((login.scopes.as_slice(), login.issuer.as_str()), (room.scopes.as_slice(), "https://as.example/tenant"));
    let form = "grant_type=client_credentials\nscope=a\nresource=https://mcp.example/mcp\nclient_id=me\n";
    assert_eq!(room.forms(), [form]);
    assert_eq!(room.exchange.asked()[0].header("authorization"), Some("Basic bWU6czNjcmV0"));
}

#[tokio::test]
async fn a_workload_logs_in_with_the_statement_about_it() {
    let room = Room::new(ClientMethod::None, [json(200, TOKEN)]);
    let statement = Secret::new("w0rkload");
    let login = workload_identity(&room.endpoint(), &statement, &room.wanted()).await.unwrap();
    assert_eq!((login.refresh_token, login.generation), (None, 0));
    let form = "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer\nassertion=w0rkload\nscope=a\n\
                resource=https://mcp.example/mcp\nclient_id=me\n";
    assert_eq!(room.forms(), [form]);
}

#[tokio::test]
async fn what_is_refused_is_told_and_not_tried_again() {
    for code in ["invalid_grant", "invalid_scope", "unauthorized_client"] {
        let body = format!(r#"{{"error":"{code}","error_description":"w0rkload is out"}}"#);
        let room = Room::new(ClientMethod::None, [json(400, &body)]);
        let error = workload_identity(&room.endpoint(), &Secret::new("w0rkload"), &room.wanted()).await.unwrap_err();
        let words = format!("the token endpoint https://as.example/token refused with `{code}`: … is out");
        assert_eq!(error, TokenError { kind: TokenErrorKind::Rejected(code.to_owned()), words });
        assert_eq!(room.exchange.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_login_at_the_company_is_exchanged_there_and_here() {
    let id_jag = r#"{"access_token":"st@tement","issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","token_type":"N_A"}"#;
    let exchanged = "grant_type=urn:ietf:params:oauth:grant-type:token-exchange\n\
         requested_token_type=urn:ietf:params:oauth:token-type:id-jag\nsubject_token=1d-token\n\
         subject_token_type=urn:ietf:params:oauth:token-type:id_token\nscope=a\naudience=https://as.example/tenant\n\
         resource=https://mcp.example/mcp\nclient_id=us\n";
    let redeemed = "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer\nassertion=st@tement\nscope=a\n\
         resource=https://mcp.example/mcp\nclient_id=me\n";
    let id_token = Secret::new("1d-token");
    let company_secret = Secret::new("c0mpany");
    for (client_secret, header) in [(None, None), (Some(&company_secret), Some("Basic dXM6YzBtcGFueQ=="))] {
        let mut room = Room::new(ClientMethod::SecretBasic, [json(200, id_jag), json(200, TOKEN)]);
        room.proof = Some(ProofKey::generate().unwrap());
        let provider =
            IdentityProvider { token_url: &room.company, client_id: "us", client_secret, id_token: &id_token };
        let login = enterprise(&room.endpoint(), &provider, &room.wanted()).await.unwrap();
        assert_eq!((login.access_token.expose(), login.client.client_id.as_str()), ("acc3ss", "me"));
        assert_eq!(room.forms(), [exchanged, redeemed]);
        let asked = room.exchange.asked();
        assert_eq!(
            [asked[0].url.as_str(), asked[1].url.as_str()],
            ["https://idp.example/token", "https://as.example/token"]
        );
        assert_eq!(asked[0].header("authorization"), header);
        assert_eq!(asked[1].header("authorization"), Some("Basic bWU6czNjcmV0"));
        assert!(asked[0].header("dpop").is_none() && asked[1].header("dpop").is_some());
    }
}

#[tokio::test]
async fn a_company_that_refuses_ends_the_login() {
    let room = Room::new(ClientMethod::None, [json(400, r#"{"error":"invalid_grant"}"#)]);
    let id_token = Secret::new("1d-token");
    let provider =
        IdentityProvider { token_url: &room.company, client_id: "us", client_secret: None, id_token: &id_token };
    let error = enterprise(&room.endpoint(), &provider, &room.wanted()).await.unwrap_err();
    assert_eq!(error.words, "the token endpoint https://idp.example/token refused with `invalid_grant`");
    assert_eq!(room.exchange.asked().len(), 1);
}

#[tokio::test]
async fn a_renewal_keeps_what_was_not_said_anew() {
    let rotated = r#"{"access_token":"second","refresh_token":"r2","scope":"a b"}"#;
    let kept = r#"{"access_token":"third"}"#;
    let room = Room::new(ClientMethod::None, [json(200, TOKEN), json(200, rotated), json(200, kept)]);
    let (endpoint, wanted) = (room.endpoint(), room.wanted());
    let first = client_credentials(&endpoint, &wanted).await.unwrap();
    let first = Login { refresh_token: Some(Secret::new("r1")), ..first };
    let second = refresh(&endpoint, &first, &wanted).await.unwrap();
    let third = refresh(&endpoint, &second, &wanted).await.unwrap();
    assert_eq!(third.refresh_token, Some(Secret::new("r2")));
    assert_eq!((third.access_token.expose(), third.scopes.join(" ").as_str(), third.generation), ("third", "a b", 2));
    let form = |token| {
        format!("grant_type=refresh_token\nrefresh_token={token}\nclient_id=me\nresource=https://mcp.example/mcp\n")
    };
    assert_eq!(room.forms()[1..], [form("r1"), form("r2")]);

    let ended = Login { refresh_token: None, ..third };
    let error = refresh(&endpoint, &ended, &wanted).await.unwrap_err();
    assert_eq!(error, TokenError::unasked("the login has ended, and there is nothing to renew it with"));
}
