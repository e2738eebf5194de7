//! Logging in on another device: what is read, when is asked again, and how it ends.

use std::sync::Mutex;
use std::time::Duration;

use url::Url;

use super::super::dpop::Nonces;
use super::super::journal::Journal;
use super::super::login::{ClientIdentity, ClientMethod, ClientOrigin};
use super::super::scripted_exchange::{Scripted, ScriptedExchange, SetClock, json};
use super::super::token_request::{TokenEndpoint, Wanted};
use super::{DeviceLogin, TokenError, begin, wait};
use crate::secret::Secret;

const BEGUN: &str = r#"{"device_code":"d3vice","user_code":"WDJB-MJHT","verification_uri":"https://as.example/device","interval":2,"expires_in":60}"#;
const TOKEN: &str = r#"{"access_token":"acc3ss"}"#;
const PENDING: &str = r#"{"error":"authorization_pending"}"#;

struct Room {
    exchange: ScriptedExchange,
    token_url: Url,
    device_url: Url,
    client: ClientIdentity,
    nonces: Nonces,
    clock: SetClock,
    journal: Journal,
    waited: Mutex<Vec<u64>>,
}

impl Room {
    fn new(answers: impl IntoIterator<Item = Scripted>) -> Self {
        let client = ClientIdentity {
            issuer: "https://as.example".to_owned(),
            client_id: "me".to_owned(),
            client_secret: Some(Secret::new("s3cret")),
            method: ClientMethod::SecretPost,
            origin: ClientOrigin::Registered,
            redirect_uri: None,
            expires_at: None,
        };
        Self {
            exchange: ScriptedExchange::new(answers),
            token_url: Url::parse("https://as.example/token").unwrap(),
            device_url: Url::parse("https://as.example/device_authorization").unwrap(),
            client,
            nonces: Nonces::default(),
            clock: SetClock::new(),
            journal: Journal::default(),
            waited: Mutex::default(),
        }
    }

    fn endpoint(&self) -> TokenEndpoint<'_> {
        TokenEndpoint {
            exchange: &self.exchange,
            url: &self.token_url,
            issuer: &self.client.issuer,
            client: &self.client,
            key: None,
            proof: None,
            nonces: &self.nonces,
            clock: &self.clock,
            journal: &self.journal,
        }
    }

    async fn begin(&self) -> Result<DeviceLogin, TokenError> {
        let scopes = ["a".to_owned()];
        let wanted = Wanted { scopes: &scopes, audiences: &[], resource: Some("https://mcp.example/mcp") };
        begin(&self.endpoint(), &self.device_url, &wanted).await
    }

    /// Waits for the person, and gives the outcome on one line.
    async fn wait(&self, login: &DeviceLogin) -> String {
        let sleep = |time: Duration| -> futures_util::future::BoxFuture<'static, ()> {
            self.clock.pass(time);
            self.waited.lock().unwrap().push(time.as_secs());
            Box::pin(std::future::ready(()))
        };
        match wait(&self.endpoint(), login, &Wanted::default(), &sleep).await {
            Ok(answer) => answer.access_token.into_exposed(),
            Err(error) => error.words,
        }
    }
}

#[tokio::test]
async fn a_login_begins_with_a_code_to_type_in() {
    let room = Room::new([json(200, BEGUN)]);
    let login = room.begin().await.unwrap();
    assert_eq!((login.user_code.as_str(), login.verification_uri.as_str()), ("WDJB-MJHT", "https://as.example/device"));
    assert_eq!((login.interval, &login.verification_uri_complete), (Duration::from_secs(2), &None));
    assert_eq!(login.ends_at, SetClock::start() + Duration::from_secs(60));
    assert!(!format!("{login:?}").contains("d3vice"));
    let asked = &room.exchange.asked()[0];
    assert_eq!(asked.url, "https://as.example/device_authorization");
    assert_eq!(asked.form(), "scope=a\nresource=https://mcp.example/mcp\nclient_id=me\nclient_secret=s3cret\n");
    let steps = room.journal.steps();
    assert_eq!(steps[0].what, "POST https://as.example/device_authorization (device authorization)");
    assert_eq!(steps[0].detail, "a code to type in at https://as.example/device");
}

#[tokio::test]
async fn answers_that_deviate_are_read_where_it_does_no_harm() {
    let rest = r#""device_code":"d","user_code":"U""#;
    for (more, address, complete, interval, life) in [
        (r#""verification_url":"https://a.example/""#, "https://a.example/", None, 5, 3_600),
        (r#""verification_uri":"http://127.0.0.1:1/d","interval":"7""#, "http://127.0.0.1:1/d", None, 7, 3_600),
        (
            r#""verification_uri":"https://a.example/","interval":0,"expires_in":"90""#,
            "https://a.example/",
            None,
            5,
            90,
        ),
        (
            r#""verification_uri":"https://a.example/","interval":9999,"expires_in":1e9"#,
            "https://a.example/",
            None,
            60,
            3_600,
        ),
        (
            r#""verification_uri":"https://a.example/","verification_uri_complete":"https://a.example/?u=U""#,
            "https://a.example/",
            Some("https://a.example/?u=U"),
            5,
            3_600,
        ),
        (
            r#""verification_uri":"https://a.example/","verification_uri_complete":"javascript:alert(1)""#,
            "https://a.example/",
            None,
            5,
            3_600,
        ),
    ] {
        let room = Room::new([json(200, &format!("{{{rest},{more}}}"))]);
        let login = room.begin().await.unwrap();
        assert_eq!(login.verification_uri.as_str(), address);
        assert_eq!(login.verification_uri_complete.as_ref().map(Url::as_str), complete);
        assert_eq!(login.interval, Duration::from_secs(interval));
        assert_eq!(login.ends_at, SetClock::start() + Duration::from_secs(life));
    }
}

#[tokio::test]
async fn answers_that_cannot_be_used_say_why() {
    let uri = r#""verification_uri":"https://a.example/""#;
    let long = format!(r#"{{"device_code":"d","user_code":"{}",{uri}}}"#, "U".repeat(101));
    let rows = [
        (json(200, &format!(r#"{{"user_code":"U",{uri}}}"#)), "gave no device code"),
        (json(200, &format!(r#"{{"device_code":"d",{uri}}}"#)), "gave no code to type in"),
        (json(200, &long), "gave a code that nobody can type in"),
        (
            json(200, &format!(r#"{{"device_code":"d","user_code":"U\u001b[2J",{uri}}}"#)),
            "gave a code that nobody can type in",
        ),
        (json(200, r#"{"device_code":"d","user_code":"U"}"#), "gave no address to type the code in at"),
        (
            json(200, r#"{"device_code":"d","user_code":"U","verification_uri":"file:///etc/passwd"}"#),
            "gave an address that no browser should open",
        ),
        (json(400, r#"{"error":"unauthorized_client"}"#), "refused with `unauthorized_client`"),
        (json(404, "<html>"), "answered 404 with a page instead of data"),
        (Err("timed out"), "cannot be reached: timed out"),
    ];
    for (answer, words) in rows {
        let error = Room::new([answer]).begin().await.unwrap_err();
        let who = "the device authorization endpoint https://as.example/device_authorization";
        assert_eq!(error.words, format!("{who} {words}"));
    }
}

#[tokio::test]
async fn the_token_endpoint_is_asked_at_its_own_pace_until_the_person_has_answered() {
    let slow = r#"{"error":"slow_down"}"#;
    let late = "the code was not typed in on the other device in time";
    let refused = "the token endpoint https://as.example/token refused with `invalid_client`";
    let rows: Vec<(Vec<Scripted>, &str, Vec<u64>)> = vec![
        (vec![json(200, TOKEN)], "acc3ss", vec![2]),
        (vec![json(400, PENDING), json(400, PENDING), json(200, TOKEN)], "acc3ss", vec![2, 2, 2]),
        (vec![json(200, PENDING), json(200, TOKEN)], "acc3ss", vec![2, 2]),
        (vec![json(400, slow), json(400, PENDING), json(400, slow), json(200, TOKEN)], "acc3ss", vec![2, 7, 7, 12]),
        (vec![Err("reset"), json(503, ""), json(429, ""), json(200, TOKEN)], "acc3ss", vec![2, 4, 8, 16]),
        (vec![json(400, r#"{"error":"expired_token"}"#)], late, vec![2]),
        (
            vec![json(400, PENDING), json(400, r#"{"error":"access_denied"}"#)],
            "the login was declined on the other device",
            vec![2, 2],
        ),
        (vec![json(401, r#"{"error":"invalid_client"}"#)], refused, vec![2]),
        (
            vec![json(200, "<html>")],
            "the token endpoint https://as.example/token answered 200 with a page instead of data",
            vec![2],
        ),
        // The thirtieth question would come when it is too late.
        ((0..29).map(|_| json(400, PENDING)).collect(), late, vec![2; 29]),
    ];
    for (answers, expected, waited) in rows {
        let room = Room::new([json(200, BEGUN)].into_iter().chain(answers));
        let login = room.begin().await.unwrap();
        assert_eq!(room.wait(&login).await, expected);
        assert_eq!(*room.waited.lock().unwrap(), waited);
        let last = room.exchange.asked().pop().unwrap();
        assert_eq!(last.fields()["device_code"], "d3vice");
        assert_eq!(last.fields()["grant_type"], "urn:ietf:params:oauth:grant-type:device_code");
    }
}
