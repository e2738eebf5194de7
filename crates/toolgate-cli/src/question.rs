//! A question of a server on its way to the person: whether whoever asked still waits, and how the terminal was before it was asked.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// To the next line, without what stands below.
const LEAVE: &[u8] = b"\r\n\x1b[J";

/// The cursor is shown, and what is pasted arrives as if it were typed.
const AS_BEFORE: &[u8] = b"\x1b[?25h\x1b[?2004l";

/// Whoever asked, as the question sees them.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    is_gone: Arc<AtomicBool>,
}

/// Held by whoever waits for the answer: when it is dropped, nobody does any more.
#[derive(Debug)]
pub(crate) struct Waiting(Asker);

impl Asker {
    /// Somebody who waits.
    pub(crate) fn new() -> (Self, Waiting) {
        let asker = Self { is_gone: Arc::default() };
        (asker.clone(), Waiting(asker))
    }

    /// Whether an answer would reach nobody.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
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
        Self { asker: asker.clone(), before: tcgetattr(std::io::stdin()).ok() }
    }

    /// Leaves the question where it stands. The thread that asks it may wait for a key for ever, so the terminal is put right here.
    pub(crate) fn leave(&self) {
        self.asker.dismiss();
        self.restore(&[LEAVE, AS_BEFORE].concat());
    }

    /// Puts the terminal right once more, should the question have gone on for a moment.
    pub(crate) fn leave_again(&self) {
        self.restore(AS_BEFORE);
    }

    fn restore(&self, last: &[u8]) {
        let Some(before) = &self.before else { return };
        // A terminal that is gone needs nothing any more.
        let _restored = tcsetattr(std::io::stdin(), OptionalActions::Now, before).is_ok();
        let _shown = std::io::stderr().lock().write_all(last).is_ok();
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
