//! Text in columns: how wide it is on a terminal, cut and filled up to a width, and tables that fit.

use std::borrow::Cow;

use comfy_table::{ContentArrangement, Table};
use toolgate::shape::visible;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Stands at the end of what was cut.
const CUT: char = '…';

/// Columns a table is given when the terminal says it has none, or fewer than anything could fit into.
const COLUMNS_MIN: usize = 20;

/// How many columns the text takes.
pub(crate) fn width(text: &str) -> usize {
    // Most texts are of letters that take one column each, and a listing has thousands of them.
    if visible::is_plain(text) { text.len() } else { text.width() }
}

/// The text, or as much of its start as fits.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return text.into();
    }
    let mut kept = String::new();
    let mut taken = 1; // The mark at the end.
    for letter in text.chars() {
        taken += letter.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        kept.push(letter);
    }
    if columns > 0 {
        kept.push(CUT);
    }
    kept.into()
}

/// A line, broken where the screen ends.
pub(crate) fn break_line(line: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut taken = 0;
    for letter in line.chars() {
        let width = letter.width().unwrap_or(0);
        if taken + width > columns {
            lines.push(String::new());
            taken = 0;
        }
        taken += width;
        if let Some(last) = lines.last_mut() {
            last.push(letter);
        }
    }
    lines
}

/// A text of a server on one line, and no more than its first characters: marks that take no column count, too.
pub(crate) fn short(text: &str, chars_max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(chars_max) else { return visible::line(text).into_owned() };
    let mut kept = visible::line(text.get(..end).unwrap_or_default()).into_owned();
    kept.push(CUT);
    kept
}

/// The text with blanks behind it, so that the next column starts where it should.
pub(crate) fn filled(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// The first sentence of the first line: what a person would say in a list.
pub(crate) fn summary(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    let ends = line.match_indices('.').map(|(at, _)| at + 1);
    // A dot inside a sentence, as in `e.g. this`, is followed by a small letter.
    let is_end = |at: &usize| {
        let behind = line.get(*at..).filter(|rest| rest.starts_with(' '));
        behind.is_some_and(|rest| !rest.trim_start().starts_with(char::is_lowercase))
    };
    let end = ends.into_iter().find(is_end).unwrap_or(line.len());
    line.get(..end).unwrap_or(line)
}

/// A table with a heading over each column, as lines that fit into `columns`. Cells of one column are broken over lines where they must be.
pub(crate) fn table(headings: &[&str], rows: Vec<Vec<String>>, columns: Option<usize>) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(headings.iter().copied());
    match columns {
        Some(columns) => {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(u16::try_from(columns.max(COLUMNS_MIN)).unwrap_or(u16::MAX));
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.add_rows(rows);
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{cut, filled, short, summary, table, width};

    #[test]
    fn texts_are_cut_and_filled_by_columns_not_by_letters() {
        let cases = [
            ("read_file", 20, "read_file", "read_file           |"),
            ("read_file", 6, "read_…", "read_… |"),
            ("工具工具", 8, "工具工具", "工具工具|"),
            ("工具工具", 6, "工具…", "工具… |"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…", "e\u{301}…|"),
            ("anything", 0, "", "|"),
        ];
        for (text, columns, expected, _) in cases {
            assert_eq!(cut(text, columns), expected, "{text} in {columns}");
            assert!(width(&cut(text, columns)) <= columns);
            assert_eq!(width(&filled(&cut(text, columns), columns)), columns, "{text} in {columns}");
        }
    }

    #[test]
    fn texts_of_servers_are_one_short_line() {
        let cases = [
            ("good", "good"),
            ("a\nb", "a\\nb"),
            ("abcde", "abcd…"),
            ("e\u{301}\u{301}\u{301}\u{301}", "e\u{301}\u{301}\u{301}…"),
        ];
        for (text, expected) in cases {
            assert_eq!(short(text, 4), expected, "{text:?}");
        }
    }

    #[test]
    fn a_summary_is_one_sentence() {
        let cases = [
            ("\n  Reads a file \n\nMore.", "Reads a file"),
            ("Reads a file. Or not. Who knows", "Reads a file."),
            ("Finds things, e.g. files. More.", "Finds things, e.g. files."),
            ("版本 1.2. 说明", "版本 1.2."),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(summary(text), expected, "{text:?}");
        }
    }

    #[test]
    fn tables_fit() {
        let rows = || {
            vec![
                vec![
                    "everything".to_owned(),
                    "connected".to_owned(),
                    "npx -y @scope/a-server-with-a-long-name".to_owned(),
                ],
                vec!["工具服务器".to_owned(), "failed".to_owned(), "http://127.0.0.1:1/mcp".to_owned()],
            ]
        };
        let headings = ["SERVER", "STATUS", "TARGET"];
        for columns in [1, 20, 40, 60, 200] {
            let lines = table(&headings, rows(), Some(columns));
            let widest = lines.iter().map(|line| width(line)).max().unwrap();
            assert!(widest <= columns.max(20), "{widest} columns instead of {columns}:\n{}", lines.join("\n"));
        }
        let wide = table(&headings, rows(), None);
        assert_eq!(
            wide,
            [
                "SERVER      STATUS     TARGET",
                "everything  connected  npx -y @scope/a-server-with-a-long-name",
                "工具服务器  failed     http://127.0.0.1:1/mcp",
            ]
        );
    }
}
