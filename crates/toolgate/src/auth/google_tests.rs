//! Where credentials of Google go, with which headers, and the account that is acted for.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_wire::transport::http_client::{Credentials, Refusal, RequestFacts};
use url::Url;

use super::super::account::{Account, LoginOptions};
use super::super::scripted_exchange::{Scripted, ScriptedExchange, SetClock, json as answer};
use super::{GoogleCredentials, IAM, ImpersonatedCredentials, is_host_of_google};
use crate::env::{HostDirs, HostEnv};
use crate::server_name::ServerName;

const KEY: &str = include_str!("../../tests/fixtures/keys/rsa-pkcs8.pem");

#[test]
fn credentials_of_google_only_go_to_google() {
    let cases = [
        ("storage.googleapis.com", true),
        ("a.b.googleapis.com", true),
        ("STORAGE.GoogleApis.com", true),
        ("luci.app", true),
        ("x.luci.app", true),
        ("googleapis.com", false),
        ("evilgoogleapis.com", false),
        ("googleapis.com.evil.example", false),
        ("xluci.app", false),
        ("localhost", false),
        ("127.0.0.1", false),
        ("", false),
    ];
    for (host, expected) in cases {
        assert_eq!(is_host_of_google(host), expected, "{host}");
    }
}

/// A machine with the credentials of a service account, which need no network.
struct Room {
    _folder: TempDir,
    clock: Arc<SetClock>,
    env: Arc<HostEnv>,
}

impl Room {
    fn new(vars: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.json");
        let written = json!({
            "type": "service_account", "client_email": "robot@x", "private_key_id": "1", "private_key": KEY,
            "project_id": "x", "quota_project_id": "file-pays",
        });
        fs::write(&file, written.to_string()).unwrap();
        let mut all = BTreeMap::from([("GOOGLE_APPLICATION_CREDENTIALS".to_owned(), file.display().to_string())]);
        all.extend(vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let clock = Arc::new(SetClock::new());
        let env = HostEnv {
            vars: all,
            dirs: HostDirs { user: folder.path().join("user"), system: folder.path().join("etc"), home: None },
            workspace: folder.path().into(),
            clock: clock.clone(),
        };
        Self { _folder: folder, clock, env: Arc::new(env) }
    }

    fn google(&self, url: &str, of_settings: &HeaderMap) -> crate::error::Result<GoogleCredentials> {
        let options = LoginOptions { scopes: vec!["scope-a".to_owned()], ..LoginOptions::default() };
        let account = Account { server: ServerName::new("s").unwrap(), url: Url::parse(url).unwrap(), options };
        GoogleCredentials::new(&self.env, &account, of_settings)
    }

    fn acting(&self, answers: impl IntoIterator<Item = Scripted>) -> (Arc<ScriptedExchange>, ImpersonatedCredentials) {
        let exchange = Arc::new(ScriptedExchange::new(answers));
        let credentials =
            ImpersonatedCredentials::new(self.env.clone(), exchange.clone(), IAM, "robot@y.iam", "for-whom").unwrap();
        (exchange, credentials)
    }
}

async fn headers(credentials: &dyn Credentials) -> Result<HeaderMap, String> {
    let url = Uri::from_static("https://x.googleapis.com/mcp");
    credentials.headers(RequestFacts { method: &Method::POST, url: &url }).await.map_err(|error| error.to_string())
}

async fn authorization(credentials: &dyn Credentials) -> String {
    headers(credentials).await.unwrap()["authorization"].to_str().unwrap().to_owned()
}

async fn refused(credentials: &dyn Credentials, attempt: usize) -> bool {
    let (url, none) = (Uri::from_static("https://x.googleapis.com/mcp"), HeaderMap::new());
    let status = StatusCode::UNAUTHORIZED;
    let refusal = Refusal { url: &url, status, challenges: vec![], headers: &none, attempt, sent: &none };
    credentials.refused(&refusal).await.unwrap()
}

/// An ID token that ends so many seconds after the tests begin.
fn id_token(name: &str, ends_after: u64) -> String {
    let claims = URL_SAFE_NO_PAD.encode(json!({"exp": SetClock::START + ends_after}).to_string());
    format!("{name}.{claims}.signature")
}

fn given(token: &str) -> Scripted {
    answer(200, &json!({"token": token}).to_string())
}

#[tokio::test]
async fn another_host_gets_nothing() {
    let error = Room::new(&[]).google("https://googleapis.com.evil.example/mcp", &HeaderMap::new()).unwrap_err();
    assert_eq!(error.to_string(), "credentials of Google are not sent to `googleapis.com.evil.example`");
    let hint = "`google_credentials` is for hosts under googleapis.com and luci.app; use another `authProviderType`";
    assert_eq!(error.hint(), Some(hint));
}

#[tokio::test]
async fn who_pays_is_said_unless_the_settings_say_it() {
    let variable = [("GOOGLE_CLOUD_QUOTA_PROJECT", "variable-pays")];
    let nothing = &variable[..0];
    let cases = [
        (nothing, "x-other", Some("file-pays")),
        (&variable, "x-other", Some("variable-pays")),
        (nothing, "X-Goog-User-Project", None),
        (&variable, "x-GOOG-user-project", None),
    ];
    for (vars, of_settings, expected) in cases {
        let name = HeaderName::try_from(of_settings).unwrap();
        let of_settings = HeaderMap::from_iter([(name, HeaderValue::from_static("own"))]);
        let credentials = Room::new(vars).google("https://x.googleapis.com/mcp", &of_settings).unwrap();
        let headers = headers(&credentials).await.unwrap();
        assert!(headers["authorization"].to_str().unwrap().starts_with("Bearer ey"));
        assert_eq!(headers.get("x-goog-user-project").map(|value| value.to_str().unwrap()), expected);
        assert!(!refused(&credentials, 1).await, "the machine stays who it is");
    }
    let odd = Room::new(&[("GOOGLE_CLOUD_QUOTA_PROJECT", "two\nlines")]);
    let error = odd.google("https://x.googleapis.com/mcp", &HeaderMap::new()).unwrap_err();
    let message = "the name of the project that pays for requests to Google cannot be sent as a header";
    assert_eq!(error.to_string(), message);
}

#[tokio::test]
async fn an_id_token_is_asked_for_and_kept_until_shortly_before_its_end() {
    let (first, second) = (id_token("first", 3600), id_token("second", 7200));
    let room = Room::new(&[]);
    let (exchange, credentials) = room.acting([given(&first), given(&second)]);
    assert_eq!(authorization(&credentials).await, format!("Bearer {first}"));
    room.clock.pass(Duration::from_secs(3600 - 301));
    assert_eq!(authorization(&credentials).await, format!("Bearer {first}"));
    room.clock.pass(Duration::from_secs(2));
    assert_eq!(authorization(&credentials).await, format!("Bearer {second}"));
    let asked = exchange.asked();
    assert_eq!(asked.len(), 2);
    let address = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/robot@y.iam:generateIdToken";
    assert_eq!(asked[0].url, address);
    assert_eq!(asked[0].header("content-type"), Some("application/json"));
    assert!(asked[0].header("authorization").unwrap().starts_with("Bearer ey"));
    let body: Value = serde_json::from_str(&asked[0].body).unwrap();
    assert_eq!(body, json!({"audience": "for-whom", "includeEmail": true}));
    assert!(!format!("{credentials:?}").contains(&second), "{credentials:?}");
}

#[tokio::test]
async fn a_refused_id_token_is_asked_for_again_once() {
    let (first, second) = (id_token("first", 3600), id_token("second", 3600));
    let (_, credentials) = Room::new(&[]).acting([given(&first), given(&second)]);
    assert!(!refused(&credentials, 1).await, "there was none");
    assert_eq!(authorization(&credentials).await, format!("Bearer {first}"));
    assert!(refused(&credentials, 1).await);
    assert_eq!(authorization(&credentials).await, format!("Bearer {second}"));
    assert!(!refused(&credentials, 2).await);
}

#[tokio::test]
async fn a_token_that_does_not_say_its_end_is_used_once() {
    for odd in ["opaque", "a.b.c", "a.e30.c"] {
        let (exchange, credentials) = Room::new(&[]).acting([given(odd), given(odd)]);
        for _ in 0..2 {
            assert_eq!(authorization(&credentials).await, format!("Bearer {odd}"));
        }
        assert_eq!(exchange.asked().len(), 2);
    }
}

#[tokio::test]
async fn why_there_is_no_id_token_is_told_in_words() {
    let denied = r#"{"error": {"code": 403, "message": "Permission \u001b[1mdenied."}}"#;
    let cases = [
        (answer(403, denied), "the IAM API answered HTTP 403: Permission [1mdenied."),
        (answer(500, "<html>"), "the IAM API answered HTTP 500: it does not say why"),
        (answer(200, "{}"), "the IAM API answered HTTP 200: it does not say why"),
        (answer(403, r#"{"token": "not this"}"#), "the IAM API answered HTTP 403: it does not say why"),
        (Err("no answer in time"), "no answer in time"),
    ];
    for (scripted, expected) in cases {
        let (_, credentials) = Room::new(&[]).acting([scripted]);
        let said = headers(&credentials).await.unwrap_err();
        assert!(said.ends_with(&format!("no ID token for the account: {expected}")), "{said}");
    }
}
