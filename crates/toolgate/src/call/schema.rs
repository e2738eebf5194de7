//! Checks values against the schemas of tools: arguments before a call, results after it.
//!
//! Schemas come from servers, so nothing about them is taken for granted. A schema that cannot be compiled, that leaves its own document,
//! or that could take too long switches the check off for its tool, with the reason; it is never an error, and nothing is ever fetched.
//! Regular expressions run on an engine whose time grows with the text only; a pattern that needs backtracking is not checked.

mod cost;
mod patterns;
pub(super) mod reference;
mod survey;
pub(super) mod violation;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;
use toolgate_wire::RawJson;
use toolgate_wire::view::{CallResult, Content};

use self::cost::Workload;
use self::patterns::{Patterns, remove_member};
use self::survey::Survey;
pub use self::violation::{Violation, Violations};
use crate::limits::{CHECKED_PARTS_MAX, PATTERN_COMPILED_BYTES_MAX, PATTERNS_COMPILED_BYTES_MAX, SCHEMA_BYTES_MAX};

/// How often a schema is compiled again without a pattern that turned out to be too much for the engine.
const PATTERN_RETRIES: usize = 8;

/// A schema made ready to check values against.
pub struct CompiledSchema(Result<Ready, String>);

struct Ready {
    validator: Validator,
    workload: Workload,
}

/// What checking found when it found nothing wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// The value is as the schema says.
    Fits,
    /// Nothing was checked, for this reason.
    Unchecked(String),
}

/// Compiles and checks at once.
pub fn check(schema: &RawJson, value: &RawJson) -> Result<Checked, Violations> {
    CompiledSchema::compile(schema).check(value)
}

impl CompiledSchema {
    /// Compiles a schema; one that cannot be used leaves values unchecked.
    pub fn compile(schema: &RawJson) -> Self {
        // A schema that breaks the compiler must not take the host along.
        let outcome = catch_unwind(AssertUnwindSafe(|| Ready::of(schema)));
        let outcome = outcome.unwrap_or_else(|_| Err("the compiler failed".to_owned()));
        Self(outcome.map_err(|why| format!("the schema cannot be used: {why}")))
    }

    /// Why values are not checked; `None` when they are.
    pub fn unchecked(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }

    /// Checks a value.
    pub fn check(&self, value: &RawJson) -> Result<Checked, Violations> {
        if let Err(why) = &self.0 {
            return Ok(Checked::Unchecked(why.clone()));
        }
        match value.value_within(CHECKED_PARTS_MAX) {
            Ok(value) => self.check_value(&value),
            Err(error) => Ok(Checked::Unchecked(format!("the value cannot be looked into: {error}"))),
        }
    }

    /// Checks a value that was read already.
    pub fn check_value(&self, value: &Value) -> Result<Checked, Violations> {
        let ready = match &self.0 {
            Ok(ready) => ready,
            Err(why) => return Ok(Checked::Unchecked(why.clone())),
        };
        if let Err(why) = ready.workload.allows(value) {
            return Ok(Checked::Unchecked(format!("checking would be too much: {why}")));
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if ready.validator.is_valid(value) {
                Ok(())
            } else {
                Err(Violations::of(ready.validator.iter_errors(value)))
            }
        }));
        match outcome {
            Ok(Ok(())) => Ok(Checked::Fits),
            Ok(Err(violations)) => Err(violations),
            Err(_) => Ok(Checked::Unchecked("the check failed".to_owned())),
        }
    }
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CompiledSchema").field(&self.unchecked().unwrap_or("checked")).finish()
    }
}

/// The structured content that a tool with an output schema left out, when its first text is that object as JSON.
///
/// For tools that declare an output schema only: others may well say something in JSON that is meant as text.
pub fn repair(result: &CallResult) -> Option<RawJson> {
    if result.structured.is_some() || result.is_error {
        return None;
    }
    let Content::Text(text) = &result.content.first()?.content else { return None };
    RawJson::from_bytes(text.as_bytes().clone()).ok().filter(RawJson::is_object)
}

impl Ready {
    fn of(schema: &RawJson) -> Result<Self, String> {
        if schema.as_bytes().len() > SCHEMA_BYTES_MAX {
            return Err(format!("it is larger than {SCHEMA_BYTES_MAX} bytes"));
        }
        if !schema.is_object() {
            return Err("it is not an object".to_owned());
        }
        let mut document = schema.value_within(CHECKED_PARTS_MAX).map_err(|error| error.to_string())?;
        let survey = Survey::of(&document)?;
        let workload = Workload::of(&survey)?;
        let drafts = drafts(&document, &survey);
        for pointer in &survey.removals {
            remove_member(&mut document, pointer);
        }
        for (pointer, local) in &survey.local_references {
            if let Some(reference) = document.pointer_mut(pointer) {
                *reference = Value::String(local.clone());
            }
        }
        let patterns = Patterns::of(&survey);
        patterns.remove_backtracking(&mut document)?;
        let validator = build(&mut document, &drafts, &patterns)?;
        Ok(Self { validator, workload })
    }
}

/// The drafts to try: the one the schema names, else the newest, else those that older schemas were written for.
fn drafts(document: &Value, survey: &Survey) -> Vec<Draft> {
    let named = document.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let known = [
        ("2020-12", Draft::Draft202012),
        ("2019-09", Draft::Draft201909),
        ("draft-07", Draft::Draft7),
        ("draft-06", Draft::Draft6),
        ("draft-04", Draft::Draft4),
    ];
    let first = known.into_iter().find(|(name, _)| named.contains(name)).map(|(_, draft)| draft);
    let first = if survey.has_item_lists && first.is_none_or(|draft| draft == Draft::Draft202012) {
        Some(Draft::Draft7)
    } else {
        first
    };
    let mut drafts = Vec::from_iter(first);
    drafts.extend([Draft::Draft202012, Draft::Draft7, Draft::Draft4].into_iter().filter(|draft| Some(*draft) != first));
    drafts
}

/// Compiles for the first draft that takes the schema.
fn build(document: &mut Value, drafts: &[Draft], patterns: &Patterns) -> Result<Validator, String> {
    let pattern_bytes = PATTERN_COMPILED_BYTES_MAX.min(PATTERNS_COMPILED_BYTES_MAX / patterns.count().max(1));
    let mut first_failure = None;
    for draft in drafts {
        for _ in 0..PATTERN_RETRIES {
            let options = jsonschema::options()
                .with_draft(*draft)
                .with_pattern_options(PatternOptions::regex().size_limit(pattern_bytes))
                .should_validate_formats(true);
            let failure = match options.build(document) {
                Ok(validator) => return Ok(validator),
                Err(failure) => failure,
            };
            let is_pattern_gone = patterns.remove_refused(document, &failure)?;
            if !is_pattern_gone {
                first_failure.get_or_insert_with(|| failure.to_string());
                break;
            }
        }
    }
    Err(first_failure.unwrap_or_else(|| "its regular expressions cannot be used".to_owned()))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod mutation_tests;
