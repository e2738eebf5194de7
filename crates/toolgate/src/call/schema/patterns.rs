//! Regular expressions of a schema that the linear engine does not take, and taking them out where that only makes the schema laxer.

use std::collections::HashMap;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::survey::{Sensitivity, Survey};
use super::violation::quoted;

/// The places of all patterns, and what depends on them.
pub(super) struct Patterns {
    by_place: HashMap<String, Option<Sensitivity>>,
    count: usize,
}

impl Patterns {
    pub(super) fn of(survey: &Survey) -> Self {
        let with_patterns = survey.nodes.iter().zip(survey.reachable()).filter(|(node, _)| node.has_pattern);
        let by_place =
            with_patterns.map(|(node, sensitivity)| (format!("{}/pattern", node.pointer), sensitivity)).collect();
        Self { by_place, count: survey.patterns.len() }
    }

    /// How many different ones there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Takes out the patterns that are known to need backtracking.
    pub(super) fn remove_backtracking(&self, document: &mut Value) -> Result<(), String> {
        for pointer in self.by_place.keys() {
            let pattern = document.pointer(pointer).and_then(Value::as_str);
            if pattern.is_some_and(needs_backtracking) {
                self.remove(document, pointer)?;
            }
        }
        Ok(())
    }

    /// Takes out the pattern that a compiler complains about; `false` when its complaint is about something else.
    pub(super) fn remove_refused(&self, document: &mut Value, failure: &ValidationError<'_>) -> Result<bool, String> {
        if !matches!(failure.kind(), ValidationErrorKind::Format { format } if format == "regex") {
            return Ok(false);
        }
        let places = [failure.instance_path().as_str(), failure.schema_path().as_str()];
        match places.into_iter().find(|place| self.by_place.contains_key(*place)) {
            Some(place) => self.remove(document, place),
            None => Ok(false),
        }
    }

    fn remove(&self, document: &mut Value, pointer: &str) -> Result<bool, String> {
        if self.by_place.get(pointer) == Some(&Some(Sensitivity::Delicate)) {
            let pattern = document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            return Err(format!("the regular expression {} needs more than the engine offers", quoted(pattern)));
        }
        Ok(remove_member(document, pointer))
    }
}

/// Takes a member out of its object.
pub(super) fn remove_member(document: &mut Value, pointer: &str) -> bool {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
    let parent = document.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.is_some_and(|parent| parent.remove(name).is_some())
}

/// Whether a pattern looks around or back, as common libraries write it for addresses and the like.
fn needs_backtracking(pattern: &str) -> bool {
    let looks = ["(?=", "(?!", "(?<=", "(?<!", r"\k<"].iter().any(|sign| pattern.contains(sign));
    let refers_back = pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9'));
    looks || refers_back
}
