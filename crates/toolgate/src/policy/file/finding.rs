//! `Finding`: what is wrong in a policy file, where, and what to do about it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::limits::POLICY_FINDINGS_MAX;
pub use crate::settings::diagnostic::Severity;
use crate::settings::diagnostic::visible;
use crate::settings::position::{Places, Position};

/// One problem of a policy file. It displays as one line, `file:line:column: severity: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether the file can be used in spite of it. A file with an error is not used, and nothing else is in its place.
    pub severity: Severity,
    /// The file.
    pub file: Option<Arc<PathBuf>>,
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Finding {
    /// Whether the file cannot be used.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", visible(&file.to_string_lossy()))?;
        }
        write!(f, "{}:{}: {}: {}", self.line, self.column, self.severity, self.message)
    }
}

/// Collects the problems of one file, a bounded number of them.
#[derive(Debug)]
pub(super) struct Findings<'t> {
    places: Places<'t>,
    file: Arc<PathBuf>,
    kept: RefCell<Vec<Finding>>,
    more: Cell<usize>,
    errors: Cell<usize>,
}

impl<'t> Findings<'t> {
    pub(super) fn new(text: &'t str, file: Arc<PathBuf>) -> Self {
        Self { places: Places::new(text), file, kept: RefCell::default(), more: Cell::new(0), errors: Cell::new(0) }
    }

    /// Where a byte of the file is.
    pub(super) fn place(&self, offset: usize) -> Position {
        self.places.at(offset)
    }

    /// How many errors there are so far, also those that are only counted.
    pub(super) fn errors(&self) -> usize {
        self.errors.get()
    }

    pub(super) fn error(&self, offset: usize, message: impl AsRef<str>, hint: &str) {
        self.errors.set(self.errors.get() + 1);
        self.push(Severity::Error, offset, message.as_ref(), hint);
    }

    pub(super) fn warning(&self, offset: usize, message: impl AsRef<str>, hint: &str) {
        self.push(Severity::Warning, offset, message.as_ref(), hint);
    }

    fn push(&self, severity: Severity, offset: usize, message: &str, hint: &str) {
        let mut kept = self.kept.borrow_mut();
        // A file is refused for its errors: warnings do not push the first of them out.
        let is_first_error = severity == Severity::Error && self.errors.get() == 1;
        if kept.len() >= POLICY_FINDINGS_MAX && !is_first_error {
            self.more.set(self.more.get() + 1);
            return;
        }
        let Position { line, column } = self.place(offset);
        let hint = (!hint.is_empty()).then(|| visible(hint));
        kept.push(Finding { severity, file: Some(self.file.clone()), line, column, message: visible(message), hint });
    }

    /// All that were kept in the order of the file, and one that says how many were not.
    pub(super) fn finish(self) -> Vec<Finding> {
        let mut kept = self.kept.into_inner();
        kept.sort_by_key(|finding| (finding.line, finding.column));
        let more = self.more.get();
        if let Some(last) = kept.last().filter(|_| more > 0) {
            let message = format!("{more} more problems are not listed");
            kept.push(Finding { severity: Severity::Warning, message, hint: None, ..last.clone() });
        }
        kept
    }
}
