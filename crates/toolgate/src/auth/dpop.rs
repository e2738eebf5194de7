//! Proof of possession (RFC 9449): a key of our own, a fresh proof for every request, and the nonces that servers ask to see in them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderName};
use jsonwebtoken::jwk::{
    AlgorithmParameters, CommonParameters, EllipticCurve, EllipticCurveKeyParameters, EllipticCurveKeyType, Jwk,
};
use jsonwebtoken::{Algorithm, Header};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde::Serialize;
use url::Url;

use super::assertion::seconds;
use super::signature::{SigningKey, cannot_sign, unique_name};
use crate::error::Result;
use crate::limits::{DPOP_NONCE_BYTES_MAX, DPOP_NONCES_MAX};
use crate::secret::Secret;

/// The header that carries a proof.
pub(crate) const DPOP: HeaderName = HeaderName::from_static("dpop");

/// The header that carries the nonce for the next proof.
pub(crate) const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// How many bytes each half of a public key on this curve has.
const COORDINATE_BYTES: usize = 32;

/// The key that tokens are bound to.
#[derive(Clone)]
pub(crate) struct ProofKey {
    kept: Secret,
    key: SigningKey,
    public: Jwk,
}

impl fmt::Debug for ProofKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProofKey").field("public", &self.public).finish_non_exhaustive()
    }
}

/// What a proof is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proven<'a> {
    /// The method of the request.
    pub(crate) method: &'a str,
    /// Where it goes; query and fragment are not part of the proof.
    pub(crate) url: &'a Url,
    /// The token it carries.
    pub(crate) access_token: Option<&'a Secret>,
    /// What the server asked to see.
    pub(crate) nonce: Option<&'a str>,
    /// The time.
    pub(crate) now: SystemTime,
}

#[derive(Serialize)]
struct Claims<'a> {
    jti: String,
    htm: &'a str,
    htu: String,
    iat: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ath: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
}

impl ProofKey {
    /// A new key.
    pub(crate) fn generate() -> Result<Self> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let made = made.map_err(|_| cannot_sign("the system gives no random numbers"))?;
        Self::from_pkcs8(made.as_ref())
    }

    /// The key that was kept with a login: PKCS#8, Base64.
    pub(crate) fn from_kept(kept: &Secret) -> Result<Self> {
        let bytes = STANDARD.decode(kept.expose()).map_err(|_| cannot_sign("the key of the login is not Base64"))?;
        Self::from_pkcs8(&bytes)
    }

    fn from_pkcs8(pkcs8: &[u8]) -> Result<Self> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new());
        let pair = pair.map_err(|_| cannot_sign("the key of the login is not a P-256 key"))?;
        // The public half is written as one byte that says "both coordinates", and then both.
        let coordinates = pair.public_key().as_ref().get(1..).unwrap_or_default();
        let (x, y) = coordinates.split_at_checked(COORDINATE_BYTES).unwrap_or_default();
        let public = EllipticCurveKeyParameters {
            key_type: EllipticCurveKeyType::EC,
            curve: EllipticCurve::P256,
            x: URL_SAFE_NO_PAD.encode(x),
            y: URL_SAFE_NO_PAD.encode(y),
        };
        Ok(Self {
            kept: Secret::new(STANDARD.encode(pkcs8)),
            key: SigningKey::es256(pkcs8),
            public: Jwk { common: CommonParameters::default(), algorithm: AlgorithmParameters::EllipticCurve(public) },
        })
    }

    /// The key as it is kept with a login.
    pub(crate) fn kept(&self) -> &Secret {
        &self.kept
    }

    /// A fresh proof. None is ever used twice.
    pub(crate) fn proof(&self, proven: &Proven<'_>) -> Result<String> {
        let mut header = Header::new(Algorithm::ES256);
        header.typ = Some("dpop+jwt".to_owned());
        header.jwk = Some(self.public.clone());
        let mut address = proven.url.clone();
        address.set_query(None);
        address.set_fragment(None);
        let hash = |token: &Secret| URL_SAFE_NO_PAD.encode(digest(&SHA256, token.expose().as_bytes()));
        let claims = Claims {
            jti: unique_name()?,
            htm: proven.method,
            htu: address.into(),
            iat: seconds(proven.now),
            ath: proven.access_token.map(hash),
            nonce: proven.nonce,
        };
        self.key.sign(&header, &claims)
    }
}

/// The latest nonce of each origin. The origin that was silent longest makes room.
#[derive(Debug, Default)]
pub(crate) struct Nonces(Mutex<VecDeque<(String, String)>>);

impl Nonces {
    /// What the next proof for that address has to show.
    pub(crate) fn get(&self, url: &Url) -> Option<String> {
        let origin = url.origin().ascii_serialization();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(of, _)| *of == origin).map(|(_, nonce)| nonce.clone())
    }

    /// Keeps the nonce of an answer, and says whether there was a new one.
    pub(crate) fn note(&self, url: &Url, headers: &HeaderMap) -> bool {
        let Some(nonce) = headers.get(DPOP_NONCE).and_then(|value| value.to_str().ok()) else { return false };
        if nonce.is_empty() || nonce.len() > DPOP_NONCE_BYTES_MAX {
            return false;
        }
        let origin = url.origin().ascii_serialization();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.iter().position(|(of, _)| *of == origin).and_then(|place| known.remove(place));
        let is_new = before.is_none_or(|(_, before)| before != nonce);
        known.push_back((origin, nonce.to_owned()));
        if known.len() > DPOP_NONCES_MAX {
            drop(known.pop_front());
        }
        is_new
    }
}

#[cfg(test)]
#[path = "dpop_tests.rs"]
mod tests;
