//! Words that may not be plain data: an unknown program may run its arguments.
//!
//! This is the fallback for programs without rules of their own. A restriction also covers such words.

use super::data::DATA;
use super::git_acts;
use super::script::{SimpleCommand, Word};
use super::subcommands::SUBCOMMANDS;
use super::wrapper_options::WRAPPERS;
use super::wrappers::plain_name;
use crate::limits::SHELL_DOUBTS_MAX;

/// Stores the words of a command that may be run. `besides` are the words after the inner command of a known wrapper.
pub(super) fn note(command: &mut SimpleCommand, besides: Option<&[Word]>) {
    if command.runs_unseen {
        return;
    }
    let mut doubts = Doubts { found: Vec::new(), is_full: false };
    for assignment in &command.assignments {
        let value = assignment.split_once('=').map_or("", |(_, value)| value);
        doubts.text(value);
    }
    doubts.words(besides.unwrap_or_else(|| unknown_words(command)));
    if command.program() == Some("rm") && command.words.iter().any(could_match_flags) {
        doubts.push(Word::plain("rm", "rm"));
        doubts.push(Word { raw: "-*".to_owned(), literal: None, head: "-".to_owned(), may_split: true });
        doubts.end();
    }
    command.runs_unseen |= doubts.is_full;
    command.doubts = doubts.found;
}

/// The words of a command without known inner commands that may not be data.
fn unknown_words(command: &SimpleCommand) -> &[Word] {
    let Some((program, arguments)) = command.words.split_first() else { return &[] };
    let path = program.literal.as_deref().unwrap_or_default();
    // A program of that name in another folder may be any program.
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    if !FOLDERS.contains(&folder) || command.assignments.iter().any(|it| it.starts_with("PATH=")) {
        return arguments;
    }
    let name = plain_name(path);
    let name = name.as_str();
    if is_known(name) {
        return &[];
    }
    if name == "git" {
        return if git_acts::takes_data(arguments) { &[] } else { arguments };
    }
    let Some((_, subcommands)) = SUBCOMMANDS.iter().find(|(programs, _)| programs.contains(&name)) else {
        return arguments;
    };
    // In `docker rm x`, `rm` is a subcommand.
    match arguments.split_first() {
        Some((Word { literal: Some(first), .. }, _)) if subcommands.contains(&first.as_str()) => &[],
        _ => arguments,
    }
}

/// Whether a file name pattern matches a file that is named like an option, such as `-rf`.
fn could_match_flags(word: &Word) -> bool {
    word.literal.is_none() && word.raw.starts_with(['*', '?', '[']) && !word.raw.contains(['.', '/'])
}

/// System folders for programs. Empty when only the name is written.
const FOLDERS: [&str; 7] = ["", "/bin", "/opt/homebrew/bin", "/sbin", "/usr/bin", "/usr/local/bin", "/usr/sbin"];

/// Whether a program has subcommands, so that options may precede them.
pub(super) fn has_subcommands(program: &str) -> bool {
    SUBCOMMANDS.iter().any(|(programs, _)| programs.contains(&program))
}

/// Whether a program is known to run none of its words, or a known part of them.
pub(super) fn is_known(name: &str) -> bool {
    DATA.binary_search(&name).is_ok() || WRAPPERS.iter().any(|wrapper| wrapper.name == name)
}

struct Doubts {
    found: Vec<Word>,
    /// Whether there were more words than the limit.
    is_full: bool,
}

impl Doubts {
    fn push(&mut self, word: Word) {
        if self.found.len() < SHELL_DOUBTS_MAX { self.found.push(word) } else { self.is_full = true }
    }

    /// Adjacent words, with quotes as separators and with quotes removed.
    fn words(&mut self, words: &[Word]) {
        if words.is_empty() {
            return;
        }
        words.iter().for_each(|word| self.pieces(word.shown()));
        self.end();
        for word in words.iter().map(Word::shown).filter(|text| text.contains(QUOTES)) {
            self.unquoted(word);
        }
        // A value directly after its option letter: `-cnpm publish`.
        for word in words.iter().map(Word::shown) {
            let value = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
            if let Some(value) = value.filter(|value| value.len() > 1) {
                self.pieces(value);
                self.end();
            }
        }
    }

    /// A separate text.
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.pieces(text);
        self.end();
        if text.contains(QUOTES) {
            self.unquoted(text);
        }
    }

    fn unquoted(&mut self, text: &str) {
        self.pieces(&text.replace(QUOTES, ""));
        self.end();
    }

    /// Separates the words so far from those that follow.
    fn end(&mut self) {
        self.push(Word::plain("", ""));
    }

    fn pieces(&mut self, text: &str) {
        for piece in text.split(is_end).filter(|piece| !piece.is_empty()) {
            let word = match piece.split_once(['$', '*', '?']) {
                None => Word::plain(piece, piece),
                Some((head, _)) => {
                    Word { raw: piece.to_owned(), literal: None, head: head.to_owned(), may_split: piece.contains('$') }
                }
            };
            self.push(word);
        }
    }
}

const QUOTES: [char; 3] = ['\'', '"', '\\'];

/// Whether the character separates words in some language.
fn is_end(sign: char) -> bool {
    sign.is_whitespace() || "'\"`;|&()<>,{}[]=!:\\".contains(sign)
}
