//! `Recording`: the record of one call while the call runs. It is kept when the call ends, and when it is dropped before that.

use std::time::{Instant, SystemTime};

use super::confirm::Confirmation;
use super::context::CallContext;
use super::judge::Subject;
use super::outcome::CallOutcome;
use crate::audit::AuditRecord;
use crate::error::Error;
use crate::grants::Remember;
use crate::policy::Verdict;

pub(super) struct Recording<'a> {
    context: &'a CallContext,
    subject: &'a Subject<'a>,
    pub(super) verdict: Verdict,
    at: SystemTime,
    started: Instant,
    confirmation: Option<&'static str>,
    has_ended: bool,
}

impl<'a> Recording<'a> {
    pub(super) fn begin(context: &'a CallContext, subject: &'a Subject<'a>, verdict: Verdict) -> Self {
        let (at, started) = (context.now(), Instant::now());
        Self { context, subject, verdict, at, started, confirmation: None, has_ended: false }
    }

    pub(super) fn confirmed(&mut self, answer: &Confirmation) {
        self.confirmation = Some(match answer {
            Confirmation::Proceed(Remember::No) => "once",
            Confirmation::Proceed(Remember::ToolThisSession) => "tool_this_session",
            Confirmation::Proceed(Remember::ToolAlways) => "tool_always",
            Confirmation::Proceed(Remember::ServerAlways) => "server_always",
            Confirmation::Proceed(Remember::TheseArgumentsAlways) => "these_arguments_always",
            Confirmation::Refuse { .. } => "refused",
        });
    }

    pub(super) fn end(mut self, outcome: &CallOutcome) {
        let error = match outcome {
            CallOutcome::Failed(error) => Some(error),
            _ => None,
        };
        let result_bytes = outcome.report().map(|report| report.result.raw.as_bytes().len() as u64);
        self.keep(outcome.as_str(), error, result_bytes);
    }

    fn keep(&mut self, outcome: &'static str, error: Option<&Error>, result_bytes: Option<u64>) {
        self.has_ended = true;
        let call = self.subject.call;
        self.context.rules.audit.record(&AuditRecord {
            at: self.at,
            session: self.context.session().to_owned(),
            asker: call.asked_by,
            folder: self.context.folder().to_owned(),
            server: call.tool.id.server.clone(),
            tool: call.tool.id.tool.to_string(),
            name: call.name.clone(),
            definition: self.subject.definition.clone(),
            is_read_only: call.tool.hints().read_only_hint == Some(true),
            input_schema: call.tool.tool.input_schema.clone(),
            arguments: call.arguments.clone(),
            mode: self.context.mode(),
            presence: self.context.rules.presence,
            verdict: self.verdict.clone(),
            confirmation: self.confirmation,
            outcome,
            error: error.map(|error| (error.kind().as_str().to_owned(), error.to_string())),
            took: self.started.elapsed(),
            result_bytes,
        });
    }
}

impl Drop for Recording<'_> {
    /// Nobody waits for the call any more: it is cancelled at its server.
    fn drop(&mut self) {
        if !self.has_ended {
            self.keep(CallOutcome::Cancelled.as_str(), None, None);
        }
    }
}
