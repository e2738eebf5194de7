//! Two shapes that hold at the same time, as one: how `allOf`, and what stands beside a `$ref`, goes away.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::limits::ALTERNATIVES_MAX;
use super::shape::{Bound, Count, Form, Kinds, Ledger, List, Numbers, Object, Others, Plain, Shape, Text, Words};
use super::union;

/// What both allow. The words of the first come first.
pub(super) fn both(first: Shape, second: Shape, ledger: &mut Ledger) -> Shape {
    let mut words = first.words;
    words.complete(second.words);
    let form = match (first.form, second.form) {
        (Form::Never, _) | (_, Form::Never) => Form::Never,
        (Form::Plain(first), Form::Plain(second)) => plain(*first, *second, &mut words, ledger),
        (Form::Union(shapes), Form::Plain(plain)) | (Form::Plain(plain), Form::Union(shapes)) => {
            each_with(shapes, *plain, ledger)
        }
        (Form::Union(first), Form::Union(second)) => unions(first, &second, &mut words, ledger),
    };
    Shape { words, form }
}

/// A union in which every alternative also obeys `beside`.
fn each_with(shapes: Vec<Shape>, beside: Plain, ledger: &mut Ledger) -> Form {
    if beside.is_any() {
        return Form::Union(shapes);
    }
    let beside = Shape::of(beside);
    let copies = beside.parts().saturating_mul(shapes.len());
    if !ledger.spend(copies) {
        return beside.form;
    }
    union::of(shapes.into_iter().map(|shape| both(shape, beside.clone(), ledger)).collect(), ledger).form
}

fn unions(first: Vec<Shape>, second: &[Shape], words: &mut Words, ledger: &mut Ledger) -> Form {
    if first.len() * second.len() > ALTERNATIVES_MAX {
        ledger.loosen();
        words.note("More alternatives apply than can be told.");
        return Form::Union(first);
    }
    let mut shapes = Vec::new();
    for one in &first {
        for other in second {
            if !ledger.spend(one.parts() + other.parts()) {
                return Form::Union(first);
            }
            shapes.push(both(one.clone(), other.clone(), ledger));
        }
    }
    union::of(shapes, ledger).form
}

fn plain(first: Plain, second: Plain, words: &mut Words, ledger: &mut Ledger) -> Form {
    let kinds = first.kinds.and(second.kinds);
    let values = match (first.values, second.values) {
        (Some(first), Some(second)) => {
            Some(first.into_iter().filter(|value| second.iter().any(|other| same(value, other))).collect())
        }
        (first, second) => first.or(second),
    };
    let values: Option<Vec<Value>> =
        values.map(|values: Vec<Value>| values.into_iter().filter(|value| Kinds::of(value).meets(kinds)).collect());
    if kinds.is_empty() || values.as_ref().is_some_and(Vec::is_empty) {
        return Form::Never;
    }
    let merged = Plain {
        kinds,
        values,
        default: first.default.or(second.default),
        numbers: numbers(first.numbers, second.numbers, words, ledger),
        text: text(first.text, second.text, words, ledger),
        list: list(first.list, second.list, ledger),
        object: object(first.object, second.object, ledger),
    };
    Form::Plain(Box::new(merged))
}

/// Equal as JSON Schema has it: `1.0` is `1`.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || order(one, other) == Ordering::Equal,
        _ => one == other,
    }
}

fn order(one: &Number, other: &Number) -> Ordering {
    if let (Some(one), Some(other)) = (one.as_i64(), other.as_i64()) {
        return one.cmp(&other);
    }
    one.as_f64().partial_cmp(&other.as_f64()).unwrap_or(Ordering::Equal)
}

fn numbers(first: Numbers, second: Numbers, words: &mut Words, ledger: &mut Ledger) -> Numbers {
    let multiple_of = match (first.multiple_of, second.multiple_of) {
        (Some(one), Some(other)) if one != other => {
            ledger.loosen();
            words.note(format!("A multiple of {other}."));
            Some(one)
        }
        (one, other) => one.or(other),
    };
    Numbers {
        least: tighter(first.least, second.least, Ordering::Greater),
        most: tighter(first.most, second.most, Ordering::Less),
        multiple_of,
    }
}

/// The bound that lets through less: the one on the side of `wanted`.
fn tighter(first: Option<Bound>, second: Option<Bound>, wanted: Ordering) -> Option<Bound> {
    let (Some(one), Some(other)) = (&first, &second) else { return first.or(second) };
    match order(&one.value, &other.value) {
        Ordering::Equal => {
            if one.exclusive {
                first
            } else {
                second
            }
        }
        found if found == wanted => first,
        _ => second,
    }
}

fn count(first: Count, second: Count) -> Count {
    let most = match (first.most, second.most) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    Count { least: first.least.max(second.least), most }
}

fn text(first: Text, second: Text, words: &mut Words, ledger: &mut Ledger) -> Text {
    let mut one_of = |first: Option<String>, second: Option<String>, what: &str| match (first, second) {
        (Some(one), Some(other)) if one != other => {
            ledger.loosen();
            words.note(format!("{what}: {other}"));
            Some(one)
        }
        (one, other) => one.or(other),
    };
    Text {
        pattern: one_of(first.pattern, second.pattern, "Also the pattern"),
        format: one_of(first.format, second.format, "Also the format"),
        chars: count(first.chars, second.chars),
    }
}

fn list(first: List, second: List, ledger: &mut Ledger) -> List {
    let count = count(first.count, second.count);
    let is_unique = first.is_unique || second.is_unique;
    let length = first.first.len().max(second.first.len());
    let at = |list: &List, index: usize| list.first.get(index).or(list.rest.as_ref()).cloned();
    let firsts =
        (0..length).map(|index| optional(at(&first, index), at(&second, index), ledger).unwrap_or_else(Shape::any));
    let firsts = firsts.collect();
    List { first: firsts, rest: optional(first.rest, second.rest, ledger), count, is_unique }
}

fn optional(first: Option<Shape>, second: Option<Shape>, ledger: &mut Ledger) -> Option<Shape> {
    match (first, second) {
        (Some(one), Some(other)) => Some(both(one, other, ledger)),
        (one, other) => one.or(other),
    }
}

fn object(first: Object, second: Object, ledger: &mut Ledger) -> Object {
    if second == Object::default() {
        return first;
    }
    if first == Object::default() {
        return second;
    }
    let mut properties = Vec::new();
    let mut unmatched = second.properties;
    for (key, shape) in first.properties {
        let found = unmatched.iter().position(|(other, _)| *other == key);
        let shape = match found {
            Some(at) => both(shape, unmatched.remove(at).1, ledger),
            None => under(shape, &second.others, ledger),
        };
        properties.push((key, shape));
    }
    for (key, shape) in unmatched {
        properties.push((key, under(shape, &first.others, ledger)));
    }
    let mut required = first.required;
    required.extend(second.required.into_iter().filter(|key| !required.contains(key)).collect::<Vec<_>>());
    let others = match (first.others, second.others) {
        (Others::Closed, _) | (_, Others::Closed) => Others::Closed,
        (Others::Of(one), Others::Of(other)) => Others::Of(Box::new(both(*one, *other, ledger))),
        (Others::Unsaid, others) | (others, Others::Unsaid) => others,
    };
    Object { properties, required, others, count: count(first.count, second.count) }
}

/// A property that only one side names: what the other says about all that it does not name holds for it.
fn under(shape: Shape, others: &Others, ledger: &mut Ledger) -> Shape {
    match others {
        Others::Unsaid => shape,
        Others::Closed => Shape::never(),
        Others::Of(other) if ledger.spend(other.parts()) => both(shape, (**other).clone(), ledger),
        Others::Of(_) => shape,
    }
}
