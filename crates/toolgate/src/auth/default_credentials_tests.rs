//! Files with credentials of every kind, against token endpoints on this machine, and what is said about files that cannot be used.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::form_urlencoded;

use super::super::loopback::{Answer, Loopback};
use super::DefaultCredentials;
use crate::env::{HostDirs, HostEnv, SystemClock};

/// Made for tests, and used nowhere else.
const RSA_PKCS8: &str = include_str!("../../tests/fixtures/keys/rsa-pkcs8.pem");
const RSA_PKCS1: &str = include_str!("../../tests/fixtures/keys/rsa-pkcs1.pem");

/// A home in which credentials may lie.
struct Room {
    folder: TempDir,
    vars: BTreeMap<String, String>,
}

impl Room {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), vars: BTreeMap::new() }
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    /// A file that `GOOGLE_APPLICATION_CREDENTIALS` names, from the folder of the work.
    fn file(self, text: &str) -> Self {
        fs::write(self.folder.path().join("key.json"), text).unwrap();
        self.variable("GOOGLE_APPLICATION_CREDENTIALS", "key.json")
    }

    fn env(&self) -> HostEnv {
        let at = |name: &str| self.folder.path().join(name);
        HostEnv {
            vars: self.vars.clone(),
            dirs: HostDirs { user: at("user"), system: at("etc"), home: Some(at("home")) },
            workspace: self.folder.path().into(),
            clock: Arc::new(SystemClock),
        }
    }

    fn find(&self) -> crate::error::Result<DefaultCredentials> {
        DefaultCredentials::find(&self.env(), &["scope-a".to_owned(), "scope-b".to_owned()])
    }

    /// The message and the hint of what is wrong, without the folder in them.
    fn wrong(&self) -> (String, String) {
        let error = self.find().unwrap_err();
        let message = error.to_string().replace(&self.folder.path().display().to_string(), "{room}");
        (message, error.hint().unwrap_or_default().to_owned())
    }
}

fn user(token_uri: &str) -> Value {
    json!({
        "type": "authorized_user", "client_id": "me", "client_secret": "s3cret", "refresh_token": "r3fresh",
        "token_uri": token_uri, "quota_project_id": "file-pays",
    })
}

fn service_account() -> Value {
    json!({
        "type": "service_account", "client_email": "robot@project.iam.gserviceaccount.com", "private_key_id": "key-1",
        "private_key": RSA_PKCS8, "project_id": "project", "token_uri": "https://oauth2.googleapis.com/token",
    })
}

fn token() -> Answer {
    Answer::json(r#"{"access_token": "t0ken", "expires_in": 3600, "token_type": "Bearer"}"#)
}

fn fields(body: &str) -> BTreeMap<String, String> {
    form_urlencoded::parse(body.as_bytes()).into_owned().collect()
}

async fn authorization(credentials: &DefaultCredentials) -> String {
    let value = credentials.authorization().await.unwrap();
    assert!(value.is_sensitive());
    value.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_person_is_known_by_a_refresh_token_which_is_redeemed_once() {
    let google = Loopback::serving(vec![("/token", token())]).await;
    let credentials = Room::new().file(&user(&google.fill("{origin}/token")).to_string()).find().unwrap();
    assert_eq!(google.asked(), Vec::<String>::new(), "nothing is sent before it is needed");
    for _ in 0..3 {
        assert_eq!(authorization(&credentials).await, "Bearer t0ken");
    }
    assert_eq!(google.asked(), ["POST /token"]);
    let sent: Value = serde_json::from_str(&google.bodies()[0]).unwrap();
    assert_eq!(
        sent,
        json!({"grant_type": "refresh_token", "client_id": "me", "client_secret": "s3cret",
               "refresh_token": "r3fresh", "scopes": "scope-a scope-b"})
    );
}

#[tokio::test]
async fn a_service_account_signs_for_itself() {
    let credentials = Room::new().file(&service_account().to_string()).find().unwrap();
    let header = authorization(&credentials).await;
    let jwt = header.strip_prefix("Bearer ").unwrap();
    let (signed, signature) = jwt.rsplit_once('.').unwrap();
    let der: String = RSA_PKCS1.lines().filter(|line| !line.starts_with("-----")).collect();
    let pair = RsaKeyPair::from_der(&STANDARD.decode(der).unwrap()).unwrap();
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public().as_ref())
        .verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap())
        .unwrap();
    let part = |nth: usize| -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(jwt.split('.').nth(nth).unwrap()).unwrap()).unwrap()
    };
    assert_eq!(part(0), json!({"alg": "RS256", "typ": "JWT", "kid": "key-1"}));
    assert_eq!(part(1)["iss"], "robot@project.iam.gserviceaccount.com");
    assert_eq!(part(1)["scope"], "scope-a scope-b");
    assert_eq!(authorization(&credentials).await, header, "it is kept");
}

#[tokio::test]
async fn an_impersonated_account_is_asked_for_with_the_token_of_the_source() {
    let generated = r#"{"accessToken": "acting", "expireTime": "2099-01-01T00:00:00Z"}"#;
    let path = "/v1/projects/-/serviceAccounts/robot@x:generateAccessToken";
    let google = Loopback::serving(vec![("/token", token()), (path, Answer::json(generated))]).await;
    let written = json!({
        "type": "impersonated_service_account",
        "service_account_impersonation_url": google.fill(&format!("{{origin}}{path}")),
        "source_credentials": user(&google.fill("{origin}/token")),
    });
    let credentials = Room::new().file(&written.to_string()).find().unwrap();
    for _ in 0..2 {
        assert_eq!(authorization(&credentials).await, "Bearer acting");
    }
    assert_eq!(google.asked(), ["POST /token".to_owned(), format!("POST {path}")]);
    assert!(google.heads()[1].to_ascii_lowercase().contains("authorization: bearer t0ken\r\n"), "{:?}", google.heads());
    let sent: Value = serde_json::from_str(&google.bodies()[1]).unwrap();
    assert_eq!(sent["scope"], json!(["scope-a", "scope-b"]));
}

#[tokio::test]
async fn a_statement_of_somebody_else_is_exchanged() {
    let google = Loopback::serving(vec![(
        "/sts",
        Answer::json(
            r#"{"access_token": "exchanged", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
                "token_type": "Bearer", "expires_in": 3600}"#,
        ),
    )])
    .await;
    let room = Room::new();
    let statement: PathBuf = room.folder.path().join("statement");
    fs::write(&statement, "st4tement").unwrap();
    let written = json!({
        "type": "external_account", "audience": "//iam.googleapis.com/pool", "token_url": google.fill("{origin}/sts"),
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "credential_source": {"file": statement},
    });
    let room = room.file(&written.to_string());
    let credentials = room.find().unwrap();
    assert_eq!(authorization(&credentials).await, "Bearer exchanged");
    let sent = fields(&google.bodies()[0]);
    assert_eq!(sent["subject_token"], "st4tement");
    assert_eq!(sent["audience"], "//iam.googleapis.com/pool");
    assert_eq!(sent["scope"], "scope-a scope-b");
}

#[tokio::test]
async fn without_a_file_the_machine_is_asked() {
    let path = "/computeMetadata/v1/instance/service-accounts/default/token?scopes=scope-a%2Cscope-b";
    let machine = Loopback::serving(vec![(path, token())]).await;
    let host = machine.fill("{origin}").replace("http://", "");
    let credentials = Room::new().variable("GCE_METADATA_HOST", &host).find().unwrap();
    assert_eq!(authorization(&credentials).await, "Bearer t0ken");
    assert!(machine.heads()[0].to_ascii_lowercase().contains("metadata-flavor: google\r\n"), "{:?}", machine.heads());
}

#[tokio::test]
async fn files_are_looked_for_where_the_variables_say() {
    let google = Loopback::serving(vec![("/named", token()), ("/sdk", token()), ("/home", token())]).await;
    let written = |path: &str| user(&google.fill(&format!("{{origin}}{path}"))).to_string();
    let name = "application_default_credentials.json";
    let mut room = Room::new();
    let at = |path: &str| room.folder.path().join(path);
    for (folder, path) in [("home/.config/gcloud", "/home"), ("sdk", "/sdk")] {
        fs::create_dir_all(at(folder)).unwrap();
        fs::write(at(folder).join(name), written(path)).unwrap();
    }
    let sdk = at("sdk").display().to_string();
    authorization(&room.find().unwrap()).await;
    room = room.variable("CLOUDSDK_CONFIG", &sdk);
    authorization(&room.find().unwrap()).await;
    room = room.file(&written("/named"));
    authorization(&room.find().unwrap()).await;
    assert_eq!(google.asked(), ["POST /home", "POST /sdk", "POST /named"]);
}

#[tokio::test]
async fn who_pays_is_said_by_the_variable_else_by_the_file() {
    let written = user("http://127.0.0.1:1/token").to_string();
    let cases = [
        (Room::new().file(&written), Some("file-pays")),
        (Room::new().file(&written).variable("GOOGLE_CLOUD_QUOTA_PROJECT", ""), Some("file-pays")),
        (Room::new().file(&written).variable("GOOGLE_CLOUD_QUOTA_PROJECT", "variable-pays"), Some("variable-pays")),
        (Room::new().file(&service_account().to_string()), None),
    ];
    for (room, expected) in cases {
        assert_eq!(room.find().unwrap().project(), expected);
    }
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named_with_a_way_out() {
    let unusable = "the Google credentials of {room}/key.json cannot be used: ";
    let cases = [
        ("{", format!("{unusable}not JSON: EOF while parsing an object at line 1 column 1")),
        ("{}", format!("{unusable}there is no `type`")),
        ("[]", format!("{unusable}there is no `type`")),
        (r#"{"type": "new\nkind"}"#, format!("{unusable}the type `new\\nkind` is not known")),
    ];
    let hint = "run `gcloud auth application-default login`, or set `GOOGLE_APPLICATION_CREDENTIALS` to a file with \
                credentials";
    for (text, expected) in cases {
        assert_eq!(Room::new().file(text).wrong(), (expected, hint.to_owned()), "{text}");
    }
    let (message, found) = Room::new().variable("GOOGLE_APPLICATION_CREDENTIALS", "gone.json").wrong();
    assert_eq!(message, "`GOOGLE_APPLICATION_CREDENTIALS` names {room}/gone.json, and there is no such file");
    assert_eq!(found, hint);
    for kind in ["authorized_user", "service_account", "impersonated_service_account", "external_account"] {
        let (message, found) = Room::new().file(&json!({"type": kind}).to_string()).wrong();
        assert!(message.starts_with(unusable) && message.contains("missing field"), "{message}");
        assert_eq!(found, hint);
    }
}

#[tokio::test]
async fn a_refusal_of_google_is_told_without_the_secrets() {
    let refusal = r#"{"error": "invalid_grant", "error_description": "Token has been expired or revoked."}"#;
    let google = Loopback::serving(vec![("/token", Answer::text(400, "application/json", refusal))]).await;
    let credentials = Room::new().file(&user(&google.fill("{origin}/token")).to_string()).find().unwrap();
    let said = credentials.authorization().await.unwrap_err().to_string();
    assert!(said.contains("no credentials of Google") && said.contains("invalid_grant"), "{said}");
    assert!(said.contains("gcloud auth application-default login"), "{said}");
    let printed = format!("{said} {credentials:?}");
    assert!(!["s3cret", "r3fresh"].iter().any(|secret| printed.contains(secret)), "{printed}");
}
