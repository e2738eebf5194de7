//! What was found in the file of another client, what it became there, and what got lost on the way.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::formats::client::Format;
use crate::formats::restrictions::Restrictions;
use crate::limits::SETTINGS_DIAGNOSTICS_MAX;
use crate::settings::diagnostic::KeyPath;
use crate::settings::raw::RawServer;
use crate::settings::tree::BrokenText;
use crate::settings::{Located, Position};

/// The servers of one file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Whose file it is.
    pub format: Format,
    /// The servers that can be used here, in the order of the file.
    pub servers: Vec<ImportedServer>,
    /// Entries that cannot.
    pub left_out: Vec<LeftOut>,
    /// What is to be said about the file as a whole.
    pub notes: Vec<Note>,
    /// Restrictions of the file besides its servers. Only files of Gemini CLI have them.
    pub restrictions: Restrictions,
}

/// One server of another client, in our settings.
#[derive(Clone, Debug)]
pub struct ImportedServer {
    /// Its name there, and where it stands.
    pub name: Located<String>,
    /// Its entry as our settings spell it, each value at its place in the file it came from.
    pub server: RawServer,
    /// What could not be carried over, or only in another form.
    pub notes: Vec<Note>,
    /// It is switched off there.
    pub is_disabled: bool,
    /// The folder it is for, when it is for one only.
    pub project: Option<PathBuf>,
}

/// An entry that is no server for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name, and where it stands.
    pub name: Located<String>,
    /// Why.
    pub reason: String,
    /// Whether it is wrong there, too; otherwise only that client can use it.
    pub is_broken: bool,
}

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// It has no counterpart.
    Lost,
    /// It means about the same, but somebody should look at it or do something for it.
    Changed,
}

impl NoteKind {
    /// The word for it in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Changed => "changed",
        }
    }
}

/// Something to know about one value. It never contains the value, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What became of it.
    pub kind: NoteKind,
    /// The key, as the file writes it.
    pub key: String,
    /// Where it stands, when it was read from a file.
    pub at: Option<Position>,
    /// What is to be said.
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

/// Servers in the form of another client.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The file.
    pub text: String,
    /// What could not be written, or only in another form.
    pub notes: Vec<Note>,
    /// How many servers are in it.
    pub count: usize,
}

/// A file of another client that could not be read. It displays as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError(Box<Unreadable>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Unreadable {
    path: PathBuf,
    at: Option<Position>,
    message: String,
    hint: Option<String>,
    excerpt: Option<String>,
}

impl FormatError {
    pub(crate) fn whole(path: &Path, message: impl Into<String>, hint: Option<String>) -> Self {
        let (path, message) = (path.to_owned(), message.into());
        Self(Box::new(Unreadable { path, at: None, message, hint, excerpt: None }))
    }

    pub(crate) fn at(path: &Path, at: Position, message: impl Into<String>, hint: Option<String>) -> Self {
        let mut error = Self::whole(path, message, hint);
        error.0.at = Some(at);
        error
    }

    pub(crate) fn broken(path: &Path, broken: BrokenText) -> Self {
        let mut error = Self::at(path, broken.at, broken.message, broken.hint);
        error.0.excerpt = Some(broken.excerpt);
        error
    }

    /// What is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.0.at
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The line with a mark below the place. Values in it are covered.
    #[must_use]
    pub fn excerpt(&self) -> Option<&str> {
        self.0.excerpt.as_deref()
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.path.display())?;
        if let Some(at) = self.0.at {
            write!(f, ":{}:{}", at.line, at.column)?;
        }
        write!(f, ": {}", self.0.message)
    }
}

impl std::error::Error for FormatError {}

/// Notes as they are taken. Only so many are kept.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    kept: Vec<Note>,
    more: usize,
}

impl Notes {
    pub(crate) fn add(&mut self, kind: NoteKind, key: KeyPath<'_>, at: Position, message: impl Into<String>) {
        self.push(Note { kind, key: key.to_string(), at: Some(at), message: message.into() });
    }

    pub(crate) fn push(&mut self, note: Note) {
        if self.kept.len() < SETTINGS_DIAGNOSTICS_MAX {
            self.kept.push(note);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Note> {
        if let Some(last) = self.kept.last().filter(|_| self.more > 0) {
            let message = format!("{} more notes are not listed", self.more);
            self.kept.push(Note { kind: NoteKind::Lost, key: last.key.clone(), at: None, message });
        }
        self.kept
    }
}
