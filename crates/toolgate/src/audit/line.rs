//! What the line of a call says: an [`AuditRecord`] with its secrets covered and everything bounded.

use serde::Serialize;
use serde_json::Value;

use super::record::AuditRecord;
use super::redact::{self, ArgumentsKept};
use super::unusual::UnusualUse;
use crate::limits::AUDIT_ADJUSTMENTS_MAX;
use crate::policy::{Because, Presence, RuleOrigin};

/// How a call ended: what stands behind all that was known when it began.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndLine {
    outcome: &'static str,
    error: Option<ErrorLine>,
    duration_ms: u64,
    result_bytes: Option<u64>,
    unusual: Vec<&'static str>,
}

/// What is known when a call begins, which is all that the line of its beginning says.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BeginLine {
    session: String,
    asker: &'static str,
    folder: String,
    server: String,
    tool: String,
    name: String,
    definition: String,
    read_only: bool,
    arguments: Value,
    arguments_hash: String,
    covered: usize,
    mode: &'static str,
    interactive: bool,
    decision: &'static str,
    rule: Option<OriginLine>,
    filter: Option<OriginLine>,
    grant: Option<String>,
    adjustments: Vec<String>,
    confirmation: Option<&'static str>,
}

/// Where a rule is written.
#[derive(Debug, Serialize)]
struct OriginLine {
    label: String,
    file: Option<String>,
    line: Option<usize>,
    name: Option<String>,
}

#[derive(Debug, Serialize)]
struct ErrorLine {
    kind: String,
    message: String,
}

impl BeginLine {
    /// What is kept of a record before its call has ended.
    pub(super) fn of(record: &AuditRecord, keep: ArgumentsKept) -> Self {
        let kept = redact::arguments(&record.arguments, record.input_schema.as_ref(), keep);
        let adjustments = record.verdict.adjustments.iter().take(AUDIT_ADJUSTMENTS_MAX);
        let (mut rule, mut filter, mut grant) = (None, None, None);
        match &record.verdict.because {
            Because::Rule(found) => rule = Some(origin(&found.origin)),
            Because::Filter(found) => filter = Some(origin(found)),
            Because::Remembered(found) => grant = Some(redact::name(found)),
            Because::NoRule => {}
        }
        Self {
            session: redact::name(&record.session),
            asker: record.asker.as_str(),
            folder: redact::name(&record.folder.to_string_lossy()),
            server: record.server.to_string(),
            tool: redact::name(&record.tool),
            name: redact::name(&record.name),
            definition: redact::name(&record.definition),
            read_only: record.is_read_only,
            arguments: kept.value,
            arguments_hash: kept.hash,
            covered: kept.covered,
            mode: record.mode.as_str(),
            interactive: record.presence == Presence::Interactive,
            decision: record.verdict.decision.as_str(),
            rule,
            filter,
            grant,
            adjustments: adjustments.map(|words| redact::message(words)).collect(),
            confirmation: record.confirmation,
        }
    }
}

impl EndLine {
    /// What is kept of how a call ended, with what is unusual about it.
    pub(super) fn of(record: &AuditRecord, flags: &[UnusualUse]) -> Self {
        let error = record.error.as_ref();
        Self {
            outcome: record.outcome,
            error: error.map(|(kind, said)| ErrorLine { kind: redact::name(kind), message: redact::message(said) }),
            duration_ms: u64::try_from(record.took.as_millis()).unwrap_or(u64::MAX),
            result_bytes: record.result_bytes,
            unusual: flags.iter().map(|flag| flag.as_str()).collect(),
        }
    }
}

fn origin(origin: &RuleOrigin) -> OriginLine {
    OriginLine {
        label: redact::name(&origin.label),
        file: origin.file.as_ref().map(|file| redact::name(&file.to_string_lossy())),
        line: origin.line,
        name: origin.name.as_deref().map(redact::name),
    }
}
