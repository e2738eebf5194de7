//! One line of a settings file, with a mark below the place where something is wrong.
//!
//! Such a line may hold a password, and what it means is not known when the file cannot be parsed. So only its shape is shown: keys,
//! punctuation, numbers, `true`, `false` and `null`; everything else is covered.

use crate::limits::EXCERPT_CHARS;
use crate::settings::position::Position;

const COVER: &str = "…";

/// The line and the mark, each on a line of its own.
pub(crate) fn excerpt(line_text: &str, at: Position) -> String {
    let pieces = pieces(line_text);
    let mut shown = String::new();
    let mut mark = None;
    let mut column = 1;
    for (index, piece) in pieces.iter().enumerate() {
        let end = column + piece.chars().count();
        if mark.is_none() && at.column < end {
            // Inside something that is covered the mark points at its start.
            let inside = if is_shown(&pieces, index) { at.column.saturating_sub(column) } else { 0 };
            mark = Some(shown.chars().count() + inside);
        }
        match (is_shown(&pieces, index), piece.starts_with('"')) {
            (true, _) => shown.extend(piece.chars().map(printable)),
            (false, true) if piece.len() > 1 && piece.ends_with('"') => shown.push_str("\"…\""),
            (false, true) => shown.push_str("\"…"),
            (false, false) => shown.push_str(COVER),
        }
        column = end;
    }
    let mark = mark.unwrap_or_else(|| shown.chars().count());
    let number = at.line.to_string();
    let (shown, mark) = window(&shown, mark);
    format!("{number} | {shown}\n{:width$} | {:mark$}^", "", "", width = number.len())
}

/// The part of a long line around the mark, and the mark in it.
fn window(line: &str, mark: usize) -> (String, usize) {
    let skipped = if line.chars().count() <= EXCERPT_CHARS { 0 } else { mark.saturating_sub(EXCERPT_CHARS / 2) };
    let part: String = line.chars().skip(skipped).take(EXCERPT_CHARS).collect();
    let ends_early = skipped + part.chars().count() < line.chars().count();
    let before = if skipped > 0 { COVER } else { "" };
    let after = if ends_early { COVER } else { "" };
    (format!("{before}{part}{after}"), mark - skipped + before.chars().count())
}

/// One character for one, so that the mark stays below its place.
fn printable(letter: char) -> char {
    if letter.is_whitespace() {
        ' '
    } else if letter.is_control() {
        '?'
    } else {
        letter
    }
}

/// A line cut into strings, words, comments, spaces and single marks.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") || rest.starts_with("/*") => rest.len(),
            _ if is_mark(first) => first.len_utf8(),
            _ if first.is_whitespace() => rest.find(|letter: char| !letter.is_whitespace()).unwrap_or(rest.len()),
            _ => {
                let ends_word = |letter: char| is_mark(letter) || letter.is_whitespace() || letter == '"';
                rest.find(ends_word).unwrap_or(rest.len())
            }
        };
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn is_mark(letter: char) -> bool {
    matches!(letter, '{' | '}' | '[' | ']' | ':' | ',')
}

/// The bytes of a string with its quotes, or of all that is left when it is not closed.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => (),
        }
    }
    text.len()
}

/// Whether a piece says nothing but the shape of the file.
fn is_shown(pieces: &[&str], index: usize) -> bool {
    let Some(piece) = pieces.get(index) else { return false };
    let is_shape = piece.chars().all(|letter| is_mark(letter) || letter.is_whitespace());
    let is_plain_value = matches!(*piece, "true" | "false" | "null") || piece.parse::<f64>().is_ok();
    let next = pieces.iter().skip(index + 1).find(|next| !next.trim().is_empty());
    is_shape || is_plain_value || next.is_some_and(|next| *next == ":")
}

#[cfg(test)]
mod tests {
    use super::excerpt;
    use crate::limits::EXCERPT_CHARS;
    use crate::settings::position::Position;

    fn check(line: &str, column: usize, expected: &str) {
        assert_eq!(excerpt(line, Position { line: 7, column }), expected);
    }

    #[test]
    fn the_shape_is_shown_and_values_are_covered() {
        check(r#"  "args": ["-y" "sesame"],"#, 16, "7 |   \"args\": [\"…\" \"…\"],\n  |               ^");
        check(
            r#"{"TOKEN": "sesame", "n": 12, "b": true,, }"#,
            40,
            "7 | {\"TOKEN\": \"…\", \"n\": 12, \"b\": true,, }\n  |                                   ^",
        );
        check(r#""TOKEN: "sesame""#, 10, "7 | \"…\"…\"…\n  |    ^");
        check("command: 'sesame' // sesame", 10, "7 | command: … …\n  |          ^");
        check(r#""a": "sesame"#, 6, "7 | \"a\": \"…\n  |      ^");
        check(r#""a": "se\"same", x"#, 18, "7 | \"a\": \"…\", …\n  |           ^");
        check("\t\"a\" 1", 6, "7 |  \"…\" 1\n  |      ^");
        check("\u{1b}[2J: \u{1b}", 1, "7 | …[2J: …\n  | ^");
        check("\"\u{1b}\": x", 1, "7 | \"?\": …\n  | ^");
        check("", 1, "7 | \n  | ^");
    }

    #[test]
    fn of_a_long_line_the_part_around_the_mark_is_shown() {
        let line = format!("{}?{}", "[1,".repeat(500), ",1]".repeat(500));
        let shown = excerpt(&line, Position { line: 1, column: 1501 });
        let (text, mark) = shown.split_once('\n').unwrap();
        assert_eq!(text.chars().count(), EXCERPT_CHARS + "1 | ……".chars().count());
        let place = mark.chars().count() - 1;
        assert_eq!(text.chars().nth(place), Some('…'), "{shown}");
        assert!(text.contains("[1,…,1]"), "{shown}");
    }
}
