//! What is wrong with a value, in plain words.
//!
//! A violation names the place and the rule, never the value itself: results and arguments may hold secrets, and errors are kept.

use std::fmt;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use crate::limits::{ALTERNATIVES_SHOWN_MAX, EXCERPT_CHARS_MAX, VIOLATIONS_SHOWN_MAX};
use crate::shape::truncate::before_chars;
use crate::shape::visible;

/// One rule that a value breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, as a JSON pointer; empty for the value as a whole.
    pub path: String,
    /// What is wrong there.
    pub problem: String,
}

/// The rules that a value breaks: the first few, and how many others there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Violations {
    /// The first few.
    pub shown: Vec<Violation>,
    /// How many more there are.
    pub others: usize,
}

impl Violations {
    pub(super) fn of<'a>(errors: impl Iterator<Item = ValidationError<'a>>) -> Self {
        let mut errors = errors;
        let shown = errors.by_ref().take(VIOLATIONS_SHOWN_MAX).map(|error| Violation::of(&error)).collect();
        Self { shown, others: errors.count() }
    }
}

impl Violation {
    fn of(error: &ValidationError<'_>) -> Self {
        Self { path: visible::line(error.instance_path().as_str()).into_owned(), problem: problem(error, Detail::Full) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.problem) } else { write!(f, "`{}` {}", self.path, self.problem) }
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.shown.iter().map(ToString::to_string).collect();
        f.write_str(&shown.join("; "))?;
        if self.others > 0 { write!(f, "; and {} more", self.others) } else { Ok(()) }
    }
}

/// Somebody else's words within ours: visible, bounded, in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let excerpt = before_chars(text, EXCERPT_CHARS_MAX);
    let dots = if excerpt.len() < text.len() { "…" } else { "" };
    format!("`{}{dots}`", visible::line(excerpt))
}

/// Whether the alternatives of `anyOf` and `oneOf` are told as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Full,
    Short,
}

fn problem(error: &ValidationError<'_>, detail: Detail) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type { kind } => format!("must be {}, not {}", expected(kind), actual(error.instance())),
        Kind::Required { property } => format!("lacks {}", quoted(property.as_str().unwrap_or_default())),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("takes no {}", listed(unexpected.iter().map(|name| quoted(name)), "or"))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => none_fits(error, context, detail),
        Kind::OneOfMultipleValid { .. } => "fits several alternatives of which only one may fit".to_owned(),
        Kind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("must be one of {}", listed(options.iter().map(|option| quoted(&option.to_string())), "or"))
        }
        Kind::Constant { expected_value } => format!("must be {}", quoted(&expected_value.to_string())),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} elements"),
        Kind::MaxItems { limit } => format!("must have at most {limit} elements"),
        Kind::AdditionalItems { limit } => format!("must have at most {limit} elements"),
        Kind::UnevaluatedItems { .. } => "has elements that are not allowed".to_owned(),
        Kind::MinProperties { limit } => format!("must have at least {limit} members"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} members"),
        Kind::UniqueItems => "must not have the same element twice".to_owned(),
        Kind::Contains => "lacks an element that it must contain".to_owned(),
        Kind::Pattern { pattern } => format!("does not match the pattern {}", quoted(pattern)),
        Kind::Format { format } => format!("is not in the format {}", quoted(format)),
        Kind::PropertyNames { .. } => "has a member whose name is not allowed".to_owned(),
        Kind::FalseSchema if error.schema_path().as_str().ends_with("/additionalProperties") => {
            "takes no members".to_owned()
        }
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::Not { .. } => "is of a kind that is excluded".to_owned(),
        other => format!("breaks the rule {}", quoted(other.keyword())),
    }
}

fn none_fits(error: &ValidationError<'_>, branches: &[Vec<ValidationError<'static>>], detail: Detail) -> String {
    let summary = format!("fits none of {} alternatives", branches.len());
    if detail == Detail::Short {
        return summary;
    }
    let reasons = branches.iter().take(ALTERNATIVES_SHOWN_MAX).filter_map(|branch| branch.first()).map(|first| {
        let path = first.instance_path().as_str();
        let place = if path == error.instance_path().as_str() { String::new() } else { format!("{} ", quoted(path)) };
        format!("{place}{}", problem(first, Detail::Short))
    });
    let reasons: Vec<String> = reasons.collect();
    if reasons.is_empty() { summary } else { format!("{summary}: {}", reasons.join(", or ")) }
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => with_article(&one.to_string()),
        TypeKind::Multiple(several) => listed(several.iter().map(|one| with_article(&one.to_string())), "or"),
    }
}

fn actual(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A type of JSON as it stands in a sentence.
pub(crate) fn with_article(kind: &str) -> String {
    match kind.chars().next() {
        _ if kind == "null" => kind.to_owned(),
        Some('a' | 'e' | 'i' | 'o') => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// `a, b or c`; long lists end in how many more there are.
pub(crate) fn listed(entries: impl Iterator<Item = String>, word: &str) -> String {
    const SHOWN: usize = 10;
    let mut entries: Vec<String> = entries.collect();
    if entries.len() > SHOWN + 1 {
        let others = entries.split_off(SHOWN).len();
        entries.push(format!("{others} more"));
    }
    match entries.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} {word} {last}", first.join(", ")),
        None => String::new(),
    }
}
