//! Lines from a file or a pipe, or from a terminal that cannot move its cursor: one command each, printed plainly.

use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::background::{END_SCRIPT, END_TYPING, Signs};
use super::{After, Chat, background};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::TYPED_LINE_BYTES_MAX;

/// What stands before a line that somebody types at a plain terminal.
const PROMPT: &str = "> ";

/// Runs every line. How the last one ended that did not end well.
pub(super) fn run(chat: &mut Chat<'_>) -> Result<Ending> {
    background::start_now(chat);
    let is_typed = chat.session.printer.terminal().stdin;
    let signs = Arc::new(Signs::default());
    let ending = if is_typed { END_TYPING } else { END_SCRIPT };
    background::heed_signals(chat, &signs, ending, &Arc::default());
    let mut ended = Ending::Done;
    loop {
        if is_typed {
            ask_for_line();
        }
        signs.reads.store(true, Ordering::Relaxed);
        let line = next_line();
        signs.reads.store(false, Ordering::Relaxed);
        let Some(line) = line? else { return Ok(ended) };
        let after = chat.act(&line);
        if signs.leave.load(Ordering::Relaxed) {
            return Ok(Ending::Stopped);
        }
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

/// The next line, with those it goes on in; nothing when there is none.
fn next_line() -> Result<Option<String>> {
    let mut whole = String::new();
    let mut stdin = std::io::stdin().lock();
    loop {
        let room = TYPED_LINE_BYTES_MAX.saturating_sub(whole.len() as u64);
        let read = stdin.by_ref().take(room + 1).read_line(&mut whole);
        let read = read.map_err(|error| CommandError::usage(format!("cannot read stdin: {error}")))?;
        if whole.len() as u64 > TYPED_LINE_BYTES_MAX {
            return Err(CommandError::usage(format!("a line is longer than {TYPED_LINE_BYTES_MAX} bytes")));
        }
        let is_end = read == 0;
        if is_end && whole.is_empty() {
            return Ok(None);
        }
        if is_end || !super::line::goes_on(whole.trim_end_matches(['\n', '\r'])) {
            return Ok(Some(whole));
        }
    }
}
