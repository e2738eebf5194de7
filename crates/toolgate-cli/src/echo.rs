//! Whether the terminal shows what is typed: not while something runs that is shown on the same line, and always while a line is read from it.

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// The terminal shows what is typed, or does not, until this is dropped.
#[derive(Debug)]
pub(crate) struct Echo {
    before: Option<Termios>,
}

impl Echo {
    /// What is typed is shown.
    pub(crate) fn on() -> Self {
        Self::with(|modes| modes.insert(LocalModes::ECHO))
    }

    /// What is typed is kept for later, and not shown.
    pub(crate) fn off() -> Self {
        Self::with(|modes| modes.remove(LocalModes::ECHO))
    }

    fn with(change: impl FnOnce(&mut LocalModes)) -> Self {
        let before = terminal();
        if let Some(mut now) = before.clone() {
            change(&mut now.local_modes);
            restore(&now);
        }
        Self { before }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.before.iter().for_each(restore);
    }
}

/// How the terminal is, where stdin is one.
pub(crate) fn terminal() -> Option<Termios> {
    tcgetattr(std::io::stdin()).ok()
}

/// Makes the terminal as it was. One that is gone needs nothing any more.
pub(crate) fn restore(before: &Termios) {
    let _restored = tcsetattr(std::io::stdin(), OptionalActions::Now, before).is_ok();
}
