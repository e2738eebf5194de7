//! `--log-file`: every message, every frame of the wire and the stderr of servers, line by line with the time. Only the owner can read
//! the file. The output on the screen does not change.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use toolgate::Clock;

use crate::error::{CommandError, Result};

/// Mode of the log file. Frames of the wire may contain secrets.
const OWNERS: u32 = 0o600;

/// An open log file.
pub(crate) struct LogFile {
    file: Mutex<File>,
    clock: Arc<dyn Clock>,
}

impl LogFile {
    /// Opens the file for appending, or creates it.
    pub(crate) fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        let cannot = |error: std::io::Error| {
            CommandError::usage(format!("cannot write the log file {}: {error}", path.display()))
        };
        // Opening a pipe waits for a reader.
        if std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo()) {
            return Err(CommandError::usage(format!("cannot write the log file {}: it is a pipe", path.display())));
        }
        let file = OpenOptions::new().create(true).append(true).mode(OWNERS).open(path).map_err(cannot)?;
        let about = file.metadata().map_err(cannot)?;
        if about.is_file() && about.permissions().mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(OWNERS)).map_err(cannot)?;
        }
        Ok(Self { file: Mutex::new(file), clock })
    }

    /// Adds a line. A failure to write the log does not stop the command.
    pub(crate) fn line(&self, line: &str) {
        let at = Timestamp::try_from(self.clock.now()).unwrap_or(Timestamp::UNIX_EPOCH);
        let text = format!("{at:.3} {}\n", without_colours(line));
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let _written = file.write_all(text.as_bytes()).is_ok();
    }
}

impl std::fmt::Debug for LogFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogFile").finish_non_exhaustive()
    }
}

/// A line without colour sequences.
fn without_colours(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('m') {
            Some((numbers, rest)) if numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') => {
                plain.push_str(rest);
            }
            _ => {
                plain.push_str("\u{1b}[");
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::without_colours;

    #[test]
    fn colours_are_left_out() {
        let cases = [
            ("plain", "plain"),
            ("\u{1b}[31merror:\u{1b}[0m it", "error: it"),
            ("\u{1b}[1;2mx", "x"),
            ("\u{1b}[2Kx", "\u{1b}[2Kx"),
            ("", ""),
        ];
        for (line, expected) in cases {
            assert_eq!(without_colours(line), expected, "{line:?}");
        }
    }
}
