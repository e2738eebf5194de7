//! From a [`Shape`] to what a provider takes, together with the way back for arguments.
//!
//! `object.rs` writes objects; the two grammars differ in few places, which ask `Dialect::is_open_api_subset`.

use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use super::plan::{Plan, PlanForm};
use super::shape::{Bound, Count, Form, Kinds, Ledger, List, Plain, Shape, Words, shortened, told};
use super::union;

/// A list may have this many items by keyword for Gemini, which adds them up and refuses large sums; more are told in words.
const GEMINI_ITEMS_MAX: u64 = 64;

/// Whole numbers of this size are the bounds of the type itself, which every reader knows.
const INTEGER_BOUND: f64 = 9_007_199_254_740_991.0;

/// Writes one declaration.
#[derive(Debug)]
pub(super) struct Writer<'l> {
    pub(super) dialect: &'static Dialect,
    pub(super) ledger: &'l mut Ledger,
}

/// What is declared for one place, and how its value is restored.
pub(super) type Written = (Value, Plan);

impl Writer<'_> {
    /// Writes what stands under `key` in an object, or nowhere in particular.
    pub(super) fn shape(&mut self, shape: &Shape, key: Option<&str>) -> Written {
        match &shape.form {
            Form::Plain(plain) => self.plain(plain, &shape.words, key),
            Form::Union(shapes) => {
                let mut written = Vec::new();
                for shape in shapes {
                    let (schema, plan) = self.shape(shape, None);
                    flatten(schema, plan, &mut written);
                }
                self.any_of(written, self.described(&shape.words, key))
            }
            Form::Never => {
                self.ledger.loosen();
                self.anything(self.described(&shape.words, key))
            }
        }
    }

    fn plain(&mut self, plain: &Plain, words: &Words, key: Option<&str>) -> Written {
        let mut words = words.clone();
        let default = plain.default.as_ref().filter(|default| !default.is_null() && self.dialect.is_open_api_subset());
        if let Some(text) = default.and_then(told) {
            words.note(format!("Default: {text}."));
        }
        if let Some(values) = &plain.values {
            return self.values(plain, values, &words, key);
        }
        let kinds = plain.meant_kinds();
        if kinds == Kinds::ALL {
            return self.anything(self.described(&words, key));
        }
        let mut apart: Vec<Kinds> = kinds.apart().collect();
        if let [only] = apart[..] {
            return self.one_kind(plain, only, words, key);
        }
        // A default is said once, by whoever it is a value of.
        apart.sort_by_key(|one| u8::from(*one == Kinds::NULL));
        let mut written = Vec::new();
        for one in apart {
            let (schema, plan) = self.one_kind(plain, one, Words::default(), None);
            flatten(schema, plan, &mut written);
        }
        self.any_of(written, self.described(&words, key))
    }

    fn one_kind(&mut self, plain: &Plain, kind: Kinds, mut words: Words, key: Option<&str>) -> Written {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), kind.name().into());
        let mut plan = Plan::keep(kind);
        match kind {
            Kinds::STRING => self.text(plain, &mut schema, &mut words),
            Kinds::ARRAY => {
                let items = self.list(&plain.list, &mut schema, &mut words);
                plan.form = PlanForm::List(Box::new(items));
            }
            Kinds::OBJECT => return self.object(plain, words, key),
            _ if kind.meets(Kinds::NUMBER) => self.number(plain, kind, &mut schema, &mut words),
            _ => {}
        }
        self.keep_default(plain, kind, &mut schema);
        self.describe(&mut schema, &words, key);
        (Value::Object(schema), plan)
    }

    pub(super) fn keep_default(&self, plain: &Plain, kind: Kinds, schema: &mut Map<String, Value>) {
        let default = plain.default.as_ref().filter(|default| Kinds::of(default).meets(kind) && !default.is_null());
        if let Some(default) = default.filter(|_| !self.dialect.is_open_api_subset()) {
            schema.insert("default".to_owned(), default.clone());
        }
    }

    fn text(&mut self, plain: &Plain, schema: &mut Map<String, Value>, words: &mut Words) {
        let text = &plain.text;
        if let Some(format) = &text.format {
            if self.dialect.formats.contains(&format.as_str()) {
                schema.insert("format".to_owned(), format.as_str().into());
            } else {
                self.ledger.loosen();
                words.note(format!("Format: {format}."));
            }
        }
        if let Some(pattern) = &text.pattern {
            if is_plain_pattern(pattern) && !self.dialect.is_open_api_subset() {
                schema.insert("pattern".to_owned(), pattern.as_str().into());
            } else {
                self.ledger.loosen();
                words.note(format!("Pattern: {pattern}"));
            }
        }
        if self.dialect.is_open_api_subset() {
            self.tell_count(text.chars, "characters", words);
        } else {
            keep_count(text.chars, ["minLength", "maxLength"], schema);
        }
    }

    fn number(&mut self, plain: &Plain, kind: Kinds, schema: &mut Map<String, Value>, words: &mut Words) {
        let numbers = &plain.numbers;
        let sides = [
            (&numbers.least, "minimum", "exclusiveMinimum", 1, "More than"),
            (&numbers.most, "maximum", "exclusiveMaximum", -1, "Less than"),
        ];
        for (bound, inclusive, exclusive, step, told_as) in sides {
            let Some(Bound { value, exclusive: is_exclusive }) = bound else { continue };
            if kind == Kinds::INTEGER && value.as_f64().is_some_and(|value| value.abs() >= INTEGER_BOUND) {
                self.ledger.loosen();
                continue;
            }
            let next = value.as_i64().filter(|_| kind == Kinds::INTEGER).and_then(|value| value.checked_add(step));
            match (is_exclusive, next) {
                (false, _) => drop(schema.insert(inclusive.to_owned(), value.clone().into())),
                (true, Some(next)) => drop(schema.insert(inclusive.to_owned(), next.into())),
                (true, None) if !self.dialect.is_open_api_subset() => {
                    schema.insert(exclusive.to_owned(), value.clone().into());
                }
                (true, None) => {
                    self.ledger.loosen();
                    words.note(format!("{told_as} {value}."));
                }
            }
        }
        if let Some(step) = &numbers.multiple_of {
            if self.dialect.is_open_api_subset() {
                self.ledger.loosen();
                words.note(format!("A multiple of {step}."));
            } else {
                schema.insert("multipleOf".to_owned(), step.clone().into());
            }
        }
    }

    /// The schema of a list without its description; how its items are restored. A list of which each item has its own schema becomes one
    /// whose items are any of them, because that is all that every provider takes.
    fn list(&mut self, list: &List, schema: &mut Map<String, Value>, words: &mut Words) -> Plan {
        let mut count = list.count;
        let rest = list.rest.clone().filter(|rest| !rest.is_never());
        let items = if list.first.is_empty() {
            if list.rest.as_ref().is_some_and(Shape::is_never) {
                count.most = Some(0);
            }
            rest.unwrap_or_else(Shape::any)
        } else {
            let order: Vec<String> = list.first.iter().map(summary).collect();
            words.note(format!("In this order: {}.", order.join(", ")));
            if list.rest.as_ref().is_some_and(Shape::is_never) {
                count.most = count.most.or(u64::try_from(list.first.len()).ok());
            }
            self.ledger.loosen();
            let is_open = list.rest.is_none() && count.most.is_none_or(|most| most > list.first.len() as u64);
            let open = is_open.then(Shape::any);
            if open.is_some() {
                Shape::any()
            } else {
                union::of(list.first.iter().cloned().chain(rest).collect(), self.ledger)
            }
        };
        let (items, plan) = self.shape(&items, None);
        schema.insert("items".to_owned(), items);
        if self.dialect.is_open_api_subset() {
            let told = Count { least: None, most: count.most.filter(|most| *most > GEMINI_ITEMS_MAX) };
            self.tell_count(told, "items", words);
            count.most = count.most.filter(|most| *most <= GEMINI_ITEMS_MAX);
        }
        keep_count(count, ["minItems", "maxItems"], schema);
        if list.is_unique {
            if self.dialect.is_open_api_subset() {
                self.ledger.loosen();
                words.note("No item twice.");
            } else {
                schema.insert("uniqueItems".to_owned(), true.into());
            }
        }
        plan
    }

    /// `enum`. Google takes texts only, so that everything else is written as one and restored.
    fn values(&mut self, plain: &Plain, values: &[Value], words: &Words, key: Option<&str>) -> Written {
        if self.dialect.is_open_api_subset() {
            return self.values_as_texts(plain, values, words, key);
        }
        let kinds = plain.meant_kinds();
        let mut schema = Map::new();
        let mut apart = kinds.apart();
        if let (Some(only), None) = (apart.next(), apart.next()) {
            schema.insert("type".to_owned(), only.name().into());
            match only {
                Kinds::ARRAY => drop(schema.insert("items".to_owned(), json!({}))),
                Kinds::OBJECT => drop(schema.insert("properties".to_owned(), json!({}))),
                _ => {}
            }
        }
        self.ledger.is_loosened |= plain.has_rules(kinds);
        schema.insert("enum".to_owned(), values.into());
        self.keep_default(plain, kinds, &mut schema);
        self.describe(&mut schema, words, key);
        let pairs = values.iter().map(|value| (value.clone(), value.clone())).collect();
        (Value::Object(schema), Plan { kinds, form: PlanForm::Values(pairs) })
    }

    fn values_as_texts(&mut self, plain: &Plain, values: &[Value], words: &Words, key: Option<&str>) -> Written {
        self.ledger.is_loosened |= plain.has_rules(plain.meant_kinds());
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        let has_null = values.iter().any(Value::is_null);
        for value in values.iter().filter(|value| !value.is_null()) {
            let plain_text = match value {
                Value::String(text) if text.is_empty() => "(empty)".to_owned(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let is_taken = |text: &str| {
                pairs.iter().any(|(shown, _)| shown == text)
                    || values.iter().any(|other| other == text && other != value)
            };
            let text = if is_taken(&plain_text) { format!("{} {value}", Kinds::of(value).name()) } else { plain_text };
            pairs.push((text.into(), value.clone()));
        }
        let mut written = Vec::new();
        if !pairs.is_empty() {
            let texts: Vec<Value> = pairs.iter().map(|(shown, _)| shown.clone()).collect();
            let schema = json!({"type": "string", "enum": texts});
            written.push((schema, Plan { kinds: Kinds::STRING, form: PlanForm::Values(pairs) }));
        }
        if has_null {
            written.push((json!({"type": "null"}), Plan::keep(Kinds::NULL)));
        }
        self.any_of(written, self.described(words, key))
    }

    /// No type at all. Google wants one: there, what is neither a text nor a number nor true or false is written as JSON.
    pub(super) fn anything(&mut self, description: Option<String>) -> Written {
        if !self.dialect.is_open_api_subset() {
            let mut schema = Map::new();
            if let Some(description) = description {
                schema.insert("description".to_owned(), description.into());
            }
            return (Value::Object(schema), Plan::keep(Kinds::ALL));
        }
        let text = json!({"type": "string", "description": "A text; an object or a list is written as JSON."});
        let containers = Kinds::OBJECT.or(Kinds::ARRAY);
        let written = vec![
            (text, Plan { kinds: Kinds::STRING, form: PlanForm::Json(containers) }),
            (json!({"type": "number"}), Plan::keep(Kinds::NUMBER)),
            (json!({"type": "boolean"}), Plan::keep(Kinds::BOOLEAN)),
        ];
        self.any_of(written, description)
    }

    /// One of several. For Google nothing may stand beside `anyOf`, so that the words go to the first alternative.
    fn any_of(&mut self, mut written: Vec<Written>, description: Option<String>) -> Written {
        let is_alone = self.dialect.is_open_api_subset();
        if written.len() == 1 || (is_alone && !written.is_empty()) {
            let first = &mut written[0].0;
            let own = first.get("description").and_then(Value::as_str).map(str::to_owned);
            let text = match (description, own) {
                (Some(outer), Some(own)) if outer != own => Some(format!("{outer} {own}")),
                (outer, own) => outer.or(own),
            };
            if let (Some(text), Value::Object(first)) = (text, first) {
                first.insert("description".to_owned(), text.into());
            }
            if written.len() == 1 {
                return written.remove(0);
            }
            return self.union_of(written, Map::new());
        }
        let mut schema = Map::new();
        if let Some(description) = description {
            schema.insert("description".to_owned(), description.into());
        }
        self.union_of(written, schema)
    }

    fn union_of(&mut self, written: Vec<Written>, mut schema: Map<String, Value>) -> Written {
        let (schemas, plans): (Vec<Value>, Vec<Plan>) = written.into_iter().unzip();
        let mut kinds = Kinds::NONE;
        let mut overlap = false;
        for plan in &plans {
            overlap |= kinds.meets(plan.kinds);
            kinds = kinds.or(plan.kinds);
        }
        // What looks the same in two alternatives may be restored as the wrong one.
        self.ledger.is_loosened |= overlap && !plans.iter().all(Plan::changes_nothing);
        schema.insert("anyOf".to_owned(), schemas.into());
        (Value::Object(schema), Plan { kinds, form: PlanForm::Union(plans) })
    }

    fn tell_count(&mut self, count: Count, what: &str, words: &mut Words) {
        match (count.least, count.most) {
            (None, None) => return,
            (Some(least), None) => words.note(format!("At least {least} {what}.")),
            (None, Some(most)) => words.note(format!("At most {most} {what}.")),
            (Some(least), Some(most)) => words.note(format!("{least} to {most} {what}.")),
        }
        self.ledger.loosen();
    }

    /// The same for an object, which has its own file.
    pub(super) fn tell_properties(&mut self, count: Count, schema: &mut Map<String, Value>, words: &mut Words) {
        if self.dialect.is_open_api_subset() {
            self.tell_count(count, "properties", words);
        } else {
            keep_count(count, ["minProperties", "maxProperties"], schema);
        }
    }

    pub(super) fn describe(&self, schema: &mut Map<String, Value>, words: &Words, key: Option<&str>) {
        if let Some(description) = self.described(words, key) {
            schema.insert("description".to_owned(), description.into());
        }
    }

    /// Description and notes as one text. A title that only repeats the key is none.
    pub(super) fn described(&self, words: &Words, key: Option<&str>) -> Option<String> {
        let letters = |text: &str| -> String {
            text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let title = words.title.as_ref().filter(|title| key.is_none_or(|key| letters(title) != letters(key)));
        let mut text = words.description.as_ref().or(title).cloned().unwrap_or_default();
        for note in &words.notes {
            if !text.is_empty() {
                text.push_str(if text.ends_with(['.', '!', '?', '…', ':', ')']) { " " } else { ". " });
            }
            text.push_str(note);
        }
        let text = shortened(&text, self.ledger.description_chars_max);
        (!text.is_empty()).then_some(text)
    }
}

/// Adds an alternative; one that is a union itself adds its own.
fn flatten(schema: Value, plan: Plan, written: &mut Vec<Written>) {
    let inner = schema.get("anyOf").and_then(Value::as_array).cloned();
    match (inner, plan) {
        (Some(schemas), Plan { form: PlanForm::Union(plans), .. }) if schemas.len() == plans.len() => {
            written.extend(schemas.into_iter().zip(plans).filter(|one| !written.contains(one)).collect::<Vec<_>>());
        }
        (_, plan) if !written.iter().any(|(known, _)| *known == schema) => written.push((schema, plan)),
        _ => {}
    }
}

fn keep_count(count: Count, names: [&str; 2], schema: &mut Map<String, Value>) {
    for (name, number) in names.into_iter().zip([count.least, count.most]) {
        if let Some(number) = number {
            schema.insert(name.to_owned(), number.into());
        }
    }
}

/// A pattern that every reader of regular expressions takes the same way: anchored at both ends, nothing that looks around.
fn is_plain_pattern(pattern: &str) -> bool {
    let inside = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
    let Some(inside) = inside.filter(|inside| !inside.ends_with('\\') && !inside.contains("(?")) else { return false };
    let mut letters = inside.chars();
    while let Some(letter) = letters.next() {
        let is_good = match letter {
            '\\' => letters.next().is_some_and(|next| matches!(next, 'd' | 'w' | 's') || next.is_ascii_punctuation()),
            '^' | '$' => false,
            letter => letter.is_ascii() && !letter.is_ascii_control(),
        };
        // A negated class is the one place where `^` is common.
        if !is_good && letter != '^' {
            return false;
        }
    }
    true
}

/// A shape in one or two words.
fn summary(shape: &Shape) -> String {
    if let Some(title) = shape.words.title.as_ref().or(shape.words.description.as_ref()) {
        return shortened(title, 40);
    }
    match &shape.form {
        Form::Plain(plain) if plain.meant_kinds() == Kinds::ALL => "anything".to_owned(),
        Form::Plain(plain) => plain.meant_kinds().apart().map(Kinds::name).collect::<Vec<_>>().join(" or "),
        Form::Union(shapes) => shapes.iter().take(4).map(summary).collect::<Vec<_>>().join(" or "),
        Form::Never => "nothing".to_owned(),
    }
}
