//! Arguments as models write them: read where it is clear what is meant, reported where it is not. Nothing is guessed: what was cut off in the
//! middle is not completed, since a file half written is worse than a call made again.

use serde_json::{Map, Value};
use toolgate::shape::visible;

use crate::limits::BROKEN_ARGUMENTS_CHARS_MAX;

/// The object that was meant, or what is wrong.
pub(crate) fn read(written: Value) -> Result<Map<String, Value>, String> {
    match written {
        Value::Object(members) => Ok(members),
        Value::Null => Ok(Map::new()),
        Value::String(text) => from_text(&text),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err(format!("the arguments have to be an object, and are {}", short(&written.to_string())))
        }
    }
}

fn from_text(text: &str) -> Result<Map<String, Value>, String> {
    let bare = without_fence(text.trim());
    if bare.is_empty() {
        return Ok(Map::new());
    }
    let error = match serde_json::from_str::<Value>(bare) {
        Ok(Value::Object(members)) => return Ok(members),
        // An object that was written as a text once too often.
        Ok(Value::String(inner)) => match serde_json::from_str::<Value>(&inner) {
            Ok(Value::Object(members)) => return Ok(members),
            _ => "a text is no object".to_owned(),
        },
        Ok(_) => "it is no object".to_owned(),
        Err(error) => error.to_string(),
    };
    if let Ok(Value::Object(members)) = serde_json::from_str(&mended(bare)) {
        return Ok(members);
    }
    Err(format!("the arguments are not a JSON object ({error}): {}", short(text)))
}

/// What stands between the lines of a code block.
fn without_fence(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    inside.strip_prefix("json").unwrap_or(inside).trim()
}

/// Without commas before closing brackets, and with line breaks and tabs in texts written as JSON writes them.
fn mended(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let (mut in_text, mut is_escaped) = (false, false);
    for letter in text.chars() {
        if in_text {
            match letter {
                '\n' => whole.push_str("\\n"),
                '\r' => whole.push_str("\\r"),
                '\t' => whole.push_str("\\t"),
                other => whole.push(other),
            }
            in_text = is_escaped || letter != '"';
            is_escaped = !is_escaped && letter == '\\';
            continue;
        }
        in_text = letter == '"';
        if matches!(letter, '}' | ']') {
            let kept = whole.trim_end();
            let kept = kept.strip_suffix(',').unwrap_or(kept).len();
            whole.truncate(kept);
        }
        whole.push(letter);
    }
    whole
}

fn short(text: &str) -> String {
    let mut short: String = text.chars().take(BROKEN_ARGUMENTS_CHARS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    visible::line(&short).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read;

    #[test]
    fn what_is_clear_is_read() {
        let text = |text: &str| Value::String(text.to_owned());
        let cases = [
            (json!({"a": 1}), json!({"a": 1})),
            (Value::Null, json!({})),
            (text("  "), json!({})),
            (text(r#"{"a": 1}"#), json!({"a": 1})),
            (text(r#""{\"a\": 1}""#), json!({"a": 1})),
            (text("```json\n{\"a\": 1}\n```"), json!({"a": 1})),
            (text("```\n{\"a\": 1}```"), json!({"a": 1})),
            (text("{\"a\": [1, 2, ], \"b\": \"x\ny\t,}\",\n}"), json!({"a": [1, 2], "b": "x\ny\t,}"})),
            (text(r#"{"a": "\\", "b": "\"",}"#), json!({"a": "\\", "b": "\""})),
        ];
        for (written, expected) in cases {
            assert_eq!(read(written.clone()).map(Value::Object), Ok(expected), "{written}");
        }
    }

    #[test]
    fn what_is_not_is_told() {
        let cases = [
            (json!([1]), "the arguments have to be an object, and are [1]"),
            (
                json!(r#"{"path": "a.txt", "content": "half"#),
                "the arguments are not a JSON object (EOF while parsing a string at line 1 column 34)",
            ),
            (json!("[1]"), "the arguments are not a JSON object (it is no object): [1]"),
            (json!("{'a': 1}"), "the arguments are not a JSON object (key must be a string at line 1 column 2)"),
            (json!("not json"), "the arguments are not a JSON object (expected ident at line 1 column 2): not json"),
        ];
        for (written, expected) in cases {
            let error = read(written.clone()).unwrap_err();
            assert!(error.starts_with(expected), "{written}: {error}");
        }
        let long = Value::String("x".repeat(100_000));
        assert!(read(long).unwrap_err().len() < 1_000);
    }
}
