//! `KeptOffers`: the folder of kept offers. Reading takes no lock and writes nothing; writing puts a whole file in place.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use foldhash::HashMap;
use ring::hmac::{self, Key};

use super::fingerprint::{FileMark, Fingerprint, Surroundings, fingerprint, look};
use super::key;
use super::written::{self, KeptOffer};
use crate::connect::Kind;
use crate::discovery::Offered;
use crate::env::HostEnv;
use crate::error::Result;
use crate::limits::{
    CATALOGUE_BYTES_MAX, CATALOGUE_SWEEP_MS, CATALOGUE_UNUSED_MS, CATALOGUES_BYTES_MAX, CATALOGUES_MAX,
    CATALOGUES_NEW_MAX,
};
use crate::own_files::{self, Bounds};
use crate::server_name::ServerName;
use crate::servers::ServerConfig;

/// What servers offered when they were last asked. Cheap to clone.
#[derive(Clone, Debug)]
pub struct KeptOffers(Arc<Inner>);

struct Inner {
    folder: PathBuf,
    env: Arc<HostEnv>,
    key: OnceLock<Key>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl KeptOffers {
    /// The folder of this person. Nothing is made or read before it is needed.
    #[must_use]
    pub fn new(env: &Arc<HostEnv>) -> Self {
        let folder = env.dirs.user.join("catalogues");
        Self(Arc::new(Inner { folder, env: env.clone(), key: OnceLock::new() }))
    }

    /// The place of what a server offers, as it is meant and as its files are now. A server that runs for long is kept at the place that it
    /// had when it was started: its files may be others by then.
    #[must_use]
    pub fn place(&self, server: &ServerConfig) -> KeptPlace {
        self.place_by(server, &look)
    }

    fn place_by(&self, server: &ServerConfig, look: &dyn Fn(&Path) -> Option<FileMark>) -> KeptPlace {
        let HostEnv { workspace, vars, .. } = &*self.0.env;
        let around = Surroundings { workspace, variables: vars, look };
        KeptPlace { offers: self.clone(), server: server.name.clone(), fingerprint: fingerprint(server, &around) }
    }

    /// What is kept of a server. A file that is broken, or not ours, is like none.
    #[must_use]
    pub fn load(&self, server: &ServerConfig) -> Option<KeptOffer> {
        self.place(server).load()
    }

    /// Somebody who reads what is kept of many servers.
    pub(crate) fn reader(&self) -> KeptReader<'_> {
        KeptReader { offers: self, seen: RefCell::default() }
    }

    /// Keeps what a server offers, together with lists that are kept of it and that it was not asked for this time.
    pub fn keep(&self, server: &ServerConfig, offered: &Offered) {
        self.place(server).keep(offered);
    }

    /// Forgets what a server offers; says whether there was something.
    pub fn forget(&self, server: &ServerConfig) -> bool {
        self.place(server).forget()
    }

    /// Forgets what all servers offer; says of how many.
    pub fn forget_all(&self) -> usize {
        match own_files::take_stock(&self.0.folder, self.0.env.clock.now()) {
            Ok(files) => files.iter().filter(|file| removed(&file.path)).count(),
            Err(error) => {
                tracing::debug!(folder = %self.0.folder.display(), %error, "cannot look through kept offers");
                0
            }
        }
    }

    /// The key; `None` when there is none yet, and then nothing is kept.
    fn key(&self) -> Option<&Key> {
        if let Some(key) = self.0.key.get() {
            return Some(key);
        }
        match key::read(&self.key_file()) {
            Ok(key) => key.map(|key| self.0.key.get_or_init(|| key)),
            Err(error) => {
                tracing::debug!(%error, "cannot read the key of kept offers");
                None
            }
        }
    }

    fn key_or_new(&self) -> Result<&Key> {
        match self.key() {
            Some(key) => Ok(key),
            None => key::read_or_make(&self.key_file()).map(|key| self.0.key.get_or_init(|| key)),
        }
    }

    fn key_file(&self) -> PathBuf {
        self.0.folder.join("key")
    }

    fn file(&self, key: &Key, fingerprint: &Fingerprint) -> PathBuf {
        let name = hmac::sign(key, fingerprint.as_bytes());
        self.0.folder.join(own_files::name_of(name.as_ref()))
    }

    /// Whether it is time to look for what nobody asks for any more: once a day, and when many were added since.
    fn is_sweep_due(&self, added: Added) -> bool {
        let folder = &self.0.folder;
        let are_too_many =
            added == Added::New && own_files::are_too_many_new(&folder.join("added"), CATALOGUES_NEW_MAX);
        let every = Duration::from_millis(CATALOGUE_SWEEP_MS);
        own_files::is_due(&folder.join("swept"), every, self.0.env.clock.now()) || are_too_many
    }

    /// Removes what nobody asks for any more.
    fn sweep(&self) {
        let now = self.0.env.clock.now();
        let age = Duration::from_millis(CATALOGUE_UNUSED_MS);
        let bounds = Bounds { age, files: CATALOGUES_MAX, bytes: CATALOGUES_BYTES_MAX };
        match own_files::take_stock(&self.0.folder, now) {
            Ok(files) => own_files::surplus(files, &bounds, now).iter().for_each(|file| {
                removed(&file.path);
            }),
            Err(error) => tracing::debug!(folder = %self.0.folder.display(), %error, "cannot sweep kept offers"),
        }
    }
}

/// Reads what is kept of many servers. They are made of the same few programs, which are looked at once.
pub(crate) struct KeptReader<'a> {
    offers: &'a KeptOffers,
    seen: RefCell<HashMap<OsString, Option<FileMark>>>,
}

impl KeptReader<'_> {
    /// What is kept of a server. A file that is broken, or not ours, is like none.
    pub(crate) fn load(&self, server: &ServerConfig) -> Option<KeptOffer> {
        self.offers.place_by(server, &|path| self.look(path)).load()
    }

    fn look(&self, path: &Path) -> Option<FileMark> {
        let known = self.seen.borrow().get(path.as_os_str()).cloned();
        known.unwrap_or_else(|| {
            let seen = look(path);
            self.seen.borrow_mut().insert(path.into(), seen.clone());
            seen
        })
    }
}

/// Whether something was kept of a server before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Added {
    New,
    Known,
}

/// Where the offer of one server is kept.
#[derive(Clone, Debug)]
pub struct KeptPlace {
    offers: KeptOffers,
    server: ServerName,
    fingerprint: Fingerprint,
}

impl KeptPlace {
    /// What is kept here. A file that is broken, or not ours, is like none.
    #[must_use]
    pub fn load(&self) -> Option<KeptOffer> {
        let path = self.offers.file(self.offers.key()?, &self.fingerprint);
        let read = own_files::read(&path, CATALOGUE_BYTES_MAX);
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::debug!(server = %self.server, file = %path.display(), %error, "cannot read the kept offer");
                return None;
            }
        };
        KeptOffer::from_bytes(bytes)
            .inspect_err(|error| {
                tracing::debug!(server = %self.server, file = %path.display(), %error, "the kept offer is broken");
            })
            .ok()
    }

    /// Whether something is kept here.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.offers.key().is_some_and(|key| self.offers.file(key, &self.fingerprint).exists())
    }

    /// Keeps what the server offers, together with lists that are kept of it and that it was not asked for this time.
    pub fn keep(&self, offered: &Offered) {
        let added = if self.is_taken() { Added::Known } else { Added::New };
        if let Err(error) = self.try_to_keep(offered) {
            tracing::debug!(server = %self.server, %error, "what the server offers is not kept");
        }
        if self.offers.is_sweep_due(added) {
            self.offers.sweep();
        }
    }

    fn try_to_keep(&self, offered: &Offered) -> Result<(), Box<dyn std::error::Error>> {
        let path = self.offers.file(self.offers.key_or_new()?, &self.fingerprint);
        let known = (!offered.unread.is_empty()).then(|| offered.clone().without_unread());
        let offered = known.as_ref().unwrap_or(offered);
        let lacks_lists = Kind::ALL.into_iter().any(|kind| !offered.is_known(kind));
        let old = if lacks_lists { self.load() } else { None };
        let bytes = match old {
            Some(old) => written::write(self.server.as_str(), &merged(offered, old.offered))?,
            None => written::write(self.server.as_str(), offered)?,
        };
        if u64::try_from(bytes.len()).is_ok_and(|length| length <= CATALOGUE_BYTES_MAX) {
            return Ok(own_files::put(&path, &bytes)?);
        }
        // What is there is not what the server says now.
        removed(&path);
        Err(format!("it has {} bytes, more than {CATALOGUE_BYTES_MAX}", bytes.len()).into())
    }

    /// Forgets what is kept here; says whether there was something.
    pub fn forget(&self) -> bool {
        self.offers.key().is_some_and(|key| removed(&self.offers.file(key, &self.fingerprint)))
    }
}

/// What a server offers now, with the lists of before that it was not asked for. A server that is another one by now has no before, and a list
/// that it was asked for and could not be read is not known any more.
fn merged(now: &Offered, before: Offered) -> Offered {
    let mut merged = now.clone();
    let before = Offered { unread: now.unread.clone(), ..before }.without_unread();
    if (now.version, &now.info, &now.capabilities) != (before.version, &before.info, &before.capabilities) {
        return merged;
    }
    merged.tools = merged.tools.or(before.tools);
    merged.prompts = merged.prompts.or(before.prompts);
    if merged.resources.is_none() && merged.templates.is_none() {
        (merged.resources, merged.templates) = (before.resources, before.templates);
    }
    merged
}

fn removed(path: &Path) -> bool {
    match fs::remove_file(path) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => {
            tracing::debug!(file = %path.display(), %error, "cannot remove a kept offer");
            false
        }
    }
}

#[cfg(test)]
#[path = "offers_tests.rs"]
mod tests;
