//! `Recording`: the record of one call while the call runs. That it begins is written down before anything is sent; how it ended when it ends,
//! and when it is dropped before that.

use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime};

use tokio::sync::oneshot;

use super::confirm::Confirmation;
use super::context::CallContext;
use super::judge::Subject;
use super::outcome::CallOutcome;
use crate::audit::AuditRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::grants::Remember;
use crate::policy::Verdict;

/// Stands for the ending of a call that has none yet.
const NOT_ENDED: &str = "running";

pub(super) struct Recording<'a> {
    context: &'a CallContext,
    subject: &'a Subject<'a>,
    pub(super) verdict: Verdict,
    at: SystemTime,
    started: Instant,
    confirmation: Option<&'static str>,
    /// What the record of the beginning is referred to by, once it is written.
    begun: Arc<OnceLock<u64>>,
    has_ended: bool,
}

impl<'a> Recording<'a> {
    pub(super) fn begin(context: &'a CallContext, subject: &'a Subject<'a>, verdict: Verdict) -> Self {
        let (at, started) = (context.now(), Instant::now());
        // Nothing is gathered for somebody who keeps nothing.
        let has_ended = !context.rules.audit.keeps_records();
        Self { context, subject, verdict, at, started, confirmation: None, begun: Arc::default(), has_ended }
    }

    /// What is called is described in another way than when it was asked for.
    pub(super) fn is_about(&mut self, subject: &'a Subject<'a>, verdict: Verdict) {
        self.subject = subject;
        self.verdict = verdict;
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

    /// Writes down that the call is about to be sent.
    ///
    /// # Errors
    /// When that cannot be written; the call must not be sent then.
    pub(super) async fn start(&mut self) -> Result<()> {
        if self.has_ended {
            return Ok(());
        }
        let record = self.record(NOT_ENDED, None, None);
        let (audit, begun) = (Arc::clone(&self.context.rules.audit), Arc::clone(&self.begun));
        let (tell, told) = oneshot::channel();
        self.context.keeper().hand_over(move || {
            let written = audit.begin(&record).map(|id| {
                if let Some(id) = id {
                    begun.get_or_init(|| id);
                }
            });
            // Nobody may be waiting any more; the ending is recorded all the same.
            let _heard = tell.send(written).is_ok();
        });
        let gone = || Err(Error::new(ErrorKind::State, "nobody keeps the record of calls any more"));
        told.await.unwrap_or_else(|_| gone()).map_err(|error| {
            // Whoever could not write this counts it as a call that is missing.
            self.has_ended = true;
            error.while_doing("the call was not made, since it could not be recorded")
        })
    }

    pub(super) async fn end(mut self, outcome: &CallOutcome) {
        let error = match outcome {
            CallOutcome::Failed(error) | CallOutcome::Unknown(error) => Some(error),
            _ => None,
        };
        let result_bytes = outcome.report().map(|report| report.result.raw.as_bytes().len() as u64);
        if let Some(written) = self.keep(outcome.as_str(), error, result_bytes) {
            let _written = written.await.is_ok();
        }
    }

    /// Hands the record over; the answer tells when it is written.
    fn keep(
        &mut self,
        outcome: &'static str,
        error: Option<&Error>,
        result_bytes: Option<u64>,
    ) -> Option<oneshot::Receiver<()>> {
        if std::mem::replace(&mut self.has_ended, true) {
            return None;
        }
        let mut record = self.record(outcome, error, result_bytes);
        let (audit, begun) = (Arc::clone(&self.context.rules.audit), Arc::clone(&self.begun));
        let (tell, told) = oneshot::channel();
        self.context.keeper().hand_over(move || {
            // What was handed over before is done by now.
            record.begun = begun.get().copied();
            audit.record(&record);
            let _heard = tell.send(()).is_ok();
            audit.settle();
        });
        Some(told)
    }

    fn record(&self, outcome: &'static str, error: Option<&Error>, result_bytes: Option<u64>) -> AuditRecord {
        let call = self.subject.call;
        AuditRecord {
            at: self.at,
            begun: None,
            session: self.context.session().to_owned(),
            asker: call.asked_by,
            folder: self.context.folder().to_owned(),
            server: call.tool.id.server.clone(),
            tool: call.tool.id.tool.to_string(),
            name: call.name.clone(),
            definition: self.subject.checks.definition.clone(),
            is_read_only: call.tool.hints().read_only_hint == Some(true),
            input_schema: call.tool.tool.input_schema.clone(),
            arguments: call.arguments.clone(),
            mode: self.subject.mode,
            presence: self.context.rules.presence,
            verdict: self.verdict.clone(),
            confirmation: self.confirmation,
            outcome,
            error: error.map(|error| (error.kind().as_str().to_owned(), error.to_string())),
            took: self.started.elapsed(),
            result_bytes,
        }
    }
}

impl Drop for Recording<'_> {
    /// Nobody waits for the call any more: it is cancelled at its server.
    fn drop(&mut self) {
        let _nobody_waits = self.keep(CallOutcome::Cancelled.as_str(), None, None);
    }
}
