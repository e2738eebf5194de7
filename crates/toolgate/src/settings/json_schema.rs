//! The JSON Schema of a settings file, for editors, printed from the table of keys.
//!
//! It says what should be written. The reader takes some of what it refuses, with a warning: numbers, `true` and `false` in quotes, one
//! string where a list is wanted, `null` for something that is not set.

use serde::{Serialize, Serializer};

use crate::limits::SERVER_NAME_CHARS_MAX;
use crate::settings::keys::key::{Amount, Least};
use crate::settings::keys::{Key, Object, Preset, Shape, Standing, TOP, Unknown};

/// The JSON Schema of a settings file (draft 2020-12), indented.
#[must_use]
pub fn json_schema() -> String {
    let mut root = object(Object { keys: TOP, unknown: Unknown::Reported });
    root.schema = Some("https://json-schema.org/draft/2020-12/schema");
    root.title = Some("Settings of toolgate");
    // Nothing in it can fail: it is text, numbers and lists.
    serde_json::to_string_pretty(&root).unwrap_or_default()
}

/// One schema, its members in reading order.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    schema: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    words: Option<&'static [&'static str]>,
    #[serde(rename = "default", skip_serializing_if = "Option::is_none")]
    preset: Option<DefaultValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exclusive_minimum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    all_of: Vec<Self>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    any_of: Vec<Self>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Box<Self>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
    #[serde(skip_serializing_if = "Option::is_none")]
    property_names: Option<Box<Self>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_properties: Option<Additional>,
}

/// The value a key has when it is not written.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum DefaultValue {
    Number(u64),
    Truth(bool),
    Word(&'static str),
    Texts(&'static [&'static str]),
}

/// What else an object may hold.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Additional {
    Whether(bool),
    These(Box<Schema>),
}

/// Schemas by key, in the order of the table.
#[derive(Debug)]
struct Properties(Vec<(&'static str, Schema)>);

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, schema)| (name, schema)))
    }
}

fn of_key(key: &'static Key) -> Schema {
    let note = match key.standing {
        Standing::Used => "",
        Standing::Accepted => " It is accepted without effect.",
    };
    let default = match key.preset {
        Preset::Nothing => None,
        Preset::Number(number) => Some(DefaultValue::Number(number)),
        Preset::Truth(truth) => Some(DefaultValue::Truth(truth)),
        Preset::Word(word) => Some(DefaultValue::Word(word)),
        Preset::Texts(texts) => Some(DefaultValue::Texts(texts)),
        Preset::InWords(_) => None,
    };
    let unit = match key.shape {
        Shape::Number(amount) => format!(" A number of {}.", amount.unit),
        _ => String::new(),
    };
    let description = Some(format!("{}{unit}{note}", key.doc));
    Schema { description, preset: default, ..of_shape(key.shape) }
}

fn of_shape(shape: Shape) -> Schema {
    match shape {
        Shape::Text => of_kind("string"),
        Shape::List | Shape::ListOrOne => Schema { items: Some(Box::new(of_kind("string"))), ..of_kind("array") },
        Shape::ListOrAll => Schema { any_of: vec![of_shape(Shape::List), of_kind("boolean")], ..Schema::default() },
        Shape::Map => {
            let texts = Additional::These(Box::new(of_kind("string")));
            Schema { additional_properties: Some(texts), ..of_kind("object") }
        }
        Shape::Number(amount) => number(amount),
        Shape::Truth => of_kind("boolean"),
        Shape::Word(words) => Schema { words: Some(words), ..of_kind("string") },
        Shape::Object(inside) => object(inside),
        Shape::Servers(keys) => {
            let server = object(Object { keys, unknown: Unknown::Reported });
            Schema {
                property_names: Some(Box::new(server_name())),
                additional_properties: Some(Additional::These(Box::new(server))),
                ..of_kind("object")
            }
        }
        Shape::Anything => Schema::default(),
    }
}

fn of_kind(kind: &'static str) -> Schema {
    Schema { kind: Some(kind), ..Schema::default() }
}

fn number(amount: Amount) -> Schema {
    let (minimum, exclusive_minimum) = match amount.least {
        Least::Any => (None, None),
        Least::From(least) => (Some(least), None),
        Least::MoreThan(less) => (None, Some(less)),
    };
    Schema { minimum, exclusive_minimum, maximum: amount.most, ..of_kind("number") }
}

fn object(object: Object) -> Schema {
    Schema {
        properties: Some(Properties(object.keys.iter().map(|key| (key.name, of_key(key))).collect())),
        additional_properties: (object.unknown == Unknown::Reported).then_some(Additional::Whether(false)),
        ..of_kind("object")
    }
}

/// Not blank, no control characters, not too long: what a server may be called.
fn server_name() -> Schema {
    let pattern = |pattern| Schema { pattern: Some(pattern), ..Schema::default() };
    Schema {
        max_length: Some(SERVER_NAME_CHARS_MAX),
        all_of: vec![pattern(r"\S"), pattern(r"^[^\u0000-\u001f\u007f-\u009f]*$")],
        ..Schema::default()
    }
}

#[cfg(test)]
#[path = "json_schema_tests.rs"]
mod tests;
