//! A form that a server asks a person to fill in: its schema as a list of questions, and answers checked against it. Pure; `ask` puts the
//! questions to somebody.

use serde::Deserialize;
use serde_json::{Map, Number, Value};
use toolgate::RawJson;

use crate::limits::{FORM_CHOICES_MAX, FORM_FIELDS_MAX};

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// The member of the answer.
    pub(crate) name: String,
    /// What the server calls it in front of people.
    pub(crate) title: Option<String>,
    /// What the server says about it.
    pub(crate) description: Option<String>,
    /// Whether it must be answered.
    pub(crate) is_required: bool,
    /// What kind of answer it takes.
    pub(crate) kind: Kind,
    /// The answer the server proposes.
    pub(crate) default: Option<Value>,
}

/// What kind of answer a question takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A text of that many characters, perhaps in a format.
    Text { length: Range<u64>, format: Option<String> },
    /// A number in that range.
    Number { is_whole: bool, range: Range<f64> },
    /// Yes or no.
    YesOrNo,
    /// One of these.
    OneOf(Vec<Choice>),
    /// That many of these.
    SomeOf { choices: Vec<Choice>, count: Range<u64> },
    /// Any JSON: a schema that forms are not made of.
    Json,
}

/// One of several answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    /// What is sent.
    pub(crate) value: Value,
    /// What is shown.
    pub(crate) label: String,
}

/// Both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Range<T> {
    min: Option<T>,
    max: Option<T>,
}

impl<T: PartialOrd + std::fmt::Display> Range<T> {
    fn check(&self, value: &T, unit: &str) -> Result<(), String> {
        match self {
            Self { min: Some(min), .. } if value < min => Err(format!("at least {min}{unit}")),
            Self { max: Some(max), .. } if value > max => Err(format!("at most {max}{unit}")),
            Self { .. } => Ok(()),
        }
    }
}

/// The members of a schema that forms are made of.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Schema {
    #[serde(rename = "type")]
    kind: Option<Value>,
    title: Option<String>,
    description: Option<String>,
    default: Option<Value>,
    format: Option<String>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    #[serde(rename = "enum")]
    values: Option<Vec<Value>>,
    enum_names: Option<Vec<String>>,
    one_of: Option<Vec<Titled>>,
    any_of: Option<Vec<Titled>>,
    items: Option<Box<Self>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Titled {
    #[serde(rename = "const")]
    value: Option<Value>,
    title: Option<String>,
}

/// The questions of a form, in the order of its schema.
pub(crate) fn fields(schema: &RawJson) -> Result<Vec<Field>, String> {
    let properties = schema.member("properties").map(|all| all.members_within(FORM_FIELDS_MAX));
    let (properties, others) = properties.unwrap_or_default();
    if others > 0 {
        let count = properties.len() + others;
        return Err(format!("the form has {count} questions; at most {FORM_FIELDS_MAX} are asked"));
    }
    let required = schema.member("required").and_then(|names| names.elements_within(FORM_FIELDS_MAX));
    let required: Vec<String> = required.unwrap_or_default().0.iter().filter_map(|name| name.read().ok()).collect();
    let field = |(name, schema): (String, RawJson)| {
        let schema: Schema = schema.read().unwrap_or_default();
        let is_required = required.contains(&name);
        Field {
            kind: kind_of(&schema),
            name,
            title: schema.title,
            description: schema.description,
            is_required,
            default: schema.default,
        }
    };
    Ok(properties.into_iter().map(field).collect())
}

fn kind_of(schema: &Schema) -> Kind {
    if let Some(choices) = choices_of(schema) {
        return Kind::OneOf(choices);
    }
    match schema.kind.as_ref().and_then(Value::as_str) {
        Some("string") => Kind::Text {
            length: Range { min: schema.min_length, max: schema.max_length },
            format: schema.format.clone(),
        },
        Some(word @ ("number" | "integer")) => {
            Kind::Number { is_whole: word == "integer", range: Range { min: schema.minimum, max: schema.maximum } }
        }
        Some("boolean") => Kind::YesOrNo,
        Some("array") => match schema.items.as_deref().and_then(choices_of) {
            Some(choices) => Kind::SomeOf { choices, count: Range { min: schema.min_items, max: schema.max_items } },
            None => Kind::Json,
        },
        _ => Kind::Json,
    }
}

fn choices_of(schema: &Schema) -> Option<Vec<Choice>> {
    let choice = |value: &Value, title: Option<&String>| {
        let own = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        Choice { label: title.cloned().unwrap_or(own), value: value.clone() }
    };
    let choices: Vec<Choice> = match (&schema.values, &schema.one_of, &schema.any_of) {
        (Some(values), ..) => {
            let names = schema.enum_names.as_deref().unwrap_or_default();
            values.iter().enumerate().map(|(at, value)| choice(value, names.get(at))).collect()
        }
        (_, Some(titled), _) | (_, _, Some(titled)) => {
            let with_value =
                titled.iter().filter_map(|one| one.value.as_ref().map(|value| (value, one.title.as_ref())));
            with_value.map(|(value, title)| choice(value, title)).collect()
        }
        _ => return None,
    };
    (!choices.is_empty() && choices.len() <= FORM_CHOICES_MAX).then_some(choices)
}

impl Field {
    /// What is shown before the answer.
    pub(crate) fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// The answer that was typed, as the schema wants it; `None` when nothing was typed and nothing has to be.
    pub(crate) fn read(&self, typed: &str) -> Result<Option<Value>, String> {
        if typed.trim().is_empty() && !matches!(self.kind, Kind::Text { .. }) || typed.is_empty() {
            return if self.is_required { Err("an answer is needed".to_owned()) } else { Ok(None) };
        }
        match &self.kind {
            Kind::Text { length, format } => {
                length.check(&(typed.chars().count() as u64), " characters")?;
                check_format(typed, format.as_deref())?;
                Ok(Some(Value::from(typed)))
            }
            Kind::Number { is_whole, range } => number(typed.trim(), *is_whole, range).map(Some),
            Kind::Json => serde_json::from_str(typed).map(Some).map_err(|error| format!("not JSON: {error}")),
            Kind::YesOrNo | Kind::OneOf(_) | Kind::SomeOf { .. } => Err("one of the choices is needed".to_owned()),
        }
    }

    /// Whether that many choices may be taken.
    pub(crate) fn check_count(&self, taken: usize) -> Result<(), String> {
        match &self.kind {
            Kind::SomeOf { count, .. } => count.check(&(taken as u64), " choices"),
            _ => Ok(()),
        }
    }

    /// The proposed answer, the way a person would type it.
    pub(crate) fn default_text(&self) -> Option<String> {
        let default = self.default.as_ref()?;
        Some(default.as_str().map_or_else(|| default.to_string(), ToOwned::to_owned))
    }
}

fn number(typed: &str, is_whole: bool, range: &Range<f64>) -> Result<Value, String> {
    if is_whole {
        let whole: i64 = typed.parse().map_err(|_| "a whole number is needed".to_owned())?;
        #[expect(clippy::cast_precision_loss, reason = "only compared with the ends of a range")]
        range.check(&(whole as f64), "")?;
        return Ok(Value::from(whole));
    }
    let value: f64 = typed.parse().map_err(|_| "a number is needed".to_owned())?;
    range.check(&value, "")?;
    Number::from_f64(value).map(Value::Number).ok_or_else(|| "a number is needed".to_owned())
}

/// The formats that forms know. They catch slips; the server has the last word.
fn check_format(typed: &str, format: Option<&str>) -> Result<(), String> {
    let fits = match format {
        Some("email") => typed.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')),
        Some("uri") => typed.split_once(':').is_some_and(|(scheme, rest)| {
            !rest.is_empty() && scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        }),
        Some("date") => is_date(typed),
        Some("date-time") => {
            typed.split_once(['T', 't', ' ']).is_some_and(|(date, time)| is_date(date) && time.len() >= 5)
        }
        _ => true,
    };
    if fits { Ok(()) } else { Err(format!("this is not a valid {}", format.unwrap_or_default())) }
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-').map(|part| (part.len(), part.parse::<u32>().ok()));
    let next_is = |part: Option<(usize, Option<u32>)>, length: usize, max: u32| {
        part.is_some_and(|(found, value)| found == length && value.is_some_and(|value| value <= max))
    };
    next_is(parts.next(), 4, 9999)
        && next_is(parts.next(), 2, 12)
        && next_is(parts.next(), 2, 31)
        && parts.next().is_none()
}

/// The answers as the server wants them.
pub(crate) fn answer(answers: Vec<(String, Value)>) -> RawJson {
    RawJson::from(Value::Object(answers.into_iter().collect::<Map<_, _>>()))
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
