//! `${keychain:NAME}`: an entry of the person's keychain, of the service `toolgate` and the account NAME, as
//! `secret-tool store --label=NAME service toolgate username NAME` or `security add-generic-password -s toolgate -a NAME -w` write it.

use std::time::Duration;

use super::{Unresolved, complaint};
use crate::apart::apart;
use crate::env::HostEnv;
use crate::keychain::{self, KeychainError, SERVICE, START};
use crate::limits::KEYCHAIN_MS;

const OTHER_PLACES: &str = "or keep the secret elsewhere: `${env:NAME}`, `${file:PATH}`, `${cmd:COMMAND}`";

pub(super) async fn read(env: &HostEnv, name: &str) -> Result<Vec<u8>, Unresolved> {
    let (env, account) = (env.clone(), name.to_owned());
    // It keeps its own time; this only lets others go on meanwhile.
    let limit = Duration::from_millis(KEYCHAIN_MS.saturating_mul(2));
    let answer = apart(limit, move || keychain::read(&env, &account)).await;
    answer.unwrap_or(Err(KeychainError::Silent)).map_err(|error| in_words(&error, name))
}

fn in_words(error: &KeychainError, name: &str) -> Unresolved {
    match error {
        KeychainError::NoBus => Unresolved::new(
            "no keychain can be reached: there is no session bus (`DBUS_SESSION_BUS_ADDRESS` is not set)",
            format!("run this within a desktop session or `dbus-run-session`, {OTHER_PLACES}"),
        ),
        KeychainError::Unreachable(said) => Unresolved::new(
            format!("no keychain can be reached: {}", complaint(said)),
            format!("{START}, {OTHER_PLACES}"),
        ),
        KeychainError::NoEntry => {
            let message = format!("the keychain has no entry for the account `{name}` of the service `{SERVICE}`");
            Unresolved::new(message, format!("store it: {}", how_to_store(name)))
        }
        KeychainError::Locked(said) => {
            let message = format!("the keychain is locked: {}", complaint(said));
            Unresolved::new(message, format!("unlock it, {OTHER_PLACES}"))
        }
        KeychainError::Ambiguous(count) => {
            Unresolved::new(format!("the keychain has {count} entries for it"), "remove all but one")
        }
        KeychainError::Unreadable => {
            Unresolved::new("what the keychain holds is not text", "store it as text, perhaps in Base64")
        }
        KeychainError::Silent => {
            let limit = Duration::from_millis(KEYCHAIN_MS);
            let message = format!("the keychain did not answer within {limit:?}");
            Unresolved::new(message, "unlock it first; perhaps it asks for a password somewhere")
        }
        KeychainError::Other(said) => Unresolved::new(
            format!("the keychain cannot be read: {}", complaint(said)),
            format!("check it, {OTHER_PLACES}"),
        ),
    }
}

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
