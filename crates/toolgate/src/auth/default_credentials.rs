//! Application default credentials: who this machine is to Google. The file that a variable names, else the one that `gcloud` leaves, else what
//! the machine itself is.

use std::fmt;
use std::path::PathBuf;
use std::sync::Once;

use google_cloud_auth::build_errors::Error as BuildError;
use google_cloud_auth::credentials::{
    AccessTokenCredentials, external_account, impersonated, mds, service_account, user_account,
};
use http::HeaderValue;
use serde_json::Value;
use toolgate_wire::{Error as WireError, Result as WireResult};

use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::GOOGLE_CREDENTIALS_BYTES_MAX;
use crate::state_file;

const LOGIN_HINT: &str =
    "run `gcloud auth application-default login`, or set `GOOGLE_APPLICATION_CREDENTIALS` to a file with credentials";

/// Who this machine is. Tokens are fetched when they are first needed, and kept while they are good.
pub(crate) struct DefaultCredentials {
    credentials: AccessTokenCredentials,
    project: Option<String>,
}

impl DefaultCredentials {
    /// Looks for credentials; nothing is sent yet.
    ///
    /// # Errors
    /// When there is a file, and it cannot be used.
    pub(crate) fn find(env: &HostEnv, scopes: &[String]) -> Result<Self> {
        use_our_cryptography();
        let (place, written) = match file_with_credentials(env)? {
            Some((path, text)) => (path.display().to_string(), Some(text)),
            None => ("this machine".to_owned(), None),
        };
        let wrong = |what: String| {
            let what = format!("the Google credentials of {place} cannot be used: {what}");
            Error::new(ErrorKind::LoginFailed, what).hinting(LOGIN_HINT)
        };
        let written: Option<Value> = match written.as_deref().map(serde_json::from_str).transpose() {
            Ok(written) => written,
            Err(error) => return Err(wrong(format!("not JSON: {error}"))),
        };
        let of_file = written.as_ref().and_then(|written| written["quota_project_id"].as_str());
        let project = variable(env, "GOOGLE_CLOUD_QUOTA_PROJECT").or(of_file).map(str::to_owned);
        let credentials = match written {
            Some(written) => of_file_kind(written, scopes.to_vec()).map_err(wrong)?,
            None => of_machine(env, scopes.to_vec()).map_err(|error| wrong(error.to_string()))?,
        };
        Ok(Self { credentials, project })
    }

    /// The project that pays, when somebody says which.
    pub(crate) fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// What goes into `Authorization`.
    ///
    /// # Errors
    /// When Google gives no token, with its words.
    pub(crate) async fn authorization(&self) -> WireResult<HeaderValue> {
        let token = self.credentials.access_token().await.map_err(|error| unavailable(&error))?;
        bearer(&token.token)
    }
}

impl fmt::Debug for DefaultCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultCredentials").field("project", &self.project).finish_non_exhaustive()
    }
}

/// A token as `Authorization` carries it.
///
/// # Errors
/// When it has characters that no header can have.
pub(crate) fn bearer(token: &str) -> WireResult<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| WireError::Credentials("the token cannot be sent as a header".into()))?;
    value.set_sensitive(true);
    Ok(value)
}

fn of_file_kind(written: Value, scopes: Vec<String>) -> std::result::Result<AccessTokenCredentials, String> {
    let kind = written["type"].as_str().unwrap_or_default().to_owned();
    let built = match kind.as_str() {
        "authorized_user" => user_account::Builder::new(written).with_scopes(scopes).build_access_token_credentials(),
        "service_account" => {
            let access = service_account::AccessSpecifier::from_scopes(scopes);
            service_account::Builder::new(written).with_access_specifier(access).build_access_token_credentials()
        }
        "impersonated_service_account" => {
            impersonated::Builder::new(written).with_scopes(scopes).build_access_token_credentials()
        }
        "external_account" => {
            external_account::Builder::new(written).with_scopes(scopes).build_access_token_credentials()
        }
        "" => return Err("there is no `type`".to_owned()),
        other => return Err(format!("the type `{}` is not known", other.escape_debug())),
    };
    built.map_err(|error| error.to_string())
}

/// A machine of Google tells its programs who it is.
fn of_machine(env: &HostEnv, scopes: Vec<String>) -> std::result::Result<AccessTokenCredentials, BuildError> {
    let mut builder = mds::Builder::default().with_scopes(scopes);
    if let Some(host) = variable(env, "GCE_METADATA_HOST") {
        builder = builder.with_endpoint(format!("http://{host}"));
    }
    builder.build_access_token_credentials()
}

fn file_with_credentials(env: &HostEnv) -> Result<Option<(PathBuf, String)>> {
    if let Some(named) = variable(env, "GOOGLE_APPLICATION_CREDENTIALS") {
        let path = env.workspace.join(named);
        let Some(text) = state_file::read(&path, GOOGLE_CREDENTIALS_BYTES_MAX)? else {
            let what = format!("`GOOGLE_APPLICATION_CREDENTIALS` names {}, and there is no such file", path.display());
            return Err(Error::new(ErrorKind::LoginFailed, what).hinting(LOGIN_HINT));
        };
        return Ok(Some((path, text)));
    }
    let folder = variable(env, "CLOUDSDK_CONFIG").map(PathBuf::from);
    let folder = folder.or_else(|| env.dirs.home.as_ref().map(|home| home.join(".config/gcloud")));
    let Some(path) = folder.map(|folder| folder.join("application_default_credentials.json")) else { return Ok(None) };
    Ok(state_file::read(&path, GOOGLE_CREDENTIALS_BYTES_MAX)?.map(|text| (path, text)))
}

fn variable<'a>(env: &'a HostEnv, name: &str) -> Option<&'a str> {
    env.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
}

/// The crate wraps what happened in several layers of the same words; the two innermost say what it was.
fn unavailable(error: &dyn std::error::Error) -> WireError {
    let layers: Vec<_> = std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect();
    let words = layers[layers.len().saturating_sub(2)..].join(": ");
    let words = words.replace(" and future attempts will not succeed", "");
    WireError::Credentials(format!("no credentials of Google: {words}; {LOGIN_HINT}").into())
}

/// The crate takes its cryptography from the process. Whoever embeds us may have chosen another; that is as good.
fn use_our_cryptography() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _somebody_chose_before = rustls::crypto::ring::default_provider().install_default().is_err();
    });
}

#[cfg(test)]
#[path = "default_credentials_tests.rs"]
mod tests;
