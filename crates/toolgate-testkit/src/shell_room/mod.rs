//! Runs shell commands in isolation, and records which programs a command line really starts.
//!
//! A [`ShellRoom`] has its own user, mount, process, network, IPC and host-name namespaces. The whole file system is read-only there, apart
//! memory that is discarded; sockets below `/run` are hidden, and there is no network. Programs named as stubs are replaced, under
//! every installed path, by one that records its name and arguments and does nothing else.
//!
//! [`lines`] generates random command lines for it.

mod forms;
pub mod lines;

#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod stub;
#[cfg(target_os = "linux")]
mod walls;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};
use thiserror::Error;

#[cfg(target_os = "linux")]
pub use inside::serve;
#[cfg(target_os = "linux")]
pub use stub::record;

/// The program inside the room, and every stub.
pub const SHELL_ROOM_PROGRAM: &str = "shell-room";

/// One command line to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShellJob {
    /// `sh` or `bash`.
    pub shell: String,
    /// The text after `-c`.
    pub command: String,
    /// Programs that are recorded instead of run.
    pub stubs: Vec<String>,
    /// Whether the folder is a git repository with two commits.
    pub has_repository: bool,
    /// Time limit for the line, in milliseconds.
    pub milliseconds_max: u64,
}

/// Outcome of one job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShellRun {
    /// Stubs that were started, in order, each with its name and arguments.
    pub ran: Vec<Vec<String>>,
    /// Exit code of the shell; `None` when it was killed.
    pub exit_code: Option<i32>,
    /// The beginning of its standard error.
    pub said: String,
}

impl ShellRun {
    /// Whether a stub was started with these first words.
    #[must_use]
    pub fn has_run(&self, words: &[&str]) -> bool {
        self.ran.iter().any(|ran| ran.len() >= words.len() && ran.iter().zip(words).all(|(own, word)| own == word))
    }
}

/// The room cannot be created on this machine.
#[derive(Clone, Debug, Error)]
#[error("namespaces cannot be made here: {why}")]
pub struct NoShellRoom {
    why: String,
}

impl NoShellRoom {
    fn because(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// The room failed while it was in use.
#[derive(Debug, Error)]
#[error("the room for shell commands failed: {0}")]
pub struct BrokenShellRoom(String);

/// The first line from a room.
#[derive(Debug, Serialize, Deserialize)]
enum Opening {
    /// The room is ready. Lists the requested programs that are installed.
    Ready,
    /// The room could not be set up.
    Refused(String),
}

/// A place to run shell commands. Dropping it kills every process in it.
#[derive(Debug)]
pub struct ShellRoom {
    child: Child,
    jobs: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl ShellRoom {
    /// Starts a room with the `shell-room` program.
    ///
    /// # Errors
    /// Returns an error if the system is not Linux, or does not allow this user to create namespaces.
    pub fn open(program: &Path) -> Result<Self, NoShellRoom> {
        if !cfg!(target_os = "linux") {
            return Err(NoShellRoom::because("only Linux has them"));
        }
        let namespaces = ["--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts"];
        let mut child = Command::new("unshare")
            .args(namespaces)
            .args(["--fork", "--kill-child", "--mount-proc", "--"])
            .arg(program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| NoShellRoom::because(format!("`unshare` does not start: {error}")))?;
        let (jobs, answers) = (child.stdin.take(), child.stdout.take());
        let Some(answers) = answers else { return Err(NoShellRoom::because("it has no output")) };
        let mut room = Self { child, jobs, answers: BufReader::new(answers) };
        let opening = room.answer().map(|line| serde_json::from_str(&line));
        match opening {
            Ok(Ok(Opening::Ready)) => Ok(room),
            Ok(Ok(Opening::Refused(why))) => Err(NoShellRoom::because(why)),
            _ => Err(NoShellRoom::because(room.last_words())),
        }
    }

    /// Runs one command line until it and its leftover processes end.
    ///
    /// # Errors
    /// Returns an error if the room itself failed.
    pub fn run(&mut self, job: &ShellJob) -> Result<ShellRun, BrokenShellRoom> {
        let broken = |error: &dyn std::fmt::Display| BrokenShellRoom(error.to_string());
        let line = serde_json::to_string(job).map_err(|error| broken(&error))?;
        let Some(jobs) = self.jobs.as_mut() else { return Err(BrokenShellRoom("it is closed".to_owned())) };
        writeln!(jobs, "{line}").and_then(|()| jobs.flush()).map_err(|error| broken(&error))?;
        let answer = self.answer()?;
        let run: Result<ShellRun, String> = serde_json::from_str(&answer).map_err(|error| broken(&error))?;
        run.map_err(BrokenShellRoom)
    }

    fn answer(&mut self) -> Result<String, BrokenShellRoom> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => Err(BrokenShellRoom(self.last_words())),
            Ok(_) => Ok(line),
            Err(error) => Err(BrokenShellRoom(error.to_string())),
        }
    }

    /// The standard error of the room's program after it was killed, as an explanation of the failure.
    fn last_words(&mut self) -> String {
        let mut said = String::new();
        drop(self.jobs.take());
        let _killed = self.child.kill().is_ok();
        if let Some(stderr) = self.child.stderr.as_mut() {
            let _read = stderr.read_to_string(&mut said).is_ok();
        }
        let said = said.trim();
        if said.is_empty() { "it ended without a word".to_owned() } else { said.to_owned() }
    }
}

impl Drop for ShellRoom {
    fn drop(&mut self) {
        drop(self.jobs.take());
        // The inner program dies with `unshare`, and its namespace with it.
        let _killed = self.child.kill().is_ok();
        let _reaped = self.child.wait().is_ok();
    }
}
