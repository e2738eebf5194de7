//! Slices on the borders of characters, lines with their numbers, places of a text.

use super::{NumberedLine, ResultLines, ResultMatch, ResultMatches, ResultSlice, SliceContent, find, lines, slice};
use crate::limits::{RESULT_LINE_CHARS_MAX, RESULT_MATCH_CHARS_MAX, RESULT_SLICE_BYTES_MAX};

/// The slice of a whole content that is at hand.
fn of(whole: &[u8], offset: u64, limit: u64) -> ResultSlice {
    let total = u64::try_from(whole.len()).unwrap();
    slice(whole, 0, offset.min(total)..(offset + limit).min(total), total)
}

fn text(text: &str) -> SliceContent {
    SliceContent::Text(text.to_owned())
}

#[test]
fn a_slice_of_text_has_whole_characters() {
    // "aß漢👍z": a at 0, ß at 1, 漢 at 3, 👍 at 6, z at 10.
    let whole = "aß漢👍z".as_bytes();
    let cases = [
        (0, 11, "aß漢👍z", 0, None),
        (0, 1, "a", 0, Some(1)),
        (0, 2, "a", 0, Some(1)),
        (0, 3, "aß", 0, Some(3)),
        (1, 1, "ß", 1, Some(3)),
        (2, 1, "ß", 1, Some(3)),
        (2, 2, "ß", 1, Some(3)),
        (4, 2, "漢", 3, Some(6)),
        (5, 3, "漢", 3, Some(6)),
        (6, 1, "👍", 6, Some(10)),
        (9, 1, "👍", 6, Some(10)),
        (9, 2, "👍z", 6, None),
        (10, 1, "z", 10, None),
        (11, 5, "", 11, None),
        (99, 5, "", 11, None),
    ];
    for (offset, limit, expected, begins, next) in cases {
        let expected = ResultSlice { content: text(expected), offset: begins, next, total: 11 };
        assert_eq!(of(whole, offset, limit), expected, "{limit} bytes from {offset}");
    }
}

#[test]
fn reading_on_gives_everything_once() {
    let whole = "aß漢👍z\u{301}\n".repeat(20);
    for limit in 1..50 {
        let (mut read, mut offset) = (String::new(), 0);
        loop {
            let slice = of(whole.as_bytes(), offset, limit);
            let SliceContent::Text(text) = slice.content else { panic!("not text") };
            read.push_str(&text);
            match slice.next {
                Some(next) => offset = next,
                None => break,
            }
        }
        assert_eq!(read, whole, "{limit} bytes at a time");
    }
}

#[test]
fn what_is_no_text_comes_as_it_is() {
    type Case<'a> = (&'a [u8], u64, u64, &'a [u8], Option<u64>);
    let cases: [Case<'_>; 6] = [
        (&[0xff, 0xfe, 0xfd], 0, 2, &[0xff, 0xfe], Some(2)),
        (&[0x80; 10], 5, 2, &[0x80; 2], Some(7)),
        (&[0x80; 10], 9, 7, &[0x80], None),
        (b"a\xe6\xbc", 0, 3, b"a\xe6\xbc", None),
        (b"a\xffb", 1, 1, b"\xff", Some(2)),
        (&[0xf0, 0x80, 0x80, 0x80, 0x80], 4, 1, &[0x80], None),
    ];
    for (whole, offset, limit, expected, next) in cases {
        let found = of(whole, offset, limit);
        assert_eq!((found.content, found.next), (SliceContent::Bytes(expected.to_vec()), next), "{whole:x?}");
    }
}

#[test]
fn lines_are_numbered_from_one() {
    let line =
        |number: usize, offset: u64, text: &str| NumberedLine { number, offset, text: text.to_owned(), omitted: 0 };
    let (a, b, c) = (line(1, 0, "a"), line(2, 2, ""), line(3, 3, "c\r"));
    let three = "a\n\nc\r\n";
    let cases = [
        ("", 1, 9, vec![], None, 0),
        ("a", 1, 9, vec![a.clone()], None, 1),
        (three, 1, 9, vec![a.clone(), b.clone(), c.clone()], None, 3),
        (three, 0, 1, vec![a], Some(2), 3),
        (three, 2, 1, vec![b], Some(3), 3),
        (three, 3, 1, vec![c], None, 3),
        (three, 4, 1, vec![], None, 3),
        (three, usize::MAX, 1, vec![], None, 3),
    ];
    for (text, from, count, expected, next, total) in cases {
        let expected = ResultLines { lines: expected, next, total };
        assert_eq!(lines(text, from, count), expected, "{count} from {from} of {text:?}");
    }
}

#[test]
fn long_lines_are_cut_and_too_many_are_left_for_later() {
    let long = "ä".repeat(RESULT_LINE_CHARS_MAX + 7);
    let found = lines(&long, 1, 1);
    assert_eq!((found.lines[0].text.chars().count(), found.lines[0].omitted), (RESULT_LINE_CHARS_MAX, 7));
    let many = format!("{}\n", "x".repeat(1_000)).repeat(1_000);
    let found = lines(&many, 1, 1_000);
    let fit = RESULT_SLICE_BYTES_MAX / 1_000;
    assert_eq!((found.lines.len(), found.next, found.total), (fit, Some(fit + 1), 1_000));
}

#[test]
fn a_text_is_found_with_its_line_and_place() {
    let found = |line: usize, offset: u64, excerpt: &str| ResultMatch { line, offset, excerpt: excerpt.to_owned() };
    let text = "one two\nTwo two\n\nlast: ßtwo";
    let two = [found(1, 4, "one two"), found(2, 12, "Two two"), found(4, 25, "last: ßtwo")];
    let cases = [
        ("two", 9, two.to_vec(), 3),
        ("two", 2, two[..2].to_vec(), 3),
        ("two\nTwo", 9, vec![found(1, 4, "one two\nTwo two")], 1),
        ("\n", 9, vec![found(1, 7, "one two\nTwo two"), found(2, 15, "Two two\n"), found(3, 16, "\nlast: ßtwo")], 3),
        ("none", 9, vec![], 0),
        ("TWO", 9, vec![], 0),
        ("", 9, vec![], 0),
        (text, 9, vec![found(1, 0, text)], 1),
    ];
    for (needle, most, matches, total) in cases {
        assert_eq!(find(text, needle, most), ResultMatches { matches, total }, "{needle:?}");
    }
    assert_eq!(find("aaaaa", "aa", 9).total, 2, "places do not overlap");
}

#[test]
fn an_excerpt_is_short_however_long_its_line_is() {
    let around = "ä".repeat(100_000);
    let found = find(&format!("{around}X{around}"), "X", 9);
    let side = "ä".repeat(RESULT_MATCH_CHARS_MAX);
    assert_eq!(found.matches, [ResultMatch { line: 1, offset: 200_000, excerpt: format!("{side}X{side}") }]);
}
