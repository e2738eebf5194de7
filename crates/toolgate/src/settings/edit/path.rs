//! From a path of keys to the place in the tree, and what is said when something on the way is no object.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;

use crate::settings::diagnostic::KeyPath;
use crate::settings::edit::EditError;
use crate::settings::syntax::SyntaxFault;
use crate::settings::value_reader::kind;

/// One object on the way, and which of its members leads on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'v, 't> {
    pub(super) object: &'v Object<'t>,
    pub(super) index: usize,
}

impl<'v, 't> Step<'v, 't> {
    pub(super) fn member(&self) -> Option<&'v ObjectProp<'t>> {
        self.object.properties.get(self.index)
    }

    pub(super) fn name(&self) -> &'v str {
        self.member().map_or("", |member| member.name.as_str())
    }
}

/// Where a path leads.
#[derive(Debug)]
pub(super) enum Walk<'v, 't, 'p> {
    /// To a member: the last of the steps.
    Found { steps: Vec<Step<'v, 't>> },
    /// To a `null` before its end.
    Null { steps: Vec<Step<'v, 't>>, rest: &'p [&'p str] },
    /// To an object without the next key.
    Missing { steps: Vec<Step<'v, 't>>, object: &'v Object<'t>, key: &'p str, rest: &'p [&'p str] },
}

/// Follows a path. Of a key that is written twice the last one counts.
pub(super) fn walk<'v, 't, 'p>(
    text: &str,
    root: &'v Object<'t>,
    path: &'p [&'p str],
) -> Result<Walk<'v, 't, 'p>, EditError> {
    let mut steps = Vec::with_capacity(path.len());
    let mut object = root;
    let mut rest = path;
    loop {
        let Some((key, after)) = rest.split_first() else { return Ok(Walk::Found { steps }) };
        let index = object.properties.iter().rposition(|member| member.name.as_str() == *key);
        let Some(step) = index.map(|index| Step { object, index }) else {
            return Ok(Walk::Missing { steps, object, key, rest: after });
        };
        steps.push(step);
        rest = after;
        match step.member().map(|member| &member.value) {
            _ if rest.is_empty() => (),
            Some(Value::Object(inner)) => object = inner,
            Some(Value::NullKeyword(_)) | None => return Ok(Walk::Null { steps, rest }),
            Some(other) => {
                let until = path.len() - rest.len();
                return Err(no_object(text, path.get(..until).unwrap_or(path), other));
            }
        }
    }
}

/// Something on the way is no object.
pub(super) fn no_object(text: &str, path: &[&str], value: &Value<'_>) -> EditError {
    let message = format!("{}: expected an object, found {}", shown(path), kind(value));
    let hint = Some("nothing was changed; make it an object, or remove it");
    EditError::new(text, SyntaxFault { offset: value.range().start, message, hint })
}

fn shown(path: &[&str]) -> String {
    fn below(above: &KeyPath<'_>, rest: &[&str]) -> String {
        match rest.split_first() {
            None => above.to_string(),
            Some((key, rest)) => below(&above.key(key), rest),
        }
    }
    path.split_first().map_or_else(String::new, |(key, rest)| below(&KeyPath::top(key), rest))
}
