//! Keys: tokens that are bound to one (DPoP), and clients that sign who they are.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use toolgate_testkit::AuthScript;
use toolgate_testkit::auth_server::script::{Dpop, KnownClient};

use crate::auth_client::{Parameters, Room, sha256};

struct Key(EcdsaKeyPair);

impl Key {
    fn new() -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap())
    }

    fn public(&self) -> Value {
        let point = self.0.public_key().as_ref();
        let part = |from: usize| URL_SAFE_NO_PAD.encode(&point[from..from + 32]);
        json!({"kty": "EC", "crv": "P-256", "x": part(1), "y": part(33)})
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn proof(&self, address: &str, more: &Value) -> String {
        let mut claims = json!({"htm": "POST", "htu": address, "iat": now(), "jti": unique()});
        for (name, value) in more.as_object().unwrap() {
            claims[name] = value.clone();
        }
        self.sign(&json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.public()}), &claims)
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn unique() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("id-{}", NEXT.fetch_add(1, Ordering::SeqCst))
}

fn machine() -> Parameters {
    Parameters::default()
        .with("grant_type", "client_credentials")
        .with("client_id", "robot")
        .with("client_secret", "hush")
}

#[tokio::test]
async fn a_bound_token_is_good_only_with_proof_of_its_key() {
    for with_nonce in [false, true] {
        let dpop = if with_nonce { Dpop::WithNonce } else { Dpop::Required };
        let script = AuthScript::new().client("robot", Some("hush"));
        let script = script.issuer(|issuer| issuer.dpop = dpop).protection(|protection| protection.dpop = dpop);
        let room = Room::open(script).await;
        let endpoint = format!("{}/token", room.server.issuer());
        let (key, other) = (Key::new(), Key::new());
        assert_eq!(room.token(&machine()).await.1["error"], "invalid_dpop_proof");
        let mut more = json!({});
        if with_nonce {
            let refusal = room.post_with("/token", &machine(), &[("DPoP", &key.proof(&endpoint, &more))]).await;
            more["nonce"] = json!(refusal.header("dpop-nonce").unwrap());
            assert_eq!(refusal.json().await["error"], "use_dpop_nonce");
        }
        let proof = key.proof(&endpoint, &more);
        let tokens = room.post_with("/token", &machine(), &[("DPoP", &proof)]).await.json().await;
        assert_eq!(tokens["token_type"], "DPoP", "{tokens}");
        let replay = room.post_with("/token", &machine(), &[("DPoP", &proof)]).await.json().await;
        assert_eq!(replay["error_description"], "`jti` was used before");

        let token = tokens["access_token"].as_str().unwrap();
        let (bound, hash) = (format!("DPoP {token}"), sha256(token));
        let mcp = room.server.mcp_url();
        let mut more = json!({"ath": hash});
        if with_nonce {
            let refusal = room.knock(&[("Authorization", &bound), ("DPoP", &key.proof(mcp, &more))]).await;
            assert_eq!(refusal.header("www-authenticate"), Some("DPoP error=\"use_dpop_nonce\""));
            more["nonce"] = json!(refusal.header("dpop-nonce").unwrap());
        }
        let good = room.knock(&[("Authorization", &bound), ("DPoP", &key.proof(mcp, &more))]).await;
        assert_eq!(good.status, 200);
        let bad = [
            (bound.clone(), other.proof(mcp, &more)),
            (bound.clone(), key.proof(&endpoint, &more)),
            (bound.clone(), key.proof(mcp, &json!({"ath": "x", "nonce": more["nonce"]}))),
            (format!("Bearer {token}"), key.proof(mcp, &more)),
        ];
        for (authorization, proof) in bad {
            let refusal = room.knock(&[("Authorization", &authorization), ("DPoP", &proof)]).await;
            assert_eq!(refusal.status, 401);
        }
        room.server.change_nonces();
        let status = room.knock(&[("Authorization", &bound), ("DPoP", &key.proof(mcp, &more))]).await.status;
        assert_eq!(status, if with_nonce { 401 } else { 200 });
        assert!(room.server.record().tokens_issued().iter().all(|token| token.is_bound));
    }
}

#[tokio::test]
async fn a_client_signs_who_it_is() {
    let (key, other) = (Key::new(), Key::new());
    let client = KnownClient { id: "robot".into(), key: Some(key.public()), ..KnownClient::default() };
    let room = Room::open(AuthScript::new().issuer(|issuer| issuer.clients.push(client))).await;
    let issuer = room.server.issuer();
    let claims = |name: &str, value: Value| {
        let mut claims = json!({"iss": "robot", "sub": "robot", "aud": issuer, "exp": now() + 60, "jti": unique()});
        claims[name] = value;
        claims
    };
    let header = json!({"alg": "ES256"});
    let cases = [
        (key.sign(&header, &claims("iat", json!(now()))), 200, ""),
        (key.sign(&header, &claims("aud", json!([format!("{issuer}/token")]))), 200, ""),
        (other.sign(&header, &claims("iat", json!(now()))), 401, "the signature of the statement is wrong"),
        (
            key.sign(&header, &claims("aud", json!("https://other.example"))),
            401,
            "`aud` of the statement is somebody else",
        ),
        (key.sign(&header, &claims("iss", json!("somebody"))), 401, "`iss` of the statement is not the client"),
        ("nonsense".to_owned(), 401, "`client_assertion` is not a JWT"),
    ];
    for (statement, expected, words) in cases {
        let asked = Parameters::default()
            .with("grant_type", "client_credentials")
            .with("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            .with("client_assertion", &statement);
        let (status, answer) = room.token(&asked).await;
        assert_eq!((status, answer["error_description"].as_str().unwrap_or_default()), (expected, words));
    }
    assert_eq!(room.server.record().client_methods()[0], ("robot".to_owned(), "private_key_jwt".to_owned()));
}
