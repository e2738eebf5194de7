//! `AuditRecord`: one call and how it ended; `AuditSink`: who keeps it.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use toolgate_wire::RawJson;

use crate::asker::Asker;
use crate::policy::{Mode, Presence, Verdict};
use crate::server_name::ServerName;

/// One call and how it ended.
#[derive(Clone, Debug)]
pub struct AuditRecord {
    /// When it was asked for.
    pub at: SystemTime,
    /// Which run of the host; the same for all its calls.
    pub session: String,
    /// Who asked.
    pub asker: Asker,
    /// In which folder.
    pub folder: PathBuf,
    /// Whose tool.
    pub server: ServerName,
    /// What its server calls it.
    pub tool: String,
    /// What it was called by.
    pub name: String,
    /// The hash of its definition.
    pub definition: String,
    /// Whether its server says that it changes nothing.
    pub is_read_only: bool,
    /// What it takes, which tells what is secret in the arguments.
    pub input_schema: Option<RawJson>,
    /// The arguments as they were sent; whoever keeps them covers what is secret.
    pub arguments: RawJson,
    /// The mode it was decided in.
    pub mode: Mode,
    /// Whether somebody could be asked.
    pub presence: Presence,
    /// What was decided, and why.
    pub verdict: Verdict,
    /// What the person answered, when they were asked.
    pub confirmation: Option<&'static str>,
    /// How it ended: the word of the outcome.
    pub outcome: &'static str,
    /// What went wrong: the kind and the message.
    pub error: Option<(String, String)>,
    /// How long it took, questions included.
    pub took: Duration,
    /// How large the result was.
    pub result_bytes: Option<u64>,
}

/// Keeps records. Called once for every call, whatever happened to it.
pub trait AuditSink: Send + Sync + fmt::Debug {
    /// Keeps one.
    fn record(&self, record: &AuditRecord);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAudit;

impl AuditSink for NoAudit {
    fn record(&self, _record: &AuditRecord) {}
}
