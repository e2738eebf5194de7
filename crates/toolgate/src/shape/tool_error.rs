//! Whether a tool says that it failed, and how that is said.

use toolgate_wire::RawJson;
use toolgate_wire::view::CallResult;

/// Whether the result says that the tool failed: `isError`, also as the word `"true"` or inside an `error` object, as servers write it.
pub fn reports_error(result: &CallResult) -> bool {
    let says_so =
        |object: &RawJson| object.member("isError").is_some_and(|flag| matches!(flag.as_str(), "true" | "\"true\""));
    result.is_error || says_so(&result.raw) || result.raw.member("error").is_some_and(|error| says_so(&error))
}

/// The line a person gets in front of what the tool said.
pub fn line(tool: &str) -> String {
    format!("Error from MCP tool {tool}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_recognised_in_every_spelling() {
        let cases = [
            (r#"{"content":[]}"#, false),
            (r#"{"content":[],"isError":false}"#, false),
            (r#"{"content":[],"isError":true}"#, true),
            (r#"{"content":[],"isError":"true"}"#, true),
            (r#"{"content":[],"isError":"false"}"#, false),
            (r#"{"content":[],"isError":1}"#, false),
            (r#"{"error":{"isError":true}}"#, true),
            (r#"{"error":{"isError":"true"}}"#, true),
            (r#"{"error":"broken"}"#, false),
        ];
        for (text, expected) in cases {
            let result = CallResult::read(RawJson::from_bytes(text).unwrap()).unwrap();
            assert_eq!(reports_error(&result), expected, "{text}");
        }
    }
}
