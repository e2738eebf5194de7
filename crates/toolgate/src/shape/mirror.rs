//! Whether the text of a result already says what its structured content says.
//!
//! Servers are told to send structured content as text, too. Giving a model both costs twice; giving it only the text loses data when
//! the text is a mere summary.

use serde_json::Value;
use toolgate_wire::RawJson;

use crate::limits::{MIRROR_BYTES_MAX, MIRROR_LEAVES_MAX};

/// Whether nothing in `structured` is news to somebody who has read `texts`.
pub(super) fn is_told(structured: &RawJson, texts: &[&str]) -> bool {
    if texts.is_empty() {
        return false;
    }
    let joined = texts.concat();
    if joined.trim() == structured.as_str() || structured == &RawJson::EMPTY_OBJECT {
        return true;
    }
    if structured.as_bytes().len() > MIRROR_BYTES_MAX || joined.len() > MIRROR_BYTES_MAX {
        return false;
    }
    let Ok(structured) = structured.read::<Value>() else { return false };
    let said = |text: &str| serde_json::from_str::<Value>(text).ok();
    let inner = only_member(&structured);
    let is_same = |value: &Value| *value == structured || Some(value) == inner;
    if said(&joined).is_some_and(|value| is_same(&value))
        || texts.iter().filter_map(|text| said(text)).any(|value| is_same(&value))
    {
        return true;
    }
    names_every_leaf(&structured, &joined)
}

/// Results that are no objects are commonly put into an object with one member.
fn only_member(value: &Value) -> Option<&Value> {
    let members = value.as_object()?;
    members.values().next().filter(|_| members.len() == 1)
}

/// Whether every value in the data occurs in the text, as far as that can be looked for.
fn names_every_leaf(data: &Value, text: &str) -> bool {
    let mut open = vec![data];
    let mut leaves = 0;
    while let Some(value) = open.pop() {
        let is_named = match value {
            Value::Object(members) => {
                open.extend(members.values());
                true
            }
            Value::Array(elements) => {
                open.extend(elements);
                true
            }
            Value::String(string) => text.contains(string.trim()),
            Value::Number(number) => text.contains(&number.to_string()),
            Value::Bool(_) | Value::Null => text.contains(&value.to_string()),
        };
        leaves += usize::from(!value.is_object() && !value.is_array());
        if !is_named || leaves > MIRROR_LEAVES_MAX {
            return false;
        }
    }
    leaves > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_told_from_summaries() {
        let cases: [(&str, &[&str], bool); 15] = [
            (r#"{"a":1}"#, &[], false),
            (r#"{"a":1}"#, &[r#"{"a":1}"#], true),
            (r#"{"a":1,"b":[2]}"#, &["{\n  \"b\": [2],\n  \"a\": 1\n}"], true),
            (r#"{"a":1}"#, &["Here it is:", r#"{"a": 1}"#], true),
            (r#"{"result":"sunny"}"#, &["sunny"], true),
            (r#"{"result":[1,2]}"#, &["[1,2]"], true),
            (r#"{"result":["a","b"]}"#, &["a", "b"], true),
            (r#"{"temperature":21.5,"unit":"C"}"#, &["It is 21.5 °C."], true),
            (r#"{"count":3,"names":["ann","bob","cyd"]}"#, &["Found 3 results."], false),
            (r#"{"rows":[{"id":7,"ok":true}]}"#, &["| 7 | true |"], true),
            (r#"{"rows":[{"id":7,"ok":true}]}"#, &["| 7 | yes |"], false),
            (r#"{"rows":[]}"#, &["no rows"], false),
            ("{}", &["done"], true),
            (r#"{"a":null}"#, &[r#"{"a":null}"#], true),
            (r#"{"a":1}"#, &[r#"{"a":2}"#], false),
        ];
        for (structured, texts, expected) in cases {
            let structured = RawJson::from_bytes(structured).unwrap();
            assert_eq!(is_told(&structured, texts), expected, "{structured} in {texts:?}");
        }
    }

    #[test]
    fn large_data_is_compared_as_text_only() {
        let long = "x".repeat(MIRROR_BYTES_MAX);
        let structured = RawJson::of(&serde_json::json!({ "a": long })).unwrap();
        assert!(is_told(&structured, &[structured.as_str()]));
        assert!(!is_told(&structured, &[&long]));
    }
}
