//! Logins that work: every place for metadata, every kind of client, every way a person or a machine can log in.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate::auth::LoginWish;
use toolgate::auth::store::TokenStore;
use toolgate::kept::KeptOffers;
use toolgate::{Host, Memory};
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::{
    Consent, DeviceScript, IssuerMetadata, KnownClient, Registration, ResourceMetadata,
};

use crate::login_room::{Case, LoginRoom, Way, check};

#[tokio::test]
async fn metadata_is_found_wherever_it_may_be() {
    let at_root = || AuthScript::new().protection(|protection| protection.metadata = ResourceMetadata::AtRoot);
    let plain =
        |script: AuthScript| script.protection(|protection| protection.challenges = Some(vec!["Bearer".to_owned()]));
    let issuer = |path: &'static str, metadata: IssuerMetadata| {
        AuthScript::new().issuer(move |issuer| {
            issuer.path = path.to_owned();
            issuer.metadata = vec![metadata];
        })
    };
    let old = || AuthScript::new().without_resource_metadata();
    check(vec![
        Case::new("in the challenge, at the path", AuthScript::new()),
        Case::new("at the path, which nobody says", plain(AuthScript::new())),
        Case::new("at the root, which nobody says", plain(at_root())),
        Case::new("at the root, in the challenge", at_root()),
        Case::new("of an authorization server elsewhere", AuthScript::new().issuer(|issuer| issuer.own_origin = true)),
        Case::new("of an issuer with a path", issuer("/tenant", IssuerMetadata::Oauth)),
        Case::new("OpenID Connect", issuer("", IssuerMetadata::Oidc)),
        Case::new("OpenID Connect, before the path", issuer("/tenant", IssuerMetadata::Oidc)),
        Case::new("OpenID Connect, behind the path", issuer("/tenant", IssuerMetadata::OidcBehindPath)),
        Case::new("2025-03-26, with metadata", old()),
        Case::new("2025-03-26, without any", old().issuer(|issuer| issuer.metadata.clear())),
        Case::new("in the settings", old().issuer(|issuer| issuer.metadata.clear())).oauth(json!({
            "authorizationUrl": "$ORIGIN/authorize", "tokenUrl": "$ORIGIN/token", "registrationUrl": "$ORIGIN/register",
        })),
        // The authorization server names the registration endpoint.
        Case::new("in the settings, without a client", old()).oauth(json!({
            "enabled": true, "authorizationUrl": "$ORIGIN/authorize", "tokenUrl": "$ORIGIN/token", "scopes": ["read"],
        })),
        Case::new("in the settings, with an issuer", issuer("/tenant", IssuerMetadata::Oauth)).oauth(json!({
            "authorizationUrl": "$ORIGIN/tenant/authorize", "tokenUrl": "$ORIGIN/tenant/token", "issuer": "$ORIGIN/tenant",
        })),
        Case::new(
            "with a resource that covers more",
            AuthScript::new().protection(|protection| {
                protection.metadata_members.insert("resource".to_owned(), Some(json!("$ORIGIN/")));
            }),
        ),
        Case::new(
            "with the resource that must be named",
            AuthScript::new().issuer(|issuer| issuer.needs_resource = true),
        ),
    ])
    .await;
}

#[tokio::test]
async fn every_kind_of_client_is_taken() {
    let registered = |how: Registration| AuthScript::new().issuer(|issuer| issuer.registration = how);
    let known = |method: &str, secret: Option<&str>| {
        let client = KnownClient {
            id: "toolgate".to_owned(),
            secret: secret.map(str::to_owned),
            method: Some(method.to_owned()),
            ..KnownClient::default()
        };
        registered(Registration::Absent).issuer(|issuer| issuer.clients.push(client))
    };
    let settings = |more: Value| {
        let mut oauth = json!({"clientId": "toolgate"});
        oauth.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        oauth
    };
    let secret = json!({"clientSecret": "very-secret"});
    let post = json!({"clientSecret": "very-secret", "tokenEndpointAuthMethod": "client_secret_post"});
    check(vec![
        Case::new("registered, without a secret", registered(Registration::Public)),
        Case::new("registered, with a secret for the header", registered(Registration::SecretBasic)),
        Case::new("registered, with a secret for the form", registered(Registration::SecretPost)),
        Case::new("known, without a secret", known("none", None)).oauth(settings(json!({}))).seen("authorize token"),
        Case::new("known, with a secret for the header", known("client_secret_basic", Some("very-secret")))
            .oauth(settings(secret))
            .seen("authorize token"),
        Case::new("known, with a secret for the form", known("client_secret_post", Some("very-secret")))
            .oauth(settings(post))
            .seen("authorize token"),
        Case::new("asked for", known("client_secret_basic", Some("very-secret")))
            .way(Way::KnowsClient("toolgate", "very-secret"))
            .seen("authorize token"),
        Case::new(
            "named by a document",
            registered(Registration::Absent).issuer(|issuer| issuer.client_documents = true),
        )
        .oauth(json!({"clientMetadataUrl": "https://toolgate.example/client.json"}))
        .seen("authorize token"),
    ])
    .await;
}

/// A key for tests, and its public half.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9O6XG7lCrF9LoIFb\nqRJELWRIlObPF2+nnXWe2t6fRqehRANCAARTDOxAWM3XTROLuD/5A+A0GRK8ubzv\nHBRSREXtPrI9sc3WLTlx1xjJBGQgsW7uMpv7mlDa/CRm4BCFlibIMQrz\n-----END PRIVATE KEY-----\n";

fn public_key() -> Value {
    json!({
        "kty": "EC", "crv": "P-256",
        "x": "UwzsQFjN100Ti7g_-QPgNBkSvLm87xwUUkRF7T6yPbE", "y": "zdYtOXHXGMkEZCCxbu4ym_uaUNr8JGbgEIWWJsgxCvM",
    })
}

#[tokio::test]
async fn machines_and_keys_are_taken() {
    let keyed = || {
        let client = KnownClient { id: "toolgate".to_owned(), key: Some(public_key()), ..KnownClient::default() };
        AuthScript::new().issuer(|issuer| issuer.clients.push(client))
    };
    let oauth = |grant: &str| json!({"clientId": "toolgate", "grantType": grant, "privateKey": KEY});
    let secret = json!({"clientId": "toolgate", "grantType": "client_credentials", "clientSecret": "very-secret"});
    check(vec![
        Case::new("a person, with a key", keyed()).oauth(oauth("authorization_code")).seen("authorize token"),
        Case::new("a machine, with a key", keyed()).oauth(oauth("client_credentials")).seen("token"),
        Case::new("a machine, with a secret", AuthScript::new().client("toolgate", Some("very-secret")))
            .oauth(secret)
            .seen("token"),
    ])
    .await;
}

#[tokio::test]
async fn a_person_may_come_back_in_any_way() {
    let nameless = || AuthScript::new().omits("authorization_response_iss_parameter_supported").callback("iss", None);
    let page = AuthScript::new().issuer(|issuer| issuer.consent = Consent::Page);
    check(vec![
        Case::new("by allowing it on a page", page).way(Way::Presses("allow")).seen("register authorize consent token"),
        Case::new("by pasting the address", AuthScript::new()).way(Way::PastesAddress),
        Case::new("by pasting the address of a server that does not name itself", nameless()).way(Way::PastesAddress),
        Case::new("by pasting the code", nameless()).way(Way::PastesCode),
    ])
    .await;
}

#[tokio::test]
async fn a_person_may_use_another_device() {
    let device = |polls: &[&str]| {
        let polls = polls.iter().map(|&poll| poll.to_owned()).collect();
        AuthScript::new().issuer(|issuer| {
            issuer.clients.push(KnownClient { id: "toolgate".to_owned(), ..KnownClient::default() });
            issuer.device = Some(DeviceScript { polls, ..DeviceScript::default() });
        })
    };
    check(vec![
        Case::new("at once", device(&[])).oauth(json!({"clientId": "toolgate"})).on_device().seen("device token"),
    ])
    .await;
}

#[tokio::test]
async fn what_was_offered_before_a_login_is_not_remembered_after_it() {
    let room = LoginRoom::new(AuthScript::new(), &json!({}), Way::Opens).await;
    let is_kept = || {
        let servers = room.servers();
        servers.iter().all(|server| KeptOffers::new(&Arc::new(room.env())).load(server).is_some())
    };
    let builder = Host::builder(room.env()).front_end(Arc::new(room.person.clone())).token_store(TokenStore::File);
    let host = builder.memory(Memory::Renewed).for_one_question().build();
    assert_eq!(room.connect(&host).await, "connected");
    host.shutdown().await;
    assert!(is_kept());
    assert_eq!(room.log_in(&room.host(), &LoginWish::default()).await.0, "logged in");
    assert!(!is_kept(), "it may be somebody else who has logged in");
}
