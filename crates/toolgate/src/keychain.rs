//! The person's keychain: entries of the service `toolgate`, one for each account.
//!
//! On Linux that is the Secret Service (GNOME Keyring, KWallet, KeePassXC): an entry has the attributes `service` = `toolgate` and
//! `username` = the account. On macOS it is a generic password of the login keychain.
//!
//! Everything here blocks, for a bounded time: a keychain may ask the person.

use std::sync::Arc;
use std::time::Duration;

use keyring_core::api::CredentialStore;
use keyring_core::{Entry, Error};

use crate::apart::apart_blocking;
use crate::env::HostEnv;
use crate::limits::KEYCHAIN_MS;

/// What entries of ours are filed under.
pub(crate) const SERVICE: &str = "toolgate";

/// What to do where there is no keychain.
#[cfg(target_os = "linux")]
pub(crate) const START: &str = "start one that offers the Secret Service (GNOME Keyring, KWallet, KeePassXC)";
/// What to do where there is no keychain.
#[cfg(not(target_os = "linux"))]
pub(crate) const START: &str = "unlock the keychain of this account";

/// Why the keychain could not do what was asked. What it says itself is passed on as it came, and never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeychainError {
    /// There is no bus on which one could be.
    NoBus,
    /// There is none.
    Unreachable(String),
    /// It holds nothing for that account.
    NoEntry,
    /// It is locked.
    Locked(String),
    /// It holds that many entries for that account.
    Ambiguous(usize),
    /// What it holds is of no form that can be read.
    Unreadable,
    /// It did not answer in time.
    Silent,
    /// Something else.
    Other(String),
}

/// What the keychain holds for an account.
pub(crate) fn read(env: &HostEnv, account: &str) -> Result<Vec<u8>, KeychainError> {
    with_entry(env, account, |entry| entry.get_secret())
}

/// Puts something into the keychain.
pub(crate) fn write(env: &HostEnv, account: &str, secret: &[u8]) -> Result<(), KeychainError> {
    let secret = secret.to_owned();
    with_entry(env, account, move |entry| entry.set_secret(&secret))
}

fn with_entry<T: Send + 'static>(
    env: &HostEnv,
    account: &str,
    work: impl FnOnce(&Entry) -> keyring_core::Result<T> + Send + 'static,
) -> Result<T, KeychainError> {
    check_reachable(env)?;
    let account = account.to_owned();
    let answer = apart_blocking(Duration::from_millis(KEYCHAIN_MS), move || {
        let store = store().map_err(|error| KeychainError::Unreachable(error.to_string()))?;
        store.build(SERVICE, &account, None).and_then(|entry| work(&entry)).map_err(trouble)
    });
    answer.unwrap_or(Err(KeychainError::Silent))
}

fn trouble(error: Error) -> KeychainError {
    match error {
        Error::NoEntry => KeychainError::NoEntry,
        Error::NoStorageAccess(why) => KeychainError::Locked(why.to_string()),
        Error::Ambiguous(entries) => KeychainError::Ambiguous(entries.len()),
        // The text of such an error holds what was found.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => KeychainError::Unreadable,
        error => KeychainError::Other(error.to_string()),
    }
}

/// The bus has to be among the variables that were handed in: whoever hands in none keeps us away from the keychain of the machine.
#[cfg(target_os = "linux")]
fn check_reachable(env: &HostEnv) -> Result<(), KeychainError> {
    let is_named = |name: &&str| env.vars.get(*name).is_some_and(|value| !value.is_empty());
    if ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].iter().any(is_named) {
        return Ok(());
    }
    Err(KeychainError::NoBus)
}

#[cfg(not(target_os = "linux"))]
fn check_reachable(_env: &HostEnv) -> Result<(), KeychainError> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn store() -> keyring_core::Result<Arc<CredentialStore>> {
    let store: Arc<CredentialStore> = zbus_secret_service_keyring_store::Store::new()?;
    Ok(store)
}

#[cfg(target_os = "macos")]
fn store() -> keyring_core::Result<Arc<CredentialStore>> {
    let store: Arc<CredentialStore> = apple_native_keyring_store::keychain::Store::new()?;
    Ok(store)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn store() -> keyring_core::Result<Arc<CredentialStore>> {
    Err(Error::NotSupportedByStore("keychains are not available on this system".to_owned()))
}
