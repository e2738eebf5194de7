//! Places in a text: a line and a column for every value, found without reading the text again for each.

use std::cell::Cell;

/// A place in a file, both counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

/// A value and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub at: Position,
}

impl<T> Located<T> {
    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Located<U> {
        Located { value: change(self.value), at: self.at }
    }
}

/// Finds the places of byte offsets in one text.
///
/// Offsets are mostly asked for in rising order. The last answer is remembered, so that a file that is one long line is not counted from
/// its start for every value.
#[derive(Debug)]
pub(crate) struct Places<'t> {
    text: &'t str,
    line_starts: Vec<usize>,
    last: Cell<(usize, Position)>,
}

impl<'t> Places<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(index, _)| index + 1);
        let line_starts = std::iter::once(0).chain(after_breaks).collect();
        Self { text, line_starts, last: Cell::new((0, Position { line: 1, column: 1 })) }
    }

    /// Where a byte offset is. One past the end is the end.
    pub(crate) fn at(&self, offset: usize) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let line_start = line.checked_sub(1).and_then(|index| self.line_starts.get(index)).copied().unwrap_or(0);
        let (last_offset, last) = self.last.get();
        let chars = |range: std::ops::Range<usize>| self.text.get(range).map_or(0, |text| text.chars().count());
        let column = if last.line != line {
            1 + chars(line_start..offset)
        } else if last_offset <= offset {
            last.column + chars(last_offset..offset)
        } else if last_offset - offset < offset - line_start {
            // A little back: a key is asked for after its value.
            last.column.saturating_sub(chars(offset..last_offset))
        } else {
            1 + chars(line_start..offset)
        };
        let position = Position { line, column };
        self.last.set((offset, position));
        position
    }

    /// The text of a line, without its end.
    pub(crate) fn line_text(&self, line: usize) -> &'t str {
        let start = line.checked_sub(1).and_then(|index| self.line_starts.get(index)).copied();
        let rest = start.and_then(|start| self.text.get(start..)).unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Places, Position};

    #[test]
    fn offsets_become_lines_and_columns_in_any_order() {
        let text = "{\n  \"é漢\": 1,\r\n\n}";
        let places = Places::new(text);
        let of = |what: &str| text.find(what).unwrap();
        let cases = [
            (0, (1, 1)),
            (of("\"é"), (2, 3)),
            (of("1,"), (2, 9)),
            (of("}"), (4, 1)),
            (of("漢"), (2, 5)),
            (of("\"é"), (2, 3)),
            (text.len(), (4, 2)),
        ];
        for (offset, (line, column)) in cases {
            assert_eq!(places.at(offset), Position { line, column }, "offset {offset}");
        }
        assert_eq!(places.line_text(2), "  \"é漢\": 1,");
        assert_eq!(places.line_text(9), "");
    }

    #[test]
    fn one_long_line_is_not_counted_again_and_again() {
        let text = "x".repeat(4_000_000);
        let places = Places::new(&text);
        // Counted from the start each time, this would be ten thousand million characters.
        for offset in (400..text.len()).step_by(800) {
            assert_eq!(places.at(offset).column, offset + 1);
            assert_eq!(places.at(offset - 400).column, offset - 399, "a little back");
        }
    }
}
