//! A value in place of another, and a member where there was none.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;

use crate::settings::edit::gap::{Kind, Piece, pieces};
use crate::settings::edit::json::{Json, Manner, member_text, value_text};
use crate::settings::edit::layout::{Layout, indent_of_line, layout, line_end, unit};
use crate::settings::edit::path::Step;

/// The text with another value at the end of the way.
pub(super) fn replace(text: &str, steps: &[Step<'_, '_>], value: &Json) -> String {
    let Some((step, member)) = steps.last().and_then(|step| Some((step, step.member()?))) else {
        return text.to_owned();
    };
    let old = member.value.range();
    let manner = match layout(text, step) {
        Layout::Beside { blank } => Manner::OneLine { blank },
        Layout::OwnLine { .. } if is_filled_line(text, &member.value) => {
            Manner::OneLine { blank: blank_in(text, &member.value) }
        }
        Layout::OwnLine { indent } => {
            Manner::Lines { eol: line_end(text, member.range.start), indent, unit: unit(text, steps, None) }
        }
    };
    splice(text, &[(old.start, old.end, &value_text(value, manner))])
}

/// A member to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a Json,
    /// Whether it is one of many of its kind, such as servers, and looks like the others.
    pub(super) is_like_neighbours: bool,
}

/// The text with one more member at the end of an object.
pub(super) fn insert(text: &str, steps: &[Step<'_, '_>], object: &Object<'_>, member: Member<'_>) -> String {
    match object.properties.len().checked_sub(1) {
        Some(last) => insert_behind(text, steps, Step { object, index: last }, member),
        None => insert_alone(text, steps, object, member),
    }
}

/// Behind the last member, and behind the comments on its line, which are about that one. Comments on further lines stay below: they
/// would seem to be about the new one otherwise.
fn insert_behind(text: &str, steps: &[Step<'_, '_>], last: Step<'_, '_>, new: Member<'_>) -> String {
    let Member { key, value, is_like_neighbours } = new;
    let Some(before) = last.member() else { return text.to_owned() };
    let object = last.object;
    let gap = pieces(text, before.range.end, object.range.end.saturating_sub(1));
    let comma = gap.iter().position(|piece| piece.kind == Kind::Comma);
    let (from, after) = match comma.and_then(|index| Some((index, gap.get(index)?))) {
        Some((index, comma)) => (comma.end, gap.get(index + 1..).unwrap_or_default()),
        None => (before.range.end, gap.as_slice()),
    };
    let line = RestOfLine::of(from, after);
    let deeper;
    let unit = unit(text, steps, Some(object));
    let indent = match layout(text, &last) {
        Layout::OwnLine { indent } => Some(indent),
        // Nothing can stand behind such a comment on its line.
        Layout::Beside { .. } if line.has_line_comment => {
            deeper = format!("{}{unit}", indent_of_line(text, object.range.start));
            Some(deeper.as_str())
        }
        Layout::Beside { .. } => None,
    };
    let at_end = if comma.is_some() { "," } else { "" };
    let Some(indent) = indent else {
        let blank = blank_after_colon(text, &last);
        let member = member_text(key, value, Manner::OneLine { blank });
        let between = if comma.is_some() { "" } else { "," };
        return splice(text, &[(line.end, line.end, &format!("{between}{blank}{member}{at_end}"))]);
    };
    let eol = line_end(text, before.range.start);
    let manner = match neighbour_on_one_line(text, object) {
        Some(neighbour) if is_like_neighbours && matches!(value, Json::Object(_)) => {
            Manner::OneLine { blank: blank_in(text, neighbour) }
        }
        _ => Manner::Lines { eol, indent, unit },
    };
    let member = format!("{eol}{indent}{}{at_end}", with_blank_after_colon(key, value, manner));
    if comma.is_some() {
        return splice(text, &[(line.end, line.end, &member)]);
    }
    splice(text, &[(from, from, ","), (line.end, line.end, &member)])
}

/// Into an object without members. Comments in it stay below, except those on the line of its brace.
fn insert_alone(text: &str, steps: &[Step<'_, '_>], object: &Object<'_>, new: Member<'_>) -> String {
    let Member { key, value, .. } = new;
    let (start, end) = (object.range.start + 1, object.range.end.saturating_sub(1));
    let gap = pieces(text, start, end);
    let line = RestOfLine::of(start, &gap);
    let is_commented = gap.iter().any(|piece| piece.kind.is_comment());
    let has_break = line.has_line_comment || gap.iter().any(|piece| piece.kind == Kind::Break);
    let beside = match steps.last().map(|step| layout(text, step)) {
        Some(Layout::Beside { blank }) => Some(blank),
        Some(Layout::OwnLine { .. }) | None if is_commented => Some(" "),
        Some(Layout::OwnLine { .. }) | None => None,
    };
    if let Some(blank) = beside.filter(|_| !has_break) {
        let member = member_text(key, value, Manner::OneLine { blank });
        return if is_commented {
            splice(text, &[(line.end, line.end, &format!(" {member}"))])
        } else {
            splice(text, &[(start, end, &member)])
        };
    }
    let eol = line_end(text, object.range.start);
    let outer = indent_of_line(text, object.range.start);
    let unit = unit(text, steps, None);
    let indent = format!("{outer}{unit}");
    let member = member_text(key, value, Manner::Lines { eol, indent: &indent, unit });
    if is_commented {
        splice(text, &[(line.end, line.end, &format!("{eol}{indent}{member}"))])
    } else {
        splice(text, &[(start, end, &format!("{eol}{indent}{member}{eol}{outer}"))])
    }
}

/// What stands on the rest of a line: comments, behind which there may be room.
struct RestOfLine {
    /// Behind the last of the comments, or where the line was entered.
    end: usize,
    has_line_comment: bool,
}

impl RestOfLine {
    fn of(from: usize, after: &[Piece]) -> Self {
        let on_line = after.iter().take_while(|piece| !matches!(piece.kind, Kind::Break | Kind::Comma));
        let comments = on_line.filter(|piece| piece.kind.is_comment());
        let start = Self { end: from, has_line_comment: false };
        comments.fold(start, |line, comment| Self {
            end: comment.end,
            has_line_comment: line.has_line_comment || comment.kind == Kind::LineComment,
        })
    }
}

/// A member on one line within lines keeps the blank behind its own colon.
fn with_blank_after_colon(key: &str, value: &Json, manner: Manner<'_>) -> String {
    match manner {
        Manner::Lines { .. } => member_text(key, value, manner),
        Manner::OneLine { .. } => {
            let key = value_text(&Json::text(key), manner);
            format!("{key}: {}", value_text(value, manner))
        }
    }
}

/// The last of the members that are objects, if it is written on one line.
fn neighbour_on_one_line<'v, 't>(text: &str, object: &'v Object<'t>) -> Option<&'v Value<'t>> {
    let objects = object.properties.iter().map(|member| &member.value);
    let mut filled = objects.filter(|value| matches!(value, Value::Object(object) if !object.properties.is_empty()));
    filled.next_back().filter(|value| is_filled_line(text, value))
}

/// Whether a value is an object with something in it, all on one line.
fn is_filled_line(text: &str, value: &Value<'_>) -> bool {
    let Value::Object(object) = value else { return false };
    let range = object.range;
    !object.properties.is_empty() && text.get(range.start..range.end).is_some_and(|text| !text.contains('\n'))
}

/// What stands after the colons in an object.
fn blank_in(text: &str, value: &Value<'_>) -> &'static str {
    match value {
        Value::Object(object) => blank_after_colon(text, &Step { object, index: 0 }),
        Value::Array(_) | Value::StringLit(_) | Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => {
            " "
        }
    }
}

fn blank_after_colon(text: &str, step: &Step<'_, '_>) -> &'static str {
    let Some(member) = step.member() else { return " " };
    let colon = text.get(member.name.range().end..member.value.range().start);
    if colon == Some(":") { "" } else { " " }
}

/// The text with parts of it replaced, which are given in order.
fn splice(text: &str, parts: &[(usize, usize, &str)]) -> String {
    let mut out = String::with_capacity(text.len() + parts.iter().map(|(.., new)| new.len()).sum::<usize>());
    let mut from = 0;
    for (start, end, new) in parts {
        out.push_str(text.get(from..*start).unwrap_or_default());
        out.push_str(new);
        from = *end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
