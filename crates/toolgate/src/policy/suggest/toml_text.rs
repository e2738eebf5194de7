//! Values of calls as a policy file says them. What a terminal would obey, or a reader not see, is written by its number.

use std::fmt::Write as _;

use serde_json::Value;

/// Whether a letter does nothing but stand there: letters and digits of every writing, and the signs that a keyboard has.
fn is_plain(letter: char) -> bool {
    matches!(letter, ' '..='~') || letter.is_alphanumeric()
}

/// A text in quotes.
pub(in crate::policy) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            plain if is_plain(plain) => out.push(plain),
            other => {
                let number = u32::from(other);
                // Writing to a string cannot fail.
                let _written = match number {
                    0x1_0000.. => write!(out, "\\U{number:08X}"),
                    _ => write!(out, "\\u{number:04X}"),
                }
                .is_ok();
            }
        }
    }
    out.push('"');
    out
}

/// A value; `None` when the language of policies has no such value.
pub(super) fn value(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(truth) => Some(truth.to_string()),
        Value::String(text) => Some(quoted(text)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Some(whole.to_string()),
            (None, Some(real)) if number.is_f64() && real.is_finite() => Some(format!("{real:?}")),
            _ => None,
        },
        Value::Array(elements) => {
            let elements: Option<Vec<String>> = elements.iter().map(self::value).collect();
            Some(format!("[{}]", elements?.join(", ")))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| Some(format!("{} = {}", quoted(key), self::value(value)?));
            let members: Option<Vec<String>> = members.iter().map(member).collect();
            Some(format!("{{ {} }}", members?.join(", ")))
        }
    }
}

/// The key that an argument is tested by; `None` when its name stands for something else there.
pub(super) fn pointer(name: &str) -> Option<String> {
    let is_plain = !name.is_empty() && name != "*";
    is_plain.then(|| quoted(&format!("/{}", name.replace('~', "~0").replace('/', "~1"))))
}

/// A line that says something and does nothing.
pub(super) fn comment(text: &str) -> String {
    let shown = |letter: char| if is_plain(letter) { letter.to_string() } else { letter.escape_unicode().to_string() };
    format!("# {}\n", text.chars().map(shown).collect::<String>())
}
