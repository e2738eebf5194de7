//! Arguments as they are kept, as tables.

use serde_json::{Value, json};
use toolgate_wire::RawJson;

use super::{ArgumentsKept, Kept, arguments, covered_text, message, name};
use crate::limits::{AUDIT_ARGUMENTS_BYTES_MAX, AUDIT_FULL_ARGUMENTS_BYTES_MAX, COVERED_TEXT_START_BYTES};

fn redacted(value: &Value, schema: Option<&Value>) -> Kept {
    let schema: Option<RawJson> = schema.map(|schema| schema.clone().into());
    arguments(&value.clone().into(), schema.as_ref(), ArgumentsKept::Redacted)
}

#[test]
fn secrets_are_covered_by_name_and_by_form() {
    let cases = [
        (json!({"path": "a", "n": 1, "deep": [{"x": null}]}), json!({"path": "a", "n": 1, "deep": [{"x": null}]}), 0),
        (json!({"password": "x"}), json!({"password": "[secret]"}), 1),
        (json!({"password": null, "auth": true}), json!({"password": null, "auth": true}), 0),
        (json!({"pwd": 1234}), json!({"pwd": "[secret]"}), 1),
        (json!({"credentials": {"user": "a", "x": ["b"]}}), json!({"credentials": "[secret]"}), 1),
        (json!({"env": [{"API_KEY": "x", "LANG": "C"}]}), json!({"env": [{"API_KEY": "[secret]", "LANG": "C"}]}), 1),
        (json!({"command": "TOKEN=abc make"}), json!({"command": "TOKEN=[secret] make"}), 1),
        (json!({"author": "ada", "key": "k"}), json!({"author": "ada", "key": "k"}), 0),
        (json!([]), json!([]), 0),
    ];
    for (value, expected, covered) in cases {
        let kept = redacted(&value, None);
        assert_eq!((&kept.value, kept.covered), (&expected, covered), "{value}");
    }
}

#[test]
fn secrets_are_covered_by_schema() {
    let password = json!({"type": "string", "format": "password"});
    let cases = [
        (json!({"properties": {"p": password}}), json!({"p": "x", "q": "y"}), json!({"p": "[secret]", "q": "y"})),
        (json!({"properties": {"p": {"writeOnly": true}}}), json!({"p": [1]}), json!({"p": "[secret]"})),
        (json!({"properties": {"p": {"writeOnly": false}}}), json!({"p": 1}), json!({"p": 1})),
        (json!({"properties": {"p": {"items": password}}}), json!({"p": ["x"]}), json!({"p": ["[secret]"]})),
        (json!({"properties": {"p": {"prefixItems": [password]}}}), json!({"p": ["x"]}), json!({"p": ["[secret]"]})),
        (
            json!({"properties": {"p": {"anyOf": [{"type": "null"}, password]}}}),
            json!({"p": "x"}),
            json!({"p": "[secret]"}),
        ),
        (
            json!({"properties": {"p": {"$ref": "#/$defs/s"}}, "$defs": {"s": password}}),
            json!({"p": "x"}),
            json!({"p": "[secret]"}),
        ),
        (
            json!({"properties": {"p": {"$ref": "#"}, "q": password}}),
            json!({"p": {"p": {"q": "x"}}}),
            json!({"p": {"p": {"q": "[secret]"}}}),
        ),
        (json!({"additionalProperties": password}), json!({"a": "x"}), json!({"a": "[secret]"})),
        (json!({"patternProperties": {"^a": password}}), json!({"a": "x"}), json!({"a": "[secret]"})),
        (
            json!({"allOf": [{"$ref": "#"}, {"$ref": "#/allOf/0"}], "x": "password"}),
            json!({"a": "x"}),
            json!({"a": "x"}),
        ),
        (json!({"properties": {"p": true}, "title": "password"}), json!({"p": "x"}), json!({"p": "x"})),
    ];
    for (schema, value, expected) in cases {
        assert_eq!(redacted(&value, Some(&schema)).value, expected, "{schema}");
    }
}

#[test]
fn the_hash_is_that_of_the_arguments_and_tells_no_secret() {
    let hash = |value: Value| redacted(&value, None).hash;
    assert_eq!(hash(json!({"a": 1, "b": 2})), hash(json!({"b": 2, "a": 1})));
    assert_ne!(hash(json!({"a": 1})), hash(json!({"a": 2})));
    assert_eq!(hash(json!({"pin": 1, "password": "1"})), hash(json!({"pin": 1, "password": "2"})));
    let long = |end: &str| json!({"content": format!("{}{end}", "x".repeat(10_000))});
    assert_ne!(hash(long("a")), hash(long("b")));
    assert_ne!(redacted(&long("a"), None).value, redacted(&long("b"), None).value);
}

#[test]
fn what_is_long_is_cut_and_says_so() {
    let long = "é".repeat(3_000);
    let kept = redacted(&json!({"content": long}), None);
    let text = kept.value["content"].as_str().unwrap();
    assert!(text.starts_with(&"é".repeat(200)) && text.contains("… [6000 bytes, sha256:"), "{text}");
    assert_eq!(kept.covered, 1);
    let many: Vec<u32> = (0..5_000).collect();
    let kept = redacted(&json!({"many": many}), None);
    let elements = kept.value["many"].as_array().unwrap();
    assert!(elements.len() < 1_002 && elements.last().unwrap().as_str().unwrap().contains(" more, sha256:"));
    let wide: serde_json::Map<String, Value> = (0..5_000).map(|nth| (format!("k{nth}"), json!(nth))).collect();
    let kept = redacted(&Value::Object(wide), None);
    assert!(kept.value.as_object().unwrap().len() <= 1_001 && kept.value["…"].is_string());
    let secret_at_the_cut = format!("{} sk-{}", "x".repeat(195), "a1".repeat(2_000));
    let kept = redacted(&json!({"t": secret_at_the_cut}), None);
    assert!(!kept.value.to_string().contains("a1a1"), "{}", kept.value);
}

#[test]
fn nothing_is_ever_large() {
    let texts: Vec<String> = (0..900).map(|_| "\u{1}".repeat(1_900)).collect();
    let value = json!({"texts": texts, "deep": {"more": "x".repeat(1_000_000)}});
    for (keep, bytes_max) in
        [(ArgumentsKept::Redacted, AUDIT_ARGUMENTS_BYTES_MAX), (ArgumentsKept::Full, AUDIT_FULL_ARGUMENTS_BYTES_MAX)]
    {
        let kept = arguments(&value.clone().into(), None, keep);
        assert!(kept.value.to_string().len() <= bytes_max && kept.covered > 0, "{keep:?}");
    }
    let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
    let deep = RawJson::from_bytes(deep).unwrap();
    assert!(arguments(&deep, None, ArgumentsKept::Redacted).value.to_string().len() < 10_000);
    assert_eq!(name(&"x".repeat(1_000)).chars().count(), 513);
    assert_eq!(message(&format!("password=abc {}", "x".repeat(100_000))).chars().count(), 1_001);
}

#[test]
fn full_keeps_everything() {
    let value = json!({"password": "x", "content": "y".repeat(50_000)});
    let kept = arguments(&value.clone().into(), None, ArgumentsKept::Full);
    assert_eq!((kept.value, kept.covered), (value, 0));
}

#[test]
fn of_a_text_that_is_too_long_the_beginning_is_shown() {
    let word = "password=hunter2 ";
    let cases = [
        format!("{{\"password\": \"hunter2\", \"x\": \"{}\"}}", "y".repeat(2_000_000)),
        format!("[{}1]", "[\"token\", \"hunter2\"],".repeat(60_000)),
        format!("{}password=hunter2{}", ", ".repeat(COVERED_TEXT_START_BYTES / 2 - 7), "z".repeat(2_000_000)),
        word.repeat(80_000),
        "\u{e4}".repeat(2_000_000),
    ];
    for text in cases {
        let shown = covered_text(&text);
        assert!(!shown.contains("hunter2"), "{}", shown.get(..200).unwrap_or_default());
        assert!(shown.len() < 2 * COVERED_TEXT_START_BYTES && shown.ends_with(" bytes more]"), "{}", shown.len());
    }
    assert_eq!(covered_text("plain"), "plain");
}
