//! Where the key is that kept logins are sealed with: in the person's keychain, or in a file beside them, plain or wrapped by a passphrase.
//!
//! Only the key is in the keychain, not the logins: they change with every renewal, and a keychain may ask the person each time, and takes no
//! more than a few kilobytes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::seal::SealKey;
use crate::auth::passphrase::{self, NotOpened};
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::keychain::{self, KeychainError};
use crate::limits::{LOGINS_KEY_FILE_BYTES_MAX, SECRET_COMPLAINT_CHARS_MAX};
use crate::secret::Secret;
use crate::settings::Settings;
use crate::settings::diagnostic::visible;
use crate::state_file::{self, Privacy};

/// The account of the key in the keychain.
const ACCOUNT: &str = "oauth-tokens-key";

/// The variable that holds the passphrase.
const PASSPHRASE: &str = "TOOLGATE_PASSPHRASE";

/// What a key that nobody wrapped looks like in its file.
const PLAIN_KEY: &str = "toolgate-key-1 ";

const START_ANEW: &str = "start anew: `toolgate mcp logout --all`, and log in again";

/// What logins should be sealed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenStore {
    /// With what they are sealed already; else with a key in the keychain when there is one, else wrapped by the passphrase when one is set,
    /// else with a key in a file.
    #[default]
    Auto,
    /// With a key in the keychain.
    Keychain,
    /// With a key in a file that only its owner can read.
    File,
    /// With a key in a file, wrapped by the passphrase in `TOOLGATE_PASSPHRASE`.
    Passphrase,
    /// Not at all: whoever can read the file can read the logins.
    Plain,
}

impl TokenStore {
    /// What the settings say (`security.tokenStore`). A folder has no say in how a person's logins are kept.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let layers = settings.layers.iter().filter(|layer| !layer.is_of_workspace());
        let written = layers.filter_map(|layer| layer.kept("security.tokenStore")).next_back();
        match written.and_then(|value| value.value.as_text()) {
            Some("keychain") => Self::Keychain,
            Some("file") => Self::File,
            Some("passphrase") => Self::Passphrase,
            Some("plain") => Self::Plain,
            _ => Self::Auto,
        }
    }
}

/// What logins are sealed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedWith {
    /// A key in the keychain.
    Keychain,
    /// A key in a file.
    File,
    /// A key in a file, wrapped by a passphrase.
    Passphrase,
    /// Nothing.
    Nothing,
}

impl SealedWith {
    const ALL: [Self; 4] = [Self::Keychain, Self::File, Self::Passphrase, Self::Nothing];

    /// The word for it in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keychain => "keychain",
            Self::File => "file",
            Self::Passphrase => "passphrase",
            Self::Nothing => "none",
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }
}

impl fmt::Display for SealedWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keychain => "a key in the keychain",
            Self::File => "a key in a file",
            Self::Passphrase => "a key in a file, wrapped by a passphrase",
            Self::Nothing => "nothing",
        })
    }
}

/// The places where the key can be.
#[derive(Debug)]
pub(super) struct KeyPlaces {
    env: Arc<HostEnv>,
    /// The file that is sealed, for words about it.
    sealed_file: PathBuf,
    key_file: PathBuf,
    known: Mutex<Known>,
}

/// What need not be found out twice: the keychain may ask the person, and a passphrase takes its time. A key in a file is read each time.
#[derive(Debug, Default)]
struct Known {
    in_keychain: Option<SealKey>,
    /// The wrapped text and the key in it.
    wrapped: Option<(String, SealKey)>,
}

impl KeyPlaces {
    pub(super) fn new(env: Arc<HostEnv>, sealed_file: PathBuf) -> Self {
        let key_file = sealed_file.with_extension("key");
        Self { env, sealed_file, key_file, known: Mutex::default() }
    }

    /// The file that the key may be in.
    pub(super) fn key_file(&self) -> &Path {
        &self.key_file
    }

    /// The key of logins that are sealed with it. `None` when they are sealed with nothing.
    pub(super) fn find(&self, with: SealedWith) -> Result<Option<SealKey>> {
        match with {
            SealedWith::Keychain => self.in_keychain().map_err(|error| self.keychain_failed(&error)).map(Some),
            SealedWith::File | SealedWith::Passphrase => match self.in_file()? {
                Some((_, key)) => Ok(Some(key)),
                None => {
                    let (sealed, key) = (self.sealed_file.display(), self.key_file.display());
                    let message = format!("{sealed} is sealed with the key in {key}, which is not there");
                    Err(Error::new(ErrorKind::State, message).hinting(format!("bring it back, or {START_ANEW}")))
                }
            },
            SealedWith::Nothing => Ok(None),
        }
    }

    /// The key that logins are to be sealed with from now on, made when there is none yet. Nobody else may do the same meanwhile.
    pub(super) fn choose(&self, choice: TokenStore) -> Result<(SealedWith, Option<SealKey>)> {
        let with = match choice {
            TokenStore::Auto => match self.ensure_in_keychain() {
                Ok(key) => return Ok((SealedWith::Keychain, Some(key))),
                Err(_) if self.passphrase().is_some() => SealedWith::Passphrase,
                Err(_) => SealedWith::File,
            },
            TokenStore::Keychain => {
                let key = self.ensure_in_keychain().map_err(|error| {
                    let message = format!("logins cannot be sealed with a key in the keychain: {}", in_words(&error));
                    Error::new(ErrorKind::State, message).hinting(hint(&error, "choose another place for the key"))
                })?;
                return Ok((SealedWith::Keychain, Some(key)));
            }
            TokenStore::File => SealedWith::File,
            TokenStore::Passphrase => SealedWith::Passphrase,
            TokenStore::Plain => return Ok((SealedWith::Nothing, None)),
        };
        let key = self.ensure_in_file(with == SealedWith::Passphrase)?;
        Ok((with, Some(key)))
    }

    fn in_keychain(&self) -> Result<SealKey, KeychainError> {
        if let Some(key) = &self.known().in_keychain {
            return Ok(key.clone());
        }
        let bytes = keychain::read(&self.env, ACCOUNT)?;
        let key = std::str::from_utf8(&bytes).ok().and_then(SealKey::from_text).ok_or(KeychainError::Unreadable)?;
        self.known().in_keychain = Some(key.clone());
        Ok(key)
    }

    fn ensure_in_keychain(&self) -> Result<SealKey, KeychainError> {
        match self.in_keychain() {
            Err(KeychainError::NoEntry) => (),
            found => return found,
        }
        let key = SealKey::make().ok_or_else(|| KeychainError::Other(NO_RANDOMNESS.to_owned()))?;
        keychain::write(&self.env, ACCOUNT, key.to_text().expose().as_bytes())?;
        // Only what it gives back is kept by it: some take everything and keep nothing.
        self.in_keychain()
    }

    /// The key in the file, and whether it is wrapped there.
    fn in_file(&self) -> Result<Option<(bool, SealKey)>> {
        let Some(text) = state_file::read(&self.key_file, LOGINS_KEY_FILE_BYTES_MAX)? else { return Ok(None) };
        if passphrase::is_locked(&text) {
            return self.unwrap(text).map(|key| Some((true, key)));
        }
        match text.strip_prefix(PLAIN_KEY).and_then(SealKey::from_text) {
            Some(key) => Ok(Some((false, key))),
            None => Err(self.key_file_error("not a key that toolgate wrote", START_ANEW)),
        }
    }

    fn unwrap(&self, text: String) -> Result<SealKey> {
        if let Some((known, key)) = &self.known().wrapped
            && *known == text
        {
            return Ok(key.clone());
        }
        let Some(passphrase) = self.passphrase() else {
            let why = format!("the key is wrapped by a passphrase, and `{PASSPHRASE}` is not set");
            return Err(self.key_file_error(&why, &format!("set it, or {START_ANEW}")));
        };
        let opened = passphrase::unlock(&text, &passphrase, LOGINS_KEY_FILE_BYTES_MAX);
        let key = opened.map(|opened| SealKey::from_text(opened.expose()));
        match key {
            Ok(Some(key)) => {
                self.known().wrapped = Some((text, key.clone()));
                Ok(key)
            }
            Err(NotOpened::WrongKey) => {
                let why = format!("the passphrase in `{PASSPHRASE}` is not the one that the key is wrapped by");
                Err(self.key_file_error(&why, &format!("set the right one, or {START_ANEW}")))
            }
            Ok(None) | Err(_) => Err(self.key_file_error("not a key that toolgate wrote", START_ANEW)),
        }
    }

    /// The key in the file as it is wanted there. A key that is there already is kept, because something may be sealed with it.
    fn ensure_in_file(&self, wrapped: bool) -> Result<SealKey> {
        if wrapped && self.passphrase().is_none() {
            let message =
                format!("logins cannot be sealed with a key that a passphrase wraps: `{PASSPHRASE}` is not set");
            return Err(Error::new(ErrorKind::State, message).hinting("set it, or choose another place for the key"));
        }
        let key = match self.in_file()? {
            Some((is_wrapped, key)) if is_wrapped == wrapped => return Ok(key),
            Some((_, key)) => key,
            None => SealKey::make().ok_or_else(no_randomness)?,
        };
        let plain = key.to_text();
        let text = match self.passphrase() {
            Some(passphrase) if wrapped => passphrase::lock(plain.expose(), &passphrase).ok_or_else(no_randomness)?,
            _ => format!("{PLAIN_KEY}{}\n", plain.expose()),
        };
        state_file::update(&self.key_file, Privacy::Owner, LOGINS_KEY_FILE_BYTES_MAX, |_| Ok(Some(text.clone())))?;
        if wrapped {
            self.known().wrapped = Some((text, key.clone()));
        }
        Ok(key)
    }

    fn passphrase(&self) -> Option<Secret> {
        self.env.vars.get(PASSPHRASE).filter(|value| !value.is_empty()).map(Secret::new)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keychain_failed(&self, error: &KeychainError) -> Error {
        let file = self.sealed_file.display();
        let message = match error {
            KeychainError::NoEntry => {
                format!("{file} is sealed with a key in the keychain, which is not there any more")
            }
            _ => format!("{file} is sealed with a key in the keychain, which cannot be reached: {}", in_words(error)),
        };
        Error::new(ErrorKind::State, message).hinting(hint(error, START_ANEW))
    }

    fn key_file_error(&self, why: &str, hint: &str) -> Error {
        Error::new(ErrorKind::State, format!("{}: {why}", self.key_file.display())).hinting(hint)
    }
}

const NO_RANDOMNESS: &str = "the machine gives no random numbers";

/// Nothing can be sealed without randomness.
pub(super) fn no_randomness() -> Error {
    Error::new(ErrorKind::State, format!("logins cannot be sealed: {NO_RANDOMNESS}"))
}

fn in_words(error: &KeychainError) -> String {
    let line = |said: &str| {
        let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        visible(&line.chars().take(SECRET_COMPLAINT_CHARS_MAX).collect::<String>())
    };
    match error {
        KeychainError::NoBus => "there is no session bus (`DBUS_SESSION_BUS_ADDRESS` is not set)".to_owned(),
        KeychainError::Unreachable(said) | KeychainError::Other(said) => line(said),
        KeychainError::NoEntry => "it keeps nothing".to_owned(),
        KeychainError::Locked(said) => format!("it is locked: {}", line(said)),
        KeychainError::Ambiguous(count) => format!("it has {count} entries for `{ACCOUNT}`"),
        KeychainError::Unreadable => format!("its entry `{ACCOUNT}` is not a key that toolgate wrote"),
        KeychainError::Silent => "it did not answer in time".to_owned(),
    }
}

fn hint(error: &KeychainError, otherwise: &str) -> String {
    let first = match error {
        KeychainError::NoBus => "run this within a desktop session or `dbus-run-session`",
        KeychainError::Unreachable(_) => keychain::START,
        KeychainError::Locked(_) | KeychainError::Silent => "unlock it",
        KeychainError::Ambiguous(_) => "remove all but one",
        KeychainError::NoEntry | KeychainError::Unreadable | KeychainError::Other(_) => {
            return otherwise.to_owned();
        }
    };
    format!("{first}, or {otherwise}")
}
