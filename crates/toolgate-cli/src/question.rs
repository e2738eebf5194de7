//! A question of a server on its way to the person: whether whoever asked still waits, and how the terminal was before it was asked.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::termios::Termios;

use crate::echo;

/// To the next line, without what stands below.
const LEAVE: &str = "\r\n\x1b[J";

/// The cursor is shown, and what is pasted arrives as if it were typed.
pub(crate) const AS_BEFORE: &str = "\x1b[?25h\x1b[?2004l";

/// Whoever asked, as the question sees them.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    is_gone: Arc<AtomicBool>,
    is_left: Arc<AtomicBool>,
    forgets: Arc<AtomicBool>,
}

/// Held by whoever waits for the answer: when it is dropped, nobody does any more.
#[derive(Debug)]
pub(crate) struct Waiting(Asker);

impl Asker {
    /// Somebody who waits.
    pub(crate) fn new() -> (Self, Waiting) {
        let asker = Self { is_gone: Arc::default(), is_left: Arc::default(), forgets: Arc::default() };
        (asker.clone(), Waiting(asker))
    }

    /// Whether an answer would reach nobody.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    /// What is typed until the question is shown is no answer to it.
    pub(crate) fn forget_until_shown(&self) {
        self.forgets.store(true, Ordering::Relaxed);
    }

    /// Whether what was typed until now is to be forgotten.
    pub(crate) fn takes_forgetting(&self) -> bool {
        self.forgets.swap(false, Ordering::Relaxed)
    }

    /// Whether somebody has left the question and drawn below it.
    pub(crate) fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }

    /// An answer will reach nobody.
    pub(crate) fn dismiss(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

/// A question that stands on the terminal.
#[derive(Debug)]
pub(crate) struct OpenQuestion {
    asker: Asker,
    /// How the terminal was before: the question takes every key as it is pressed.
    before: Option<Termios>,
}

impl OpenQuestion {
    /// To be made before anything is asked.
    pub(crate) fn new(asker: &Asker) -> Self {
        Self { asker: asker.clone(), before: echo::terminal() }
    }

    /// Leaves the question where it stands. The thread that asks it notices a moment later, so the terminal is put right here, and once more
    /// should the question have gone on for that moment.
    pub(crate) fn leave(&self) {
        let is_left = self.asker.is_left.swap(true, Ordering::Relaxed);
        self.asker.dismiss();
        let below = if is_left { "" } else { LEAVE };
        self.restore(&[below, AS_BEFORE].concat());
    }

    fn restore(&self, last: &str) {
        let Some(before) = &self.before else { return };
        echo::restore(before);
        let _shown = std::io::stderr().lock().write_all(last.as_bytes()).is_ok();
    }
}

#[cfg(test)]
mod tests {
    use super::Asker;

    #[test]
    fn whoever_stops_waiting_is_gone() {
        let (asker, waiting) = Asker::new();
        assert!(!asker.is_gone());
        drop(waiting);
        assert!(asker.is_gone());
    }
}
