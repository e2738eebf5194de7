//! `mcp-oauth-tokens.json` as text: who there are logins to can be read, the logins themselves are sealed one by one.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::key::{SealedWith, no_randomness};
use super::seal::SealKey;
use super::written::{WrittenClient, WrittenLogin};
use crate::auth::login::{ClientIdentity, Login};
use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;

const VERSION: u64 = 1;

/// The file, as far as it has to be known to tell whether we know the rest.
#[derive(Debug, Deserialize)]
struct Versioned {
    version: u64,
}

/// The file as it is read and written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    version: u64,
    sealed_with: String,
    #[serde(default)]
    logins: BTreeMap<String, Value>,
    #[serde(default)]
    clients: BTreeMap<String, Value>,
}

/// The file as it is meant.
#[derive(Default)]
pub(super) struct StoreFile {
    /// What its entries are sealed with; nothing is decided while there are none.
    pub(super) sealed_with: Option<SealedWith>,
    pub(super) logins: BTreeMap<String, Value>,
    pub(super) clients: BTreeMap<String, Value>,
}

impl StoreFile {
    /// Reads it; there being none is the same as nothing in it.
    pub(super) fn from_text(path: &Path, text: Option<&str>) -> Result<Self> {
        let Some(text) = text else { return Ok(Self::default()) };
        let broken = |why: String| {
            let message = format!("{}: not a file of logins that toolgate wrote: {why}", path.display());
            Error::new(ErrorKind::State, message)
                .hinting("`toolgate mcp logout --all` moves it aside and starts anew; then log in again")
        };
        // What serde says may hold what it found, and nothing tells that it is sealed.
        let at = |error: &serde_json::Error| format!("line {}, column {}", error.line(), error.column());
        if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
            return Err(broken(format!("no JSON at {}", at(&error))));
        }
        let version = serde_json::from_str::<Versioned>(text).map_err(|_| broken("it has no `version`".to_owned()))?;
        if version.version != VERSION {
            let (path, version) = (path.display(), version.version);
            let message = format!("{path}: version {version} of the file of logins, where only {VERSION} is known");
            return Err(Error::new(ErrorKind::State, message).hinting("a newer toolgate wrote it; use that one"));
        }
        let written: Written = serde_json::from_str(text).map_err(|error| broken(at(&error)))?;
        let sealed_with = SealedWith::from_word(&written.sealed_with)
            .ok_or_else(|| broken("`sealedWith` is none of `keychain`, `file`, `passphrase`, `none`".to_owned()))?;
        Ok(Self { sealed_with: Some(sealed_with), logins: written.logins, clients: written.clients })
    }

    pub(super) fn into_text(self) -> Result<String> {
        let sealed_with = self.sealed_with.unwrap_or(SealedWith::Nothing).as_str().to_owned();
        let written = Written { version: VERSION, sealed_with, logins: self.logins, clients: self.clients };
        let text = serde_json::to_string_pretty(&written);
        text.map(|text| text + "\n").map_err(|_| Error::new(ErrorKind::State, "logins cannot be written as JSON"))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.logins.is_empty() && self.clients.is_empty()
    }
}

/// How entries of one file are sealed.
#[derive(Clone, Debug)]
pub(super) struct Sealing(pub(super) Option<SealKey>);

impl Sealing {
    pub(super) fn write_login(&self, name: &str, login: &Login) -> Result<Value> {
        self.write(&about_login(name), &WrittenLogin::of(login))
    }

    pub(super) fn write_client(&self, issuer: &str, client: &ClientIdentity) -> Result<Value> {
        self.write(&about_client(issuer), &WrittenClient::of(client))
    }

    /// `None` when it cannot be opened.
    pub(super) fn read_login(&self, name: &str, entry: &Value) -> Option<Login> {
        serde_json::from_str::<WrittenLogin>(self.read(&about_login(name), entry)?.expose()).ok()?.meant()
    }

    /// `None` when it cannot be opened.
    pub(super) fn read_client(&self, issuer: &str, entry: &Value) -> Option<ClientIdentity> {
        serde_json::from_str::<WrittenClient>(self.read(&about_client(issuer), entry)?.expose()).ok()?.meant()
    }

    fn write(&self, about: &str, entry: &impl Serialize) -> Result<Value> {
        let unwritable = || Error::new(ErrorKind::State, "a login cannot be written as JSON");
        match &self.0 {
            Some(key) => {
                let text = serde_json::to_string(entry).map_err(|_| unwritable())?;
                key.seal(about, &text).map(Value::String).ok_or_else(no_randomness)
            }
            None => serde_json::to_value(entry).map_err(|_| unwritable()),
        }
    }

    fn read(&self, about: &str, entry: &Value) -> Option<Secret> {
        match (&self.0, entry) {
            (Some(key), Value::String(sealed)) => key.open(about, sealed),
            (None, Value::Object(_)) => Some(Secret::new(entry.to_string())),
            _ => None,
        }
    }
}

/// What a sealed login is bound to, so that none can be put in the place of another.
fn about_login(name: &str) -> String {
    format!("toolgate {VERSION} login {name}")
}

fn about_client(issuer: &str) -> String {
    format!("toolgate {VERSION} client {issuer}")
}
