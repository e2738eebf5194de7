//! YAML as a tree of values with their places.
//!
//! Aliases are followed, and what they multiply is counted: a small file must not become a large tree.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, Visitor};

use crate::limits::{SETTINGS_DEPTH_MAX, YAML_BRACKETS_MAX, YAML_FILE_BYTES_MAX, YAML_VALUES_MAX};
use crate::settings::raw::{RawMember, RawValue};
use crate::settings::tree::{BrokenText, Places};
use crate::settings::{Located, Position};

const START: Position = Position { line: 1, column: 1 };

/// Reads one YAML document. `None` when nothing is written.
pub(crate) fn read_tree(text: &str) -> Result<Option<Located<RawValue>>, BrokenText> {
    survey(text)?;
    let budget = Budget { text, places: Places::new(text), values: Cell::new(0), bytes: Cell::new(0) };
    let seed = Seed { budget: &budget, depth: 0, at: START };
    match seed.deserialize(yaml_serde::Deserializer::from_str(text)) {
        Ok(tree) => Ok(Some(tree).filter(|tree| !matches!(tree.value, RawValue::Null))),
        Err(error) => Err(explain(text, &error)),
    }
}

/// What the parser would take too long for, lets pass or explains badly.
fn survey(text: &str) -> Result<(), BrokenText> {
    if text.len() > YAML_FILE_BYTES_MAX {
        let message = format!("larger than {} KiB, the most a YAML file may have", YAML_FILE_BYTES_MAX >> 10);
        return Err(BrokenText::new(text, START, message, Some("check that this is the file you mean")));
    }
    let mut brackets = text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'[' | b'{'));
    if let Some((offset, _)) = brackets.nth(YAML_BRACKETS_MAX) {
        let message = format!("more than {YAML_BRACKETS_MAX} times `[` or `{{`");
        return Err(BrokenText::new(text, Places::new(text).at(offset), message, Some("write lists with `-`")));
    }
    let is_odd = |byte: u8| matches!(byte, 0..=8 | 11..=12 | 14..=31 | 127);
    let Some((offset, byte)) = text.bytes().enumerate().find(|(_, byte)| is_odd(*byte)) else { return Ok(()) };
    let message = format!("the control character U+{byte:04X} has no place in YAML");
    Err(BrokenText::new(text, Places::new(text).at(offset), message, Some("remove it")))
}

fn too_deep(text: &str, at: Position) -> BrokenText {
    let message = format!("more than {SETTINGS_DEPTH_MAX} levels");
    BrokenText::new(text, at, message, Some("no setting is nested that deep"))
}

fn explain(text: &str, error: &yaml_serde::Error) -> BrokenText {
    let at = error.location().map_or(START, |place| Position { line: place.line(), column: place.column() });
    let message = error.to_string();
    if message.starts_with("recursion limit exceeded") {
        return too_deep(text, at);
    }
    let message = if message.starts_with("repetition limit exceeded") { TOO_MUCH } else { &message };
    // The place is told apart, in one form for all files; the way to it may be long.
    let message = message.split(" at line ").next().unwrap_or_default();
    let message = message.rsplit(": ").next().unwrap_or_default();
    BrokenText::new(text, at, message, Some("YAML wants the same indentation, in blanks, for all keys of a mapping"))
}

const TOO_MUCH: &str = "aliases (`*name`) make more of this file than a settings file may have";

/// What has been read of one text.
struct Budget<'t> {
    text: &'t str,
    places: Places<'t>,
    values: Cell<usize>,
    bytes: Cell<usize>,
}

impl Budget<'_> {
    fn take<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.values.set(self.values.get() + 1);
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        if self.values.get() > YAML_VALUES_MAX || self.bytes.get() > YAML_FILE_BYTES_MAX {
            return Err(E::custom(TOO_MUCH));
        }
        Ok(())
    }

    /// Where a piece of the text stands in it.
    fn place(&self, piece: &str) -> Option<Position> {
        let offset = piece.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        (offset + piece.len() <= self.text.len()).then(|| self.places.at(offset))
    }
}

/// Reads one value. `at` is the nearest place known before it.
#[derive(Clone, Copy)]
struct Seed<'b, 't> {
    budget: &'b Budget<'t>,
    depth: usize,
    at: Position,
}

impl Seed<'_, '_> {
    fn value<E: serde::de::Error>(self, value: RawValue) -> Result<Located<RawValue>, E> {
        self.budget.take(0)?;
        Ok(Located { value, at: self.at })
    }

    fn text<E: serde::de::Error>(self, text: &str, at: Position) -> Result<Located<RawValue>, E> {
        self.budget.take(text.len())?;
        Ok(Located { value: RawValue::Text(text.to_owned()), at })
    }

    fn below<E: serde::de::Error>(self, at: Position) -> Result<Self, E> {
        if self.depth >= SETTINGS_DEPTH_MAX {
            return Err(E::custom(format!("more than {SETTINGS_DEPTH_MAX} levels")));
        }
        Ok(Self { depth: self.depth + 1, at, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Located<RawValue>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Located<RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<Self::Value, E> {
        self.value(RawValue::Bool(truth))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
        self.value(RawValue::Number(number.to_string()))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
        self.value(RawValue::Number(number.to_string()))
    }

    fn visit_i128<E: serde::de::Error>(self, number: i128) -> Result<Self::Value, E> {
        self.value(RawValue::Number(number.to_string()))
    }

    fn visit_u128<E: serde::de::Error>(self, number: u128) -> Result<Self::Value, E> {
        self.value(RawValue::Number(number.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Self::Value, E> {
        self.value(RawValue::Number(number.to_string()))
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        self.value(RawValue::Null)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        self.value(RawValue::Null)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        self.text(text, self.at)
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        self.text(text, self.budget.place(text).unwrap_or(self.at))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let below = self.below(self.at)?;
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(below)? {
            list.push(element);
        }
        self.value(RawValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = entries.next_key_seed(self.below(self.at)?)? {
            let key = Located { at: key.at, value: key_text(key.value).ok_or_else(|| A::Error::custom(ODD_KEY))? };
            let value = entries.next_value_seed(self.below(key.at)?)?;
            members.push(RawMember { key, value });
        }
        self.value(RawValue::Object(members))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _tagged: A) -> Result<Self::Value, A::Error> {
        Err(A::Error::custom("tags (`!name`) have no meaning in a settings file"))
    }
}

const ODD_KEY: &str = "a key is a text";

fn key_text(key: RawValue) -> Option<String> {
    match key {
        RawValue::Text(text) | RawValue::Number(text) => Some(text),
        RawValue::Bool(truth) => Some(truth.to_string()),
        RawValue::Null | RawValue::List(_) | RawValue::Object(_) => None,
    }
}
