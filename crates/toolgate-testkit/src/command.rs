//! Runs a program in a [`TestWorld`]: cleared environment, the workspace as current folder, everything captured.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::limits::{COMMAND_OUTPUT_BYTES_MAX, COMMAND_TIMEOUT_MS_DEFAULT};
use crate::snapshot;
use crate::world::TestWorld;

/// How often a running program is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A program to be run in a world.
#[derive(Debug)]
pub struct TestCommand<'a> {
    world: &'a TestWorld,
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(String, String)>,
    folder: PathBuf,
    input: String,
    timeout: Duration,
}

impl TestWorld {
    /// A program to be run in this world.
    pub fn command(&self, program: impl Into<PathBuf>) -> TestCommand<'_> {
        TestCommand {
            world: self,
            program: program.into(),
            arguments: Vec::new(),
            variables: Vec::new(),
            folder: self.workspace(),
            input: String::new(),
            timeout: Duration::from_millis(COMMAND_TIMEOUT_MS_DEFAULT),
        }
    }
}

impl TestCommand<'_> {
    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable for this run only.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Runs in this folder instead of the workspace.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// What the program reads from stdin; nothing when this is not called.
    #[must_use]
    pub fn input(mut self, input: impl Into<String>) -> Self {
        self.input = input.into();
        self
    }

    /// How long it may take before it is ended.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs it.
    ///
    /// # Errors
    /// When it cannot be started, or did not end in time (it is ended then).
    pub fn run(self) -> io::Result<CommandOutput> {
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .envs(self.world.variables())
            .envs(self.variables)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.program.display())))?;
        let stdout = child.stdout.take().map(read_in_thread);
        let stderr = child.stderr.take().map(read_in_thread);
        let input = child.stdin.take();
        let writing = std::thread::spawn(move || {
            // A program that does not read its input is free to do so.
            let _written = input.is_some_and(|mut input| input.write_all(self.input.as_bytes()).is_ok());
        });
        let deadline = Instant::now() + self.timeout;
        let status = wait(&mut child, deadline)?;
        // Joined only for order; what it wrote was up to the program.
        let _joined = writing.join().is_ok();
        Ok(CommandOutput {
            status,
            stdout: collected(stdout, deadline)?,
            stderr: collected(stderr, deadline)?,
            hidden: snapshot::hidden_paths(self.world),
        })
    }
}

fn wait(child: &mut Child, deadline: Instant) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Err(too_late("the program did not end in time and was ended"));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn read_in_thread(stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read before an error is all there is to show.
        let _complete = stream.take(COMMAND_OUTPUT_BYTES_MAX).read_to_end(&mut bytes).is_ok();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn collected(reading: Option<JoinHandle<String>>, deadline: Instant) -> io::Result<String> {
    let Some(reading) = reading else { return Ok(String::new()) };
    while !reading.is_finished() {
        if Instant::now() > deadline {
            return Err(too_late("the program ended, but something it started keeps its output open"));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(reading.join().unwrap_or_default())
}

fn too_late(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, message)
}

/// What a program wrote and how it ended.
#[derive(Clone, Debug)]
pub struct CommandOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// Its stdout as it was written.
    pub stdout: String,
    /// Its stderr as it was written.
    pub stderr: String,
    hidden: Vec<(String, &'static str)>,
}

impl CommandOutput {
    /// The exit code; `None` when a signal ended it.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Stdout with the paths of the world and all times hidden.
    #[must_use]
    pub fn shown_stdout(&self) -> String {
        snapshot::hide(&self.stdout, &self.hidden)
    }

    /// Everything in one text: stdout, stderr and status, paths and times hidden.
    #[must_use]
    pub fn transcript(&self) -> String {
        let mut text = String::new();
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !output.is_empty() {
                text.push_str(&format!("--- {name}\n{}", snapshot::hide(output, &self.hidden)));
                if !output.ends_with('\n') {
                    text.push_str("(no newline)\n");
                }
            }
        }
        match self.status.code() {
            Some(code) => text.push_str(&format!("--- exit {code}\n")),
            None => text.push_str("--- ended by a signal\n"),
        }
        text
    }

    /// Compares the transcript with the expected text, written with any indentation.
    ///
    /// # Panics
    /// When they differ; the message shows both and the first line that differs.
    #[track_caller]
    pub fn assert_transcript(&self, expected: &str) {
        snapshot::assert_snapshot(&self.transcript(), expected);
    }
}
