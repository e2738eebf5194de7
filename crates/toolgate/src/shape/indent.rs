//! JSON laid out over lines, two spaces per level, every number and string as it came.
//!
//! Works on the text, so that big numbers keep their digits and members their order, and nesting costs no stack.

use toolgate_wire::RawJson;

use crate::limits::INDENT_LEVELS_MAX;

/// The value in a Markdown code block.
pub(super) fn code_block(value: &RawJson) -> String {
    format!("```json\n{}\n```", indented(value))
}

/// The value over several lines.
pub(super) fn indented(value: &RawJson) -> String {
    let json = value.as_str();
    let mut out = String::with_capacity(json.len() * 2);
    let mut level = 0_usize;
    let mut letters = json.char_indices().filter(|(_, letter)| !letter.is_ascii_whitespace()).peekable();
    let mut rest_from = 0;
    while let Some((at, letter)) = letters.next() {
        if at < rest_from {
            continue; // Inside a string that was copied as a whole.
        }
        match letter {
            '"' => {
                let string = string_at(json, at);
                out.push_str(string);
                rest_from = at + string.len();
            }
            '{' | '[' => {
                out.push(letter);
                if let Some((_, closing)) = letters.next_if(|(_, next)| matches!(next, '}' | ']')) {
                    out.push(closing);
                } else {
                    level += 1;
                    new_line(&mut out, level);
                }
            }
            '}' | ']' => {
                level = level.saturating_sub(1);
                new_line(&mut out, level);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                new_line(&mut out, level);
            }
            ':' => out.push_str(": "),
            _ => out.push(letter),
        }
    }
    out
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
    fn deep_nesting_costs_neither_stack_nor_square_space() {
        let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(indented(&raw(&deep)).len() < 50_000 * 2 * (2 * INDENT_LEVELS_MAX + 2));
    }
}
