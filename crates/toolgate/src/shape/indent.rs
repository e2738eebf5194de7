//! JSON laid out over lines, two spaces per level, every number and string as it came.
//!
//! Works on the text, so that large numbers keep their digits, members keep their order, and nesting needs no stack. A result above
//! [`LAYOUT_BYTES_MAX`] stays on one line: a few megabytes of brackets would become gigabytes of spaces.

use memchr::{memchr, memchr3};
use toolgate_wire::RawJson;

use crate::limits::{INDENT_LEVELS_MAX, LAYOUT_BYTES_MAX};

/// The value in a Markdown code block.
pub(super) fn code_block(value: &RawJson) -> String {
    format!("```json\n{}\n```", indented(value))
}

/// The value over several lines, or on one line if that would be too large.
pub(super) fn indented(value: &RawJson) -> String {
    within(value, LAYOUT_BYTES_MAX)
}

fn within(value: &RawJson, bytes_max: usize) -> String {
    let json = value.as_str();
    laid_out(json, bytes_max).unwrap_or_else(|| compact(json))
}

/// `None` when the result would exceed `bytes_max`.
fn laid_out(json: &str, bytes_max: usize) -> Option<String> {
    let mut out = String::with_capacity(json.len().saturating_mul(2).min(bytes_max));
    let mut level = 0_usize;
    let mut parts = Parts { json, at: 0 }.peekable();
    while let Some(part) = parts.next() {
        match part {
            "{" | "[" => {
                out.push_str(part);
                if let Some(closing) = parts.next_if(|next| matches!(*next, "}" | "]")) {
                    out.push_str(closing);
                } else {
                    level += 1;
                    new_line(&mut out, level);
                }
            }
            "}" | "]" => {
                level = level.saturating_sub(1);
                new_line(&mut out, level);
                out.push_str(part);
            }
            "," => {
                out.push_str(part);
                new_line(&mut out, level);
            }
            ":" => out.push_str(": "),
            _ => out.push_str(part),
        }
        if out.len() > bytes_max {
            return None;
        }
    }
    Some(out)
}

/// The value without spaces between its parts.
fn compact(json: &str) -> String {
    let bytes = json.as_bytes();
    if memchr3(b' ', b'\n', b'\r', bytes).is_none() && memchr(b'\t', bytes).is_none() {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len());
    out.extend(Parts { json, at: 0 });
    out
}

/// The parts of a JSON text: strings with their quotes, signs, and the words and numbers between them.
struct Parts<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.json.as_bytes().get(self.at..)?;
        let start = self.at + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let is_part_of_word = |byte: &u8| !byte.is_ascii_whitespace() && !is_sign(*byte) && *byte != b'"';
        let part = match self.json.as_bytes().get(start)? {
            b'"' => string_at(self.json, start),
            sign if is_sign(*sign) => self.json.get(start..=start)?,
            _ => {
                let word = self.json.as_bytes().get(start..)?;
                let length = word.iter().position(|byte| !is_part_of_word(byte)).unwrap_or(word.len());
                self.json.get(start..start + length)?
            }
        };
        self.at = start + part.len().max(1);
        Some(part)
    }
}

const fn is_sign(byte: u8) -> bool {
    matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':')
}

fn new_line(out: &mut String, level: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level.min(INDENT_LEVELS_MAX)));
}

/// The string that begins at `start`, with its quotes.
fn string_at(json: &str, start: usize) -> &str {
    let bytes = json.as_bytes();
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => break,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.get(start..=at).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::from_bytes(text.to_owned()).unwrap()
    }

    #[test]
    fn layout_is_that_of_two_spaces_and_nothing_else_changes() {
        let cases = [
            ("[]", "[]"),
            ("{ }", "{}"),
            ("7", "7"),
            (r#""a b: [1, 2]""#, r#""a b: [1, 2]""#),
            ("[ 1 ,2.50]", "[\n  1,\n  2.50\n]"),
            (
                r#"{"b":{"x":[ ],"y":{}},"a":null}"#,
                "{\n  \"b\": {\n    \"x\": [],\n    \"y\": {}\n  },\n  \"a\": null\n}",
            ),
            (r#"["q\"{,\\",12345678901234567890123]"#, "[\n  \"q\\\"{,\\\\\",\n  12345678901234567890123\n]"),
            ("[\"ä\\u00e4漢\"]", "[\n  \"ä\\u00e4漢\"\n]"),
        ];
        for (given, expected) in cases {
            assert_eq!(indented(&raw(given)), expected, "{given}");
        }
    }

    #[test]
    fn the_layout_of_any_value_is_that_of_serde() {
        let values = [
            serde_json::json!({"a": [1, {"b": [[], {}, [[]], ""]}], "c": {"d": {"e": "x\n\"y\\"}}}),
            serde_json::json!([[[[null, true]]], -1.5e300, {"": {}}]),
        ];
        for value in values {
            assert_eq!(indented(&RawJson::from(value.clone())), serde_json::to_string_pretty(&value).unwrap());
        }
    }

    #[test]
    fn a_layout_that_would_be_too_large_stays_on_one_line() {
        let cases = [
            ("[ 1, [ 2 ] ]", 22, "[\n  1,\n  [\n    2\n  ]\n]"),
            ("[ 1, [ 2 ] ]", 21, "[1,[2]]"),
            ("{ \"a b\" : [ true , \"x, y\" ] }", 8, "{\"a b\":[true,\"x, y\"]}"),
            ("[]", 0, "[]"),
        ];
        for (given, bytes_max, expected) in cases {
            assert_eq!(within(&raw(given), bytes_max), expected, "{given} within {bytes_max}");
        }
        let hostile = [
            format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000)),
            format!("[{}0]", "0,".repeat(1_000_000)),
            format!("[{}{{}}]", "{\"\":[]},".repeat(300_000)),
            format!("[{}\"{}\"]", " ".repeat(1_000_000), "\u{7f}".repeat(3_000_000)),
        ];
        for json in hostile {
            let shown = code_block(&raw(&json));
            assert!(shown.len() <= LAYOUT_BYTES_MAX.max(json.len()) + 16, "{} of {}", shown.len(), json.len());
        }
    }

    #[test]
    fn deep_nesting_costs_neither_stack_nor_square_space() {
        let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(indented(&raw(&deep)).len() < 50_000 * 2 * (2 * INDENT_LEVELS_MAX + 2));
    }
}
