//! Logins on their way to another machine: an armored `age` file, locked with a passphrase or for a recipient.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::written::{WrittenClient, WrittenLogin};
use super::{Changed, LoginKey, LoginStore};
use crate::auth::login::{ClientIdentity, Login};
use crate::auth::passphrase::{self, NotOpened};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{LOGIN_BUNDLE_BYTES_MAX, LOGIN_BUNDLE_MAX};
use crate::secret::Secret;
use crate::server_name::ServerName;
use crate::settings::diagnostic::visible;

const VERSION: u64 = 1;

/// What a bundle is locked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleLock {
    /// A passphrase.
    Passphrase(Secret),
    /// A recipient (`age1…`): whoever has the identity that belongs to it can open the bundle.
    Recipient(String),
}

/// What a bundle is opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleKey {
    /// The passphrase it was locked with.
    Passphrase(Secret),
    /// The identity (`AGE-SECRET-KEY-1…`), as `age-keygen` writes it: lines that begin with `#` are passed over.
    Identity(Secret),
}

/// The bundle as far as it has to be known to tell whether we know the rest.
#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

#[derive(Serialize, Deserialize)]
struct WrittenBundle {
    version: u64,
    logins: Vec<WrittenEntry>,
    clients: Vec<WrittenClient>,
}

#[derive(Serialize, Deserialize)]
struct WrittenEntry {
    server: String,
    address: String,
    login: WrittenLogin,
}

/// What a bundle holds.
type Contents = (Vec<(LoginKey, Login)>, Vec<ClientIdentity>);

impl LoginStore {
    /// The logins to some servers, or all when none is named, with the clients that they belong to, locked. Where refresh tokens are good for one
    /// use, the bundle is a handover: whichever of the two machines renews first has the login.
    ///
    /// # Errors
    /// When there is no login to one of them, one cannot be opened, or the bundle cannot be locked that way.
    pub fn export(&self, servers: &[ServerName], lock: &BundleLock) -> Result<String> {
        let (logins, clients) = self.chosen(servers)?;
        let clients = clients.iter().map(WrittenClient::of).collect();
        let logins = logins.iter().map(|(key, login)| WrittenEntry {
            server: key.server.to_string(),
            address: key.address.clone(),
            login: WrittenLogin::of(login),
        });
        let bundle = WrittenBundle { version: VERSION, logins: logins.collect(), clients };
        let text = serde_json::to_string(&bundle).map_err(|_| unlockable("they cannot be written as JSON"))?;
        match lock {
            BundleLock::Passphrase(passphrase) if passphrase.expose().is_empty() => {
                Err(unlockable("the passphrase is empty"))
            }
            BundleLock::Passphrase(passphrase) => {
                passphrase::lock(&text, passphrase).ok_or_else(|| unlockable("the machine gives no random numbers"))
            }
            BundleLock::Recipient(recipient) => {
                let parsed: age::x25519::Recipient = recipient.trim().parse().map_err(|_| {
                    unlockable(&format!("`{}` is no recipient of age", visible(recipient)))
                        .hinting("it begins with `age1`; `age-keygen` shows it")
                })?;
                age::encrypt_and_armor(&parsed, text.as_bytes())
                    .map_err(|_| unlockable("the machine gives no random numbers"))
            }
        }
    }

    /// Takes the logins and clients of a bundle in, in the place of those that are there. Tells which logins.
    ///
    /// # Errors
    /// When the bundle cannot be opened or understood; nothing is changed then.
    pub fn import(&self, bundle: &str, key: &BundleKey) -> Result<Vec<LoginKey>> {
        let (logins, clients) = opened(bundle, key)?;
        self.change(|file, sealing| {
            for (key, login) in &logins {
                let name = key.name();
                let old = file.logins.get(&name).and_then(|entry| sealing.read_login(&name, entry));
                let generation = old.map_or(0, |old| old.generation).saturating_add(1);
                let login = Login { generation, ..login.clone() };
                file.logins.insert(name.clone(), sealing.write_login(&name, &login)?);
            }
            for client in &clients {
                file.clients.insert(client.issuer.clone(), sealing.write_client(&client.issuer, client)?);
            }
            Ok(Changed::Write(()))
        })?;
        Ok(logins.into_iter().map(|(key, _)| key).collect())
    }

    fn chosen(&self, servers: &[ServerName]) -> Result<Contents> {
        let file = self.read()?;
        let sealing = self.sealing_of(&file)?;
        let mut logins = Vec::new();
        for (name, entry) in &file.logins {
            if let Some(key) = LoginKey::from_name(name)
                && (servers.is_empty() || servers.contains(&key.server))
            {
                logins.push((key, self.read_login(&sealing, name, entry)?));
            }
        }
        if let Some(missing) = servers.iter().find(|server| logins.iter().all(|(key, _)| key.server != **server)) {
            let message = format!("there is no login to `{}` to export", visible(missing));
            return Err(Error::new(ErrorKind::State, message).about(missing));
        }
        if logins.is_empty() {
            return Err(Error::new(ErrorKind::State, "there are no logins to export"));
        }
        let issuers: BTreeSet<&str> = logins.iter().map(|(_, login)| login.issuer.as_str()).collect();
        let clients = issuers.iter().filter_map(|issuer| sealing.read_client(issuer, file.clients.get(*issuer)?));
        let clients = clients.collect();
        Ok((logins, clients))
    }
}

fn opened(bundle: &str, key: &BundleKey) -> Result<Contents> {
    if bundle.len() > LOGIN_BUNDLE_BYTES_MAX {
        return Err(unusable(&format!("larger than {LOGIN_BUNDLE_BYTES_MAX} bytes, the most it may have")));
    }
    let text = match key {
        BundleKey::Passphrase(passphrase) => passphrase::unlock(bundle, passphrase, LOGIN_BUNDLE_BYTES_MAX),
        BundleKey::Identity(text) => passphrase::unlock_with_identity(bundle, &identity(text)?, LOGIN_BUNDLE_BYTES_MAX),
    };
    let text = text.map_err(|why| not_opened(why, key))?;
    let version = serde_json::from_str::<Versioned>(text.expose()).map_err(|_| unusable("it holds no logins"))?.version;
    if version != VERSION {
        let what = format!("it has version {version}, where only {VERSION} is known");
        return Err(unusable(&what).hinting("a newer toolgate wrote it; use that one"));
    }
    let bundle: WrittenBundle =
        serde_json::from_str(text.expose()).map_err(|_| unusable("a login in it cannot be understood"))?;
    if bundle.logins.len() > LOGIN_BUNDLE_MAX || bundle.clients.len() > LOGIN_BUNDLE_MAX {
        return Err(unusable(&format!("it holds more than {LOGIN_BUNDLE_MAX} logins")));
    }
    let login = |entry: WrittenEntry| {
        let key = LoginKey::from_name(&format!("{} {}", entry.server, entry.address));
        key.zip(entry.login.meant()).ok_or_else(|| unusable("a login in it cannot be understood"))
    };
    let logins = bundle.logins.into_iter().map(login).collect::<Result<Vec<_>>>()?;
    let clients = bundle.clients.into_iter().filter_map(WrittenClient::meant).collect();
    Ok((logins, clients))
}

fn identity(text: &Secret) -> Result<age::x25519::Identity> {
    let line = text.expose().lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    line.unwrap_or_default().parse().map_err(|_| {
        unusable("what was given to open it is no identity of age").hinting("it begins with `AGE-SECRET-KEY-1`")
    })
}

fn not_opened(why: NotOpened, key: &BundleKey) -> Error {
    let (what, hint) = match (why, key) {
        (NotOpened::WrongKey, BundleKey::Passphrase(_)) => {
            ("the passphrase is not the one it was locked with", "give the one that was given to `--export`")
        }
        (NotOpened::WrongKey, BundleKey::Identity(_)) => {
            ("it was locked for others than this identity", "export it again, for the recipient of this identity")
        }
        (NotOpened::WantsPassphrase, _) => ("it was locked with a passphrase", "give that passphrase"),
        (NotOpened::WantsIdentity, _) => ("it was locked for a recipient", "give the identity of that recipient"),
        (NotOpened::TooMuchWork, _) => {
            ("its passphrase was made to cost more work than we do", "export it again with toolgate")
        }
        (NotOpened::TooLarge, _) => ("there is more in it than we take", "export fewer logins at once"),
        (NotOpened::Damaged, _) => ("it is no bundle, or not as it was", "check that all of it was copied"),
    };
    unusable(what).hinting(hint)
}

fn unusable(why: &str) -> Error {
    Error::new(ErrorKind::State, format!("the bundle of logins cannot be imported: {why}"))
}

fn unlockable(why: &str) -> Error {
    Error::new(ErrorKind::State, format!("logins cannot be exported: {why}"))
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
