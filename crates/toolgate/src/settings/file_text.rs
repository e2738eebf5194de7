//! The text of a settings file, whatever stands in its place: bounded, without waiting for ever, and only when it is text.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::limits::{SETTINGS_FILE_BYTES_MAX, SETTINGS_PIPE_MS};
use crate::settings::diagnostic::{Diagnostic, SettingsError, Severity};
use crate::settings::source::{SettingsOrigin, SettingsSource};

/// How editors mark UTF-16 text, in either order of bytes.
const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// The text of a file. `None` when there is none.
pub(crate) fn file_text(path: &Path, source: SettingsSource) -> Result<Option<String>, SettingsError> {
    let whole = |message: String, hint: &str| {
        let origin = SettingsOrigin { source, path: Some(path.to_owned()), line: None };
        whole_file(origin, message, Some(hint.to_owned()))
    };
    let broken = |message, hint| SettingsError::new(whole(message, hint), None);
    let bytes = match read_bytes(path, source) {
        Ok(bytes) => bytes,
        // A folder of the path that is a file leaves no room for settings either; `HOME=/dev/null` is an example.
        // A link that leads nowhere is a file that somebody misses.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) && !path.is_symlink() =>
        {
            return Ok(None);
        }
        Err(error) => return Err(broken(cannot_read(&error), "make it a file that you may read, or remove it")),
    };
    if bytes.len() > SETTINGS_FILE_BYTES_MAX {
        let message = format!("larger than {} MiB, the most a settings file may have", SETTINGS_FILE_BYTES_MAX >> 20);
        return Err(broken(message, "check that this is the file you mean"));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let bytes = error.as_bytes();
        let before = bytes.get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let is_utf_16 = UTF_16_MARKS.iter().any(|mark| bytes.starts_with(mark));
        let message = if is_utf_16 { "not UTF-8 text, but UTF-16" } else { "not UTF-8 text" };
        let mut diagnostic = whole(message.to_owned(), "save it as UTF-8");
        let (line, column) = end_of(before);
        (diagnostic.origin.line, diagnostic.column) = (Some(line), Some(column));
        SettingsError::new(diagnostic, None)
    })
}

/// The line and column behind a piece of text.
fn end_of(text: &[u8]) -> (usize, usize) {
    let mut lines = text.rsplit(|byte| *byte == b'\n');
    let last = lines.next().unwrap_or_default();
    (lines.count() + 1, String::from_utf8_lossy(last).chars().count() + 1)
}

fn read_bytes(path: &Path, source: SettingsSource) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if about.is_file() {
        return read_up_to_limit(path, &about);
    }
    // A pipe may be named for one run. Nobody means one where a file is expected.
    if source != SettingsSource::CommandLine {
        return Err(io::Error::other("not a regular file"));
    }
    // Opening a pipe that nobody writes into waits for ever, so somebody else has to do it. They end with the process at the latest.
    let (done, read) = mpsc::channel();
    let path = path.to_owned();
    thread::Builder::new().name("settings pipe".to_owned()).spawn(move || {
        // Whoever waited may have given up.
        let _taken = done.send(read_up_to_limit(&path, &about)).is_ok();
    })?;
    let waited = read.recv_timeout(Duration::from_millis(SETTINGS_PIPE_MS));
    waited.unwrap_or_else(|_| Err(io::Error::other("a pipe whose end did not come")))
}

/// One byte more than allowed is read, so that too much can be told from just enough.
fn read_up_to_limit(path: &Path, about: &Metadata) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0).min(SETTINGS_FILE_BYTES_MAX) + 1);
    let most = u64::try_from(SETTINGS_FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn cannot_read(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => "a folder, not a settings file".to_owned(),
        io::ErrorKind::PermissionDenied => "cannot be read: permission denied".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

/// Something that is wrong with a file as a whole.
pub(crate) fn whole_file(origin: SettingsOrigin, message: String, hint: Option<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Error, origin, column: None, server: None, key: None, message, hint }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{cannot_read, end_of};

    #[test]
    fn reasons_of_the_system_are_passed_on() {
        let cases = [
            (io::ErrorKind::PermissionDenied.into(), "cannot be read: permission denied"),
            (io::ErrorKind::IsADirectory.into(), "a folder, not a settings file"),
            (io::Error::other("not a regular file"), "cannot be read: not a regular file"),
        ];
        for (error, expected) in cases {
            assert_eq!(cannot_read(&error), expected);
        }
    }

    #[test]
    fn what_is_not_text_has_a_place() {
        let cases: [(&[u8], _); 5] =
            [(b"", (1, 1)), (b"ab", (1, 3)), (b"a\n", (2, 1)), (b"a\n\nbc", (3, 3)), ("é漢".as_bytes(), (1, 3))];
        for (text, place) in cases {
            assert_eq!(end_of(text), place, "{text:?}");
        }
    }
}
