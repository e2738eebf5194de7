//! What is wrong with a settings file, where, and what to do about it.
//!
//! A [`Diagnostic`] concerns one value and leaves the rest usable; a [`SettingsError`] is a whole file that could not be read. Neither ever
//! contains a value of the file: values may be secret.

use std::fmt;

use crate::limits::{SERVER_NAME_CHARS_MAX, SETTINGS_DIAGNOSTICS_MAX, SETTINGS_KEY_CHARS_MAX};
use crate::settings::source::SettingsOrigin;

/// Whether something is lost because of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Everything works, though perhaps not as meant.
    Warning,
    /// A server or a setting is not used.
    Error,
}

impl Severity {
    /// `warning` or `error`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One problem in the settings. It displays as one line, `file:line:column: key: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether something is lost.
    pub severity: Severity,
    /// The file and the line.
    pub origin: SettingsOrigin,
    /// The column in the line, counted from 1.
    pub column: Option<usize>,
    /// The server whose entry it is in.
    pub server: Option<String>,
    /// The path of the key, such as `mcpServers.github.args[1]`.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": {key}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A settings file that could not be read at all. It displays as one line; the line it is about and a hint come apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(Box<Broken>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Broken {
    diagnostic: Diagnostic,
    excerpt: Option<String>,
}

impl SettingsError {
    pub(crate) fn new(diagnostic: Diagnostic, excerpt: Option<String>) -> Self {
        Self(Box::new(Broken { diagnostic, excerpt }))
    }

    /// What is wrong and where.
    #[must_use]
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.0.diagnostic
    }

    /// The line of the file with a mark below the place, where there is one. Values in it are covered.
    #[must_use]
    pub fn excerpt(&self) -> Option<&str> {
        self.0.excerpt.as_deref()
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.0.diagnostic.hint.as_deref()
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.diagnostic.fmt(f)
    }
}

impl std::error::Error for SettingsError {}

/// Diagnostics of one file, of which only so many are kept.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    kept: Vec<Diagnostic>,
    more: usize,
}

impl Diagnostics {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if self.kept.len() < SETTINGS_DIAGNOSTICS_MAX {
            self.kept.push(diagnostic);
        } else {
            self.more += 1;
        }
    }

    /// All that were kept, and one that says how many were not.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        if let Some(last) = self.kept.last().filter(|_| self.more > 0) {
            let message = format!("{} more problems are not listed", self.more);
            let origin = SettingsOrigin { line: None, ..last.origin.clone() };
            let severity = Severity::Warning;
            self.kept.push(Diagnostic { severity, origin, column: None, server: None, key: None, message, hint: None });
        }
        self.kept
    }
}

/// A key and the keys above it, put into words only when there is something to say about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyPath<'a> {
    above: Option<&'a Self>,
    part: Part<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> KeyPath<'a> {
    pub(crate) const fn top(key: &'a str) -> Self {
        Self { above: None, part: Part::Key(key) }
    }

    pub(crate) const fn key(&'a self, key: &'a str) -> Self {
        Self { above: Some(self), part: Part::Key(key) }
    }

    pub(crate) const fn index(&'a self, index: usize) -> Self {
        Self { above: Some(self), part: Part::Index(index) }
    }

    /// The name of the server this key belongs to. What is too long for a name is none, and not repeated with every problem in it.
    pub(crate) fn server(&self) -> Option<&'a str> {
        let above = self.above?;
        match (above.above, above.part, self.part) {
            (None, Part::Key("mcpServers"), Part::Key(name)) => {
                Some(name).filter(|name| name.chars().nth(SERVER_NAME_CHARS_MAX).is_none())
            }
            _ => above.server(),
        }
    }
}

impl fmt::Display for KeyPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(above) = self.above {
            above.fmt(f)?;
        }
        match self.part {
            Part::Index(index) => write!(f, "[{index}]"),
            Part::Key(key) if key.chars().nth(SETTINGS_KEY_CHARS_MAX).is_some() => {
                let start: String = key.chars().take(SETTINGS_KEY_CHARS_MAX).collect();
                write!(f, "[\"{}…\"]", visible(&start))
            }
            Part::Key(key) if !is_plain(key) => write!(f, "[\"{}\"]", visible(key)),
            Part::Key(key) if self.above.is_none() => f.write_str(key),
            Part::Key(key) => write!(f, ".{key}"),
        }
    }
}

/// Whether a key can stand between dots without being misread.
fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '$' | '/'))
}

/// Text from a file with its control characters made visible, so that it cannot steer a terminal.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, Diagnostics, KeyPath, Severity};
    use crate::limits::{SETTINGS_DIAGNOSTICS_MAX, SETTINGS_KEY_CHARS_MAX};
    use crate::settings::source::{SettingsOrigin, SettingsSource};

    #[test]
    fn keys_are_written_so_that_they_can_be_found() {
        let top = KeyPath::top("mcpServers");
        let cases = [
            ("github", "mcpServers.github.args[2]"),
            ("中文", "mcpServers.中文.args[2]"),
            ("my server", "mcpServers[\"my server\"].args[2]"),
            ("a.b", "mcpServers[\"a.b\"].args[2]"),
            ("", "mcpServers[\"\"].args[2]"),
            ("\u{1b}[2J", "mcpServers[\"\\u{1b}[2J\"].args[2]"),
        ];
        for (name, expected) in cases {
            let (entry, args);
            entry = top.key(name);
            args = entry.key("args");
            assert_eq!(args.index(2).to_string(), expected);
            assert_eq!(args.index(2).server(), Some(name));
        }
        let name = "é".repeat(SETTINGS_KEY_CHARS_MAX + 1);
        let entry = top.key(&name);
        assert_eq!(entry.to_string(), format!("mcpServers[\"{}…\"]", "é".repeat(SETTINGS_KEY_CHARS_MAX)));
        assert_eq!(entry.server(), None);
        assert_eq!(top.server(), None);
        assert_eq!(KeyPath::top("mcp").key("allowed").server(), None);
    }

    #[test]
    fn problems_beyond_the_limit_are_counted() {
        let origin = SettingsOrigin { source: SettingsSource::User, path: Some("/s.json".into()), line: Some(1) };
        let severity = Severity::Error;
        let one = Diagnostic {
            severity,
            origin,
            column: Some(2),
            server: None,
            key: Some("a".to_owned()),
            message: "wrong".to_owned(),
            hint: None,
        };
        let mut all = Diagnostics::default();
        for _ in 0..SETTINGS_DIAGNOSTICS_MAX + 7 {
            all.push(one.clone());
        }
        let all = all.finish();
        assert_eq!(all.len(), SETTINGS_DIAGNOSTICS_MAX + 1);
        assert_eq!(all[0].to_string(), "/s.json:1:2: a: wrong");
        assert_eq!(all.last().unwrap().to_string(), "/s.json: 7 more problems are not listed");
    }
}
