//! Kept logins: one file for all of them, each sealed, shared by all processes of a person.
//!
//! `mcp-oauth-tokens.json` (`file`) is changed under a lock and replaced in one step; what its entries are sealed with (`seal`) is in the
//! keychain or in a file beside it (`key`). Everything here blocks: a disk, other processes and a keychain are waited for.

mod bundle;
mod file;
mod key;
mod login_key;
mod seal;
mod written;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

pub use bundle::{BundleKey, BundleLock};
pub use key::{SealedWith, TokenStore};
pub use login_key::LoginKey;

use self::file::{Sealing, StoreFile};
use self::key::KeyPlaces;
use super::login::{ClientIdentity, Login};
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::LOGINS_FILE_BYTES_MAX;
use crate::server_name::{ServerName, as_word};
use crate::settings::diagnostic::visible;
use crate::state_file::{self, Privacy};

/// The name of the file, in the folder of the person.
const FILE: &str = "mcp-oauth-tokens.json";

/// What is known of a kept login without showing it.
#[derive(Clone, Debug)]
pub struct KeptLogin {
    /// The server.
    pub server: ServerName,
    /// Its address.
    pub url: String,
    /// The authorization server; empty when it is not known.
    pub issuer: String,
    /// When it ends, as far as it is known.
    pub expires_at: Option<SystemTime>,
    /// What it is good for.
    pub scopes: Vec<String>,
    /// Whether it can be renewed without a person.
    pub can_renew: bool,
    /// When it was got.
    pub obtained_at: SystemTime,
    /// Why nothing is known of it but the server and its address: it cannot be opened.
    pub problem: Option<Error>,
}

/// What became of a login that was to replace another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// It is kept now, as it is here.
    Kept(Login),
    /// Somebody else put this one there meanwhile, and it stays.
    Other(Login),
    /// The login was taken away meanwhile, and stays away.
    Gone,
}

/// The logins of a person.
#[derive(Debug)]
pub struct LoginStore {
    env: Arc<HostEnv>,
    choice: TokenStore,
    path: PathBuf,
    keys: KeyPlaces,
}

impl LoginStore {
    /// The logins in the person's folder. Nothing is read or made before it is needed.
    #[must_use]
    pub fn open(env: Arc<HostEnv>, choice: TokenStore) -> Self {
        let path = env.dirs.user.join(FILE);
        let keys = KeyPlaces::new(Arc::clone(&env), path.clone());
        Self { env, choice, path, keys }
    }

    /// The world it was opened in.
    pub(crate) fn env(&self) -> &HostEnv {
        &self.env
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the logins are sealed with, when there are any.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn sealed_with(&self) -> Result<Option<SealedWith>> {
        let file = self.read()?;
        Ok(file.sealed_with.filter(|_| !file.is_empty()))
    }

    /// The login to a server at an address.
    ///
    /// # Errors
    /// When the file or its key cannot be read, or the login in it is not as it was.
    pub fn get(&self, key: &LoginKey) -> Result<Option<Login>> {
        let file = self.read()?;
        let name = key.name();
        let Some(entry) = file.logins.get(&name) else { return Ok(None) };
        let sealing = self.sealing_of(&file)?;
        self.read_login(&sealing, &name, entry).map(Some)
    }

    /// Keeps a login in the place of the one that is there. Gives it as it is kept: with its generation.
    ///
    /// # Errors
    /// When the file or its key cannot be read or written.
    pub fn put(&self, key: &LoginKey, login: Login) -> Result<Login> {
        let name = key.name();
        self.change(|file, sealing| {
            let old = file.logins.get(&name).and_then(|entry| sealing.read_login(&name, entry));
            let login = Login { generation: old.map_or(0, |old| old.generation).saturating_add(1), ..login };
            file.logins.insert(name.clone(), sealing.write_login(&name, &login)?);
            Ok(Changed::Write(login))
        })
    }

    /// Keeps a login in the place of `old`, if that is the one that is there.
    ///
    /// # Errors
    /// When the file or its key cannot be read or written.
    pub fn replace(&self, key: &LoginKey, old: Option<&Login>, new: Login) -> Result<Replaced> {
        let name = key.name();
        self.change(|file, sealing| {
            let there = match file.logins.get(&name) {
                Some(entry) => Some(self.read_login(sealing, &name, entry)?),
                None => None,
            };
            match (there, old) {
                (None, Some(_)) => return Ok(Changed::Leave(Replaced::Gone)),
                (Some(there), old) if old != Some(&there) => return Ok(Changed::Leave(Replaced::Other(there))),
                _ => (),
            }
            let login = Login { generation: old.map_or(0, |old| old.generation).saturating_add(1), ..new };
            file.logins.insert(name.clone(), sealing.write_login(&name, &login)?);
            Ok(Changed::Write(Replaced::Kept(login)))
        })
    }

    /// Takes a login away. Tells whether there was one.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn remove(&self, key: &LoginKey) -> Result<bool> {
        let name = key.name();
        Ok(self.remove_entries(|file| usize::from(file.logins.remove(&name).is_some()))? > 0)
    }

    /// Takes all logins to a server away, whatever address they are for. Tells how many.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn remove_server(&self, server: &ServerName) -> Result<usize> {
        self.remove_entries(|file| {
            let before = file.logins.len();
            file.logins.retain(|name, _| LoginKey::from_name(name).is_none_or(|key| key.server != *server));
            before - file.logins.len()
        })
    }

    /// Takes everything away: all logins and all registered clients. Tells how many logins there were.
    ///
    /// # Errors
    /// When the file cannot be read or written; [`LoginStore::reset`] helps then.
    pub fn remove_all(&self) -> Result<usize> {
        let mut logins = 0;
        self.remove_entries(|file| {
            logins = file.logins.len();
            let all = logins.saturating_add(file.clients.len());
            file.logins.clear();
            file.clients.clear();
            all
        })?;
        Ok(logins)
    }

    /// All logins. One that cannot be opened is among them.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn list(&self) -> Result<Vec<KeptLogin>> {
        let file = self.read()?;
        if file.logins.is_empty() {
            return Ok(Vec::new());
        }
        let sealing = self.sealing_of(&file);
        let kept = file.logins.iter().filter_map(|(name, entry)| {
            let login = match &sealing {
                Ok(sealing) => self.read_login(sealing, name, entry),
                Err(error) => Err(error.clone()),
            };
            LoginKey::from_name(name).map(|key| kept(key, login))
        });
        Ok(kept.collect())
    }

    /// The client that is registered with an authorization server for that redirect address, unless its secret has ended.
    ///
    /// # Errors
    /// When the file or its key cannot be read, or the client in it is not as it was.
    pub fn client(&self, issuer: &str, redirect: Option<&str>) -> Result<Option<ClientIdentity>> {
        let file = self.read()?;
        let Some(entry) = file.clients.get(issuer) else { return Ok(None) };
        let sealing = self.sealing_of(&file)?;
        let client = sealing.read_client(issuer, entry).ok_or_else(|| {
            let subject = format!("the client registered with `{}`", visible(issuer));
            self.unopened(&subject).hinting("`toolgate mcp logout --all` starts anew")
        })?;
        let is_over = client.expires_at.is_some_and(|end| end <= self.env.clock.now());
        let is_for = redirect.is_none() || client.redirect_uri.is_none() || client.redirect_uri.as_deref() == redirect;
        Ok(Some(client).filter(|_| is_for && !is_over))
    }

    /// Keeps a client in the place of the one that is registered with the same authorization server.
    ///
    /// # Errors
    /// When the file or its key cannot be read or written.
    pub fn put_client(&self, client: &ClientIdentity) -> Result<()> {
        self.change(|file, sealing| {
            file.clients.insert(client.issuer.clone(), sealing.write_client(&client.issuer, client)?);
            Ok(Changed::Write(()))
        })
    }

    /// Forgets the client that is registered with an authorization server. Tells whether there was one.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn remove_client(&self, issuer: &str) -> Result<bool> {
        Ok(self.remove_entries(|file| usize::from(file.clients.remove(issuer).is_some()))? > 0)
    }

    /// Starts anew: moves the file and its key aside, whatever is in them. Tells where the file is now, when there was one.
    ///
    /// # Errors
    /// When they cannot be moved.
    pub fn reset(&self) -> Result<Option<PathBuf>> {
        let since = self.env.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let aside = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{}.old", since.as_millis()));
            PathBuf::from(name)
        };
        for path in [self.keys.key_file(), &self.path] {
            match std::fs::rename(path, aside(path)) {
                Ok(()) => (),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    if path == self.path {
                        return Ok(None);
                    }
                }
                Err(error) => {
                    let message = format!("cannot move {} aside: {error}", path.display());
                    return Err(Error::new(ErrorKind::State, message));
                }
            }
        }
        Ok(Some(aside(&self.path)))
    }

    fn read(&self) -> Result<StoreFile> {
        let text = state_file::read(&self.path, LOGINS_FILE_BYTES_MAX)?;
        StoreFile::from_text(&self.path, text.as_deref())
    }

    fn sealing_of(&self, file: &StoreFile) -> Result<Sealing> {
        self.keys.find(file.sealed_with.unwrap_or(SealedWith::Nothing)).map(Sealing)
    }

    /// Changes the file under its lock, with entries sealed the way that was chosen.
    fn change<T>(&self, change: impl FnOnce(&mut StoreFile, &Sealing) -> Result<Changed<T>>) -> Result<T> {
        let mut outcome = None;
        state_file::update(&self.path, Privacy::Owner, LOGINS_FILE_BYTES_MAX, |text| {
            let mut file = StoreFile::from_text(&self.path, text)?;
            let sealing = self.prepare(&mut file)?;
            match change(&mut file, &sealing)? {
                Changed::Write(value) => {
                    outcome = Some(value);
                    file.into_text().map(Some)
                }
                Changed::Leave(value) => {
                    outcome = Some(value);
                    Ok(None)
                }
            }
        })?;
        outcome.ok_or_else(|| Error::new(ErrorKind::State, format!("{}: nothing was changed", self.path.display())))
    }

    /// Takes entries away; nothing has to be opened for that.
    fn remove_entries(&self, remove: impl FnOnce(&mut StoreFile) -> usize) -> Result<usize> {
        let mut count = 0;
        if state_file::read(&self.path, LOGINS_FILE_BYTES_MAX)?.is_none() {
            return Ok(count);
        }
        state_file::update(&self.path, Privacy::Owner, LOGINS_FILE_BYTES_MAX, |text| {
            let mut file = StoreFile::from_text(&self.path, text)?;
            count = remove(&mut file);
            if count == 0 { Ok(None) } else { file.into_text().map(Some) }
        })?;
        Ok(count)
    }

    /// How entries of the file are sealed from now on. When that is another way than before, all of them are sealed again.
    fn prepare(&self, file: &mut StoreFile) -> Result<Sealing> {
        let Some(with) = file.sealed_with.filter(|_| !file.is_empty()) else {
            let (with, key) = self.keys.choose(self.choice)?;
            file.sealed_with = Some(with);
            return Ok(Sealing(key));
        };
        let stays = match self.choice {
            TokenStore::Auto => true,
            TokenStore::Keychain => with == SealedWith::Keychain,
            TokenStore::File => with == SealedWith::File,
            TokenStore::Passphrase => with == SealedWith::Passphrase,
            TokenStore::Plain => with == SealedWith::Nothing,
        };
        let old = self.keys.find(with).map(Sealing)?;
        if stays {
            return Ok(old);
        }
        let (with, key) = self.keys.choose(self.choice)?;
        let new = Sealing(key);
        for (name, entry) in &mut file.logins {
            *entry = new.write_login(name, &self.read_login(&old, name, entry)?)?;
        }
        // A client that cannot be opened is registered again when it is needed.
        file.clients.retain(|issuer, entry| {
            let client = old.read_client(issuer, entry);
            let written = client.and_then(|client| new.write_client(issuer, &client).ok());
            written.is_some_and(|written| {
                *entry = written;
                true
            })
        });
        file.sealed_with = Some(with);
        Ok(new)
    }

    fn read_login(&self, sealing: &Sealing, name: &str, entry: &Value) -> Result<Login> {
        sealing.read_login(name, entry).ok_or_else(|| {
            let key = LoginKey::from_name(name);
            let server = key.as_ref().map_or("it", |key| key.server.as_str());
            let error = self.unopened(&format!("the login to `{}`", visible(server)));
            let error = error.hinting(format!("log in again: `toolgate mcp auth {}`", as_word(&visible(server))));
            key.map_or(error.clone(), |key| error.about(&key.server))
        })
    }

    fn unopened(&self, subject: &str) -> Error {
        let path = self.path.display();
        let message = format!("{subject} cannot be opened: in {path} it was changed, or sealed with another key");
        Error::new(ErrorKind::State, message)
    }
}

/// What a change of the file comes to.
enum Changed<T> {
    Write(T),
    Leave(T),
}

fn kept(key: LoginKey, login: Result<Login>) -> KeptLogin {
    let LoginKey { server, address: url } = key;
    match login {
        Ok(login) => KeptLogin {
            server,
            url,
            can_renew: login.refresh_token.is_some(),
            issuer: login.issuer,
            expires_at: login.expires_at,
            scopes: login.scopes,
            obtained_at: login.obtained_at,
            problem: None,
        },
        Err(error) => KeptLogin {
            server,
            url,
            issuer: String::new(),
            expires_at: None,
            scopes: Vec::new(),
            can_renew: false,
            obtained_at: UNIX_EPOCH,
            problem: Some(error),
        },
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
