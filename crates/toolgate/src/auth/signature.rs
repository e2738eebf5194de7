//! Signing: private keys from PEM texts, and the signatures of JSON Web Tokens made with `ring`.
//!
//! `jsonwebtoken` writes the tokens and asks whatever is installed in the process for the signature. Ours is installed on first use. It signs and
//! never verifies: nobody sends us a token whose signature is ours to judge.

use std::fmt;
use std::sync::Once;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind as JwtErrorKind, Result as JwtResult, new_error};
use jsonwebtoken::signature::{Error as SignatureError, Signer};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey, Header};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256,
    RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;

/// What turns any private key into one that can be read here.
const CONVERT: &str = "convert it with `openssl pkcs8 -topk8 -nocrypt -in key.pem -out key.pkcs8.pem`";

/// What a key signs with when nothing is said, most used first. The first one that fits the key is taken.
const USUAL: [Algorithm; 4] = [Algorithm::RS256, Algorithm::ES256, Algorithm::ES384, Algorithm::EdDSA];

/// How many random bytes make a name that nobody else has.
const NAME_BYTES: usize = 16;

/// A private key and what it signs with.
#[derive(Clone)]
pub(crate) struct SigningKey {
    algorithm: Algorithm,
    key: EncodingKey,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// Reads a key (`oauth.privateKey`): PKCS#8, or PKCS#1 for RSA. Without an algorithm (`oauth.signingAlgorithm`) the usual one for it is taken.
    pub(crate) fn from_pem(pem: &Secret, algorithm: Option<&str>) -> Result<Self> {
        // Variables often hold the text with its line ends written out.
        let pem = pem.expose().replace("\\n", "\n");
        let wanted = algorithm.map(parse_algorithm).transpose()?;
        let tried = wanted.as_ref().map_or(USUAL.as_slice(), std::slice::from_ref);
        for &algorithm in tried {
            let Ok(key) = encoding_key(algorithm, pem.as_bytes()) else { continue };
            if signer(&algorithm, &key).is_ok() {
                return Ok(Self { algorithm, key });
            }
        }
        Err(unusable(&pem, wanted))
    }

    /// A key for ES256 that is known to be PKCS#8.
    pub(crate) fn es256(pkcs8: &[u8]) -> Self {
        Self { algorithm: Algorithm::ES256, key: EncodingKey::from_ec_der(pkcs8) }
    }

    /// What it signs with.
    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// A signed token.
    pub(crate) fn sign(&self, header: &Header, claims: &impl Serialize) -> Result<String> {
        install();
        jsonwebtoken::encode(header, claims, &self.key).map_err(|error| cannot_sign(&error.to_string()))
    }
}

/// A name that nobody else has, for `jti`.
pub(crate) fn unique_name() -> Result<String> {
    let mut bytes = [0_u8; NAME_BYTES];
    SystemRandom::new().fill(&mut bytes).map_err(|_| cannot_sign("the system gives no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Why there is no signature.
pub(crate) fn cannot_sign(why: &str) -> Error {
    Error::new(ErrorKind::LoginFailed, format!("nothing can be signed: {why}"))
}

fn parse_algorithm(name: &str) -> Result<Algorithm> {
    let known = name.parse::<Algorithm>().ok().filter(|algorithm| algorithm.family() != AlgorithmFamily::Hmac);
    known.ok_or_else(|| {
        Error::new(ErrorKind::Settings, format!("`oauth.signingAlgorithm` is `{name}`, which nothing is signed with"))
            .hinting("it is one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA")
    })
}

fn encoding_key(algorithm: Algorithm, pem: &[u8]) -> JwtResult<EncodingKey> {
    match algorithm.family() {
        AlgorithmFamily::Rsa => EncodingKey::from_rsa_pem(pem),
        AlgorithmFamily::Ec => EncodingKey::from_ec_pem(pem),
        AlgorithmFamily::Ed => EncodingKey::from_ed_pem(pem),
        AlgorithmFamily::Hmac => Err(new_error(JwtErrorKind::UnsupportedAlgorithm)),
    }
}

/// Says what is wrong with a key, as far as its first line tells.
fn unusable(pem: &str, wanted: Option<Algorithm>) -> Error {
    let label = pem.split("-----BEGIN ").nth(1).and_then(|rest| rest.split("-----").next());
    let (message, hint) = match (label, wanted) {
        (None, _) => ("is not a private key in PEM form".to_owned(), "it begins with `-----BEGIN PRIVATE KEY-----`"),
        (Some(label), _) if label.contains("ENCRYPTED") || pem.contains("ENCRYPTED") => {
            ("is locked with a passphrase".to_owned(), CONVERT)
        }
        (Some("EC PRIVATE KEY"), _) => ("is an EC key in SEC1 form, and PKCS#8 is needed".to_owned(), CONVERT),
        (Some(label), _) if label.contains("PUBLIC") || label.contains("CERTIFICATE") => {
            ("is public; the private key is needed".to_owned(), "it begins with `-----BEGIN PRIVATE KEY-----`")
        }
        (Some(_), Some(algorithm)) => (
            format!("cannot sign with {algorithm:?}"),
            "leave `oauth.signingAlgorithm` away, or give the key it is for",
        ),
        (Some(_), None) => ("cannot be read as an RSA, P-256, P-384 or Ed25519 key".to_owned(), CONVERT),
    };
    Error::new(ErrorKind::Settings, format!("`oauth.privateKey` {message}")).hinting(hint)
}

/// Makes `ring` what the process signs with.
fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: signer,
        verifier_factory: no_verifier,
        key_utils: KeyUtils {
            rsa_pub_components_from_private_key: |_| Err(unsupported()),
            rsa_pub_components_from_public_key: |_| Err(unsupported()),
            ec_pub_components_from_private_key: |_, _| Err(unsupported()),
            ed_pub_components_from_private_key: |_, _| Err(unsupported()),
            compute_digest: |_, _| Err(unsupported()),
        },
    };
    static ONCE: Once = Once::new();
    // Whoever embeds this library may have installed another one before. It signs as well.
    ONCE.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}

fn unsupported() -> jsonwebtoken::errors::Error {
    new_error(JwtErrorKind::UnsupportedAlgorithm)
}

fn no_verifier(_: &Algorithm, _: &DecodingKey) -> JwtResult<Box<dyn JwtVerifier>> {
    Err(unsupported())
}

/// A key as `ring` has it.
enum KeyPair {
    Rsa(RsaKeyPair, &'static dyn RsaEncoding),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

struct RingSigner {
    algorithm: Algorithm,
    pair: KeyPair,
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> JwtResult<Box<dyn JwtSigner>> {
    let pair = match algorithm {
        Algorithm::RS256 => rsa(key, &RSA_PKCS1_SHA256)?,
        Algorithm::RS384 => rsa(key, &RSA_PKCS1_SHA384)?,
        Algorithm::RS512 => rsa(key, &RSA_PKCS1_SHA512)?,
        Algorithm::PS256 => rsa(key, &RSA_PSS_SHA256)?,
        Algorithm::PS384 => rsa(key, &RSA_PSS_SHA384)?,
        Algorithm::PS512 => rsa(key, &RSA_PSS_SHA512)?,
        Algorithm::ES256 => ec(key, &ECDSA_P256_SHA256_FIXED_SIGNING)?,
        Algorithm::ES384 => ec(key, &ECDSA_P384_SHA384_FIXED_SIGNING)?,
        Algorithm::EdDSA => {
            // OpenSSL writes the private half only.
            let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key.as_bytes());
            KeyPair::Ed(pair.map_err(|_| new_error(JwtErrorKind::InvalidEddsaKey))?)
        }
        _ => return Err(unsupported()),
    };
    Ok(Box::new(RingSigner { algorithm: *algorithm, pair }))
}

fn rsa(key: &EncodingKey, padding: &'static dyn RsaEncoding) -> JwtResult<KeyPair> {
    let pair = RsaKeyPair::from_der(key.as_bytes());
    Ok(KeyPair::Rsa(pair.map_err(|error| new_error(JwtErrorKind::InvalidRsaKey(error.to_string())))?, padding))
}

fn ec(key: &EncodingKey, algorithm: &'static ring::signature::EcdsaSigningAlgorithm) -> JwtResult<KeyPair> {
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, key.as_bytes(), &SystemRandom::new());
    Ok(KeyPair::Ec(pair.map_err(|_| new_error(JwtErrorKind::InvalidEcdsaKey))?))
}

impl Signer<Vec<u8>> for RingSigner {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, SignatureError> {
        let random = SystemRandom::new();
        match &self.pair {
            KeyPair::Rsa(pair, padding) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(*padding, &random, message, &mut signature).map_err(|_| SignatureError::new())?;
                Ok(signature)
            }
            KeyPair::Ec(pair) => {
                let signature = pair.sign(&random, message).map_err(|_| SignatureError::new())?;
                Ok(signature.as_ref().to_vec())
            }
            KeyPair::Ed(pair) => Ok(pair.sign(message).as_ref().to_vec()),
        }
    }
}

impl JwtSigner for RingSigner {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
