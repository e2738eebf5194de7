//! One schema after the other, in the words of each provider.

use serde_json::{Value, json};
use toolgate_model::declare::{Declaration, ToolSource, declare};
use toolgate_model::provider::Provider;

use crate::subsets::{PROVIDERS, breaches};

/// The declaration of a tool with a schema; it must be accepted.
#[track_caller]
pub(crate) fn declared(provider: Provider, schema: &Value) -> Declaration {
    let text = schema.to_string();
    let mut declarations = declare(provider, [ToolSource { name: "tool", description: "Does it.", schema: &text }]);
    assert_eq!(declarations.quarantined, [], "{schema}");
    let broken = breaches(provider, &declarations);
    assert!(broken.is_empty(), "{provider:?} {schema}\n{broken:#?}\n{:#}", json!(declarations.accepted[0].parameters));
    declarations.accepted.remove(0)
}

/// What is declared for a property `x` with this schema.
#[track_caller]
fn property(provider: Provider, schema: &Value) -> Value {
    let declaration = declared(provider, &json!({"type": "object", "properties": {"x": schema}}));
    declaration.parameters.map_or(Value::Null, |parameters| parameters["properties"]["x"].clone())
}

#[track_caller]
fn check(schema: &Value, google: &Value, others: &Value) {
    assert_eq!(property(Provider::Gemini, schema), *google, "Gemini, {schema}");
    assert_eq!(property(Provider::OpenAi, schema), *others, "OpenAI, {schema}");
    assert_eq!(property(Provider::Anthropic, schema), *others, "Anthropic, {schema}");
}

#[test]
fn simple_values() {
    let cases = [
        (json!({"type": "string"}), json!({"type": "string"}), json!({"type": "string"})),
        (
            json!({"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$", "description": "A word"}),
            json!({"type": "string", "description": "A word. Pattern: ^[a-z]+$. 1 to 9 characters."}),
            json!({"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$", "description": "A word"}),
        ),
        (
            json!({"type": "string", "pattern": "(?=x)"}),
            json!({"type": "string", "description": "Pattern: (?=x)"}),
            json!({"type": "string", "description": "Pattern: (?=x)"}),
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!({"type": "string", "format": "date-time"}),
            json!({"type": "string", "format": "date-time"}),
        ),
        (
            json!({"type": "string", "format": "uri-template"}),
            json!({"type": "string", "description": "Format: uri-template."}),
            json!({"type": "string", "description": "Format: uri-template."}),
        ),
        (
            json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 10, "default": 5}),
            json!({"type": "integer", "minimum": 1, "maximum": 10, "description": "Default: 5."}),
            json!({"type": "integer", "minimum": 1, "maximum": 10, "default": 5}),
        ),
        (
            json!({"type": "number", "minimum": 0, "exclusiveMinimum": true, "multipleOf": 0.5}),
            json!({"type": "number", "description": "More than 0. A multiple of 0.5."}),
            json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}),
        ),
        (
            json!({"type": "integer", "minimum": -9_007_199_254_740_991_i64, "maximum": 9_007_199_254_740_991_i64}),
            json!({"type": "integer"}),
            json!({"type": "integer"}),
        ),
        (
            json!({"type": "string", "examples": ["a", "b"], "deprecated": true, "$comment": "x", "readOnly": true}),
            json!({"type": "string", "description": "Deprecated. Example: \"a\"."}),
            json!({"type": "string", "description": "Deprecated. Example: \"a\"."}),
        ),
        (json!({"type": "boolean", "title": "X"}), json!({"type": "boolean"}), json!({"type": "boolean"})),
        (
            json!({"type": "boolean", "title": "Whether"}),
            json!({"type": "boolean", "description": "Whether"}),
            json!({"type": "boolean", "description": "Whether"}),
        ),
    ];
    for (schema, google, others) in &cases {
        check(schema, google, others);
    }
}

#[test]
fn values_that_are_listed() {
    let cases = [
        (
            json!({"enum": ["a", "b"]}),
            json!({"type": "string", "enum": ["a", "b"]}),
            json!({"type": "string", "enum": ["a", "b"]}),
        ),
        (json!({"const": "a"}), json!({"type": "string", "enum": ["a"]}), json!({"type": "string", "enum": ["a"]})),
        (
            json!({"type": "integer", "enum": [1, 2]}),
            json!({"type": "string", "enum": ["1", "2"]}),
            json!({"type": "integer", "enum": [1, 2]}),
        ),
        (
            json!({"type": ["string", "null"], "enum": ["a", "", null]}),
            json!({"anyOf": [{"type": "string", "enum": ["a", "(empty)"]}, {"type": "null"}]}),
            json!({"enum": ["a", "", null]}),
        ),
        (
            json!({"enum": ["1", 1, true]}),
            json!({"type": "string", "enum": ["1", "integer 1", "true"]}),
            json!({"enum": ["1", 1, true]}),
        ),
        (
            json!({"anyOf": [{"const": "a", "description": "First"}, {"const": "b", "title": "Second"}]}),
            json!({"type": "string", "enum": ["a", "b"], "description": "\"a\": First. \"b\": Second"}),
            json!({"type": "string", "enum": ["a", "b"], "description": "\"a\": First. \"b\": Second"}),
        ),
        (
            json!({"type": "string", "enum": ["a", 1]}),
            json!({"type": "string", "enum": ["a"]}),
            json!({"type": "string", "enum": ["a"]}),
        ),
    ];
    for (schema, google, others) in &cases {
        check(schema, google, others);
    }
}

#[test]
fn unions_and_conjunctions() {
    let text_or_null = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    let text_or_number = json!({"anyOf": [{"type": "string"}, {"type": "number"}]});
    let cases = [
        (json!({"type": ["string", "null"]}), text_or_null.clone(), text_or_null.clone()),
        (json!({"type": "string", "nullable": true}), text_or_null.clone(), text_or_null.clone()),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), text_or_null.clone(), text_or_null),
        // Left out says the same.
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "X"}),
            json!({"type": "string"}),
            json!({"type": "string"}),
        ),
        (
            json!({"oneOf": [{"type": "number"}, {"type": "string"}]}),
            json!({"anyOf": [{"type": "number"}, {"type": "string"}]}),
            json!({"anyOf": [{"type": "number"}, {"type": "string"}]}),
        ),
        (
            json!({"type": ["number", "string"], "description": "Either"}),
            json!({"anyOf": [{"type": "string", "description": "Either"}, {"type": "number"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "number"}], "description": "Either"}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"anyOf": [{"type": "number"}, {"type": "string"}]}]}),
            text_or_number.clone(),
            text_or_number,
        ),
        (
            json!({"allOf": [{"type": "integer", "minimum": 1}, {"type": "number", "minimum": 3, "maximum": 9}]}),
            json!({"type": "integer", "minimum": 3, "maximum": 9}),
            json!({"type": "integer", "minimum": 3, "maximum": 9}),
        ),
        (
            json!({"allOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"type": "object", "properties": {"a": {"enum": ["q", 1]}, "b": {"type": "boolean"}}, "required": ["b"]},
            ]}),
            json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["q"]}, "b": {"type": "boolean"}}, "required": ["a", "b"]}),
            json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["q"]}, "b": {"type": "boolean"}}, "required": ["a", "b"]}),
        ),
        // Which go together is told, and the object stays one.
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "description": "Give at least one of: a; b."}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "description": "Give at least one of: a; b."}),
        ),
        // What stands beside a union holds for each alternative.
        (
            json!({"type": "object", "properties": {"k": {"type": "string"}}, "anyOf": [
                {"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "number"}}},
            ]}),
            json!({"anyOf": [
                {"type": "object", "properties": {"a": {"type": "string"}, "k": {"type": "string"}}},
                {"type": "object", "properties": {"b": {"type": "number"}, "k": {"type": "string"}}},
            ]}),
            json!({"anyOf": [
                {"type": "object", "properties": {"a": {"type": "string"}, "k": {"type": "string"}}},
                {"type": "object", "properties": {"b": {"type": "number"}, "k": {"type": "string"}}},
            ]}),
        ),
        (
            json!({"not": {"type": "null"}, "type": "string"}),
            json!({"type": "string", "description": "Not: {\"type\":\"null\"}."}),
            json!({"type": "string", "description": "Not: {\"type\":\"null\"}."}),
        ),
    ];
    for (schema, google, others) in &cases {
        check(schema, google, others);
    }
}

#[test]
fn lists_and_maps() {
    let entries = |value: Value| {
        let entry = json!({"type": "object", "properties": {"key": {"type": "string"}, "value": value}, "required": ["key", "value"]});
        json!({"type": "array", "items": entry})
    };
    let anything = json!({"anyOf": [
        {"type": "string", "description": "A text; an object or a list is written as JSON."}, {"type": "number"}, {"type": "boolean"},
    ]});
    let as_text = json!({"type": "string", "description": "A JSON object, written as text."});
    let cases = [
        (
            json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 500, "uniqueItems": true}),
            json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "At most 500 items. No item twice."}),
            json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 500, "uniqueItems": true}),
        ),
        (json!({"type": "array"}), json!({"type": "array", "items": anything}), json!({"type": "array", "items": {}})),
        (
            json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": false, "minItems": 2}),
            json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2, "description": "In this order: number, number."}),
            json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2, "description": "In this order: number, number."}),
        ),
        (
            json!({"type": "array", "items": [{"type": "string"}, {"type": "number"}], "additionalItems": false}),
            json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}, "maxItems": 2, "description": "In this order: string, number."}),
            json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}, "maxItems": 2, "description": "In this order: string, number."}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            entries(json!({"type": "string"})),
            json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
        ),
        (json!({"type": "object"}), as_text.clone(), json!({"type": "object", "properties": {}})),
        (
            json!({"type": "object", "additionalProperties": true}),
            as_text,
            json!({"type": "object", "properties": {}, "additionalProperties": true}),
        ),
        (
            json!({"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": false}),
            {
                let mut schema = entries(json!({"type": "integer"}));
                schema["description"] = json!("Names match ^x-.");
                schema
            },
            json!({"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}, "description": "Names match ^x-."}),
        ),
        (
            json!({"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "number"}}),
            json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}),
            json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "additionalProperties": false}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"], "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": anything}, "required": ["a", "b"]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"], "additionalProperties": false}),
        ),
        (json!({}), anything.clone(), json!({})),
        (json!(true), anything, json!({})),
        (json!(false), Value::Null, Value::Null),
    ];
    for (schema, google, others) in &cases {
        check(schema, google, others);
    }
}

#[test]
fn references_are_written_out() {
    let schema = |reference: &str| {
        json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"x": {"$ref": reference, "description": "Mine"}},
            "$defs": {"a/b": {"type": "string", "description": "Theirs"}, "n": {"$anchor": "here", "type": "integer"}},
            "definitions": {"old": {"$ref": "#/$defs/n"}},
        })
    };
    let cases = [
        ("#/$defs/a~1b", json!({"type": "string", "description": "Mine"})),
        ("#here", json!({"type": "integer", "description": "Mine"})),
        ("#/definitions/old", json!({"type": "integer", "description": "Mine"})),
        ("https://example.com/elsewhere.json", json!({"description": "Mine"})),
    ];
    for (reference, expected) in cases {
        let got = declared(Provider::OpenAi, &schema(reference)).parameters.unwrap();
        assert_eq!(got["properties"]["x"], expected, "{reference}");
        assert!(got.get("$defs").is_none() && got.get("$schema").is_none() && got.get("definitions").is_none());
    }
}

#[test]
fn a_reference_means_what_is_in_the_document_around_it() {
    let schema = |reference: &str| {
        json!({
            "$id": "https://example.com/tool.json",
            "type": "object",
            "properties": {"x": {"$ref": "part.json"}, "y": {"$ref": "#/$defs/name"}},
            "$defs": {
                "name": {"type": "string"},
                "only": {"type": "boolean"},
                "part": {
                    "$id": "part.json",
                    "type": "object",
                    "properties": {"z": {"$ref": reference}},
                    "$defs": {"name": {"type": "integer", "$anchor": "here"}},
                },
            },
        })
    };
    let cases = [
        ("#/$defs/name", json!({"type": "integer"}), false),
        ("#here", json!({"type": "integer"}), false),
        ("part.json#here", json!({"type": "integer"}), false),
        ("tool.json#/$defs/name", json!({"type": "string"}), false),
        ("#/$defs/only", json!({"type": "boolean"}), true),
        ("elsewhere.json#/$defs/name", json!({}), true),
    ];
    for (reference, expected, is_loosened) in cases {
        let got = declared(Provider::Anthropic, &schema(reference));
        assert_eq!(got.is_loosened, is_loosened, "{reference}");
        let properties = &got.parameters.unwrap()["properties"];
        assert_eq!(properties["x"]["properties"]["z"], expected, "{reference}");
        assert_eq!(properties["y"], json!({"type": "string"}), "{reference}");
    }
}

#[test]
fn whatever_the_root_is_it_becomes_an_object() {
    let none = json!({"type": "object", "properties": {}});
    let cases = [
        (json!({}), none.clone()),
        (json!(true), none.clone()),
        (json!({"type": "object"}), none),
        (
            json!({"properties": {"a": {"type": "string"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "object", "properties": {"value": {"type": "array", "items": {"type": "string"}}}, "required": ["value"], "additionalProperties": false}),
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
            json!({"type": "object", "properties": {"value": {"anyOf": [{"type": "string"}, {"type": "number"}]}}, "required": ["value"], "additionalProperties": false}),
        ),
        (
            json!({"type": "object", "oneOf": [
                {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
                {"properties": {"kind": {"const": "b"}, "y": {"type": "number"}}, "required": ["kind", "y"]},
            ]}),
            json!({
                "type": "object",
                "properties": {"kind": {"type": "string", "enum": ["a", "b"]}, "x": {"type": "string"}, "y": {"type": "number"}},
                "required": ["kind"],
                "description": "Give one of: x; y.",
            }),
        ),
        (
            json!({"type": "object", "properties": {"k": {"type": "string"}}, "if": {"properties": {"k": {"const": "a"}}}, "then": {"properties": {"extra": {"type": "number"}}}}),
            json!({
                "type": "object",
                "properties": {"k": {"type": "string"}, "extra": {"type": "number"}},
                "description": "If {\"properties\":{\"k\":{\"const\":\"a\"}}}, then {\"properties\":{\"extra\":{\"type\":\"number\"}}}.",
            }),
        ),
    ];
    for (schema, expected) in cases {
        for provider in [Provider::OpenAi, Provider::Anthropic] {
            assert_eq!(declared(provider, &schema).parameters, Some(expected.clone()), "{provider:?}, {schema}");
        }
        let google = declared(Provider::Gemini, &schema);
        assert_eq!(google.parameters.is_none(), expected["properties"] == json!({}), "{schema}");
    }
}

#[test]
fn the_same_tools_are_declared_with_the_same_bytes() {
    let schema = json!({"type": "object", "properties": {"b": {"$ref": "#/$defs/n"}, "ä": {"enum": [1, "1"]}}, "$defs": {"n": {"type": ["string", "array"]}}});
    for provider in PROVIDERS {
        let once = serde_json::to_string(&declared(provider, &schema).parameters).unwrap();
        let again = serde_json::to_string(&declared(provider, &schema).parameters).unwrap();
        assert_eq!(once, again);
    }
}
