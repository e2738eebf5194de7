//! The text behind a slash command, as the arguments of its prompt.
//!
//! ```text
//! input      = { named | positional | blanks }
//! named      = "--" key "=" ( quoted | bare )        key: neither blanks nor "=" nor quotes
//! quoted     = '"' { "\" any | neither quote nor backslash } '"'
//! bare       = no blanks
//! positional = quoted | bare
//! ```
//! A backslash and a character are that character. A key ends at a blank, so that `--a b --c=d` gives `c` and not a strange name; and `--a` alone, where the prompt
//! has an `a`, is a mistake that is told.

use std::collections::BTreeMap;
use std::fmt;

use toolgate_wire::view::PromptArgument;

use crate::limits::COMMAND_LINE_BYTES_MAX;

/// What was typed, before it is known what it is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typed {
    /// Values with their names, in order.
    pub named: Vec<(String, String)>,
    /// Values without, in order.
    pub positional: Vec<Word>,
}

/// A value without a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    pub text: String,
    /// Whether it stood in quotes, and so is not the name of anything.
    pub is_quoted: bool,
}

/// What each argument gets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// Name and value of every argument that is sent.
    pub values: BTreeMap<String, String>,
    /// What was typed and goes nowhere, such as `--name` of no argument. Worth a word to whoever typed it.
    pub unused: Vec<String>,
}

/// Why a line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mistake {
    /// Required arguments that nothing was given for.
    Missing(Vec<String>),
    /// An argument whose name has no value behind it.
    NoValue(String),
    /// More text than a line has.
    TooLong,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(names) => {
                let flags: Vec<String> = names.iter().map(|name| format!("--{name}")).collect();
                write!(f, "missing required argument(s): {}", flags.join(", "))
            }
            Self::NoValue(name) => {
                write!(
                    f,
                    "--{name} has no value: write --{name}=\"…\", or \"--{name}\" in quotes when it is meant as text"
                )
            }
            Self::TooLong => write!(f, "the arguments are longer than {COMMAND_LINE_BYTES_MAX} bytes"),
        }
    }
}

impl std::error::Error for Mistake {}

/// One piece of a line, with where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) at: usize,
    pub(super) kind: PieceKind,
}

/// What a piece is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// `--key=value`.
    Named { key: String, value: String, ends: Ends },
    /// Anything else.
    Positional(Word),
}

/// How a value ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// With its quote.
    Closed,
    /// It has no quotes.
    Bare,
}

/// Takes a line apart.
///
/// # Errors
/// When it is too long to be one.
pub fn read(line: &str) -> Result<Typed, Mistake> {
    if line.len() > COMMAND_LINE_BYTES_MAX {
        return Err(Mistake::TooLong);
    }
    let mut typed = Typed::default();
    for piece in pieces(line) {
        match piece.kind {
            PieceKind::Named { key, value, .. } => typed.named.push((key, value)),
            PieceKind::Positional(word) => typed.positional.push(word),
        }
    }
    Ok(typed)
}

/// The pieces of a line.
pub(super) fn pieces(line: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let at = line.len() - rest.len();
        let (kind, behind) = named(rest).unwrap_or_else(|| positional(rest));
        found.push(Piece { at, kind });
        rest = behind.trim_start();
    }
    found
}

/// `--key=value` at the beginning of a text, and what stands behind it.
fn named(text: &str) -> Option<(PieceKind, &str)> {
    let after = text.strip_prefix("--")?;
    let (key, value) = after.split_once('=')?;
    if key.is_empty() || key.contains(|letter: char| letter.is_whitespace() || letter == '"') {
        return None;
    }
    let (value, ends, behind) = match quoted(value) {
        Some((value, behind)) => (value, Ends::Closed, behind),
        None => {
            let (value, behind) = bare(value);
            (value, Ends::Bare, behind)
        }
    };
    Some((PieceKind::Named { key: key.to_owned(), value, ends }, behind))
}

fn positional(text: &str) -> (PieceKind, &str) {
    let (text, is_quoted, behind) = match quoted(text) {
        Some((value, behind)) => (value, true, behind),
        None => {
            let (value, behind) = bare(text);
            (value, false, behind)
        }
    };
    (PieceKind::Positional(Word { text, is_quoted }), behind)
}

/// A value in quotes, if its second quote is there.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut letters = inside.chars();
    loop {
        match letters.next()? {
            '"' => return Some((value, letters.as_str())),
            '\\' => value.push(letters.next()?),
            letter => value.push(letter),
        }
    }
}

fn bare(text: &str) -> (String, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (value, behind) = text.split_at(end);
    (unescaped(value), behind)
}

/// A backslash and a character are that character; one at the end stays.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.push(letters.next().unwrap_or('\\')),
            letter => plain.push(letter),
        }
    }
    plain
}

/// A value as it is typed inside of quotes, with them.
pub fn in_quotes(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Typed {
    /// Gives each value to the argument it is for.
    ///
    /// Names count first. Of the required arguments that are still open, a single one gets everything without a name, joined by blanks; several are filled in
    /// their order. What is optional can only be given by name.
    ///
    /// # Errors
    /// When required arguments are missing, or a name has no value.
    pub fn assign(self, declared: &[PromptArgument]) -> Result<Given, Mistake> {
        let is_declared = |name: &str| declared.iter().any(|argument| argument.name == name);
        let mut given = Given::default();
        for (name, value) in self.named {
            match is_declared(&name) {
                true if value.is_empty() => {}
                true => drop(given.values.insert(name, value)),
                false => given.unused.push(format!("--{name}")),
            }
        }
        let is_name = |word: &&Word| !word.is_quoted && word.text.strip_prefix("--").is_some_and(is_declared);
        if let Some(word) = self.positional.iter().find(is_name) {
            return Err(Mistake::NoValue(word.text.chars().skip(2).collect()));
        }
        let open = open_names(declared, &given.values);
        let mut words = self.positional.into_iter().map(|word| word.text);
        if let [only] = open.as_slice() {
            given.values.insert(only.clone(), words.collect::<Vec<_>>().join(" "));
            return Ok(given);
        }
        let count = open.len();
        given.values.extend(open.iter().cloned().zip(words.by_ref().take(count)));
        let missing = open_names(declared, &given.values);
        if !missing.is_empty() {
            return Err(Mistake::Missing(missing));
        }
        given.unused.extend(words);
        Ok(given)
    }
}

/// Required arguments without a value, in their order.
pub(super) fn open_names(declared: &[PromptArgument], values: &BTreeMap<String, String>) -> Vec<String> {
    let required = declared.iter().filter(|argument| argument.required && !values.contains_key(&argument.name));
    required.map(|argument| argument.name.clone()).collect()
}

#[cfg(test)]
#[path = "slash_arguments_tests.rs"]
mod tests;
