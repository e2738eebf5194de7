//! What stands in an object of a file: its members, each once, and values in words.

use std::collections::HashMap;

use crate::formats::found::{NoteKind, Notes};
use crate::settings::Located;
use crate::settings::diagnostic::KeyPath;
use crate::settings::raw::{RawMember, RawValue};

/// The members of an object, each key once: of two with the same key the last counts, and the others are noted. `None` when it is no object.
pub(crate) fn members<'v>(
    value: &'v Located<RawValue>,
    key: Option<&KeyPath<'_>>,
    notes: &mut Notes,
) -> Option<Vec<&'v RawMember>> {
    let RawValue::Object(members) = &value.value else { return None };
    let last: HashMap<&str, usize> =
        members.iter().enumerate().map(|(index, member)| (member.key.value.as_str(), index)).collect();
    let mut kept = Vec::with_capacity(members.len());
    for (index, member) in members.iter().enumerate() {
        let name = member.key.value.as_str();
        match last.get(name).and_then(|last| members.get(*last)).filter(|_| last.get(name) != Some(&index)) {
            None => kept.push(member),
            Some(other) => {
                let message = format!("written twice; the one in line {} counts", other.key.at.line);
                let key = key.map_or(KeyPath::top(name), |key| key.key(name));
                notes.add(NoteKind::Lost, key, member.key.at, message);
            }
        }
    }
    Some(kept)
}

/// A text, or a number or boolean that was surely meant as one.
pub(crate) fn text_of(value: &Located<RawValue>) -> Option<Located<String>> {
    let text = match &value.value {
        RawValue::Text(text) | RawValue::Number(text) => text.clone(),
        RawValue::Bool(truth) => truth.to_string(),
        RawValue::Null | RawValue::List(_) | RawValue::Object(_) => return None,
    };
    Some(Located { value: text, at: value.at })
}

/// What a value is, in words.
pub(crate) fn kind(value: &RawValue) -> &'static str {
    match value {
        RawValue::Null => "null",
        RawValue::Bool(_) => "a boolean",
        RawValue::Number(_) => "a number",
        RawValue::Text(_) => "a string",
        RawValue::List(_) => "a list",
        RawValue::Object(_) => "an object",
    }
}
