//! The arguments of a call as everybody understands them alike. What one reader takes for one thing and another for something else, such as a
//! key that is given twice, must not reach a server: rules would look at one of them, and the server at the other.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use toolgate_wire::RawJson;

/// The arguments as a value.
///
/// # Errors
/// When they cannot be understood, or in more than one way.
pub(super) fn understood(arguments: &RawJson) -> Result<Value, String> {
    let _unique: Unique = serde_json::from_str(arguments.as_str()).map_err(|error| error.to_string())?;
    serde_json::from_str(arguments.as_str()).map_err(|error| error.to_string())
}

/// Any value in which no object has a key twice.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Look)
    }
}

struct Look;

impl<'de> DeserializeSeed<'de> for Look {
    type Value = Unique;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Unique, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Unique, A::Error> {
        while elements.next_element_seed(Self)?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Unique, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!("`{}` is given twice", key.escape_debug())));
            }
            keys.insert(key);
            members.next_value_seed(Self)?;
        }
        Ok(Unique)
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
            let outcome = understood(&RawJson::from_bytes(text).unwrap()).err().unwrap_or_default();
            assert!(outcome.starts_with(expected) && outcome.is_empty() == expected.is_empty(), "{text}: {outcome}");
        }
    }
}
