//! Proofs say what they are for and are verified by the key inside; nonces are kept per origin.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use url::Url;

use super::super::scripted_exchange::SetClock;
use super::{DPOP_NONCE, Nonces, ProofKey, Proven};
use crate::limits::{DPOP_NONCE_BYTES_MAX, DPOP_NONCES_MAX};
use crate::secret::Secret;

/// Header and claims of a proof, once its signature was verified with the key inside it.
fn verified(proof: &str) -> (Value, Value) {
    let (message, signature) = proof.rsplit_once('.').unwrap();
    let (header, claims) = message.split_once('.').unwrap();
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let (header, claims): (Value, Value) =
        (serde_json::from_slice(&bytes(header)).unwrap(), serde_json::from_slice(&bytes(claims)).unwrap());
    let half = |name: &str| bytes(header["jwk"][name].as_str().unwrap());
    let public = [vec![4], half("x"), half("y")].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public);
    key.verify(message.as_bytes(), &bytes(signature)).unwrap();
    (header, claims)
}

#[test]
fn a_proof_is_for_one_request_and_shows_the_public_half_only() {
    let key = ProofKey::generate().unwrap();
    let token = Secret::new("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU");
    let iat = SetClock::START;
    // The hash of that token stands in RFC 9449 §7.1.
    let ath = "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo";
    let rows = [
        (
            ("POST", "https://as.example/token", None, None),
            json!({"htm": "POST", "htu": "https://as.example/token", "iat": iat}),
        ),
        (
            ("GET", "https://mcp.example/mcp?a=b#c", Some(&token), None),
            json!({"htm": "GET", "htu": "https://mcp.example/mcp", "iat": iat, "ath": ath}),
        ),
        (
            ("DELETE", "http://127.0.0.1:8080", Some(&token), Some("n-1")),
            json!({"htm": "DELETE", "htu": "http://127.0.0.1:8080/", "iat": iat, "ath": ath, "nonce": "n-1"}),
        ),
    ];
    let mut names = Vec::new();
    for ((method, url, access_token, nonce), expected) in rows {
        let url = Url::parse(url).unwrap();
        let proof = key.proof(&Proven { method, url: &url, access_token, nonce, now: SetClock::start() }).unwrap();
        let (header, mut claims) = verified(&proof);
        names.push(claims.as_object_mut().unwrap().remove("jti").unwrap());
        assert_eq!(claims, expected);
        let mut known: Vec<_> = header["jwk"].as_object().unwrap().keys().cloned().collect();
        known.sort();
        assert_eq!(known, ["crv", "kty", "x", "y"]);
        assert_eq!(header["jwk"]["kty"], "EC");
        assert_eq!(header["jwk"]["crv"], "P-256");
        assert_eq!((header["typ"].as_str(), header["alg"].as_str()), (Some("dpop+jwt"), Some("ES256")));
    }
    names.dedup();
    assert_eq!(names.len(), 3, "every proof has a name of its own");
}

#[test]
fn a_kept_key_is_the_same_key() {
    let key = ProofKey::generate().unwrap();
    let again = ProofKey::from_kept(key.kept()).unwrap();
    assert_eq!(key.public, again.public);
    assert_ne!(key.public, ProofKey::generate().unwrap().public);
    assert!(!format!("{key:?}").contains(key.kept().expose()));
}

#[test]
fn a_kept_key_that_is_none_is_refused() {
    for (kept, message) in [
        ("%%%", "nothing can be signed: the key of the login is not Base64"),
        ("AAAA", "nothing can be signed: the key of the login is not a P-256 key"),
    ] {
        assert_eq!(ProofKey::from_kept(&Secret::new(kept)).unwrap_err().to_string(), message);
    }
}

fn nonce(value: &str) -> HeaderMap {
    HeaderMap::from_iter([(DPOP_NONCE, HeaderValue::from_str(value).unwrap())])
}

#[test]
fn the_latest_nonce_of_an_origin_is_kept() {
    let nonces = Nonces::default();
    let url = |text: &str| Url::parse(text).unwrap();
    let (token, other) = (url("https://as.example/token"), url("https://mcp.example/mcp"));
    assert_eq!(nonces.get(&token), None);
    assert!(!nonces.note(&token, &HeaderMap::new()));
    assert!(!nonces.note(&token, &nonce("")));
    assert!(!nonces.note(&token, &nonce(&"n".repeat(DPOP_NONCE_BYTES_MAX + 1))));
    assert!(nonces.note(&token, &nonce("one")));
    assert!(!nonces.note(&token, &nonce("one")), "it is known already");
    assert!(nonces.note(&token, &nonce("two")));
    assert!(nonces.note(&other, &nonce("three")));
    assert_eq!(nonces.get(&url("https://as.example/elsewhere?x")).as_deref(), Some("two"));
    assert_eq!(nonces.get(&other).as_deref(), Some("three"));
    assert_eq!(nonces.get(&url("http://as.example/token")), None, "another scheme is another origin");
}

#[test]
fn the_origin_that_was_silent_longest_makes_room() {
    let nonces = Nonces::default();
    let url = |number: usize| Url::parse(&format!("https://as{number}.example/")).unwrap();
    for number in 0..DPOP_NONCES_MAX {
        nonces.note(&url(number), &nonce("n"));
    }
    nonces.note(&url(0), &nonce("m"));
    nonces.note(&url(DPOP_NONCES_MAX), &nonce("n"));
    assert_eq!(nonces.get(&url(0)).as_deref(), Some("m"));
    assert_eq!(nonces.get(&url(1)), None);
    assert_eq!(nonces.get(&url(2)).as_deref(), Some("n"));
}
