//! The address that the person's browser is sent to, and what has to be remembered until it comes back.

use std::borrow::Cow;

use oauth2::basic::BasicClient;
use oauth2::{AuthUrl, ClientId, CsrfToken, PkceCodeChallenge, RedirectUrl};
use url::Url;

use super::scopes::OFFLINE;
use super::token_request::Wanted;
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;

/// How many random bytes are in a state, and in a verifier.
const STATE_BYTES: u32 = 24;
const VERIFIER_BYTES: u32 = 48;

/// A login that begins.
#[derive(Clone, Debug)]
pub(crate) struct Authorization {
    /// Where the browser is sent. It holds the state, and nothing that is worth more than that.
    pub(crate) url: Url,
    /// What the browser has to bring back unchanged.
    pub(crate) state: Secret,
    /// What only we know, and show when the code is redeemed (PKCE).
    pub(crate) verifier: Secret,
}

/// Begins a login at the authorization endpoint. What its address asks for already is kept.
pub(crate) fn authorization(
    endpoint: &Url,
    client_id: &str,
    redirect_uri: &str,
    wanted: &Wanted<'_>,
) -> Result<Authorization> {
    let redirect = RedirectUrl::new(redirect_uri.to_owned()).map_err(|_| {
        Error::new(ErrorKind::Settings, format!("`oauth.redirectUri` is `{redirect_uri}`, which is not an address"))
            .hinting("it looks like `http://127.0.0.1:7777/oauth/callback`, or leave it away")
    })?;
    let client =
        BasicClient::new(ClientId::new(client_id.to_owned())).set_auth_uri(AuthUrl::from_url(endpoint.clone()));
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256_len(VERIFIER_BYTES);
    let request = client.authorize_url(|| CsrfToken::new_random_len(STATE_BYTES));
    let mut request = request.set_redirect_uri(Cow::Owned(redirect)).set_pkce_challenge(challenge);
    for (name, value) in wanted.parameters() {
        request = request.add_extra_param(name, value);
    }
    // Without the question, a server drops the scope that lets the login be renewed (OpenID Connect Core §11).
    let is_offline = wanted.scopes.iter().any(|scope| scope == OFFLINE);
    if is_offline && !endpoint.query_pairs().any(|(name, _)| name == "prompt") {
        request = request.add_extra_param("prompt", "consent");
    }
    let (url, state) = request.url();
    Ok(Authorization { url, state: Secret::new(state.into_secret()), verifier: Secret::new(verifier.into_secret()) })
}

#[cfg(test)]
#[path = "authorization_url_tests.rs"]
mod tests;
