//! `Error`: why a workspace cannot be opened. `Failure`: why one call of a tool failed, in words for whoever called it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a workspace cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder cannot be opened.
    #[error("cannot open the workspace folder `{path}`: {source}; name a folder that exists and can be read", path = .path.display())]
    Open {
        /// The folder as it was asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a tool could not do what it was asked: what, where, and what to do next. It becomes a result with `isError`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A path that leads out of the workspace.
    pub(crate) fn outside(path: &str, root: &str) -> Self {
        let path = shown(path);
        Self(format!(
            "`{path}` leads out of the workspace; only files in `{root}` can be reached: give a path relative to it, or an absolute one inside it, that passes no link to elsewhere"
        ))
    }

    /// A path that leads to what this server does not open.
    pub(crate) fn closed(path: &str) -> Self {
        let path = shown(path);
        Self(format!("`{path}` is one of toolgate's own files, which tools do not open; choose another file"))
    }

    /// What the system said about `path` when we wanted to `act`.
    pub(crate) fn system(act: &str, path: &str, error: &io::Error) -> Self {
        let path = shown(path);
        let why = match error.kind() {
            io::ErrorKind::NotFound => {
                "it does not exist; look around with `list_directory` or `glob`, paths are relative to the workspace"
                    .to_owned()
            }
            io::ErrorKind::PermissionDenied => "the system does not permit it; choose another file".to_owned(),
            io::ErrorKind::NotADirectory => {
                "a part of the path is not a folder; check it with `list_directory`".to_owned()
            }
            io::ErrorKind::IsADirectory => "it is a folder; name a file in it".to_owned(),
            io::ErrorKind::InvalidFilename => "a name in it is longer than the system takes; shorten it".to_owned(),
            _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                "its symbolic links go round in a circle; name the file itself".to_owned()
            }
            _ => format!("{error}; check the path with `list_directory`"),
        };
        Self(format!("cannot {act} `{path}`: {why}"))
    }

    /// Something that is neither a file nor a folder.
    pub(crate) fn special(path: &str) -> Self {
        let path = shown(path);
        Self(format!(
            "`{path}` is not a regular file (it is a pipe, a socket or a device), so it is neither read nor written; name another file"
        ))
    }

    /// The call was given up; nobody reads this.
    pub(crate) fn cancelled() -> Self {
        Self::new("the call was cancelled")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many characters of a wrong path or pattern are repeated in a message.
const SHOWN_CHARS: usize = 200;

/// A name or path as it can stand in a line of text: control characters made visible, and not endless.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(SHOWN_CHARS));
    for (at, letter) in text.chars().enumerate() {
        if at == SHOWN_CHARS {
            out.push('…');
            break;
        }
        push_visible(&mut out, letter);
    }
    out
}

/// The same without shortening, for names that must be usable as they stand.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|letter| push_visible(&mut out, letter));
    out
}

fn push_visible(out: &mut String, letter: char) {
    if letter.is_control() { out.extend(letter.escape_default()) } else { out.push(letter) }
}

#[cfg(test)]
mod tests {
    use super::{SHOWN_CHARS, shown, visible};

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(shown("a\nb\u{1b}[0m"), "a\\nb\\u{1b}[0m");
        assert_eq!(shown(&"ä".repeat(1000)).chars().count(), SHOWN_CHARS + 1);
        assert_eq!(visible(&"ä".repeat(1000)).chars().count(), 1000);
    }
}
