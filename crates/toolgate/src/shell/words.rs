//! One word as a shell reads it: its quotes, its escapes, and what of it is only known when it runs.
//!
//! The grammar says where the word begins and ends and where something is expanded in it (the *holes*). The rest is read here, character by
//! character, so that a grammar that takes two words for one, or a quote for a letter, is found out.

use std::ops::Range;

use super::script::{Unreadable, Word, excerpt};

/// A word, read from `raw`; `holes` are the places in it that a shell expands, in order.
pub(super) fn word(raw: &str, holes: &[Range<usize>]) -> Result<Word, Unreadable> {
    let mut reader = Reader {
        raw,
        at: 0,
        holes,
        word: Word { raw: raw.to_owned(), literal: None, head: String::new(), may_split: false },
        text: String::new(),
        is_literal: true,
    };
    if raw.starts_with('#') {
        return Err(disagreement(raw));
    }
    reader.unquoted()?;
    let Reader { mut word, text, is_literal, .. } = reader;
    if is_literal {
        word.head.clone_from(&text);
        word.literal = Some(text);
    }
    Ok(word)
}

fn disagreement(raw: &str) -> Unreadable {
    let start = excerpt(raw);
    Unreadable::because(format!("`{start}` can be read in more than one way; quote it plainly"))
}

struct Reader<'a> {
    raw: &'a str,
    at: usize,
    holes: &'a [Range<usize>],
    word: Word,
    text: String,
    is_literal: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.raw.get(self.at..).unwrap_or_default()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn expected(&mut self) -> Result<char, Unreadable> {
        self.next().ok_or_else(|| disagreement(self.raw))
    }

    fn disagrees<T>(&self) -> Result<T, Unreadable> {
        Err(disagreement(self.raw))
    }

    fn not_literal(&mut self, may_split: bool) {
        if self.is_literal {
            self.word.head.clone_from(&self.text);
        }
        self.is_literal = false;
        self.word.may_split |= may_split;
    }

    /// Steps over a hole that begins here.
    fn hole(&mut self, may_split: bool) -> bool {
        let Some((first, others)) = self.holes.split_first() else { return false };
        if first.start != self.at {
            return false;
        }
        self.at = first.end;
        self.holes = others;
        self.not_literal(may_split);
        true
    }

    fn unquoted(&mut self) -> Result<(), Unreadable> {
        while self.at < self.raw.len() {
            if self.hole(true) {
                continue;
            }
            match self.expected()? {
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => match self.expected()? {
                    '\n' => {}
                    escaped => self.text.push(escaped),
                },
                '$' => self.dollar()?,
                '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => return self.disagrees(),
                space if space.is_whitespace() => return self.disagrees(),
                sign @ ('*' | '?') => {
                    self.not_literal(true);
                    self.text.push(sign);
                }
                '[' => {
                    if self.rest().contains(']') {
                        self.not_literal(true);
                    }
                    self.text.push('[');
                }
                '{' => {
                    let rest = self.rest();
                    if rest.contains('}') && (rest.contains(',') || rest.contains("..")) {
                        self.not_literal(true);
                    }
                    self.text.push('{');
                }
                '~' => {
                    // A home folder at the beginning, and behind `=` in what looks like an assignment.
                    let before = self.raw.get(..self.at - 1).unwrap_or_default();
                    if before.is_empty() || before.ends_with(['=', ':']) {
                        self.not_literal(false);
                    }
                    self.text.push('~');
                }
                other => self.text.push(other),
            }
        }
        if self.holes.is_empty() { Ok(()) } else { self.disagrees() }
    }

    fn single_quoted(&mut self) -> Result<(), Unreadable> {
        loop {
            match self.expected()? {
                '\'' => return Ok(()),
                other => self.text.push(other),
            }
        }
    }

    fn double_quoted(&mut self) -> Result<(), Unreadable> {
        loop {
            if self.hole(false) {
                continue;
            }
            match self.expected()? {
                '"' => return Ok(()),
                '`' => return self.disagrees(),
                '$' if expands(self.rest()) => return self.disagrees(),
                '\\' => match self.expected()? {
                    '\n' => {}
                    escaped @ ('$' | '`' | '"' | '\\') => self.text.push(escaped),
                    other => self.text.extend(['\\', other]),
                },
                other => self.text.push(other),
            }
        }
    }

    /// What follows a dollar sign that is no expansion.
    fn dollar(&mut self) -> Result<(), Unreadable> {
        // `$'…'` and `$"…"` are not the same in every shell.
        if self.rest().starts_with(['\'', '"']) || expands(self.rest()) {
            return self.disagrees();
        }
        self.text.push('$');
        Ok(())
    }
}

/// Whether a dollar sign before `rest` begins an expansion.
pub(super) fn expands(rest: &str) -> bool {
    rest.starts_with(|next: char| next.is_alphanumeric() || "_{([@*#?-$!".contains(next))
}

/// Whether a word sets a variable where assignments may stand.
pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}
