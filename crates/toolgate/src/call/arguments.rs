//! Arguments as a person types them, made into the JSON that a tool takes.
//!
//! A word is `key=value` or `key:=JSON`. The schema of the tool says what a value means: a text stays a text where the tool wants one,
//! even if it looks like a number; numbers keep all their digits. Where several types are allowed, the narrower reading wins (`5` is a
//! number, `null` is null), and `:=` settles it. A key that is given several times makes an array, `a.b=1` reaches into an object.
//! Whether the whole fits is checked afterwards by [`schema`](super::schema).

mod keys;
mod kinds;
mod parameters;
mod tree;
mod value;

use serde_json::value::RawValue;
use toolgate_wire::RawJson;

use self::keys::{Keys, Place};
use self::kinds::SchemaReader;
use self::parameters::in_one_line;
pub use self::parameters::{ParameterHelp, describe};
use self::tree::Tree;
use self::value::{Given, convert};
use super::schema::violation::{listed, quoted};

/// Arguments that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ArgumentError {
    /// The key it is about, if it is about one.
    pub key: Option<String>,
    problem: String,
    takes: Option<String>,
}

impl ArgumentError {
    fn new(key: Option<&str>, problem: String) -> Self {
        Self { key: key.map(str::to_owned), problem, takes: None }
    }

    fn with_takes(mut self, schema: &RawJson) -> Self {
        self.takes = Some(in_one_line(schema));
        self
    }

    /// What the tool takes, to be said beside the error.
    pub fn hint(&self) -> Option<String> {
        let takes = self.takes.as_deref()?;
        Some(if takes.is_empty() {
            "the tool takes no arguments".to_owned()
        } else {
            format!("the tool takes {takes}")
        })
    }
}

/// Arguments from words alone.
pub fn from_words(schema: &RawJson, words: &[String]) -> Result<RawJson, ArgumentError> {
    merge(schema, &RawJson::EMPTY_OBJECT, words)
}

/// Arguments from an object and words; a word replaces the member that it names.
pub fn merge(schema: &RawJson, object: &RawJson, words: &[String]) -> Result<RawJson, ArgumentError> {
    let reader = SchemaReader::new(schema);
    let keys = Keys::new(&reader);
    let places = gather(&keys, words).map_err(|error| error.with_takes(schema))?;
    let mut tree = Tree::of(object);
    for (place, given) in places {
        let value = convert(&reader, place.schema, &given)
            .map_err(|why| ArgumentError::new(Some(&place.key), why.said_of(&place.key)).with_takes(schema))?;
        tree.set(&place.path, value);
    }
    Ok(tree.to_json())
}

/// Arguments from JSON text, which must be one object.
pub fn from_json(text: &str) -> Result<RawJson, ArgumentError> {
    let value: &RawValue = serde_json::from_str(text).map_err(|error| {
        let place = format!("line {} column {}", error.line(), error.column());
        ArgumentError::new(None, format!("the arguments are not JSON: {} ({place})", what_is_wrong(&error)))
    })?;
    let object = RawJson::from_bytes(value.get().to_owned()).unwrap_or(RawJson::NULL);
    if !object.is_object() {
        let found = kind_of(object.as_str());
        return Err(ArgumentError::new(
            None,
            format!("the arguments must be a JSON object such as {{\"key\": \"value\"}}, not {found}"),
        ));
    }
    let mut seen = std::collections::HashSet::new();
    match object.members().into_iter().map(|(key, _)| key).find(|key| !seen.insert(key.clone())) {
        Some(twice) => {
            Err(ArgumentError::new(Some(&twice), format!("{} stands twice in the arguments", quoted(&twice))))
        }
        None => Ok(object),
    }
}

/// The kind of a JSON value that is no object. The value itself may be a secret, and is not said.
fn kind_of(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'[') => "a list",
        Some(b'"') => "a text",
        Some(b't' | b'f') => "`true` or `false`",
        Some(b'n') => "`null`",
        _ => "a number",
    }
}

/// The words by the place they are for, in the order in which the places were first named.
fn gather<'a>(keys: &Keys<'a>, words: &'a [String]) -> Result<Vec<(Place<'a>, Vec<Given<'a>>)>, ArgumentError> {
    let mut places: Vec<(Place<'a>, Vec<Given<'a>>)> = Vec::new();
    for word in words {
        let Some((key, given)) = split(word) else {
            let problem =
                format!("{} is not `key=value`; write the name of a parameter, `=` and its value", quoted(word));
            return Err(ArgumentError::new(None, problem));
        };
        let place = keys.place(key).map_err(|nearest| unknown_key(key, &nearest))?;
        if let Some((_, several)) = places.iter_mut().find(|(known, _)| known.path == place.path) {
            several.push(given);
        } else if places.iter().any(|(known, _)| known.path.starts_with(&place.path)) {
            return Err(ArgumentError::new(Some(key), format!("{} is given after a part of it", quoted(key))));
        } else {
            places.push((place, vec![given]));
        }
    }
    Ok(places)
}

fn split(word: &str) -> Option<(&str, Given<'_>)> {
    let (key, text) = word.split_once('=')?;
    let (key, given) = match key.strip_suffix(':') {
        Some(key) => (key, Given::Json(text)),
        None => (key, Given::Text(text)),
    };
    (!key.is_empty()).then_some((key, given))
}

fn unknown_key(key: &str, nearest: &[String]) -> ArgumentError {
    let mut problem = format!("there is no parameter {}", quoted(key));
    if !nearest.is_empty() {
        problem += &format!("; did you mean {}?", listed(nearest.iter().map(|name| quoted(name)), "or"));
    }
    ArgumentError::new(Some(key), problem)
}

/// The words of the JSON reader without the place, which is said once.
fn what_is_wrong(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
