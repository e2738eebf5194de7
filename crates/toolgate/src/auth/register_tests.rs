//! Who we are to an authorization server: the order of the ways, what is sent when we are registered, and what is made of the answer.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use url::Url;

use super::super::account::LoginOptions;
use super::super::journal::Journal;
use super::super::login::{ClientIdentity, ClientMethod, ClientOrigin};
use super::super::scripted_exchange::{Scripted, ScriptedExchange, SetClock, json as scripted};
use super::{Choice, ClientRules, NoClient, Registration, choose, register, unknown_client};
use crate::error::Error;
use crate::secret::Secret;

const ISSUER: &str = "https://as.example";
const REDIRECT: &str = "http://127.0.0.1:7777/oauth/callback";
const DOCUMENT: &str = "https://toolgate.example/client.json";

fn endpoint() -> Url {
    Url::parse("https://as.example/register?a=b").unwrap()
}

fn kept() -> ClientIdentity {
    ClientIdentity {
        issuer: ISSUER.to_owned(),
        client_id: "kept".to_owned(),
        client_secret: None,
        method: ClientMethod::None,
        origin: ClientOrigin::Registered,
        redirect_uri: Some(REDIRECT.to_owned()),
        expires_at: None,
    }
}

fn by_hand() -> LoginOptions {
    LoginOptions { client_id: Some("mine".to_owned()), ..LoginOptions::default() }
}

fn with_document(address: &str) -> LoginOptions {
    LoginOptions { client_metadata_url: Some(address.to_owned()), ..LoginOptions::default() }
}

const NO_CLIENT: NoClient<'static> =
    NoClient { issuer: ISSUER, redirect_uri: Some(REDIRECT), tried: &[], is_silent: false, takes_documents: false };

fn told(error: &Error) -> String {
    format!("{error} / {}", error.hint().unwrap_or_default())
}

/// The choice on one line.
fn chosen(options: &LoginOptions, rules: &ClientRules<'_>, kept: Option<&ClientIdentity>) -> String {
    match choose(options, rules, Some(REDIRECT), kept, SetClock::start()) {
        Ok(Choice::Known(client)) => format!("{} {:?} {}", client.client_id, client.origin, client.method.as_str()),
        Ok(Choice::Register(endpoint)) => format!("register at {endpoint}"),
        Ok(Choice::Ask) => told(&unknown_client(NoClient { issuer: rules.issuer, ..NO_CLIENT })),
        Err(error) => told(&error),
    }
}

#[test]
fn the_ways_are_tried_in_order() {
    let endpoint = endpoint();
    let all =
        ClientRules { issuer: ISSUER, takes_documents: true, registration_endpoint: Some(&endpoint), methods: None };
    let no_documents = ClientRules { takes_documents: false, ..all };
    let nothing = ClientRules { registration_endpoint: None, ..no_documents };
    let both = LoginOptions { client_id: Some("mine".to_owned()), ..with_document(DOCUMENT) };
    let kept = kept();
    let none = LoginOptions::default();
    let rows = [
        (&both, &all, Some(&kept), "mine Settings none"),
        (&by_hand(), &nothing, None, "mine Settings none"),
        (&with_document(DOCUMENT), &all, Some(&kept), "https://toolgate.example/client.json Document none"),
        (&with_document(DOCUMENT), &no_documents, Some(&kept), "kept Registered none"),
        (&with_document(DOCUMENT), &no_documents, None, "register at https://as.example/register?a=b"),
        (&none, &all, Some(&kept), "kept Registered none"),
        (&none, &nothing, Some(&kept), "kept Registered none"),
        (&none, &all, None, "register at https://as.example/register?a=b"),
        (
            &none,
            &nothing,
            None,
            "the authorization server https://as.example registers no clients by itself / register a client there by hand \
             with the redirect URI `http://127.0.0.1:7777/oauth/callback`, and set `oauth.clientId`",
        ),
    ];
    for (options, rules, kept, expected) in rows {
        assert_eq!(chosen(options, rules, kept), expected);
    }
    let error = unknown_client(NoClient { redirect_uri: None, ..NO_CLIENT });
    assert_eq!(error.hint(), Some("register a client there by hand, and set `oauth.clientId`"));
    let tried = ["https://as.example/.well-known/oauth-authorization-server has no metadata".to_owned()];
    let silent = unknown_client(NoClient { redirect_uri: None, is_silent: true, tried: &tried, ..NO_CLIENT });
    assert_eq!(
        told(&silent),
        "no metadata of the authorization server https://as.example was found, so no client can be registered there: \
         https://as.example/.well-known/oauth-authorization-server has no metadata / set `oauth.issuer` to the address of its \
         metadata, or register a client there by hand, and set `oauth.clientId`"
    );
    let with_documents = unknown_client(NoClient { redirect_uri: None, takes_documents: true, ..NO_CLIENT });
    assert_eq!(
        with_documents.hint(),
        Some(
            "register a client there by hand, and set `oauth.clientId`; it also takes a published client document, named by \
             `oauth.clientMetadataUrl`"
        )
    );
}

#[test]
fn a_name_is_kept_for_its_server_its_address_and_its_time() {
    let endpoint = endpoint();
    let rules = ClientRules { issuer: ISSUER, registration_endpoint: Some(&endpoint), ..ClientRules::default() };
    let now = SetClock::start();
    let later = now + Duration::from_secs(1);
    for (kept, is_used) in [
        (kept(), true),
        (ClientIdentity { expires_at: Some(later), ..kept() }, true),
        (ClientIdentity { expires_at: Some(now), ..kept() }, false),
        (ClientIdentity { issuer: "https://other.example".to_owned(), ..kept() }, false),
        (ClientIdentity { issuer: format!("{ISSUER}/"), ..kept() }, false),
        (ClientIdentity { redirect_uri: Some("http://127.0.0.1:8888/oauth/callback".to_owned()), ..kept() }, false),
        (ClientIdentity { redirect_uri: None, ..kept() }, false),
        (ClientIdentity { origin: ClientOrigin::Settings, ..kept() }, false),
    ] {
        let used = chosen(&LoginOptions::default(), &rules, Some(&kept)) == "kept Registered none";
        assert_eq!(used, is_used, "{kept:?}");
    }
}

#[test]
fn a_client_from_the_settings_shows_who_it_is_in_the_best_way() {
    let methods = ["client_secret_post".to_owned(), "private_key_jwt".to_owned()];
    let rules =
        ClientRules { issuer: ISSUER, methods: Some(&methods), takes_documents: true, ..ClientRules::default() };
    let secret = LoginOptions { client_secret: Some(Secret::new("s")), ..by_hand() };
    let key = LoginOptions { private_key: Some(Secret::new("k")), ..secret.clone() };
    let wish = LoginOptions { client_method: Some("client_secret_basic".to_owned()), ..key.clone() };
    let signed = LoginOptions { private_key: Some(Secret::new("k")), ..with_document(DOCUMENT) };
    for (options, expected) in [
        (&secret, "mine Settings client_secret_post"),
        (&key, "mine Settings private_key_jwt"),
        (&wish, "mine Settings client_secret_basic"),
        (&signed, "https://toolgate.example/client.json Document private_key_jwt"),
    ] {
        assert_eq!(chosen(options, &rules, None), expected);
    }
}

#[test]
fn a_document_has_to_be_a_page_that_nobody_can_change_on_the_way() {
    let rules = ClientRules { issuer: ISSUER, takes_documents: true, ..ClientRules::default() };
    let hint = "it looks like `https://example.com/oauth/client.json`";
    for address in [
        "http://toolgate.example/client.json",
        "https://toolgate.example",
        "https://toolgate.example/",
        "https://me@toolgate.example/client.json",
        "https://:x@toolgate.example/client.json",
        "https://toolgate.example/client.json#a",
        "client.json",
    ] {
        let expected = format!("`oauth.clientMetadataUrl` is `{address}`, which cannot name a client / {hint}");
        assert_eq!(chosen(&with_document(address), &rules, None), expected);
    }
}

fn registration<'a>(methods: Option<&'a [String]>) -> Registration<'a> {
    Registration {
        rules: ClientRules { issuer: ISSUER, methods, ..ClientRules::default() },
        wish: None,
        redirect_uri: Some(REDIRECT),
        scopes: &[],
        on_another_device: false,
    }
}

/// Registers, and gives what was sent.
async fn sent(registration: &Registration<'_>) -> Value {
    let exchange = ScriptedExchange::new([scripted(201, r#"{"client_id":"new"}"#)]);
    register(&exchange, &endpoint(), registration, &Journal::default()).await.unwrap();
    let asked = &exchange.asked()[0];
    assert_eq!(asked.url, "https://as.example/register?a=b");
    assert_eq!(
        (asked.header("accept"), asked.header("content-type")),
        (Some("application/json"), Some("application/json"))
    );
    serde_json::from_str(&asked.body).unwrap()
}

#[tokio::test]
async fn a_registration_says_what_kind_of_client_we_are() {
    let plain = json!({
        "client_name": "toolgate",
        "application_type": "native",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    assert_eq!(sent(&registration(None)).await, plain);

    let scopes = ["a".to_owned(), "b".to_owned()];
    let more = Registration { scopes: &scopes, on_another_device: true, ..registration(None) };
    let mut expected = plain.clone();
    expected["scope"] = json!("a b");
    expected["grant_types"] =
        json!(["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]);
    assert_eq!(sent(&more).await, expected);

    let device = Registration { redirect_uri: None, on_another_device: true, ..registration(None) };
    let expected = json!({
        "client_name": "toolgate",
        "application_type": "native",
        "grant_types": ["refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        "response_types": [],
        "token_endpoint_auth_method": "none",
    });
    assert_eq!(sent(&device).await, expected);
}

/// What the server lists, what the settings say, and what is asked for.
type Asked<'a> = (Option<&'a [&'a str]>, Option<&'a str>, &'a str);

#[tokio::test]
async fn a_secret_is_asked_for_only_where_there_has_to_be_one() {
    let rows: [Asked<'_>; 6] = [
        (None, None, "none"),
        (Some(&["client_secret_basic", "none"]), None, "none"),
        (Some(&["client_secret_basic"]), None, "client_secret_basic"),
        (Some(&["client_secret_post"]), None, "client_secret_post"),
        (Some(&["private_key_jwt"]), None, "client_secret_basic"),
        (Some(&["none"]), Some("client_secret_post"), "client_secret_post"),
    ];
    for (methods, wish, expected) in rows {
        let methods: Option<Vec<String>> = methods.map(|list| list.iter().map(|&name| name.to_owned()).collect());
        let registration = Registration { wish, ..registration(methods.as_deref()) };
        assert_eq!(sent(&registration).await["token_endpoint_auth_method"], expected);
    }
    let wish = Registration { wish: Some("private_key_jwt"), ..registration(None) };
    let exchange = ScriptedExchange::new([]);
    let error = register(&exchange, &endpoint(), &wish, &Journal::default()).await.unwrap_err();
    let message = "`oauth.tokenEndpointAuthMethod` is `private_key_jwt`, and there is no `oauth.privateKey`";
    assert_eq!(error.to_string(), message);
}

/// What is made of an answer, on one line.
async fn read(answer: Scripted) -> String {
    let exchange = ScriptedExchange::new([answer]);
    let journal = Journal::default();
    let outcome = register(&exchange, &endpoint(), &registration(None), &journal).await;
    let steps = journal.steps();
    assert_eq!(steps[0].what, "POST https://as.example/register (registration)");
    match outcome {
        Ok(client) => {
            assert_eq!((client.issuer.as_str(), client.origin), (ISSUER, ClientOrigin::Registered));
            assert_eq!(client.redirect_uri.as_deref(), Some(REDIRECT));
            assert!(!steps[0].detail.contains("s3cret"));
            let secret = client.client_secret.map_or("-".to_owned(), Secret::into_exposed);
            let end = client.expires_at.map_or(0, |end| end.duration_since(UNIX_EPOCH).unwrap().as_secs());
            format!("{} {secret} {} {end}", client.client_id, client.method.as_str())
        }
        Err(error) => {
            assert_eq!(steps[0].detail, error.to_string());
            let who = "the registration endpoint https://as.example/register ";
            format!("{} / {}", error.to_string().strip_prefix(who).unwrap(), error.hint().unwrap())
        }
    }
}

#[tokio::test]
async fn the_answer_is_read_leniently() {
    for (body, expected) in [
        (r#"{"client_id":"new"}"#, "new - none 0"),
        (r#"{"client_id":"new","client_secret":"s3cret"}"#, "new s3cret client_secret_basic 0"),
        (
            r#"{"client_id":"new","client_secret":"s3cret","client_secret_expires_at":0}"#,
            "new s3cret client_secret_basic 0",
        ),
        (
            r#"{"client_id":"new","client_secret":"s3cret","client_secret_expires_at":1900000000}"#,
            "new s3cret client_secret_basic 1900000000",
        ),
        (
            r#"{"client_id":"new","client_secret":"s3cret","client_secret_expires_at":"1900000000"}"#,
            "new s3cret client_secret_basic 1900000000",
        ),
        (r#"{"client_id":"new","client_secret_expires_at":1900000000}"#, "new - none 0"),
        (r#"{"client_id":"new","client_secret":"","client_secret_expires_at":-1}"#, "new - none 0"),
        (
            r#"{"client_id":"new","client_secret":"s3cret","token_endpoint_auth_method":"client_secret_post"}"#,
            "new s3cret client_secret_post 0",
        ),
        (r#"{"client_id":"new","client_secret":"s3cret","token_endpoint_auth_method":"none"}"#, "new s3cret none 0"),
        (r#"{"client_id":"new","token_endpoint_auth_method":null,"redirect_uris":null}"#, "new - none 0"),
        (r#"{"client_id":"new","redirect_uris":[]}"#, "new - none 0"),
        (r#"{"client_id":"new","redirect_uris":["x","http://127.0.0.1:7777/oauth/callback"]}"#, "new - none 0"),
        (r#"{"client_id":"new","redirect_uris":["HTTP://127.0.0.1:7777/oauth/callback"]}"#, "new - none 0"),
    ] {
        assert_eq!(read(scripted(201, body)).await, expected, "{body}");
        assert_eq!(read(scripted(200, body)).await, expected, "{body}");
    }
}

#[tokio::test]
async fn what_we_cannot_live_with_is_refused_in_words() {
    let hand = "register a client there by hand with the redirect URI `http://127.0.0.1:7777/oauth/callback`, and set `oauth.clientId`";
    let later = "try again later";
    let rows = [
        (scripted(201, "{}"), "gave no client ID", hand),
        (scripted(201, r#"{"client_id":""}"#), "gave no client ID", hand),
        (scripted(201, r#"{"client_id":7}"#), "gave no client ID", hand),
        (scripted(201, r#"{"client_id":"a\nb"}"#), "gave a client ID that cannot be used", hand),
        (
            scripted(201, r#"{"client_id":"new","redirect_uris":["https://evil.example/"]}"#),
            "registered other redirect URIs than `http://127.0.0.1:7777/oauth/callback`",
            hand,
        ),
        (
            scripted(201, r#"{"client_id":"new","token_endpoint_auth_method":"client_secret_basic"}"#),
            "wants `client_secret_basic` and gave no client secret",
            hand,
        ),
        (
            scripted(201, r#"{"client_id":"new","token_endpoint_auth_method":"private_key_jwt"}"#),
            "wants clients to show who they are by `private_key_jwt`, which was not asked for",
            hand,
        ),
        (
            scripted(201, r#"{"client_id":"new","token_endpoint_auth_method":"tls_client_auth"}"#),
            "wants clients to show who they are by `tls_client_auth`, which was not asked for",
            hand,
        ),
        (
            scripted(400, r#"{"error":"invalid_redirect_uri"}"#),
            "refused with `invalid_redirect_uri` (it does not take the redirect URI `http://127.0.0.1:7777/oauth/callback`)",
            hand,
        ),
        (
            scripted(400, r#"{"error":"invalid_client_metadata","error_description":"no native"}"#),
            "refused with `invalid_client_metadata`: no native (it does not take clients like this one)",
            hand,
        ),
        (
            scripted(400, r#"{"error":"unapproved_software_statement"}"#),
            "refused with `unapproved_software_statement` (it takes only programs that were approved before)",
            hand,
        ),
        (
            scripted(401, r#"{"error":"invalid_token"}"#),
            "refused with `invalid_token` (it registers only clients of people it knows)",
            hand,
        ),
        (scripted(400, r#"{"error":"other"}"#), "refused with `other`", hand),
        (scripted(403, "<html>"), "answered 403 with a page instead of data", hand),
        (scripted(404, ""), "answered 404 with nothing", hand),
        (scripted(500, ""), "answered 500", later),
        (Err("connection refused"), "cannot be reached: connection refused", later),
    ];
    for (answer, words, hint) in rows {
        assert_eq!(read(answer).await, format!("{words} / {hint}"));
    }
}

#[tokio::test]
async fn where_the_scopes_are_not_taken_the_client_goes_without() {
    let scopes = ["a".to_owned(), "b".to_owned()];
    let refusal = r#"{"error":"invalid_client_metadata","error_description":"no such scope"}"#;
    let with_scopes = Registration { scopes: &scopes, ..registration(None) };
    let exchange = ScriptedExchange::new([scripted(400, refusal), scripted(201, r#"{"client_id":"new"}"#)]);
    let journal = Journal::default();
    let client = register(&exchange, &endpoint(), &with_scopes, &journal).await.unwrap();
    assert_eq!(client.client_id, "new");
    let sent: Vec<Value> = exchange.asked().iter().map(|asked| serde_json::from_str(&asked.body).unwrap()).collect();
    assert_eq!((&sent[0]["scope"], &sent[1]["scope"]), (&json!("a b"), &Value::Null));
    let told = "refused with `invalid_client_metadata`: no such scope; asking again without scopes";
    assert_eq!(journal.steps()[0].detail, told);

    let exchange = ScriptedExchange::new([scripted(400, refusal), scripted(400, refusal)]);
    let error = register(&exchange, &endpoint(), &with_scopes, &Journal::default()).await.unwrap_err();
    assert!(error.to_string().contains("`invalid_client_metadata`: no such scope"), "{error}");
    let exchange = ScriptedExchange::new([scripted(400, r#"{"error":"invalid_redirect_uri"}"#)]);
    register(&exchange, &endpoint(), &with_scopes, &Journal::default()).await.unwrap_err();
}
