//! Restoring a revision: all of its files or none. The next program that reads settings ends a restoration that a crash interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::files::{Snapshot, bytes_max, hash_of, is_own_name, own_files};
use super::log::{Log, Revision};
use super::store::{Revisions, cannot_write};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::REVISION_LOG_BYTES_MAX;
use crate::state_file::{self, Privacy};

/// The marker of a restoration in progress.
const JOURNAL_FILE: &str = "restoring.json";

/// The hashes of files by their names.
type Hashes = BTreeMap<String, String>;

/// The note: the files before and after, so that one that was edited since is recognized.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Journal {
    revision: String,
    before: Hashes,
    after: Hashes,
}

/// The result of a restoration.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The restored revision.
    pub revision: Revision,
    /// The revision before, to go back to.
    pub before: Option<Revision>,
    /// The texts before.
    pub old: Snapshot,
    /// The restored texts.
    pub new: Snapshot,
}

impl Revisions {
    /// Restores the settings and policies of a revision. The current state is saved as a revision first. Grants and trust do
    /// not change.
    ///
    /// # Errors
    /// Returns an error if the revision cannot be read, or a file cannot be written. All files are then as they were
    /// before.
    pub fn restore(&self, word: &str, reason: Option<&str>) -> Result<Restored> {
        let target = self.find(word)?;
        if let Some(name) = target.files.keys().find(|name| !is_own_name(name)) {
            let what = format!("revision `{word}` has a file `{name}`, which is not a settings or policy file");
            return Err(Error::new(ErrorKind::State, what));
        }
        let files = self.contents(&target.files)?;
        self.keep("changed by hand", None)?;
        let before = self.list()?.pop();
        let (revision, old) = self.announce(&target, &files, reason)?;
        self.locked(|log| match self.apply(&files) {
            Ok(()) => Ok(None),
            Err(error) => {
                let back = self.put_back(&old.files);
                // Only the entry of this restoration goes; the target may be the newest one itself.
                log.revisions.retain(|one| (&one.id, one.at) != (&revision.id, revision.at) || one == &target);
                Ok(Some(match back {
                    Ok(()) => error,
                    Err(back) => error.while_doing(&format!("the changed files could not be put back ({back})")),
                }))
            }
        })?;
        let new = Snapshot { files, beside: old.beside.clone() };
        Ok(Restored { revision, before, old, new })
    }

    /// Writes the note and the new entry of the list. No settings and no policy are changed by it.
    fn announce(
        &self,
        target: &Revision,
        files: &BTreeMap<String, String>,
        reason: Option<&str>,
    ) -> Result<(Revision, Snapshot)> {
        let file = self.log_file();
        let mut announced = None;
        let written = state_file::update(&file, Privacy::Owner, REVISION_LOG_BYTES_MAX, |old_log| {
            let mut log = Log::parse(old_log, &file)?;
            let old = self.now()?;
            let now = Snapshot { files: files.clone(), beside: old.beside.clone() };
            let short = target.id.get(..12).unwrap_or(&target.id);
            let added = self.add(&mut log, &now, (&format!("restore {short}"), reason))?;
            let journal =
                Journal { revision: target.id.clone(), before: hashes(&old.files), after: hashes(&now.files) };
            self.begin(&journal)?;
            let is_new = added.is_some();
            announced = Some((added.unwrap_or_else(|| target.clone()), old));
            if is_new { log.render().map(Some) } else { Ok(None) }
        });
        if let Err(error) = written {
            self.end();
            return Err(error);
        }
        announced.ok_or_else(|| Error::new(ErrorKind::State, format!("revision `{}` was not restored", target.id)))
    }

    /// Does something under the lock of the list, and removes the note. An error that `act` gives back is the outcome, and the list without the
    /// entry is written then.
    fn locked(&self, act: impl FnOnce(&mut Log) -> Result<Option<Error>>) -> Result<()> {
        let file = self.log_file();
        let mut failed = None;
        state_file::update(&file, Privacy::Owner, REVISION_LOG_BYTES_MAX, |old_log| {
            let mut log = Log::parse(old_log, &file)?;
            failed = act(&mut log)?;
            self.end();
            if failed.is_some() { log.render().map(Some) } else { Ok(None) }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Completes a restoration that a crash interrupted. Does nothing when there is none.
    ///
    /// # Errors
    /// Returns an error if a file was edited since, or the note says nothing: both are told once, and the files stay as they are. Returns an
    /// error each time if the texts of both states are lost.
    pub fn finish_interrupted(&self) -> Result<()> {
        if !self.journal().exists() {
            return Ok(());
        }
        let file = self.log_file();
        let mut refused = None;
        state_file::update(&file, Privacy::Owner, REVISION_LOG_BYTES_MAX, |_| {
            // Another process may have ended it meanwhile.
            let Some(note) = state_file::read(&self.journal(), REVISION_LOG_BYTES_MAX)? else { return Ok(None) };
            refused = self.finish(&note)?;
            self.end();
            Ok(None)
        })?;
        refused.map_or(Ok(()), Err)
    }

    /// Goes on with a restoration, or back where its texts are lost. Gives back why neither is right.
    fn finish(&self, note: &str) -> Result<Option<Error>> {
        let hint = "look at `toolgate revisions list`, and restore the revision that you want";
        let refusal = |what: String| Ok(Some(Error::new(ErrorKind::State, what).hinting(hint)));
        let Ok(journal) = serde_json::from_str::<Journal>(note) else {
            return refusal("a restoration was interrupted, and its note cannot be read".to_owned());
        };
        if let Some(name) = self.edited_since(&journal)? {
            let what =
                format!("the restoration of revision {} was interrupted, and `{name}` changed since", journal.revision);
            return refusal(what);
        }
        let texts = |hashes: &Hashes| -> Result<BTreeMap<String, String>> {
            hashes.iter().map(|(name, hash)| Ok((name.clone(), self.text(hash)?))).collect()
        };
        let files = texts(&journal.after).or_else(|_| texts(&journal.before)).map_err(|error| {
            let hint = "`toolgate revisions restore ID` with another revision ends it";
            error.while_doing("a restoration was interrupted and cannot be ended").hinting(hint)
        })?;
        self.apply(&files)?;
        Ok(None)
    }

    /// The first file that is neither as it was before the restoration nor as it is to be after it.
    fn edited_since(&self, journal: &Journal) -> Result<Option<String>> {
        let now = hashes(&self.now()?.files);
        let names: BTreeSet<&String> = journal.before.keys().chain(journal.after.keys()).chain(now.keys()).collect();
        let is_known = |name: &&String| {
            let there = now.get(*name);
            is_own_name(name) && (there == journal.before.get(*name) || there == journal.after.get(*name))
        };
        Ok(names.into_iter().find(|name| !is_known(name)).cloned())
    }

    fn journal(&self) -> PathBuf {
        self.folder.join(JOURNAL_FILE)
    }

    fn begin(&self, journal: &Journal) -> Result<()> {
        let note = serde_json::to_string(journal)
            .map_err(|error| Error::new(ErrorKind::State, format!("the restoration cannot be noted: {error}")))?;
        state_file::update(&self.journal(), Privacy::Owner, REVISION_LOG_BYTES_MAX, |_| Ok(Some(note)))
    }

    /// Removes the note of a restoration.
    pub(super) fn end(&self) {
        if let Err(error) = fs::remove_file(self.journal()) {
            tracing::debug!(%error, "there is no note of a restoration to remove");
        }
    }

    /// Writes exactly these files and removes others. Each is replaced in one step, under its own lock.
    fn apply(&self, files: &BTreeMap<String, String>) -> Result<()> {
        self.steps(files).into_iter().try_for_each(|name| self.take(&name, files))
    }

    /// Restores the files after a failure. One failing file does not stop the others.
    fn put_back(&self, files: &BTreeMap<String, String>) -> Result<()> {
        let outcomes = self.steps(files).into_iter().map(|name| self.take(&name, files));
        outcomes.fold(Ok(()), Result::and)
    }

    /// The files that differ, including missing ones.
    fn steps(&self, files: &BTreeMap<String, String>) -> Vec<String> {
        let user = &self.env.dirs.user;
        let differs = |(name, text): &(&String, &String)| {
            let there = state_file::read(&user.join(name.as_str()), bytes_max(name));
            !there.is_ok_and(|there| there.as_ref() == Some(*text))
        };
        let written = files.iter().filter(differs).map(|(name, _)| name.clone());
        let others = own_files(user).into_iter().map(|(name, _)| name).filter(|name| !files.contains_key(name));
        written.chain(others).collect()
    }

    fn take(&self, name: &str, files: &BTreeMap<String, String>) -> Result<()> {
        let path = self.env.dirs.user.join(name);
        match files.get(name) {
            Some(text) => {
                let write = |_: Option<&str>| Ok(Some(text.clone()));
                state_file::update(&path, Privacy::Owner, bytes_max(name), write)
            }
            None => fs::remove_file(&path).map_err(|error| cannot_write(&path, &error)),
        }
    }
}

fn hashes(files: &BTreeMap<String, String>) -> Hashes {
    files.iter().map(|(name, text)| (name.clone(), hash_of(text))).collect()
}
