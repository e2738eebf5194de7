//! What a login leaves behind: the tokens, who they are from, and who we are to them. Everything needed to renew it without a person.

use std::time::SystemTime;

use crate::secret::Secret;

/// A login to one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// What requests carry.
    pub access_token: Secret,
    /// How they carry it.
    pub token_type: TokenType,
    /// What it is renewed with.
    pub refresh_token: Option<Secret>,
    /// When the access token ends, as far as it is known.
    pub expires_at: Option<SystemTime>,
    /// When it was got.
    pub obtained_at: SystemTime,
    /// What it is good for: what was granted, else what was asked for.
    pub scopes: Vec<String>,
    /// The authorization server.
    pub issuer: String,
    /// Where it is renewed.
    pub token_endpoint: String,
    /// What it is for (RFC 8707), when the server takes that parameter.
    pub resource: Option<String>,
    /// Who we are to the authorization server.
    pub client: ClientIdentity,
    /// The key that proves that the token is ours (DPoP): PKCS#8, Base64.
    pub proof_key: Option<Secret>,
    /// Counts up with every renewal, so that processes see which of two is the later one.
    pub generation: u64,
}

/// How requests carry a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenType {
    /// Whoever has it may use it.
    Bearer,
    /// Only whoever has the key may use it (RFC 9449).
    Dpop,
}

/// Who we are to an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientIdentity {
    /// The authorization server that knows us by it.
    pub issuer: String,
    /// Our name there.
    pub client_id: String,
    /// The secret that belongs to it.
    pub client_secret: Option<Secret>,
    /// How we show at the token endpoint who we are.
    pub method: ClientMethod,
    /// Where it came from.
    pub origin: ClientOrigin,
    /// The address that browsers are sent back to with it, where that was part of the registration.
    pub redirect_uri: Option<String>,
    /// When its secret ends.
    pub expires_at: Option<SystemTime>,
}

/// How a client shows who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientMethod {
    /// By its name alone.
    None,
    /// With its secret in the `Authorization` header.
    SecretBasic,
    /// With its secret in the form.
    SecretPost,
    /// With a statement signed by its private key, which the settings hold.
    PrivateKeyJwt,
}

/// Where a client identity came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientOrigin {
    /// Written in the settings.
    Settings,
    /// The address of a published document about us.
    Document,
    /// Registered by us.
    Registered,
}

/// Logins for tests.
#[cfg(test)]
pub(crate) mod samples {
    use std::time::{Duration, UNIX_EPOCH};

    use super::{ClientIdentity, ClientMethod, ClientOrigin, Login, TokenType};
    use crate::secret::Secret;

    /// A login with that access token, without an end and without a way to renew it.
    pub(crate) fn login(access_token: &str) -> Login {
        Login {
            access_token: Secret::new(access_token),
            token_type: TokenType::Bearer,
            refresh_token: None,
            expires_at: None,
            obtained_at: UNIX_EPOCH + Duration::from_secs(1_000),
            scopes: vec!["read".to_owned()],
            issuer: "https://as.example".to_owned(),
            token_endpoint: "https://as.example/token".to_owned(),
            resource: Some("https://mcp.example/mcp".to_owned()),
            client: client(),
            proof_key: None,
            generation: 0,
        }
    }

    /// A registered client with a secret.
    pub(crate) fn client() -> ClientIdentity {
        ClientIdentity {
            issuer: "https://as.example".to_owned(),
            client_id: "toolgate-1".to_owned(),
            client_secret: Some(Secret::new("client-sesame")),
            method: ClientMethod::SecretBasic,
            origin: ClientOrigin::Registered,
            redirect_uri: Some("http://127.0.0.1:7777/callback".to_owned()),
            expires_at: None,
        }
    }
}
