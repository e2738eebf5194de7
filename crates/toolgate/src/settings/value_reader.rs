//! Values of the tree as what a key wants: strings, lists, numbers, words; and what is said when they are something else.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use jsonc_parser::ast::{Object, ObjectProp, ObjectPropName, Value};
use jsonc_parser::common::Ranged;

use crate::limits::FOREIGN_KEYS_NAMED_MAX;
use crate::settings::diagnostic::{Diagnostic, Diagnostics, KeyPath, Severity};
use crate::settings::position::{Located, Places, Position};
use crate::settings::raw::{RawList, RawMap, RawMember, RawPair, RawValue};
use crate::settings::source::{SettingsOrigin, SettingsSource};

/// A value of the wrong kind. It has been reported; this says it again in one sentence.
#[derive(Debug)]
pub(crate) struct WrongValue(pub(crate) String);

/// `None` is a `null`, which is as good as not written.
pub(crate) type Read<T> = Result<Option<T>, WrongValue>;

/// Reads the values of one file and keeps what is wrong with them.
#[derive(Debug)]
pub(crate) struct ValueReader<'t> {
    pub(crate) places: Places<'t>,
    source: SettingsSource,
    path: &'t Path,
    found: Diagnostics,
    /// The first key that is written twice. Nobody knows which of the two was meant, so the file is not used.
    pub(crate) written_twice: Option<Diagnostic>,
    /// Keys of other programs, each with its place.
    of_others: Vec<(String, Position)>,
}

impl<'t> ValueReader<'t> {
    pub(crate) fn new(text: &'t str, source: SettingsSource, path: &'t Path) -> Self {
        Self {
            places: Places::new(text),
            source,
            path,
            found: Diagnostics::default(),
            written_twice: None,
            of_others: Vec::new(),
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.tell_of_others();
        self.found.finish()
    }

    /// Collects a key of another program. All of them are reported in one line.
    pub(crate) fn of_others(&mut self, key: KeyPath<'_>, at: Position) {
        self.of_others.push((key.to_string(), at));
    }

    fn tell_of_others(&mut self) {
        let Some((first, at)) = self.of_others.first().cloned() else { return };
        let more = self.of_others.len() - 1;
        if more == 0 {
            return self.warn(at, KeyPath::top(&first), "a key of another program; it has no effect here", None);
        }
        let named: Vec<String> =
            self.of_others.iter().take(FOREIGN_KEYS_NAMED_MAX).map(|(key, _)| format!("`{key}`")).collect();
        let rest = if more >= FOREIGN_KEYS_NAMED_MAX { ", …" } else { "" };
        let message = format!("{} keys of other programs have no effect here: {}{rest}", more + 1, named.join(", "));
        let origin = SettingsOrigin { source: self.source, path: Some(self.path.to_owned()), line: Some(at.line) };
        let (severity, column) = (Severity::Warning, Some(at.column));
        self.found.push(Diagnostic { severity, origin, column, server: None, key: None, message, hint: None });
    }

    pub(crate) fn warn(&mut self, at: Position, key: KeyPath<'_>, message: impl Into<String>, hint: Option<String>) {
        self.report(Severity::Warning, at, key, (message.into(), hint));
    }

    pub(crate) fn error(&mut self, at: Position, key: KeyPath<'_>, message: impl Into<String>, hint: Option<String>) {
        self.report(Severity::Error, at, key, (message.into(), hint));
    }

    fn twice(&mut self, at: Position, key: KeyPath<'_>, message: String) {
        let origin = SettingsOrigin { source: self.source, path: Some(self.path.to_owned()), line: Some(at.line) };
        let (server, column) = (key.server().map(str::to_owned), Some(at.column));
        let (severity, hint) = (Severity::Error, Some("remove one of the two".to_owned()));
        let diagnostic = Diagnostic { severity, origin, column, server, key: Some(key.to_string()), message, hint };
        self.written_twice.get_or_insert(diagnostic);
    }

    fn report(&mut self, severity: Severity, at: Position, key: KeyPath<'_>, text: (String, Option<String>)) {
        let origin = SettingsOrigin { source: self.source, path: Some(self.path.to_owned()), line: Some(at.line) };
        let (server, column) = (key.server().map(str::to_owned), Some(at.column));
        let (message, hint) = text;
        self.found.push(Diagnostic { severity, origin, column, server, key: Some(key.to_string()), message, hint });
    }

    pub(crate) fn place(&self, value: &impl Ranged) -> Position {
        self.places.at(value.range().start)
    }

    fn located<T>(&self, value: &Value<'_>, read: T) -> Located<T> {
        Located { value: read, at: self.place(value) }
    }

    /// The members of an object, each key once. One that is written twice makes the file unusable.
    pub(crate) fn members<'v, 'a>(
        &mut self,
        object: &'v Object<'a>,
        above: Option<&KeyPath<'_>>,
    ) -> Vec<(&'v str, &'v ObjectProp<'a>)> {
        let last = LastOfName::in_object(object);
        let mut members = Vec::with_capacity(object.properties.len());
        for (index, member) in object.properties.iter().enumerate() {
            let name = name_of(&member.name);
            match last.after(object, index) {
                None => members.push((name, member)),
                Some(other) => {
                    let line = self.place(&other.name).line;
                    let key = above.map_or(KeyPath::top(name), |above| above.key(name));
                    let message = format!("written twice; the other one is in line {line}");
                    self.twice(self.place(&member.name), key, message);
                }
            }
        }
        members
    }

    /// The members of something that should be an object.
    pub(crate) fn object<'v, 'a>(
        &mut self,
        value: &'v Value<'a>,
        key: KeyPath<'_>,
    ) -> Result<Vec<(&'v str, &'v ObjectProp<'a>)>, WrongValue> {
        match value {
            Value::Object(object) => Ok(self.members(object, Some(&key))),
            Value::NullKeyword(_) => Ok(Vec::new()),
            Value::StringLit(_) | Value::NumberLit(_) | Value::BooleanLit(_) | Value::Array(_) => {
                Err(self.wrong(value, key, "an object", Some("write an object: `{ … }`")))
            }
        }
    }

    /// A string.
    pub(crate) fn text(&mut self, value: &Value<'_>, key: KeyPath<'_>) -> Read<Located<String>> {
        match value {
            Value::StringLit(text) => Ok(Some(self.located(value, text.value.to_string()))),
            Value::NullKeyword(_) => Ok(None),
            Value::NumberLit(_) | Value::BooleanLit(_) | Value::Array(_) | Value::Object(_) => {
                Err(self.wrong(value, key, "a string", Some(hint_for_text(value))))
            }
        }
    }

    /// A string, or a number or boolean that was surely meant as one.
    fn text_of_any(
        &mut self,
        value: &Value<'_>,
        key: KeyPath<'_>,
        expected: &str,
    ) -> Result<Located<String>, WrongValue> {
        let written = match value {
            Value::StringLit(text) => return Ok(self.located(value, text.value.to_string())),
            Value::NumberLit(number) => number.value.to_owned(),
            Value::BooleanLit(truth) => truth.value.to_string(),
            Value::NullKeyword(_) | Value::Array(_) | Value::Object(_) => {
                return Err(self.wrong(value, key, expected, Some(hint_for_text(value))));
            }
        };
        let message = format!("expected a string, found {}; it is read as it is written", kind(value));
        self.warn(self.place(value), key, message, Some("put it in double quotes".to_owned()));
        Ok(self.located(value, written))
    }

    /// A list of strings.
    pub(crate) fn list(&mut self, value: &Value<'_>, key: KeyPath<'_>) -> Read<RawList> {
        match value {
            Value::Array(array) => {
                let texts = array.elements.iter().enumerate();
                let texts: Result<Vec<_>, _> =
                    texts.map(|(index, element)| self.text_of_any(element, key.index(index), "a string")).collect();
                Ok(Some(self.located(value, texts?)))
            }
            Value::NullKeyword(_) => Ok(None),
            Value::StringLit(_) => Err(self.wrong(
                value,
                key,
                "a list of strings",
                Some("write a list, each entry in double quotes: [\"one\", \"two\"]"),
            )),
            Value::NumberLit(_) | Value::BooleanLit(_) | Value::Object(_) => {
                Err(self.wrong(value, key, "a list of strings", Some("write a list such as [\"one\", \"two\"]")))
            }
        }
    }

    /// A list of strings; one string alone is taken for a list of one.
    pub(crate) fn list_or_one(&mut self, value: &Value<'_>, key: KeyPath<'_>) -> Read<RawList> {
        let Value::StringLit(text) = value else { return self.list(value, key) };
        let at = self.place(value);
        let message = "expected a list of strings, found a string; it is read as a list of one";
        self.warn(at, key, message, Some("put it between `[` and `]`".to_owned()));
        Ok(Some(Located { value: vec![Located { value: text.value.to_string(), at }], at }))
    }

    /// A list of strings, or `true` for the list `["*"]` and `false` for an empty one.
    pub(crate) fn list_or_all(&mut self, value: &Value<'_>, key: KeyPath<'_>) -> Read<RawList> {
        let Value::BooleanLit(all) = value else { return self.list_or_one(value, key) };
        let at = self.place(value);
        let every = all.value.then(|| Located { value: "*".to_owned(), at });
        Ok(Some(Located { value: every.into_iter().collect(), at }))
    }

    /// An object whose values are strings.
    pub(crate) fn map(&mut self, value: &Value<'_>, key: KeyPath<'_>) -> Read<RawMap> {
        const HINT: &str = "write an object such as {\"NAME\": \"value\"}";
        match value {
            Value::Object(object) => {
                let mut pairs = Vec::with_capacity(object.properties.len());
                for (name, member) in self.members(object, Some(&key)) {
                    let value = self.text_of_any(&member.value, key.key(name), "a string")?;
                    let at = self.place(&member.name);
                    pairs.push(RawPair { name: Located { value: name.to_owned(), at }, value });
                }
                Ok(Some(self.located(value, pairs)))
            }
            Value::NullKeyword(_) => Ok(None),
            Value::StringLit(_) | Value::NumberLit(_) | Value::BooleanLit(_) | Value::Array(_) => {
                Err(self.wrong(value, key, "an object with strings", Some(HINT)))
            }
        }
    }

    /// A number. One in quotes is taken too.
    pub(crate) fn number(&mut self, value: &Value<'_>, key: KeyPath<'_>) -> Read<Located<f64>> {
        const HINT: &str = "write a number such as 30000, without quotes";
        let (text, is_quoted): (&str, bool) = match value {
            Value::NumberLit(number) => (number.value, false),
            Value::StringLit(text) => (&text.value, true),
            Value::NullKeyword(_) => return Ok(None),
            Value::BooleanLit(_) | Value::Array(_) | Value::Object(_) => {
                return Err(self.wrong(value, key, "a number", Some(HINT)));
            }
        };
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let Some(number) = number else { return Err(self.wrong(value, key, "a number", Some(HINT))) };
        if is_quoted {
            self.quotes_taken_off(value, key, "a number", &number.to_string());
        }
        Ok(Some(self.located(value, number)))
    }

    /// `true` or `false`. The words in quotes are taken too.
    pub(crate) fn truth(&mut self, value: &Value<'_>, key: KeyPath<'_>) -> Read<Located<bool>> {
        match value {
            Value::BooleanLit(truth) => Ok(Some(self.located(value, truth.value))),
            Value::NullKeyword(_) => Ok(None),
            Value::StringLit(text) if is_word(&text.value, "true") || is_word(&text.value, "false") => {
                let truth = is_word(&text.value, "true");
                self.quotes_taken_off(value, key, "true or false", &truth.to_string());
                Ok(Some(self.located(value, truth)))
            }
            Value::StringLit(_) | Value::NumberLit(_) | Value::Array(_) | Value::Object(_) => {
                Err(self.wrong(value, key, "true or false", Some("write true or false, without quotes")))
            }
        }
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        value: &Value<'_>,
        key: KeyPath<'_>,
        words: &[(&str, T)],
    ) -> Read<Located<T>> {
        let written = match value {
            Value::StringLit(text) => &text.value,
            Value::NullKeyword(_) => return Ok(None),
            Value::NumberLit(_) | Value::BooleanLit(_) | Value::Array(_) | Value::Object(_) => &Cow::Borrowed(""),
        };
        if let Some((_, meant)) = words.iter().find(|(word, _)| word == written) {
            return Ok(Some(self.located(value, *meant)));
        }
        let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let (last, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
        let expected = format!("{} or {last}", before.join(", "));
        let found = if matches!(value, Value::StringLit(_)) { "another word" } else { kind(value) };
        let hint = "write one of these words, in double quotes";
        Err(self.wrong_as(value, key, &format!("expected {expected}, found {found}"), Some(hint)))
    }

    /// Any value, kept as it is. Keys are not looked at.
    pub(crate) fn raw(&self, value: &Value<'_>) -> Located<RawValue> {
        let at = self.place(value);
        let value = match value {
            Value::NullKeyword(_) => RawValue::Null,
            Value::BooleanLit(truth) => RawValue::Bool(truth.value),
            Value::NumberLit(number) => RawValue::Number(number.value.to_owned()),
            Value::StringLit(text) => RawValue::Text(text.value.to_string()),
            Value::Array(array) => RawValue::List(array.elements.iter().map(|element| self.raw(element)).collect()),
            Value::Object(object) => {
                RawValue::Object(object.properties.iter().map(|member| self.raw_member(member)).collect())
            }
        };
        Located { value, at }
    }

    pub(crate) fn raw_member(&self, member: &ObjectProp<'_>) -> RawMember {
        let key = Located { value: name_of(&member.name).to_owned(), at: self.place(&member.name) };
        RawMember { key, value: self.raw(&member.value) }
    }

    fn quotes_taken_off(&mut self, value: &Value<'_>, key: KeyPath<'_>, expected: &str, meant: &str) {
        let message = format!("expected {expected}, found a string; it is read as {meant}");
        self.warn(self.place(value), key, message, Some(format!("write {meant} without quotes")));
    }

    pub(crate) fn wrong(
        &mut self,
        value: &Value<'_>,
        key: KeyPath<'_>,
        expected: &str,
        hint: Option<&str>,
    ) -> WrongValue {
        self.wrong_as(value, key, &format!("expected {expected}, found {}", kind(value)), hint)
    }

    fn wrong_as(&mut self, value: &Value<'_>, key: KeyPath<'_>, message: &str, hint: Option<&str>) -> WrongValue {
        self.error(self.place(value), key, message, hint.map(str::to_owned));
        WrongValue(format!("{key}: {message}"))
    }
}

/// Finds keys that are written again. Most objects are so small that looking at each key is faster than a table.
enum LastOfName<'v> {
    Small,
    Large(HashMap<&'v str, usize>),
}

impl<'v> LastOfName<'v> {
    fn in_object(object: &'v Object<'_>) -> Self {
        const SMALL: usize = 12;
        if object.properties.len() <= SMALL {
            return Self::Small;
        }
        let names = object.properties.iter().map(|member| name_of(&member.name));
        Self::Large(names.enumerate().map(|(index, name)| (name, index)).collect())
    }

    /// The last member with the name of this one, if it comes later.
    fn after<'a>(&self, object: &'v Object<'a>, index: usize) -> Option<&'v ObjectProp<'a>> {
        let name = name_of(&object.properties.get(index)?.name);
        match self {
            Self::Small => object.properties.iter().skip(index + 1).rfind(|member| name_of(&member.name) == name),
            Self::Large(last) => {
                last.get(name).filter(|last| **last > index).and_then(|last| object.properties.get(*last))
            }
        }
    }
}

/// The name of a member.
pub(crate) fn name_of<'v>(name: &'v ObjectPropName<'_>) -> &'v str {
    match name {
        ObjectPropName::String(text) => &text.value,
        ObjectPropName::Word(word) => word.value,
    }
}

fn is_word(text: &str, word: &str) -> bool {
    text.trim().eq_ignore_ascii_case(word)
}

fn hint_for_text(value: &Value<'_>) -> &'static str {
    match value {
        Value::NumberLit(_) | Value::BooleanLit(_) => "put it in double quotes",
        _ => "write one text in double quotes",
    }
}

pub(crate) fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}
