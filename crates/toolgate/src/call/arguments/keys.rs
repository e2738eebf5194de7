//! From the key of a word to the place in the arguments that it names.

use serde_json::Value;

use super::kinds::{Kinds, SchemaReader};
use crate::limits::PARAMETER_LOOKUP_DEPTH_MAX;

/// How far a key may be from a name to be taken for it in a suggestion, in letters.
const TYPO_DISTANCE: usize = 3;

/// Names that are suggested.
const SUGGESTIONS: usize = 3;

/// Names longer than this are not compared; nobody mistypes them.
const COMPARED_CHARS: usize = 64;

/// The keys that a schema knows.
pub(super) struct Keys<'a> {
    reader: &'a SchemaReader,
}

/// A place in the arguments.
pub(super) struct Place<'a> {
    /// The key as it was written.
    pub(super) key: String,
    /// The names to go along.
    pub(super) path: Vec<String>,
    /// What the place takes; `None` when nothing is said about it.
    pub(super) schema: Option<&'a Value>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(reader: &'a SchemaReader) -> Self {
        Self { reader }
    }

    /// Finds the place that a key names; the error holds the names nearest to a key that there is not.
    pub(super) fn place(&self, key: &str) -> Result<Place<'a>, Vec<String>> {
        let (path, schema) = self.find(self.reader.root(), key, PARAMETER_LOOKUP_DEPTH_MAX)?;
        Ok(Place { key: key.to_owned(), path, schema })
    }

    fn find(
        &self,
        schema: &'a Value,
        key: &str,
        depth_left: usize,
    ) -> Result<(Vec<String>, Option<&'a Value>), Vec<String>> {
        let aspects = self.reader.aspects(schema);
        let property = |name: &str| aspects.iter().find_map(|aspect| aspect.get("properties")?.get(name));
        if let Some(property) = property(key) {
            return Ok((vec![key.to_owned()], Some(property)));
        }
        // `a.b` is `b` in the object `a`, unless something is called `a.b`.
        for (at, _) in key.match_indices('.') {
            let (Some(outer), Some(inner)) = (key.get(..at), key.get(at + 1..)) else { continue };
            let Some(object) = property(outer).filter(|object| self.reader.kinds(object).has(Kinds::OBJECT)) else {
                continue;
            };
            if inner.is_empty() || depth_left == 0 || self.reader.kinds(object) == Kinds::ANY {
                continue;
            }
            let (inner_path, schema) = self
                .find(object, inner, depth_left - 1)
                .map_err(|nearest| nearest.into_iter().map(|name| format!("{outer}.{name}")).collect::<Vec<_>>())?;
            let path = std::iter::once(outer.to_owned()).chain(inner_path).collect();
            return Ok((path, schema));
        }
        let said = |word: &str| aspects.iter().find_map(|aspect| aspect.get(word));
        let is_false = |word: &str| aspects.iter().any(|aspect| aspect.get(word) == Some(&Value::Bool(false)));
        let is_closed = is_false("additionalProperties") || is_false("unevaluatedProperties");
        if is_closed && said("patternProperties").is_none() {
            return Err(self.nearest(schema, key));
        }
        Ok((vec![key.to_owned()], said("additionalProperties").filter(|schema| schema.is_object())))
    }

    fn names(&self, schema: &'a Value) -> Vec<&'a String> {
        let aspects = self.reader.aspects(schema);
        aspects
            .into_iter()
            .filter_map(|aspect| aspect.get("properties")?.as_object())
            .flat_map(|named| named.keys())
            .collect()
    }

    fn nearest(&self, schema: &'a Value, key: &str) -> Vec<String> {
        if key.chars().count() > COMPARED_CHARS {
            return Vec::new();
        }
        let key = key.to_lowercase();
        let tolerated = TYPO_DISTANCE.min(key.chars().count() / 3 + 1);
        let distance = |name: &&String| strsim::osa_distance(&name.to_lowercase(), &key);
        let comparable = self.names(schema).into_iter().filter(|name| !name.is_empty() && name.len() <= COMPARED_CHARS);
        let mut near: Vec<(usize, &String)> = comparable
            .map(|name| (distance(&name), name))
            .filter(|(distance, name)| {
                *distance <= tolerated.min(name.chars().count() - 1) || name.to_lowercase().contains(&key)
            })
            .collect();
        near.sort();
        near.dedup();
        near.into_iter().take(SUGGESTIONS).map(|(_, name)| name.clone()).collect()
    }
}
