//! Which JSON types a schema lets through, read leniently: references and combinations are followed as far as is sensible.
//!
//! This is for understanding what a person types and for telling what a tool takes. Whether a value fits is up to
//! [`schema`](crate::call::schema); where a schema is too entangled to tell, every type counts as allowed.

use std::cell::Cell;

use serde_json::Value;
use toolgate_wire::RawJson;

use crate::call::schema::reference::pointer_of;
use crate::limits::{CHECKED_PARTS_MAX, PARAMETER_LOOKUP_DEPTH_MAX, PARAMETER_LOOKUPS_MAX};

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const STRING: Self = Self(1);
    pub(super) const INTEGER: Self = Self(2);
    /// Numbers that are no integers.
    pub(super) const FRACTION: Self = Self(4);
    pub(super) const BOOLEAN: Self = Self(8);
    pub(super) const ARRAY: Self = Self(16);
    pub(super) const OBJECT: Self = Self(32);
    pub(super) const NULL: Self = Self(64);
    pub(super) const ANY: Self = Self(127);
    const NONE: Self = Self(0);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn named(name: &str) -> Self {
        match name {
            "string" => Self::STRING,
            "integer" => Self::INTEGER,
            "number" => Self::INTEGER.or(Self::FRACTION),
            "boolean" => Self::BOOLEAN,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            "null" => Self::NULL,
            _ => Self::ANY,
        }
    }

    /// The type of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() != 0.0) => Self::FRACTION,
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The names of the types, those that a value is likely to have first.
    pub(super) fn names(self) -> Vec<&'static str> {
        let number = if self.has(Self::FRACTION) { "number" } else { "integer" };
        let named = [
            (Self::STRING, "string"),
            (Self::INTEGER.or(Self::FRACTION), number),
            (Self::BOOLEAN, "boolean"),
            (Self::ARRAY, "array"),
            (Self::OBJECT, "object"),
            (Self::NULL, "null"),
        ];
        named.into_iter().filter(|(kind, _)| self.has(*kind)).map(|(_, name)| name).collect()
    }
}

/// Reads one schema document. What it looks at is counted, so that no document keeps it busy.
pub(super) struct SchemaReader {
    root: Value,
    lookups_left: Cell<usize>,
}

impl SchemaReader {
    /// A document that cannot be read counts as one that says nothing.
    pub(super) fn new(schema: &RawJson) -> Self {
        Self {
            root: schema.value_within(CHECKED_PARTS_MAX).unwrap_or(Value::Null),
            lookups_left: Cell::new(PARAMETER_LOOKUPS_MAX),
        }
    }

    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    /// The types that a schema lets through.
    pub(super) fn kinds(&self, schema: &Value) -> Kinds {
        let kinds = self.kinds_within(schema, PARAMETER_LOOKUP_DEPTH_MAX);
        if kinds == Kinds::NONE { Kinds::ANY } else { kinds }
    }

    fn kinds_within(&self, schema: &Value, depth_left: usize) -> Kinds {
        let Value::Object(members) = schema else { return Kinds::ANY };
        if depth_left == 0 || !self.may_look() {
            return Kinds::ANY;
        }
        let below = |schema: &Value| self.kinds_within(schema, depth_left - 1);
        let mut kinds = match members.get("type") {
            Some(Value::String(name)) => Kinds::named(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(Kinds::named).fold(Kinds::NONE, Kinds::or)
            }
            _ => implied_kinds(schema),
        };
        if members.get("nullable") == Some(&Value::Bool(true)) {
            kinds = kinds.or(Kinds::NULL);
        }
        if let Some(constant) = members.get("const") {
            kinds = kinds.and(Kinds::of(constant));
        }
        if let Some(Value::Array(options)) = members.get("enum") {
            kinds = kinds.and(options.iter().map(Kinds::of).fold(Kinds::NONE, Kinds::or));
        }
        for combination in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = members.get(combination) {
                kinds = kinds.and(branches.iter().map(below).fold(Kinds::NONE, Kinds::or));
            }
        }
        if let Some(Value::Array(branches)) = members.get("allOf") {
            kinds = branches.iter().map(below).fold(kinds, Kinds::and);
        }
        match members.get("$ref").and_then(Value::as_str).and_then(|reference| self.target(reference)) {
            Some(target) => kinds.and(below(target)),
            None => kinds,
        }
    }

    /// The schema itself and all that it says about the same value by reference or combination, each once.
    pub(super) fn aspects<'a>(&'a self, schema: &'a Value) -> Vec<&'a Value> {
        self.aspects_through(schema, &["oneOf", "anyOf", "allOf"])
    }

    /// As [`aspects`](Self::aspects), without what holds only in one of several cases.
    pub(super) fn certain_aspects<'a>(&'a self, schema: &'a Value) -> Vec<&'a Value> {
        self.aspects_through(schema, &["allOf"])
    }

    fn aspects_through<'a>(&'a self, schema: &'a Value, combinations: &[&str]) -> Vec<&'a Value> {
        let mut aspects: Vec<&Value> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            if !seen.insert(std::ptr::from_ref(schema)) || !self.may_look() {
                continue;
            }
            aspects.push(schema);
            let reference = schema.get("$ref").and_then(Value::as_str).and_then(|reference| self.target(reference));
            let branches = combinations.iter().filter_map(|word| schema.get(word)?.as_array());
            open.extend(branches.flat_map(|branches| branches.iter().rev()));
            open.extend(reference);
        }
        aspects
    }

    /// What a schema says about the elements of an array.
    pub(super) fn items<'a>(&'a self, schema: &'a Value) -> Option<&'a Value> {
        self.aspects(schema).into_iter().find_map(|aspect| aspect.get("items").filter(|items| items.is_object()))
    }

    /// The values that a schema lists, strings bare and all else as JSON.
    pub(super) fn choices(&self, schema: &Value) -> Vec<String> {
        let bare = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut choices = Vec::new();
        for aspect in self.aspects(schema) {
            let listed = aspect.get("enum").and_then(Value::as_array).into_iter().flatten();
            choices.extend(listed.chain(aspect.get("const")).map(bare));
        }
        choices
    }

    /// Where a reference within the document leads.
    fn target(&self, reference: &str) -> Option<&Value> {
        self.root.pointer(&pointer_of(reference.strip_prefix('#')?))
    }

    fn may_look(&self) -> bool {
        let left = self.lookups_left.get();
        self.lookups_left.set(left.saturating_sub(1));
        left > 0
    }
}

/// The type of a schema that names none but is clearly about one.
fn implied_kinds(schema: &Value) -> Kinds {
    let is_about = |words: &[&str]| words.iter().any(|word| schema.get(word).is_some());
    let about_object = is_about(&["properties", "required", "patternProperties"]);
    let about_array = is_about(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]);
    match (about_object, about_array) {
        (true, false) => Kinds::OBJECT,
        (false, true) => Kinds::ARRAY,
        (true, true) | (false, false) => Kinds::ANY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_however_a_schema_says_them() {
        let cases = [
            ("{}", "string number boolean array object null"),
            ("true", "string number boolean array object null"),
            (r#"{"type":"string"}"#, "string"),
            (r#"{"type":"number"}"#, "number"),
            (r#"{"type":["integer","null"]}"#, "integer null"),
            (r#"{"type":"integer","nullable":true}"#, "integer null"),
            (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, "string null"),
            (r#"{"oneOf":[{"type":"integer"},{"items":{}}]}"#, "integer array"),
            (r#"{"allOf":[{"type":["string","integer"]},{"type":["integer","null"]}]}"#, "integer"),
            (
                r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/definitions/b"}},"definitions":{"b":{"type":"boolean"}}}"##,
                "boolean",
            ),
            (r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}"##, "string number boolean array object null"),
            (r##"{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}"##, "string number boolean array object null"),
            (r#"{"$ref":"http://example.com/"}"#, "string number boolean array object null"),
            (r#"{"enum":["a",1]}"#, "string integer"),
            (r#"{"enum":[1,2.5,null]}"#, "number null"),
            (r#"{"const":true}"#, "boolean"),
            (r#"{"properties":{}}"#, "object"),
            (r#"{"type":"any"}"#, "string number boolean array object null"),
            (r#"{"type":"string","enum":[1]}"#, "string number boolean array object null"),
        ];
        for (schema, expected) in cases {
            let reader = SchemaReader::new(&RawJson::from_bytes(schema).unwrap());
            assert_eq!(reader.kinds(reader.root()).names().join(" "), expected, "{schema}");
        }
    }

    #[test]
    fn entangled_schemas_come_to_an_end() {
        let branches = vec![r##"{"$ref":"#"}"##; 200].join(",");
        let reader = SchemaReader::new(&RawJson::from_bytes(format!(r#"{{"anyOf":[{branches}]}}"#)).unwrap());
        assert_eq!(reader.kinds(reader.root()), Kinds::ANY);
        assert!(reader.aspects(reader.root()).len() <= 201);
    }
}
