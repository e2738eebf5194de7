//! How the terminal takes what is typed: line by line and shown; or key by key and kept for whoever reads next, while something runs that is shown
//! on the same line.

use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// The terminal takes what is typed in one way, until this is dropped.
#[derive(Debug)]
pub(crate) struct Echo {
    before: Option<Termios>,
}

impl Echo {
    /// Lines are read, and what is typed is shown.
    pub(crate) fn on() -> Self {
        Self::with(|modes| {
            modes.local_modes.insert(LocalModes::ECHO | LocalModes::ICANON);
            modes.input_modes.insert(InputModes::ICRNL);
        })
    }

    /// Keys are kept for later as they were pressed, and not shown. Ctrl-C is still a signal.
    pub(crate) fn off() -> Self {
        Self::with(|modes| {
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            modes.input_modes.remove(InputModes::ICRNL);
        })
    }

    fn with(change: impl FnOnce(&mut Termios)) -> Self {
        let before = terminal();
        if let Some(mut now) = before.clone() {
            change(&mut now);
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
