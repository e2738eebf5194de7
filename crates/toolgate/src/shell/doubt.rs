//! Words of which it cannot be told that they are plain data: what a program is given that is not known may be run by it.
//!
//! This is the net below everything else that is known of programs. A restriction whose words stand there may be meant.

use super::data::{DATA, SUBCOMMANDS};
use super::git_acts;
use super::script::{SimpleCommand, Word};
use super::wrapper_options::WRAPPERS;
use super::wrappers::plain_name;
use crate::limits::SHELL_DOUBTS_MAX;

/// Keeps the words of a command that may be run. `besides` are those behind what a wrapper runs, when it is one that is understood.
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

/// The words of a command that runs nothing that is known, as far as they are no data.
fn unknown_words(command: &SimpleCommand) -> &[Word] {
    let Some((program, arguments)) = command.words.split_first() else { return &[] };
    let path = program.literal.as_deref().unwrap_or_default();
    // A program of that name from another folder may be any.
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
    // A name such as `rm` in `docker rm x` is one of its own.
    match arguments.split_first() {
        Some((Word { literal: Some(first), .. }, _)) if subcommands.contains(&first.as_str()) => &[],
        _ if subcommands.is_empty() => &[],
        _ => arguments,
    }
}

/// Whether a pattern of file names fits a file that is called like flags, such as `-rf`.
fn could_match_flags(word: &Word) -> bool {
    word.literal.is_none() && word.raw.starts_with(['*', '?', '[']) && !word.raw.contains(['.', '/'])
}

/// Folders of programs that a system brings; none where the name alone is written.
const FOLDERS: [&str; 7] = ["", "/bin", "/opt/homebrew/bin", "/sbin", "/usr/bin", "/usr/local/bin", "/usr/sbin"];

/// Whether a program is one with subcommands, so that options may stand before these.
pub(super) fn has_subcommands(program: &str) -> bool {
    SUBCOMMANDS.iter().any(|(programs, _)| programs.contains(&program))
}

/// Whether a program of this name is known to run nothing of its words, or what of them it runs.
pub(super) fn is_known(name: &str) -> bool {
    DATA.binary_search(&name).is_ok() || WRAPPERS.iter().any(|wrapper| wrapper.name == name)
}

struct Doubts {
    found: Vec<Word>,
    /// Whether there were more words than are looked at.
    is_full: bool,
}

impl Doubts {
    fn push(&mut self, word: Word) {
        if self.found.len() < SHELL_DOUBTS_MAX { self.found.push(word) } else { self.is_full = true }
    }

    /// Words beside one another: what stands in them, with quotes as the ends of words and with quotes left out.
    fn words(&mut self, words: &[Word]) {
        if words.is_empty() {
            return;
        }
        words.iter().for_each(|word| self.pieces(word.shown()));
        self.end();
        for word in words.iter().map(Word::shown).filter(|text| text.contains(QUOTES)) {
            self.unquoted(word);
        }
        // A value behind the letter of its option: `-cnpm publish`.
        for word in words.iter().map(Word::shown) {
            let value = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
            if let Some(value) = value.filter(|value| value.len() > 1) {
                self.pieces(value);
                self.end();
            }
        }
    }

    /// A text on its own.
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

/// Whether this character separates words in one language or another.
fn is_end(sign: char) -> bool {
    sign.is_whitespace() || "'\"`;|&()<>,{}[]=!:\\".contains(sign)
}
