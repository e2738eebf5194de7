//! `Snapshot`: the texts of a revision's files in their current state.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ring::digest;
use serde_json::json;

use crate::canonical_json;
use crate::env::HostEnv;
use crate::error::Result;
use crate::grants::{GRANTS_FILE, Grants};
use crate::hex::hex;
use crate::limits::{GRANTS_FILE_BYTES_MAX, POLICY_FILE_BYTES_MAX, SETTINGS_FILE_BYTES_MAX, TRUST_FILE_BYTES_MAX};
use crate::settings::brought::{POLICIES_FOLDER, policy_files};
use crate::settings::load::SETTINGS_FILE;
use crate::state_file;
use crate::trust;

/// File texts by name, relative to the person's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Settings and policies.
    pub files: BTreeMap<String, String>,
    /// Grants and trust. They can be compared and are never restored.
    pub beside: BTreeMap<String, String>,
}

impl Snapshot {
    /// Reads the current files.
    pub(super) fn read(env: &HostEnv) -> Result<Self> {
        let mut snapshot = Self::default();
        for (name, path) in own_files(&env.dirs.user) {
            if let Some(text) = state_file::read(&path, bytes_max(&name))? {
                snapshot.files.insert(name, text);
            }
        }
        for (name, path) in files_beside(env) {
            let bytes_max = if name == GRANTS_FILE { GRANTS_FILE_BYTES_MAX } else { TRUST_FILE_BYTES_MAX };
            // The stage that owns an unreadable file reports it.
            if let Ok(Some(text)) = state_file::read(&path, bytes_max) {
                snapshot.beside.insert(name, text);
            }
        }
        Ok(snapshot)
    }

    /// The id of a revision with these files.
    pub(super) fn id(&self) -> String {
        let hashes: BTreeMap<&String, String> = self.files.iter().map(|(name, text)| (name, hash_of(text))).collect();
        let hash = canonical_json::hash(&json!(hashes));
        hash.rsplit(':').next().unwrap_or_default().to_owned()
    }
}

/// Existing settings and policies of the person.
pub(super) fn own_files(user: &Path) -> Vec<(String, PathBuf)> {
    let policies = policy_files(&user.join(POLICIES_FOLDER)).into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        Some((format!("{POLICIES_FOLDER}/{name}"), path))
    });
    let settings = user.join(SETTINGS_FILE);
    let settings = settings.is_file().then(|| (SETTINGS_FILE.to_owned(), settings));
    settings.into_iter().chain(policies).collect()
}

/// The most that a settings or policy file may have.
pub(super) fn bytes_max(name: &str) -> usize {
    if name == SETTINGS_FILE { SETTINGS_FILE_BYTES_MAX } else { POLICY_FILE_BYTES_MAX }
}

/// Whether a revision may contain a file of that name. No other file is ever written.
pub(super) fn is_own_name(name: &str) -> bool {
    let is_policy = |rest: &str| {
        let is_plain = !rest.contains(['/', '\\', '\0']);
        is_plain && Path::new(rest).extension().is_some_and(|extension| extension == "toml")
    };
    let policy = name.strip_prefix(POLICIES_FOLDER).and_then(|rest| rest.strip_prefix('/'));
    name == SETTINGS_FILE || policy.is_some_and(is_policy)
}

fn files_beside(env: &HostEnv) -> Vec<(String, PathBuf)> {
    let files = trust::files(env).into_iter().chain([Grants::file(env)]);
    let named = |path: PathBuf| {
        let name = path.strip_prefix(&env.dirs.user).unwrap_or(&path).to_str()?.to_owned();
        Some((name, path))
    };
    files.filter_map(named).collect()
}

/// The SHA-256 of a text, in hexadecimal.
pub(super) fn hash_of(text: &str) -> String {
    hex(digest::digest(&digest::SHA256, text.as_bytes()).as_ref())
}
