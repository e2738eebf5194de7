//! Tests of which lines are taken, and what is said about the rest.

use std::io::BufReader;

use super::{Excerpt, Range, image_type, not_text};
use crate::jobs::Cancel;
use crate::limits::READ_TEXT_BYTES_MAX;

fn read(text: &[u8], offset: u64, limit: u64) -> (Vec<u8>, u64, Vec<String>) {
    let range = Range { offset, limit };
    // Pieces of seven bytes, so that lines are spread over several.
    let excerpt = Excerpt::read(BufReader::with_capacity(7, text), range, &Cancel::default()).unwrap();
    let (total, notes) = (excerpt.total(), excerpt.notes(range));
    (excerpt.text, total, notes)
}

#[test]
fn lines_are_counted_from_zero_and_kept_as_they_are() {
    let all = "first\nsecond line\r\n\nlast";
    let cases: [(u64, u64, &str, &[&str]); 6] = [
        (0, 100, all, &[]),
        (0, 4, all, &[]),
        (0, 1, "first\n", &["lines 0 to 0 of 4", "offset 1"]),
        (1, 2, "second line\r\n\n", &["lines 1 to 2 of 4", "offset 3"]),
        (3, 1, "last", &["lines 3 to 3 of 4"]),
        (2, u64::MAX, "\nlast", &["lines 2 to 3 of 4"]),
    ];
    for (offset, limit, expected, notes) in cases {
        let (text, total, found) = read(all.as_bytes(), offset, limit);
        assert_eq!(String::from_utf8(text).unwrap(), expected, "{offset} {limit}");
        assert_eq!(total, 4);
        assert_eq!(found.len(), notes.len(), "{found:?}");
        assert!(found.iter().zip(notes).all(|(found, note)| found.contains(note)), "{found:?}");
    }
}

#[test]
fn the_number_of_lines_does_not_depend_on_the_last_line_end() {
    for (text, total) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\nb\n", 2), ("\n", 1)] {
        assert_eq!(read(text.as_bytes(), 0, 10).1, total, "{text:?}");
    }
}

#[test]
fn too_much_text_ends_with_a_whole_line() {
    let line = "x".repeat(1000) + "\n";
    let (text, total, notes) = read(line.repeat(400).as_bytes(), 10, 400);
    let shown = READ_TEXT_BYTES_MAX / line.len();
    assert_eq!(text.len(), shown * line.len());
    assert_eq!(total, 400);
    assert!(notes[0].contains(&format!("lines 10 to {} of 400", 10 + shown - 1)), "{notes:?}");
    assert!(notes[1].contains(&format!("offset {}", 10 + shown)), "{notes:?}");
}

#[test]
fn a_line_that_is_too_long_is_cut_and_passed() {
    let long = "ä".repeat(READ_TEXT_BYTES_MAX) + "\nnext\n";
    let (text, total, notes) = read(long.as_bytes(), 0, 10);
    assert_eq!((text.len(), total), (READ_TEXT_BYTES_MAX, 2));
    assert!(notes[1].contains("line 0 is cut") && notes[2].contains("offset 1"), "{notes:?}");
    assert_eq!(read(long.as_bytes(), 1, 10).0, b"next\n");
}

#[test]
fn images_and_binaries_are_told_by_how_they_begin() {
    let cases: [(&[u8], Option<&str>, bool); 12] = [
        (b"\x89PNG\r\n\x1a\n\0", Some("image/png"), true),
        (b"\xff\xd8\xff\xe0\0", Some("image/jpeg"), true),
        (b"GIF89a\0", Some("image/gif"), true),
        (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp"), true),
        (b"BM\x10\0\0\0\0\0\0\0\x36", Some("image/bmp"), true),
        (b"RIFF\0\0\0\0WAVEfmt ", None, true),
        (b"BMI is a number", None, false),
        (b"<svg xmlns=", None, false),
        (b"\x7fELF\x02\0", None, true),
        (b"\xff\xfeh\0i\0", None, true),
        (b"caf\xe9", None, false),
        (b"", None, false),
    ];
    for (start, image, is_binary) in cases {
        assert_eq!(image_type(start), image, "{start:?}");
        assert_eq!(not_text(start).is_some(), is_binary, "{start:?}");
    }
}
