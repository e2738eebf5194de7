//! Credentials of Google: those of this machine (application default credentials), and those of an account that is acted for.
//!
//! They are worth more than any one server, so they only go to hosts of Google.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use toolgate_wire::transport::http_client::{Credentials, Refusal, RequestFacts};
use toolgate_wire::{Error as WireError, Result as WireResult};
use url::Url;

use super::account::Account;
use super::default_credentials::{DefaultCredentials, bearer};
use super::exchange::Exchange;
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::REFRESH_AHEAD_MS;
use crate::secret::Secret;

/// Where ID tokens of accounts that are acted for come from.
pub(crate) const IAM: &str = "https://iamcredentials.googleapis.com";

/// What it takes to act for an account.
const CLOUD_PLATFORM: &str = "https://www.googleapis.com/auth/cloud-platform";

/// Says who pays.
const USER_PROJECT: HeaderName = HeaderName::from_static("x-goog-user-project");

/// Whether credentials of Google may go to a host.
pub(crate) fn is_host_of_google(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    host == "luci.app" || [".googleapis.com", ".luci.app"].iter().any(|suffix| host.ends_with(suffix))
}

/// The credentials of this machine.
#[derive(Debug)]
pub(crate) struct GoogleCredentials {
    machine: DefaultCredentials,
    /// The project that pays, unless the settings say which.
    project: Option<HeaderValue>,
}

impl GoogleCredentials {
    /// For a server of Google. `of_settings` are the headers that the settings have for it.
    ///
    /// # Errors
    /// When it is another host, or the credentials cannot be used.
    pub(crate) fn new(env: &HostEnv, account: &Account, of_settings: &HeaderMap) -> Result<Self> {
        let host = account.url.host_str().unwrap_or_default();
        if !is_host_of_google(host) {
            let what = format!("credentials of Google are not sent to `{host}`");
            return Err(Error::new(ErrorKind::Settings, what).hinting(
                "`google_credentials` is for hosts under googleapis.com and luci.app; use another `authProviderType`",
            ));
        }
        let machine = DefaultCredentials::find(env, &account.options.scopes)?;
        let project = machine.project().filter(|_| !of_settings.contains_key(USER_PROJECT));
        let project = project.map(HeaderValue::try_from).transpose();
        let project = project.map_err(|_| {
            let what = "the name of the project that pays for requests to Google cannot be sent as a header";
            Error::new(ErrorKind::LoginFailed, what).hinting("check `GOOGLE_CLOUD_QUOTA_PROJECT`")
        })?;
        Ok(Self { machine, project })
    }
}

impl Credentials for GoogleCredentials {
    fn headers<'a>(&'a self, _request: RequestFacts<'a>) -> BoxFuture<'a, WireResult<HeaderMap>> {
        Box::pin(async move {
            let mut headers = HeaderMap::from_iter([(AUTHORIZATION, self.machine.authorization().await?)]);
            headers.extend(self.project.clone().map(|project| (USER_PROJECT, project)));
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
    machine: DefaultCredentials,
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
        let machine = DefaultCredentials::find(&env, &[CLOUD_PLATFORM.to_owned()])?;
        let wrong =
            || Error::new(ErrorKind::Settings, format!("`targetServiceAccount`: `{service_account}` is no account"));
        let mut address = Url::parse(iam).map_err(|_| wrong())?;
        let path = ["v1", "projects", "-", "serviceAccounts", &format!("{service_account}:generateIdToken")];
        address.path_segments_mut().map_err(|()| wrong())?.extend(path);
        let kept = Mutex::new(None);
        Ok(Self { machine, exchange, env, address, audience: audience.to_owned(), kept })
    }

    async fn token(&self) -> WireResult<Secret> {
        let now = self.env.clock.now();
        let ahead = Duration::from_millis(REFRESH_AHEAD_MS);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((token, _)) = kept.filter(|(_, expires_at)| now + ahead < *expires_at) {
            return Ok(token);
        }
        let (token, expires_at) = self.fetch().await?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((token.clone(), expires_at));
        Ok(token)
    }

    async fn fetch(&self) -> WireResult<(Secret, SystemTime)> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.machine.authorization().await?);
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

/// When a JWT ends. Nothing else of it is looked at: it is for somebody else to check.
fn expiry(jwt: &str) -> Option<SystemTime> {
    let claims = URL_SAFE_NO_PAD.decode(jwt.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(claims["exp"].as_u64()?))
}

#[cfg(test)]
#[path = "google_tests.rs"]
mod tests;
