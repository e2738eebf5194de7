//! Edits policy files of the person: in one step, under a lock, and only if the result is valid.

use std::path::Path;

use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::POLICY_FILE_BYTES_MAX;
use crate::policy::Tier;
use crate::policy::file::{self, FileSource, Severity};
use crate::state_file::{self, Privacy};

/// The texts of a policy file that was edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedPolicy {
    /// The text before; `None` when there was no file.
    pub before: Option<String>,
    /// The text afterwards.
    pub after: String,
}

/// Changes a policy file of the person. `change` receives its text, or an empty text without a file. It returns `None` for no
/// change. Files in the person's own folder are readable by the owner only.
///
/// # Errors
/// Returns an error if the new text has an error, or the file cannot be read or written. The file then stays
/// unchanged.
pub fn edit_policy(
    env: &HostEnv,
    path: &Path,
    change: impl FnOnce(&str) -> Result<Option<String>>,
) -> Result<Option<EditedPolicy>> {
    let privacy = if path.starts_with(&env.dirs.user) { Privacy::Owner } else { Privacy::Umask };
    let mut edited = None;
    state_file::update(path, privacy, POLICY_FILE_BYTES_MAX, |before| {
        let Some(after) = change(before.unwrap_or_default())? else { return Ok(None) };
        let parsed = file::parse(&after, &FileSource::new(Tier::User, path));
        if let Some(finding) = parsed.findings.iter().find(|finding| finding.severity == Severity::Error) {
            let place = format!("{}:{}:{}", path.display(), finding.line, finding.column);
            let message =
                format!("nothing is written, because the result would be invalid: {place}: {}", finding.message);
            return Err(Error::new(ErrorKind::Policy, message));
        }
        edited = Some(EditedPolicy { before: before.map(str::to_owned), after: after.clone() });
        Ok(Some(after))
    })?;
    Ok(edited)
}
