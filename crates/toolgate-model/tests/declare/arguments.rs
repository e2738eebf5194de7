//! The way back: from the arguments of a model to those of the tool.

use serde_json::{Value, json};
use toolgate_model::provider::Provider;

use crate::cases::declared;
use crate::subsets::PROVIDERS;

/// What a schema makes of arguments, for some providers.
#[track_caller]
fn check(providers: &[Provider], schema: &Value, cases: &[(Value, Value)]) {
    for &provider in providers {
        let declaration = declared(provider, schema);
        for (given, meant) in cases {
            let restored = declaration.restore(given.clone());
            assert_eq!(restored.as_ref(), Ok(meant), "{provider:?} {given}\n{:#}", json!(declaration.parameters));
        }
    }
}

#[test]
fn what_a_declaration_changed_is_undone() {
    let gemini = &[Provider::Gemini][..];
    let schema = json!({
        "type": "object",
        "properties": {
            "level": {"type": "integer", "enum": [1, 2]},
            "mode": {"enum": ["", "x", true, null]},
            "headers": {"type": "object", "additionalProperties": {"type": "integer", "enum": [7, 8]}},
            "free": {"type": "object"},
            "any": {},
            "max-results": {"type": "integer"},
            "deep": {"type": "array", "items": {"type": "object", "properties": {"@id": {"type": "string"}, "n": {"const": 1}}}},
        },
        "additionalProperties": {"type": "string"},
    });
    let cases = [
        (json!({"level": "2"}), json!({"level": 2})),
        (json!({"level": 2}), json!({"level": 2})),
        (json!({"level": "3"}), json!({"level": "3"})),
        (json!({"mode": "(empty)"}), json!({"mode": ""})),
        (json!({"mode": "true"}), json!({"mode": true})),
        (json!({"mode": null}), json!({"mode": null})),
        (
            json!({"headers": [{"key": "a", "value": "7"}, {"key": "b", "value": "8"}]}),
            json!({"headers": {"a": 7, "b": 8}}),
        ),
        (json!({"headers": {"a": "7"}}), json!({"headers": {"a": 7}})),
        (json!({"headers": [1]}), json!({"headers": [1]})),
        (json!({"free": "{\"a\": [1]}"}), json!({"free": {"a": [1]}})),
        (json!({"free": {"a": 1}}), json!({"free": {"a": 1}})),
        (json!({"free": "no JSON"}), json!({"free": "no JSON"})),
        (json!({"any": "[1]"}), json!({"any": [1]})),
        (json!({"any": "1"}), json!({"any": "1"})),
        (json!({"any": 1.5}), json!({"any": 1.5})),
        (json!({"max_results": 3}), json!({"max-results": 3})),
        (json!({"max-results": 3}), json!({"max-results": 3})),
        (json!({"deep": [{"id": "x", "n": "1"}]}), json!({"deep": [{"@id": "x", "n": 1}]})),
        (json!({"other_properties": [{"key": "q", "value": "r"}]}), json!({"q": "r"})),
        (json!({"other_properties": {"q": "r"}}), json!({"q": "r"})),
        (json!({"other_properties": null}), json!({})),
        (json!({"other_properties": 5}), json!({"other_properties": 5})),
        (json!({"other_properties": [{"key": "level", "value": "r"}], "level": "1"}), json!({"level": 1})),
    ];
    check(gemini, &schema, &cases);
}

#[test]
fn keys_come_back() {
    let schema = json!({
        "type": "object",
        "properties": {
            "filter[id]": {"type": "string"}, "filter(id)": {"type": "string"}, "filter_id": {"type": "string"},
            "имя": {"type": "string"}, "年": {"type": "integer"}, "": {"type": "boolean"},
        },
        "required": ["имя"],
    });
    for provider in PROVIDERS {
        let declaration = declared(provider, &schema);
        let parameters = declaration.parameters.clone().unwrap();
        let properties = parameters["properties"].as_object().unwrap();
        assert_eq!(properties.len(), 6, "{parameters}");
        assert!(properties.contains_key("filter_id"), "a key that fits keeps its name: {parameters}");
        let mut given = serde_json::Map::new();
        for (key, property) in properties {
            let value = match property["type"].as_str() {
                Some("integer") => json!(4),
                Some("boolean") => json!(true),
                _ => property["description"].as_str().map_or(json!("filter_id"), |text| {
                    serde_json::from_str(text.trim_start_matches("Named ").trim_end_matches(" by the tool.")).unwrap()
                }),
            };
            given.insert(key.clone(), value);
        }
        let meant = json!({
            "filter[id]": "filter[id]", "filter(id)": "filter(id)", "filter_id": "filter_id", "имя": "имя", "年": 4, "": true,
        });
        assert_eq!(declaration.restore(given.into()), Ok(meant), "{provider:?}");
    }
}

#[test]
fn a_root_that_was_wrapped_is_unwrapped() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    check(
        &PROVIDERS,
        &list,
        &[(json!({"value": [1]}), json!([1])), (json!({"value": "[1]"}), json!([1])), (json!({}), json!({}))],
    );
}

#[test]
fn alternatives_are_told_apart() {
    let schema = json!({"type": "object", "properties": {"x": {"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "n-1": {"enum": [1]}}, "required": ["kind"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "m-1": {"type": "object"}}, "required": ["kind"]},
        {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}},
        {"type": "integer"},
    ]}}});
    let cases = [
        (json!({"x": {"kind": "a", "n_1": "1"}}), json!({"x": {"kind": "a", "n-1": 1}})),
        (json!({"x": {"kind": "b", "m_1": "{}"}}), json!({"x": {"kind": "b", "m-1": {}}})),
        (json!({"x": [[{"key": "a", "value": "b"}]]}), json!({"x": [{"a": "b"}]})),
        (json!({"x": 5}), json!({"x": 5})),
        (json!({"x": true}), json!({"x": true})),
    ];
    check(&[Provider::Gemini], &schema, &cases);
}

#[test]
fn what_models_often_get_wrong_is_put_right() {
    let schema = json!({
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}},
            "where": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            "text": {"type": "string"},
            "either": {"type": ["string", "array"]},
            "zero": {"type": ["string", "null"]},
        },
        "required": ["text"],
    });
    let cases = [
        (json!({"names": "[{\"a\": \"x\"}]"}), json!({"names": [{"a": "x"}]})),
        (json!({"where": "{\"city\": \"Ulm\"}"}), json!({"where": {"city": "Ulm"}})),
        (json!({"where": "{\"city\": "}), json!({"where": "{\"city\": "})),
        (json!({"where": "[]"}), json!({"where": "[]"})),
        (json!({"text": "[1]"}), json!({"text": "[1]"})),
        (json!({"either": "[1]"}), json!({"either": "[1]"})),
        (json!({"names": null, "where": null, "text": "t"}), json!({"text": "t"})),
        (json!({"names": [{"a": "x", "b": null}]}), json!({"names": [{"a": "x"}]})),
        (json!({"text": null, "zero": null}), json!({"text": null, "zero": null})),
        (json!({"where": {"city": null}}), json!({"where": {"city": null}})),
        (json!({"text": 5, "unknown": {"a": [null]}}), json!({"text": 5, "unknown": {"a": [null]}})),
        (json!("{\"text\": \"t\"}"), json!({"text": "t"})),
        (json!(null), json!({})),
        (json!(""), json!({})),
    ];
    check(&PROVIDERS, &schema, &cases);
}

#[test]
fn arguments_that_are_no_object_are_reported() {
    let declaration = declared(Provider::OpenAi, &json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    for (given, expected) in [
        (json!([1]), "the arguments of `tool` are a list, not a JSON object"),
        (json!("{\"a\": "), "the arguments of `tool` are a text, not a JSON object"),
        (json!(7), "the arguments of `tool` are a number, not a JSON object"),
    ] {
        assert_eq!(declaration.restore(given).unwrap_err().to_string(), expected);
    }
}
