//! `ProcessGroup`: a server and what it started, as far as it stays together; and those who left, which no signal to the group reaches.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

#[cfg(any(target_os = "linux", test))]
use crate::limits::PROCESSES_MAX;
use crate::transport::watchdog::{self, Mark};

/// How often a group that was told to end is looked at.
const POLL: Duration = Duration::from_millis(10);

/// A process group of a server of ours. It is forgotten by the watchdog when this is dropped.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    /// The server.
    pub(crate) leader: Pid,
    /// What it carries.
    pub(crate) mark: Mark,
}

impl ProcessGroup {
    pub(crate) fn signal(&self, signal: Signal) {
        let _it_is_gone_already = kill_process_group(self.leader, signal).is_err();
    }

    fn is_empty(&self) -> bool {
        test_kill_process_group(self.leader).is_err()
    }

    /// Ends whoever is left in it, with `grace` to leave by itself.
    pub(crate) async fn end(&self, grace: Duration) {
        if self.is_empty() {
            return;
        }
        self.signal(Signal::TERM);
        let deadline = tokio::time::Instant::now() + grace;
        while !self.is_empty() && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(POLL).await;
        }
        self.signal(Signal::KILL);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        watchdog::forget(self.leader);
    }
}

/// A process that a server started and that has left its group, so that ending the group does not reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Its process id.
    pub pid: u32,
    /// The name of its program, as the system shortens it.
    pub name: String,
}

/// What the system says about a process.
#[cfg(any(target_os = "linux", test))]
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) group: u32,
    pub(crate) name: String,
}

#[cfg(any(target_os = "linux", test))]
impl Process {
    /// What the system says about that one.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        Self::read(&String::from_utf8_lossy(&stat))
    }

    /// Reads `/proc/PID/stat`. A name may hold anything, brackets and blanks too, and ends with the last bracket.
    fn read(stat: &str) -> Option<Self> {
        let (pid, rest) = stat.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let group = rest.split(' ').nth(2)?.parse().ok()?;
        Some(Self { pid: pid.parse().ok()?, group, name: name.to_owned() })
    }
}

/// Those who descend from `leader` and are in another group. Whoever lost a parent on the way is found by its mark only.
#[cfg(any(target_os = "linux", test))]
fn strays_below(leader: u32, children: impl Fn(u32) -> Vec<Process>) -> Vec<Stray> {
    let mut seen = std::collections::BTreeSet::from([leader]);
    let (mut parents, mut strays) = (vec![leader], Vec::new());
    while let Some(parent) = parents.pop() {
        for child in children(parent) {
            // What is seen is not of one moment, so it could lead in a circle.
            if seen.len() > PROCESSES_MAX || !seen.insert(child.pid) {
                continue;
            }
            parents.push(child.pid);
            if child.group != leader {
                strays.push(Stray { pid: child.pid, name: child.name });
            }
        }
    }
    strays.sort_by_key(|stray| stray.pid);
    strays
}

/// Those who descend from `leader` and have left its group.
#[cfg(target_os = "linux")]
pub(crate) fn strays(leader: u32) -> Vec<Stray> {
    strays_below(leader, children)
}

/// The children of a process: each of its threads has its own.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<Process> {
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let pids: Vec<u32> =
        lists.flat_map(|list| list.split(' ').filter_map(|pid| pid.trim().parse().ok()).collect::<Vec<_>>()).collect();
    pids.into_iter().filter_map(Process::of).collect()
}

/// Elsewhere nobody can tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn strays(_leader: u32) -> Vec<Stray> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name_holds() {
        let rows = [
            ("12 (sleep) S 1 12 12 0 -1", Some((12, 12, "sleep"))),
            ("13 (a) b (c) R 12 7 7 0", Some((13, 7, "a) b (c"))),
            ("13 (cut", None),
            ("x (sleep) S 1 12", None),
            ("12 (sleep) S 1", None),
            ("", None),
        ];
        for (stat, expected) in rows {
            let read = Process::read(stat);
            let read = read.as_ref().map(|process| (process.pid, process.group, process.name.as_str()));
            assert_eq!(read, expected, "{stat}");
        }
    }

    #[test]
    fn those_are_strays_who_descend_from_the_leader_and_left_its_group() {
        let processes = [
            (10, 1, 10, "leader"),
            (11, 10, 10, "stays"),
            (12, 10, 12, "left"),
            (13, 12, 12, "of one that left"),
            (14, 11, 14, "left later"),
            (15, 1, 15, "a stranger"),
            (16, 1, 16, "daemonised, its parent is gone"),
            (17, 14, 10, "came back"),
            (11, 17, 10, "in a circle"),
        ];
        let children = |of: u32| {
            let ours = processes.iter().filter(|(_, parent, ..)| *parent == of);
            ours.map(|(pid, _, group, name)| Process { pid: *pid, group: *group, name: (*name).to_owned() }).collect()
        };
        let strays: Vec<_> = strays_below(10, children).into_iter().map(|stray| (stray.pid, stray.name)).collect();
        let expected = [(12, "left"), (13, "of one that left"), (14, "left later")];
        assert_eq!(strays, expected.map(|(pid, name)| (pid, name.to_owned())));
    }
}
