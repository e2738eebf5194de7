//! `Test`: what must hold of one argument.

use std::cmp::Ordering;
use std::path::Path;

use regex::Regex;
use serde_json::{Number, Value};

use super::path_text::{self, PathGlob};
use super::pointer::Found;
use crate::filter::{leads_through_process, readings};
use crate::shell::Reach;

/// What must hold of one argument.
#[derive(Clone, Debug)]
pub enum Test {
    /// It is a path in one of these folders, or the folder itself. Relative ones start at the workspace folder.
    Under(Vec<String>),
    /// It is this.
    Equals(Value),
    /// It is one of these.
    OneOf(Vec<Value>),
    /// It is a text in which this is found.
    Matches(Regex),
    /// It is a text of one of these forms.
    Glob(Vec<PathGlob>),
    /// It is a number, and not greater.
    Max(Number),
    /// It is a number, and not smaller.
    Min(Number),
    /// It is given.
    Present,
    /// It is not given.
    Absent,
}

/// How arguments are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    /// Where relative paths start.
    pub(super) folder: &'a Path,
    /// How far it reaches here. Within `not` a permission has to be sure of the contrary, so this changes with each.
    pub(super) reach: Reach,
    /// Whether it stands within an odd number of `not`.
    pub(super) is_negated: bool,
}

impl Reading<'_> {
    /// The same within a `not`.
    pub(super) fn negated(&self) -> Self {
        let reach = match self.reach {
            Reach::Permission => Reach::Restriction,
            Reach::Restriction => Reach::Permission,
        };
        Self { folder: self.folder, reach, is_negated: !self.is_negated }
    }
}

/// Whether all tests hold of what was found: of each for a permission, of one for a restriction. `None` when that cannot be told.
pub(super) fn all_hold(tests: &[Test], found: &Found<'_>, reading: &Reading<'_>) -> Option<bool> {
    if let [Test::Absent] = tests {
        return Some(is_absent(found, reading.reach));
    }
    if let [Test::Present] = tests {
        return Some(is_present(found, reading.reach));
    }
    let of_one = |value: &&Value| all(tests.iter().map(|test| test.holds(value, reading)));
    if found.values.is_empty() {
        return None;
    }
    let each = found.values.iter().map(of_one).chain(found.is_missing_somewhere.then_some(None));
    match reading.reach {
        Reach::Permission => all(each),
        Reach::Restriction => any(each),
    }
}

/// An argument that is null is given or not, as the server likes.
fn is_present(found: &Found<'_>, reach: Reach) -> bool {
    match reach {
        Reach::Permission => {
            let all_given = found.values.iter().all(|value| !value.is_null());
            !found.values.is_empty() && !found.is_missing_somewhere && all_given
        }
        Reach::Restriction => !found.values.is_empty(),
    }
}

fn is_absent(found: &Found<'_>, reach: Reach) -> bool {
    match reach {
        Reach::Permission => found.values.is_empty(),
        Reach::Restriction => found.is_missing_somewhere || found.values.iter().all(|value| value.is_null()),
    }
}

fn all(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    any(truths.map(|truth| truth.map(|truth| !truth))).map(|truth| !truth)
}

fn any(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(false);
    for truth in truths {
        match truth {
            Some(true) => return truth,
            Some(false) => {}
            None => result = None,
        }
    }
    result
}

impl Test {
    /// Whether it holds of a value; `None` when the value is of another kind than the test.
    fn holds(&self, value: &Value, reading: &Reading<'_>) -> Option<bool> {
        let of_itself = match self {
            _ if value.is_null() => None,
            Self::Under(folders) => value.as_str().map(|path| {
                folders.iter().any(|folder| path_text::is_under(path, folder, reading.folder, reading.reach))
            }),
            Self::Glob(globs) => {
                value.as_str().map(|text| globs.iter().any(|glob| glob.matches(text, reading.folder, reading.reach)))
            }
            Self::Matches(regex) => value.as_str().map(|text| matches(regex, text, reading)),
            Self::Equals(expected) => Some(equals(value, expected, reading)),
            Self::OneOf(expected) => Some(expected.iter().any(|expected| equals(value, expected, reading))),
            Self::Max(bound) => compared(value, bound, reading.reach).map(Ordering::is_le),
            Self::Min(bound) => compared(value, bound, reading.reach).map(Ordering::is_ge),
            Self::Present => Some(true),
            Self::Absent => Some(false),
        };
        match value {
            // A list where one thing was expected: a restriction looks at each element as well.
            Value::Array(elements) if reading.reach == Reach::Restriction => {
                any(std::iter::once(of_itself).chain(elements.iter().map(|element| self.holds(element, reading))))
            }
            _ => of_itself,
        }
    }
}

/// A restriction tests the pattern on every reading of a path. A permission also refuses paths with targets that the pattern does not cover.
fn matches(regex: &Regex, text: &str, reading: &Reading<'_>) -> bool {
    match reading.reach {
        Reach::Permission => regex.is_match(text) && !(path_text::is_path_like(text) && misleads(text)),
        Reach::Restriction => {
            regex.is_match(text)
                || path_text::forms(text, reading.folder)
                    .is_none_or(|forms| forms.iter().any(|form| regex.is_match(form)))
        }
    }
}

/// Whether a reading of a path climbs or leads through a process.
fn misleads(path: &str) -> bool {
    let climbs = |text: &String| text.split(['/', '\\']).any(|part| part == "..");
    readings(path).is_none_or(|readings| readings.iter().any(|text| climbs(text) || leads_through_process(text)))
}

/// A restriction compares texts without case and outer spaces, as numbers and as paths.
fn equals(value: &Value, expected: &Value, reading: &Reading<'_>) -> bool {
    match (value, expected) {
        (Value::Number(value), Value::Number(expected)) => compare(value, expected) == Some(Ordering::Equal),
        (Value::Array(values), Value::Array(expected)) => {
            values.len() == expected.len()
                && values.iter().zip(expected).all(|(one, other)| equals(one, other, reading))
        }
        (Value::Object(values), Value::Object(expected)) => {
            values.len() == expected.len()
                && values.iter().all(|(key, one)| expected.get(key).is_some_and(|other| equals(one, other, reading)))
        }
        _ if value == expected => true,
        _ => reading.reach == Reach::Restriction && may_be_meant(value, expected, reading.folder),
    }
}

fn may_be_meant(value: &Value, expected: &Value, folder: &Path) -> bool {
    let (Some(said), Some(wanted)) = (spelled(value), spelled(expected)) else { return false };
    if said == wanted || number(&said).is_some_and(|said| number(&wanted) == Some(said)) {
        return true;
    }
    let (Value::String(text), Value::String(wanted_text)) = (value, expected) else { return false };
    let Some(texts) = path_text::texts_that_could_be_meant(text) else { return true };
    texts.iter().any(|text| text.trim().to_lowercase() == wanted)
        || ((path_text::is_path_like(text) || path_text::is_path_like(wanted_text))
            && path_text::may_be_same(text, wanted_text, folder))
}

fn spelled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_lowercase()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The number that a text spells, in any notation that programs read.
fn number(text: &str) -> Option<f64> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    let plain = text.replace('_', "");
    let digits = plain.to_ascii_lowercase();
    let other_base =
        |prefix: &str, base: u32| digits.strip_prefix(prefix).and_then(|rest| u64::from_str_radix(rest, base).ok());
    #[expect(clippy::cast_precision_loss, reason = "it is compared as programs compare it")]
    let of_base = [("0x", 16), ("0o", 8), ("0b", 2)]
        .iter()
        .find_map(|(prefix, base)| other_base(prefix, *base))
        .map(|number| number as f64);
    of_base.or_else(|| digits.parse().ok()).filter(|number: &f64| !number.is_nan())
}

fn compared(value: &Value, bound: &Number, reach: Reach) -> Option<Ordering> {
    match value {
        Value::Number(number) => compare(number, bound),
        Value::String(text) if reach == Reach::Restriction => number(text)?.partial_cmp(&bound.as_f64()?),
        _ => None,
    }
}

fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (one.as_i128(), other.as_i128()) {
        return Some(one.cmp(&other));
    }
    one.as_f64()?.partial_cmp(&other.as_f64()?)
}
