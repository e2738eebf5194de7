//! Tests of forms: schemas to questions, typed words to answers.

use serde_json::json;
use toolgate::RawJson;

use super::{Choice, Field, Kind, answer, fields};

fn one(schema: &serde_json::Value) -> Field {
    let form = json!({"type": "object", "properties": {"it": schema}, "required": ["it"]});
    fields(&RawJson::from(form)).unwrap().remove(0)
}

#[test]
fn questions_stand_in_the_order_of_the_schema() {
    let schema = r#"{"type":"object","properties":{"zone":{"type":"string","title":"Time zone"},"age":{"type":"integer"},"ok":{"type":"boolean","default":true}},"required":["age"]}"#;
    let fields = fields(&RawJson::from_bytes(schema).unwrap()).unwrap();
    let shown: Vec<_> = fields.iter().map(|field| (field.label(), field.is_required, field.default_text())).collect();
    assert_eq!(shown, [("Time zone", false, None), ("age", true, None), ("ok", false, Some("true".to_owned()))]);
}

#[test]
fn typed_answers_are_checked() {
    let text = |more: serde_json::Value| {
        let mut schema = json!({"type": "string"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let whole = json!({"type": "integer", "minimum": 1, "maximum": 9});
    let cases = [
        (text(json!({})), "a b", Ok(json!("a b"))),
        (text(json!({})), "", Err("an answer is needed")),
        (text(json!({"minLength": 3})), "工具", Err("at least 3 characters")),
        (text(json!({"maxLength": 2})), "工具", Ok(json!("工具"))),
        (text(json!({"maxLength": 1})), "工具", Err("at most 1 characters")),
        (text(json!({"format": "email"})), "a@b.example", Ok(json!("a@b.example"))),
        (text(json!({"format": "email"})), "nobody", Err("this is not a valid email")),
        (text(json!({"format": "uri"})), "https://x.example", Ok(json!("https://x.example"))),
        (text(json!({"format": "uri"})), "x.example", Err("this is not a valid uri")),
        (text(json!({"format": "date"})), "2026-02-30", Ok(json!("2026-02-30"))),
        (text(json!({"format": "date"})), "30.2.2026", Err("this is not a valid date")),
        (text(json!({"format": "date-time"})), "2026-02-03T10:00:00Z", Ok(json!("2026-02-03T10:00:00Z"))),
        (text(json!({"format": "unheard-of"})), "x", Ok(json!("x"))),
        (whole.clone(), " 7 ", Ok(json!(7))),
        (whole.clone(), "0", Err("at least 1")),
        (whole.clone(), "10", Err("at most 9")),
        (whole.clone(), "7.5", Err("a whole number is needed")),
        (whole, " ", Err("an answer is needed")),
        (json!({"type": "number"}), "7.5", Ok(json!(7.5))),
        (json!({"type": "number"}), "many", Err("a number is needed")),
        (json!({"type": "number"}), "NaN", Err("a number is needed")),
        (json!({"type": "object"}), r#"{"a":1}"#, Ok(json!({"a": 1}))),
    ];
    for (schema, typed, expected) in cases {
        let found = one(&schema).read(typed);
        let expected = expected.map(Some).map_err(ToOwned::to_owned);
        assert_eq!(found, expected, "{schema} with {typed:?}");
    }
    let optional = fields(&RawJson::from(json!({"properties": {"it": {"type": "number"}}}))).unwrap().remove(0);
    assert_eq!(optional.read(""), Ok(None));
}

#[test]
fn choices_are_found_however_they_are_spelled() {
    let plain = |labels: [&str; 2]| {
        let values = ["a", "b"].iter().zip(labels);
        values.map(|(value, label)| Choice { value: json!(value), label: label.to_owned() }).collect::<Vec<_>>()
    };
    let titled = json!([{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]);
    let single = [
        (json!({"type": "string", "enum": ["a", "b"]}), plain(["a", "b"])),
        (json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}), plain(["A", "B"])),
        (json!({"type": "string", "oneOf": titled}), plain(["A", "B"])),
    ];
    for (schema, choices) in single {
        assert_eq!(one(&schema).kind, Kind::OneOf(choices), "{schema}");
    }
    let several = [json!({"type": "string", "enum": ["a", "b"]}), json!({"anyOf": titled})];
    for items in several {
        let field = one(&json!({"type": "array", "items": items, "minItems": 1, "maxItems": 1}));
        assert!(matches!(field.kind, Kind::SomeOf { .. }), "{items}");
        assert_eq!(field.check_count(0), Err("at least 1 choices".to_owned()));
        assert_eq!(field.check_count(1), Ok(()));
        assert_eq!(field.check_count(2), Err("at most 1 choices".to_owned()));
    }
}

#[test]
fn nobody_is_asked_without_end() {
    let properties: serde_json::Map<_, _> =
        (0..33).map(|number| (format!("f{number}"), json!({"type": "string"}))).collect();
    let error = fields(&RawJson::from(json!({"properties": properties}))).unwrap_err();
    assert_eq!(error, "the form has 33 questions; at most 32 are asked");
    assert_eq!(answer(vec![("a".to_owned(), json!(1))]).as_str(), r#"{"a":1}"#);
}
