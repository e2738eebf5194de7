//! What is typed while something runs. The terminal keeps it, and it is run afterwards, line by line.

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::limits::TYPED_AHEAD_BYTES_MAX;

/// No time at all.
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// A line to be run.
    Line(String),
    /// The beginning of one.
    Beginning(String),
    /// Ctrl-D, or a terminal that is gone.
    End,
}

/// The next line that was typed already, while the terminal still reads whole lines.
pub(super) fn typed_ahead() -> Option<Ahead> {
    let stdin = rustix::stdio::stdin();
    let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
    if !matches!(poll(&mut waiting, Some(&AT_ONCE)), Ok(1..)) {
        return None;
    }
    let mut bytes = [0; TYPED_AHEAD_BYTES_MAX];
    let size = rustix::io::read(stdin, &mut bytes).ok()?;
    Some(meaning(bytes.get(..size).unwrap_or_default()))
}

fn meaning(bytes: &[u8]) -> Ahead {
    let text = String::from_utf8_lossy(bytes);
    match text.strip_suffix('\n') {
        _ if bytes.is_empty() => Ahead::End,
        // The next lines belong to it, and the person sees where they end.
        Some(line) if super::line::goes_on(line) => Ahead::Beginning(text.into_owned()),
        Some(line) => Ahead::Line(line.to_owned()),
        None => Ahead::Beginning(text.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Ahead, meaning};

    #[test]
    fn what_was_typed_is_a_line_or_its_beginning() {
        let cases = [
            ("/mode\n", Ahead::Line("/mode".to_owned())),
            ("\n", Ahead::Line(String::new())),
            ("/mo", Ahead::Beginning("/mo".to_owned())),
            ("/call a \\\n", Ahead::Beginning("/call a \\\n".to_owned())),
            ("", Ahead::End),
        ];
        for (typed, expected) in cases {
            assert_eq!(meaning(typed.as_bytes()), expected, "{typed:?}");
        }
    }
}
