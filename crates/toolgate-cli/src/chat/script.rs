//! Lines from a file or a pipe, or from a terminal that cannot move its cursor: one command each, printed plainly.

use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{After, Chat, background};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::TYPED_LINE_BYTES_MAX;

/// What stands before a line that somebody types at a plain terminal.
const PROMPT: &str = "> ";

/// Runs every line. How the last one ended that did not end well.
pub(super) fn run(chat: &mut Chat<'_>) -> Result<Ending> {
    let is_waiting = Arc::new(AtomicBool::new(false));
    let leaves = background::leave_on_signals(chat, &is_waiting);
    background::start_now(chat);
    let is_typed = chat.session.printer.terminal().stdin;
    let mut lines = Lines::default();
    let mut ended = Ending::Done;
    loop {
        if is_typed {
            ask_for_line();
        }
        is_waiting.store(true, Ordering::SeqCst);
        if leaves.load(Ordering::SeqCst) {
            return Ok(Ending::Stopped);
        }
        let line = lines.next();
        is_waiting.store(false, Ordering::SeqCst);
        let after = match line {
            Ok(None) => return Ok(ended),
            Ok(Some(line)) => chat.act(&line),
            Err(Unread::ThisLine(error)) => After::Next(chat.session.printer.report(&error)),
            Err(Unread::All(error)) => return Err(error),
        };
        match after {
            After::Next(Ending::Done) => {}
            After::Next(ending) => ended = ending,
            After::Leave => return Ok(ended),
        }
    }
}

fn ask_for_line() {
    let mut stderr = std::io::stderr().lock();
    let _said = stderr.write_all(PROMPT.as_bytes()).and_then(|()| stderr.flush()).is_ok();
}

/// Why there is no next line.
enum Unread {
    /// It is no text; others may follow.
    ThisLine(CommandError),
    /// Nothing more can be read.
    All(CommandError),
}

/// The lines of stdin.
#[derive(Debug, Default)]
struct Lines {
    /// How many were read.
    count: usize,
}

impl Lines {
    /// The next line, with those it goes on in; nothing when there is none.
    fn next(&mut self) -> Result<Option<String>, Unread> {
        let mut whole = String::new();
        let mut stdin = std::io::stdin().lock();
        loop {
            let room = TYPED_LINE_BYTES_MAX.saturating_sub(whole.len() as u64);
            let mut bytes = Vec::new();
            let read = stdin.by_ref().take(room + 1).read_until(b'\n', &mut bytes);
            let read = read.map_err(|error| Unread::All(CommandError::usage(format!("cannot read stdin: {error}"))))?;
            self.count += 1;
            if read as u64 > room {
                let what = format!("line {} is longer than {TYPED_LINE_BYTES_MAX} bytes", self.count);
                return Err(Unread::All(CommandError::usage(what)));
            }
            let text = String::from_utf8(bytes).map_err(|_| {
                let what = format!("line {} is no text in UTF-8; it was left out", self.count);
                Unread::ThisLine(CommandError::usage(what))
            })?;
            whole.push_str(&text);
            let is_end = read == 0;
            if is_end && whole.is_empty() {
                return Ok(None);
            }
            if is_end || !super::line::goes_on(whole.trim_end_matches(['\n', '\r'])) {
                return Ok(Some(whole));
            }
        }
    }
}
