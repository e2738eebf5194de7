//! A `null` for a parameter that need not be there and cannot be `null` means that it is not there: models say it like that.

use serde_json::Value;
use toolgate_wire::RawJson;

/// The arguments without such members. Everything else stays as it was written.
pub(super) fn without_idle_nulls(arguments: RawJson, schema: Option<&RawJson>) -> RawJson {
    let has_null = arguments.as_str().contains("null");
    let Some(schema) = schema.filter(|_| has_null && arguments.is_object()) else { return arguments };
    let Ok(schema) = schema.read::<Value>() else { return arguments };
    let members = arguments.members();
    let is_idle = |(name, value): &&(String, RawJson)| value.is_null() && is_left_out(&schema, name);
    if !members.iter().any(|member| is_idle(&member)) {
        return arguments;
    }
    let kept = members.iter().filter(|member| !is_idle(member));
    kept.fold(RawJson::EMPTY_OBJECT, |object, (name, value)| object.with_member(name, value))
}

/// Only where the schema says plainly what the parameter is.
fn is_left_out(schema: &Value, name: &str) -> bool {
    let is_required = schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let property = &schema["properties"][name];
    let takes_null = match &property["type"] {
        Value::String(kind) => kind == "null",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "null"),
        _ => true,
    };
    !is_required && !takes_null && property["nullable"] != true
}

#[cfg(test)]
mod tests {
    use super::without_idle_nulls;
    use serde_json::json;
    use toolgate_wire::RawJson;

    #[test]
    fn a_null_that_cannot_be_meant_is_left_out() {
        let schema = RawJson::from(json!({
            "type": "object",
            "required": ["must"],
            "properties": {
                "must": {"type": "string"}, "flag": {"type": "boolean"}, "both": {"type": ["string", "null"]},
                "old": {"type": "string", "nullable": true}, "any": {}, "none": {"type": "null"},
            },
        }));
        let cases = [
            (r#"{"must": "a", "flag": null}"#, r#"{"must":"a"}"#),
            (r#"{"flag": null}"#, "{}"),
            (r#"{"must": null}"#, r#"{"must": null}"#),
            (
                r#"{"both": null, "old": null, "any": null, "none": null}"#,
                r#"{"both": null, "old": null, "any": null, "none": null}"#,
            ),
            (r#"{"unknown": null}"#, r#"{"unknown": null}"#),
            (r#"{"flag": "null"}"#, r#"{"flag": "null"}"#),
            (r#"{"flag": {"a": null}}"#, r#"{"flag": {"a": null}}"#),
            (r#"{"big": 12345678901234567890.10, "flag": null}"#, r#"{"big":12345678901234567890.10}"#),
        ];
        for (written, expected) in cases {
            let given = RawJson::from_bytes(written).unwrap();
            assert_eq!(without_idle_nulls(given, Some(&schema)).to_string(), expected, "{written}");
        }
    }
}
