//! Looking into a result without taking all of it: a slice, some lines, the places of a text. Pure.

use std::ops::Range;

use crate::limits::{RESULT_LINE_CHARS_MAX, RESULT_MATCH_CHARS_MAX, RESULT_SLICE_BYTES_MAX};

/// Bytes of the longest character; so many before and after a slice tell whether it cuts one in two.
pub(super) const CHAR_BYTES: usize = 4;

/// A part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultSlice {
    /// What is there.
    pub content: SliceContent,
    /// Where it begins, in bytes. Inside of a character that was asked for, it is where the character begins.
    pub offset: u64,
    /// Where to read on; nothing when this is the end.
    pub next: Option<u64>,
    /// How large the whole result is.
    pub total: u64,
}

/// What is in a part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SliceContent {
    /// Text, of whole characters.
    Text(String),
    /// Something that is no text.
    Bytes(Vec<u8>),
}

/// Some lines of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultLines {
    /// The lines, in order.
    pub lines: Vec<NumberedLine>,
    /// The line to read on with; nothing when this is the end.
    pub next: Option<usize>,
    /// How many lines the whole result has.
    pub total: usize,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedLine {
    /// Which one; the first is 1.
    pub number: usize,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// What it says, without its end.
    pub text: String,
    /// How many characters of it are left out here.
    pub omitted: usize,
}

/// The places of a text in a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultMatches {
    /// The first of them, in order.
    pub matches: Vec<ResultMatch>,
    /// How many there are in all.
    pub total: usize,
}

/// One place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultMatch {
    /// The line it begins in; the first is 1.
    pub line: usize,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// It, with what stands around it in its line.
    pub excerpt: String,
}

/// A part of `window`, which begins at `start` of the whole and has some bytes more at both ends where there are any.
pub(super) fn slice(window: &[u8], start: u64, asked: Range<u64>, total: u64) -> ResultSlice {
    let place = |offset: u64| usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX).min(window.len());
    let plain = place(asked.start)..place(asked.end);
    let whole = on_borders(window, plain.clone());
    let text = window.get(whole.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let (range, content) = match text {
        Some(text) => (whole, SliceContent::Text(text.to_owned())),
        None => (plain.clone(), SliceContent::Bytes(window.get(plain).unwrap_or_default().to_vec())),
    };
    let offset = |place: usize| start.saturating_add(u64::try_from(place).unwrap_or(u64::MAX));
    let end = offset(range.end);
    ResultSlice { content, offset: offset(range.start), next: (end < total).then_some(end), total }
}

/// The range moved back to where characters begin; at least one character long where there is one.
fn on_borders(window: &[u8], range: Range<usize>) -> Range<usize> {
    let continues = |at: usize| window.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    let begin_of = |at: usize| (at.saturating_sub(CHAR_BYTES - 1)..=at).rev().find(|at| !continues(*at)).unwrap_or(at);
    let (start, end) = (begin_of(range.start), begin_of(range.end));
    if end > start || range.is_empty() {
        return start..end.max(start);
    }
    let next = (start + 1..start + CHAR_BYTES).find(|at| !continues(*at)).unwrap_or(start + CHAR_BYTES);
    start..next.min(window.len())
}

/// Some lines of a text; `from` counts from 1.
pub(super) fn lines(text: &str, from: usize, count: usize) -> ResultLines {
    let mut found = ResultLines { lines: Vec::new(), next: None, total: 0 };
    let mut room = RESULT_SLICE_BYTES_MAX;
    let mut offset = 0_u64;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        found.total = number;
        if number >= from && found.next.is_none() {
            let (shown, omitted) = shortened(line.strip_suffix('\n').unwrap_or(line));
            let fits = shown.len() <= room;
            if found.lines.len() < count && fits {
                room -= shown.len();
                found.lines.push(NumberedLine { number, offset, text: shown.to_owned(), omitted });
            } else {
                found.next = Some(number);
            }
        }
        offset = offset.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
    }
    found
}

fn shortened(line: &str) -> (&str, usize) {
    match line.char_indices().nth(RESULT_LINE_CHARS_MAX).and_then(|(at, _)| line.split_at_checked(at)) {
        Some((shown, rest)) => (shown, rest.chars().count()),
        None => (line, 0),
    }
}

/// The first `most` places of `needle`, and how many there are. Places do not overlap.
pub(super) fn find(text: &str, needle: &str, most: usize) -> ResultMatches {
    let mut found = ResultMatches { matches: Vec::new(), total: 0 };
    if needle.is_empty() {
        return found;
    }
    let (mut line, mut counted) = (1, 0);
    for (at, _) in text.match_indices(needle) {
        found.total += 1;
        if found.matches.len() < most {
            line += text.get(counted..at).unwrap_or_default().matches('\n').count();
            counted = at;
            let offset = u64::try_from(at).unwrap_or(u64::MAX);
            found.matches.push(ResultMatch { line, offset, excerpt: excerpt(text, at..at + needle.len()) });
        }
    }
    found
}

/// What stands at a place, with a little of its line before and after it.
fn excerpt(text: &str, place: Range<usize>) -> String {
    let before = text.get(..place.start).unwrap_or_default();
    let before = before.char_indices().rev().take(RESULT_MATCH_CHARS_MAX).take_while(|(_, letter)| *letter != '\n');
    let start = before.last().map_or(place.start, |(at, _)| at);
    let after = text.get(place.end..).unwrap_or_default();
    let mut after = after.char_indices().take(RESULT_MATCH_CHARS_MAX).take_while(|(_, letter)| *letter != '\n');
    let length = after.by_ref().last().map_or(0, |(at, letter)| at + letter.len_utf8());
    text.get(start..place.end + length).unwrap_or_default().to_owned()
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
