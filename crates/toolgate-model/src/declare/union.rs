//! Several shapes of which one holds, in as few alternatives as possible.

use serde_json::Value;

use super::limits::{ALTERNATIVES_MAX, JOINED_VALUES_MAX};
use super::merge::same;
use super::shape::{Form, Kinds, Ledger, Others, Plain, Shape, Words};

/// One of these.
pub(super) fn of(shapes: Vec<Shape>, ledger: &mut Ledger) -> Shape {
    let mut flat: Vec<Shape> = Vec::new();
    let mut left_out = 0_usize;
    for shape in shapes {
        match shape.form {
            Form::Never => {}
            Form::Plain(_) => left_out += add(&mut flat, shape),
            Form::Union(inner) => {
                for (index, mut one) in inner.into_iter().enumerate() {
                    if index == 0 {
                        one.words.complete(shape.words.clone());
                    }
                    left_out += add(&mut flat, one);
                }
            }
        }
    }
    if let Some(last) = flat.last_mut().filter(|_| left_out > 0) {
        ledger.loosen();
        last.words.note(format!("{left_out} further alternatives are not listed."));
    }
    fold_null(&mut flat);
    match flat.len() {
        0 => Shape::never(),
        1 => flat.remove(0),
        _ => Shape { words: Words::default(), form: Form::Union(flat) },
    }
}

/// Adds an alternative, unless it is there already or is one more value of a list of values. How many had no room: one or none.
fn add(shapes: &mut Vec<Shape>, shape: Shape) -> usize {
    if let Some(last) = shapes.last_mut()
        && let (Form::Plain(into), Form::Plain(from)) = (&mut last.form, &shape.form)
        && is_list_of_values(into)
        && is_list_of_values(from)
    {
        if into.values.as_ref().is_some_and(|values| values.len() >= JOINED_VALUES_MAX) {
            return 1;
        }
        let described = last.words.clone();
        join_values(into, from, &mut last.words, &described, &shape.words);
        return 0;
    }
    if shapes.contains(&shape) {
        return 0;
    }
    if shapes.len() >= ALTERNATIVES_MAX {
        return 1;
    }
    shapes.push(shape);
    0
}

/// Values of one simple type, and nothing else said.
fn is_list_of_values(plain: &Plain) -> bool {
    let simple = Kinds::STRING.or(Kinds::NUMBER).or(Kinds::BOOLEAN);
    let kinds = plain.meant_kinds();
    plain.values.is_some()
        && plain.default.is_none()
        && kinds.without(simple).is_empty()
        && kinds.apart().count() == 1
        && !plain.has_rules(Kinds::ALL)
}

fn join_values(into: &mut Plain, from: &Plain, words: &mut Words, first: &Words, second: &Words) {
    let explain = |words: &mut Words, values: &[Value], described: &Words| {
        if let ([value], Some(text)) = (values, described.description.as_ref().or(described.title.as_ref())) {
            words.note(format!("{value}: {text}"));
        }
    };
    let values = into.values.get_or_insert_default();
    if values.len() == 1 {
        *words = Words { notes: first.notes.clone(), ..Words::default() };
        explain(words, values, first);
    }
    for value in from.values.iter().flatten() {
        if !values.iter().any(|known| same(known, value)) {
            values.push(value.clone());
        }
    }
    explain(words, from.values.as_deref().unwrap_or_default(), second);
    into.kinds = into.kinds.or(from.kinds);
}

/// `null` beside one other alternative is a type more of that one.
fn fold_null(shapes: &mut Vec<Shape>) {
    let is_null = |shape: &Shape| {
        shape.plain().is_some_and(|plain| plain.meant_kinds() == Kinds::NULL && plain.default.is_none())
    };
    let [one, other] = &shapes[..] else { return };
    let kept = match (is_null(one), is_null(other)) {
        (true, false) => 1,
        (false, true) => 0,
        _ => return,
    };
    let mut shape = shapes.swap_remove(kept);
    if let Form::Plain(plain) = &mut shape.form {
        let kinds = plain.meant_kinds();
        plain.kinds = kinds.or(Kinds::NULL);
        if let Some(values) = &mut plain.values {
            values.push(Value::Null);
        }
    }
    *shapes = vec![shape];
}

/// One object with the properties of all, for places where alternatives are not possible.
pub(super) fn one_object(shapes: Vec<Shape>, words: &mut Words, ledger: &mut Ledger) -> Plain {
    ledger.loosen();
    let mut merged = Plain::of(Kinds::OBJECT);
    let mut sets: Vec<Vec<String>> = Vec::new();
    let mut offered: Vec<(String, Vec<Shape>)> = Vec::new();
    let mut all_closed = true;
    for shape in shapes {
        let Form::Plain(plain) = shape.form else { continue };
        words.complete(Words { description: None, title: None, ..shape.words });
        let object = plain.object;
        all_closed &= object.others == Others::Closed;
        for (key, shape) in object.properties {
            match offered.iter_mut().find(|(known, _)| *known == key) {
                Some((_, shapes)) => shapes.push(shape),
                None => offered.push((key, vec![shape])),
            }
        }
        sets.push(object.required);
    }
    let in_all = |key: &String| sets.iter().all(|set| set.contains(key));
    merged.object.required = sets.first().into_iter().flatten().filter(|key| in_all(key)).cloned().collect();
    note_sets(&sets, &merged.object.required, words);
    for (key, shapes) in offered {
        merged.object.properties.push((key, of(shapes, ledger)));
    }
    if all_closed {
        merged.object.others = Others::Closed;
    }
    merged
}

fn note_sets(sets: &[Vec<String>], common: &[String], words: &mut Words) {
    let mut told: Vec<String> = Vec::new();
    for set in sets {
        let own: Vec<&str> = set.iter().filter(|key| !common.contains(key)).map(String::as_str).collect();
        let own = own.join(" and ");
        if !own.is_empty() && !told.contains(&own) {
            told.push(own);
        }
    }
    if told.len() > 1 {
        words.note(format!("Give one of: {}.", told.join("; ")));
    }
}
