//! `ServerName`: what a person calls a server. Errors, news and every stage speak of servers by it.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::limits::SERVER_NAME_CHARS_MAX;

/// The name of a server: not blank, of bounded length, without control characters. Otherwise as it was written, in any script.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(Arc<str>);

impl ServerName {
    /// Checks a name.
    ///
    /// # Errors
    /// When it is blank, too long, or has control characters.
    pub fn new(name: &str) -> Result<Self, ServerNameError> {
        if name.trim().is_empty() {
            Err(ServerNameError::Blank)
        } else if name.chars().any(char::is_control) {
            Err(ServerNameError::ControlCharacter)
        } else if name.chars().nth(SERVER_NAME_CHARS_MAX).is_some() {
            Err(ServerNameError::TooLong)
        } else {
            Ok(Self(name.into()))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name as one word of a command line: in quotes when a shell would take it apart.
#[must_use]
pub fn as_word(name: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./@:".contains(letter);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => Cow::Borrowed(name),
        false => Cow::Owned(format!("'{}'", name.replace('\'', r"'\''"))),
    }
}

impl Deref for ServerName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ServerName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl TryFrom<&str> for ServerName {
    type Error = ServerNameError;

    fn try_from(name: &str) -> Result<Self, ServerNameError> {
        Self::new(name)
    }
}

/// Why a text is no name of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerNameError {
    /// There is nothing to call it by.
    Blank,
    /// It would steer a terminal instead of being shown.
    ControlCharacter,
    /// It is longer than [`SERVER_NAME_CHARS_MAX`].
    TooLong,
}

impl fmt::Display for ServerNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("a server needs a name"),
            Self::ControlCharacter => f.write_str("the name of a server has no control characters"),
            Self::TooLong => write!(f, "the name of a server has at most {SERVER_NAME_CHARS_MAX} characters"),
        }
    }
}

impl std::error::Error for ServerNameError {}
