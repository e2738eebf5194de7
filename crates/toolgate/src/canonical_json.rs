//! A JSON value as one text: the same for equal values, however they were written. Keys are sorted at every level, nothing is between them.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};
use serde_json::Value;

use crate::hex::hex;

/// The text of a value.
pub(crate) fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// The SHA-256 of that text, as `sha256:` and hexadecimal digits.
pub(crate) fn hash(value: &Value) -> String {
    let digest = digest(&SHA256, text(value).as_bytes());
    format!("sha256:{}", hex(digest.as_ref()))
}

/// The text of an object with every member of the top level between NUL characters, which cannot occur in JSON: so a pattern can tell a real
/// argument from something that only looks like one inside a text.
pub(crate) fn marked(value: &Value) -> String {
    let Value::Object(members) = value else { return text(value) };
    let mut out = String::from("{");
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by_key(|(key, _)| *key);
    for (at, (key, value)) in sorted.into_iter().enumerate() {
        out.push_str(if at == 0 { "\0" } else { ",\0" });
        write_member(key, value, &mut out);
        out.push('\0');
    }
    out.push('}');
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (at, (key, value)) in sorted.into_iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write_member(key, value, out);
            }
            out.push('}');
        }
        Value::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write(element, out);
            }
            out.push(']');
        }
        Value::String(text) => write_text(text, out),
        // A number, a word: serde_json has one way to write each, and writing to a string cannot fail.
        plain => drop(write!(out, "{plain}")),
    }
}

fn write_member(key: &str, value: &Value, out: &mut String) {
    write_text(key, out);
    out.push(':');
    write(value, out);
}

/// Writes a text as JSON.
pub(crate) fn write_text(text: &str, out: &mut String) {
    // Most texts stand there as they are. Without an early exit the compiler looks at many bytes at a time.
    let is_odd = |odd: bool, byte: u8| odd | (byte < b' ') | (byte == b'"') | (byte == b'\\');
    if text.bytes().fold(false, is_odd) {
        let _written = write!(out, "{}", Value::from(text)).is_ok();
    } else {
        out.push('"');
        out.push_str(text);
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{hash, marked, text};

    #[test]
    fn equal_values_have_one_text() {
        let one: Value = serde_json::from_str(r#"{"b":[1,{"z":null,"a":"\u00e9\n"}],"a":1.50}"#).unwrap();
        let other: Value = serde_json::from_str(r#"{ "a": 1.5, "b": [1, {"a": "é\n", "z": null}] }"#).unwrap();
        assert_eq!(text(&one), r#"{"a":1.5,"b":[1,{"a":"é\n","z":null}]}"#);
        assert_eq!(text(&one), text(&other));
        assert_eq!(hash(&one), hash(&other));
        assert_eq!(hash(&json!({})), "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    }

    #[test]
    fn only_members_of_the_top_level_are_marked() {
        assert_eq!(marked(&json!({})), "{}");
        assert_eq!(marked(&json!({"b": {"c": 1}, "a": "\0"})), "{\0\"a\":\"\\u0000\"\0,\0\"b\":{\"c\":1}\0}");
    }
}
