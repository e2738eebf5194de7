//! Objects of a declaration: keys that a provider takes, and maps and free objects for a provider that knows neither.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::plan::{ENTRY_KEY, ENTRY_VALUE, Field, ObjectPlan, Plan, PlanForm};
use super::shape::{Form, Kinds, Object, Others, Plain, Shape, Words};
use super::write::{Writer, Written};

/// The property that holds those without a name, where only names can be declared.
const OTHERS_KEY: &str = "other_properties";

impl Writer<'_> {
    /// An object somewhere inside.
    pub(super) fn object(&mut self, plain: &Plain, mut words: Words, key: Option<&str>) -> Written {
        let is_subset = self.dialect.is_open_api_subset();
        let mut schema = Map::new();
        let has_names = !plain.object.properties.is_empty() || !plain.object.required.is_empty();
        if is_subset && !has_names {
            return self.without_names(&plain.object, words, key);
        }
        schema.insert("type".to_owned(), "object".into());
        let plan = self.members(&plain.object, &mut schema, &mut words);
        if is_subset && plan.fields.is_empty() && plan.entries_in.is_none() {
            return self.without_names(&Object { count: plain.object.count, ..Object::default() }, words, key);
        }
        self.keep_default(plain, Kinds::OBJECT, &mut schema);
        self.describe(&mut schema, &words, key);
        (Value::Object(schema), Plan { kinds: Kinds::OBJECT, form: PlanForm::Object(plan) })
    }

    /// The arguments of a function. `None` when there are none and the provider wants that left out.
    pub(super) fn arguments(&mut self, plain: &Plain, mut words: Words) -> (Option<Value>, Plan) {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        let plan = self.members(&plain.object, &mut schema, &mut words);
        let is_empty = plan.fields.is_empty() && plan.entries_in.is_none();
        self.describe(&mut schema, &words, None);
        let plan = Plan { kinds: Kinds::OBJECT, form: PlanForm::Object(plan) };
        if is_empty && self.dialect.is_open_api_subset() {
            return (None, plan);
        }
        (Some(Value::Object(schema)), plan)
    }

    /// An object of which no property has a name, for a provider that refuses one: a list of entries, or a text.
    fn without_names(&mut self, object: &Object, mut words: Words, key: Option<&str>) -> Written {
        self.tell_properties(object.count, &mut Map::new(), &mut words);
        if let Others::Of(shape) = &object.others {
            let is_free = shape.plain().is_some_and(Plain::is_any);
            if !is_free {
                let (mut schema, plan) = self.entries(shape);
                if let (Some(description), Value::Object(schema)) = (self.described(&words, key), &mut schema) {
                    schema.insert("description".to_owned(), description.into());
                }
                return (schema, Plan { kinds: Kinds::ARRAY, form: PlanForm::Entries(Box::new(plan)) });
            }
        }
        self.ledger.loosen();
        words.note("A JSON object, written as text.");
        let description = self.described(&words, key);
        let schema = json!({"type": "string", "description": description});
        (schema, Plan { kinds: Kinds::STRING, form: PlanForm::Json(Kinds::OBJECT) })
    }

    /// A map as a list of keys with their values; how a value is restored.
    fn entries(&mut self, values: &Shape) -> Written {
        let (value, plan) = self.shape(values, None);
        let entry = json!({
            "type": "object",
            "properties": {ENTRY_KEY: {"type": "string"}, ENTRY_VALUE: value},
            "required": [ENTRY_KEY, ENTRY_VALUE],
        });
        (json!({"type": "array", "items": entry}), plan)
    }

    fn members(&mut self, object: &Object, schema: &mut Map<String, Value>, words: &mut Words) -> ObjectPlan {
        let mut properties = Map::new();
        let mut fields: Vec<Field> = Vec::new();
        let all = Self::with_required(object);
        // Keys that fit keep their names, wherever they stand.
        let letters = self.dialect.keys;
        let fitting: HashSet<&str> = all.iter().map(|(key, _)| key.as_str()).filter(|key| letters.fits(key)).collect();
        let required: HashSet<&str> = object.required.iter().map(String::as_str).collect();
        for (key, shape) in &all {
            let is_required = required.contains(key.as_str());
            if shape.is_never() && !is_required {
                self.ledger.loosen();
                continue;
            }
            let shown = if letters.fits(key) {
                key.clone()
            } else {
                letters.key(key, |name| fitting.contains(name) || fields.iter().any(|field| field.shown == name))
            };
            let mut shape = for_property(shape, is_required);
            if shown != *key {
                shape.to_mut().words.note(format!("Named {key:?} by the tool."));
            }
            let (written, plan) = self.shape(&shape, Some(key));
            properties.insert(shown.clone(), written);
            fields.push(Field { shown, meant: key.clone(), is_required, plan });
        }
        let mut plan = ObjectPlan { fields, others: None, entries_in: None };
        self.others(&object.others, &mut properties, schema, &mut plan);
        let required: Vec<&str> =
            plan.fields.iter().filter(|field| field.is_required).map(|field| field.shown.as_str()).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema.insert("properties".to_owned(), Value::Object(properties));
        self.tell_properties(object.count, schema, words);
        plan
    }

    /// The properties, and those that are only required.
    fn with_required(object: &Object) -> Vec<(String, Shape)> {
        let mut all = object.properties.clone();
        let known: HashSet<&str> = object.properties.iter().map(|(key, _)| key.as_str()).collect();
        for key in object.required.iter().filter(|key| !known.contains(key.as_str())) {
            let shape = match &object.others {
                Others::Of(shape) => (**shape).clone(),
                Others::Unsaid => Shape::any(),
                Others::Closed => Shape::never(),
            };
            all.push((key.clone(), shape));
        }
        all
    }

    fn others(
        &mut self,
        others: &Others,
        properties: &mut Map<String, Value>,
        schema: &mut Map<String, Value>,
        plan: &mut ObjectPlan,
    ) {
        match others {
            Others::Unsaid => {}
            Others::Closed if self.dialect.is_open_api_subset() => {}
            Others::Closed => drop(schema.insert("additionalProperties".to_owned(), false.into())),
            Others::Of(shape) if shape.is_never() => {
                if !self.dialect.is_open_api_subset() {
                    schema.insert("additionalProperties".to_owned(), false.into());
                }
            }
            Others::Of(shape) if self.dialect.is_open_api_subset() => {
                if shape.plain().is_some_and(Plain::is_any) && !plan.fields.is_empty() {
                    return;
                }
                // An entry may have the name of a property, for which something else holds.
                self.ledger.is_loosened |= !plan.fields.is_empty();
                let taken = |name: &str| plan.fields.iter().any(|field| field.shown == name || field.meant == name);
                let key = self.dialect.keys.key(OTHERS_KEY, taken);
                let (mut list, values) = self.entries(shape);
                if let Value::Object(list) = &mut list {
                    list.insert("description".to_owned(), "Properties with other names.".into());
                }
                properties.insert(key.clone(), list);
                plan.others = Some(Box::new(values));
                plan.entries_in = Some(key);
            }
            Others::Of(shape) => {
                let (written, values) = self.shape(shape, None);
                let is_free = written.as_object().is_some_and(Map::is_empty);
                schema.insert("additionalProperties".to_owned(), if is_free { true.into() } else { written });
                plan.others = Some(Box::new(values));
            }
        }
    }
}

/// A property that may be left out and is `null` unless given is left out instead: that says the same in fewer words.
fn for_property(shape: &Shape, is_required: bool) -> std::borrow::Cow<'_, Shape> {
    let Form::Plain(plain) = &shape.form else { return std::borrow::Cow::Borrowed(shape) };
    let kinds = plain.meant_kinds();
    let is_null_unless_given = !is_required
        && plain.default.as_ref().is_some_and(Value::is_null)
        && kinds != Kinds::ALL
        && kinds.meets(Kinds::NULL)
        && kinds != Kinds::NULL;
    if !is_null_unless_given {
        return std::borrow::Cow::Borrowed(shape);
    }
    let mut plain = plain.clone();
    plain.kinds = kinds.without(Kinds::NULL);
    if let Some(values) = &mut plain.values {
        values.retain(|value| !value.is_null());
    }
    std::borrow::Cow::Owned(Shape { words: shape.words.clone(), form: Form::Plain(plain) })
}
