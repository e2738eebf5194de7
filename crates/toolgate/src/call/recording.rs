//! `Recording`: the record of one call while the call runs. That it begins is written down before anything is sent; how it ended when it ends,
//! and when it is dropped before that.
//!
//! Both are done on the spot where nobody has to be waited for, and on the thread of the keeper where somebody has to be.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

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
    /// Nothing when nobody keeps it, or when it is kept already.
    record: Option<Box<AuditRecord>>,
    pub(super) verdict: Verdict,
    started: Instant,
    /// How long somebody thought about it.
    pondered: Duration,
    /// What the record of the beginning is referred to by, once it is written by the keeper. There while that is waited for.
    beginning: Option<Arc<OnceLock<u64>>>,
}

impl<'a> Recording<'a> {
    pub(super) fn begin(context: &'a CallContext, subject: &Subject<'_>, verdict: Verdict) -> Self {
        let started = Instant::now();
        // Nothing is gathered for somebody who keeps nothing.
        let record = context.rules.audit.keeps_records().then(|| Box::new(record_of(context, subject, &verdict)));
        Self { context, record, verdict, started, pondered: Duration::ZERO, beginning: None }
    }

    /// What is called is described in another way than when it was asked for.
    pub(super) fn is_about(&mut self, subject: &Subject<'_>, verdict: Verdict) {
        if let Some(record) = &mut self.record {
            **record = AuditRecord { at: record.at, ..record_of(self.context, subject, &verdict) };
        }
        self.verdict = verdict;
    }

    /// How long the call has taken. The time of whoever was asked about it is theirs.
    pub(super) fn took(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.pondered)
    }

    pub(super) fn confirmed(&mut self, answer: &Confirmation, pondered: Duration) {
        self.pondered = pondered;
        let Some(record) = &mut self.record else { return };
        record.confirmation = Some(match answer {
            Confirmation::Proceed(Remember::No) => "once",
            Confirmation::Proceed(Remember::ToolThisSession) => "tool_this_session",
            Confirmation::Proceed(Remember::ToolAlways) => "tool_always",
            Confirmation::Proceed(Remember::ServerThisSession) => "server_this_session",
            Confirmation::Proceed(Remember::ServerAlways) => "server_always",
            Confirmation::Proceed(Remember::TheseArgumentsAlways) => "these_arguments_always",
            Confirmation::Refuse { .. } => "refused",
        });
    }

    /// Something else was decided than at first.
    pub(super) fn is_decided(&mut self, verdict: Verdict) {
        if let Some(record) = &mut self.record {
            record.verdict = verdict.clone();
        }
        self.verdict = verdict;
    }

    /// Writes down that the call is about to be sent.
    ///
    /// # Errors
    /// When that cannot be written; the call must not be sent then.
    pub(super) async fn start(&mut self) -> Result<()> {
        let Some(record) = &mut self.record else { return Ok(()) };
        let begun = match self.context.keeper().audit().begin_at_once(record) {
            Some(begun) => begun,
            None => {
                let (told, number) = begin_later(self.context, record.clone());
                self.beginning = Some(number);
                let gone = || Err(Error::new(ErrorKind::State, "nobody keeps the record of calls any more"));
                let begun = told.await.unwrap_or_else(|_| gone());
                self.beginning = None;
                begun
            }
        };
        match begun {
            Ok(number) => {
                record.begun = number;
                Ok(())
            }
            Err(error) => {
                // Whoever could not write this counts it as a call that is missing.
                self.record = None;
                Err(error.while_doing("the call was not made, since it could not be recorded"))
            }
        }
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

    /// Keeps the record. The answer tells when it is written; nothing when it is already.
    fn keep(
        &mut self,
        outcome: &'static str,
        error: Option<&Error>,
        result_bytes: Option<u64>,
    ) -> Option<oneshot::Receiver<()>> {
        let mut record = self.record.take()?;
        record.outcome = outcome;
        record.error = error.map(|error| (error.kind().as_str().to_owned(), error.to_string()));
        record.took = self.took();
        record.result_bytes = result_bytes;
        let keeper = self.context.keeper();
        let beginning = self.beginning.take();
        // While the beginning waits for the thread of the keeper, the ending has to wait behind it.
        if beginning.is_none() && keeper.audit().record_at_once(&record) {
            return None;
        }
        let (tell, told) = oneshot::channel();
        keeper.hand_over(move |audit| {
            if let Some(number) = beginning {
                record.begun = number.get().copied();
            }
            audit.record(&record);
            let _heard = tell.send(()).is_ok();
        });
        Some(told)
    }
}

impl Drop for Recording<'_> {
    /// Nobody waits for the call any more: it is cancelled at its server.
    fn drop(&mut self) {
        let _nobody_waits = self.keep(CallOutcome::Cancelled.as_str(), None, None);
    }
}

/// How the writing of a beginning ended, and what it is referred to by.
type Beginning = (oneshot::Receiver<Result<Option<u64>>>, Arc<OnceLock<u64>>);

/// Has the keeper write down that a call is about to be sent.
fn begin_later(context: &CallContext, record: Box<AuditRecord>) -> Beginning {
    let (tell, told) = oneshot::channel();
    let number = Arc::new(OnceLock::new());
    let noted = Arc::clone(&number);
    context.keeper().hand_over(move |audit| {
        let written = audit.begin(&record);
        if let Ok(Some(number)) = written {
            noted.get_or_init(|| number);
        }
        // Nobody may be waiting any more; the ending is recorded all the same.
        let _heard = tell.send(written).is_ok();
    });
    (told, number)
}

/// What is known of a call before it is sent.
fn record_of(context: &CallContext, subject: &Subject<'_>, verdict: &Verdict) -> AuditRecord {
    let call = subject.call;
    AuditRecord {
        at: context.now(),
        begun: None,
        session: context.session().to_string(),
        asker: call.asked_by,
        folder: context.folder().to_owned(),
        server: call.tool.id.server.clone(),
        tool: call.tool.id.tool.to_string(),
        name: call.name.clone(),
        definition: subject.checks.definition.clone(),
        is_read_only: call.tool.hints().read_only_hint == Some(true),
        input_schema: call.tool.tool.input_schema.clone(),
        arguments: call.arguments.clone(),
        mode: subject.mode,
        presence: context.rules.presence,
        verdict: verdict.clone(),
        confirmation: None,
        outcome: NOT_ENDED,
        error: None,
        took: Duration::ZERO,
        result_bytes: None,
    }
}
