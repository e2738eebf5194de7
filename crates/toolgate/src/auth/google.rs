//! Credentials of Google: those of this machine (application default credentials), and those of an account that is acted for.
//!
//! They are worth more than any one server, so they only go to hosts of Google.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use google_cloud_auth::credentials::{
    AccessTokenCredentials, CacheableResource, CredentialsProvider as _, external_account, impersonated, mds,
    service_account, user_account,
};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use toolgate_wire::transport::http_client::{Credentials, Refusal, RequestFacts};
use toolgate_wire::{Error as WireError, Result as WireResult};
use url::Url;

use super::account::Account;
use super::exchange::Exchange;
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{GOOGLE_CREDENTIALS_BYTES_MAX, REFRESH_AHEAD_MS};
use crate::secret::Secret;
use crate::state_file;

/// Where ID tokens of accounts that are acted for come from.
pub(crate) const IAM: &str = "https://iamcredentials.googleapis.com";

/// What it takes to act for an account.
const CLOUD_PLATFORM: &str = "https://www.googleapis.com/auth/cloud-platform";

/// Says who pays.
const USER_PROJECT: HeaderName = HeaderName::from_static("x-goog-user-project");

const LOGIN_HINT: &str =
    "run `gcloud auth application-default login`, or set `GOOGLE_APPLICATION_CREDENTIALS` to a file with credentials";

/// Whether credentials of Google may go to a host.
pub(crate) fn is_host_of_google(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    host == "luci.app" || [".googleapis.com", ".luci.app"].iter().any(|suffix| host.ends_with(suffix))
}

/// The credentials of this machine.
pub(crate) struct GoogleCredentials {
    credentials: AccessTokenCredentials,
    /// The settings have the header themselves, in any letter case.
    keeps_own_project: bool,
}

impl GoogleCredentials {
    /// For a server of Google.
    ///
    /// # Errors
    /// When it is another host, or there are no credentials.
    pub(crate) fn new(env: &HostEnv, account: &Account, keeps_own_project: bool) -> Result<Self> {
        let host = account.url.host_str().unwrap_or_default();
        if !is_host_of_google(host) {
            let what = format!("credentials of Google are not sent to `{host}`");
            return Err(Error::new(ErrorKind::Settings, what).hinting(
                "`google_credentials` is for hosts under googleapis.com and luci.app; use another `authProviderType`",
            ));
        }
        let credentials = default_credentials(env, &account.options.scopes)?;
        Ok(Self { credentials, keeps_own_project })
    }

    #[cfg(test)]
    pub(crate) fn for_tests(env: &HostEnv, scopes: &[String], keeps_own_project: bool) -> Result<Self> {
        Ok(Self { credentials: default_credentials(env, scopes)?, keeps_own_project })
    }
}

impl fmt::Debug for GoogleCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GoogleCredentials")
    }
}

impl Credentials for GoogleCredentials {
    fn headers<'a>(&'a self, _request: RequestFacts<'a>) -> BoxFuture<'a, WireResult<HeaderMap>> {
        Box::pin(async move {
            let mut headers = match self.credentials.headers(Extensions::new()).await {
                Ok(CacheableResource::New { data, .. }) => data,
                Ok(CacheableResource::NotModified) => HeaderMap::new(),
                Err(error) => return Err(unavailable(&error)),
            };
            if self.keeps_own_project {
                headers.remove(USER_PROJECT);
            }
            Ok(headers)
        })
    }

    /// Whoever the machine is, it is; asking again gives the same.
    fn refused<'a>(&'a self, _refusal: &'a Refusal<'a>) -> BoxFuture<'a, WireResult<bool>> {
        Box::pin(async { Ok(false) })
    }
}

/// The credentials of an account that is acted for.
pub(crate) struct ImpersonatedCredentials {
    credentials: AccessTokenCredentials,
    exchange: Arc<dyn Exchange>,
    env: Arc<HostEnv>,
    address: Url,
    audience: String,
    kept: Mutex<Option<(Secret, SystemTime)>>,
}

impl ImpersonatedCredentials {
    /// Acts for `service_account`, towards whoever answers to `audience`.
    ///
    /// # Errors
    /// When there are no credentials to begin with.
    pub(crate) fn new(
        env: Arc<HostEnv>,
        exchange: Arc<dyn Exchange>,
        iam: &str,
        service_account: &str,
        audience: &str,
    ) -> Result<Self> {
        let credentials = default_credentials(&env, &[CLOUD_PLATFORM.to_owned()])?;
        let wrong =
            || Error::new(ErrorKind::Settings, format!("`targetServiceAccount`: `{service_account}` is no account"));
        let mut address = Url::parse(iam).map_err(|_| wrong())?;
        let path = ["v1", "projects", "-", "serviceAccounts", &format!("{service_account}:generateIdToken")];
        address.path_segments_mut().map_err(|()| wrong())?.extend(path);
        let kept = Mutex::new(None);
        Ok(Self { credentials, exchange, env, address, audience: audience.to_owned(), kept })
    }

    async fn token(&self) -> WireResult<Secret> {
        let now = self.env.clock.now();
        let ahead = Duration::from_millis(REFRESH_AHEAD_MS);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((token, _)) = kept.filter(|(_, expires_at)| now + ahead < *expires_at) {
            return Ok(token);
        }
        let access = self.credentials.access_token().await.map_err(|error| unavailable(&error))?;
        let (token, expires_at) = self.fetch(&access.token).await?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((token.clone(), expires_at));
        Ok(token)
    }

    async fn fetch(&self, access_token: &str) -> WireResult<(Secret, SystemTime)> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, bearer(access_token)?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = json!({"audience": self.audience, "includeEmail": true}).to_string().into_bytes();
        let failed = |why: String| WireError::Credentials(format!("no ID token for the account: {why}").into());
        let answer = self.exchange.post(&self.address, headers, body).await.map_err(failed)?;
        let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let Some(token) = said["token"].as_str().filter(|_| answer.status.is_success()) else {
            let words = said["error"]["message"].as_str().unwrap_or("it does not say why");
            let words: String = words.chars().filter(|letter| !letter.is_control()).take(200).collect();
            return Err(failed(format!("the IAM API answered HTTP {}: {words}", answer.status.as_u16())));
        };
        // A token that does not say when it ends is used once.
        let expires_at = expiry(token).unwrap_or(SystemTime::UNIX_EPOCH);
        Ok((Secret::new(token), expires_at))
    }
}

impl fmt::Debug for ImpersonatedCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImpersonatedCredentials").field("audience", &self.audience).finish_non_exhaustive()
    }
}

impl Credentials for ImpersonatedCredentials {
    fn headers<'a>(&'a self, _request: RequestFacts<'a>) -> BoxFuture<'a, WireResult<HeaderMap>> {
        Box::pin(async move {
            let token = self.token().await?;
            Ok(HeaderMap::from_iter([(AUTHORIZATION, bearer(token.expose())?)]))
        })
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal<'a>) -> BoxFuture<'a, WireResult<bool>> {
        let had_one = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take().is_some();
        Box::pin(async move { Ok(had_one && refusal.attempt == 1) })
    }
}

fn bearer(token: &str) -> WireResult<HeaderValue> {
    let value = HeaderValue::try_from(format!("Bearer {token}"));
    value.map_err(|_| WireError::Credentials("the token cannot be sent as a header".into()))
}

fn unavailable(error: &dyn std::error::Error) -> WireError {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    WireError::Credentials(format!("no credentials of Google: {words}; {LOGIN_HINT}").into())
}

/// When a JWT ends. Nothing else of it is looked at: it is for somebody else to check.
fn expiry(jwt: &str) -> Option<SystemTime> {
    let claims = URL_SAFE_NO_PAD.decode(jwt.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(claims["exp"].as_u64()?))
}

/// Application default credentials: the file that a variable names, else the one that `gcloud` leaves, else what the machine itself is.
fn default_credentials(env: &HostEnv, scopes: &[String]) -> Result<AccessTokenCredentials> {
    use_our_cryptography();
    let scopes = scopes.to_vec();
    let variable = |name: &str| env.vars.get(name).filter(|value| !value.is_empty());
    let project = variable("GOOGLE_CLOUD_QUOTA_PROJECT").cloned();
    let file = file_with_credentials(env)?;
    let wrong = |what: String| {
        let place = file.as_ref().map_or_else(|| "this machine".to_owned(), |(path, _)| path.display().to_string());
        Error::new(ErrorKind::LoginFailed, format!("the Google credentials of {place} cannot be used: {what}"))
            .hinting(LOGIN_HINT)
    };
    let Some((_, written)) = &file else {
        return mds::Builder::default()
            .with_scopes(scopes)
            .build_access_token_credentials()
            .map_err(|error| wrong(error.to_string()));
    };
    let written: Value = serde_json::from_str(written).map_err(|error| wrong(format!("no JSON: {error}")))?;
    let kind = written["type"].as_str().unwrap_or_default().to_owned();
    let built = match kind.as_str() {
        "authorized_user" => {
            let builder = user_account::Builder::new(written).with_scopes(scopes);
            project
                .into_iter()
                .fold(builder, |builder, id| builder.with_quota_project_id(id))
                .build_access_token_credentials()
        }
        "service_account" => {
            let access = service_account::AccessSpecifier::from_scopes(scopes);
            let builder = service_account::Builder::new(written).with_access_specifier(access);
            project
                .into_iter()
                .fold(builder, |builder, id| builder.with_quota_project_id(id))
                .build_access_token_credentials()
        }
        "impersonated_service_account" => {
            let builder = impersonated::Builder::new(written).with_scopes(scopes);
            project
                .into_iter()
                .fold(builder, |builder, id| builder.with_quota_project_id(id))
                .build_access_token_credentials()
        }
        "external_account" => {
            let builder = external_account::Builder::new(written).with_scopes(scopes);
            project
                .into_iter()
                .fold(builder, |builder, id| builder.with_quota_project_id(id))
                .build_access_token_credentials()
        }
        "" => return Err(wrong("there is no `type`".to_owned())),
        other => return Err(wrong(format!("the type `{}` is not known", other.escape_debug()))),
    };
    built.map_err(|error| wrong(error.to_string()))
}

fn file_with_credentials(env: &HostEnv) -> Result<Option<(PathBuf, String)>> {
    let variable = |name: &str| env.vars.get(name).filter(|value| !value.is_empty());
    if let Some(named) = variable("GOOGLE_APPLICATION_CREDENTIALS") {
        let path = env.workspace.join(named);
        return match state_file::read(&path, GOOGLE_CREDENTIALS_BYTES_MAX)? {
            Some(text) => Ok(Some((path, text))),
            None => {
                let what =
                    format!("`GOOGLE_APPLICATION_CREDENTIALS` names {}, and there is no such file", path.display());
                Err(Error::new(ErrorKind::LoginFailed, what).hinting(LOGIN_HINT))
            }
        };
    }
    let folder = variable("CLOUDSDK_CONFIG").map(PathBuf::from);
    let folder = folder.or_else(|| env.dirs.home.as_ref().map(|home| home.join(".config/gcloud")));
    let Some(path) = folder.map(|folder| folder.join("application_default_credentials.json")) else { return Ok(None) };
    Ok(state_file::read(&path, GOOGLE_CREDENTIALS_BYTES_MAX)?.map(|text| (path, text)))
}

/// The crate takes its cryptography from the process. Whoever embeds us may have chosen another; that is as good.
fn use_our_cryptography() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _somebody_chose_before = rustls::crypto::ring::default_provider().install_default().is_err();
    });
}

#[cfg(test)]
#[path = "google_tests.rs"]
mod tests;
