//! What a login is about: one server at one address, and what the settings say about logging in to it, with secrets looked up.

use url::Url;

use crate::secret::Secret;
use crate::server_name::ServerName;
pub(crate) use crate::settings::raw::GrantKind;

/// One server at one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    /// What the server is called.
    pub(crate) server: ServerName,
    /// Where it is.
    pub(crate) url: Url,
    /// What the settings say about logging in.
    pub(crate) options: LoginOptions,
}

/// What the settings say about logging in (`oauth`), filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoginOptions {
    /// Whether a login may begin by itself (`enabled`).
    pub(crate) enabled: Option<bool>,
    /// How a token is got (`grantType`).
    pub(crate) grant: GrantKind,
    /// The client that was registered by hand (`clientId`).
    pub(crate) client_id: Option<String>,
    /// Its secret (`clientSecret`).
    pub(crate) client_secret: Option<Secret>,
    /// Its private key, as PEM (`privateKey`).
    pub(crate) private_key: Option<Secret>,
    /// What that key signs with (`signingAlgorithm`).
    pub(crate) signing_algorithm: Option<String>,
    /// How the client shows who it is to the token endpoint (`tokenEndpointAuthMethod`), when it is not for us to choose.
    pub(crate) client_method: Option<String>,
    /// Where a document about this client is published (`clientMetadataUrl`).
    pub(crate) client_metadata_url: Option<String>,
    /// Where the person logs in (`authorizationUrl`).
    pub(crate) authorization_url: Option<String>,
    /// Where tokens are fetched (`tokenUrl`).
    pub(crate) token_url: Option<String>,
    /// Where a client is registered (`registrationUrl`).
    pub(crate) registration_url: Option<String>,
    /// The authorization server that must answer (`issuer`).
    pub(crate) issuer: Option<String>,
    /// What is asked for (`scopes`).
    pub(crate) scopes: Vec<String>,
    /// Who the token is for (`audiences`).
    pub(crate) audiences: Vec<String>,
    /// Where the browser comes back to (`redirectUri`).
    pub(crate) redirect_uri: Option<String>,
    /// A signed statement about this workload or person, made elsewhere (`assertion`).
    pub(crate) assertion: Option<Secret>,
    /// Where the statement is exchanged for one that the authorization server takes (`idpTokenUrl`).
    pub(crate) idp_token_url: Option<String>,
    /// Who we are there (`idpClientId`).
    pub(crate) idp_client_id: Option<String>,
    /// The secret there (`idpClientSecret`).
    pub(crate) idp_client_secret: Option<Secret>,
}
