//! From the text of a word to the JSON value that a schema wants.

use std::fmt;

use serde_json::Value;
use toolgate_wire::RawJson;

use super::kinds::{Kinds, SchemaReader};
use super::parameters::kind_of;
use crate::call::schema::violation::{quoted, with_article};

/// What stands behind the `=` of a word.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'a> {
    /// `key=text`.
    Text(&'a str),
    /// `key:=JSON`.
    Json(&'a str),
}

/// Why a text is not the value that is wanted.
#[derive(Debug)]
pub(super) enum Misfit {
    /// It is of another type.
    Type { wanted: String, found: String },
    /// Several values stand where only one may.
    Several { wanted: String },
    /// JSON was announced and did not come.
    NotJson { found: String, problem: String },
}

impl Misfit {
    /// The whole sentence.
    pub(super) fn said_of(&self, key: &str) -> String {
        format!("{} {self}", quoted(key))
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type { wanted, found } => write!(f, "takes {wanted}, not {}", quoted(found)),
            Self::Several { wanted } => write!(f, "is given several times and takes one value: {wanted}"),
            Self::NotJson { found, problem } => {
                write!(f, "is given with `:=`, but {} is not JSON: {problem}", quoted(found))
            }
        }
    }
}

/// The value for a place; `schema` is what the place takes, if that is known.
pub(super) fn convert(reader: &SchemaReader, schema: Option<&Value>, given: &[Given<'_>]) -> Result<RawJson, Misfit> {
    let taker = Taker::of(reader, schema);
    match given {
        [Given::Json(json)] => forced(json),
        [Given::Text(text)] => taker.take(text).ok_or_else(|| taker.misfit(text)),
        several if taker.kinds.has(Kinds::ARRAY) && taker.kinds != Kinds::ANY => {
            let element = taker.element();
            let elements = several.iter().map(|given| match given {
                Given::Json(json) => forced(json),
                Given::Text(text) => element.take(text).ok_or_else(|| element.misfit(text)),
            });
            Ok(array(&elements.collect::<Result<Vec<_>, _>>()?))
        }
        _ => Err(Misfit::Several { wanted: taker.wanted() }),
    }
}

fn forced(json: &str) -> Result<RawJson, Misfit> {
    RawJson::from_bytes(json.to_owned())
        .map_err(|error| Misfit::NotJson { found: json.to_owned(), problem: error.to_string() })
}

/// One place and what it takes.
struct Taker<'a> {
    reader: &'a SchemaReader,
    schema: Option<&'a Value>,
    kinds: Kinds,
}

impl<'a> Taker<'a> {
    fn of(reader: &'a SchemaReader, schema: Option<&'a Value>) -> Self {
        Self { reader, schema, kinds: schema.map_or(Kinds::ANY, |schema| reader.kinds(schema)) }
    }

    /// What an array takes as its elements.
    fn element(&self) -> Self {
        Self::of(self.reader, self.schema.and_then(|schema| self.reader.items(schema)))
    }

    fn take(&self, text: &str) -> Option<RawJson> {
        let takes_text = self.kinds.has(Kinds::STRING);
        if self.kinds == Kinds::STRING || (takes_text && self.lists(text)) {
            return Some(RawJson::string(text));
        }
        let is_bare = text.trim() == text;
        if let Some(value) =
            json_of(text).filter(|value| self.kinds.has(kind_of_json(value)) && (is_bare || !takes_text))
        {
            return Some(value);
        }
        if takes_text {
            return Some(RawJson::string(text));
        }
        // One element makes an array, unless it looks like an array that went wrong.
        let is_element = self.kinds.has(Kinds::ARRAY) && !text.trim_start().starts_with('[');
        let element = if is_element { self.element().take(text) } else { None };
        element.map(|element| array(&[element]))
    }

    /// Whether the text is one of the values that are listed.
    fn lists(&self, text: &str) -> bool {
        self.schema.is_some_and(|schema| {
            self.reader.aspects(schema).iter().any(|aspect| {
                let listed = aspect.get("enum").and_then(Value::as_array).into_iter().flatten();
                listed.chain(aspect.get("const")).any(|value| value.as_str() == Some(text))
            })
        })
    }

    fn wanted(&self) -> String {
        let kind = self.schema.map_or_else(|| "any".to_owned(), |schema| kind_of(self.reader, schema));
        match kind.as_str() {
            "any" => "any value".to_owned(),
            "boolean" => "`true` or `false`".to_owned(),
            "object" => "an object as JSON".to_owned(),
            several => several.split(" or ").map(with_article).collect::<Vec<_>>().join(" or "),
        }
    }

    fn misfit(&self, text: &str) -> Misfit {
        Misfit::Type { wanted: self.wanted(), found: text.to_owned() }
    }
}

/// The text as JSON that is no string.
fn json_of(text: &str) -> Option<RawJson> {
    let is_likely = text.trim_start().starts_with(|first: char| first.is_ascii_digit() || "-tfn[{".contains(first));
    if !is_likely {
        return None;
    }
    RawJson::from_bytes(text.to_owned()).ok()
}

fn kind_of_json(value: &RawJson) -> Kinds {
    match value.as_bytes().first() {
        Some(b'{') => Kinds::OBJECT,
        Some(b'[') => Kinds::ARRAY,
        Some(b't' | b'f') => Kinds::BOOLEAN,
        Some(b'n') => Kinds::NULL,
        Some(b'"') => Kinds::STRING,
        _ if is_integral(value.as_str()) => Kinds::INTEGER,
        _ => Kinds::FRACTION,
    }
}

fn is_integral(number: &str) -> bool {
    !number.contains(['.', 'e', 'E']) || number.parse::<f64>().is_ok_and(|number| number.fract() == 0.0)
}

fn array(elements: &[RawJson]) -> RawJson {
    let texts: Vec<&str> = elements.iter().map(RawJson::as_str).collect();
    RawJson::from_bytes(format!("[{}]", texts.join(","))).unwrap_or(RawJson::NULL)
}
