//! What a login leaves behind: the tokens, who they are from, and who we are to them. Everything needed to renew it without a person.

use std::time::SystemTime;

use crate::secret::Secret;

/// A login to one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Login {
    /// What requests carry.
    pub(crate) access_token: Secret,
    /// How they carry it.
    pub(crate) token_type: TokenType,
    /// What it is renewed with.
    pub(crate) refresh_token: Option<Secret>,
    /// When the access token ends, as far as it is known.
    pub(crate) expires_at: Option<SystemTime>,
    /// When it was got.
    pub(crate) obtained_at: SystemTime,
    /// What it is good for: what was granted, else what was asked for.
    pub(crate) scopes: Vec<String>,
    /// The authorization server.
    pub(crate) issuer: String,
    /// Where it is renewed.
    pub(crate) token_endpoint: String,
    /// What it is for (RFC 8707), when the server takes that parameter.
    pub(crate) resource: Option<String>,
    /// Who we are to the authorization server.
    pub(crate) client: ClientIdentity,
    /// The key that proves that the token is ours (DPoP): PKCS#8, Base64.
    pub(crate) proof_key: Option<Secret>,
    /// Counts up with every renewal, so that processes see which of two is the later one.
    pub(crate) generation: u64,
}

/// How requests carry a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenType {
    /// Whoever has it may use it.
    Bearer,
    /// Only whoever has the key may use it (RFC 9449).
    Dpop,
}

/// Who we are to an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientIdentity {
    /// The authorization server that knows us by it.
    pub(crate) issuer: String,
    /// Our name there.
    pub(crate) client_id: String,
    /// The secret that belongs to it.
    pub(crate) client_secret: Option<Secret>,
    /// How we show at the token endpoint who we are.
    pub(crate) method: ClientMethod,
    /// Where it came from.
    pub(crate) origin: ClientOrigin,
    /// The address that browsers are sent back to with it, where that was part of the registration.
    pub(crate) redirect_uri: Option<String>,
    /// When its secret ends.
    pub(crate) expires_at: Option<SystemTime>,
}

/// How a client shows who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientMethod {
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
pub(crate) enum ClientOrigin {
    /// Written in the settings.
    Settings,
    /// The address of a published document about us.
    Document,
    /// Registered by us.
    Registered,
}
