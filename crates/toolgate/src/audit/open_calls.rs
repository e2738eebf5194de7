//! `OpenCalls`: calls that were begun and of whose ending nothing is written: they still run, or their process was killed.

use std::collections::BTreeMap;

use super::chain::kind;

/// How a call ended that runs still.
pub(super) const RUNNING: &str = "running";

/// How a call ended whose process is gone without a word.
pub(super) const UNKNOWN: &str = "unknown";

/// The calls that were begun and not ended, by the number of the record that says so.
#[derive(Debug)]
pub(super) struct OpenCalls<T> {
    open: BTreeMap<u64, (u32, T)>,
}

impl<T> OpenCalls<T> {
    /// None yet.
    pub(super) const fn none() -> Self {
        Self { open: BTreeMap::new() }
    }

    /// A record follows. `about` is kept for a call that begins with it.
    pub(super) fn follow(&mut self, mark: &Mark<'_>, about: impl FnOnce() -> T) {
        match (mark.kind, mark.started) {
            (kind::STARTED, _) => {
                self.open.insert(mark.seq, (mark.pid, about()));
            }
            (kind::CALL, Some(started)) => {
                self.open.remove(&started);
            }
            _ => (),
        }
    }

    /// How the call of that record ended, as far as can be told; `None` when it has a record of its ending.
    pub(super) fn outcome(&self, seq: u64) -> Option<&'static str> {
        let (pid, _) = self.open.get(&seq)?;
        Some(if is_running(*pid) { RUNNING } else { UNKNOWN })
    }

    /// Those whose process is gone.
    pub(super) fn never_ended(self) -> impl Iterator<Item = (u64, T)> {
        let gone = self.open.into_iter().filter(|(_, (pid, _))| !is_running(*pid));
        gone.map(|(seq, (_, about))| (seq, about))
    }
}

/// What a record says about the beginning and the ending of calls.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub(super) struct Mark<'a> {
    pub(super) seq: u64,
    pub(super) kind: &'a str,
    #[serde(default)]
    pub(super) pid: u32,
    pub(super) started: Option<u64>,
}

/// Whether there is such a process here. Another may have its number by now, so one that is gone may seem to run.
#[cfg(unix)]
fn is_running(pid: u32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    match test_kill_process(pid) {
        Ok(()) => true,
        Err(error) => error == Errno::PERM,
    }
}

/// Nobody can be asked there.
#[cfg(not(unix))]
fn is_running(pid: u32) -> bool {
    pid == std::process::id()
}
