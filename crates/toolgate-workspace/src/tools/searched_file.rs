//! A file as input of a search: read in small pieces, without the end of lines that are too long, and stopped when the
//! call is cancelled.
//!
//! The time of a search grows with the size of the pattern times the length of a line, and nothing stops it within one piece. So
//! pieces are small and lines have a bound.

use std::io::{self, Read};
use std::time::Instant;

use crate::jobs::Cancel;

/// Byte order marks of UTF-16, which the searcher decodes.
const WIDE_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Limits of a search in one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    /// Longest line that is searched to its end.
    pub(super) line_bytes: usize,
    /// Bytes searched between two checks for cancellation.
    pub(super) piece_bytes: usize,
    /// The deadline of the search.
    pub(super) until: Instant,
}

/// The file, as the searcher reads it.
#[derive(Debug)]
pub(super) struct SearchedFile<'a, R> {
    file: R,
    measure: Measure,
    cancel: &'a Cancel,
    /// Bytes of the current line so far.
    line: usize,
    has_begun: bool,
    is_wide: bool,
    /// Whether the end of a line was dropped.
    pub(super) is_cut: bool,
}

impl<'a, R: Read> SearchedFile<'a, R> {
    pub(super) const fn new(file: R, measure: Measure, cancel: &'a Cancel) -> Self {
        Self { file, measure, cancel, line: 0, has_begun: false, is_wide: false, is_cut: false }
    }

    /// Moves the bytes to search to the front. Returns their number.
    fn keep(&mut self, bytes: &mut [u8]) -> usize {
        let (mut from, mut to) = (0, 0);
        while let Some(rest) = bytes.get(from..).filter(|rest| !rest.is_empty()) {
            let end = memchr::memchr(b'\n', rest);
            let text = end.unwrap_or(rest.len());
            let kept = text.min(self.measure.line_bytes.saturating_sub(self.line));
            bytes.copy_within(from..from + kept, to);
            self.is_cut |= kept < text;
            self.line += kept;
            to += kept;
            from += text;
            if end.is_some() {
                bytes.copy_within(from..=from, to);
                (from, to, self.line) = (from + 1, to + 1, 0);
            }
        }
        to
    }
}

impl<R: Read> Read for SearchedFile<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = buffer.len().min(self.measure.piece_bytes);
        let Some(buffer) = buffer.get_mut(..room) else { return Ok(0) };
        loop {
            if self.cancel.is_cancelled() || Instant::now() >= self.measure.until {
                return Err(io::Error::other("the search has ended"));
            }
            let count = self.file.read(buffer)?;
            let Some(bytes) = buffer.get_mut(..count).filter(|bytes| !bytes.is_empty()) else { return Ok(0) };
            if !std::mem::replace(&mut self.has_begun, true) {
                self.is_wide = WIDE_MARKS.iter().any(|mark| bytes.starts_with(mark));
            }
            let kept = self.keep(bytes);
            if self.is_wide && self.is_cut {
                return Err(io::Error::other("a line is too long")); // Behind a cut its letters would be others.
            }
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::time::{Duration, Instant};

    use super::{Measure, SearchedFile};
    use crate::jobs::Cancel;

    fn searched(text: &[u8], piece_bytes: usize, until: Instant) -> (std::io::Result<Vec<u8>>, bool) {
        let cancel = Cancel::default();
        let mut file = SearchedFile::new(text, Measure { line_bytes: 4, piece_bytes, until }, &cancel);
        let mut bytes = Vec::new();
        let read = file.read_to_end(&mut bytes).map(|_| bytes);
        (read, file.is_cut)
    }

    #[test]
    fn lines_end_where_they_are_too_long() {
        let later = Instant::now() + Duration::from_secs(600);
        let cases = [
            ("", "", false),
            ("\n\n", "\n\n", false),
            ("abcd\nabcd", "abcd\nabcd", false),
            ("abcde\nx\n", "abcd\nx\n", true),
            ("x\nabcdefghij", "x\nabcd", true),
            ("abcdefghijklm\r\nab", "abcd\nab", true),
        ];
        for (given, expected, is_cut) in cases {
            for piece in 1..given.len().max(2) {
                let (read, cut) = searched(given.as_bytes(), piece, later);
                assert_eq!((String::from_utf8(read.unwrap()).unwrap().as_str(), cut), (expected, is_cut), "{given:?}");
            }
        }
        assert!(searched(b"\xff\xfea\0b\0c\0\n\0", 64, later).0.is_err(), "two bytes a letter are not cut");
        assert!(searched(b"abc", 64, Instant::now()).0.is_err(), "its time is over");
    }
}
