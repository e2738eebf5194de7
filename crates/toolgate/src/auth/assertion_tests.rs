//! A statement of who we are says so for one authorization server, for five minutes.

use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::super::signature::SigningKey;
use super::client_assertion;
use crate::secret::Secret;

#[test]
fn a_statement_says_who_we_are_for_five_minutes() {
    let pem = include_str!("../../tests/fixtures/keys/rsa-pkcs8.pem");
    let key = SigningKey::from_pem(&Secret::new(pem), Some("PS256")).unwrap();
    let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let made = || client_assertion(&key, "me", "https://as.example", now).unwrap();
    let claims = |token: &Secret| -> Value {
        let claims = token.expose().split('.').nth(1).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
    };
    let (first, second) = (claims(&made()), claims(&made()));
    assert_ne!(first["jti"], second["jti"]);
    let expected = json!({
        "iss": "me", "sub": "me", "aud": "https://as.example", "jti": first["jti"],
        "iat": 1_800_000_000_u64, "exp": 1_800_000_300_u64,
    });
    assert_eq!(first, expected);
}
