//! `${keychain:NAME}`: an entry of the person's keychain, of the service `toolgate` and the account NAME.
//!
//! On Linux that is the Secret Service (GNOME Keyring, KWallet, KeePassXC): the entry has the attributes `service` = `toolgate` and
//! `username` = NAME, as `secret-tool store --label=NAME service toolgate username NAME` writes them. On macOS it is a generic password of the
//! login keychain, as `security add-generic-password -s toolgate -a NAME -w` writes it.

use std::sync::Arc;
use std::time::Duration;

use keyring_core::api::CredentialStore;

use super::{Unresolved, apart, complaint};
use crate::env::HostEnv;
use crate::limits::KEYCHAIN_MS;

/// What entries of ours are filed under.
const SERVICE: &str = "toolgate";

const OTHER_PLACES: &str = "or keep the secret elsewhere: `${env:NAME}`, `${file:PATH}`, `${cmd:COMMAND}`";

pub(super) async fn read(env: &HostEnv, name: &str) -> Result<Vec<u8>, Unresolved> {
    check_reachable(env)?;
    let account = name.to_owned();
    let limit = Duration::from_millis(KEYCHAIN_MS);
    let answer = apart(limit, move || {
        let entry = store().map_err(Trouble::Store)?.build(SERVICE, &account, None).map_err(Trouble::Entry)?;
        entry.get_secret().map_err(Trouble::Entry)
    });
    match answer.await {
        Some(answer) => answer.map_err(|trouble| trouble.in_words(name)),
        None => {
            let message = format!("the keychain did not answer within {limit:?}");
            Err(Unresolved::new(message, "unlock it first; perhaps it asks for a password somewhere"))
        }
    }
}

/// Where something went wrong.
enum Trouble {
    Store(keyring_core::Error),
    Entry(keyring_core::Error),
}

impl Trouble {
    fn in_words(self, name: &str) -> Unresolved {
        use keyring_core::Error;
        let said = |error: &Error| complaint(&error.to_string());
        match self {
            Self::Store(error) => Unresolved::new(
                format!("no keychain can be reached: {}", said(&error)),
                format!("{START}, {OTHER_PLACES}"),
            ),
            Self::Entry(Error::NoEntry) => {
                let message = format!("the keychain has no entry for the account `{name}` of the service `{SERVICE}`");
                Unresolved::new(message, format!("store it: {}", how_to_store(name)))
            }
            Self::Entry(Error::NoStorageAccess(why)) => {
                let message = format!("the keychain is locked: {}", complaint(&why.to_string()));
                Unresolved::new(message, format!("unlock it, {OTHER_PLACES}"))
            }
            Self::Entry(Error::Ambiguous(entries)) => {
                let message = format!("the keychain has {} entries for it", entries.len());
                Unresolved::new(message, "remove all but one")
            }
            // The text of such an error holds what was found.
            Self::Entry(Error::BadEncoding(_) | Error::BadDataFormat(..)) => {
                Unresolved::new("what the keychain holds is not text", "store it as text, perhaps in Base64")
            }
            Self::Entry(error) => Unresolved::new(
                format!("the keychain cannot be read: {}", said(&error)),
                format!("check it, {OTHER_PLACES}"),
            ),
        }
    }
}

#[cfg(target_os = "linux")]
const START: &str = "start one that offers the Secret Service (GNOME Keyring, KWallet, KeePassXC)";
#[cfg(not(target_os = "linux"))]
const START: &str = "unlock the keychain of this account";

#[cfg(target_os = "linux")]
fn how_to_store(name: &str) -> String {
    let name = quoted(name);
    format!("`secret-tool store --label=toolgate service {SERVICE} username {name}`")
}

#[cfg(not(target_os = "linux"))]
fn how_to_store(name: &str) -> String {
    let name = quoted(name);
    format!("`security add-generic-password -s {SERVICE} -a {name} -w`")
}

/// A name as one word of a shell, whatever stands in it.
fn quoted(name: &str) -> String {
    let name = crate::settings::diagnostic::visible(name);
    shlex::try_quote(&name).map_or_else(|_| "NAME".to_owned(), std::borrow::Cow::into_owned)
}

/// The bus has to be among the variables that were handed in: whoever hands in none keeps us away from the keychain of the machine.
#[cfg(target_os = "linux")]
fn check_reachable(env: &HostEnv) -> Result<(), Unresolved> {
    let is_named = |name: &&str| env.vars.get(*name).is_some_and(|value| !value.is_empty());
    if ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].iter().any(is_named) {
        return Ok(());
    }
    let message = "no keychain can be reached: there is no session bus (`DBUS_SESSION_BUS_ADDRESS` is not set)";
    Err(Unresolved::new(message, format!("run this within a desktop session or `dbus-run-session`, {OTHER_PLACES}")))
}

#[cfg(not(target_os = "linux"))]
fn check_reachable(_env: &HostEnv) -> Result<(), Unresolved> {
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
    Err(keyring_core::Error::NotSupportedByStore("keychains are not available on this system".to_owned()))
}
