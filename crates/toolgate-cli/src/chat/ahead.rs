//! What was typed before the session had the terminal. Lines that were ended then are marked in another way than those that are ended later, so
//! they are taken from the terminal here; everything else waits there for whoever reads keys.

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::line::goes_on;
use crate::limits::TYPED_AHEAD_BYTES_MAX;

/// No time at all.
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// What was typed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ahead {
    /// Lines to be run.
    pub(super) lines: Vec<String>,
    /// The beginning of the next.
    pub(super) beginning: String,
}

/// What was typed already. To be asked once the terminal keeps keys as they are pressed.
pub(super) fn typed_ahead() -> Ahead {
    let stdin = rustix::stdio::stdin();
    let mut typed = Vec::new();
    let mut piece = [0; TYPED_AHEAD_BYTES_MAX];
    while typed.len() < TYPED_AHEAD_BYTES_MAX {
        let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
        if !matches!(poll(&mut waiting, Some(&AT_ONCE)), Ok(1..)) {
            break;
        }
        match rustix::io::read(stdin, &mut piece) {
            Ok(size @ 1..) => typed.extend_from_slice(piece.get(..size).unwrap_or_default()),
            Ok(0) | Err(_) => break,
        }
    }
    meaning(&String::from_utf8_lossy(&typed))
}

fn meaning(typed: &str) -> Ahead {
    let mut ahead = Ahead::default();
    for part in typed.split_inclusive(['\n', '\r']) {
        ahead.beginning.push_str(&part.replace('\r', "\n"));
        let Some(line) = ahead.beginning.strip_suffix('\n') else { break };
        // The next lines belong to it.
        if !goes_on(line) {
            ahead.lines.push(line.to_owned());
            ahead.beginning.clear();
        }
    }
    ahead
}

#[cfg(test)]
mod tests {
    use super::meaning;

    #[test]
    fn what_was_typed_is_lines_and_the_beginning_of_one() {
        let cases: [(&str, &[&str], &str); 7] = [
            ("/mode\n", &["/mode"], ""),
            ("\n", &[""], ""),
            ("/mo", &[], "/mo"),
            ("/call a \\\n", &[], "/call a \\\n"),
            ("/call a \\\nb=1\n/x\n/y", &["/call a \\\nb=1", "/x"], "/y"),
            ("/a\r/b\n/c", &["/a", "/b"], "/c"),
            ("", &[], ""),
        ];
        for (typed, lines, beginning) in cases {
            let ahead = meaning(typed);
            assert_eq!(
                (ahead.lines, ahead.beginning.as_str()),
                (lines.iter().map(|&line| line.to_owned()).collect(), beginning),
                "{typed:?}"
            );
        }
    }
}
