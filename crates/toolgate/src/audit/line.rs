//! What the lines of a call say: an [`AuditRecord`] with its secrets covered and everything bounded.

use super::alerts::Alert;
use super::members::Members;
use super::record::AuditRecord;
use super::redact::{self, ArgumentsKept};
use super::unusual::UnusualUse;
use crate::limits::AUDIT_ADJUSTMENTS_MAX;
use crate::policy::{Because, Presence, RuleOrigin};

/// What is known when a call begins, which is all that the line of its beginning says.
pub(super) fn beginning(record: &AuditRecord, keep: ArgumentsKept) -> String {
    let kept = redact::arguments(&record.arguments, record.input_schema.as_ref(), keep);
    let (mut rule, mut filter, mut grant) = (None, None, None);
    match &record.verdict.because {
        Because::Rule(found) => rule = Some(&found.origin),
        Because::Filter(found) => filter = Some(found),
        Because::Remembered(found) => grant = Some(redact::name(found)),
        Because::NoRule => {}
    }
    let adjustments = record.verdict.adjustments.iter().take(AUDIT_ADJUSTMENTS_MAX);
    let adjustments: Vec<String> = adjustments.map(|words| redact::message(words)).collect();
    Members::of(|members| {
        members.text("session", &redact::name(&record.session));
        members.text("asker", record.asker.as_str());
        members.text("folder", &redact::name(&record.folder.to_string_lossy()));
        members.text("server", &record.server);
        members.text("tool", &redact::name(&record.tool));
        members.text("name", &redact::name(&record.name));
        members.text("definition", &redact::name(&record.definition));
        members.flag("readOnly", record.is_read_only);
        members.json("arguments", &kept.value.to_string());
        members.text("argumentsHash", &kept.hash);
        members.number("covered", kept.covered as u64);
        members.text("mode", record.mode.as_str());
        members.flag("interactive", record.presence == Presence::Interactive);
        members.text("decision", record.verdict.decision.as_str());
        members.object_or_null("rule", rule, write_origin);
        members.object_or_null("filter", filter, write_origin);
        members.text_or_null("grant", grant.as_deref());
        members.texts("adjustments", adjustments.iter().map(String::as_str));
        members.text_or_null("confirmation", record.confirmation);
    })
}

/// How a call ended, with what is unusual about it: what stands behind all that was known when it began.
pub(super) fn ending(record: &AuditRecord, flags: &[UnusualUse], alerts: &[Alert]) -> String {
    Members::of(|members| {
        members.text("outcome", record.outcome);
        members.object_or_null("error", record.error.as_ref(), |members, (kind, said)| {
            members.text("kind", &redact::name(kind));
            members.text("message", &redact::message(said));
        });
        members.number("durationMs", u64::try_from(record.took.as_millis()).unwrap_or(u64::MAX));
        members.number_or_null("resultBytes", record.result_bytes);
        members.texts("unusual", flags.iter().map(|flag| flag.as_str()));
        let names: Vec<_> = alerts.iter().filter(|alert| alert.flag).map(|alert| redact::name(&alert.name)).collect();
        if !names.is_empty() {
            members.texts("alerts", names.iter().map(|name| &**name));
        }
    })
}

/// Where a rule is written.
fn write_origin(members: &mut Members, origin: &RuleOrigin) {
    let file = origin.file.as_ref().map(|file| file.to_string_lossy());
    members.text("label", &redact::name(&origin.label));
    members.text_or_null("file", file.as_deref().map(redact::name).as_deref());
    members.number_or_null("line", origin.line.map(|line| line as u64));
    members.text_or_null("name", origin.name.as_deref().map(redact::name).as_deref());
}
