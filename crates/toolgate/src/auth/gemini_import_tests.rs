//! Tests of taking over the logins of Gemini CLI. The encrypted sample was made with Node's `crypto`, as Gemini CLI does it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use url::Url;

use super::{GeminiContext, GeminiLogins, GeminiOwner, from_encrypted, from_plain};
use crate::limits::FOREIGN_LOGINS_BYTES_MAX;

const OWNER: GeminiOwner<'static> = GeminiOwner { hostname: "laptop", username: "alice" };

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn address(server: &str) -> Option<Url> {
    (server == "in settings").then(|| "https://settings.example/mcp".parse().unwrap())
}

const CONTEXT: GeminiContext<'static> = GeminiContext { now: UNIX_EPOCH, address: &address };

fn context() -> GeminiContext<'static> {
    GeminiContext { now: at(5_000), ..CONTEXT }
}

fn credential() -> Value {
    json!({
        "serverName": "a", "clientId": "client-1", "tokenUrl": "https://as.example/token",
        "mcpServerUrl": "https://a.example/mcp", "updatedAt": 4_000_000,
        "token": {
            "accessToken": "access-1", "tokenType": "Bearer", "refreshToken": "refresh-1", "expiresAt": 9_000_000,
            "scope": "read  write",
        },
    })
}

/// The same credential with one thing different.
fn with(path: &[&str], value: Value) -> Value {
    let mut credential = credential();
    let mut place = &mut credential;
    for key in path {
        place = &mut place[*key];
    }
    *place = value;
    credential
}

const SECRET_NOTE: &str = "a client secret is not written there: if there is one, put it into the settings";

#[test]
fn what_is_known_is_taken_over() {
    let found = from_plain(&json!([credential()]).to_string(), context()).unwrap();
    let [one] = found.logins.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.key.server().as_str(), one.key.address()), ("a", "https://a.example/mcp"));
    let login = &one.login;
    assert_eq!((login.access_token.expose(), login.expires_at), ("access-1", Some(at(9_000))));
    assert_eq!(login.refresh_token.as_ref().unwrap().expose(), "refresh-1");
    assert_eq!((login.scopes.join(","), login.obtained_at), ("read,write".to_owned(), at(4_000)));
    assert_eq!((login.issuer.as_str(), login.token_endpoint.as_str()), ("", "https://as.example/token"));
    assert_eq!(login.client.client_id, "client-1");
    assert_eq!((one.notes.as_slice(), found.left.len()), ([SECRET_NOTE.to_owned()].as_slice(), 0));
}

#[test]
fn what_is_missing_is_told() {
    let (client, place) =
        ("it cannot be renewed: which client it belongs to", "it cannot be renewed: where that is done");
    let cases = [
        (with(&["clientId"], Value::Null), Ok(format!("{client} is not written there"))),
        (with(&["tokenUrl"], Value::Null), Ok(format!("{place} is not written there"))),
        (with(&["token", "refreshToken"], Value::Null), Ok(String::new())),
        (with(&["token", "tokenType"], json!("bearer")), Ok(SECRET_NOTE.to_owned())),
        (with(&["token", "expiresAt"], Value::Null), Ok(SECRET_NOTE.to_owned())),
        (with(&["token", "expiresAt"], json!(1)), Ok(SECRET_NOTE.to_owned())),
        (with(&["token"], json!({"accessToken": "x", "expiresAt": 1})), Err("`a`: it is over and cannot be renewed")),
        (with(&["token", "tokenType"], json!("mac")), Err("`a`: its token is of a kind that is not known")),
        (with(&["token"], Value::Null), Err("`a`: there is no token in it")),
        (with(&["mcpServerUrl"], Value::Null), Err("`a`: its address stands neither there nor in the settings")),
        (with(&["serverName"], json!("a\u{7}")), Err("`a\\u{7}`: it is for a server that cannot be called so")),
        (json!("something"), Err("``: it is for a server that cannot be called so")),
    ];
    for (credential, expected) in cases {
        let found = from_plain(&json!([credential]).to_string(), context()).unwrap();
        let notes = found.logins.first().map(|one| one.notes.join("; "));
        let left = found.left.first().map(String::as_str);
        assert_eq!((notes, left), (expected.clone().ok(), expected.err()), "{credential}");
    }
    let mut in_settings = with(&["mcpServerUrl"], Value::Null);
    in_settings["serverName"] = json!("in settings");
    let found = from_plain(&json!([in_settings]).to_string(), context()).unwrap();
    assert_eq!(found.logins[0].key.address(), "https://settings.example/mcp");
}

const ENCRYPTED: &str = include_str!("../../tests/fixtures/gemini/gemini-credentials.json");

#[test]
fn the_encrypted_file_is_opened_by_its_owner() {
    let GeminiLogins { logins, left } = from_encrypted(ENCRYPTED, OWNER, context()).unwrap();
    let names: Vec<_> = logins.iter().map(|one| (one.key.server().as_str(), one.login.access_token.expose())).collect();
    assert_eq!(names, [("a", "access-1")]);
    assert_eq!(left, ["`broken`: it cannot be understood"]);
}

#[test]
fn what_cannot_be_read_is_told() {
    let stranger = GeminiOwner { username: "bob", ..OWNER };
    let long_iv = format!("{}:{}:00", "00".repeat(16), "00".repeat(16));
    let cases = [
        (
            from_encrypted(ENCRYPTED, stranger, context()),
            "it was not encrypted by the user `bob` on the machine `laptop`, or is not as it was",
        ),
        (from_encrypted(&long_iv, OWNER, context()), "it is encrypted with a nonce of 16 bytes, and we know 12"),
        (from_encrypted("00:11", OWNER, context()), "it is not encrypted the way that is known"),
        (from_encrypted("0:1:2", OWNER, context()), "it is not encrypted the way that is known"),
        (from_encrypted("gg:gg:gg", OWNER, context()), "it is not encrypted the way that is known"),
        (from_encrypted("", OWNER, context()), "it is not encrypted the way that is known"),
        (from_plain("{}", context()), "it is not a list of logins"),
        (from_plain("[", context()), "no JSON at line 1, column 1"),
        (
            from_plain(&" ".repeat(FOREIGN_LOGINS_BYTES_MAX + 1), context()),
            "larger than 4194304 bytes, the most it may have",
        ),
    ];
    for (found, expected) in cases {
        let said = found.unwrap_err().to_string();
        assert_eq!(said, format!("the logins of Gemini CLI cannot be taken over: {expected}"));
    }
}
