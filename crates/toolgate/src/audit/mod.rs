//! Stage 12: the audit log, one record for every call and every change of permissions. Its files reveal later changes
//! to them.
//!
//! [`FileAudit`] writes, [`AuditLog`] reads: [`Query`] picks records, [`verify`] finds what was changed, [`Statistics`] counts. The format is
//! told in `docs/audit.md`.

mod record;

mod redact;

mod alert_command;
mod alert_rules;
mod alerts;
mod chain;
mod folder;
mod head;
mod line;
mod log_file;
mod log_writer;
mod members;
mod seen;
mod tail;
mod unusual;
mod writer;

mod log;
mod moment;
mod open_calls;
mod permission;
mod query;
mod rules_noted;
mod stats;
mod stored;
mod stored_change;
mod verify;

pub use alert_command::AlertCommands;
pub use alert_rules::AlertRules;
pub use alerts::{Alert, AlertReplay, RECORDED_ALERT};
pub use log::AuditLog;
pub use moment::moment;
pub use permission::{ChangedFile, ImpactCase, PermissionChange, PermissionImpact, PermissionKind, RecordedPerson};
pub use query::Query;
pub use record::{AuditRecord, AuditSink, NoAudit};
pub use redact::covered_text;
pub(crate) use redact::has_secrets;
pub use rules_noted::{PolicyInForce, RulesInForce};
pub use stats::{Latency, Statistics, ToolStatistics};
pub use stored::{StoredCall, StoredError, StoredRule};
pub use stored_change::{StoredChange, StoredFile, StoredImpact, StoredImpactCase, StoredPerson};
pub use unusual::{Unusual, UnusualUse};
pub use verify::{Finding, Verification, verify};
pub use writer::{ArgumentsKept, AuditOptions, FileAudit, Fsync};
