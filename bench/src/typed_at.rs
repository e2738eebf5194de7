//! A terminal for a program that wants one: a pseudo-terminal, whose cursor is always where a new line begins.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::{AsyncRead, AsyncWriteExt as _};
use tokio::process::Command;

use crate::Outcome;

/// What a program prints.
pub(crate) type Output = Box<dyn AsyncRead + Send + Unpin>;

/// How a program asks where the cursor is, and what it is told.
const QUESTION: &[u8] = b"\x1b[6n";
const ANSWER: &[u8] = b"\x1b[1;1R";

/// Room for what was printed and not read yet.
const ROOM: usize = 256 * 1024;

/// The side of a terminal that is looked at.
pub(crate) struct Screen(File);

impl Screen {
    /// Gives a program that is about to start a terminal of its own.
    pub(crate) fn new(command: &mut Command) -> Outcome<Self> {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&screen)?;
        unlockpt(&screen)?;
        tcsetwinsize(&screen, Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 })?;
        let name = ptsname(&screen, Vec::new())?;
        let keyboard = OpenOptions::new().read(true).write(true).open(name.to_str()?)?;
        let stream = || keyboard.try_clone().map(Stdio::from);
        command.stdin(stream()?).stdout(stream()?).stderr(stream()?).env("TERM", "xterm-256color");
        Ok(Self(File::from(screen)))
    }

    /// What is printed on it from now on. Questions for the cursor are answered at once, as a terminal does.
    pub(crate) fn output(self) -> Outcome<Output> {
        let (mut into, output) = tokio::io::duplex(ROOM);
        let (runtime, mut screen) = (tokio::runtime::Handle::current(), self.0);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(size @ 1..) = screen.read(&mut chunk) {
                let new = chunk.get(..size).unwrap_or_default();
                if new.windows(QUESTION.len()).any(|part| part == QUESTION) && screen.write_all(ANSWER).is_err() {
                    return;
                }
                if runtime.block_on(into.write_all(new)).is_err() {
                    return;
                }
            }
        });
        Ok(Box::new(output))
    }
}
