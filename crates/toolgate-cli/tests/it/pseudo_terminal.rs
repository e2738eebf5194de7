//! A pseudo-terminal with the program on it. Who looks at it and types is somebody else's: `screen.rs`, `emulated.rs`.

use std::fs::{File, OpenOptions};
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{ControlModes, InputModes, LocalModes, OutputModes, Winsize, tcgetattr, tcsetwinsize};

use crate::room::Room;

/// How keys and lines are treated.
type Modes = (InputModes, OutputModes, ControlModes, LocalModes);

/// Both ends of a terminal.
pub(crate) struct PseudoTerminal {
    /// Where keys are pressed, and what is shown is read.
    pub(crate) keyboard: File,
    /// What the program has. Reading ends when it and the program have let go of it.
    slave: File,
    before: Modes,
}

impl PseudoTerminal {
    pub(crate) fn open(rows: u16, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let before = modes(&slave);
        let terminal = Self { keyboard: File::from(master), slave, before };
        terminal.resize(rows, columns);
        terminal
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        tcsetwinsize(&self.keyboard, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    }

    /// Starts a program on it, in the world of a room, with variables of its own.
    pub(crate) fn start(&self, program: &mut Command, room: &Room, variables: &[(&str, &str)]) -> Child {
        let stream = || Stdio::from(self.slave.try_clone().unwrap());
        program
            .env_clear()
            .envs(room.world.variables())
            .env("TERM", "xterm-256color")
            .envs(variables.iter().copied())
            .current_dir(room.world.workspace())
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .unwrap()
    }

    /// Whether keys and lines are treated as they were before a program ran.
    pub(crate) fn is_as_before(&self) -> bool {
        modes(&self.slave) == self.before
    }
}

fn modes(terminal: &File) -> Modes {
    let found = tcgetattr(terminal).unwrap();
    (found.input_modes, found.output_modes, found.control_modes, found.local_modes)
}
