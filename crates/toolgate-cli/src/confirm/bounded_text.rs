//! Text of somebody else on a few lines of the screen. Long lines are broken, never cut at the edge: what stands at the end of one may be what
//! matters. What does not fit is left out of the middle, and that is said.

use toolgate::shape::visible;

use crate::columns::break_line;

/// Stands for a tab, which has no width of its own.
const TAB: &str = "    ";

/// The narrowest column that text is broken into.
const COLUMNS_MIN: usize = 10;

/// A text on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// Its lines, or those at its beginning.
    pub(super) head: Vec<String>,
    /// What is left out behind them, in words.
    pub(super) left_out: Option<String>,
    /// The lines behind that.
    pub(super) tail: Vec<String>,
}

/// The text, made visible, on at most `lines_max` lines of `columns` columns.
pub(super) fn bounded(text: &str, columns: usize, lines_max: usize) -> Shown {
    let (columns, lines_max) = (columns.max(COLUMNS_MIN), lines_max.max(1));
    // No more of a huge text is looked at than could be shown.
    let room = columns.saturating_mul(lines_max);
    let first = text.char_indices().nth(room).and_then(|(at, _)| text.get(..at));
    let Some(first) = first else {
        let lines = broken(text, columns);
        return Shown::of(lines, lines_max);
    };
    let last = text.char_indices().nth_back(room.saturating_sub(1)).and_then(|(at, _)| text.get(at..));
    let (mut head, tail) = (broken(first, columns), broken(last.unwrap_or_default(), columns));
    let (in_head, in_tail) = share(lines_max);
    head.truncate(in_head);
    let skipped = tail.len().saturating_sub(in_tail);
    let tail: Vec<String> = tail.into_iter().skip(skipped).collect();
    let left_out = Some(format!("… of {} characters the middle is left out …", text.chars().count()));
    Shown { head, left_out, tail }
}

impl Shown {
    fn of(mut lines: Vec<String>, lines_max: usize) -> Self {
        if lines.len() <= lines_max {
            return Self { head: lines, left_out: None, tail: Vec::new() };
        }
        let (in_head, in_tail) = share(lines_max);
        let tail = lines.split_off(lines.len() - in_tail);
        let skipped = lines.len() - in_head;
        lines.truncate(in_head);
        Self { head: lines, left_out: Some(format!("… {skipped} lines are left out …")), tail }
    }

    /// All lines, with the one that says what is left out marked.
    pub(super) fn lines(self, mark: impl Fn(&str) -> String) -> impl Iterator<Item = String> {
        let left_out = self.left_out.map(|words| mark(&words));
        self.head.into_iter().chain(left_out).chain(self.tail)
    }
}

/// How many lines of the beginning and of the end are shown, when one says what is between them.
const fn share(lines_max: usize) -> (usize, usize) {
    let tail = (lines_max - 1) / 3;
    (lines_max - 1 - tail, tail)
}

/// The lines of a text, each broken where the screen ends.
pub(super) fn broken(text: &str, columns: usize) -> Vec<String> {
    let text = visible::text(text);
    text.split('\n').flat_map(|line| break_line(&line.replace('\t', TAB), columns)).collect()
}

#[cfg(test)]
mod tests {
    use super::bounded;
    use crate::columns::width;

    fn shown(text: &str, columns: usize, lines_max: usize) -> Vec<String> {
        bounded(text, columns, lines_max).lines(ToOwned::to_owned).collect()
    }

    #[test]
    fn long_text_is_broken_and_left_out_in_the_middle() {
        let many: String = (1..=9).map(|number| format!("{number}\n")).collect();
        let cases: [(&str, usize, usize, &[&str]); 7] = [
            ("", 10, 5, &[""]),
            ("one\ttwo", 20, 5, &["one    two"]),
            ("0123456789abc", 10, 5, &["0123456789", "abc"]),
            ("工具工具工具", 10, 5, &["工具工具工", "具"]),
            ("a\u{1b}[2J\r\nb", 10, 5, &["a\\e[2J", "b"]),
            (many.trim_end(), 10, 9, &["1", "2", "3", "4", "5", "6", "7", "8", "9"]),
            (many.trim_end(), 10, 5, &["1", "2", "3", "… 5 lines are left out …", "9"]),
        ];
        for (text, columns, lines_max, expected) in cases {
            assert_eq!(shown(text, columns, lines_max), expected, "{text:?}");
        }
        assert_eq!(shown(&many, 10, 1), ["… of 18 characters the middle is left out …"]);
    }

    #[test]
    fn the_end_of_a_huge_text_is_seen() {
        let text = format!("ls {}; rm -rf /", " ".repeat(1_000_000));
        let lines = shown(&text, 40, 7);
        assert_eq!(lines.len(), 7);
        assert!(lines[0].starts_with("ls ") && lines[6].ends_with("; rm -rf /"), "{lines:?}");
        assert_eq!(lines[4], "… of 1000013 characters the middle is left out …");
        let wide = shown(&"\u{1b}".repeat(100_000), 40, 7);
        assert!(wide.len() == 7 && wide.iter().all(|line| width(line) <= 50), "{wide:?}");
    }
}
