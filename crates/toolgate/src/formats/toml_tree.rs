//! TOML as a tree of values with their places, in the order of the file.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::limits::SETTINGS_DEPTH_MAX;
use crate::settings::raw::{RawMember, RawValue};
use crate::settings::tree::{BrokenText, Places};
use crate::settings::{Located, Position};

/// Reads TOML. `None` when nothing is written.
pub(crate) fn read_tree(text: &str) -> Result<Option<Located<RawValue>>, BrokenText> {
    let places = Places::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = places.at(error.span().map_or(0, |span| span.start));
        BrokenText::new(text, at, error.message(), None)
    })?;
    let at = Position { line: 1, column: 1 };
    let root = tree_of_table(&places, table.get_ref(), at, 0).map_err(|at| {
        let message = format!("more than {SETTINGS_DEPTH_MAX} levels");
        BrokenText::new(text, at, message, Some("no setting is nested that deep"))
    })?;
    let is_empty = table.get_ref().is_empty();
    Ok((!is_empty).then_some(root))
}

/// Fails with the place where it is nested too deep.
fn tree_of_table(
    places: &Places<'_>,
    table: &DeTable<'_>,
    at: Position,
    depth: usize,
) -> Result<Located<RawValue>, Position> {
    if depth >= SETTINGS_DEPTH_MAX {
        return Err(at);
    }
    let mut in_order: Vec<_> = table.iter().collect();
    in_order.sort_by_key(|(key, _)| key.span().start);
    let mut members = Vec::with_capacity(in_order.len());
    for (key, value) in in_order {
        let key = Located { value: key.get_ref().to_string(), at: places.at(key.span().start) };
        let value = tree_of_value(places, value, depth + 1)?;
        members.push(RawMember { key, value });
    }
    Ok(Located { value: RawValue::Object(members), at })
}

fn tree_of_value(
    places: &Places<'_>,
    value: &Spanned<DeValue<'_>>,
    depth: usize,
) -> Result<Located<RawValue>, Position> {
    let at = places.at(value.span().start);
    let value = match value.get_ref() {
        DeValue::String(text) => RawValue::Text(text.to_string()),
        DeValue::Integer(integer) => RawValue::Number(decimal(integer)),
        DeValue::Float(float) => RawValue::Number(float.as_str().to_owned()),
        DeValue::Boolean(truth) => RawValue::Bool(*truth),
        DeValue::Datetime(time) => RawValue::Text(time.to_string()),
        DeValue::Table(table) => return tree_of_table(places, table, at, depth),
        DeValue::Array(_) if depth >= SETTINGS_DEPTH_MAX => return Err(at),
        DeValue::Array(array) => {
            let elements = array.iter().map(|element| tree_of_value(places, element, depth + 1));
            RawValue::List(elements.collect::<Result<_, _>>()?)
        }
    };
    Ok(Located { value, at })
}

/// A number such as `0xff` in the digits that JSON knows.
fn decimal(integer: &DeInteger<'_>) -> String {
    let read = i64::from_str_radix(integer.as_str(), integer.radix());
    read.map_or_else(|_| integer.as_str().to_owned(), |number| number.to_string())
}
