//! A shell command, taken apart.

use thiserror::Error;

use super::doubt;
use super::git;
use super::reading;
use crate::limits::EXCERPT_CHARS_MAX;

/// A shell command, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Every simple command anywhere in it, in the order of the text; what a wrapper runs follows the wrapper. Never empty.
    pub commands: Vec<SimpleCommand>,
}

/// One simple command: a program and its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// As it is written, with the assignments before it, without redirections. Never empty.
    pub text: String,
    /// The assignments that hold for it, as they are written: before it, and before or in the wrappers around it.
    pub assignments: Vec<String>,
    /// The program and its arguments. Empty when it only assigns variables or only opens files: `PATH=/tmp`, `> file`.
    pub words: Vec<Word>,
    /// Whether its input or output is redirected, by itself or by what stands around it.
    pub is_redirected: bool,
    /// Whether it runs another command.
    pub wrapping: Wrapping,
    /// Whether its purpose is to run commands that its words do not tell: `sh file`, `. file`, `… | sh`. Then it could be any command to a
    /// restriction.
    pub runs_unseen: bool,
    /// Words that may not be plain data, split further. The program may run them.
    pub(super) doubts: Vec<Word>,
}

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// As it is written. Empty for words that a wrapper adds by itself, such as those that `xargs` reads.
    pub raw: String,
    /// What the command receives, when that does not depend on anything.
    pub literal: Option<String>,
    /// What it certainly begins with; all of it when it is literal.
    pub(super) head: String,
    /// Whether it may become several words, or none.
    pub(super) may_split: bool,
}

/// Whether a command runs another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapping {
    /// It does not, as far as we know.
    Nothing,
    /// It does nothing by itself, so that what it runs decides: `timeout 5 …`, `bash -c '…'`.
    Transparent,
    /// It runs another command and is something by itself: `sudo …`, `xargs …`.
    Opaque,
}

/// A text whose commands cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{why}")]
pub struct Unreadable {
    /// Why not.
    pub why: String,
}

impl Unreadable {
    pub(super) fn because(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl Word {
    /// A word that is what it says.
    pub(super) fn plain(raw: &str, literal: &str) -> Self {
        Self { raw: raw.to_owned(), literal: Some(literal.to_owned()), head: literal.to_owned(), may_split: false }
    }

    /// Words that are only known when the command runs: any number of them.
    pub(super) fn unknown(raw: &str) -> Self {
        Self { raw: raw.to_owned(), literal: None, head: String::new(), may_split: true }
    }

    /// Whether the word is this option, or may expand to it.
    pub(super) fn could_be_option(&self, option: &str) -> bool {
        match &self.literal {
            Some(literal) => literal == option,
            None => option.starts_with(&self.head) && !self.names_files() && !self.is_path(),
        }
    }

    /// Whether the word may expand to anything, such as an unquoted variable.
    pub(super) fn may_be_any(&self) -> bool {
        self.literal.is_none() && self.head.is_empty() && self.may_split && !self.names_files()
    }

    /// Whether the word begins with a file name pattern or a home folder.
    pub(super) fn names_files(&self) -> bool {
        self.literal.is_none() && self.raw.starts_with(['*', '?', '[', '~'])
    }

    /// Whether it is one word with a slash, and so not an option: `"$folder/src"`.
    fn is_path(&self) -> bool {
        let after_slash = self.raw.rsplit_once('/').map(|(_, name)| name);
        !self.may_split && after_slash.is_some_and(|name| !name.contains(['}', ')', '`']))
    }

    /// What the command receives, or what is written where that is not known.
    pub(super) fn shown(&self) -> &str {
        self.literal.as_deref().unwrap_or(&self.raw)
    }
}

impl SimpleCommand {
    /// As it is written, for comparisons that permit.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.text
    }

    /// As it is meant, for comparisons that restrict: the program without its folder, every word without its quotes, one space between words,
    /// no assignments.
    #[must_use]
    pub fn normalised(&self) -> String {
        let mut words = self.words.iter().map(Word::shown).filter(|word| !word.is_empty());
        let Some(program) = words.next() else { return self.text.clone() };
        words.fold(program_name(program).to_owned(), |text, word| text + " " + word)
    }

    /// All forms that a restriction compares: the command itself, and for programs with subcommands also without the options before them.
    #[must_use]
    pub fn readings(&self) -> Vec<String> {
        let mut readings = vec![self.normalised()];
        if self.is_git() {
            let arguments = self.words.get(1..).unwrap_or_default();
            for rest in git::subcommands(arguments).into_iter().filter(|rest| rest.len() < arguments.len()) {
                let words = rest.iter().map(Word::shown).filter(|word| !word.is_empty());
                readings.push(words.fold("git".to_owned(), |text, word| text + " " + word));
            }
        }
        readings.extend(self.without_options());
        readings
    }

    /// `npm --silent publish` as `npm publish`: without leading options and their possible values.
    fn without_options(&self) -> Vec<String> {
        let Some((program, arguments)) = self.program().zip(self.words.get(1..)) else { return Vec::new() };
        let is_option = |word: &&Word| word.head.starts_with(['-', '+']);
        if !arguments.first().is_some_and(|word| is_option(&word)) || !doubt::has_subcommands(program) {
            return Vec::new();
        }
        let bare = arguments.iter().skip_while(|word| is_option(word));
        let mut rest = arguments;
        while let Some((option, others)) = rest.split_first().filter(|(word, _)| is_option(word)) {
            let has_value = !option.head.contains('=') && others.first().is_some_and(|value| !is_option(&value));
            rest = others.get(usize::from(has_value)..).unwrap_or_default();
        }
        let reading =
            |words: Vec<&Word>| words.into_iter().fold(program.to_owned(), |text, word| text + " " + word.shown());
        vec![reading(bare.collect()), reading(rest.iter().collect())]
    }

    /// Whether the command may run more than its words show.
    #[must_use]
    pub fn may_run_more(&self) -> bool {
        self.runs_unseen || !self.doubts.is_empty()
    }

    /// Marks the command as running only what its words show.
    pub fn forget_more(&mut self) {
        self.runs_unseen = false;
        self.doubts.clear();
    }

    /// The name of the program without its folder; `None` when it runs none.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(|word| word.literal.as_deref()).map(program_name)
    }
}

/// The beginning of a text, for an error.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS_MAX).collect()
}

/// The name of a program without its folder and without the ending that Windows does not need.
pub(super) fn program_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, ending))
            if !stem.is_empty()
                && ["exe", "cmd", "bat", "com"].iter().any(|known| ending.eq_ignore_ascii_case(known)) =>
        {
            stem
        }
        _ => name,
    }
}

/// Takes a command apart.
///
/// # Errors
/// When the text is no shell command, or runs something that its text does not tell.
pub fn read(text: &str) -> Result<Script, Unreadable> {
    let commands = reading::commands(text)?;
    Ok(Script { commands })
}
