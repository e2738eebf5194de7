//! What a call would change in a file, as a unified diff.

use std::time::Duration;

use ::similar::{ChangeTag, TextDiff};
use toolgate::call::{Before, Edit};

use super::bounded_text::bounded;
use super::question_text::Look;
use crate::columns::short;
use crate::limits::{CONFIRM_CHANGE_LINE_LINES_MAX, CONFIRM_CHANGE_LINES_MAX, CONFIRM_CHANGE_MS, LABEL_CHARS_MAX};

/// Lines around a change that do not change.
const AROUND: usize = 3;

const INDENT: &str = "    ";

/// Arguments that the change tells, too.
pub(super) const TOLD: [&str; 3] = ["content", "old_string", "new_string"];

/// What it would change.
pub(super) fn change_lines(edit: &Edit, look: Look) -> Vec<String> {
    let path = short(&edit.path, LABEL_CHARS_MAX);
    let (heading, before) = match &edit.before {
        Before::Nothing => (format!("  makes the new file {path}"), ""),
        Before::Text(before) if *before == edit.after => {
            return vec![format!("  changes nothing in {path}")];
        }
        Before::Text(before) => (format!("  changes {path}"), before.as_str()),
        Before::Unshown(why) => (format!("  replaces {path}, whose content is not shown: {why}"), ""),
    };
    let mut lines = vec![heading];
    let all = diff_lines(before, &edit.after, look);
    let left_out = all.len().saturating_sub(CONFIRM_CHANGE_LINES_MAX);
    lines.extend(all.into_iter().take(CONFIRM_CHANGE_LINES_MAX));
    if left_out > 0 {
        let words = format!("… {left_out} more lines of the change are not shown …");
        lines.push(format!("{INDENT}{}", look.paint.yellow(words)));
    }
    lines
}

fn diff_lines(before: &str, after: &str, look: Look) -> Vec<String> {
    let diff = TextDiff::configure().timeout(Duration::from_millis(CONFIRM_CHANGE_MS)).diff_lines(before, after);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        lines.push(format!("{INDENT}{}", look.paint.dim(hunk.header())));
        for change in hunk.iter_changes() {
            let text = change.value().strip_suffix('\n').unwrap_or_else(|| change.value());
            push_change(&mut lines, change.tag(), text, look);
            if change.missing_newline() {
                lines.push(format!("{INDENT}{}", look.paint.dim("\\ no line break at the end")));
            }
        }
    }
    lines
}

fn push_change(lines: &mut Vec<String>, tag: ChangeTag, text: &str, look: Look) {
    let columns = look.columns.saturating_sub(INDENT.len() + 1);
    let shown = bounded(text, columns, CONFIRM_CHANGE_LINE_LINES_MAX);
    let (sign, paint) = (tag.to_string(), look.paint);
    for line in shown.lines(ToOwned::to_owned) {
        let line = format!("{sign}{line}");
        lines.push(match tag {
            ChangeTag::Equal => format!("{INDENT}{line}"),
            ChangeTag::Delete => format!("{INDENT}{}", paint.red(line)),
            ChangeTag::Insert => format!("{INDENT}{}", paint.green(line)),
        });
    }
}

#[cfg(test)]
mod tests {
    use toolgate::call::{Before, Edit};

    use super::change_lines;
    use crate::confirm::question_text::Look;
    use crate::terminal::{Paint, Terminal};

    fn edit(before: Before, after: &str) -> Edit {
        Edit { path: "src/a.rs".to_owned(), before, after: after.to_owned() }
    }

    fn shown(edit: &Edit, paint: Paint) -> Vec<String> {
        change_lines(edit, Look { columns: 40, paint })
    }

    #[test]
    fn a_change_is_shown_as_a_diff() {
        let text = |text: &str| Before::Text(text.to_owned());
        let cases: [(Edit, &[&str]); 6] = [
            (
                edit(Before::Nothing, "a\nb\n"),
                &["  makes the new file src/a.rs", "    @@ -0,0 +1,2 @@", "    +a", "    +b"],
            ),
            (
                edit(text("1\n2\n3\n4\n5\n6\n"), "1\n2\n3\n4\nfive\n6\n"),
                &[
                    "  changes src/a.rs",
                    "    @@ -2,5 +2,5 @@",
                    "     2",
                    "     3",
                    "     4",
                    "    -5",
                    "    +five",
                    "     6",
                ],
            ),
            (
                edit(text("a"), "a\n"),
                &["  changes src/a.rs", "    @@ -1 +1 @@", "    -a", "    \\ no line break at the end", "    +a"],
            ),
            (edit(text("a"), "a"), &["  changes nothing in src/a.rs"]),
            (
                edit(Before::Unshown("it is not text"), "a\u{1b}[2J\n"),
                &[
                    "  replaces src/a.rs, whose content is not shown: it is not text",
                    "    @@ -0,0 +1 @@",
                    "    +a\\e[2J",
                ],
            ),
            (edit(text("a\r\n"), "a\n"), &["  changes src/a.rs", "    @@ -1 +1 @@", "    -a\\r", "    +a"]),
        ];
        for (edit, expected) in cases {
            assert_eq!(shown(&edit, Paint::default()), expected, "{edit:?}");
        }
        let colours = Terminal { stderr: true, colours: true, ..Terminal::default() }.paint_talk();
        let lines = shown(&edit(text("a\n"), "b\n"), colours);
        assert_eq!(lines[2..], ["    \u{1b}[31m-a\u{1b}[0m", "    \u{1b}[32m+b\u{1b}[0m"]);
    }

    #[test]
    fn a_large_change_takes_few_lines_and_says_so() {
        let long: String = (0..100_000).map(|number| format!("{number}\n")).collect();
        let lines = shown(&edit(Before::Nothing, &long), Paint::default());
        assert_eq!(lines.len(), 82);
        assert_eq!(lines[81], "    … 99921 more lines of the change are not shown …");
        let wide = "x".repeat(1_000_000);
        let lines = shown(&edit(Before::Text("y\n".to_owned()), &wide), Paint::default());
        assert!(lines.len() < 12 && lines.iter().all(|line| line.len() < 100), "{lines:?}");
    }
}
