//! One settings file on the disk: changed in one step or not at all, while nobody else changes it.

use std::fmt;
use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::limits::SETTINGS_FILE_BYTES_MAX;
use crate::settings::diagnostic::SettingsError;
use crate::settings::edit::EditError;
use crate::settings::read::read_text;
use crate::settings::source::SettingsSource;
use crate::state_file::{self, Privacy};

/// Why a settings file was not changed. It is as it was, byte for byte.
#[derive(Debug)]
pub enum EditFileError {
    /// What stands in it cannot be changed.
    Text(SettingsError),
    /// It cannot be read or written.
    File(Error),
}

impl fmt::Display for EditFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EditFileError {}

/// Whether a file was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// There is a new text in it.
    Written,
    /// It was left alone.
    None,
}

/// Changes a settings file: `change` is given its text, an empty one when there is no file, and gives the new text or `None` to leave it
/// alone. Folders are made when something is written; where the person's own settings are, for them alone.
///
/// # Errors
/// When it cannot be read or written, and what `change` says.
pub fn edit_file(
    path: &Path,
    source: SettingsSource,
    change: impl FnOnce(&str) -> Result<Option<String>, EditError>,
) -> Result<Change, EditFileError> {
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    if source == SettingsSource::User && !folder.exists() {
        // Whatever cannot be made is told by who needs it next.
        let _made = state_file::make_folder(folder, Privacy::Owner).is_ok();
    }
    let mut refused = None;
    let mut done = Change::None;
    // Settings of a folder are shared by everyone who works in it.
    let privacy = if source == SettingsSource::User { Privacy::Owner } else { Privacy::Umask };
    let updated = state_file::update(path, privacy, SETTINGS_FILE_BYTES_MAX, |old| {
        if let Some(Err(error)) = old.map(|old| read_text(old, path, source)) {
            refused = Some(error);
            return Err(Error::new(ErrorKind::Settings, "it is not changed"));
        }
        let new = change(old.unwrap_or_default()).map_err(|error| {
            refused = Some(error.in_file(path, source));
            Error::new(ErrorKind::Settings, "it is not changed")
        })?;
        if new.is_some() {
            done = Change::Written;
        }
        Ok(new)
    });
    match (refused, updated) {
        (Some(refused), _) => Err(EditFileError::Text(refused)),
        (None, Err(error)) => Err(EditFileError::File(error)),
        (None, Ok(())) => Ok(done),
    }
}

/// Looks something up in the text of a settings file. `None` when there is no file.
///
/// # Errors
/// When it cannot be read, and what `look` says.
pub fn look_into<T>(
    path: &Path,
    source: SettingsSource,
    look: impl FnOnce(&str) -> Result<T, EditError>,
) -> Result<Option<T>, EditFileError> {
    let text = state_file::read(path, SETTINGS_FILE_BYTES_MAX).map_err(EditFileError::File)?;
    let found = text.map(|text| look(&text)).transpose();
    found.map_err(|error| EditFileError::Text(error.in_file(path, source)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Change, EditFileError, edit_file, look_into};
    use crate::limits::SETTINGS_FILE_BYTES_MAX;
    use crate::settings::edit::{Json, has, remove, set};
    use crate::settings::source::SettingsSource;

    #[test]
    fn a_file_is_made_changed_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("of/mine/settings.json");
        let done = edit_file(&path, SettingsSource::User, |text| set(text, &["a"], &Json::from(1)).map(Some)).unwrap();
        assert_eq!((done, fs::read_to_string(&path).unwrap().as_str()), (Change::Written, "{\n  \"a\": 1\n}\n"));
        assert_eq!(edit_file(&path, SettingsSource::User, |text| remove(text, &["b"])).unwrap(), Change::None);
        assert_eq!(look_into(&path, SettingsSource::User, |text| has(text, &["a"])).unwrap(), Some(true));
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert_eq!(left, ["settings.json"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(path.parent().unwrap()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        let none = folder.path().join("none.json");
        assert_eq!(look_into(&none, SettingsSource::User, |text| has(text, &["a"])).unwrap(), None);
    }

    #[test]
    fn what_cannot_be_changed_stays_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let deep = "[".repeat(5_000);
        let large = format!("{{\"a\": \"{}\"}}", "x".repeat(10 * 1024 * 1024));
        let full = format!("{{\"a\": \"{}\"}}", "x".repeat(SETTINGS_FILE_BYTES_MAX - 9));
        let cases: [(&[u8], &str); 7] = [
            (b"{\n  \"mcpServers\": {", "settings.json:2:17: expected `}` at the end of the object that starts here"),
            (b"{\"a\": \0}", "settings.json:1:7: the control character U+0000 has no place in a settings file"),
            (deep.as_bytes(), "settings.json:1:65: more than 64 levels of `{` and `[`"),
            (large.as_bytes(), "settings.json: larger than 4194304 bytes, the most it may have"),
            (full.as_bytes(), "settings.json: it would be larger than 4194304 bytes, the most it may have"),
            (b"{\"a\": \"\xff\"}", "settings.json: not UTF-8 text"),
            (b"[]", "settings.json:1:1: expected `{`: a settings file is one object"),
        ];
        for (bytes, expected) in cases {
            fs::write(&path, bytes).unwrap();
            let change = |text: &str| set(text, &["b"], &Json::from(1)).map(Some);
            let error = edit_file(&path, SettingsSource::Workspace, change).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
            assert_eq!(fs::read(&path).unwrap(), bytes);
            if let EditFileError::Text(error) = error {
                assert!(error.excerpt().is_some());
            }
        }
    }
}
