//! `Fields`: one table of a policy file, read key by key. What has the wrong type, is empty or is too long is reported and then missing.

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::finding::Findings;
use super::keys;
use crate::limits::{POLICY_LIST_MAX, POLICY_NAME_CHARS_MAX, POLICY_TEXT_CHARS_MAX};

/// One table of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'d> {
    pub(super) table: &'d DeTable<'d>,
    /// Where it begins, in bytes.
    pub(super) at: usize,
    pub(super) findings: &'d Findings<'d>,
}

/// A value and where it begins, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) at: usize,
}

/// What is written for a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'d> {
    pub(super) key: &'d str,
    pub(super) key_at: usize,
    pub(super) value: &'d Spanned<DeValue<'d>>,
    findings: &'d Findings<'d>,
}

impl<'d> Fields<'d> {
    /// All keys in the order of the file.
    pub(super) fn in_order(&self) -> Vec<Field<'d>> {
        let findings = self.findings;
        let mut fields: Vec<_> = self
            .table
            .iter()
            .map(|(key, value)| Field { key: key.get_ref(), key_at: key.span().start, value, findings })
            .collect();
        fields.sort_by_key(|field| field.key_at);
        fields
    }

    /// Reports the keys that are none of `known`. `of` says whose keys they are.
    pub(super) fn refuse_others(&self, known: &[&str], of: &str) {
        for field in self.in_order().into_iter().filter(|field| !known.contains(&field.key)) {
            let message = format!("unknown key `{}` in {of}", excerpt(field.key));
            self.findings.error(field.key_at, message, &keys::hint_for(field.key, known));
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<Field<'d>> {
        let (key, value) = self.table.get_key_value(key)?;
        Some(Field { key: key.get_ref(), key_at: key.span().start, value, findings: self.findings })
    }

    /// A key that has an older spelling as well.
    pub(super) fn get_either(&self, key: &str, older: &str) -> Option<Field<'d>> {
        let (new, old) = (self.get(key), self.get(older));
        if let (Some(_), Some(old)) = (new, old) {
            self.findings.error(old.key_at, format!("`{older}` is the same as `{key}`"), "keep one of them");
        }
        new.or(old)
    }
}

impl<'d> Field<'d> {
    pub(super) fn value_at(&self) -> usize {
        self.value.span().start
    }

    pub(super) fn error(&self, what: &str, hint: &str) {
        self.findings.error(self.value_at(), format!("`{}` {what}", excerpt(self.key)), hint);
    }

    /// Reports something about the key itself.
    pub(super) fn report(&self, message: &str, hint: &str) {
        self.findings.error(self.key_at, message, hint);
    }

    fn expects(&self, what: &str, hint: &str) {
        self.error(&format!("takes {what}, not {}", with_article(self.value.get_ref())), hint);
    }

    /// A text that is not blank.
    pub(super) fn text(&self) -> Option<At<&'d str>> {
        self.text_of(self.value, "a text", POLICY_TEXT_CHARS_MAX)
    }

    /// A text that is the name of a server, tool or agent.
    pub(super) fn name(&self) -> Option<At<&'d str>> {
        self.text_of(self.value, "a text", POLICY_NAME_CHARS_MAX)
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        let truth = self.value.get_ref().as_bool();
        if truth.is_none() {
            self.expects("`true` or `false`", "");
        }
        truth
    }

    /// A text or a list of texts, at least one.
    pub(super) fn text_or_texts(&self) -> Option<Vec<At<&'d str>>> {
        match self.value.get_ref() {
            DeValue::Array(_) => self.texts(POLICY_TEXT_CHARS_MAX),
            _ => self.text_of(self.value, "a text or a list of texts", POLICY_TEXT_CHARS_MAX).map(|text| vec![text]),
        }
    }

    /// The same for names.
    pub(super) fn name_or_names(&self) -> Option<Vec<At<&'d str>>> {
        match self.value.get_ref() {
            DeValue::Array(_) => self.texts(POLICY_NAME_CHARS_MAX),
            _ => self.text_of(self.value, "a text or a list of texts", POLICY_NAME_CHARS_MAX).map(|text| vec![text]),
        }
    }

    /// A list of texts, which may be empty.
    pub(super) fn words(&self) -> Option<Vec<At<&'d str>>> {
        match self.list()? {
            [] => Some(Vec::new()),
            _ => self.texts(POLICY_TEXT_CHARS_MAX),
        }
    }

    /// A list of texts, at least one.
    pub(super) fn some_words(&self) -> Option<Vec<At<&'d str>>> {
        self.texts(POLICY_TEXT_CHARS_MAX)
    }

    pub(super) fn list(&self) -> Option<&'d [Spanned<DeValue<'d>>]> {
        let DeValue::Array(elements) = self.value.get_ref() else {
            let hint = self
                .value
                .get_ref()
                .as_str()
                .map(|text| format!("write `{} = [\"{}\"]`", excerpt(self.key), excerpt(text)));
            self.expects("a list", &hint.unwrap_or_default());
            return None;
        };
        if elements.len() > POLICY_LIST_MAX {
            self.error(&format!("has more than {POLICY_LIST_MAX} elements"), "divide it between several rules");
            return None;
        }
        Some(elements)
    }

    pub(super) fn table(&self) -> Option<Fields<'d>> {
        let table = self.value.get_ref().as_table();
        if table.is_none() {
            self.expects("a table", "");
        }
        table.map(|table| Fields { table, at: self.value_at(), findings: self.findings })
    }

    /// An element of its list that has to be a table.
    pub(super) fn element_table(&self, element: &'d Spanned<DeValue<'d>>) -> Option<Fields<'d>> {
        let at = element.span().start;
        let table = element.get_ref().as_table();
        if table.is_none() {
            let message = format!("`{}` takes tables, not {}", excerpt(self.key), with_article(element.get_ref()));
            self.findings.error(at, message, "");
        }
        table.map(|table| Fields { table, at, findings: self.findings })
    }

    /// The value as JSON.
    pub(super) fn json(&self) -> Option<Value> {
        json(self.value).or_else(|| {
            self.error("has a value that JSON does not have", "write a date as a text, and numbers that are finite");
            None
        })
    }

    fn texts(&self, chars_max: usize) -> Option<Vec<At<&'d str>>> {
        let elements = self.list()?;
        if elements.is_empty() {
            self.error("is an empty list", "name at least one, or remove the key");
            return None;
        }
        elements.iter().map(|element| self.text_of(element, "texts", chars_max)).collect()
    }

    fn text_of(&self, value: &'d Spanned<DeValue<'d>>, what: &str, chars_max: usize) -> Option<At<&'d str>> {
        let key = excerpt(self.key);
        let at = value.span().start;
        let Some(text) = value.get_ref().as_str() else {
            let message = format!("`{key}` takes {what}, not {}", with_article(value.get_ref()));
            self.findings.error(at, message, "write it in quotes");
            return None;
        };
        if text.trim().is_empty() {
            self.findings.error(at, format!("`{key}` is empty"), "write what is meant, or remove the key");
            return None;
        }
        if text.chars().nth(chars_max).is_some() {
            self.findings.error(at, format!("`{key}` has more than {chars_max} characters"), "make it shorter");
            return None;
        }
        Some(At { value: text, at })
    }
}

/// A number of the file, when it is a whole one.
pub(super) fn whole(integer: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// A value as JSON; `None` for dates and numbers that are not finite.
fn json(value: &Spanned<DeValue<'_>>) -> Option<Value> {
    Some(match value.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(integer) => Value::from(whole(integer)?),
        DeValue::Float(float) => Value::Number(serde_json::Number::from_f64(float.as_str().parse().ok()?)?),
        DeValue::Boolean(truth) => Value::from(*truth),
        DeValue::Datetime(_) => return None,
        DeValue::Array(elements) => Value::Array(elements.iter().map(json).collect::<Option<_>>()?),
        DeValue::Table(table) => {
            let members = table.iter().map(|(key, value)| Some((key.get_ref().to_string(), json(value)?)));
            Value::Object(members.collect::<Option<_>>()?)
        }
    })
}

/// What kind of value it is, for a sentence.
pub(super) fn with_article(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A text of the file, short enough to be repeated in a message.
pub(super) fn excerpt(text: &str) -> String {
    const CHARS: usize = crate::limits::EXCERPT_CHARS_MAX;
    if text.chars().nth(CHARS).is_none() {
        return text.to_owned();
    }
    text.chars().take(CHARS).chain(std::iter::once('…')).collect()
}
