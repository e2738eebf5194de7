//! What a tool takes, told to a person: one entry per parameter, for help texts, tables and errors.

use std::collections::HashSet;

use serde_json::Value;
use toolgate_wire::RawJson;

use super::kinds::{Kinds, SchemaReader};
use crate::limits::{PARAMETERS_LISTED_MAX, PARAMETERS_READ_MAX};
use crate::shape::visible;

/// One parameter of a tool. The words are those of the server: they go through [`visible`] before they reach a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterHelp {
    /// Its name.
    pub name: String,
    /// What it takes: `string`, `integer or null`, `array of string`, `any`.
    pub kind: String,
    /// Whether it must be given.
    pub required: bool,
    /// What it means.
    pub description: Option<String>,
    /// What counts when it is not given, as JSON.
    pub default: Option<RawJson>,
    /// The values to choose from, if they are listed; strings bare, all else as JSON.
    pub choices: Vec<String>,
}

/// The parameters of an input schema, in its order.
pub fn describe(schema: &RawJson) -> Vec<ParameterHelp> {
    let reader = SchemaReader::new(schema);
    let required = required(&reader);
    let in_order = schema.member("properties").map(|all| all.members_within(PARAMETERS_READ_MAX)).unwrap_or_default().0;
    let mut described = Vec::new();
    for (name, raw) in in_order {
        let Some(property) = reader.root().get("properties").and_then(|properties| properties.get(&name)) else {
            continue;
        };
        let default = raw.member("default");
        described.push(help(&reader, &required, (name, property), default));
    }
    // What stands elsewhere in the document and belongs to the parameters nevertheless.
    let mut known: HashSet<String> = described.iter().map(|parameter: &ParameterHelp| parameter.name.clone()).collect();
    for (name, property) in properties(&reader) {
        if known.insert(name.clone()) {
            let default = property.get("default").map(|value| RawJson::from(value.clone()));
            described.push(help(&reader, &required, (name.clone(), property), default));
        }
    }
    described
}

/// The parameters that stand below the first level of a document, with their schemas.
fn properties(reader: &SchemaReader) -> Vec<(&String, &Value)> {
    let aspects = reader.aspects(reader.root());
    aspects.into_iter().skip(1).filter_map(|aspect| aspect.get("properties")?.as_object()).flatten().collect()
}

fn required(reader: &SchemaReader) -> HashSet<&str> {
    let lists =
        reader.certain_aspects(reader.root()).into_iter().filter_map(|schema| schema.get("required")?.as_array());
    lists.flatten().filter_map(Value::as_str).collect()
}

fn help(
    reader: &SchemaReader,
    required: &HashSet<&str>,
    (name, schema): (String, &Value),
    default: Option<RawJson>,
) -> ParameterHelp {
    let text = |schema: &&Value| schema.get("description").and_then(Value::as_str).map(str::to_owned);
    ParameterHelp {
        kind: kind_of(reader, schema),
        required: required.contains(name.as_str()),
        description: text(&schema).or_else(|| reader.aspects(schema).iter().find_map(text)),
        default,
        choices: reader.choices(schema),
        name,
    }
}

/// The types of a schema in words.
pub(super) fn kind_of(reader: &SchemaReader, schema: &Value) -> String {
    let kinds = reader.kinds(schema);
    if kinds == Kinds::ANY {
        return "any".to_owned();
    }
    let element = reader.items(schema).map(|items| reader.kinds(items)).filter(|kinds| *kinds != Kinds::ANY);
    let named = kinds.names().into_iter().map(|name| match element {
        Some(element) if name == "array" => format!("array of {}", element.names().join("|")),
        _ => name.to_owned(),
    });
    named.collect::<Vec<_>>().join(" or ")
}

/// The parameters in one line: `path (string, required), limit (integer)`.
pub(super) fn in_one_line(schema: &RawJson) -> String {
    let parameters = describe(schema);
    let shown = parameters.iter().take(PARAMETERS_LISTED_MAX).map(|parameter| {
        let required = if parameter.required { ", required" } else { "" };
        format!("{} ({}{required})", visible::line(&parameter.name), parameter.kind)
    });
    let mut shown: Vec<String> = shown.collect();
    if parameters.len() > shown.len() {
        shown.push(format!("and {} more", parameters.len() - shown.len()));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_described_in_the_order_of_the_schema() {
        let schema = RawJson::from_bytes(
            r##"{"type":"object","required":["path"],"properties":{
            "path":{"type":"string","description":"Which file."},
            "limit":{"type":"integer","default":12345678901234567890123},
            "mode":{"anyOf":[{"$ref":"#/$defs/Mode"},{"type":"null"}],"default":null},
            "tags":{"type":"array","items":{"type":"string"}},
            "cells":{"type":"array","items":{"type":["integer","string"]}},
            "filter":{"$ref":"#/$defs/Filter"},
            "anything":{}, "yes":true},
            "allOf":[{"properties":{"later":{"type":"boolean"},"path":{"minLength":1}},"required":["later"]}],
            "$defs":{"Mode":{"enum":["text","binary",7],"description":"How."},"Filter":{"type":"object","description":"Which rows."}}}"##,
        );
        let described = describe(&schema.unwrap());
        let lines: Vec<String> = described
            .iter()
            .map(|one| {
                let required = if one.required { "!" } else { "" };
                let default = one.default.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
                let description = one.description.as_deref().unwrap_or_default();
                format!("{}{required}: {}{default} [{}] {description}", one.name, one.kind, one.choices.join("|"))
            })
            .collect();
        assert_eq!(
            lines,
            [
                "path!: string [] Which file.",
                "limit: integer = 12345678901234567890123 [] ",
                "mode: string or integer or null = null [text|binary|7] How.",
                "tags: array of string [] ",
                "cells: array of string|integer [] ",
                "filter: object [] Which rows.",
                "anything: any [] ",
                "yes: any [] ",
                "later!: boolean [] ",
            ]
        );
    }

    #[test]
    fn a_schema_that_says_nothing_describes_nothing() {
        for schema in ["{}", "true", "[]", r#"{"properties":7}"#, r##"{"$ref":"#"}"##] {
            assert_eq!(describe(&RawJson::from_bytes(schema).unwrap()), [], "{schema}");
        }
        assert_eq!(in_one_line(&RawJson::EMPTY_OBJECT), "");
    }

    #[test]
    fn long_lists_end_in_a_number() {
        let properties: serde_json::Map<_, _> =
            (0..30).map(|n| (format!("p{n:02}"), serde_json::json!({"type": "string"}))).collect();
        let line = in_one_line(&RawJson::from(serde_json::json!({ "properties": properties })));
        assert!(
            line.starts_with("p00 (string), p01 (string), ") && line.ends_with("p19 (string), and 10 more"),
            "{line}"
        );
    }
}
