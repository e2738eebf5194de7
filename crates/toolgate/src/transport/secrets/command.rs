//! `${cmd:COMMAND LINE}`: what a command prints. It runs in `/bin/sh`, in the home of the person and with all of their variables, has nothing
//! to read on stdin, and is ended with everything it started, after a time limit, as soon as the shell is gone, or when this process is.

use std::convert::Infallible;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use toolgate_wire::transport::watched_group::WatchedGroup;

use super::{Unresolved, complaint, too_much};
use crate::env::HostEnv;
use crate::limits::{SECRET_BYTES_MAX, SECRET_COMMAND_END_MS, SECRET_COMMAND_MS};

const SHELL: &str = "/bin/sh";

/// How much of stderr is kept to find its first line in.
const STDERR_BYTES_MAX: usize = 4 * 1024;

pub(in crate::transport) async fn run(env: &HostEnv, line: &str) -> Result<Vec<u8>, Unresolved> {
    run_within(env, line, Duration::from_millis(SECRET_COMMAND_MS)).await
}

/// Runs a command line, for `limit` at most, and gives what it printed.
pub(super) async fn run_within(env: &HostEnv, line: &str, limit: Duration) -> Result<Vec<u8>, Unresolved> {
    let mut running = Running::start(env, line).await?;
    let ended = running.wait(limit).await;
    running.group.kill();
    let status = match ended {
        Ended::Itself(status) => status,
        Ended::TooMuch => return Err(too_much()),
        Ended::TooLate => {
            let message = format!("the command took longer than {limit:?} and was ended");
            return Err(Unresolved::new(
                message,
                "it has nothing to read on stdin; run it in a shell to see what it waits for",
            ));
        }
    };
    running.read_rest().await;
    if status.is_some_and(|status| status.success()) {
        return if running.out.is_over() { Err(too_much()) } else { Ok(running.out.bytes) };
    }
    let ending = match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => format!("exit status {code}"),
        Some((None, Some(signal))) => format!("signal {signal}"),
        _ => "an unknown status".to_owned(),
    };
    let said = complaint(&String::from_utf8_lossy(&running.err.bytes));
    let said = if said.is_empty() { said } else { format!(": {said}") };
    Err(Unresolved::new(format!("the command ended with {ending}{said}"), "run it in a shell to see why"))
}

/// How the wait for a command ended.
enum Ended {
    Itself(Option<ExitStatus>),
    TooMuch,
    TooLate,
}

struct Running {
    group: WatchedGroup,
    child: Child,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    out: Capture,
    err: Capture,
}

impl Running {
    async fn start(env: &HostEnv, line: &str) -> Result<Self, Unresolved> {
        let mut command = Command::new(SHELL);
        command.arg("-c").arg(line).env_clear().envs(&env.vars);
        command.current_dir(env.dirs.home.as_deref().unwrap_or(Path::new("/")));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, group) = WatchedGroup::start(command, ()).await.map_err(|error| {
            let hint = "it runs in `/bin/sh`, in your home folder; check that both are there";
            Unresolved::new(format!("the command cannot be run: {error}"), hint)
        })?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (out, err) = (Capture::new(SECRET_BYTES_MAX), Capture::new(STDERR_BYTES_MAX));
        Ok(Self { group, child, stdout, stderr, out, err })
    }

    /// Waits for the shell. What it left running in the background may hold its output open, and is not waited for.
    async fn wait(&mut self, limit: Duration) -> Ended {
        let Self { child, stdout, stderr, out, err, .. } = self;
        let filling = async {
            out.read_while(stdout, |out| !out.is_over()).await;
            if !out.is_over() {
                std::future::pending::<()>().await;
            }
        };
        let listening = async {
            err.read_while(stderr, |_| true).await;
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            status = child.wait() => Ended::Itself(status.ok()),
            () = filling => Ended::TooMuch,
            never = listening => match never {},
            () = tokio::time::sleep(limit) => Ended::TooLate,
        }
    }

    /// Reads what was written before the end.
    async fn read_rest(&mut self) {
        let Self { stdout, stderr, out, err, .. } = self;
        let reading =
            async { tokio::join!(out.read_while(stdout, |out| !out.is_over()), err.read_while(stderr, |_| true)) };
        let patience = Duration::from_millis(SECRET_COMMAND_END_MS);
        let _something_left_the_group = tokio::time::timeout(patience, reading).await.is_err();
    }
}

/// The beginning of what a command writes.
struct Capture {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Capture {
    const fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max }
    }

    /// Whether there is more than it takes. One byte too many is kept, to know it by.
    fn is_over(&self) -> bool {
        self.bytes.len() > self.bytes_max
    }

    /// Reads until the stream ends or nobody wants more. May be dropped and called again.
    async fn read_while<R: AsyncRead + Unpin>(&mut self, stream: &mut Option<R>, wants: impl Fn(&Self) -> bool) {
        let Some(open) = stream else { return };
        let mut chunk = [0; 4 * 1024];
        while wants(self) {
            let Ok(size @ 1..) = open.read(&mut chunk).await else {
                *stream = None;
                return;
            };
            let room = (self.bytes_max + 1).saturating_sub(self.bytes.len());
            self.bytes.extend_from_slice(chunk.get(..size.min(room)).unwrap_or_default());
        }
    }
}
