//! Proof that whoever sends a token has the key it is bound to (RFC 9449).

use std::time::{SystemTime, UNIX_EPOCH};

use crate::auth_server::jwt::{Jwt, sha256, thumbprint};
use crate::auth_server::world::World;
use crate::http::request::Request;

/// How far the clock of a proof may be off.
const CLOCK_SKEW_SECONDS: u64 = 300;

/// What a proof has to be about.
#[derive(Debug)]
pub(crate) struct Proof<'a> {
    pub(crate) address: &'a str,
    pub(crate) token: Option<&'a str>,
    pub(crate) nonce: Option<&'a str>,
}

/// What is wrong with a proof.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It does not prove anything; the words say why.
    Invalid(&'static str),
    /// The nonce of this server is missing or old.
    Nonce,
}

/// The nonce that one side of the server wants at the moment.
pub(crate) fn nonce(world: &World, side: &str) -> String {
    format!("{side}-nonce-{}", world.state.lock().nonce)
}

/// The thumbprint of the key that a request proves to have; `None` when it has no proof.
pub(crate) fn check(world: &World, request: &Request, proof: &Proof<'_>) -> Result<Option<String>, Fault> {
    let mut headers = request.headers.iter().filter(|(name, _)| name == "dpop");
    let Some((_, text)) = headers.next() else { return Ok(None) };
    if headers.next().is_some() {
        return Err(Fault::Invalid("two proofs"));
    }
    let jwt = Jwt::read(text).ok_or(Fault::Invalid("not a JWT"))?;
    let key = jwt.header.get("jwk").ok_or(Fault::Invalid("no key"))?;
    if key.get("d").is_some() {
        return Err(Fault::Invalid("the private key is in it"));
    }
    let must = |is_fine: bool, words: &'static str| if is_fine { Ok(()) } else { Err(Fault::Invalid(words)) };
    must(jwt.header.get("typ").and_then(|kind| kind.as_str()) == Some("dpop+jwt"), "`typ` is not `dpop+jwt`")?;
    must(jwt.is_signed_by(key), "the signature is wrong")?;
    must(jwt.claim("htm") == Some(&request.method), "`htm` is another method")?;
    must(jwt.claim("htu") == Some(proof.address), "`htu` is another address")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default();
    let made = jwt.claims.get("iat").and_then(serde_json::Value::as_u64).ok_or(Fault::Invalid("no `iat`"))?;
    must(now.abs_diff(made) <= CLOCK_SKEW_SECONDS, "`iat` is not now")?;
    let id = jwt.claim("jti").ok_or(Fault::Invalid("no `jti`"))?;
    must(world.state.lock().proofs.insert(id.to_owned()), "`jti` was used before")?;
    must(jwt.claim("ath").map(str::to_owned) == proof.token.map(sha256), "`ath` is not the hash of the token")?;
    if proof.nonce.is_some() && jwt.claim("nonce") != proof.nonce {
        return Err(Fault::Nonce);
    }
    thumbprint(key).map(Some).ok_or(Fault::Invalid("a key of an unknown kind"))
}
