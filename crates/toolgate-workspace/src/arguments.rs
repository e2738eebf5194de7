//! Reading the arguments of a call: exactly those that the input schema names, and a message that helps when they are others.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use toolgate_wire::RawJson;

use crate::error::{Failure, shown};

/// Reads the arguments of `tool`.
pub(crate) fn read<T: DeserializeOwned>(tool: &str, arguments: &RawJson) -> Result<T, Failure> {
    if !arguments.is_object() {
        return Err(Failure::new(format!("the arguments of `{tool}` must be an object, as its input schema says")));
    }
    serde_json::from_slice(arguments.as_bytes()).map_err(|error| {
        let error = shown(&error.to_string());
        Failure::new(format!("wrong arguments for `{tool}`: {error}; call it again with those its input schema names"))
    })
}

/// A whole number from 0 on, also when it is written as `5.0`: to JSON Schema, and to many models, that is the same.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(deserializer)? else { return Ok(None) };
    if let Some(number) = number.as_u64() {
        return Ok(Some(number));
    }
    let fits = |value: &f64| value.fract() == 0.0 && (0.0..9e15).contains(value);
    let Some(value) = number.as_f64().filter(fits) else {
        return Err(D::Error::custom(format!("`{number}` is not a whole number from 0 on")));
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, positive and far within the range"
    )]
    Ok(Some(value as u64))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use toolgate_wire::RawJson;

    use super::{read, whole};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        name: String,
        #[serde(default, deserialize_with = "whole")]
        count: Option<u64>,
    }

    #[test]
    fn arguments_are_exactly_those_of_the_schema() {
        let cases = [
            (r#"{"name":"a"}"#, Ok(None)),
            (r#"{"name":"a","count":null}"#, Ok(None)),
            (r#"{"name":"a","count":5}"#, Ok(Some(5))),
            (r#"{"name":"a","count":5.0}"#, Ok(Some(5))),
            (r#"{"name":"a","count":5.5}"#, Err("whole number")),
            (r#"{"name":"a","count":-1}"#, Err("whole number")),
            (r#"{"name":"a","count":1e300}"#, Err("whole number")),
            (r#"{"name":"a","count":"5"}"#, Err("invalid type")),
            (r#"{"name":1}"#, Err("invalid type")),
            (r#"{}"#, Err("missing field `name`")),
            (r#"{"name":"a","nom":"b"}"#, Err("unknown field `nom`")),
            (r#"[1]"#, Err("must be an object")),
        ];
        for (text, expected) in cases {
            let found = read::<Sample>("t", &RawJson::from_bytes(text).unwrap());
            match (found, expected) {
                (Ok(sample), Ok(count)) => assert_eq!((sample.name.as_str(), sample.count), ("a", count), "{text}"),
                (Err(failure), Err(reason)) => assert!(failure.to_string().contains(reason), "{text}: {failure}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}
