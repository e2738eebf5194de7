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
    edit(env, path, |before| change(before.unwrap_or_default()))
}

/// Writes a new policy file of the person, in one step. `false` when there is one already, which stays as it is.
///
/// # Errors
/// Returns an error if the text has an error, or the file cannot be written.
pub fn write_new_policy(env: &HostEnv, path: &Path, text: &str) -> Result<bool> {
    let written = edit(env, path, |before| Ok(before.is_none().then(|| text.to_owned())))?;
    Ok(written.is_some())
}

fn edit(
    env: &HostEnv,
    path: &Path,
    change: impl FnOnce(Option<&str>) -> Result<Option<String>>,
) -> Result<Option<EditedPolicy>> {
    let privacy = if path.starts_with(&env.dirs.user) { Privacy::Owner } else { Privacy::Umask };
    let mut edited = None;
    state_file::update(path, privacy, POLICY_FILE_BYTES_MAX, |before| {
        let Some(after) = change(before)? else { return Ok(None) };
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::write_new_policy;
    use crate::env::{HostDirs, HostEnv, SystemClock};

    #[test]
    fn a_new_file_takes_the_place_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let dirs = HostDirs { user: folder.path().to_owned(), system: "/y".into(), home: None };
        let workspace = folder.path().to_owned();
        let env = HostEnv { vars: [].into(), dirs, workspace: workspace.into(), clock: Arc::new(SystemClock) };
        let text = "[[rule]]\ntoolName = \"x\"\ndecision = \"deny\"\npriority = 1\n";
        // the text that is there, whether the new one is written
        for (at, (before, is_written)) in
            [(None, true), (Some(""), false), (Some("# mine"), false)].into_iter().enumerate()
        {
            let path = folder.path().join(format!("policies/{at}.toml"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            before.iter().for_each(|before| fs::write(&path, before).unwrap());
            assert_eq!(write_new_policy(&env, &path, text).unwrap(), is_written, "{before:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), before.unwrap_or(text));
        }
        let path = folder.path().join("policies/broken.toml");
        assert!(write_new_policy(&env, &path, "[[rule]]\n").is_err() && !path.exists());
    }
}
