//! `LaidOut`: the files of a revision in a temporary folder, to be read as settings and policies without taking effect.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::files::is_own_name;
use super::log::Revision;
use super::store::{LAID_OUT, REVISIONS_FOLDER, Revisions, cannot_write, narrow};
use crate::env::{HostDirs, HostEnv};
use crate::error::Result;
use crate::own_files::put;
use crate::settings::brought::POLICIES_FOLDER;
use crate::settings::load::SETTINGS_FILE;
use crate::state_file::{Privacy, make_folder};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A revision in a temporary folder, which is removed on drop.
#[derive(Debug)]
pub struct LaidOut {
    folder: PathBuf,
    env: HostEnv,
}

impl LaidOut {
    /// The environment with the settings and policies of the revision. The rest of the person's folder is the current one.
    #[must_use]
    pub fn env(&self) -> HostEnv {
        let dirs = HostDirs { user: self.folder.clone(), ..self.env.dirs.clone() };
        HostEnv { dirs, ..self.env.clone() }
    }
}

impl Drop for LaidOut {
    fn drop(&mut self) {
        // Links in the folder are removed, not followed.
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::debug!(folder = %self.folder.display(), %error, "a revision that was looked at is left behind");
        }
    }
}

impl Revisions {
    /// Unpacks a revision.
    ///
    /// # Errors
    /// Returns an error if the revision cannot be read, or the folder cannot be made.
    pub fn lay_out(&self, revision: &Revision) -> Result<LaidOut> {
        let texts = self.texts(revision)?;
        self.make_folders()?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(format!("{LAID_OUT}{}-{number}", std::process::id()));
        // A killed process with the same id may have left a folder.
        let _removed = fs::remove_dir_all(&folder).is_ok();
        let laid_out = LaidOut { folder: folder.clone(), env: self.env.clone() };
        let policies = folder.join(POLICIES_FOLDER);
        make_folder(&policies, Privacy::Owner)
            .and_then(|()| narrow(&folder, 0o700))
            .and_then(|()| narrow(&policies, 0o700))
            .map_err(|error| cannot_write(&policies, &error))?;
        for (name, text) in texts.files.iter().filter(|(name, _)| is_own_name(name)) {
            let path = folder.join(name);
            put(&path, text.as_bytes()).map_err(|error| cannot_write(&path, &error))?;
        }
        for entry in fs::read_dir(&self.env.dirs.user).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_of_revision = [SETTINGS_FILE, POLICIES_FOLDER, REVISIONS_FOLDER].iter().any(|own| name == **own);
            if !is_of_revision {
                let link = folder.join(&name);
                link_to(&entry.path(), &link).map_err(|error| cannot_write(&link, &error))?;
            }
        }
        Ok(laid_out)
    }
}

#[cfg(unix)]
fn link_to(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn link_to(target: &Path, link: &Path) -> std::io::Result<()> {
    if target.is_file() { fs::copy(target, link).map(drop) } else { Ok(()) }
}
