//! `AuditRecord`: one call and how it ended; `AuditSink`: who keeps it.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use toolgate_wire::RawJson;

use super::permission::PermissionChange;
use super::rules_noted::RulesInForce;
use crate::asker::Asker;
use crate::error::Result;
use crate::policy::{Mode, Presence, Verdict};
use crate::server_name::ServerName;

/// One call and how it ended.
#[derive(Clone, Debug)]
pub struct AuditRecord {
    /// When it was asked for.
    pub at: SystemTime,
    /// What [`AuditSink::begin`] gave when it began; nothing for a call that never did.
    pub begun: Option<u64>,
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

/// Keeps records. What does not say otherwise is called on a thread that may wait for disks and locks.
pub trait AuditSink: Send + Sync + fmt::Debug {
    /// A call was let through and is about to be sent: the record without its ending. What it is referred to by when it ends, if that is wanted.
    ///
    /// # Errors
    /// When the call must not be sent, because nobody could tell later that it was.
    fn begin(&self, record: &AuditRecord) -> Result<Option<u64>> {
        let _no_trace_is_needed = record;
        Ok(None)
    }

    /// Keeps one. Called once for every call, whatever happened to it; only a call that `begin` refused has none.
    fn record(&self, record: &AuditRecord);

    /// Records a change of permissions. May wait for disks and locks.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
    fn permission_changed(&self, change: &PermissionChange) -> Result<()> {
        let _no_trace_is_needed = change;
        Ok(())
    }

    /// Compares the rules for the next calls with the last ones, and records a change. May wait for disks and
    /// locks.
    ///
    /// # Errors
    /// Returns an error if a change cannot be recorded.
    fn rules_in_force(&self, rules: &RulesInForce<'_>) -> Result<()> {
        let _no_trace_is_needed = rules;
        Ok(())
    }

    /// The same as [`begin`](Self::begin), where nobody has to be waited for: called first, and where waiting would hold others up. `None`
    /// when somebody has to be.
    fn begin_at_once(&self, record: &AuditRecord) -> Option<Result<Option<u64>>> {
        let _waits = record;
        None
    }

    /// The same as [`record`](Self::record), where nobody has to be waited for. Whether it is kept.
    fn record_at_once(&self, record: &AuditRecord) -> bool {
        let _waits = record;
        false
    }

    /// Brings what was kept to where it is safe, if that is due, and makes ready for more. Called after whoever waits for a record has been
    /// told, and again after the time that it gives, when nothing was kept on that thread meanwhile.
    fn settle(&self) -> Option<Duration> {
        None
    }

    /// Nothing comes any more, from whoever called [`settle`](Self::settle).
    fn leave(&self) {}

    /// Whether anything is kept at all.
    fn keeps_records(&self) -> bool {
        true
    }
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAudit;

impl AuditSink for NoAudit {
    fn record(&self, _record: &AuditRecord) {}

    fn keeps_records(&self) -> bool {
        false
    }
}
