//! What `toolgate ps` shows, as it travels: the runtime, its hosts, their servers.

use std::collections::HashMap;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use toolgate::ServerView;
use toolgate::discovery::{Line, Traffic};

use super::frames::VERSION;
use super::hosts::Kept;

/// A server that is known from an earlier run, and is started when it is used.
const RESTING: &str = "resting";

/// The runtime.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuntimeStatus {
    /// Its process.
    pub(crate) pid: u32,
    /// The version of the program.
    pub(crate) version: String,
    /// How long it has been up.
    pub(crate) up_ms: u64,
    /// Whether commands of whoever asks are run by it: not when their servers would inherit something else.
    pub(crate) serves: bool,
    /// What it was asked for since.
    pub(crate) requests: u64,
    /// Commands that are being run.
    pub(crate) running: usize,
    /// The memory it takes itself.
    pub(crate) memory_bytes: Option<u64>,
    /// Its hosts.
    pub(crate) hosts: Vec<HostStatus>,
}

impl RuntimeStatus {
    /// Why commands of whoever asks do without it, when they do.
    pub(crate) fn why_not(&self) -> Option<String> {
        if self.version != VERSION {
            Some(format!("it is version {} and this is {VERSION}: commands do without it", self.version))
        } else if !self.serves {
            let what = "it is another build of toolgate, or runs under another umask, with other groups, limits or \
                        certificates, or in another container";
            Some(format!("{what}: commands from here do without it"))
        } else {
            None
        }
    }
}

/// One host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HostStatus {
    /// The folder it is for.
    pub(crate) folder: String,
    /// Its servers.
    pub(crate) servers: Vec<ServerStatus>,
}

/// One server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerStatus {
    /// Its name.
    pub(crate) name: String,
    /// Where it is in its life.
    pub(crate) status: String,
    /// For how long.
    pub(crate) since_ms: u64,
    /// Its process, when it is a child.
    pub(crate) pid: Option<u32>,
    /// The memory of all processes in its group.
    pub(crate) memory_bytes: Option<u64>,
    /// Calls that were made.
    pub(crate) calls: u64,
    /// Calls that run.
    pub(crate) running: usize,
    /// Calls that wait for a place.
    pub(crate) waiting: usize,
    /// Connections there were, the present one included.
    pub(crate) connections: u64,
    /// Answers that came when nobody waited for them any more.
    pub(crate) late_answers: u64,
}

impl HostStatus {
    /// How a host stands, with the memory of all groups of processes.
    pub(crate) fn of(kept: &Kept, now: SystemTime, groups: &HashMap<u32, u64>) -> Self {
        let servers = kept.host.servers();
        Self {
            folder: kept.context.folder.display().to_string(),
            servers: servers.iter().map(|view| ServerStatus::of(view, kept, now, groups)).collect(),
        }
    }
}

impl ServerStatus {
    fn of(view: &ServerView, kept: &Kept, now: SystemTime, groups: &HashMap<u32, u64>) -> Self {
        let line = kept.host.line(view.name()).ok();
        let pid = line.as_ref().and_then(Line::now).and_then(|live| live.connection.pid());
        let Traffic { calls, running, waiting, connections, late_answers } =
            line.as_ref().map(Line::traffic).unwrap_or_default();
        let since = now.duration_since(view.since).unwrap_or_default();
        Self {
            name: view.name().to_string(),
            status: if view.is_remembered && pid.is_none() { RESTING } else { view.status.as_str() }.to_owned(),
            since_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            pid,
            memory_bytes: pid.and_then(|pid| groups.get(&pid)).copied(),
            calls,
            running,
            waiting,
            connections,
            late_answers,
        }
    }
}
