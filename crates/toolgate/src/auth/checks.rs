//! The rules that published metadata must keep to before anything in it is used. Each check is data: the rule, and what was found. Pure.

use url::Url;

use super::account::{GrantKind, LoginOptions};
use super::metadata::{AuthorizationServer, ProtectedResource};
use super::place::Place;
use super::resource::{covers, resource_of};
use super::shown::{excerpt, shown};

/// One rule, and whether it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// The rule and where it stands.
    pub(crate) rule: &'static str,
    /// What was found; in the bad case, how it breaks the rule.
    pub(crate) found: Result<String, String>,
}

/// The resource of a document must be the server that was asked.
pub(crate) const RESOURCE: &str = "RFC 9728 §3.3: `resource` is the server that is used";
/// Whoever gives tokens is named by an address that nobody can imitate.
pub(crate) const ISSUER_ADDRESS: &str = "RFC 8414 §2: an issuer is an `https` URL without query and fragment";
/// A document must be about whoever was asked.
pub(crate) const ISSUER: &str = "RFC 8414 §3.3: `issuer` is exactly the one whose metadata was asked for";
/// The endpoint where a person logs in.
pub(crate) const AUTHORIZATION_ENDPOINT: &str =
    "RFC 6749 §3.1: `authorization_endpoint` is an `https` URL without fragment";
/// The endpoint where tokens are fetched.
pub(crate) const TOKEN_ENDPOINT: &str = "RFC 6749 §3.2: `token_endpoint` is an `https` URL without fragment";
/// The endpoint where clients are registered.
pub(crate) const REGISTRATION_ENDPOINT: &str = "RFC 7591 §3: `registration_endpoint` is an `https` URL";
/// The endpoint where a login on another device begins.
pub(crate) const DEVICE_ENDPOINT: &str = "RFC 8628 §3.1: `device_authorization_endpoint` is an `https` URL";
/// Codes must be of no use to whoever steals one.
pub(crate) const PKCE: &str = "MCP, \"Authorization Code Protection\": `code_challenge_methods_supported` has `S256`";

/// Whether the document of an MCP server is about that server.
pub(crate) fn check_resource(document: &ProtectedResource, server: &Url) -> Check {
    let found = match &document.resource {
        None => Err("it has no `resource`".to_owned()),
        Some(resource) if covers(resource, server) => Ok(format!("`{}`", excerpt(resource))),
        Some(resource) => Err(format!("it is about `{}`, not about `{}`", excerpt(resource), resource_of(server))),
    };
    Check { rule: RESOURCE, found }
}

/// An issuer as the address that it must be.
pub(crate) fn issuer_url(issuer: &str, place: &Place) -> Result<Url, String> {
    let url = Url::parse(issuer).map_err(|_| format!("`{}` is no URL", excerpt(issuer)))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("`{}` has a query or fragment", excerpt(issuer)));
    }
    // Its metadata is only read, so the server's own address will do even where it is spoken to in the clear.
    place.may_read(&url).map_err(|why| format!("`{}` may not be used: {why}", excerpt(issuer)))?;
    Ok(url)
}

/// How strictly an issuer is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IssuerMatch {
    /// Byte for byte.
    Exact,
    /// With or without a slash at its end: nobody has named the issuer, and we took the origin of the server for it.
    OriginOfServer,
}

/// Whether the document of an authorization server is about the issuer that was asked.
pub(crate) fn check_issuer(document: &AuthorizationServer, asked: &str, how: IssuerMatch) -> Check {
    let found = match &document.issuer {
        None => Err("it has no `issuer`".to_owned()),
        Some(issuer) if issuer == asked => Ok(format!("`{}`", excerpt(issuer))),
        Some(issuer) if how == IssuerMatch::OriginOfServer && issuer.strip_suffix('/') == Some(asked) => {
            Ok(format!("`{}`", excerpt(issuer)))
        }
        Some(issuer) => Err(format!("its issuer is `{}`, not `{}`", excerpt(issuer), excerpt(asked))),
    };
    Check { rule: ISSUER, found }
}

/// Whether everything is there that this login needs, and may be used. Endpoints that it does not need are not looked at.
pub(crate) fn check_server(document: &AuthorizationServer, options: &LoginOptions, place: &Place) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut check = |rule, name: &str, endpoint: Option<&String>, is_needed: bool| match endpoint {
        None if !is_needed => {}
        None => checks.push(Check { rule, found: Err(format!("it has no `{name}`")) }),
        Some(endpoint) => checks.push(Check { rule, found: check_endpoint(name, endpoint, place) }),
    };
    let AuthorizationServer { authorization_endpoint, token_endpoint, registration_endpoint, .. } = document;
    if options.grant == GrantKind::AuthorizationCode {
        check(AUTHORIZATION_ENDPOINT, "authorization_endpoint", authorization_endpoint.as_ref(), true);
    }
    check(TOKEN_ENDPOINT, "token_endpoint", token_endpoint.as_ref(), true);
    if options.client_id.is_none() && options.grant.needs_a_person() {
        check(REGISTRATION_ENDPOINT, "registration_endpoint", registration_endpoint.as_ref(), false);
    }
    if options.grant == GrantKind::DeviceCode {
        let device_endpoint = document.device_authorization_endpoint.as_ref();
        check(DEVICE_ENDPOINT, "device_authorization_endpoint", device_endpoint, true);
    }
    if options.grant == GrantKind::AuthorizationCode {
        let found = match &document.code_challenge_methods_supported {
            None => Err("it has no `code_challenge_methods_supported`".to_owned()),
            Some(methods) if methods.iter().any(|method| method == "S256") => Ok("`S256`".to_owned()),
            Some(_) => Err("`code_challenge_methods_supported` does not have `S256`".to_owned()),
        };
        checks.push(Check { rule: PKCE, found });
    }
    checks
}

fn check_endpoint(name: &str, endpoint: &str, place: &Place) -> Result<String, String> {
    let url = Url::parse(endpoint).map_err(|_| format!("`{name}` is no URL: `{}`", excerpt(endpoint)))?;
    match place.may_trust(&url) {
        Ok(()) => Ok(format!("`{}`", shown(&url))),
        Err(why) => Err(format!("`{name}` may not be used, {why}: `{}`", excerpt(endpoint))),
    }
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
