//! From a JSON Schema of any draft to a [`Shape`]: references followed, what holds together merged, cycles and depth bounded.
//!
//! What a keyword says about one type alone is read by `keywords.rs`; this file follows what leads to other schemas.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::keywords;
use super::limits::{LISTED_NAMES_MAX, READ_DEPTH_MAX, RECURSIONS_MAX};
use super::merge::both;
use super::references::{Found, REFERRING, References};
use super::shape::{Form, Kinds, Ledger, Others, Plain, Shape, Words, told};
use super::union;

/// Where in the declaration a schema stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Objects and lists around it in the declaration.
    level: usize,
    /// Schemas around it in the document; references count.
    depth: usize,
}

impl Place {
    /// Of the value of a property or an item of a list.
    fn below(self) -> Self {
        Self { level: self.level + 1, depth: self.depth + 1 }
    }

    /// Of a schema about the same value.
    fn beside(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

/// Reads one document.
#[derive(Debug)]
pub(super) struct Reader<'s, 'l> {
    references: &'l References<'s>,
    ledger: &'l mut Ledger,
    levels_max: usize,
    /// The schemas that references led to and that are not read to their end.
    open: Vec<&'s Value>,
}

/// Keywords whose meaning cannot be kept and that are told in words, with how they are told.
const TOLD: [(&str, &str); 9] = [
    ("not", "Not"),
    ("contains", "Contains an item that matches"),
    ("minContains", "Matching items at least"),
    ("maxContains", "Matching items at most"),
    ("unevaluatedItems", "Other items"),
    ("dependentRequired", "Needed together"),
    ("contentSchema", "The content matches"),
    ("contentEncoding", "Encoding"),
    ("contentMediaType", "Media type"),
];

/// Those of them that only describe: a value breaks nothing by ignoring them.
const DESCRIPTIVE: [&str; 3] = ["contentSchema", "contentEncoding", "contentMediaType"];

impl<'s, 'l> Reader<'s, 'l> {
    pub(super) fn new(references: &'l References<'s>, ledger: &'l mut Ledger, levels_max: usize) -> Self {
        Self { references, ledger, levels_max, open: Vec::new() }
    }

    /// Reads the whole document.
    pub(super) fn document(&mut self, schema: &'s Value) -> Shape {
        self.read(schema, Place { level: 0, depth: 0 })
    }

    fn read(&mut self, schema: &'s Value, place: Place) -> Shape {
        self.ledger.deepest = self.ledger.deepest.max(place.level);
        let map = match schema {
            _ if self.ledger.has_failed() => return Shape::any(),
            Value::Object(map) => map,
            Value::Bool(false) => return Shape::never(),
            Value::Bool(true) => return Shape::any(),
            _ => {
                self.ledger.loosen();
                return Shape::any();
            }
        };
        if place.depth >= READ_DEPTH_MAX || !self.ledger.spend(1) {
            return self.cut(map);
        }
        let mut shape = self.own(map, place);
        for keyword in REFERRING {
            if let Some(reference) = map.get(keyword).and_then(Value::as_str) {
                let referred = self.follow(reference, schema, place);
                shape = both(shape, referred, self.ledger);
            }
        }
        for part in list_of(map, "allOf") {
            let part = self.read(part, place.beside());
            shape = both(shape, part, self.ledger);
        }
        for keyword in ["anyOf", "oneOf"] {
            let parts = list_of(map, keyword);
            if !parts.is_empty() {
                shape = self.alternatives(shape, parts, place);
                // That only one of several may match is not said again.
                self.ledger.is_loosened |= keyword == "oneOf" && parts.len() > 1;
            }
        }
        self.conditions(&mut shape, map, place);
        self.tell(&mut shape.words, map);
        shape
    }

    /// What a schema says when there is no room to look into it: its type and its words.
    fn cut(&mut self, map: &'s Map<String, Value>) -> Shape {
        self.ledger.loosen();
        let mut shape = Shape::of(Plain::of(keywords::kinds(map, self.ledger)));
        shape.words = keywords::words(map, self.ledger);
        shape
    }

    fn follow(&mut self, reference: &str, from: &'s Value, place: Place) -> Shape {
        let Some(Found { part: target, is_certain }) = self.references.find(reference, from) else {
            self.ledger.loosen();
            return Shape::any();
        };
        self.ledger.is_loosened |= !is_certain;
        let times = self.open.iter().filter(|open| std::ptr::eq(**open, target)).count();
        if times >= RECURSIONS_MAX {
            self.ledger.loosen();
            return target.as_object().map_or_else(Shape::any, |map| self.cut(map));
        }
        self.open.push(target);
        let shape = self.read(target, place.beside());
        self.open.pop();
        shape
    }

    /// What the keywords of a schema say about values, each type on its own.
    fn own(&mut self, map: &'s Map<String, Value>, place: Place) -> Shape {
        let mut plain = Plain::of(keywords::kinds(map, self.ledger));
        let mut words = keywords::words(map, self.ledger);
        keywords::simple(map, &mut plain, &mut words, self.ledger);
        if place.level < self.levels_max {
            if plain.kinds.meets(Kinds::ARRAY) {
                self.items(map, &mut plain, place);
            }
            if plain.kinds.meets(Kinds::OBJECT) {
                self.properties(map, &mut plain, &mut words, place);
            }
        } else if ["properties", "items", "prefixItems", "additionalProperties", "required", "patternProperties"]
            .iter()
            .any(|keyword| map.contains_key(*keyword))
        {
            self.ledger.loosen();
            if plain.kinds == Kinds::ALL {
                plain.kinds = if map.contains_key("properties") { Kinds::OBJECT } else { Kinds::ALL };
            }
            self.list_names(map, &mut words);
        }
        let form = match keywords::values(map, plain.kinds, &mut words, self.ledger) {
            Some(values) if values.is_empty() => Form::Never,
            values => {
                plain.values = values;
                Form::Plain(Box::new(plain))
            }
        };
        Shape { words, form }
    }

    /// The properties of an object that is too deep to be declared: their names at least.
    fn list_names(&self, map: &Map<String, Value>, words: &mut Words) {
        let Some(properties) = map.get("properties").and_then(Value::as_object).filter(|names| !names.is_empty())
        else {
            return;
        };
        let names: Vec<&str> = properties.keys().map(String::as_str).take(LISTED_NAMES_MAX).collect();
        words.note(format!("An object with: {}.", names.join(", ")));
    }

    fn items(&mut self, map: &'s Map<String, Value>, plain: &mut Plain, place: Place) {
        let below = place.below();
        let (first, rest) = match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(first)), rest) => (first.as_slice(), rest),
            // Up to draft 2019-09 the two had other names.
            (_, Some(Value::Array(first))) => (first.as_slice(), map.get("additionalItems")),
            (_, rest) => (&[][..], rest),
        };
        plain.list.first = first.iter().map(|item| self.read(item, below)).collect();
        plain.list.rest = rest.map(|item| self.read(item, below));
    }

    fn properties(&mut self, map: &'s Map<String, Value>, plain: &mut Plain, words: &mut Words, place: Place) {
        let below = place.below();
        for (key, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let shape = self.read(schema, below);
            plain.object.properties.push((key.clone(), shape));
        }
        let mut known = HashSet::new();
        let required = list_of(map, "required").iter().filter_map(Value::as_str).filter(|key| known.insert(*key));
        plain.object.required = required.map(str::to_owned).collect();
        let others = map.get("additionalProperties").or_else(|| map.get("unevaluatedProperties"));
        if map.get("additionalProperties").is_none() && others.is_some_and(|others| others != true) {
            // What counts as evaluated is decided by schemas beside this one.
            self.ledger.loosen();
        } else {
            plain.object.others = match others {
                None => Others::Unsaid,
                Some(Value::Bool(false)) => Others::Closed,
                Some(schema) => Others::Of(Box::new(self.read(schema, below))),
            };
        }
        self.patterns(map, plain, words, below);
        self.property_names(map, plain, words);
    }

    /// `patternProperties`: a map whose keys are told in words.
    fn patterns(&mut self, map: &'s Map<String, Value>, plain: &mut Plain, words: &mut Words, below: Place) {
        let Some(patterns) = map.get("patternProperties").and_then(Value::as_object).filter(|map| !map.is_empty())
        else {
            return;
        };
        self.ledger.loosen();
        let names: Vec<&str> = patterns.keys().map(String::as_str).collect();
        words.note(format!("Names match {}.", names.join(" or ")));
        let shapes: Vec<Shape> = patterns.values().map(|schema| self.read(schema, below)).collect();
        if matches!(plain.object.others, Others::Closed | Others::Unsaid) {
            let shape = union::of(shapes, self.ledger);
            let shape = if shape.is_never() { Shape::any() } else { shape };
            plain.object.others = Others::Of(Box::new(shape));
        }
    }

    /// `propertyNames`: a short list of names becomes properties, anything else is told in words.
    fn property_names(&mut self, map: &'s Map<String, Value>, plain: &mut Plain, words: &mut Words) {
        let Some(names) = map.get("propertyNames").filter(|names| **names != true) else { return };
        let listed: Option<Vec<&str>> = match names.get("enum") {
            Some(Value::Array(listed)) => listed.iter().map(Value::as_str).collect(),
            _ => None,
        };
        let is_exact = names.as_object().is_some_and(|names| names.keys().all(|key| key == "enum" || key == "type"));
        match (listed, &plain.object.others) {
            (Some(listed), Others::Of(shape))
                if listed.len() <= LISTED_NAMES_MAX && self.ledger.spend(shape.parts() * listed.len()) =>
            {
                let shape = (**shape).clone();
                for name in listed {
                    if !plain.object.properties.iter().any(|(known, _)| known == name) {
                        plain.object.properties.push((name.to_owned(), shape.clone()));
                    }
                }
                plain.object.others = Others::Closed;
                self.ledger.is_loosened |= !is_exact;
            }
            _ if names.get("type").is_some_and(|kind| kind == "string")
                && names.as_object().is_some_and(|names| names.len() == 1) => {}
            _ => {
                self.ledger.loosen();
                if let Some(text) = names.get("pattern").and_then(Value::as_str) {
                    words.note(format!("Names match {text}."));
                } else if let Some(text) = told(names) {
                    words.note(format!("Names: {text}."));
                }
            }
        }
    }

    /// `anyOf` and `oneOf`. When they only say which properties go together, that is told in words and the object stays one.
    fn alternatives(&mut self, shape: Shape, parts: &'s [Value], place: Place) -> Shape {
        let only_require = |part: &Value| {
            part.as_object()
                .is_some_and(|map| !map.is_empty() && map.keys().all(|key| key == "required" || key == "description"))
        };
        if parts.iter().all(only_require) {
            self.ledger.loosen();
            let sets = parts.iter().map(|part| {
                let names = part["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
                names.collect::<Vec<_>>().join(" and ")
            });
            let mut shape = shape;
            shape.words.note(format!("Give at least one of: {}.", sets.collect::<Vec<_>>().join("; ")));
            return shape;
        }
        let shapes = parts.iter().map(|part| self.read(part, place.beside())).collect();
        let union = union::of(shapes, self.ledger);
        both(shape, union, self.ledger)
    }

    /// `if`, `dependentSchemas` and `dependencies`: the properties that they bring are shown, when they apply is told in words.
    fn conditions(&mut self, shape: &mut Shape, map: &'s Map<String, Value>, place: Place) {
        let mut brought: Vec<&'s Value> = Vec::new();
        if let Some(condition) = map.get("if") {
            self.ledger.loosen();
            brought.extend(["then", "else"].iter().filter_map(|keyword| map.get(*keyword)));
            let tell = |keyword: &str, word: &str| map.get(keyword).and_then(told).map(|text| format!("{word} {text}"));
            let parts = [told(condition).map(|text| format!("If {text}")), tell("then", "then"), tell("else", "else")];
            let text = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
            shape.words.note(if text.is_empty() {
                "Some of it depends on the rest.".to_owned()
            } else {
                format!("{text}.")
            });
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for (key, dependent) in map.get(keyword).and_then(Value::as_object).into_iter().flatten() {
                self.ledger.loosen();
                if dependent.is_object() {
                    brought.push(dependent);
                }
                if let Some(text) = told(dependent) {
                    shape.words.note(format!("With {key}: {text}."));
                }
            }
        }
        for schema in brought {
            let other = self.read(schema, place.beside());
            if let (Form::Plain(plain), Form::Plain(other)) = (&mut shape.form, other.form) {
                bring(plain, *other);
            }
        }
    }

    fn tell(&mut self, words: &mut Words, map: &Map<String, Value>) {
        for (keyword, told_as) in TOLD {
            let Some(value) = map.get(keyword) else { continue };
            self.ledger.is_loosened |= !DESCRIPTIVE.contains(&keyword);
            let text = value.as_str().map(str::to_owned).or_else(|| told(value));
            if let Some(text) = text {
                words.note(format!("{told_as}: {text}."));
            }
        }
    }
}

/// Properties that apply under a condition, as ones that may be left out.
fn bring(plain: &mut Plain, other: Plain) {
    if plain.object.others == Others::Closed {
        return;
    }
    for (key, shape) in other.object.properties {
        let is_known = plain.object.properties.iter().any(|(known, _)| *known == key);
        if !is_known && !shape.is_never() {
            plain.object.properties.push((key, shape));
        }
    }
}

fn list_of<'s>(map: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    map.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
