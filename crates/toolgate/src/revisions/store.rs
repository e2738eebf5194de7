//! `Revisions`: the store of revisions. Contents are files named by their hash; the list is a file that changes under a lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::files::{Snapshot, hash_of, own_files};
use super::log::{KeptFile, Log, Revision};
use crate::canonical_json;
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{
    OWN_FILE_LEFTOVER_MS, REVISION_CONTENT_BYTES_MAX, REVISION_LOG_BYTES_MAX, REVISION_REASON_CHARS_MAX,
};
use crate::own_files::{is_name, put, read};
use crate::state_file::{self, Privacy, make_folder};

/// Name of the store below the person's folder.
pub const REVISIONS_FOLDER: &str = "revisions";

const LOG_FILE: &str = "log.json";
const HEAD_FILE: &str = "head.json";
const CONTENTS_FOLDER: &str = "contents";

/// Name prefix of temporary folders with an unpacked revision.
pub(super) const LAID_OUT: &str = "laid-out-";

/// The revisions of a person.
#[derive(Clone, Debug)]
pub struct Revisions {
    pub(super) env: HostEnv,
    pub(super) folder: PathBuf,
}

impl Revisions {
    /// Opens the store of the person's folder without reading it.
    #[must_use]
    pub fn open(env: &HostEnv) -> Self {
        Self { env: env.clone(), folder: env.dirs.user.join(REVISIONS_FOLDER) }
    }

    /// Path of the store.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All revisions, the oldest first.
    ///
    /// # Errors
    /// Returns an error if the list cannot be read.
    pub fn list(&self) -> Result<Vec<Revision>> {
        Ok(self.log()?.revisions)
    }

    /// The newest revision with that id, or the only one with that prefix.
    ///
    /// # Errors
    /// Returns an error if there is none, or the prefix is ambiguous.
    pub fn find(&self, word: &str) -> Result<Revision> {
        self.log()?.find(word).cloned()
    }

    /// The current settings and policies, grants and trust.
    ///
    /// # Errors
    /// Returns an error if one of the files cannot be read.
    pub fn now(&self) -> Result<Snapshot> {
        Snapshot::read(&self.env)
    }

    /// The texts of a revision.
    ///
    /// # Errors
    /// Returns an error if a content is missing, or differs from its hash.
    pub fn texts(&self, revision: &Revision) -> Result<Snapshot> {
        Ok(Snapshot { files: self.contents(&revision.files)?, beside: self.contents(&revision.beside)? })
    }

    /// The texts of these files.
    pub(super) fn contents(&self, files: &BTreeMap<String, KeptFile>) -> Result<BTreeMap<String, String>> {
        files.iter().map(|(name, content)| Ok((name.clone(), self.text(&content.hash)?))).collect()
    }

    /// The text with this hash.
    pub(super) fn text(&self, hash: &str) -> Result<String> {
        let path = self.content(hash);
        let wrong = |what: &str| Error::new(ErrorKind::State, format!("{}: {what}", path.display()));
        if !is_name(hash) {
            return Err(wrong("the file name is not a hash"));
        }
        let bytes = read(&path, REVISION_CONTENT_BYTES_MAX as u64).map_err(|error| wrong(&error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| wrong("not UTF-8 text"))?;
        if hash_of(&text) == hash { Ok(text) } else { Err(wrong("was changed since it was saved")) }
    }

    pub(super) fn content(&self, hash: &str) -> PathBuf {
        self.folder.join(CONTENTS_FOLDER).join(hash)
    }

    pub(super) fn log_file(&self) -> PathBuf {
        self.folder.join(LOG_FILE)
    }

    fn log(&self) -> Result<Log> {
        let file = self.log_file();
        Log::parse(state_file::read(&file, REVISION_LOG_BYTES_MAX)?.as_deref(), &file)
    }

    /// Saves the current settings and policies, unless the newest revision has them. Without any such files nothing is saved. The times of the
    /// files usually show that nothing changed.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or the revision cannot be written.
    pub fn keep(&self, cause: &str, reason: Option<&str>) -> Result<Option<Revision>> {
        let stamp = self.stamp();
        if stamp.is_none() && !self.folder.is_dir() {
            return Ok(None);
        }
        let stamp = stamp.unwrap_or_default();
        if self.head().as_deref() == Some(stamp.as_str()) {
            return Ok(None);
        }
        let snapshot = self.now()?;
        let mut kept = None;
        self.make_folders()?;
        let file = self.log_file();
        state_file::update(&file, Privacy::Owner, REVISION_LOG_BYTES_MAX, |old| {
            let mut log = Log::parse(old, &file)?;
            kept = self.add(&mut log, &snapshot, (cause, reason))?;
            if kept.is_some() { log.render().map(Some) } else { Ok(None) }
        })?;
        if kept.is_some() {
            self.sweep()?;
        }
        self.set_head(&stamp);
        Ok(kept)
    }

    /// Adds a revision to the list, after its contents. `None` when the newest one is equal.
    pub(super) fn add(
        &self,
        log: &mut Log,
        snapshot: &Snapshot,
        (cause, reason): (&str, Option<&str>),
    ) -> Result<Option<Revision>> {
        let id = snapshot.id();
        if log.revisions.last().is_some_and(|newest| newest.id == id) {
            return Ok(None);
        }
        let revision = Revision {
            id,
            at: self.env.clock.now(),
            cause: cause.to_owned(),
            reason: reason.map(|reason| reason.chars().take(REVISION_REASON_CHARS_MAX).collect()),
            files: self.put_all(&snapshot.files)?,
            beside: self.put_all(&snapshot.beside)?,
        };
        log.revisions.push(revision.clone());
        Ok(Some(revision))
    }

    fn put_all(&self, texts: &BTreeMap<String, String>) -> Result<BTreeMap<String, KeptFile>> {
        let put_one = |(name, text): (&String, &String)| {
            let hash = hash_of(text);
            let path = self.content(&hash);
            // One that was damaged is written anew.
            if self.text(&hash).is_err() {
                put(&path, text.as_bytes())
                    .and_then(|()| narrow(&path, 0o600))
                    .map_err(|error| cannot_write(&path, &error))?;
            }
            Ok((name.clone(), KeptFile { hash, bytes: text.len() as u64 }))
        };
        texts.iter().map(put_one).collect()
    }

    /// Removes revisions from the list, and their contents from the disk. Returns the removed revisions.
    ///
    /// # Errors
    /// Returns an error if the list cannot be read or written.
    pub fn purge(&self, is_meant: impl Fn(usize, &Revision) -> bool) -> Result<Vec<Revision>> {
        let mut taken = Vec::new();
        if !self.folder.is_dir() {
            return Ok(taken);
        }
        let file = self.log_file();
        state_file::update(&file, Privacy::Owner, REVISION_LOG_BYTES_MAX, |old| {
            let mut log = Log::parse(old, &file)?;
            let count = log.revisions.len();
            let (gone, stay): (Vec<_>, Vec<_>) = std::mem::take(&mut log.revisions)
                .into_iter()
                .enumerate()
                // Index counted from the newest revision.
                .partition(|(nth, revision)| is_meant(count - 1 - nth, revision));
            log.revisions = stay.into_iter().map(|(_, revision)| revision).collect();
            taken = gone.into_iter().map(|(_, revision)| revision).collect();
            if taken.is_empty() { Ok(None) } else { log.render().map(Some) }
        })?;
        if self.list()?.is_empty() {
            self.end();
        }
        // If the newest revision is removed, the next change must save it again.
        let _removed = fs::remove_file(self.folder.join(HEAD_FILE)).is_ok();
        self.sweep()?;
        Ok(taken)
    }

    /// Removes contents that no revision refers to, under the lock of the list.
    fn sweep(&self) -> Result<()> {
        let file = self.log_file();
        state_file::update(&file, Privacy::Owner, REVISION_LOG_BYTES_MAX, |old| {
            let log = Log::parse(old, &file)?;
            let wanted: BTreeSet<&str> =
                log.revisions.iter().flat_map(Revision::contents).map(|content| content.hash.as_str()).collect();
            for entry in fs::read_dir(self.folder.join(CONTENTS_FOLDER)).into_iter().flatten().flatten() {
                let is_wanted = entry.file_name().to_str().is_some_and(|name| wanted.contains(name));
                if !is_wanted {
                    let _removed = fs::remove_file(entry.path()).is_ok();
                }
            }
            self.sweep_laid_out();
            Ok(None)
        })
    }

    /// Removes temporary folders of killed processes.
    fn sweep_laid_out(&self) {
        let now = self.env.clock.now();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let modified = entry.metadata().and_then(|about| about.modified());
            let age = modified.ok().and_then(|modified| now.duration_since(modified).ok()).unwrap_or_default();
            let is_laid_out = entry.file_name().to_str().is_some_and(|name| name.starts_with(LAID_OUT));
            if is_laid_out && age > Duration::from_millis(OWN_FILE_LEFTOVER_MS) {
                let _removed = fs::remove_dir_all(entry.path()).is_ok();
            }
        }
    }

    pub(super) fn make_folders(&self) -> Result<()> {
        let contents = self.folder.join(CONTENTS_FOLDER);
        let made = make_folder(&contents, Privacy::Owner);
        made.and_then(|()| narrow(&self.folder, 0o700))
            .and_then(|()| narrow(&contents, 0o700))
            .map_err(|error| cannot_write(&contents, &error))
    }

    /// A stamp of the files' metadata that changes with them. `None` when there are no files.
    fn stamp(&self) -> Option<String> {
        let files: Vec<Value> =
            own_files(&self.env.dirs.user).iter().map(|(name, path)| stamp_of(name, path)).collect();
        (!files.is_empty()).then(|| canonical_json::text(&json!(files)))
    }

    fn head(&self) -> Option<String> {
        state_file::read(&self.folder.join(HEAD_FILE), REVISION_LOG_BYTES_MAX).ok().flatten()
    }

    /// The stamp only saves work, so a failure to write it is ignored.
    pub(super) fn set_head(&self, stamp: &str) {
        let path = self.folder.join(HEAD_FILE);
        if let Err(error) = put(&path, stamp.as_bytes()).and_then(|()| narrow(&path, 0o600)) {
            tracing::debug!(path = %path.display(), %error, "cannot note which files the newest revision has");
        }
    }
}

fn stamp_of(name: &str, path: &Path) -> Value {
    let about = fs::metadata(path).ok();
    let modified = about.as_ref().and_then(|about| about.modified().ok()).map(nanoseconds);
    json!([name, about.as_ref().map(fs::Metadata::len), modified, about.as_ref().map(number_of)])
}

fn nanoseconds(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).map_or_else(|_| "before".to_owned(), |since| since.as_nanos().to_string())
}

#[cfg(unix)]
fn number_of(about: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(about)
}

#[cfg(not(unix))]
fn number_of(_about: &fs::Metadata) -> u64 {
    0
}

/// Sets exactly this mode: the umask may have removed bits, and another program may have added some.
#[cfg(unix)]
pub(super) fn narrow(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let about = fs::metadata(path)?;
    if about.permissions().mode() & 0o777 == mode {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn narrow(_path: &Path, _mode: u32) -> std::io::Result<()> {
    Ok(())
}

pub(super) fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::State, format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
