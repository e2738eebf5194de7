//! `Json`: a value to be written, its members in the order they are given.

use std::fmt;

use jsonc_parser::ast::{Object, Value};

/// A value to be written into a settings file.
#[derive(Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(serde_json::Number),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// An object, in this order.
    Object(Vec<(String, Self)>),
}

impl Json {
    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of strings.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// The value of a key; of one that is written twice the last.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().rfind(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// What was read.
    pub(super) fn of(tree: &Value<'_>) -> Self {
        match tree {
            Value::NullKeyword(_) => Self::Null,
            Value::BooleanLit(truth) => Self::Bool(truth.value),
            // The parser takes decimal numbers only, and those are numbers to everybody.
            Value::NumberLit(number) => number.value.parse().map_or(Self::Null, Self::Number),
            Value::StringLit(text) => Self::text(text.value.clone()),
            Value::Array(list) => Self::List(list.elements.iter().map(Self::of).collect()),
            Value::Object(object) => Self::of_object(object),
        }
    }

    /// What was read.
    pub(super) fn of_object(object: &Object<'_>) -> Self {
        let members = object.properties.iter();
        Self::Object(members.map(|member| (member.name.as_str().to_owned(), Self::of(&member.value))).collect())
    }

    /// The value inside objects of one member each.
    pub(super) fn wrapped(keys: &[&str], value: Self) -> Self {
        keys.iter().rev().fold(value, |inner, key| Self::Object(vec![((*key).to_owned(), inner)]))
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

/// Members come in the order of `serde_json`, which is that of the alphabet.
impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(truth),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(list) => Self::List(list.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

impl fmt::Debug for Json {
    /// Values may be secret; only what kind of value it is is shown, and the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Number(_) => f.write_str("a number"),
            Self::Text(_) => f.write_str("a string"),
            Self::List(list) => f.debug_list().entries(list).finish(),
            Self::Object(members) => f.debug_map().entries(members.iter().map(|(key, value)| (key, value))).finish(),
        }
    }
}

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Manner<'s> {
    /// On one line.
    OneLine {
        /// What stands after `:` and `,`: a blank or nothing.
        blank: &'static str,
    },
    /// A line for every member and element.
    Lines {
        /// The end of a line.
        eol: &'static str,
        /// What the line the value starts on is indented by.
        indent: &'s str,
        /// By how much further the next level is.
        unit: &'s str,
    },
}

/// A member of an object as text.
pub(super) fn member_text(key: &str, value: &Json, manner: Manner<'_>) -> String {
    let mut out = String::new();
    write_member(&mut out, key, value, Depth { manner, level: 0 });
    out
}

/// A value as text.
pub(super) fn value_text(value: &Json, manner: Manner<'_>) -> String {
    let mut out = String::new();
    write_value(&mut out, value, Depth { manner, level: 0 });
    out
}

#[derive(Clone, Copy)]
struct Depth<'s> {
    manner: Manner<'s>,
    level: usize,
}

impl Depth<'_> {
    const fn deeper(self) -> Self {
        Self { level: self.level + 1, ..self }
    }

    /// The start of a line on this level.
    fn start_line(self, out: &mut String) {
        if let Manner::Lines { eol, indent, unit } = self.manner {
            out.push_str(eol);
            out.push_str(indent);
            (0..self.level).for_each(|_| out.push_str(unit));
        }
    }

    const fn blank(self) -> &'static str {
        match self.manner {
            Manner::OneLine { blank } => blank,
            Manner::Lines { .. } => " ",
        }
    }
}

fn write_member(out: &mut String, key: &str, value: &Json, depth: Depth<'_>) {
    write_string(out, key);
    out.push(':');
    out.push_str(depth.blank());
    write_value(out, value, depth);
}

fn write_value(out: &mut String, value: &Json, depth: Depth<'_>) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Json::Number(number) => out.push_str(&number.to_string()),
        Json::Text(text) => write_string(out, text),
        Json::List(list) => {
            write_parts(
                out,
                ('[', ']'),
                depth,
                list.iter().map(|one| |out: &mut String| write_value(out, one, depth.deeper())),
            );
        }
        Json::Object(members) => {
            let parts =
                members.iter().map(|(key, value)| |out: &mut String| write_member(out, key, value, depth.deeper()));
            write_parts(out, ('{', '}'), depth, parts);
        }
    }
}

fn write_parts<W: FnOnce(&mut String)>(
    out: &mut String,
    (open, close): (char, char),
    depth: Depth<'_>,
    parts: impl ExactSizeIterator<Item = W>,
) {
    out.push(open);
    let is_empty = parts.len() == 0;
    for (index, write) in parts.enumerate() {
        if index > 0 {
            out.push(',');
            if matches!(depth.manner, Manner::OneLine { .. }) {
                out.push_str(depth.blank());
            }
        }
        depth.deeper().start_line(out);
        write(out);
    }
    if !is_empty {
        depth.start_line(out);
    }
    out.push(close);
}

/// As JSON wants it; DEL too is written as an escape, for it has no place in a settings file.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out.push('"');
}
