//! What could be typed next behind a slash command: names of arguments, the quote that closes a value, and values that the server may know.
//!
//! Values are asked for by the caller (`completion/complete`); here it is said for which argument, beginning with what, and where the answer goes.

use std::collections::BTreeMap;

use toolgate_wire::view::PromptArgument;

use super::slash_arguments::{Ends, Piece, PieceKind, Word, in_quotes, open_names, pieces, unescaped};
use crate::limits::COMMAND_LINE_BYTES_MAX;

/// What could be typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where the text begins that an option replaces; it goes to the cursor.
    pub from: usize,
    /// What can stand there, as it is typed.
    pub options: Vec<String>,
    /// The value that is being typed, if its server can be asked about it.
    pub value: Option<ValueWanted>,
}

/// A value that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueWanted {
    /// The argument it is for.
    pub argument: String,
    /// How it begins.
    pub prefix: String,
    /// The other arguments that have a value, for the server to take into account.
    pub given: BTreeMap<String, String>,
    /// Where the text begins that a value replaces.
    pub from: usize,
    /// Whether the name of the argument stands before it.
    pub is_named: bool,
}

impl ValueWanted {
    /// A value of the server as it is typed.
    pub fn typed(&self, value: &str) -> String {
        if self.is_named {
            return format!("--{}={}", self.argument, in_quotes(value));
        }
        let is_plain = |letter: char| !letter.is_whitespace() && !matches!(letter, '"' | '\\');
        if !value.is_empty() && !value.starts_with("--") && value.chars().all(is_plain) {
            return value.to_owned();
        }
        in_quotes(value)
    }
}

/// What could stand at the end of `before`, the text between the command and the cursor.
pub(super) fn complete(before: &str, declared: &[PromptArgument]) -> Completion {
    let nothing = Completion { from: before.len(), ..Completion::default() };
    if declared.is_empty() || before.len() > COMMAND_LINE_BYTES_MAX {
        return nothing;
    }
    let pieces = pieces(before);
    let open = pieces.iter().position(|piece| is_open(piece, before));
    let touches = open.or_else(|| pieces.len().checked_sub(1).filter(|_| !before.ends_with(char::is_whitespace)));
    let (done, current) = match touches.and_then(|at| pieces.split_at_checked(at)) {
        Some((done, rest)) => (done, rest.first()),
        None => (pieces.as_slice(), None),
    };
    let line = Line { before, declared, done };
    match current.map(|piece| (piece.at, &piece.kind)) {
        None => Completion { options: line.names("--"), value: line.positional_value("", before.len()), ..nothing },
        Some((at, PieceKind::Named { key, value, ends })) => {
            let from_here = before.get(at..).unwrap_or_default();
            match (line.is_declared(key), ends, open) {
                (false, _, _) | (_, Ends::Closed, _) => nothing,
                (true, Ends::Bare, None) => {
                    let options = if value.is_empty() { vec![format!("--{key}=\"")] } else { Vec::new() };
                    Completion { from: at, options, value: Some(line.named_value(key, value.clone(), at)) }
                }
                (true, Ends::Bare, Some(_)) => {
                    let inside = from_here.split_once("=\"").map_or("", |(_, inside)| inside);
                    let value = line.named_value(key, unescaped(inside), at);
                    Completion { from: at, options: vec![format!("{from_here}\"")], value: Some(value) }
                }
            }
        }
        Some((_, PieceKind::Positional(Word { is_quoted: true, .. }))) => nothing,
        Some((at, PieceKind::Positional(word))) => {
            let from_here = before.get(at..).unwrap_or_default();
            if open.is_some() {
                let inside = unescaped(from_here.strip_prefix('"').unwrap_or_default());
                let value = line.positional_value(&inside, at);
                return Completion { from: at, options: vec![format!("{from_here}\"")], value };
            }
            let value = if word.text.starts_with("--") { None } else { line.positional_value(&word.text, at) };
            Completion { from: at, options: line.names(from_here), value }
        }
    }
}

/// Whether a piece begins with a quote that nothing closes: everything behind it belongs to it.
fn is_open(piece: &Piece, before: &str) -> bool {
    let text = before.get(piece.at..).unwrap_or_default();
    match &piece.kind {
        PieceKind::Named { ends: Ends::Bare, .. } => {
            text.split_once('=').is_some_and(|(_, value)| value.starts_with('"'))
        }
        PieceKind::Named { ends: Ends::Closed, .. } => false,
        PieceKind::Positional(word) => !word.is_quoted && text.starts_with('"'),
    }
}

/// What stands before the piece under the cursor.
struct Line<'a> {
    before: &'a str,
    declared: &'a [PromptArgument],
    done: &'a [Piece],
}

impl Line<'_> {
    fn is_declared(&self, name: &str) -> bool {
        self.declared.iter().any(|argument| argument.name == name)
    }

    fn named(&self) -> BTreeMap<String, String> {
        let named = self.done.iter().filter_map(|piece| match &piece.kind {
            PieceKind::Named { key, value, .. } => Some((key, value)),
            PieceKind::Positional(_) => None,
        });
        let meant = named.filter(|(key, value)| self.is_declared(key) && !value.is_empty());
        meant.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn words(&self) -> Vec<(usize, &str)> {
        let words = self.done.iter().filter_map(|piece| match &piece.kind {
            PieceKind::Positional(word) => Some((piece.at, word.text.as_str())),
            PieceKind::Named { .. } => None,
        });
        words.collect()
    }

    /// All values that are there already.
    fn given(&self) -> BTreeMap<String, String> {
        let mut given = self.named();
        let (open, words) = (open_names(self.declared, &given), self.words());
        let texts: Vec<&str> = words.iter().map(|(_, text)| *text).collect();
        match open.as_slice() {
            [only] if !texts.is_empty() => drop(given.insert(only.clone(), texts.join(" "))),
            [_] => {}
            several => given.extend(several.iter().cloned().zip(texts.iter().map(|text| (*text).to_owned()))),
        }
        given
    }

    /// `--name="` of the arguments that have no value, as far as they begin like this.
    fn names(&self, typed: &str) -> Vec<String> {
        let given = self.given();
        let open = self.declared.iter().filter(|argument| !given.contains_key(&argument.name));
        let names = open.map(|argument| format!("--{}=\"", argument.name));
        names.filter(|name| name.starts_with(typed)).collect()
    }

    fn named_value(&self, argument: &str, prefix: String, from: usize) -> ValueWanted {
        let mut given = self.given();
        given.remove(argument);
        ValueWanted { argument: argument.to_owned(), prefix, given, from, is_named: true }
    }

    /// The argument that a word here would be for.
    fn positional_value(&self, word: &str, at: usize) -> Option<ValueWanted> {
        let (named, words) = (self.named(), self.words());
        let open = open_names(self.declared, &named);
        let mut given = self.given();
        let wanted = |argument: &String, prefix: String, from: usize, given: BTreeMap<String, String>| ValueWanted {
            argument: argument.clone(),
            prefix,
            given,
            from,
            is_named: false,
        };
        match (open.as_slice(), words.first()) {
            ([only], Some((first, _))) => {
                // One argument gets all words. They can be replaced when nothing else stands among them.
                let is_alone = self.done.iter().filter(|piece| piece.at >= *first).count() == words.len();
                let texts: Vec<&str> = words.iter().map(|(_, text)| *text).chain([word]).collect();
                given.remove(only);
                is_alone.then(|| wanted(only, texts.join(" "), *first, given))
            }
            ([only], None) => Some(wanted(only, word.to_owned(), at.min(self.before.len()), given)),
            (several, _) => several.get(words.len()).map(|argument| wanted(argument, word.to_owned(), at, given)),
        }
    }
}

#[cfg(test)]
#[path = "slash_completion_tests.rs"]
mod tests;
