//! The watchdog: a small process that ends the groups of our servers when this process dies, whatever it dies of.
//!
//! It is a shell that reads from a pipe of ours, so it learns of our death from the system, on every Unix and without polling. One is
//! started for this process beside the first server, and nobody waits for it: what it has to know waits in the pipe. A server enters its
//! group itself, before it becomes the server, so there is no moment in which it could be forgotten.
//!
//! This process holds both ends of the pipe. So nothing is lost when the watchdog itself is killed (a new one reads on), nobody gets a
//! broken pipe, and the pipe still ends with this process, because no other has the end that is written to.

use std::collections::BTreeSet;
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::Pid;
use tokio::process::Command as ServerCommand;

use crate::limits::WATCHDOG_STARTS_MAX;
use crate::peer::lock;

/// What the watchdog does.
const SCRIPT: &str = include_str!("watchdog.sh");

/// What it is called in a list of processes.
const NAME: &str = "toolgate-watchdog";

/// Where its few programs are.
const PATH: &str = "/usr/bin:/bin";

/// The longest line: a sign, the digits of a process id, a line end.
const LINE_BYTES: usize = 12;

static WATCHDOG: Mutex<Watchdog> = Mutex::new(Watchdog::NEW);

/// What this process knows of its watchdog.
#[derive(Debug)]
struct Watchdog {
    /// Where it is told; made with the first server.
    pipe: Option<Arc<PipeWriter>>,
    /// The groups that are not known to have ended.
    groups: BTreeSet<i32>,
    /// How often it had to be started again.
    restarts: usize,
    /// Something that was not said, because there was no room: it must look by itself.
    has_missed: bool,
}

impl Watchdog {
    const NEW: Self = Self { pipe: None, groups: BTreeSet::new(), restarts: 0, has_missed: false };

    /// Tells it something, if that needs no waiting.
    fn say(&mut self, line: &[u8]) {
        let Some(mut pipe) = self.pipe.as_deref() else { return };
        if self.has_missed {
            self.has_missed = pipe.write_all(b"?\n").is_err();
        }
        // A line this short is written as a whole or not at all.
        self.has_missed |= pipe.write_all(line).is_err();
    }

    /// Tells it all groups, because the one that knew them is gone.
    fn say_everything(&mut self) {
        self.restarts += 1;
        for group in self.groups.clone() {
            self.say(Line::new(b'+', group).as_bytes());
        }
    }
}

/// A server that is about to be started, as the watchdog sees it.
#[derive(Debug)]
pub(crate) struct Newcomer {
    restarts: usize,
}

impl Newcomer {
    /// Lets the server enter its group with the watchdog, which is started if there is none yet.
    #[expect(unsafe_code, reason = "the one exception: what a child does between fork and exec")]
    pub(crate) fn prepare(command: &mut ServerCommand) -> Self {
        let mut watchdog = lock(&WATCHDOG);
        if watchdog.pipe.is_none() {
            watchdog.pipe = start().inspect_err(warn_of_none).ok().map(Arc::new);
        }
        if let Some(pipe) = watchdog.pipe.clone() {
            let enter = move || {
                let line = Line::new(b'+', rustix::process::getpid().as_raw_nonzero().get());
                let _is_full = rustix::io::write(&pipe, line.as_bytes()).is_err();
                Ok(())
            };
            // SAFETY: the closure makes two system calls and touches no memory that another thread of the parent could have locked.
            unsafe { command.pre_exec(enter) };
        }
        Self { restarts: watchdog.restarts }
    }

    /// The server was started.
    pub(crate) fn has_come(self, group: Pid) {
        let group = group.as_raw_nonzero().get();
        let mut watchdog = lock(&WATCHDOG);
        watchdog.groups.insert(group);
        // The watchdog that it told of itself may be gone.
        if watchdog.restarts != self.restarts {
            watchdog.say(Line::new(b'+', group).as_bytes());
        }
    }

    /// The server could not be started. It may have entered its group, which nobody knows the number of.
    pub(crate) fn has_failed(self) {
        lock(&WATCHDOG).say(b"?\n");
    }
}

/// A group has ended, and its number may be used again by others.
pub(crate) fn forget(group: Pid) {
    let group = group.as_raw_nonzero().get();
    let mut watchdog = lock(&WATCHDOG);
    if watchdog.groups.remove(&group) {
        watchdog.say(Line::new(b'-', group).as_bytes());
    }
}

fn warn_of_none(error: &io::Error) {
    tracing::warn!(%error, "there is no watchdog: should this program be killed, its servers may stay behind");
}

/// Starts the watchdog from a thread that waits for its end.
fn start() -> io::Result<PipeWriter> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    let thread = std::thread::Builder::new().name("watchdog".to_owned());
    thread.spawn(move || keep(&reader))?;
    Ok(writer)
}

/// Keeps a watchdog running. It ends by itself only when this process does, and is then nobody's child any more.
fn keep(pipe: &PipeReader) {
    for _ in 0..WATCHDOG_STARTS_MAX {
        let ended = command(pipe).and_then(|mut command| command.spawn()?.wait());
        match ended {
            Ok(status) => tracing::warn!(%status, "the watchdog was ended by somebody else"),
            Err(error) => return warn_of_none(&error),
        }
        lock(&WATCHDOG).say_everything();
    }
    warn_of_none(&io::Error::other("it does not stay"));
}

/// It holds nothing of ours but the pipe: no folder, no terminal, no variables.
fn command(pipe: &PipeReader) -> io::Result<Command> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, NAME]).env_clear().env("PATH", PATH).current_dir("/").process_group(0);
    command.stdin(pipe.try_clone()?).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// One line, made without allocating.
struct Line {
    bytes: [u8; LINE_BYTES],
    start: usize,
}

impl Line {
    fn new(sign: u8, group: i32) -> Self {
        let mut line = Self { bytes: [b'\n'; LINE_BYTES], start: LINE_BYTES - 1 };
        let mut rest = group.unsigned_abs();
        loop {
            line.put(b'0' + u8::try_from(rest % 10).unwrap_or_default());
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        line.put(sign);
        line
    }

    fn put(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
#[path = "watchdog_tests.rs"]
mod tests;
