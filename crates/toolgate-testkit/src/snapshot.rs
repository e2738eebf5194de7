//! Texts to compare: hides what differs from run to run, and shows what differs from what was expected.

use std::fmt::Write as _;

use crate::world::TestWorld;

/// The paths of a world and what stands for them, longest first.
pub(crate) fn hidden_paths(world: &TestWorld) -> Vec<(String, &'static str)> {
    vec![
        (world.workspace().display().to_string(), "[WORKSPACE]"),
        (world.home().display().to_string(), "[HOME]"),
        (world.root().display().to_string(), "[WORLD]"),
    ]
}

/// Replaces paths, durations (`1.2s`, `350ms`, `2m 3s`) and timestamps (`2026-01-02T03:04:05Z`).
pub(crate) fn hide(text: &str, paths: &[(String, &'static str)]) -> String {
    let mut text = text.to_owned();
    for (path, name) in paths {
        text = text.replace(path.as_str(), name);
    }
    hide_times(&text)
}

/// Replaces durations and timestamps by `[TIME]`.
#[must_use]
pub fn hide_times(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let is_word_start = !before.is_alphanumeric() && !matches!(before, '.' | '-' | '_');
        let length = if is_word_start && first.is_ascii_digit() { time_length(rest) } else { None };
        let taken = match length {
            Some(length) => {
                shown.push_str("[TIME]");
                length
            }
            None => {
                shown.push(first);
                first.len_utf8()
            }
        };
        let (done, left) = rest.split_at(taken);
        before = done.chars().last().unwrap_or(' ');
        rest = left;
    }
    shown
}

/// How many bytes of a time stand at the start of the text.
fn time_length(text: &str) -> Option<usize> {
    timestamp_length(text).or_else(|| duration_length(text))
}

fn timestamp_length(text: &str) -> Option<usize> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let start = text.as_bytes().get(..SHAPE.len())?;
    let fits = start.iter().zip(SHAPE).all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b' '),
        other => byte == other,
    });
    if !fits {
        return None;
    }
    let tail = text.bytes().skip(SHAPE.len());
    let more = tail.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'Z' | b'+' | b':'));
    Some(SHAPE.len() + more.count())
}

fn duration_length(text: &str) -> Option<usize> {
    let first = one_duration(text)?;
    // `2m 3s` is one duration in two parts.
    let rest = text.get(first..)?;
    let second = rest.strip_prefix(' ').and_then(one_duration);
    let is_compound = text.get(..first)?.ends_with(['m', 'h']);
    Some(match second {
        Some(second) if is_compound => first + 1 + second,
        _ => first,
    })
}

fn one_duration(text: &str) -> Option<usize> {
    let number = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    if number == 0 {
        return None;
    }
    let rest = text.get(number..)?;
    let space = usize::from(rest.starts_with(' '));
    let unit = rest.get(space..)?;
    let units = ["ms", "µs", "us", "ns", "seconds", "second", "s", "m", "h"];
    let unit = units.into_iter().find(|name| {
        let after = unit.strip_prefix(name).map(|after| after.chars().next());
        // With a space only whole words and the short units of clocks count: `3 m` is three metres.
        let is_time = space == 0 || name.len() > 1;
        is_time && after.is_some_and(|next| !next.is_some_and(char::is_alphanumeric))
    })?;
    Some(number + space + unit.len())
}

/// Takes the common indentation away from a text written inside code, and the line break it starts with.
#[must_use]
pub fn dedent(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let body = text.trim_end_matches(' ');
    let indented = body.lines().filter(|line| !line.trim().is_empty());
    let indent = indented.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0);
    let lines = body.split_inclusive('\n').map(|line| line.get(indent..).unwrap_or("\n"));
    lines.collect()
}

/// Compares a text with an expected one, written with any indentation.
///
/// # Panics
/// When they differ; the message shows the lines that do, and the whole text ready to be pasted.
#[track_caller]
pub fn assert_snapshot(actual: &str, expected: &str) {
    let expected = dedent(expected);
    let (actual, expected) = (actual.trim_end(), expected.trim_end());
    assert!(actual == expected, "{}", difference(actual, expected));
}

fn difference(actual: &str, expected: &str) -> String {
    let mut text = String::from("the text is not the expected one\n");
    let (actual_lines, expected_lines): (Vec<&str>, Vec<&str>) = (actual.lines().collect(), expected.lines().collect());
    let same = actual_lines.iter().zip(&expected_lines).take_while(|(one, other)| one == other).count();
    let show = |lines: &[&str], sign: char, text: &mut String| {
        for line in lines.iter().skip(same).take(8) {
            // Writing to a string cannot fail.
            let _infallible = writeln!(text, "{sign} {line}");
        }
    };
    let _infallible = writeln!(text, "first difference in line {}:", same + 1);
    show(&expected_lines, '-', &mut text);
    show(&actual_lines, '+', &mut text);
    text.push_str("the whole text:\n");
    text.push_str(actual);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::{assert_snapshot, dedent, hide_times};

    #[test]
    fn times_are_hidden_and_other_numbers_are_not() {
        let cases = [
            ("done in 1.25s, 300ms left", "done in [TIME], [TIME] left"),
            ("took 2m 3s (12 seconds)", "took [TIME] ([TIME])"),
            ("at 2026-01-02T03:04:05.123Z it", "at [TIME] it"),
            ("5 servers, v1.2s-x, 3 m, port 8080, 10 s", "5 servers, v1.2s-x, 3 m, port 8080, 10 s"),
            ("µ 7µs", "µ [TIME]"),
        ];
        for (text, expected) in cases {
            assert_eq!(hide_times(text), expected);
        }
    }

    #[test]
    fn expected_texts_may_be_indented() {
        assert_eq!(dedent("\n    a\n      b\n\n    c\n    "), "a\n  b\n\nc\n");
        assert_snapshot(
            "a\n  b\n",
            "
            a
              b
            ",
        );
    }

    #[test]
    #[should_panic(expected = "first difference in line 2:\n- other\n+ b")]
    fn a_difference_is_shown() {
        assert_snapshot("a\nb", "a\nother");
    }
}
