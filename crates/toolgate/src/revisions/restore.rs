//! Restores a revision: all files or none. After a crash, the next program that reads settings completes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::files::{Snapshot, is_own_name, own_files};
use super::log::{Log, Revision};
use super::store::{Revisions, cannot_write};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{REVISION_LOG_BYTES_MAX, SETTINGS_FILE_BYTES_MAX};
use crate::state_file::{self, Privacy};

/// The marker of a restoration in progress.
const JOURNAL_FILE: &str = "restoring.json";

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
        let new = self.texts(&target)?;
        if let Some(name) = new.files.keys().find(|name| !is_own_name(name)) {
            let what = format!("revision `{word}` has a file `{name}`, which is not a settings or policy file");
            return Err(Error::new(ErrorKind::State, what));
        }
        self.keep("changed by hand", None)?;
        let before = self.list()?.pop();
        let mut outcome = None;
        let file = self.log_file();
        state_file::update(&file, Privacy::Owner, REVISION_LOG_BYTES_MAX, |old_log| {
            let mut log = Log::parse(old_log, &file)?;
            let old = self.now()?;
            self.begin(&target)?;
            if let Err(error) = self.apply(&new.files) {
                // Undo the changes made so far.
                let back = self.put_back(&old.files);
                self.end();
                return Err(match back {
                    Ok(()) => error,
                    Err(back) => error.while_doing(&format!("the changed files could not be put back ({back})")),
                });
            }
            let now = Snapshot { files: new.files.clone(), beside: old.beside.clone() };
            let short = target.id.get(..12).unwrap_or(&target.id);
            let added = self.add(&mut log, &now, (&format!("restore {short}"), reason))?;
            let is_new = added.is_some();
            outcome = Some((added.unwrap_or_else(|| target.clone()), old));
            if is_new { log.render().map(Some) } else { Ok(None) }
        })?;
        self.end();
        let (revision, old) =
            outcome.ok_or_else(|| Error::new(ErrorKind::State, format!("revision `{word}` was not restored")))?;
        Ok(Restored { revision, before, old, new })
    }

    /// Completes a restoration that a crash interrupted. Does nothing when there is none.
    ///
    /// # Errors
    /// Returns an error if its revision cannot be read or written.
    pub fn finish_interrupted(&self) -> Result<()> {
        if !self.journal().exists() {
            return Ok(());
        }
        let file = self.log_file();
        state_file::update(&file, Privacy::Owner, REVISION_LOG_BYTES_MAX, |old_log| {
            // Another process may have completed it meanwhile.
            let Some(note) = state_file::read(&self.journal(), REVISION_LOG_BYTES_MAX)? else { return Ok(None) };
            let note: Value = serde_json::from_str(&note).unwrap_or_default();
            let id = note.get("revision").and_then(Value::as_str).unwrap_or_default();
            let log = Log::parse(old_log, &file)?;
            let texts = self.texts(log.find(id)?)?;
            if texts.files.keys().all(|name| is_own_name(name)) {
                self.apply(&texts.files)?;
            }
            self.end();
            Ok(None)
        })
    }

    fn journal(&self) -> PathBuf {
        self.folder.join(JOURNAL_FILE)
    }

    fn begin(&self, target: &Revision) -> Result<()> {
        let note = json!({"revision": target.id}).to_string();
        state_file::update(&self.journal(), Privacy::Owner, REVISION_LOG_BYTES_MAX, |_| Ok(Some(note)))
    }

    fn end(&self) {
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
            let there = state_file::read(&user.join(name.as_str()), SETTINGS_FILE_BYTES_MAX);
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
                state_file::update(&path, Privacy::Owner, SETTINGS_FILE_BYTES_MAX, write)
            }
            None => fs::remove_file(&path).map_err(|error| cannot_write(&path, &error)),
        }
    }
}
