//! How a client with a private key says who it is: a short-lived statement signed with that key (`private_key_jwt`, RFC 7523 §2.2).

use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::Header;
use serde::Serialize;

use super::signature::{SigningKey, unique_name};
use crate::error::Result;
use crate::limits::CLIENT_ASSERTION_MS;
use crate::secret::Secret;

/// The value of `client_assertion_type`.
pub(crate) const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a str,
    jti: String,
    iat: u64,
    exp: u64,
}

/// A statement that we are `client_id`, for the authorization server `issuer` only.
pub(crate) fn client_assertion(key: &SigningKey, client_id: &str, issuer: &str, now: SystemTime) -> Result<Secret> {
    let iat = seconds(now);
    let exp = iat.saturating_add(CLIENT_ASSERTION_MS / 1_000);
    let claims = Claims { iss: client_id, sub: client_id, aud: issuer, jti: unique_name()?, iat, exp };
    key.sign(&Header::new(key.algorithm()), &claims).map(Secret::new)
}

/// A time as tokens have it.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
#[path = "assertion_tests.rs"]
mod tests;
