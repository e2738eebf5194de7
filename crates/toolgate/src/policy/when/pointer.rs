//! A JSON pointer to an argument, in which `*` stands for every element of a list or every member of an object.

use std::fmt;

use serde_json::Value;

use crate::shell::Reach;

/// Which argument, or which arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    segments: Vec<Segment>,
    text: String,
}

/// One step of a pointer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// The member of this name, or the element of this number.
    Key(String),
    /// Each of them.
    Each,
}

/// What a pointer leads to.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    /// What is there, also when it is null.
    pub(super) values: Vec<&'a Value>,
    /// Whether it leads nowhere for some of the elements on its way.
    pub(super) is_missing_somewhere: bool,
}

impl Pointer {
    /// Reads a pointer such as `/path` or `/files/*/name`.
    ///
    /// # Errors
    /// When it does not begin with `/`, points at nothing, or has a `~` that is neither `~0` nor `~1`: says what is wrong.
    pub fn new(text: &str) -> Result<Self, String> {
        let steps = text.strip_prefix('/').ok_or_else(|| format!("a pointer begins with `/`: `/{text}`"))?;
        if steps.is_empty() {
            return Err("a pointer names an argument: `/path`".to_owned());
        }
        let segments = steps.split('/').map(Self::segment).collect::<Result<_, _>>()?;
        Ok(Self { segments, text: text.to_owned() })
    }

    fn segment(step: &str) -> Result<Segment, String> {
        if step == "*" {
            return Ok(Segment::Each);
        }
        let plain = step.replace("~0", "").replace("~1", "");
        if plain.contains('~') {
            return Err("in a pointer `~` is written `~0`, and `/` within a name `~1`".to_owned());
        }
        Ok(Segment::Key(step.replace("~1", "/").replace("~0", "~")))
    }

    /// Its steps.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(super) fn find<'a>(&self, arguments: &'a Value, reach: Reach) -> Found<'a> {
        let mut found = Found::default();
        follow(arguments, &self.segments, reach, &mut found);
        found
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn follow<'a>(value: &'a Value, segments: &[Segment], reach: Reach, found: &mut Found<'a>) {
    let Some((first, rest)) = segments.split_first() else { return found.values.push(value) };
    match (first, value) {
        (Segment::Key(key), Value::Object(members)) => match members.get(key) {
            Some(member) => follow(member, rest, reach, found),
            None => found.is_missing_somewhere = true,
        },
        (Segment::Key(key), Value::Array(elements)) => match index(key).and_then(|index| elements.get(index)) {
            Some(element) => follow(element, rest, reach, found),
            None => found.is_missing_somewhere = true,
        },
        (Segment::Each, Value::Array(elements)) => {
            elements.iter().for_each(|element| follow(element, rest, reach, found));
        }
        (Segment::Each, Value::Object(members)) => {
            members.values().for_each(|member| follow(member, rest, reach, found));
        }
        // Many servers take one thing where they take a list of them.
        (Segment::Each, single) if reach == Reach::Restriction && !single.is_null() => {
            follow(single, rest, reach, found)
        }
        _ => found.is_missing_somewhere = true,
    }
}

/// A number as pointers write it, without zeros before it.
fn index(key: &str) -> Option<usize> {
    let is_number = key == "0" || (key.starts_with(|first: char| first != '0' && first.is_ascii_digit()));
    is_number.then(|| key.parse().ok()).flatten()
}
