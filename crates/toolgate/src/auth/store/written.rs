//! A login and a registered client as JSON. The only place where their secrets become text; whoever asks for that text seals it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::auth::login::{ClientIdentity, ClientMethod, ClientOrigin, Login, TokenType};
use crate::secret::Secret;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WrittenLogin {
    access_token: String,
    token_type: WrittenTokenType,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    obtained_at: u64,
    #[serde(default)]
    scopes: Vec<String>,
    issuer: String,
    token_endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    client: WrittenClient,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof_key: Option<String>,
    generation: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WrittenClient {
    issuer: String,
    client_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    method: WrittenMethod,
    origin: WrittenOrigin,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenTokenType {
    Bearer,
    Dpop,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenMethod {
    None,
    ClientSecretBasic,
    ClientSecretPost,
    PrivateKeyJwt,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenOrigin {
    Settings,
    Document,
    Registered,
}

impl WrittenLogin {
    pub(super) fn of(login: &Login) -> Self {
        let exposed = |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
        Self {
            access_token: login.access_token.expose().to_owned(),
            token_type: match login.token_type {
                TokenType::Bearer => WrittenTokenType::Bearer,
                TokenType::Dpop => WrittenTokenType::Dpop,
            },
            refresh_token: exposed(&login.refresh_token),
            expires_at: login.expires_at.map(to_ms),
            obtained_at: to_ms(login.obtained_at),
            scopes: login.scopes.clone(),
            issuer: login.issuer.clone(),
            token_endpoint: login.token_endpoint.clone(),
            resource: login.resource.clone(),
            client: WrittenClient::of(&login.client),
            proof_key: exposed(&login.proof_key),
            generation: login.generation,
        }
    }

    /// `None` when a time is beyond all times.
    pub(super) fn meant(self) -> Option<Login> {
        Some(Login {
            access_token: Secret::new(self.access_token),
            token_type: match self.token_type {
                WrittenTokenType::Bearer => TokenType::Bearer,
                WrittenTokenType::Dpop => TokenType::Dpop,
            },
            refresh_token: self.refresh_token.map(Secret::new),
            expires_at: moment(self.expires_at)?,
            obtained_at: from_ms(self.obtained_at)?,
            scopes: self.scopes,
            issuer: self.issuer,
            token_endpoint: self.token_endpoint,
            resource: self.resource,
            client: self.client.meant()?,
            proof_key: self.proof_key.map(Secret::new),
            generation: self.generation,
        })
    }
}

impl WrittenClient {
    pub(super) fn of(client: &ClientIdentity) -> Self {
        Self {
            issuer: client.issuer.clone(),
            client_id: client.client_id.clone(),
            client_secret: client.client_secret.as_ref().map(|secret| secret.expose().to_owned()),
            method: match client.method {
                ClientMethod::None => WrittenMethod::None,
                ClientMethod::SecretBasic => WrittenMethod::ClientSecretBasic,
                ClientMethod::SecretPost => WrittenMethod::ClientSecretPost,
                ClientMethod::PrivateKeyJwt => WrittenMethod::PrivateKeyJwt,
            },
            origin: match client.origin {
                ClientOrigin::Settings => WrittenOrigin::Settings,
                ClientOrigin::Document => WrittenOrigin::Document,
                ClientOrigin::Registered => WrittenOrigin::Registered,
            },
            redirect_uri: client.redirect_uri.clone(),
            expires_at: client.expires_at.map(to_ms),
        }
    }

    /// `None` when a time is beyond all times.
    pub(super) fn meant(self) -> Option<ClientIdentity> {
        Some(ClientIdentity {
            issuer: self.issuer,
            client_id: self.client_id,
            client_secret: self.client_secret.map(Secret::new),
            method: match self.method {
                WrittenMethod::None => ClientMethod::None,
                WrittenMethod::ClientSecretBasic => ClientMethod::SecretBasic,
                WrittenMethod::ClientSecretPost => ClientMethod::SecretPost,
                WrittenMethod::PrivateKeyJwt => ClientMethod::PrivateKeyJwt,
            },
            origin: match self.origin {
                WrittenOrigin::Settings => ClientOrigin::Settings,
                WrittenOrigin::Document => ClientOrigin::Document,
                WrittenOrigin::Registered => ClientOrigin::Registered,
            },
            redirect_uri: self.redirect_uri,
            expires_at: moment(self.expires_at)?,
        })
    }
}

/// A time in milliseconds since 1970, which is as fine as anybody needs it.
fn to_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn from_ms(ms: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(ms))
}

/// `Some(None)` when no time is written, `None` when it is beyond all times.
fn moment(ms: Option<u64>) -> Option<Option<SystemTime>> {
    match ms {
        Some(ms) => from_ms(ms).map(Some),
        None => Some(None),
    }
}
