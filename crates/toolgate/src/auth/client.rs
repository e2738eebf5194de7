//! How a client shows at the token endpoint who it is: which way is taken, and how it is written. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use url::form_urlencoded::byte_serialize;

use super::assertion::ASSERTION_TYPE;
use super::login::{ClientIdentity, ClientMethod};
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;

/// What a request says, name by name, before it is encoded.
pub(crate) type Form = Vec<(&'static str, String)>;

impl ClientMethod {
    /// All ways, best first.
    pub(crate) const ALL: [Self; 4] = [Self::PrivateKeyJwt, Self::SecretBasic, Self::SecretPost, Self::None];

    /// Its registered name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::SecretBasic => "client_secret_basic",
            Self::SecretPost => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// The way of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }

    /// Whether it can be taken with what there is.
    fn works_with(self, means: Means) -> bool {
        match self {
            Self::None => true,
            Self::SecretBasic | Self::SecretPost => means.secret,
            Self::PrivateKeyJwt => means.key,
        }
    }
}

/// What a client has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Means {
    /// A secret.
    pub(crate) secret: bool,
    /// A private key.
    pub(crate) key: bool,
}

/// The way to take: what the settings say (`wish`), else the best of what the server takes (`token_endpoint_auth_methods_supported`) and we have.
pub(crate) fn choose_method(wish: Option<&str>, supported: Option<&[String]>, means: Means) -> Result<ClientMethod> {
    if let Some(wish) = wish {
        return wished(wish, means);
    }
    let ours = || ClientMethod::ALL.into_iter().filter(|method| method.works_with(means));
    let is_listed =
        |method: &ClientMethod| supported.is_some_and(|list| list.iter().any(|name| name == method.as_str()));
    // Lists are often incomplete and a missing one stands for `client_secret_basic` (RFC 8414 §2), so the best of what we have is tried then.
    Ok(ours().find(is_listed).or_else(|| ours().next()).unwrap_or(ClientMethod::None))
}

fn wished(wish: &str, means: Means) -> Result<ClientMethod> {
    let wrong =
        |what: String| Error::new(ErrorKind::Settings, format!("`oauth.tokenEndpointAuthMethod` is `{wish}`, {what}"));
    let Some(method) = ClientMethod::named(wish) else {
        return Err(wrong("which is not known here".to_owned())
            .hinting("it is one of private_key_jwt, client_secret_basic, client_secret_post, none"));
    };
    if method.works_with(means) {
        return Ok(method);
    }
    let missing = if method == ClientMethod::PrivateKeyJwt { "oauth.privateKey" } else { "oauth.clientSecret" };
    Err(wrong(format!("and there is no `{missing}`")).hinting(format!("set `{missing}`")))
}

/// Writes into a request who we are. `assertion` is what the private key signed, for the way that needs it.
///
/// Our name is always in the form: a header with name and secret should be enough, and many servers look for the name in the form all the same.
pub(crate) fn show(client: &ClientIdentity, assertion: Option<&Secret>, headers: &mut HeaderMap, form: &mut Form) {
    let secret = client.client_secret.as_ref().map_or("", Secret::expose);
    form.push(("client_id", client.client_id.clone()));
    match client.method {
        ClientMethod::SecretBasic => {
            headers.insert(AUTHORIZATION, basic(&client.client_id, secret));
        }
        ClientMethod::SecretPost => form.push(("client_secret", secret.to_owned())),
        ClientMethod::PrivateKeyJwt => {
            if let Some(assertion) = assertion {
                form.extend(statement(assertion));
            }
        }
        ClientMethod::None => {}
    }
}

/// The parameters that carry what the private key signed.
pub(crate) fn statement(assertion: &Secret) -> [(&'static str, String); 2] {
    [("client_assertion_type", ASSERTION_TYPE.to_owned()), ("client_assertion", assertion.expose().to_owned())]
}

/// Both parts are encoded before they are joined (RFC 6749 §2.3.1), so that a colon in a name does not end it.
fn basic(client_id: &str, secret: &str) -> HeaderValue {
    let encoded = |part: &str| byte_serialize(part.as_bytes()).collect::<String>();
    let joined = STANDARD.encode(format!("{}:{}", encoded(client_id), encoded(secret)));
    let mut value =
        HeaderValue::try_from(format!("Basic {joined}")).unwrap_or_else(|_| HeaderValue::from_static("Basic"));
    value.set_sensitive(true);
    value
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
