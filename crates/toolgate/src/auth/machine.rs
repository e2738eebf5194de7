//! Logins without a person: a machine as itself, a workload with a statement about it, a person's login at their company exchanged for one here,
//! and the renewal of any login that has something to renew it with. Each is tried once: what is refused is told, not tried another way.

use url::Url;

use super::client::{Means, choose_method};
use super::login::{ClientIdentity, ClientOrigin, Login};
use super::token_answer::TokenError;
use super::token_request::{Grant, TokenEndpoint, Wanted};
use crate::secret::Secret;

/// A machine logs in as itself (RFC 6749 §4.4).
pub(crate) async fn client_credentials(endpoint: &TokenEndpoint<'_>, wanted: &Wanted<'_>) -> Result<Login, TokenError> {
    let answer = endpoint.redeem(Grant::ClientCredentials, wanted).await?;
    Ok(endpoint.login(answer, wanted, None))
}

/// A workload logs in with a statement that its platform made about it (RFC 7523 §2.1).
pub(crate) async fn workload_identity(
    endpoint: &TokenEndpoint<'_>,
    assertion: &Secret,
    wanted: &Wanted<'_>,
) -> Result<Login, TokenError> {
    let answer = endpoint.redeem(Grant::JwtBearer(assertion), wanted).await?;
    Ok(endpoint.login(answer, wanted, None))
}

/// Where a company's people log in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdentityProvider<'a> {
    /// Where its tokens are exchanged (`oauth.idpTokenUrl`).
    pub(crate) token_url: &'a Url,
    /// Who we are there (`oauth.idpClientId`).
    pub(crate) client_id: &'a str,
    /// The secret there (`oauth.idpClientSecret`).
    pub(crate) client_secret: Option<&'a Secret>,
    /// The person's ID token from there (`oauth.assertion`).
    pub(crate) id_token: &'a Secret,
}

/// A person's login at their company is exchanged: there for a statement to the authorization server, here for a token.
pub(crate) async fn enterprise(
    endpoint: &TokenEndpoint<'_>,
    provider: &IdentityProvider<'_>,
    wanted: &Wanted<'_>,
) -> Result<Login, TokenError> {
    // Nothing is known about what the identity provider takes; a list that is missing stands for the usual way.
    let means = Means { secret: provider.client_secret.is_some(), key: false };
    let client = ClientIdentity {
        issuer: provider.token_url.origin().ascii_serialization(),
        client_id: provider.client_id.to_owned(),
        client_secret: provider.client_secret.cloned(),
        method: choose_method(None, None, means)?,
        origin: ClientOrigin::Settings,
        redirect_uri: None,
        expires_at: None,
    };
    let company = TokenEndpoint {
        url: provider.token_url,
        client: &client,
        issuer: &client.issuer,
        key: None,
        proof: None,
        ..*endpoint
    };
    // The statement is for the authorization server, whoever the token is for in the end.
    let audience = [endpoint.issuer.to_owned()];
    let exchanged = Wanted { audiences: &audience, ..*wanted };
    let statement = company.redeem(Grant::TokenExchange(provider.id_token), &exchanged).await?;
    let answer = endpoint.redeem(Grant::JwtBearer(&statement.access_token), wanted).await?;
    Ok(endpoint.login(answer, wanted, None))
}

/// The login after `old`, with its refresh token. Nothing is said of scopes: without a word they stay what they were (RFC 6749 §6).
pub(crate) async fn refresh(
    endpoint: &TokenEndpoint<'_>,
    old: &Login,
    wanted: &Wanted<'_>,
) -> Result<Login, TokenError> {
    let token = old.refresh_token.as_ref();
    let token =
        token.ok_or_else(|| TokenError::unasked("the login has ended, and there is nothing to renew it with"))?;
    let answer = endpoint.redeem(Grant::Refresh(token), &Wanted { scopes: &[], ..*wanted }).await?;
    Ok(endpoint.login(answer, wanted, Some(old)))
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
