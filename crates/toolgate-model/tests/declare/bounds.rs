//! The limits of providers, kept before anything is sent; a tool that breaks one is left out alone.

use serde_json::{Value, json};
use toolgate_model::declare::{Declarations, ToolSource, declare};
use toolgate_model::provider::Provider;

use crate::subsets::{PROVIDERS, breaches};

const SIMPLE: &str = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;

/// Tools with these names and schemas; what is accepted keeps the rules.
#[track_caller]
fn declared(provider: Provider, tools: &[(String, String)]) -> Declarations {
    let tools = tools.iter().map(|(name, schema)| ToolSource { name, description: "", schema });
    let declarations = declare(provider, tools);
    let broken = breaches(provider, &declarations);
    assert!(broken.is_empty(), "{provider:?}: {broken:#?}");
    declarations
}

fn simple(names: impl IntoIterator<Item = String>) -> Vec<(String, String)> {
    names.into_iter().map(|name| (name, SIMPLE.to_owned())).collect()
}

#[test]
fn more_functions_than_a_provider_takes() {
    let tools = simple((0..1_200).map(|number| format!("tool_{number}")));
    for (provider, most) in [(Provider::Gemini, 512), (Provider::OpenAi, 128), (Provider::Anthropic, 1_000)] {
        let declarations = declared(provider, &tools);
        assert_eq!((declarations.accepted.len(), declarations.quarantined.len()), (most, 1_200 - most), "{provider:?}");
        let first = &declarations.quarantined[0];
        assert_eq!(first.tool, format!("tool_{most}"));
        assert!(first.reason.ends_with(&format!("takes at most {most} functions")), "{}", first.reason);
    }
}

#[test]
fn names_that_a_provider_does_not_take() {
    let names =
        ["good", "with.dot", "with:colon", "with space", "ünïcode", "1st", "-x", &"long".repeat(40), "工具", "工 具"];
    let tools = simple(names.iter().map(|name| (*name).to_owned()));
    for provider in PROVIDERS {
        let declarations = declared(provider, &tools);
        assert_eq!(declarations.quarantined, [], "{provider:?}");
        for (name, declaration) in names.iter().zip(&declarations.accepted) {
            assert_eq!(declaration.tool, *name);
            assert_eq!(declarations.find(&declaration.name).unwrap().tool, *name);
        }
        assert_eq!(declarations.accepted[0].name, "good");
        assert_eq!(declarations.accepted[1].name == "with.dot", provider == Provider::Gemini);
        assert_eq!(declarations.accepted[5].name == "1st", provider != Provider::Gemini);
        assert!(declarations.find("unknown").is_none());
    }
}

#[test]
fn one_tool_that_is_impossible_takes_no_other_with_it() {
    let wide: serde_json::Map<String, Value> = (0..3_000)
        .map(|number| (format!("a_rather_long_name_of_a_property_{number}"), json!({"type": "string"})))
        .collect();
    let many: serde_json::Map<String, Value> =
        (0..9_000).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
    let tools = [
        ("first", SIMPLE.to_owned()),
        ("broken", "{".to_owned()),
        ("never", "false".to_owned()),
        ("contradictory", json!({"allOf": [{"type": "object"}, {"type": "string"}]}).to_string()),
        ("wide", json!({"type": "object", "properties": wide}).to_string()),
        ("many", json!({"type": "object", "properties": many}).to_string()),
        ("huge", format!(r#"{{"description":"{}"}}"#, "x".repeat(5 * 1024 * 1024))),
        ("first", SIMPLE.to_owned()),
        ("last", SIMPLE.to_owned()),
    ];
    let tools = tools.map(|(name, schema)| (name.to_owned(), schema));
    let expected = [
        ("broken", "its schema is not JSON: EOF while parsing an object at line 1 column 1"),
        ("never", "no arguments at all satisfy its schema"),
        ("contradictory", "no arguments at all satisfy its schema"),
        ("wide", "its declaration has "),
        ("many", "its declaration has "),
        ("huge", "its schema has 6 MB; at most 4 MB are read"),
        ("first", "another tool is declared as `first` already"),
    ];
    for provider in PROVIDERS {
        let declarations = declared(provider, &tools);
        let accepted: Vec<&str> = declarations.accepted.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(accepted, ["first", "last"]);
        for (found, (tool, reason)) in declarations.quarantined.iter().zip(expected) {
            assert_eq!(found.tool, tool);
            assert!(found.reason.starts_with(reason), "{}: {}", found.tool, found.reason);
        }
        assert_eq!(declarations.quarantined.len(), expected.len());
    }
}

#[test]
fn all_declarations_together_have_a_bound() {
    let large: serde_json::Map<String, Value> = (0..300)
        .map(|number| (format!("property_{number}"), json!({"type": "string", "description": "d".repeat(120)})))
        .collect();
    let schema = json!({"type": "object", "properties": large}).to_string();
    let mut tools: Vec<(String, String)> = (0..60).map(|number| (format!("large_{number}"), schema.clone())).collect();
    tools.push(("small".to_owned(), SIMPLE.to_owned()));
    for provider in PROVIDERS {
        let declarations = declared(provider, &tools);
        let bytes: usize = declarations.accepted.iter().map(toolgate_model::declare::Declaration::bytes).sum();
        assert!(bytes <= 1024 * 1024 && bytes > 900 * 1024, "{bytes}");
        assert_eq!(declarations.accepted.last().unwrap().name, "small", "what still fits is declared");
        assert!(declarations.quarantined[0].reason.contains("leave no room"), "{}", declarations.quarantined[0].reason);
    }
}

#[test]
fn long_descriptions_continue_where_there_is_room() {
    let description = (0..400).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
    let tool = ToolSource { name: "tool", description: &description, schema: SIMPLE };
    for provider in PROVIDERS {
        let declarations = declare(provider, [tool]);
        assert!(breaches(provider, &declarations).is_empty());
        let declaration = &declarations.accepted[0];
        let rest = declaration.parameters.as_ref().and_then(|parameters| parameters["description"].as_str());
        match provider {
            Provider::OpenAi => {
                let joined = format!(
                    "{}{}",
                    declaration.description.trim_end_matches('…'),
                    rest.unwrap().trim_start_matches('…')
                );
                assert_eq!(joined, description);
            }
            Provider::Gemini | Provider::Anthropic => {
                assert_eq!((&*declaration.description, rest), (&*description, None))
            }
        }
    }
}
