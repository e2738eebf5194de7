//! Keywords that speak about one value alone: types, words, bounds, lists of values.

use serde_json::{Map, Number, Value};

use super::limits::VALUES_BYTES_MAX;
use super::merge::same;
use super::shape::{Bound, Count, Kinds, Ledger, Numbers, Plain, Text, Words, shortened, told};

/// The types a schema allows.
pub(super) fn kinds(map: &Map<String, Value>, ledger: &mut Ledger) -> Kinds {
    let mut named = |name: &str| {
        let kinds = Kinds::named(name);
        ledger.is_loosened |= kinds.is_none();
        kinds
    };
    let kinds = match map.get("type") {
        Some(Value::String(name)) => named(name).unwrap_or(Kinds::ALL),
        Some(Value::Array(names)) => {
            let each = names.iter().filter_map(Value::as_str).filter_map(&mut named);
            let kinds = each.fold(Kinds::NONE, Kinds::or);
            if kinds.is_empty() { Kinds::ALL } else { kinds }
        }
        _ => Kinds::ALL,
    };
    // A word of OpenAPI 3.0, which JSON Schema does not know.
    let is_nullable = map.get("nullable") == Some(&Value::Bool(true)) && !kinds.meets(Kinds::NULL);
    if is_nullable {
        ledger.loosen();
    }
    if is_nullable { kinds.or(Kinds::NULL) } else { kinds }
}

/// What a schema says for people.
pub(super) fn words(map: &Map<String, Value>, ledger: &Ledger) -> Words {
    let text = |keyword: &str| {
        let text = map.get(keyword).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        text.map(|text| shortened(text, ledger.description_chars_max))
    };
    let mut words = Words { title: text("title"), description: text("description"), notes: Vec::new() };
    if map.get("deprecated") == Some(&Value::Bool(true)) {
        words.note("Deprecated.");
    }
    words
}

/// Everything that needs no other schema.
pub(super) fn simple(map: &Map<String, Value>, plain: &mut Plain, words: &mut Words, ledger: &mut Ledger) {
    plain.default = map.get("default").filter(|value| told(value).is_some()).cloned();
    plain.numbers = numbers(map);
    plain.text.chars = count(map, "minLength", "maxLength");
    plain.text.pattern = text_of(map, "pattern");
    plain.text.format = text_of(map, "format");
    if plain.kinds.meets(Kinds::ARRAY) {
        plain.list.count = count(map, "minItems", "maxItems");
        plain.list.is_unique = map.get("uniqueItems") == Some(&Value::Bool(true));
    }
    if plain.kinds.meets(Kinds::OBJECT) {
        plain.object.count = count(map, "minProperties", "maxProperties");
    }
    keep_rules_of_kinds(plain);
    let example =
        map.get("examples").and_then(Value::as_array).and_then(|list| list.first()).or_else(|| map.get("example"));
    if let Some(text) = example.and_then(told) {
        words.note(format!("Example: {text}."));
    }
    ledger.is_loosened |= ["divisibleBy", "disallow", "extends"].iter().any(|old| map.contains_key(*old));
}

/// A rule about a type that is not allowed says nothing.
fn keep_rules_of_kinds(plain: &mut Plain) {
    if !plain.kinds.meets(Kinds::NUMBER) {
        plain.numbers = Numbers::default();
    }
    // Among them are formats such as `int32` and `double`, which say how a number is stored.
    if !plain.kinds.meets(Kinds::STRING) {
        plain.text = Text::default();
    }
}

/// `enum` and `const`, as far as the types allow them; empty when nothing is left.
pub(super) fn values(
    map: &Map<String, Value>,
    kinds: Kinds,
    words: &mut Words,
    ledger: &mut Ledger,
) -> Option<Vec<Value>> {
    let listed = map.get("enum").and_then(Value::as_array).cloned();
    let only = map.get("const").cloned();
    let mut values = match (listed, only) {
        (None, None) => return None,
        (Some(listed), None) => listed,
        (None, Some(only)) => vec![only],
        (Some(listed), Some(only)) => listed.into_iter().filter(|value| same(value, &only)).collect(),
    };
    values.retain(|value| Kinds::of(value).meets(kinds));
    let mut distinct: Vec<Value> = Vec::new();
    let bytes: usize =
        values.iter().map(|value| value.as_str().map_or_else(|| value.to_string().len(), str::len) + 3).sum();
    if bytes > VALUES_BYTES_MAX {
        ledger.loosen();
        words.note(format!(
            "One of {} values, such as {}.",
            values.len(),
            values.first().and_then(told).unwrap_or_default()
        ));
        return None;
    }
    for value in values {
        if !distinct.iter().any(|known| same(known, &value)) {
            distinct.push(value);
        }
    }
    Some(distinct)
}

fn numbers(map: &Map<String, Value>) -> Numbers {
    Numbers {
        least: bound(map, "minimum", "exclusiveMinimum"),
        most: bound(map, "maximum", "exclusiveMaximum"),
        multiple_of: number_of(map, "multipleOf").filter(|number| number.as_f64().is_some_and(|number| number > 0.0)),
    }
}

/// Draft 4 says with `true` that the other keyword is exclusive; later drafts have a number of its own.
fn bound(map: &Map<String, Value>, inclusive: &str, exclusive: &str) -> Option<Bound> {
    let value = number_of(map, inclusive);
    if map.get(exclusive) == Some(&Value::Bool(true)) {
        return value.map(|value| Bound { value, exclusive: true });
    }
    let Some(other) = number_of(map, exclusive) else {
        return value.map(|value| Bound { value, exclusive: false });
    };
    let is_looser = value.as_ref().is_some_and(|value| {
        let (value, other) = (value.as_f64(), other.as_f64());
        if inclusive == "minimum" { value > other } else { value < other }
    });
    let tighter = value.filter(|_| is_looser).map(|value| Bound { value, exclusive: false });
    Some(tighter.unwrap_or(Bound { value: other, exclusive: true }))
}

fn number_of(map: &Map<String, Value>, keyword: &str) -> Option<Number> {
    if let Some(Value::Number(number)) = map.get(keyword) { Some(number.clone()) } else { None }
}

fn text_of(map: &Map<String, Value>, keyword: &str) -> Option<String> {
    map.get(keyword).and_then(Value::as_str).map(str::to_owned)
}

fn count(map: &Map<String, Value>, least: &str, most: &str) -> Count {
    let number = |keyword: &str| {
        let value = map.get(keyword)?;
        value.as_u64().or_else(|| value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0).map(as_count))
    };
    Count { least: number(least).filter(|number| *number > 0), most: number(most) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number that is not negative; larger ones saturate"
)]
fn as_count(number: f64) -> u64 {
    number as u64
}
