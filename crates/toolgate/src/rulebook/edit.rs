//! Policy files of the person as they are edited: in one step, under a lock, and only into something that can be used.

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
    /// Before; `None` when there was no file.
    pub before: Option<String>,
    /// Afterwards.
    pub after: String,
}

/// Changes a policy file of the person: `change` is given its text, an empty one where there is no file. `None` when it leaves everything as it
/// is. In the person's own folder the file is for them alone.
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
