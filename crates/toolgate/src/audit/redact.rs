//! Arguments as they may be kept: secrets covered, long texts cut with their length and hash, no more values than anybody reads.
//!
//! A value is secret by the name it stands behind, by its schema (`format: password`, `writeOnly`), or by its form. Of a longer text only the
//! part that is secret is covered, so that a command line stays one.

mod command_words;
mod named_value;
mod secret_schema;

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolgate_wire::RawJson;

use self::secret_schema::SecretSchema;
use super::chain::hash_of;
use crate::canonical_json;
use crate::limits::{
    AUDIT_ARGUMENT_VALUES_MAX, AUDIT_ARGUMENTS_BYTES_MAX, AUDIT_CUT_TEXT_CHARS, AUDIT_FEW_ARGUMENT_VALUES_MAX,
    AUDIT_FULL_ARGUMENTS_BYTES_MAX, AUDIT_MESSAGE_CHARS_MAX, AUDIT_NAME_CHARS_MAX, AUDIT_SEARCHED_CHARS_MAX,
    AUDIT_SEARCHED_CHARS_TOTAL_MAX, AUDIT_TEXT_CHARS_MAX, AUDIT_TEXT_DEPTH_MAX, COVERED_TEXT_BYTES_MAX,
    COVERED_TEXT_START_BYTES,
};
use crate::servers::secret_name;
use crate::servers::secret_text::{self, COVERED};

/// Stands for a text behind so much text that nothing of it would be kept.
const NOT_KEPT: &str = "[not kept]";

/// Arguments this much shorter than they may be are not measured once they are covered: a value of two bytes becomes one of ten.
const SHORT_PART: usize = 8;

/// Which arguments are kept as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgumentsKept {
    /// Those that are neither secret nor long.
    #[default]
    Redacted,
    /// All, up to a size that no call needs.
    Full,
}

impl ArgumentsKept {
    /// What `audit.arguments` in the settings calls `word`.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "redacted" => Some(Self::Redacted),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// Arguments as they are kept.
#[derive(Debug, PartialEq)]
pub(super) struct Kept {
    /// What is kept of them.
    pub(super) value: Value,
    /// The hash of all of them, secrets covered, as canonical JSON: a short secret could be guessed from it otherwise.
    pub(super) hash: String,
    /// How many values were covered or cut; none, when these are the arguments themselves.
    pub(super) covered: usize,
}

/// Whether something among arguments is secret, as far as that can be told.
pub(crate) fn has_secrets(arguments: &RawJson, schema: Option<&RawJson>) -> bool {
    let schema = SecretSchema::of(schema);
    let mut cover = Cover { covered: 0, chars_left: AUDIT_SEARCHED_CHARS_TOTAL_MAX, depth: 0 };
    match arguments.read() {
        Ok(mut value) => cover.value(&mut value, &schema.top()),
        // What cannot be looked into is not called harmless.
        Err(_) => return true,
    }
    cover.covered > 0
}

/// The arguments of a call as they may be kept.
pub(super) fn arguments(arguments: &RawJson, schema: Option<&RawJson>, keep: ArgumentsKept) -> Kept {
    let mut value: Value = match arguments.read() {
        Ok(value) => value,
        // Nested deeper than anybody reads: it is kept as the text it is.
        Err(_) => Value::from(arguments.as_str()),
    };
    let mut covered = 0;
    if keep == ArgumentsKept::Redacted {
        let schema = SecretSchema::of(schema);
        let mut cover = Cover { covered: 0, chars_left: AUDIT_SEARCHED_CHARS_TOTAL_MAX, depth: 0 };
        cover.value(&mut value, &schema.top());
        covered = cover.covered;
    }
    let hash = format!("sha256:{}", hash_of(canonical_json::text(&value).as_bytes()));
    let bytes_max = match keep {
        ArgumentsKept::Redacted => AUDIT_ARGUMENTS_BYTES_MAX,
        ArgumentsKept::Full if written_bytes(&value) <= AUDIT_FULL_ARGUMENTS_BYTES_MAX => {
            return Kept { value, hash, covered };
        }
        ArgumentsKept::Full => AUDIT_FULL_ARGUMENTS_BYTES_MAX,
    };
    // What came in few bytes has few values, and stays far below all limits whatever it is covered with.
    let is_shorter_than = |most: usize| arguments.as_bytes().len() <= most / SHORT_PART;
    if is_shorter_than(AUDIT_ARGUMENT_VALUES_MAX.min(AUDIT_TEXT_CHARS_MAX)) {
        return Kept { value, hash, covered };
    }
    let mut cut = Cut { values: AUDIT_ARGUMENT_VALUES_MAX, text_chars: AUDIT_TEXT_CHARS_MAX, cut: 0 };
    cut.value(&mut value);
    covered += cut.cut;
    if !is_shorter_than(bytes_max) && written_bytes(&value) > bytes_max {
        let mut cut = Cut { values: AUDIT_FEW_ARGUMENT_VALUES_MAX, text_chars: AUDIT_CUT_TEXT_CHARS, cut: 0 };
        cut.value(&mut value);
        covered += cut.cut;
    }
    Kept { value, hash, covered }
}

/// A message of somebody else: secrets in it covered, and cut.
pub(super) fn message(text: &str) -> String {
    let start: String = text.chars().take(AUDIT_SEARCHED_CHARS_MAX).collect();
    shortened(&covered_text(&start), AUDIT_MESSAGE_CHARS_MAX).into_owned()
}

/// A text with its secrets masked, including those in JSON. Every place that shows text from outside
/// uses this redactor.
#[must_use]
pub fn covered_text(text: &str) -> Cow<'_, str> {
    if text.len() > COVERED_TEXT_BYTES_MAX {
        return Cow::Owned(beginning_covered(text));
    }
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '['])
        && let Ok(mut value) = serde_json::from_str::<Value>(trimmed)
    {
        let mut cover = Cover { covered: 0, chars_left: AUDIT_SEARCHED_CHARS_TOTAL_MAX, depth: 0 };
        cover.value(&mut value, &SecretSchema::of(None).top());
        return if cover.covered > 0 { Cow::Owned(value.to_string()) } else { Cow::Borrowed(text) };
    }
    secret_text::covered(text)
}

/// The beginning of a text that is too long to be searched, up to the end of a word: half a secret is not recognised. The length of the rest is
/// uses this redactor.
fn beginning_covered(text: &str) -> String {
    let most = text.floor_char_boundary(COVERED_TEXT_START_BYTES);
    let start = text.get(..most).unwrap_or_default();
    let end = start.rfind([' ', ',', '"', '\n']).unwrap_or_default();
    let clean = secret_text::covered(start.get(..end).unwrap_or_default());
    format!("{clean}… [{} bytes more]", text.len() - end)
}

/// A name, cut.
pub(super) fn name(text: &str) -> Cow<'_, str> {
    shortened(text, AUDIT_NAME_CHARS_MAX)
}

fn shortened(text: &str, chars_max: usize) -> Cow<'_, str> {
    let cut = if text.len() <= chars_max { None } else { text.char_indices().nth(chars_max) };
    match cut {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

fn written_bytes(value: &Value) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

/// Covers what is secret.
struct Cover {
    /// What was covered.
    covered: usize,
    /// How much may still be searched. More is never kept.
    chars_left: usize,
    /// Nesting depth of JSON inside texts.
    depth: usize,
}

impl Cover {
    /// Covers what is secret in a value that has these schemas.
    fn value(&mut self, value: &mut Value, schemas: &secret_schema::Schemas<'_>) {
        match value {
            Value::Null | Value::Bool(_) => (),
            _ if schemas.say_secret() => self.whole(value, COVERED),
            Value::Number(_) => (),
            Value::String(_) if self.chars_left == 0 => self.whole(value, NOT_KEPT),
            Value::String(text) => self.text(text),
            Value::Array(elements) => {
                let schemas = schemas.elements();
                elements.iter_mut().for_each(|element| self.value(element, &schemas));
                self.covered += command_words::cover(elements);
            }
            Value::Object(members) => {
                self.covered += named_value::cover(members);
                self.covered += command_words::cover_members(members);
                for (key, value) in members.iter_mut() {
                    let is_plain = matches!(value, Value::Null | Value::Bool(_));
                    if !is_plain && secret_name::names_a_secret(key) {
                        self.whole(value, COVERED);
                    } else {
                        self.value(value, &schemas.member(key));
                    }
                }
            }
        }
    }

    fn whole(&mut self, value: &mut Value, with: &str) {
        *value = Value::from(with);
        self.covered += 1;
    }

    /// Only what may be kept of a long text is searched.
    fn text(&mut self, text: &mut String) {
        if self.json(text) {
            return;
        }
        let is_long = text.len() > AUDIT_SEARCHED_CHARS_MAX;
        let cut = if is_long { text.char_indices().nth(AUDIT_SEARCHED_CHARS_MAX) } else { None };
        let end = cut.map_or(text.len(), |(end, _)| end);
        self.chars_left = self.chars_left.saturating_sub(end);
        let start = text.get(..end).unwrap_or_default();
        let clean = secret_text::covered(start);
        if clean != start {
            let rest = text.get(end..).unwrap_or_default();
            *text = format!("{clean}{rest}");
            self.covered += 1;
        }
    }
}

impl Cover {
    /// Masks secrets in a text that is JSON. Returns whether there were any.
    fn json(&mut self, text: &mut String) -> bool {
        let trimmed = text.trim();
        let is_json =
            matches!((trimmed.chars().next(), trimmed.chars().last()), (Some('{'), Some('}')) | (Some('['), Some(']')));
        if !is_json || self.depth >= AUDIT_TEXT_DEPTH_MAX || text.len() > AUDIT_SEARCHED_CHARS_MAX {
            return false;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(trimmed) else { return false };
        let mut inner = Self { covered: 0, chars_left: self.chars_left, depth: self.depth + 1 };
        inner.value(&mut value, &SecretSchema::of(None).top());
        self.chars_left = inner.chars_left;
        if inner.covered > 0 {
            *text = value.to_string();
            self.covered += inner.covered;
        }
        inner.covered > 0
    }
}

/// Cuts what is long.
struct Cut {
    /// How many values may still be kept.
    values: usize,
    /// The longest text that is kept whole.
    text_chars: usize,
    /// What was cut.
    cut: usize,
}

impl Cut {
    fn value(&mut self, value: &mut Value) {
        self.values = self.values.saturating_sub(1);
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => (),
            Value::String(text) => self.text(text),
            Value::Array(elements) => {
                let room = elements.len().min(self.values);
                let rest = elements.split_off(room);
                elements.iter_mut().for_each(|element| self.value(element));
                if !rest.is_empty() {
                    self.cut += 1;
                    elements.push(left_out(rest.len(), &Value::Array(rest)));
                }
            }
            Value::Object(members) => self.members(members),
        }
    }

    fn members(&mut self, members: &mut Map<String, Value>) {
        let mut kept = Map::new();
        let mut rest = Map::new();
        let room = self.values;
        for (nth, (key, mut value)) in std::mem::take(members).into_iter().enumerate() {
            if nth >= room {
                rest.insert(key, value);
                continue;
            }
            self.value(&mut value);
            let mut name = key;
            self.text(&mut name);
            kept.insert(name, value);
        }
        if !rest.is_empty() {
            self.cut += 1;
            kept.insert("…".to_owned(), left_out(rest.len(), &Value::Object(rest)));
        }
        *members = kept;
    }

    fn text(&mut self, text: &mut String) {
        if text.len() <= self.text_chars || text.char_indices().nth(self.text_chars).is_none() {
            return;
        }
        self.cut += 1;
        let start = shortened(text, AUDIT_CUT_TEXT_CHARS);
        *text = format!("{start} [{} bytes, sha256:{}]", text.len(), hash_of(text.as_bytes()));
    }
}

/// Stands for what was left out.
fn left_out(count: usize, rest: &Value) -> Value {
    Value::from(format!("[{count} more, sha256:{}]", hash_of(canonical_json::text(rest).as_bytes())))
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "redact_corpus_tests.rs"]
mod corpus;

#[cfg(test)]
#[path = "redact_more_forms.rs"]
mod more_forms;
