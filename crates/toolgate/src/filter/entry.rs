//! One entry of a list of tools: `*`, a name, a name with `*`, each with or without `(pattern)` or `(key=pattern)`. Only its grammar.

use std::fmt;

use thiserror::Error;

use super::argument_pattern::ArgumentPattern;
use super::name_pattern::NamePattern;
use crate::limits::{EXCERPT_CHARS_MAX, FILTER_ENTRY_BYTES_MAX};
use crate::servers::built_in_tools::possible_real_name;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which tools.
    pub name: NamePattern,
    /// Which calls of them; all, when it says nothing.
    pub arguments: Option<ArgumentPattern>,
    /// As it is written.
    pub text: String,
}

/// An entry that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{entry}`: {why}")]
pub struct EntryError {
    /// As it is written; shortened when it is long.
    pub entry: String,
    /// What is wrong with it, and what to write instead.
    pub why: String,
}

impl Entry {
    /// Reads an entry. White space around it and around its parts means nothing.
    ///
    /// # Errors
    /// When it names nothing, is too long, has control characters in it, or its parentheses are empty, do not pair, or do not end it.
    pub fn parse(text: &str) -> Result<Self, EntryError> {
        let entry = text.trim();
        let wrong = |why: &str| Err(EntryError::new(text, why));
        if let Some(why) = EntryError::why_unfit(entry) {
            return wrong(&why);
        }
        let Some((name, rest)) = entry.split_once('(') else {
            if entry.contains(')') {
                return wrong("a parenthesis is closed that was never opened; write `name(pattern)`");
            }
            return Ok(Self { name: NamePattern::parse(entry)?, arguments: None, text: entry.to_owned() });
        };
        if name.trim().is_empty() {
            return wrong("no tool is named before the parenthesis; write `*(…)` for every tool");
        }
        if name.contains(')') {
            return wrong("a parenthesis is closed before it is opened; write `name(pattern)`");
        }
        let Some((inside, after)) = up_to_closing(rest) else {
            return wrong("a parenthesis is not closed; end the entry with `)`");
        };
        if !after.trim().is_empty() {
            return wrong("something stands after the closing parenthesis; write one entry for each tool");
        }
        let arguments = ArgumentPattern::parse(inside).map_err(|error| EntryError::new(text, &error.why))?;
        Ok(Self { name: NamePattern::parse(name)?, arguments: Some(arguments), text: entry.to_owned() })
    }

    /// The tools that an entry could be about which cannot be read: all that begin as it does.
    pub(crate) fn possible_names(text: &str) -> Vec<NamePattern> {
        let begin = text.trim().split(|letter: char| matches!(letter, '(' | ')') || letter.is_control()).next();
        let name: String = begin.unwrap_or_default().trim().chars().take(FILTER_ENTRY_BYTES_MAX).collect();
        let all = NamePattern::of(&format!("{name}*"));
        [all].into_iter().chain(possible_real_name(&name).map(NamePattern::of)).collect()
    }
}

/// The text up to the `)` that closes what is open, and the text after it.
fn up_to_closing(text: &str) -> Option<(&str, &str)> {
    let mut open = 1_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            let (inside, after) = text.split_at_checked(at)?;
            return Some((inside, after.strip_prefix(')')?));
        }
    }
    None
}

/// What is wrong with the entries of a list, in their order; those that can be read say nothing.
#[must_use]
pub fn check<S: AsRef<str>>(entries: &[S]) -> Vec<EntryError> {
    entries.iter().filter_map(|entry| Entry::parse(entry.as_ref()).err()).collect()
}

impl EntryError {
    pub(super) fn new(text: &str, why: &str) -> Self {
        let mut entry = String::new();
        let mut letters = text.trim().chars();
        for letter in letters.by_ref().take(EXCERPT_CHARS_MAX) {
            if letter.is_control() { entry.extend(letter.escape_default()) } else { entry.push(letter) }
        }
        if letters.next().is_some() {
            entry.push('…');
        }
        Self { entry, why: why.to_owned() }
    }

    /// What no part of an entry may be.
    pub(super) fn why_unfit(text: &str) -> Option<String> {
        if text.len() > FILTER_ENTRY_BYTES_MAX {
            return Some(format!("it is longer than {FILTER_ENTRY_BYTES_MAX} bytes"));
        }
        text.chars().any(char::is_control).then(|| "it has a line break or another control character in it".to_owned())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
