//! A value by the shape its key is documented with: what later stages find when they look, and what is said when it is something else.

use jsonc_parser::ast::{ObjectProp, Value};

use crate::settings::diagnostic::KeyPath;
use crate::settings::keys::key::Amount;
use crate::settings::keys::{Key, Object, Shape, Unknown, find};
use crate::settings::known_keys;
use crate::settings::position::Located;
use crate::settings::raw::{RawList, RawMap, RawMember, RawValue};
use crate::settings::value_reader::{Read, ValueReader, WrongValue};

/// A value that was held against its shape.
#[derive(Debug)]
pub(crate) struct Shaped {
    /// In its shape: a number in quotes has become one, a string alone a list of one. What is wrong stays as it is written, so that
    /// whoever uses it can tell that something was meant.
    pub(crate) value: Located<RawValue>,
    /// The first that is wrong in it.
    pub(crate) wrong: Option<WrongValue>,
}

/// Holds a value against its shape. What is wrong has been reported then.
pub(crate) fn read_shape(reader: &mut ValueReader<'_>, value: &Value<'_>, key: KeyPath<'_>, shape: Shape) -> Shaped {
    if let (Shape::Object(object), Value::Object(_)) = (shape, value) {
        return read_object(reader, value, key, object);
    }
    match read_plain(reader, value, key, shape) {
        Ok(read) => {
            let null = || Located { value: RawValue::Null, at: reader.place(value) };
            Shaped { value: read.unwrap_or_else(null), wrong: None }
        }
        Err(wrong) => Shaped { value: reader.raw(value), wrong: Some(wrong) },
    }
}

fn read_plain(
    reader: &mut ValueReader<'_>,
    value: &Value<'_>,
    key: KeyPath<'_>,
    shape: Shape,
) -> Read<Located<RawValue>> {
    Ok(match shape {
        Shape::Text => reader.text(value, key)?.map(|text| text.map(RawValue::Text)),
        Shape::List => reader.list(value, key)?.map(list),
        Shape::ListOrOne => reader.list_or_one(value, key)?.map(list),
        Shape::ListOrAll => reader.list_or_all(value, key)?.map(list),
        Shape::Map => reader.map(value, key)?.map(map),
        Shape::Number(amount) => {
            let number = read_amount(reader, value, key, amount)?;
            number.map(|number| number.map(|number| RawValue::Number(number.to_string())))
        }
        Shape::Truth => reader.truth(value, key)?.map(|truth| truth.map(RawValue::Bool)),
        Shape::Word(words) => {
            let words: Vec<(&str, &str)> = words.iter().map(|word| (*word, *word)).collect();
            reader.word(value, key, &words)?.map(|word| word.map(|word| RawValue::Text(word.to_owned())))
        }
        Shape::Object(_) => {
            reader.object(value, key)?;
            None
        }
        // Servers are read one by one, where they stand.
        Shape::Servers(_) | Shape::Anything => Some(reader.raw(value)),
    })
}

/// A number that keeps within its bounds; one that does not becomes the nearest that does.
pub(crate) fn read_amount(
    reader: &mut ValueReader<'_>,
    value: &Value<'_>,
    key: KeyPath<'_>,
    amount: Amount,
) -> Read<Located<f64>> {
    let Some(number) = reader.number(value, key)? else { return Ok(None) };
    let Some(bound) = amount.bound_for(number.value) else { return Ok(Some(number)) };
    let message = format!("expected {amount} {}; {bound} is used", amount.unit);
    reader.warn(number.at, key, message, Some("remove it to get the default".to_owned()));
    #[expect(clippy::cast_precision_loss, reason = "bounds are far below where whole numbers lose anything")]
    let bound = bound as f64;
    Ok(Some(Located { value: bound, at: number.at }))
}

fn read_object(reader: &mut ValueReader<'_>, value: &Value<'_>, key: KeyPath<'_>, object: Object) -> Shaped {
    let mut members = Vec::new();
    let mut wrong = None;
    for (name, member) in reader.object(value, key).unwrap_or_default() {
        let path = key.key(name);
        let key = Located { value: name.to_owned(), at: reader.place(&member.name) };
        let read = match find(object.keys, name) {
            Some(known) => read_shape(reader, &member.value, path, known.shape),
            None => {
                report_unknown(reader, path, member, object);
                Shaped { value: reader.raw(&member.value), wrong: None }
            }
        };
        wrong = wrong.or(read.wrong);
        members.push(RawMember { key, value: read.value });
    }
    Shaped { value: Located { value: RawValue::Object(members), at: reader.place(value) }, wrong }
}

fn report_unknown(reader: &mut ValueReader<'_>, path: KeyPath<'_>, member: &ObjectProp<'_>, object: Object) {
    let is_mistyped = || known_keys::nearest(member.name.as_str(), object.keys).is_some();
    if object.unknown == Unknown::Reported || is_mistyped() {
        unknown(reader, path, member, object.keys);
    }
}

/// Says that a key is not documented, and which one may have been meant.
pub(crate) fn unknown(reader: &mut ValueReader<'_>, key: KeyPath<'_>, member: &ObjectProp<'_>, known: &'static [Key]) {
    if known_keys::is_of_another_program(&key.to_string()) {
        let at = reader.place(&member.name);
        return reader.of_others(key, at);
    }
    let hint = known_keys::hint_for(member.name.as_str(), known);
    reader.warn(reader.place(&member.name), key, "unknown key", Some(hint));
}

fn list(list: RawList) -> Located<RawValue> {
    list.map(|texts| RawValue::List(texts.into_iter().map(|text| text.map(RawValue::Text)).collect()))
}

fn map(map: RawMap) -> Located<RawValue> {
    let member = |(key, value): (_, Located<String>)| RawMember { key, value: value.map(RawValue::Text) };
    map.map(|pairs| RawValue::Object(pairs.into_iter().map(|pair| member((pair.name, pair.value))).collect()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::settings::SettingsSource;
    use crate::settings::raw::RawValue;
    use crate::settings::read::read_text;

    fn plain(value: &RawValue) -> String {
        match value {
            RawValue::Null => "null".to_owned(),
            RawValue::Bool(truth) => truth.to_string(),
            RawValue::Number(number) => number.clone(),
            RawValue::Text(text) => format!("'{text}'"),
            RawValue::List(list) => {
                format!("[{}]", list.iter().map(|one| plain(&one.value)).collect::<Vec<_>>().join(" "))
            }
            RawValue::Object(members) => {
                let member = |member: &super::RawMember| format!("{}={}", member.key.value, plain(&member.value.value));
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// What is kept of a key for later, and what is said about it.
    #[test]
    fn later_stages_find_values_in_their_documented_shape() {
        let number = "expected a number, found a string; it is read as 9";
        let cases: &[(&str, &str, &[&str])] = &[
            (r#""policyPaths": ["a", "b"]"#, "['a' 'b']", &[]),
            (r#""policyPaths": null"#, "null", &[]),
            (
                r#""policyPaths": "a""#,
                "['a']",
                &["policyPaths: expected a list of strings, found a string; it is read as a list of one"],
            ),
            (r#""policyPaths": 5"#, "5", &["policyPaths: expected a list of strings, found a number"]),
            (
                r#""model": {"name": "m", "maxTurns": "9", "baseUrl": 1, "nane": 2}"#,
                "{name='m' maxTurns=9 baseUrl=1 nane=2}",
                &[
                    &format!("model.maxTurns: {number}"),
                    "model.baseUrl: expected a string, found a number",
                    "model.nane: unknown key",
                ],
            ),
            (
                r#""runtime": {"idleMinutes": 0}"#,
                "{idleMinutes=1}",
                &["runtime.idleMinutes: expected at least 1 minutes; 1 is used"],
            ),
            (
                r#""audit": {"arguments": "all", "fsync": "always"}"#,
                "{arguments='all' fsync='always'}",
                &["audit.arguments: expected \"redacted\" or \"full\", found another word"],
            ),
            (
                r#""general": {"vimMode": true, "plan": {"enabled": "True"}}"#,
                "{vimMode=true plan={enabled=true}}",
                &["general.plan.enabled: expected true or false, found a string; it is read as true"],
            ),
            (
                r#""general": {"defaultAprovalMode": "plan"}"#,
                "{defaultAprovalMode='plan'}",
                &["general.defaultAprovalMode: unknown key"],
            ),
            (r#""hooks": [{"anything": [null, 1.50]}]"#, "[{anything=[null 1.50]}]", &[]),
        ];
        for (member, expected, said) in cases {
            let layer = read_text(&format!("{{{member}}}"), Path::new("s.json"), SettingsSource::User).unwrap();
            assert_eq!(plain(&layer.settings.others[0].value.value), *expected, "{member}");
            let found: Vec<String> =
                layer.diagnostics.iter().map(|one| format!("{}: {}", one.key.as_ref().unwrap(), one.message)).collect();
            assert_eq!(found, *said, "{member}");
        }
    }
}
