//! `AlertCommands`: tells commands about alerts, bounded in time and number. Dropping this waits a moment for them. One that runs longer goes
//! on behind the process, with a watchdog in its group that ends it when its time is over.

use std::fmt;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::alerts::Alert;
use super::members::Members;
use super::moment::written;
use crate::env::HostEnv;
use crate::limits::{
    ALERT_COMMAND_LOOK_MS, ALERT_COMMAND_MS, ALERT_COMMAND_WAIT_MS, ALERT_COMMANDS_MAX, ALERT_COMMANDS_PER_MINUTE_MAX,
    AUDIT_NAME_CHARS_MAX,
};

/// Runs the commands of alerts.
pub struct AlertCommands {
    vars: Vec<(String, String)>,
    folder: PathBuf,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    threads: Vec<Attended>,
    /// Start times of commands within the last minute.
    started: Vec<Instant>,
}

/// One command, with the thread that attends to it.
struct Attended {
    thread: JoinHandle<()>,
    since: Instant,
    /// The process of the command; 0 until it is started.
    process: Arc<AtomicU32>,
}

impl Attended {
    fn left(&self) -> Duration {
        Duration::from_millis(ALERT_COMMAND_MS).saturating_sub(self.since.elapsed())
    }

    fn process(&self) -> Option<u32> {
        Some(self.process.load(Ordering::Acquire)).filter(|process| *process > 0)
    }
}

impl AlertCommands {
    /// Commands inherit this environment and start in the person's own folder, not in the workspace.
    #[must_use]
    pub fn new(env: &HostEnv) -> Self {
        let vars = env.vars.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { vars, folder: env.dirs.user.clone(), running: Mutex::default() }
    }

    /// Starts the command of an alert, unless too many are running.
    pub fn tell(&self, alert: &Alert) {
        let Some(command) = &alert.command else { return };
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.threads.retain(|one| !one.thread.is_finished());
        running.started.retain(|start| start.elapsed() < Duration::from_secs(60));
        if running.threads.len() >= ALERT_COMMANDS_MAX || running.started.len() >= ALERT_COMMANDS_PER_MINUTE_MAX {
            tracing::warn!("the command of the alert {} was not started: too many are running", alert.name);
            return;
        }
        let (told, name, process) = (json(alert), alert.name.clone(), Arc::new(AtomicU32::new(0)));
        let (mut command, started) = (self.command(command), Arc::clone(&process));
        // The command is started by the thread that attends to it: without the thread there is none.
        let thread = thread::Builder::new().spawn(move || match command.spawn() {
            Ok(child) => {
                started.store(child.id(), Ordering::Release);
                attend(child, &told);
            }
            Err(error) => tracing::warn!("the command of the alert {name} cannot be run: {error}"),
        });
        let since = Instant::now();
        running.started.push(since);
        match thread {
            Ok(thread) => running.threads.push(Attended { thread, since, process }),
            Err(error) => tracing::warn!("the command of the alert {} cannot be run: {error}", alert.name),
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = if cfg!(windows) { Command::new("cmd") } else { Command::new("/bin/sh") };
        command.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(line);
        command.env_clear().envs(self.vars.iter().cloned()).current_dir(&self.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}

/// Writes the alert to the command, and kills it at the time limit.
fn attend(mut child: Child, told: &str) {
    if let Some(mut stdin) = child.stdin.take() {
        let _heard = stdin.write_all(told.as_bytes()).is_ok();
    }
    let until = Instant::now() + Duration::from_millis(ALERT_COMMAND_MS);
    while Instant::now() < until {
        if has_ended(&mut child) {
            break;
        }
        thread::sleep(Duration::from_millis(ALERT_COMMAND_LOOK_MS));
    }
    // A program that it left running in the background ends too.
    end(&child);
    let _ended = child.kill().is_ok();
    let _reaped = child.wait().is_ok();
}

/// Whether the command has ended. It is not reaped, so that its number still means its group.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Kills the command and its child processes.
#[cfg(unix)]
fn end(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ended = kill_process_group(group, Signal::KILL).is_ok();
    }
}

#[cfg(not(unix))]
fn end(_child: &Child) {}

/// An alert as one line of JSON. It omits arguments and results, so it stays short and contains no secrets.
fn json(alert: &Alert) -> String {
    let name = |text: &str| text.chars().take(AUDIT_NAME_CHARS_MAX).collect::<String>();
    let members = Members::of(|members| {
        members.text("alert", &name(&alert.name));
        members.text("measure", alert.measure);
        members.text("server", &name(&alert.server));
        members.text("tool", &name(&alert.tool));
        members.text("at", &written(alert.at));
        members.number("value", alert.value);
        members.number("limit", alert.limit);
    });
    format!("{{{members}}}\n")
}

impl Drop for AlertCommands {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + Duration::from_millis(ALERT_COMMAND_WAIT_MS);
        for one in running.threads.drain(..) {
            // Where nothing can end a command that stays behind, it is waited for.
            let is_awaited = |one: &Attended| Instant::now() < until || one.process().is_none() || !cfg!(unix);
            while !one.thread.is_finished() && is_awaited(&one) {
                thread::sleep(Duration::from_millis(ALERT_COMMAND_LOOK_MS));
            }
            if one.thread.is_finished() {
                let _ended = one.thread.join().is_ok();
            } else if let Some(process) = one.process() {
                watch(process, one.left());
            }
        }
    }
}

/// Leaves a watchdog in the group of a command. Being in the group itself, it can end no other one.
#[cfg(unix)]
fn watch(process: u32, left: Duration) {
    use std::os::unix::process::CommandExt as _;
    let Ok(group) = i32::try_from(process) else { return };
    let mut watchdog = Command::new("/bin/sh");
    watchdog.args(["-c", "sleep \"$1\"; kill -KILL 0", "sh", &left.as_secs().saturating_add(1).to_string()]);
    watchdog.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(group);
    if let Err(error) = watchdog.spawn() {
        tracing::warn!("the command of an alert stays behind without a time limit: {error}");
    }
}

#[cfg(not(unix))]
fn watch(_process: u32, _left: Duration) {}

impl fmt::Debug for AlertCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlertCommands").finish_non_exhaustive()
    }
}
