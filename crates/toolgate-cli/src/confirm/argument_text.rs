//! The arguments of a call for a person who is asked about it: one `key: value` after the other.

use serde_json::Value;
use toolgate::RawJson;
use toolgate::shape::for_display;

use super::bounded_text::bounded;
use super::question_text::Look;
use crate::columns::{short, width};
use crate::limits::{CONFIRM_ARGUMENT_LINES_MAX, CONFIRM_ARGUMENTS_LINES_MAX, LABEL_CHARS_MAX};

const INDENT: &str = "    ";
const DEEPER: &str = "      ";

/// The arguments, but for those in `told`, which are shown in another way.
pub(super) fn argument_lines(arguments: &RawJson, told: &[&str], look: Look) -> Vec<String> {
    if !arguments.is_object() {
        return value_lines("(not an object)", arguments, CONFIRM_ARGUMENT_LINES_MAX, look);
    }
    let all = arguments.members();
    if all.is_empty() {
        return vec!["  without arguments".to_owned()];
    }
    let members: Vec<_> = all.iter().filter(|(key, _)| !told.contains(&key.as_str())).collect();
    let each = (CONFIRM_ARGUMENTS_LINES_MAX / members.len().max(1)).clamp(1, CONFIRM_ARGUMENT_LINES_MAX);
    let mut lines = vec!["  with".to_owned()];
    for (key, value) in members.iter().take(CONFIRM_ARGUMENTS_LINES_MAX) {
        lines.extend(value_lines(&short(key, LABEL_CHARS_MAX), value, each, look));
    }
    let more = members.len().saturating_sub(CONFIRM_ARGUMENTS_LINES_MAX);
    if more > 0 {
        lines.push(format!("{INDENT}{}", look.paint.yellow(format!("… {more} more arguments are not shown …"))));
    }
    lines
}

fn value_lines(key: &str, value: &RawJson, lines_max: usize, look: Look) -> Vec<String> {
    let text = text_of(value);
    let shown = bounded(&text, look.columns.saturating_sub(DEEPER.len()), lines_max);
    let fits = |line: &str| INDENT.len() + width(key) + 2 + width(line) <= look.columns;
    let key = look.paint.bold(key);
    match shown.head.as_slice() {
        [only] if shown.left_out.is_none() && fits(only) => vec![format!("{INDENT}{key}: {only}")],
        _ => {
            let lines = shown.lines(|words| look.paint.yellow(words).to_string());
            std::iter::once(format!("{INDENT}{key}:")).chain(lines.map(|line| format!("{DEEPER}{line}"))).collect()
        }
    }
}

/// A text stands as it is, unless it could be taken for something else.
fn text_of(value: &RawJson) -> String {
    match value.read::<String>() {
        Ok(text) if text.trim() == text && !text.is_empty() && serde_json::from_str::<Value>(&text).is_err() => text,
        _ => for_display::json(value),
    }
}

#[cfg(test)]
mod tests {
    use toolgate::RawJson;

    use super::argument_lines;
    use crate::confirm::question_text::Look;
    use crate::terminal::Paint;

    fn shown(arguments: &str, told: &[&str]) -> Vec<String> {
        let look = Look { columns: 40, paint: Paint::default() };
        argument_lines(&RawJson::from_bytes(arguments.to_owned()).unwrap(), told, look)
    }

    #[test]
    fn arguments_are_shown_as_a_person_would_write_them() {
        let cases: [(&str, &[&str]); 9] = [
            ("{}", &["  without arguments"]),
            (r#"{"path":"src/main.rs","n":1.50}"#, &["  with", "    path: src/main.rs", "    n: 1.50"]),
            (
                r#"{"a":"1","b":"true","c":"","d":" x"}"#,
                &["  with", "    a: \"1\"", "    b: \"true\"", "    c: \"\"", "    d: \" x\""],
            ),
            (r#"{"id":12345678901234567890123}"#, &["  with", "    id: 12345678901234567890123"]),
            (
                r#"{"a":["x",{"b":null}]}"#,
                &[
                    "  with",
                    "    a:",
                    "      [",
                    "        \"x\",",
                    "        {",
                    "          \"b\": null",
                    "        }",
                    "      ]",
                ],
            ),
            (r#"{"text":"one\ntwo"}"#, &["  with", "    text:", "      one", "      two"]),
            (r#"{"k\n\u001b[2J":"\u001b]0;x\u0007\u202e"}"#, &["  with", "    k\\n\\e[2J: \\e]0;x\\u{7}\\u{202e}"]),
            (r#"{"a":1,"a":2}"#, &["  with", "    a: 1", "    a: 2"]),
            ("[1]", &["    (not an object):", "      [", "        1", "      ]"]),
        ];
        for (arguments, expected) in cases {
            assert_eq!(shown(arguments, &[]), expected, "{arguments}");
        }
        assert_eq!(shown(r#"{"path":"a","content":"b"}"#, &["content"]), ["  with", "    path: a"]);
    }

    #[test]
    fn however_many_there_are_they_take_few_lines() {
        let member = |number: usize| format!(r#""k{number}":"{}""#, "x\\n".repeat(500));
        for count in [1, 10, 50, 500] {
            let members: Vec<String> = (0..count).map(member).collect();
            let lines = shown(&format!("{{{}}}", members.join(",")), &[]);
            assert!(lines.len() <= 125, "{count}: {}", lines.len());
            let is_said = lines.iter().any(|line| line.contains("left out"));
            assert!(is_said, "{count}");
            assert_eq!(lines.iter().any(|line| line.contains("440 more arguments")), count == 500);
        }
    }
}
