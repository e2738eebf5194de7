//! From the arguments a model gives to those the tool takes: what a declaration changed is undone, and what models often get wrong is
//! put right. Everything else is left as it is, for validation to report.

use serde_json::{Map, Value};

use super::limits::TEXT_ARGUMENT_BYTES_MAX;
use super::shape::Kinds;

/// How the value of one place is restored. As deep as the declaration it belongs to, so that following it is bounded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// The types that were declared.
    pub(super) kinds: Kinds,
    pub(super) form: PlanForm,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum PlanForm {
    /// Nothing to be done.
    Keep,
    /// Values that were declared, and what each stands for.
    Values(Vec<(Value, Value)>),
    /// A text stands for a value of these types, written as JSON.
    Json(Kinds),
    List(Box<Plan>),
    Object(ObjectPlan),
    /// A list of `{key, value}` stands for an object.
    Entries(Box<Plan>),
    Union(Vec<Plan>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ObjectPlan {
    pub(super) fields: Vec<Field>,
    /// Properties without a name of their own.
    pub(super) others: Option<Box<Plan>>,
    /// The declared property that holds the others as a list of entries.
    pub(super) entries_in: Option<String>,
}

/// One property.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// Its key in the declaration.
    pub(super) shown: String,
    /// Its key for the tool.
    pub(super) meant: String,
    pub(super) is_required: bool,
    pub(super) plan: Plan,
}

/// The keys of one entry of a map that is declared as a list.
pub(super) const ENTRY_KEY: &str = "key";
pub(super) const ENTRY_VALUE: &str = "value";

impl Plan {
    pub(super) fn keep(kinds: Kinds) -> Self {
        Self { kinds, form: PlanForm::Keep }
    }

    /// The value that is meant.
    pub(super) fn restore(&self, value: Value) -> Value {
        let value = self.unpacked(value);
        match (&self.form, value) {
            (PlanForm::Values(values), value) => {
                let known = values.iter().find(|(shown, _)| *shown == value);
                known.map_or(value, |(_, meant)| meant.clone())
            }
            (PlanForm::Json(kinds), Value::String(text)) => parsed(&text, *kinds).unwrap_or(Value::String(text)),
            (PlanForm::List(items), Value::Array(list)) => list.into_iter().map(|item| items.restore(item)).collect(),
            (PlanForm::Object(object), Value::Object(map)) => Value::Object(object.restore(map)),
            (PlanForm::Entries(values), Value::Array(list)) => entries(list, values),
            (PlanForm::Entries(values), Value::Object(map)) => {
                map.into_iter().map(|(key, value)| (key, values.restore(value))).collect()
            }
            (PlanForm::Union(plans), value) => {
                let fitting = || plans.iter().find(|plan| plan.fits(&value));
                let near = || plans.iter().find(|plan| plan.kinds.meets(Kinds::of(&value)));
                match plans.iter().find(|plan| plan.is_meant_by(&value)).or_else(fitting).or_else(near) {
                    Some(plan) => plan.restore(value),
                    None => value,
                }
            }
            (_, value) => value,
        }
    }

    /// An object or a list that was written as a text where no text is expected.
    fn unpacked(&self, value: Value) -> Value {
        let containers = self.kinds.and(Kinds::OBJECT.or(Kinds::ARRAY));
        match value {
            Value::String(text) if !self.kinds.meets(Kinds::STRING) && !containers.is_empty() => {
                parsed(&text, containers).unwrap_or(Value::String(text))
            }
            value => value,
        }
    }

    /// Whether a value can hardly stand for anything else.
    fn is_meant_by(&self, value: &Value) -> bool {
        match (&self.form, value) {
            (PlanForm::Values(values), value) => values.iter().any(|(shown, _)| shown == value),
            (PlanForm::Json(kinds), Value::String(text)) => parsed(text, *kinds).is_some(),
            _ => false,
        }
    }

    /// Whether nothing is restored.
    pub(super) fn changes_nothing(&self) -> bool {
        match &self.form {
            PlanForm::Keep => true,
            PlanForm::Values(values) => values.iter().all(|(shown, meant)| shown == meant),
            PlanForm::List(items) => items.changes_nothing(),
            PlanForm::Object(object) => {
                object.entries_in.is_none()
                    && object.others.as_ref().is_none_or(|others| others.changes_nothing())
                    && object.fields.iter().all(|field| field.shown == field.meant && field.plan.changes_nothing())
            }
            PlanForm::Union(plans) => plans.iter().all(Self::changes_nothing),
            PlanForm::Json(_) | PlanForm::Entries(_) => false,
        }
    }

    /// Whether a value is of the declared form, as far as that tells alternatives apart.
    fn fits(&self, value: &Value) -> bool {
        if !self.kinds.meets(Kinds::of(value)) {
            return false;
        }
        match (&self.form, value) {
            (PlanForm::Values(values), value) => values.iter().any(|(shown, _)| shown == value),
            (PlanForm::List(items), Value::Array(list)) => list.iter().all(|item| items.fits(item)),
            (PlanForm::Object(object), Value::Object(map)) => object.fits(map),
            (PlanForm::Entries(values), Value::Array(list)) => list.iter().all(|entry| {
                entry.get(ENTRY_KEY).is_some_and(Value::is_string)
                    && entry.get(ENTRY_VALUE).is_some_and(|value| values.fits(value))
            }),
            (PlanForm::Union(plans), value) => plans.iter().any(|plan| plan.fits(value)),
            _ => true,
        }
    }
}

impl ObjectPlan {
    fn restore(&self, map: Map<String, Value>) -> Map<String, Value> {
        let mut restored = Map::new();
        let mut extra = Map::new();
        for (key, value) in map {
            // A model that was told the name of the tool may use it.
            let field = self.shown(&key).or_else(|| self.fields.iter().find(|field| field.meant == key));
            match field {
                Some(field) if value.is_null() && !field.is_required && !field.plan.kinds.meets(Kinds::NULL) => {}
                Some(field) => {
                    restored.insert(field.meant.clone(), field.plan.restore(value));
                }
                None if self.entries_in.as_ref() == Some(&key) => {
                    extra.extend(self.unlisted(key, value));
                }
                None => {
                    let value = match &self.others {
                        Some(others) => others.restore(value),
                        None => value,
                    };
                    extra.insert(key, value);
                }
            }
        }
        for (key, value) in extra {
            restored.entry(key).or_insert(value);
        }
        restored
    }

    /// The properties that stand in the list of those without a name. Some models write an object after all.
    fn unlisted(&self, key: String, value: Value) -> Map<String, Value> {
        let value = match (value, self.others.as_deref()) {
            (Value::Array(list), Some(others)) => entries(list, others),
            (Value::Object(map), Some(others)) => {
                map.into_iter().map(|(key, value)| (key, others.restore(value))).collect()
            }
            (value, _) => value,
        };
        match value {
            Value::Object(map) => map,
            Value::Null => Map::new(),
            other => std::iter::once((key, other)).collect(),
        }
    }

    fn shown(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.shown == key)
    }

    fn fits(&self, map: &Map<String, Value>) -> bool {
        self.fields.iter().all(|field| match map.get(&field.shown) {
            Some(value) => field.plan.fits(value),
            None => !field.is_required,
        })
    }
}

/// What a text says as JSON, if it is of one of these types.
fn parsed(text: &str, kinds: Kinds) -> Option<Value> {
    if text.len() > TEXT_ARGUMENT_BYTES_MAX || !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    kinds.meets(Kinds::of(&value)).then_some(value)
}

/// The object that a list of entries stands for; the list itself when it is something else.
fn entries(list: Vec<Value>, values: &Plan) -> Value {
    let is_entry = |entry: &Value| entry.get(ENTRY_KEY).is_some_and(Value::is_string);
    if !list.iter().all(is_entry) {
        return Value::Array(list);
    }
    let mut map = Map::new();
    for entry in list {
        if let Value::Object(mut entry) = entry {
            let value = entry.remove(ENTRY_VALUE).unwrap_or(Value::Null);
            if let Some(Value::String(key)) = entry.remove(ENTRY_KEY) {
                map.insert(key, values.restore(value));
            }
        }
    }
    Value::Object(map)
}
