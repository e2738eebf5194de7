//! Whatever schema goes in: what comes out is taken by every provider, and arguments that fit it fit the schema, unless the declaration
//! says that it had to be loosened.

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::{select, subsequence};
use proptest::strategy::BoxedStrategy;
use serde_json::{Map, Value, json};
use toolgate_model::declare::{ToolSource, declare};
use toolgate_model::provider::Provider;

use crate::subsets::{PROVIDERS, breaches};

const KEYS: [&str; 8] = ["a", "b", "c-d", "filter[id]", "имя", "", "a_b", "$ref"];

fn value() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-5_i64..5).prop_map(Value::from),
        Just(json!(1.5)),
        select(vec!["", "x", "1", "true", "(empty)"]).prop_map(Value::from),
        Just(json!([1])),
        Just(json!({"a": "x"})),
    ]
    .boxed()
}

/// Keywords that contain no other schema.
fn leaf() -> BoxedStrategy<Map<String, Value>> {
    let kinds = vec!["null", "boolean", "integer", "number", "string", "array", "object"];
    let kind = prop_oneof![
        select(kinds.clone()).prop_map(|kind| json!({"type": kind})),
        subsequence(kinds, 1..4).prop_map(|kinds| json!({"type": kinds})),
        Just(json!({})),
    ];
    let rule = prop_oneof![
        vec(value(), 1..4).prop_map(|values| json!({"enum": values})),
        value().prop_map(|value| json!({"const": value})),
        (-3_i64..3).prop_map(|number| json!({"minimum": number})),
        (-3_i64..3).prop_map(|number| json!({"exclusiveMaximum": number})),
        Just(json!({"multipleOf": 2})),
        (0_u64..3).prop_map(|number| json!({"minLength": number})),
        (0_u64..3).prop_map(|number| json!({"maxItems": number})),
        (0_u64..3).prop_map(|number| json!({"minProperties": number})),
        select(vec!["^[a-z]*$", "(?=x)", "x"]).prop_map(|pattern| json!({"pattern": pattern})),
        select(vec!["date-time", "uri", "email", "nonsense"]).prop_map(|format| json!({"format": format})),
        Just(json!({"uniqueItems": true})),
        Just(json!({"default": null})),
        Just(json!({"description": "Words", "title": "A"})),
        Just(json!({"nullable": true})),
        select(vec!["#/$defs/one", "#/$defs/two", "#", "#anchor", "https://example.com/x"])
            .prop_map(|reference| json!({"$ref": reference})),
        Just(json!({})),
    ];
    (kind, rule.clone(), rule).prop_map(|(kind, one, other)| merged([kind, one, other])).boxed()
}

fn merged(parts: impl IntoIterator<Item = Value>) -> Map<String, Value> {
    let mut all = Map::new();
    for part in parts {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    all
}

fn schema() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![9 => leaf().prop_map(Value::Object), 1 => any::<bool>().prop_map(Value::Bool)];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let properties = (btree_map(select(KEYS.to_vec()), inner.clone(), 0..4), vec(select(KEYS.to_vec()), 0..3))
            .prop_map(|(properties, required)| json!({"type": "object", "properties": properties, "required": required}));
        let part = prop_oneof![
            4 => properties,
            2 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            1 => vec(inner.clone(), 1..3).prop_map(|items| json!({"type": "array", "prefixItems": items, "items": false})),
            1 => inner.clone().prop_map(|others| json!({"type": "object", "additionalProperties": others})),
            1 => inner.clone().prop_map(|others| json!({"patternProperties": {"^x": others}})),
            2 => vec(inner.clone(), 1..4).prop_map(|parts| json!({"anyOf": parts})),
            1 => vec(inner.clone(), 1..3).prop_map(|parts| json!({"oneOf": parts})),
            2 => vec(inner.clone(), 1..3).prop_map(|parts| json!({"allOf": parts})),
            1 => inner.clone().prop_map(|part| json!({"not": part})),
            1 => (inner.clone(), inner).prop_map(|(one, other)| json!({"if": one, "then": other})),
        ];
        (part, self::leaf(), any::<bool>()).prop_map(|(part, beside, has_beside)| {
            let beside = if has_beside { Value::Object(beside) } else { Value::Null };
            Value::Object(merged([beside, part]))
        })
    })
    .boxed()
}

/// A whole document: what is referred to is there.
fn document() -> BoxedStrategy<Value> {
    (schema(), schema(), schema())
        .prop_map(|(root, one, two)| {
            let mut root = match root {
                Value::Object(root) => root,
                other => merged([json!({"type": "object", "properties": {"a": other}})]),
            };
            let two = if two.is_object() { two } else { json!({}) };
            root.insert(
                "$defs".to_owned(),
                json!({"one": one, "two": two, "named": {"$anchor": "anchor", "type": "string"}}),
            );
            Value::Object(root)
        })
        .boxed()
}

/// Something that fits a declared schema, chosen by the bits of `seed`.
fn fitting(schema: &Value, seed: &mut u64) -> Option<Value> {
    let mut pick = |most: u64| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % most.max(1)
    };
    if let Some(alternatives) = schema["anyOf"].as_array() {
        let start = pick(alternatives.len() as u64) as usize;
        let turned = alternatives.iter().cycle().skip(start).take(alternatives.len());
        return turned.into_iter().find_map(|alternative| fitting(alternative, seed));
    }
    if let Some(values) = schema["enum"].as_array() {
        return Some(values[pick(values.len() as u64) as usize].clone());
    }
    let value = match schema["type"].as_str() {
        Some("null") => json!(null),
        Some("boolean") => json!(pick(2) == 1),
        Some("integer" | "number") => {
            let number = (-8_i64..8).cycle().skip(pick(16) as usize).take(16);
            return number.map(|number| json!(number)).find(|number| is_valid(schema, number));
        }
        Some("string") => {
            let texts = ["", "x", "abc", "2026-01-02T03:04:05Z", "a@example.com", "https://example.com/"];
            let start = pick(6) as usize;
            return texts
                .iter()
                .cycle()
                .skip(start)
                .take(6)
                .map(|text| json!(text))
                .find(|text| is_valid(schema, text));
        }
        Some("array") => {
            let length = schema["minItems"].as_u64().unwrap_or(0) + pick(2);
            Value::Array((0..length).filter_map(|_| fitting(&schema["items"], seed)).collect())
        }
        Some("object") => {
            let mut map = Map::new();
            for (key, property) in schema["properties"].as_object()? {
                let is_required =
                    schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == key));
                let is_wanted = is_required || {
                    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    !(*seed >> 40).is_multiple_of(3)
                };
                if is_wanted {
                    map.insert(key.clone(), fitting(property, seed)?);
                }
            }
            Value::Object(map)
        }
        _ => json!("anything"),
    };
    is_valid(schema, &value).then_some(value)
}

fn is_valid(schema: &Value, value: &Value) -> bool {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(schema)
        .is_ok_and(|schema| schema.is_valid(value))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_goes_in_every_provider_takes_what_comes_out(schema in document(), seed in any::<u64>()) {
        let text = schema.to_string();
        for provider in PROVIDERS {
            let tool = ToolSource { name: "tool", description: "", schema: &text };
            let declarations = declare(provider, [tool]);
            let broken = breaches(provider, &declarations);
            prop_assert!(broken.is_empty(), "{provider:?} {schema:#}\n{broken:#?}");
            prop_assert_eq!(&declarations, &declare(provider, [tool]));
            for quarantined in &declarations.quarantined {
                prop_assert_eq!(&quarantined.reason, "no arguments at all satisfy its schema");
            }
            for declaration in &declarations.accepted {
                round_trip(provider, &schema, declaration, seed)?;
            }
        }
    }

    #[test]
    fn any_text_is_answered(text in ".{0,60}", arguments in value()) {
        for provider in PROVIDERS {
            let declarations = declare(provider, [ToolSource { name: &text, description: &text, schema: &text }]);
            prop_assert!(breaches(provider, &declarations).is_empty());
            if let Some(declaration) = declarations.accepted.first() {
                let _restored = declaration.restore(arguments.clone());
            }
        }
    }
}

/// Arguments that fit the declaration fit the schema.
fn round_trip(
    provider: Provider,
    schema: &Value,
    declaration: &toolgate_model::declare::Declaration,
    mut seed: u64,
) -> Result<(), proptest::test_runner::TestCaseError> {
    let Ok(original) = jsonschema::draft202012::options().should_validate_formats(true).build(schema) else {
        return Ok(());
    };
    for _ in 0..4 {
        let given = match &declaration.parameters {
            Some(parameters) => fitting(parameters, &mut seed),
            None => Some(json!({})),
        };
        let Some(given) = given else { return Ok(()) };
        let restored = declaration.restore(given.clone());
        prop_assert!(restored.is_ok() || declaration.is_loosened, "{provider:?}: {given} is refused");
        if let (Ok(restored), false) = (restored, declaration.is_loosened) {
            let is_accepted = original.is_valid(&restored);
            prop_assert!(
                is_accepted,
                "{provider:?}: {given} → {restored} is refused by {schema:#}\ndeclared: {:#}",
                json!(declaration.parameters)
            );
        }
    }
    Ok(())
}
