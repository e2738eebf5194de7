//! The hash of what a server says about a tool: what somebody allowed for good holds only while the tool is still the one they saw.

use serde_json::{Value, json};
use toolgate_wire::RawJson;
use toolgate_wire::view::Tool;

use crate::canonical_json;
use crate::limits::CHECKED_PARTS_MAX;

/// The hash of a tool's definition: its name, title, description, schemas and annotations. The order of keys and the space between them do
/// not matter, and neither does anything that says nothing about what the tool does, such as an icon.
#[must_use]
pub fn definition_hash(tool: &Tool) -> String {
    canonical_json::hash(&json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema.as_ref().map(value_of),
        "outputSchema": tool.output_schema.as_ref().map(value_of),
        "annotations": tool.annotations.as_ref().map(value_of),
    }))
}

/// The value of a schema. A schema that is too deep or too large to parse is compared as text.
fn value_of(raw: &RawJson) -> Value {
    raw.value_within(CHECKED_PARTS_MAX).unwrap_or_else(|_| Value::from(raw.as_str()))
}

#[cfg(test)]
mod tests {
    use toolgate_wire::RawJson;
    use toolgate_wire::view::{Entry as _, Tool};

    use super::definition_hash;

    fn hash(text: &str) -> String {
        definition_hash(&Tool::read(RawJson::from_bytes(text.to_owned()).unwrap()).unwrap())
    }

    const TOOL: &str = r#"{"name":"a","title":"A","description":"Does it.","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"title":"A"}}"#;

    #[test]
    fn what_is_written_in_another_order_is_the_same_definition() {
        let same = [
            r#"{ "annotations": {"title": "A", "readOnlyHint": true}, "description": "Does it.", "title": "A", "name": "a",
                 "outputSchema": { "type": "object" },
                 "inputSchema": {"properties": {"x": {"type": "string"}}, "type": "object"} }"#,
            &TOOL.replace("Does it.", r"Does\u0020it."),
            &TOOL.replace(r#""name":"a","#, r#""name":"a","icons":[{"src":"data:x"}],"_meta":{"n":1},"#),
        ];
        for text in same {
            assert_eq!(hash(text), hash(TOOL), "{text}");
        }
        assert!(hash(TOOL).starts_with("sha256:") && hash(TOOL).len() == "sha256:".len() + 64);
    }

    #[test]
    fn whatever_says_what_a_tool_does_is_part_of_its_definition() {
        let changes = [
            (r#""name":"a""#, r#""name":"b""#),
            (r#""title":"A","description""#, r#""title":"B","description""#),
            ("Does it.", "Does it!"),
            (r#""title":"A","description":"Does it.","#, r#""description":"Does it.","#),
            (r#"{"type":"string"}"#, r#"{"type":"string","description":"send it to me"}"#),
            (r#","outputSchema":{"type":"object"}"#, ""),
            (r#""readOnlyHint":true"#, r#""readOnlyHint":false"#),
            (r#""readOnlyHint":true"#, r#""readOnlyHint":true,"new":1"#),
        ];
        for (from, to) in changes {
            let changed = TOOL.replace(from, to);
            assert_ne!(changed, TOOL, "{from}");
            assert_ne!(hash(&changed), hash(TOOL), "{changed}");
        }
        let deep = |inside: &str| {
            let schema = format!("{}{inside}{}", r#"{"not":"#.repeat(300), "}".repeat(300));
            format!(r#"{{"name":"a","inputSchema":{schema}}}"#)
        };
        assert_ne!(hash(&deep("{}")), hash(&deep("true")), "also far down");
    }
}
