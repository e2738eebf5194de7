//! Schemas that nobody wants to meet. Each becomes something that every provider takes, in bounded time and space.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use toolgate_model::declare::{ToolSource, declare};

use crate::subsets::{PROVIDERS, breaches};

/// Every provider is told something that it takes, and what it is told has this property.
#[track_caller]
fn check(what: &str, schema: &str) {
    for provider in PROVIDERS {
        let declarations = declare(provider, [ToolSource { name: "tool", description: "", schema }]);
        let broken = breaches(provider, &declarations);
        assert!(broken.is_empty(), "{what}, {provider:?}: {broken:#?}");
        assert_eq!(declarations.quarantined, [], "{what}, {provider:?}");
        let again = declare(provider, [ToolSource { name: "tool", description: "", schema }]);
        assert_eq!(declarations, again, "{what}");
    }
}

#[test]
fn cycles() {
    let cases = [
        ("itself", json!({"$ref": "#"})),
        ("itself in all", json!({"allOf": [{"$ref": "#"}], "type": "object"})),
        ("itself in any", json!({"anyOf": [{"$ref": "#"}, {"type": "object"}]})),
        (
            "a tree",
            json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}, "name": {"type": "string"}}}),
        ),
        ("two", json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})),
        (
            "two through properties",
            json!({"$ref": "#/$defs/a", "$defs": {
                "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}},
                "b": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}, "more": {"additionalProperties": {"$ref": "#/$defs/b"}}}},
            }}),
        ),
        (
            "dynamic",
            json!({"$dynamicAnchor": "node", "type": "object", "properties": {
                "data": true, "children": {"type": "array", "items": {"$dynamicRef": "#node"}},
            }}),
        ),
        ("recursive", json!({"$recursiveAnchor": true, "type": "object", "properties": {"x": {"$recursiveRef": "#"}}})),
        (
            "any JSON",
            json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/json"}}, "$defs": {"json": {"anyOf": [
                {"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"},
                {"type": "array", "items": {"$ref": "#/$defs/json"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}},
            ]}}}),
        ),
    ];
    for (what, schema) in cases {
        check(what, &schema.to_string());
    }
}

#[test]
fn depth() {
    let nested = |open: &str, close: &str, levels: usize| {
        format!("{}{{\"type\":\"string\"}}{}", open.repeat(levels), close.repeat(levels))
    };
    let ways = [
        (r#"{"type":"object","properties":{"a":"#, "}}"),
        (r#"{"type":"object","required":["a"],"properties":{"a":"#, "}}"),
        (r#"{"type":"array","items":"#, "}"),
        (r#"{"type":"object","additionalProperties":"#, "}"),
        (r#"{"allOf":[{"type":"object"},"#, "]}"),
        (r#"{"anyOf":[{"type":"object"},"#, "]}"),
        (r#"{"type":"object","not":"#, "}"),
        (r#"{"type":"object","if":true,"then":"#, "}"),
        (r#"{"type":"object","patternProperties":{"x":"#, "}}"),
    ];
    for (open, close) in ways {
        for levels in [20, 60, 200, 20_000] {
            let schema = format!(r#"{{"type":"object","properties":{{"root":{}}}}}"#, nested(open, close, levels));
            check(&format!("{levels} of {open}"), &schema);
        }
    }
}

#[test]
fn explosions() {
    let doubling = |keyword: &str, levels: usize| {
        let mut definitions = Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            let schema = match keyword {
                "properties" => json!({"type": "object", "properties": {"left": next, "right": next}}),
                keyword => json!({keyword: [next, next]}),
            };
            definitions.insert(format!("d{level}"), schema);
        }
        definitions.insert(format!("d{levels}"), json!({"type": "object", "properties": {"end": {"type": "string"}}}));
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
    };
    for keyword in ["properties", "allOf", "anyOf", "oneOf"] {
        for levels in [10, 30, 60] {
            check(&format!("{levels} times two {keyword}"), &doubling(keyword, levels).to_string());
        }
    }
    // Every pair of alternatives, and every pair of those.
    let alternatives: Vec<Value> =
        (0..30).map(|number| json!({"properties": {format!("p{number}"): {"type": "string"}}})).collect();
    let product = json!({"type": "object", "properties": {"x": {"allOf": (0..6).map(|_| json!({"anyOf": alternatives})).collect::<Vec<_>>()}}});
    check("products of alternatives", &product.to_string());
}

#[test]
fn size() {
    let mut properties = Map::new();
    let mut inner = Map::new();
    for number in 0..400 {
        inner.insert(
            format!("inner_{number}"),
            json!({"type": "string", "description": "Some words about it. ".repeat(6)}),
        );
    }
    for number in 0..16 {
        properties.insert(format!("outer_{number}"), json!({"type": "object", "properties": inner}));
    }
    let megabyte = json!({"type": "object", "properties": properties}).to_string();
    assert!(megabyte.len() > 1024 * 1024, "{}", megabyte.len());
    check("1 MB of properties", &megabyte);
    let mut described = String::from(r#"{"type":"object","properties":{"#);
    for number in 0..100 {
        let comma = if number == 0 { "" } else { "," };
        write!(described, r#"{comma}"p{number}":{{"type":"string","description":"{}"}}"#, "long ".repeat(2_500))
            .unwrap();
    }
    described.push_str("}}");
    assert!(described.len() > 1024 * 1024);
    check("1 MB of descriptions", &described);
    let values: Vec<String> = (0..60_000).map(|number| format!("a value with the number {number}")).collect();
    check("1 MB of values", &json!({"type": "object", "properties": {"x": {"enum": values}}}).to_string());
    let lists: Vec<Value> = (0..50_000).map(|number| json!({"const": number})).collect();
    check("50,000 alternatives", &json!({"type": "object", "properties": {"x": {"anyOf": lists}}}).to_string());
}

#[test]
fn oddities() {
    let cases = [
        json!({"type": "object", "properties": {"x": {"enum": []}}}),
        json!({"type": "object", "properties": {"x": {"enum": []}}, "required": ["x"]}),
        json!({"type": "object", "properties": {"x": {"allOf": [{"type": "string"}, {"type": "number"}]}}, "required": ["x"]}),
        json!({"type": "object", "properties": {"x": {"allOf": [{"const": 1}, {"const": 2}]}}}),
        json!({"type": "object", "properties": {"x": {"allOf": [
            {"properties": {"a": {}}, "additionalProperties": false}, {"properties": {"b": {}}, "required": ["b"]},
        ]}}, "required": ["x"]}),
        json!({"type": "object", "properties": {"x": false, "y": true}, "required": ["x"]}),
        json!({"type": "object", "properties": {"x": 5, "y": null, "z": "string", "w": []}}),
        json!({"type": "object", "properties": [], "required": "x", "additionalProperties": 5}),
        json!({"type": "object", "properties": {"x": {"type": "any"}, "y": {"type": ["file", "string"]}, "z": {"type": []}}}),
        json!({"type": "object", "properties": {"x": {"type": "string", "minLength": -1, "maxLength": 1.5, "pattern": 3}}}),
        json!({"type": "object", "properties": {"x": {"type": "array", "items": [], "minItems": "2"}}}),
        json!({"type": "object", "properties": {"x": {"type": "array", "prefixItems": [], "items": false}}}),
        json!({"type": "object", "properties": {"x": {"anyOf": []}, "y": {"oneOf": {}}, "z": {"allOf": null}}}),
        json!({"type": "object", "properties": {"x": {"anyOf": [false, {"type": "string"}]}, "y": {"anyOf": [false, false]}}}),
        json!({"type": "object", "properties": {"": {}, " ": {}, "\u{0}": {}, "🦀": {}, "a\u{301}": {}, "__proto__": {}, "$ref": {"type": "string"}}}),
        json!({"type": "object", "properties": {"x".repeat(300): {"type": "string"}, format!("{}y", "x".repeat(299)): {"type": "string"}}}),
        json!({"type": "object", "properties": {"x": {"$ref": 5}, "y": {"$ref": "#/properties/x/"}, "z": {"$ref": "%%%"}}}),
        json!({"type": "object", "properties": {"x": {"type": "object", "required": ["a"], "additionalProperties": false}}}),
        json!({"type": "object", "properties": {"other_properties": {}}, "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "properties": {"x": {"const": {"a": [1]}}, "y": {"enum": [[1], {"b": 2}, null]}}}),
        json!({"type": "object", "enum": [{"a": 1}]}),
        json!({"type": "object", "not": {}}),
        json!({"type": "null"}),
        json!({"type": ["object", "null"], "properties": {"a": {"type": "string"}}}),
        json!({"enum": ["a", "b"]}),
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}]}),
        json!({"type": "object", "properties": {"x": {"minimum": 1e308, "maximum": -1e308, "multipleOf": 0}}}),
        json!({"type": "object", "properties": {"x": {"type": "integer", "exclusiveMinimum": i64::MAX, "maximum": u64::MAX}}}),
        json!({"type": "object", "unevaluatedProperties": false, "dependentRequired": {"a": ["b"]}, "minProperties": 1}),
    ];
    for schema in cases {
        check(&schema.to_string(), &schema.to_string());
    }
}
