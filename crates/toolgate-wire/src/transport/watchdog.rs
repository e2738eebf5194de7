//! The watchdog: a small process that ends the groups of our servers when this process dies, whatever it dies of.
//!
//! It is a shell that reads from a pipe of ours, so it learns of our death from the system, on every Unix and without polling. One is
//! started for this process before the first server is; what it has to know waits in the pipe until it reads. It is told before a
//! server is started and again when its number is known; should this process die in between, the watchdog looks for the one that carries the
//! mark it was told of, so there is no moment in which a server could be forgotten.
//!
//! This process holds both ends of the pipe. So nothing is lost when the watchdog itself is killed (a new one reads on), nobody gets a
//! broken pipe, and the pipe still ends with this process, because no other has the end that is written to.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};

use rustix::process::Pid;
use tokio::process::Command as ServerCommand;

use crate::limits::WATCHDOG_STARTS_MAX;
use crate::peer::lock;

/// What the watchdog does.
const SCRIPT: &str = include_str!("watchdog.sh");

/// The variable by which the watchdog finds a server whose group it was not told.
const MARK: &str = "TOOLGATE_WATCHED";

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
    /// Says that it is there, as long as nobody has waited for that.
    is_there: Option<Receiver<()>>,
    /// The groups that are not known to have ended.
    groups: BTreeSet<i32>,
    /// The number of the server that was announced last.
    announced: i32,
    /// That server is being started, and its group is not known yet. One is started at a time.
    is_expecting: bool,
    /// Something that was not said, because there was no room: it must look by itself, and is told everything anew.
    has_missed: bool,
}

impl Watchdog {
    const NEW: Self = Self {
        pipe: None,
        is_there: None,
        groups: BTreeSet::new(),
        announced: 0,
        is_expecting: false,
        has_missed: false,
    };

    /// Begins to start it, if that was not done before.
    fn wake(&mut self) {
        if self.pipe.is_none()
            && let Ok((pipe, is_there)) = start().inspect_err(warn_of_none)
        {
            (self.pipe, self.is_there) = (Some(Arc::new(pipe)), Some(is_there));
        }
    }

    /// Waits until it is there: this process may be killed at any moment from then on.
    fn be_there(&mut self) {
        self.wake();
        // Without an answer there is none, and its thread has said why.
        let _there_is_one = self.is_there.take().is_some_and(|is_there| is_there.recv().is_ok());
    }

    /// Tells it something, and before that what it has missed, if that needs no waiting.
    fn say(&mut self, line: &[u8]) {
        if self.has_missed {
            self.say_everything();
        }
        self.write(line);
    }

    /// Tells it all groups, because the one that knew them is gone, or has missed some. It drops those that have ended.
    fn say_everything(&mut self) {
        self.has_missed = false;
        self.write(b"?\n");
        for group in self.groups.clone() {
            self.write(Line::new(b'+', group).as_bytes());
        }
        if self.is_expecting {
            self.write(Line::new(b'!', self.announced).as_bytes());
        }
    }

    /// Writes a line: as a whole or not at all, because it is this short. When one is missing, all of it is said again anyway.
    fn write(&mut self, line: &[u8]) {
        let Some(mut pipe) = self.pipe.as_deref() else { return };
        self.has_missed = self.has_missed || pipe.write_all(line).is_err();
    }
}

/// Begins to start the watchdog, if that was not done before.
pub(crate) fn wake() {
    lock(&WATCHDOG).wake();
}

/// What a server carries, and what it starts as long as its variables are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(i32);

impl Mark {
    /// The mark in the variables of a process, if it is one of ours.
    #[cfg(target_os = "linux")]
    pub(crate) fn among(variables: &[u8]) -> Option<Self> {
        let value = |variable: &[u8]| {
            let number = variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"=")?;
            let number = number.strip_prefix(mark_start().as_bytes())?;
            std::str::from_utf8(number).ok()?.parse().ok()
        };
        variables.split(|byte| *byte == 0).find_map(value).map(Self)
    }
}

/// A server that is about to be started, as the watchdog sees it.
#[derive(Debug)]
pub(crate) struct Newcomer(Mark);

impl Newcomer {
    /// Tells the watchdog, which is started if there is none yet, that somebody comes, and marks whoever that will be.
    #[cfg(target_os = "linux")]
    pub(crate) fn announce(command: &mut ServerCommand) -> Self {
        let mut watchdog = lock(&WATCHDOG);
        watchdog.be_there();
        let number = watchdog.announced.checked_add(1).unwrap_or(1);
        watchdog.announced = number;
        watchdog.is_expecting = true;
        watchdog.say(Line::new(b'!', number).as_bytes());
        command.env(MARK, format!("{}{number}", mark_start()));
        Self(Mark(number))
    }

    /// Lets the server enter its group with the watchdog by itself, which is started if there is none yet: elsewhere nobody can be
    /// found by a mark.
    #[cfg(not(target_os = "linux"))]
    #[expect(unsafe_code, reason = "the one exception: what a child does between fork and exec")]
    pub(crate) fn announce(command: &mut ServerCommand) -> Self {
        let mut watchdog = lock(&WATCHDOG);
        watchdog.be_there();
        if let Some(pipe) = watchdog.pipe.clone() {
            let enter = move || {
                let line = Line::new(b'+', rustix::process::getpid().as_raw_nonzero().get());
                let _is_full = rustix::io::write(&pipe, line.as_bytes()).is_err();
                Ok(())
            };
            // SAFETY: the closure makes two system calls and touches no memory that another thread of the parent could have locked.
            unsafe { command.pre_exec(enter) };
        }
        Self(Mark(0))
    }

    /// The server was started. What it carries.
    pub(crate) fn has_come(self, group: Pid) -> Mark {
        let group = group.as_raw_nonzero().get();
        let mut watchdog = lock(&WATCHDOG);
        watchdog.is_expecting = false;
        watchdog.groups.insert(group);
        watchdog.say(Line::new(b'+', group).as_bytes());
        self.0
    }

    /// The server could not be started. It may have entered its group, which nobody knows the number of.
    pub(crate) fn has_failed(self) {
        let mut watchdog = lock(&WATCHDOG);
        watchdog.is_expecting = false;
        watchdog.say(b"?\n");
    }
}

/// What the marks of this process begin with; no other process has the same, before or after it.
fn mark_start() -> &'static str {
    static START: OnceLock<String> = OnceLock::new();
    START.get_or_init(|| format!("{}-{:016x}-", std::process::id(), RandomState::new().build_hasher().finish()))
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

/// Starts the watchdog from a thread that waits for its end: where it is told, and what says that it is there.
///
/// From a thread of its own, and not from the one that starts servers: two programs that one thread starts begin on the same core.
fn start() -> io::Result<(PipeWriter, Receiver<()>)> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    let (says, is_there) = sync_channel(1);
    let thread = std::thread::Builder::new().name("watchdog".to_owned());
    thread.spawn(move || keep(&reader, &says))?;
    Ok((writer, is_there))
}

/// Keeps a watchdog running. It ends by itself only when this process does, and is then nobody's child any more.
fn keep(pipe: &PipeReader, is_there: &SyncSender<()>) {
    let run = |mut command: Command| {
        let mut watchdog = command.spawn()?;
        let _is_the_first = is_there.try_send(()).is_ok();
        watchdog.wait()
    };
    for _ in 0..WATCHDOG_STARTS_MAX {
        match command(pipe).and_then(run) {
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
    command
        .args(["-c", SCRIPT, NAME])
        .env_clear()
        .env("mark", format!("{MARK}={}", mark_start()))
        .env("PATH", PATH)
        .current_dir("/")
        .process_group(0);
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
