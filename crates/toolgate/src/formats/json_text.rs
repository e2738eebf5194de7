//! Values to be written, as JSON and to whoever else writes them in order: what [`Json`] needs for files of other clients.

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::Number;

use crate::settings::edit::Json;
use crate::settings::raw::RawValue;

/// The largest number up to which every whole one is exact.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// A number, without a point when it is whole.
pub(crate) fn number(number: f64) -> Json {
    match whole(number) {
        Some(whole) => Json::Number(whole.into()),
        None => Number::from_f64(number).map_or(Json::Null, Json::Number),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is whole and within the range that is exact")]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= WHOLE_MAX).then_some(number as i64)
}

/// An object.
pub(crate) fn object(members: impl IntoIterator<Item = (impl Into<String>, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// What was read.
pub(crate) fn of_raw(value: &RawValue) -> Json {
    match value {
        RawValue::Null => Json::Null,
        RawValue::Bool(truth) => Json::Bool(*truth),
        RawValue::Number(written) => written.parse().map_or_else(|_| Json::text(written), number),
        RawValue::Text(text) => Json::text(text),
        RawValue::List(list) => Json::List(list.iter().map(|one| of_raw(&one.value)).collect()),
        RawValue::Object(members) => object(members.iter().map(|one| (&one.key.value, of_raw(&one.value.value)))),
    }
}

/// A whole file.
pub(crate) fn file(value: &Json) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => {
                let mut elements = serializer.serialize_seq(Some(list.len()))?;
                list.iter().try_for_each(|element| elements.serialize_element(element))?;
                elements.end()
            }
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}
