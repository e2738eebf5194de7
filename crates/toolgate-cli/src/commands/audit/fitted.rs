//! Tables that are shortened to fit, never broken: one column gives way, and where that is not enough there is no table.

use crate::columns::{cut, table, width};

/// Blanks between two columns.
const GAP: usize = 2;

/// The fewest columns that still say something.
const LEAST: usize = 8;

/// A table with `giving_way` cut to what is left beside the others; `None` when that is too little.
pub(super) fn fitted(
    headings: &[&str],
    mut rows: Vec<Vec<String>>,
    giving_way: usize,
    columns: Option<usize>,
) -> Option<Vec<String>> {
    if let Some(columns) = columns {
        let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or(0);
        let width_of = |(at, heading): (usize, &&str)| widest(at).max(width(heading));
        let others: usize = headings.iter().enumerate().filter(|(at, _)| *at != giving_way).map(width_of).sum();
        let gaps = headings.len().saturating_sub(1) * GAP;
        let left = columns.saturating_sub(others + gaps);
        if left < widest(giving_way).min(LEAST) {
            return None;
        }
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(giving_way)) {
            *cell = cut(cell, left).into_owned();
        }
    }
    Some(table(headings, rows, None))
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn only_one_column_gives_way() {
        let rows =
            || vec![vec!["files".to_owned(), "a long explanation".to_owned()], vec!["x".to_owned(), String::new()]];
        let cases = [
            (None, Some("SERVER  ABOUT\nfiles   a long explanation\nx")),
            (Some(40), Some("SERVER  ABOUT\nfiles   a long explanation\nx")),
            (Some(20), Some("SERVER  ABOUT\nfiles   a long expl…\nx")),
            (Some(15), None),
        ];
        for (columns, expected) in cases {
            let lines = fitted(&["SERVER", "ABOUT"], rows(), 1, columns).map(|lines| lines.join("\n"));
            assert_eq!(lines.as_deref(), expected, "{columns:?}");
        }
    }
}
