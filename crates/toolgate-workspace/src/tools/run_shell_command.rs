//! `run_shell_command`: a command line in a process group of its own. Whatever happens to the call, the group ends with it.
//!
//! Only the folder it starts in is confined; what a command does is up to the system. The call has ended when the shell has: what it
//! left in the background is killed, and so is everything on a time limit or when the call is given up.

use std::convert::Infallible;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use cap_std::fs::Dir;
use serde::Deserialize;
use serde_json::json;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use toolgate_wire::transport::watched_group::WatchedGroup;

use super::Room;
use super::output_capture::Capture;
use crate::answer::Answer;
use crate::arguments::whole;
use crate::confine::OpenFolder;
use crate::error::Failure;
use crate::limits::{COMMAND_BYTES_MAX, SHELL_DRAIN_MS, SHELL_TIMEOUT_MS_DEFAULT, SHELL_TIMEOUT_MS_MAX};

pub(super) const OFFER: &str = r#"{
"name":"run_shell_command","title":"Run a shell command",
"description":"Runs a command line with `sh -c` and gives its output and exit code. It starts in the workspace folder or in `cwd` inside it, with nothing to read on stdin. Only where it starts is confined: the command itself can read, change and reach whatever the user of this program can, outside the workspace and on the network. It ends with everything it started when the shell ends, after `timeout`, or when the call is cancelled; processes in the background do not stay. Of long output the beginning and the end are kept.",
"inputSchema":{"type":"object","properties":{
"command":{"type":"string","minLength":1,"description":"The command line"},
"cwd":{"type":"string","description":"The folder to start in, relative to the workspace folder, or absolute inside it or an included folder (default: the workspace folder)"},
"timeout":{"type":"integer","minimum":1,"maximum":600000,"default":120000,"description":"How long it may run, in milliseconds"}
},"required":["command"],"additionalProperties":false},
"outputSchema":{"type":"object","properties":{
"exit_code":{"type":["integer","null"],"description":"null when it was ended by a signal"},
"signal":{"type":["integer","null"],"description":"The signal that ended it"},
"stdout":{"type":"string"},
"stderr":{"type":"string"},
"timed_out":{"type":"boolean"},
"cut_bytes":{"type":"integer","description":"Bytes of output that are missing in the middle"}
},"required":["exit_code","signal","stdout","stderr","timed_out","cut_bytes"]},
"annotations":{"title":"Run a shell command","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}}"#;

const SHELL: &str = "/bin/sh";

/// Variables that speak of the folder that the host was started in, not of the one that the command runs in.
const STALE_VARIABLES: [&str; 3] = ["PWD", "OLDPWD", "CDPATH"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    command: String,
    cwd: Option<String>,
    #[serde(default, deserialize_with = "whole")]
    timeout: Option<u64>,
}

pub(super) async fn run(room: &Arc<Room>, wanted: Wanted) -> Result<Answer, Failure> {
    let limit = time_limit(wanted.timeout)?;
    check_command(&wanted.command)?;
    let _slot = room.shells.acquire().await.map_err(|_| Failure::new("the server is stopping; nothing was run"))?;
    let at_work = room.clone();
    let cwd = wanted.cwd;
    let (folder, place) = room
        .jobs
        .run(move |_| {
            let path = at_work.folders.path("cwd", cwd.as_deref().unwrap_or("."))?;
            let OpenFolder { dir, of, place } = at_work.folders.open_folder("start in", &path)?;
            Ok((dir, of.root().join(place)))
        })
        .await?;
    Ok(Running::start(room, &wanted.command, folder, place).await?.finish(limit).await)
}

fn time_limit(wanted: Option<u64>) -> Result<Duration, Failure> {
    let limit = wanted.unwrap_or(SHELL_TIMEOUT_MS_DEFAULT);
    if !(1..=SHELL_TIMEOUT_MS_MAX).contains(&limit) {
        return Err(Failure::new(format!(
            "`timeout` is {limit} ms; give from 1 to {SHELL_TIMEOUT_MS_MAX} (limit SHELL_TIMEOUT_MS_MAX)"
        )));
    }
    Ok(Duration::from_millis(limit))
}

fn check_command(command: &str) -> Result<(), Failure> {
    if command.trim().is_empty() {
        return Err(Failure::new("`command` is empty; give a command line for `sh`"));
    }
    if command.contains('\0') {
        return Err(Failure::new("`command` contains the character NUL, which no program can be given; leave it out"));
    }
    if command.len() > COMMAND_BYTES_MAX {
        return Err(Failure::new(format!(
            "`command` has {} bytes, more than the system takes (limit COMMAND_BYTES_MAX = {COMMAND_BYTES_MAX}); write it to a file and run that",
            command.len()
        )));
    }
    Ok(())
}

/// A path to an open folder that means exactly this handle, whatever happens to its name until the child has gone there.
#[cfg(target_os = "linux")]
fn exactly(folder: &Dir, _place: PathBuf) -> PathBuf {
    // Looked up by the child itself, which still has the handle until it becomes the shell.
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

/// Systems without a path to a handle get the path that it was just opened from.
#[cfg(not(target_os = "linux"))]
fn exactly(_folder: &Dir, place: PathBuf) -> PathBuf {
    place
}

/// A command while it runs. Dropping it kills its group.
struct Running {
    child: Child,
    group: WatchedGroup,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    out: Capture,
    err: Capture,
}

impl Running {
    async fn start(room: &Room, line: &str, folder: Dir, place: PathBuf) -> Result<Self, Failure> {
        let mut command = Command::new(SHELL);
        let env = room.shell_env.iter().filter(|(name, _)| !STALE_VARIABLES.iter().any(|stale| name == stale));
        command.arg("-c").arg(line).env_clear().envs(env.map(|(name, value)| (name, value)));
        command.current_dir(exactly(&folder, place));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, group) = WatchedGroup::start(command, folder).await.map_err(|error| {
            Failure::new(format!("cannot start `{SHELL}`: {error}; check that `cwd` still exists and can be entered"))
        })?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        Ok(Self { child, group, stdout, stderr, out: Capture::default(), err: Capture::default() })
    }

    /// Waits for the shell, for `limit` at most, and for what it wrote.
    async fn finish(&mut self, limit: Duration) -> Answer {
        let ended = {
            let reading = async {
                tokio::join!(self.out.drain(&mut self.stdout), self.err.drain(&mut self.stderr));
                std::future::pending::<Infallible>().await
            };
            tokio::select! {
                status = self.child.wait() => Some(status.ok()),
                never = reading => match never {},
                () = tokio::time::sleep(limit) => None,
            }
        };
        self.group.kill();
        let timed_out = ended.is_none();
        let patience = Duration::from_millis(SHELL_DRAIN_MS);
        let status = match ended {
            Some(status) => status,
            None => tokio::time::timeout(patience, self.child.wait()).await.ok().and_then(Result::ok),
        };
        let rest = async { tokio::join!(self.out.drain(&mut self.stdout), self.err.drain(&mut self.stderr)) };
        let _something_left_the_group = tokio::time::timeout(patience, rest).await.is_err();
        self.answer(status, timed_out.then_some(limit))
    }

    fn answer(&self, status: Option<ExitStatus>, timed_out: Option<Duration>) -> Answer {
        let (out, err) = (self.out.text(), self.err.text());
        let (code, signal) = (status.and_then(|status| status.code()), status.and_then(|status| status.signal()));
        let ending = match (timed_out, code, signal) {
            (Some(limit), ..) => format!(
                "[timed out after {} ms and was killed with everything it started; a longer `timeout` can be given, up to {SHELL_TIMEOUT_MS_MAX}]",
                limit.as_millis()
            ),
            (None, Some(code), _) => format!("[exit code {code}]"),
            (None, None, Some(signal)) => format!("[ended by signal {signal}]"),
            (None, None, None) => "[ended in an unknown way]".to_owned(),
        };
        let mut text = out.clone();
        if !err.is_empty() {
            start_line(&mut text);
            text.push_str("[stderr]\n");
            text.push_str(&err);
        }
        let succeeded = timed_out.is_none() && code == Some(0);
        if !succeeded || text.is_empty() {
            start_line(&mut text);
            text.push_str(&ending);
        }
        let data = json!({
            "exit_code": code, "signal": signal, "stdout": out, "stderr": err,
            "timed_out": timed_out.is_some(), "cut_bytes": self.out.cut() + self.err.cut(),
        });
        let answer = Answer::text(text).structured(data);
        if succeeded { answer } else { answer.failed() }
    }
}

fn start_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}
