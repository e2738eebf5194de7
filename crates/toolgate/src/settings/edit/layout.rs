//! How the neighbourhood is laid out: line breaks, indentation, members on one line or on lines of their own.

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged as _;

use crate::settings::edit::json::{Json, Manner, value_text};
use crate::settings::edit::path::Step;

/// One more level, where nothing else is to be seen.
const UNIT: &str = "  ";

/// How a member stands in its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout<'t> {
    /// On a line with what comes before it.
    Beside {
        /// What stands after `:` and `,`.
        blank: &'static str,
    },
    /// At the start of a line of its own.
    OwnLine {
        /// What stands before it.
        indent: &'t str,
    },
}

/// How a member stands in its object.
pub(super) fn layout<'t>(text: &'t str, step: &Step<'_, '_>) -> Layout<'t> {
    let Some(member) = step.member() else { return Layout::Beside { blank: " " } };
    let before = line_before(text, member.range.start);
    if has_line_break_before(text, member.range.start) && before.trim().is_empty() {
        return Layout::OwnLine { indent: before };
    }
    let colon = text.get(member.name.range().end..member.value.range().start).unwrap_or_default();
    Layout::Beside { blank: if colon == ":" { "" } else { " " } }
}

/// The end of the lines around an offset.
pub(super) fn line_end(text: &str, offset: usize) -> &'static str {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let is_crlf = match (before.rfind('\n'), after.find('\n')) {
        (Some(at), _) => before.get(..at).is_some_and(|line| line.ends_with('\r')),
        (None, Some(at)) => {
            after.get(..at).is_some_and(|line| line.ends_with('\r')) || (at == 0 && before.ends_with('\r'))
        }
        (None, None) => false,
    };
    if is_crlf { "\r\n" } else { "\n" }
}

/// What the line of an offset is indented by.
pub(super) fn indent_of_line(text: &str, offset: usize) -> &str {
    let before = line_before(text, offset);
    let end = before.find(|letter: char| !letter.is_whitespace()).unwrap_or(before.len());
    before.get(..end).unwrap_or_default()
}

/// By how much a level is indented: as in the object itself, else as in the nearest one around it.
pub(super) fn unit<'t>(text: &'t str, steps: &[Step<'_, '_>], object: Option<&Object<'_>>) -> &'t str {
    let around = steps.iter().map(|step| step.object);
    let nearest_first = object.into_iter().chain(around.rev());
    nearest_first.into_iter().find_map(|object| unit_in(text, object)).unwrap_or(UNIT)
}

fn unit_in<'t>(text: &'t str, object: &Object<'_>) -> Option<&'t str> {
    let last = object.properties.len().checked_sub(1)?;
    let Layout::OwnLine { indent } = layout(text, &Step { object, index: last }) else { return None };
    let outer = indent_of_line(text, object.range.start);
    indent.strip_prefix(outer).filter(|unit| !unit.is_empty())
}

/// The text of a line before an offset in it.
fn line_before(text: &str, offset: usize) -> &str {
    let before = text.get(..offset).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

fn has_line_break_before(text: &str, offset: usize) -> bool {
    text.get(..offset).is_some_and(|before| before.contains('\n'))
}

/// A text in which nothing stands yet, or only comments, with a value.
pub(super) fn fresh(text: &str, value: &Json) -> String {
    let eol = line_end(text, text.len());
    let value = value_text(value, Manner::Lines { eol, indent: "", unit: UNIT });
    if text.trim().is_empty() {
        return format!("{value}{eol}");
    }
    let between = if text.ends_with('\n') { "" } else { eol };
    format!("{text}{between}{value}{eol}")
}
