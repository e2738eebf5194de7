//! Every algorithm signs what its public key verifies, and keys that cannot be used say why.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::Header;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED, ECDSA_P384_SHA384_FIXED_SIGNING,
    ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384,
    RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512,
    RsaKeyPair, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::{Value, json};

use super::{SigningKey, unique_name};
use crate::secret::Secret;

/// Made for these tests, and used nowhere else.
const RSA_PKCS8: &str = include_str!("../../tests/fixtures/keys/rsa-pkcs8.pem");
const RSA_PKCS1: &str = include_str!("../../tests/fixtures/keys/rsa-pkcs1.pem");
const EC_SEC1: &str = include_str!("../../tests/fixtures/keys/ec-sec1.pem");
const EC_P521: &str = include_str!("../../tests/fixtures/keys/ec-p521.pem");

fn pem(der: &[u8]) -> String {
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der))
}

fn rsa_public() -> Vec<u8> {
    let der: String = RSA_PKCS1.lines().filter(|line| !line.starts_with("-----")).collect();
    RsaKeyPair::from_der(&STANDARD.decode(der).unwrap()).unwrap().public().as_ref().to_vec()
}

fn p256() -> (String, Vec<u8>) {
    let random = SystemRandom::new();
    let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref(), &random).unwrap();
    (pem(der.as_ref()), pair.public_key().as_ref().to_vec())
}

fn p384() -> (String, Vec<u8>) {
    let random = SystemRandom::new();
    let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, der.as_ref(), &random).unwrap();
    (pem(der.as_ref()), pair.public_key().as_ref().to_vec())
}

/// An Ed25519 key as OpenSSL writes it: the private half only.
fn ed25519() -> (String, Vec<u8>) {
    let seed = [7_u8; 32];
    let head = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    let der = [head.as_slice(), &seed].concat();
    (pem(&der), Ed25519KeyPair::from_seed_unchecked(&seed).unwrap().public_key().as_ref().to_vec())
}

/// A key, the algorithm in the settings, the one that is taken, and what verifies its signatures.
type Row<'a> = (&'a str, Option<&'a str>, &'a str, &'a [u8], &'static dyn VerificationAlgorithm);

#[test]
fn every_algorithm_signs_what_its_public_key_verifies() {
    let (p256, p256_public) = p256();
    let (p384, p384_public) = p384();
    let (ed, ed_public) = ed25519();
    let rsa = rsa_public();
    let escaped = p256.replace('\n', "\\n");
    let rows: &[Row<'_>] = &[
        (RSA_PKCS8, None, "RS256", &rsa, &RSA_PKCS1_2048_8192_SHA256),
        (RSA_PKCS1, None, "RS256", &rsa, &RSA_PKCS1_2048_8192_SHA256),
        (RSA_PKCS8, Some("RS256"), "RS256", &rsa, &RSA_PKCS1_2048_8192_SHA256),
        (RSA_PKCS1, Some("RS384"), "RS384", &rsa, &RSA_PKCS1_2048_8192_SHA384),
        (RSA_PKCS8, Some("RS512"), "RS512", &rsa, &RSA_PKCS1_2048_8192_SHA512),
        (RSA_PKCS8, Some("PS256"), "PS256", &rsa, &RSA_PSS_2048_8192_SHA256),
        (RSA_PKCS8, Some("PS384"), "PS384", &rsa, &RSA_PSS_2048_8192_SHA384),
        (RSA_PKCS8, Some("PS512"), "PS512", &rsa, &RSA_PSS_2048_8192_SHA512),
        (&p256, None, "ES256", &p256_public, &ECDSA_P256_SHA256_FIXED),
        (&escaped, Some("ES256"), "ES256", &p256_public, &ECDSA_P256_SHA256_FIXED),
        (&p384, None, "ES384", &p384_public, &ECDSA_P384_SHA384_FIXED),
        (&p384, Some("ES384"), "ES384", &p384_public, &ECDSA_P384_SHA384_FIXED),
        (&ed, None, "EdDSA", &ed_public, &ED25519),
        (&ed, Some("EdDSA"), "EdDSA", &ed_public, &ED25519),
    ];
    for (pem, algorithm, name, public, verification) in rows {
        let key = SigningKey::from_pem(&Secret::new(*pem), *algorithm).unwrap();
        let token = key.sign(&Header::new(key.algorithm()), &json!({"iss": "me"})).unwrap();
        let (message, signature) = token.rsplit_once('.').unwrap();
        let (header, claims) = message.split_once('.').unwrap();
        let decoded = |part: &str| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
        assert_eq!(decoded(header), json!({"typ": "JWT", "alg": name}));
        assert_eq!(decoded(claims), json!({"iss": "me"}));
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let verified = UnparsedPublicKey::new(*verification, public).verify(message.as_bytes(), &signature);
        assert!(verified.is_ok(), "{name} by {algorithm:?}");
    }
}

#[test]
fn a_key_that_cannot_be_used_says_why() {
    const CONVERT: &str = "convert it with `openssl pkcs8 -topk8 -nocrypt -in key.pem -out key.pkcs8.pem`";
    const PRIVATE: &str = "it begins with `-----BEGIN PRIVATE KEY-----`";
    const LEAVE: &str = "leave `oauth.signingAlgorithm` away, or give the key it is for";
    const ONE_OF: &str = "it is one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA";
    let (p256, _) = p256();
    let (p384, _) = p384();
    let locked = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
    let sealed = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let public = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
    let rows: &[(&str, Option<&str>, &str, &str)] = &[
        ("", None, "`oauth.privateKey` is not a private key in PEM form", PRIVATE),
        ("hunter2", Some("ES256"), "`oauth.privateKey` is not a private key in PEM form", PRIVATE),
        (EC_SEC1, None, "`oauth.privateKey` is an EC key in SEC1 form, and PKCS#8 is needed", CONVERT),
        (EC_SEC1, Some("ES256"), "`oauth.privateKey` is an EC key in SEC1 form, and PKCS#8 is needed", CONVERT),
        (locked, None, "`oauth.privateKey` is locked with a passphrase", CONVERT),
        (sealed, None, "`oauth.privateKey` is locked with a passphrase", CONVERT),
        (public, None, "`oauth.privateKey` is public; the private key is needed", PRIVATE),
        (EC_P521, None, "`oauth.privateKey` cannot be read as an RSA, P-256, P-384 or Ed25519 key", CONVERT),
        (&p256, Some("RS256"), "`oauth.privateKey` cannot sign with RS256", LEAVE),
        (&p384, Some("ES256"), "`oauth.privateKey` cannot sign with ES256", LEAVE),
        (RSA_PKCS8, Some("EdDSA"), "`oauth.privateKey` cannot sign with EdDSA", LEAVE),
        (RSA_PKCS8, Some("HS256"), "`oauth.signingAlgorithm` is `HS256`, which nothing is signed with", ONE_OF),
        (RSA_PKCS8, Some("none"), "`oauth.signingAlgorithm` is `none`, which nothing is signed with", ONE_OF),
        (RSA_PKCS8, Some("es256"), "`oauth.signingAlgorithm` is `es256`, which nothing is signed with", ONE_OF),
    ];
    for (pem, algorithm, message, hint) in rows {
        let error = SigningKey::from_pem(&Secret::new(*pem), *algorithm).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.hint()), (*message, Some(*hint)));
    }
}

#[test]
fn a_key_is_never_printed() {
    let key = SigningKey::from_pem(&Secret::new(RSA_PKCS8), None).unwrap();
    assert_eq!(format!("{key:?}"), "SigningKey { algorithm: RS256, .. }");
}

#[test]
fn names_are_never_the_same() {
    let names: std::collections::BTreeSet<String> = (0..1_000).map(|_| unique_name().unwrap()).collect();
    assert_eq!(names.len(), 1_000);
    assert!(names.iter().all(|name| name.len() == 22));
}
