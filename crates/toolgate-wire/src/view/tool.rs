//! A tool as a server lists it.

use serde::Deserialize;

use super::Entry;
use super::fields::{Fields, optional, required};
use crate::raw::RawJson;

/// One tool.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name on the wire.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// What it takes; absent when the server does not say.
    pub input_schema: Option<RawJson>,
    /// What it gives, if it promises something.
    pub output_schema: Option<RawJson>,
    /// What the server says about its effects.
    pub hints: ToolHints,
    /// The same as it wrote it.
    pub annotations: Option<RawJson>,
    /// The whole entry.
    pub raw: RawJson,
}

/// What a server says about a tool's effects. Nothing here is a guarantee.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    pub destructive_hint: Option<bool>,
    /// Calling it twice does no more than calling it once.
    pub idempotent_hint: Option<bool>,
    /// It reaches the outside world.
    pub open_world_hint: Option<bool>,
}

impl Entry for Tool {
    fn read(raw: RawJson) -> Result<Self, String> {
        let fields = Fields::of(&raw)?;
        let schema = |field: &str, value: Option<&[u8]>| -> Result<Option<RawJson>, String> {
            let schema = value.map(|value| raw.part(value)).filter(|schema| !schema.is_null());
            match schema {
                Some(schema) if !schema.is_object() && !matches!(schema.as_bytes(), b"true" | b"false") => {
                    Err(format!("`{field}` is not a schema"))
                }
                schema => Ok(schema),
            }
        };
        let input_schema = schema("inputSchema", fields.input_schema)?;
        if input_schema.as_ref().is_some_and(|schema| !schema.is_object()) {
            return Err("`inputSchema` is not an object".to_owned());
        }
        let hints = |value: &[u8]| serde_json::from_slice(value).ok();
        Ok(Self {
            name: required("name", fields.name)?,
            title: optional(fields.title),
            description: optional(fields.description),
            output_schema: schema("outputSchema", fields.output_schema)?,
            hints: fields.annotations.and_then(hints).unwrap_or_default(),
            annotations: fields.annotations.map(|annotations| raw.part(annotations)),
            input_schema,
            raw: raw.clone(),
        })
    }

    fn raw(&self) -> &RawJson {
        &self.raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_or_says_why_not() {
        let cases = [
            (r#"{"name":"a","inputSchema":{"type":"object"}}"#, "ok"),
            (r#"{"name":"a"}"#, "ok"),
            (r#"{"name":"a","inputSchema":null,"title":7,"annotations":"x"}"#, "ok"),
            (r#"{"name":"a","outputSchema":true}"#, "ok"),
            (r#"{"name":"a","inputSchema":"x"}"#, "`inputSchema` is not a schema"),
            (r#"{"name":"a","inputSchema":true}"#, "`inputSchema` is not an object"),
            (r#"{"name":"a","outputSchema":[]}"#, "`outputSchema` is not a schema"),
            (r#"{"name":7}"#, "`name` is not a string"),
            (r#"{"name":""}"#, "`name` is empty"),
            (r#"{"description":"d"}"#, "`name` is missing"),
            ("7", "it is not an object"),
        ];
        for (text, expected) in cases {
            let outcome = Tool::read(RawJson::from_bytes(text).unwrap()).map_or_else(|why| why, |_| "ok".to_owned());
            assert_eq!(outcome, expected, "{text}");
        }
    }

    #[test]
    fn unknown_fields_survive() {
        let text =
            r#"{"name":"a","x-acme":{"n":1.50},"icons":[{"src":"data:"}],"annotations":{"readOnlyHint":true,"new":1}}"#;
        let tool = Tool::read(RawJson::from_bytes(text).unwrap()).unwrap();
        assert_eq!(tool.raw.as_str(), text);
        assert_eq!(tool.hints.read_only_hint, Some(true));
    }
}
