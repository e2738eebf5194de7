//! The arguments of a call as everybody understands them alike. What one reader takes for one thing and another for something else, such as a
//! key that is given twice, must not reach a server: rules would look at one of them, and the server at the other.

use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use toolgate_wire::RawJson;

/// The arguments as a value.
///
/// # Errors
/// When they cannot be understood, or in more than one way.
pub(super) fn understood(arguments: &RawJson) -> Result<Value, String> {
    let Unique(value) = serde_json::from_str(arguments.as_str()).map_err(|error| error.to_string())?;
    Ok(value)
}

/// A value in which no object has a key twice.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Look).map(Unique)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = elements.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some((key, Unique(value))) = members.next_entry::<String, Unique>()? {
            if values.contains_key(&key) {
                return Err(A::Error::custom(format_args!("`{}` is given twice", key.escape_debug())));
            }
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use toolgate_wire::RawJson;

    use super::understood;

    #[test]
    fn what_could_be_understood_in_two_ways_is_refused() {
        let cases = [
            ("{}", ""),
            (r#"{"a": 1, "b": [true, null, "x", 1.5, {"a": 1}]}"#, ""),
            (r#"{"command": "ls", "command": "rm -rf /"}"#, "`command` is given twice"),
            (r#"{"a": [{"b": {"c": 1, "\u0063": 2}}]}"#, "`c` is given twice"),
            (r#"{"a": 1e999}"#, "number out of range"),
        ];
        for (text, expected) in cases {
            let understood = understood(&RawJson::from_bytes(text).unwrap());
            if let Ok(value) = &understood {
                assert_eq!(value, &serde_json::from_str::<serde_json::Value>(text).unwrap());
            }
            let outcome = understood.err().unwrap_or_default();
            assert!(outcome.starts_with(expected) && outcome.is_empty() == expected.is_empty(), "{text}: {outcome}");
        }
    }
}
