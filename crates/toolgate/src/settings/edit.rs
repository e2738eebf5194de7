//! Changes to the text of a settings file: one entry is set or removed, and every byte outside of it stays: comments, order, placeholders,
//! indentation, line breaks.
//!
//! Pure: text in, text out. The text is cut and joined at the places the parser found and never written anew, so what is not understood is
//! not lost. What cannot be parsed is not changed; the result is parsed once more before it is handed out.

mod gap;
mod insert;
mod json;
mod layout;
mod path;
mod removal;

use std::fmt;
use std::path::Path;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;

use crate::settings::diagnostic::{Diagnostic, SettingsError, Severity};
use crate::settings::edit::insert::Member;
use crate::settings::edit::layout::fresh;
use crate::settings::edit::path::{Walk, walk};
use crate::settings::excerpt::excerpt;
use crate::settings::position::{Places, Position};
use crate::settings::source::{SettingsOrigin, SettingsSource};
use crate::settings::syntax::{self, SyntaxFault};

pub use json::Json;

/// Puts a value at a path of keys. What is there is replaced; what is not is written behind the last member of its object, in the manner of
/// its neighbours, and objects that are missing on the way are made. Of a key that is written twice the one that counts is changed.
///
/// # Errors
/// When the text cannot be parsed, or something on the way is no object.
pub fn set(text: &str, path: &[&str], value: &Json) -> Result<String, EditError> {
    let (mark, text) = without_mark(text);
    let edited = match parse(text)? {
        None => fresh(text, &Json::wrapped(path, value.clone())),
        Some(root) => match walk(text, &root, path)? {
            Walk::Found { steps } => insert::replace(text, &steps, value),
            // A `null` is as good as not written, and has to go.
            Walk::Null { steps, rest } => insert::replace(text, &steps, &Json::wrapped(rest, value.clone())),
            Walk::Missing { steps, object, key, rest } => {
                let value = &Json::wrapped(rest, value.clone());
                insert::insert(text, &steps, object, Member { key, value, is_like_neighbours: rest.is_empty() })
            }
        },
    };
    checked(mark, edited)
}

/// Takes the entry at a path away, with its comma, its line and the comments that clearly belong to it: those on its line and those right
/// above it. A key that is written twice is removed twice. `None` when it is not there.
///
/// # Errors
/// When the text cannot be parsed, or something on the way is no object.
pub fn remove(text: &str, path: &[&str]) -> Result<Option<String>, EditError> {
    let (mark, text) = without_mark(text);
    let Some(root) = parse(text)? else { return Ok(None) };
    let Walk::Found { steps } = walk(text, &root, path)? else { return Ok(None) };
    let Some(step) = steps.last() else { return Ok(None) };
    checked(mark, removal::without(text, step.object, step.name())).map(Some)
}

/// Whether something stands at a path.
///
/// # Errors
/// When the text cannot be parsed, or something on the way is no object.
pub fn has(text: &str, path: &[&str]) -> Result<bool, EditError> {
    let (_, text) = without_mark(text);
    let Some(root) = parse(text)? else { return Ok(false) };
    Ok(matches!(walk(text, &root, path)?, Walk::Found { .. }))
}

/// What stands at a path, the whole text at an empty one; `None` when nothing does. Of a key that is written twice all are there.
///
/// # Errors
/// When the text cannot be parsed, or something on the way is no object.
pub fn get(text: &str, path: &[&str]) -> Result<Option<Json>, EditError> {
    let (_, text) = without_mark(text);
    let Some(root) = parse(text)? else { return Ok(None) };
    let Walk::Found { steps } = walk(text, &root, path)? else { return Ok(None) };
    Ok(match steps.last() {
        None => Some(Json::of_object(&root)),
        Some(step) => step.member().map(|member| Json::of(&member.value)),
    })
}

/// Why a text is not changed: what is wrong with it, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditError(Box<Refusal>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    at: Position,
    message: String,
    hint: Option<&'static str>,
    excerpt: String,
}

impl EditError {
    fn new(text: &str, fault: SyntaxFault) -> Self {
        let places = Places::new(text);
        let at = places.at(fault.offset);
        let excerpt = excerpt(places.line_text(at.line), at);
        Self(Box::new(Refusal { at, message: fault.message, hint: fault.hint, excerpt }))
    }

    /// Where it is.
    #[must_use]
    pub fn at(&self) -> Position {
        self.0.at
    }

    /// The same, about a file.
    #[must_use]
    pub fn in_file(self, path: &Path, source: SettingsSource) -> SettingsError {
        let Refusal { at, message, hint, excerpt } = *self.0;
        let origin = SettingsOrigin { source, path: Some(path.to_owned()), line: Some(at.line) };
        let hint = hint.map(str::to_owned);
        let column = Some(at.column);
        let severity = Severity::Error;
        SettingsError::new(
            Diagnostic { severity, origin, column, server: None, key: None, message, hint },
            Some(excerpt),
        )
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.0.at.line, self.0.at.column, self.0.message)
    }
}

impl std::error::Error for EditError {}

/// Some editors put a mark of three bytes before the text.
fn without_mark(text: &str) -> (&str, &str) {
    const MARK: &str = "\u{feff}";
    text.strip_prefix(MARK).map_or(("", text), |rest| (MARK, rest))
}

/// The object that a text is; `None` when there are at most comments.
fn parse(text: &str) -> Result<Option<Object<'_>>, EditError> {
    match syntax::parse(text).map_err(|fault| EditError::new(text, fault))? {
        None => Ok(None),
        Some(Value::Object(root)) => Ok(Some(root)),
        Some(other) => {
            let offset = other.range().start;
            let message = "expected `{`: the file has to be one object".to_owned();
            Err(EditError::new(text, SyntaxFault { offset, message, hint: Some("put everything between `{` and `}`") }))
        }
    }
}

/// Nothing leaves that could not be changed again.
fn checked(mark: &str, text: String) -> Result<String, EditError> {
    parse(&text)?;
    Ok(if mark.is_empty() { text } else { format!("{mark}{text}") })
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "edit_property_tests.rs"]
mod property_tests;
