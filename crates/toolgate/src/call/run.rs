//! The pipeline of one call, on one screen: decide → see that the server is there and offers it still → check the arguments → ask → wait for
//! a place → write down that it begins → invoke → check the result → keep a record. Every ending is a [`CallOutcome`], and every call leaves
//! one record, also one that nobody waits for any more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate_wire::RawJson;
use toolgate_wire::view::CallResult;

use super::checks::Checks;
use super::confirm::{Confirmation, ConfirmationKind, ConfirmationRequest, Confirmer};
use super::context::CallContext;
use super::invoke::{Ended, RunOptions, invoke, still_there};
use super::judge::Subject;
use super::outcome::{CallOutcome, CallReport};
use super::recording::Recording;
use super::schema;
use crate::asker::Asker;
use crate::audit::{self, PermissionChange, PermissionKind};
use crate::discovery::Live;
use crate::error::{Error, ErrorKind, Result};
use crate::grants::{Grant, GrantScope, GrantSubject, Remember, RememberOptions, choices};
use crate::limits::RESULT_CHARS_MAX;
use crate::policy::{Decision, Verdict};
use crate::registry::PreparedCall;
use crate::shape::for_display;

pub(crate) async fn run(context: &CallContext, call: &PreparedCall, options: RunOptions) -> CallOutcome {
    run_answered(context, call, options, None).await
}

/// The question that a call would ask now, if any.
pub(super) async fn question_of(context: &CallContext, call: &PreparedCall) -> Option<ConfirmationRequest> {
    let subject = Subject::of(call, context);
    let verdict = subject.judge(context);
    if verdict.decision != Decision::Ask {
        return None;
    }
    let all_tools = subject.all_tools();
    let seen = subject.as_grants_see_it(context, &all_tools);
    Some(question(context, &subject, &seen, verdict).await)
}

/// Stores the answer to a question that was asked outside of a call.
pub(super) async fn keep_answer(context: &CallContext, call: &PreparedCall, remember: Remember) {
    let subject = Subject::of(call, context);
    let all_tools = subject.all_tools();
    remembered(context, &subject.as_grants_see_it(context, &all_tools), remember).await;
}

/// Runs a call. `answered` replaces the confirmer of the host.
pub(super) async fn run_answered(
    context: &CallContext,
    call: &PreparedCall,
    options: RunOptions,
    answered: Option<&dyn Confirmer>,
) -> CallOutcome {
    let (call_now, subject_now);
    let subject = Subject::of(call, context);
    let verdict = subject.judge(context);
    let mut recording = Recording::begin(context, &subject, verdict);
    let mut outcome = 'ended: {
        // Nothing is started for a call that is forbidden.
        if recording.verdict.decision == Decision::Deny {
            break 'ended CallOutcome::Denied(recording.verdict.clone());
        }
        let live = match call.offer.line.live().await {
            Ok(live) => live,
            Err(error) => break 'ended CallOutcome::Failed(error),
        };
        if Arc::ptr_eq(&live.offered, &call.offer.offered) {
            break 'ended run_decided(context, &subject, &mut recording, live, (options, answered)).await;
        }
        // What was shown may be what the server said in another life: what it says now decides.
        call_now = match call.as_offered_by(&live) {
            Ok(call) => call,
            Err(error) => break 'ended CallOutcome::Failed(error),
        };
        subject_now = Subject::of(&call_now, context);
        // The confirmation was for the old definition of the tool.
        let answered = answered.filter(|_| subject_now.checks.definition == subject.checks.definition);
        recording.is_about(&subject_now, subject_now.judge(context));
        run_decided(context, &subject_now, &mut recording, live, (options, answered)).await
    };
    if let CallOutcome::Completed(report) | CallOutcome::ToolError(report) = &mut outcome {
        report.took = recording.took();
    }
    recording.end(&outcome).await;
    outcome
}

async fn run_decided(
    context: &CallContext,
    subject: &Subject<'_>,
    recording: &mut Recording<'_>,
    live: Live,
    (options, answered): (RunOptions, Option<&dyn Confirmer>),
) -> CallOutcome {
    let call = subject.call;
    if recording.verdict.decision == Decision::Deny {
        return CallOutcome::Denied(recording.verdict.clone());
    }
    // Nobody is asked about a call that cannot be made.
    if let Err(error) = check_arguments(subject) {
        return CallOutcome::Failed(error);
    }
    if recording.verdict.decision == Decision::Ask
        && let Err(ended) = Box::pin(confirmed(context, subject, recording, answered)).await
    {
        return ended;
    }
    let _place = match call.offer.line.gate().enter(&call.tool.id.server).await {
        Ok(place) => place,
        Err(error) => return CallOutcome::Failed(error),
    };
    let live = match still_there(call, live) {
        Ok(live) => live,
        Err(error) => return CallOutcome::Failed(error),
    };
    // What would leave no trace is not done.
    if let Err(error) = recording.start().await {
        return CallOutcome::Failed(error);
    }
    match invoke(context, call, live, options).await {
        Ended::Answered(result) => keep_large(context, call, finish(call, &subject.checks, result)).await,
        Ended::TimedOut { after, idle } => CallOutcome::TimedOut { after, idle },
        Ended::Failed(error) => CallOutcome::Failed(error),
        Ended::Unknown(error) => CallOutcome::Unknown(error),
    }
}

/// Asks, and remembers the answer. The error is how the call ends without being made.
async fn confirmed(
    context: &CallContext,
    subject: &Subject<'_>,
    recording: &mut Recording<'_>,
    answered: Option<&dyn Confirmer>,
) -> Result<(), CallOutcome> {
    let all_tools = subject.all_tools();
    let seen = subject.as_grants_see_it(context, &all_tools);
    let question = question(context, subject, &seen, recording.verdict.clone()).await;
    let offered = question.choices.clone();
    let asked = Instant::now();
    let answer = match answered {
        Some(answered) => answered.confirm(question).await,
        None => context.rules.confirmer.confirm(question).await,
    };
    recording.confirmed(&answer, asked.elapsed());
    let remember = match answer {
        Confirmation::Refuse { reason } => return Err(CallOutcome::Refused { reason }),
        Confirmation::Proceed(remember) => remember,
    };
    // A person takes their time, and what holds now is not always what held when they were asked.
    let verdict = Subject::of(subject.call, context).judge(context);
    if verdict.decision == Decision::Deny {
        recording.is_decided(verdict.clone());
        return Err(CallOutcome::Denied(verdict));
    }
    if offered.contains(&remember) {
        remembered(context, &seen, remember).await;
    }
    Ok(())
}

async fn question(
    context: &CallContext,
    subject: &Subject<'_>,
    seen: &GrantSubject<'_>,
    verdict: Verdict,
) -> ConfirmationRequest {
    let call = subject.call;
    let kind = ConfirmationKind::of(call.config().transport.builtin(), &call.tool.id.tool);
    ConfirmationRequest {
        kind,
        title: kind.title(),
        name: call.name.clone(),
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        asked_by: call.asked_by,
        verdict,
        edit: subject.edit(context).await,
        choices: narrow_choices(call, seen, context),
    }
}

/// What may be remembered. What is secret among the arguments is not written into a file for good.
fn narrow_choices(call: &PreparedCall, seen: &GrantSubject<'_>, context: &CallContext) -> Vec<Remember> {
    let mut choices = choices(seen, context.rules.lasting);
    if audit::has_secrets(&call.arguments, call.tool.tool.input_schema.as_ref()) {
        choices.retain(|remember| *remember != Remember::TheseArgumentsAlways);
    }
    choices
}

/// Keeps an answer. The call was let through, whether that can be kept or not.
async fn remembered(context: &CallContext, seen: &GrantSubject<'_>, remember: Remember) {
    let expires_at = context.rules.grants_last.and_then(|time| context.now().checked_add(time));
    let kept = match context.grants().draft(seen, remember, RememberOptions { expires_at }) {
        Ok(None) => return,
        Ok(Some(draft)) => {
            let (grants, audit) = (context.grants().clone(), context.rules.audit.clone());
            let (session, folder) = (context.session().to_string(), context.folder().to_owned());
            // Another process may be at the file, and that holds nothing else up.
            let kept = tokio::task::spawn_blocking(move || {
                let grant = grants.keep(draft)?;
                audit.permission_changed(&granted(&grant).in_session(session).in_folder(&folder))?;
                Ok(grant)
            });
            kept.await.map_err(|gone| gone.to_string())
        }
        Err(error) => Ok(Err(error)),
    };
    match kept {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!("the answer is not remembered, or not recorded: {error}"),
        Err(gone) => tracing::warn!("the answer is not remembered: {gone}"),
    }
}

/// Describes a grant for the record.
fn granted(grant: &Grant) -> PermissionChange {
    let tools: Vec<&str> = grant.tools.keys().map(String::as_str).collect();
    let what = match &grant.scope {
        GrantScope::Tool => tools.join(", "),
        GrantScope::Server | GrantScope::Reading => format!("{} of its tools: {}", tools.len(), tools.join(", ")),
        GrantScope::Arguments(arguments) => format!("{} with {arguments}", tools.join(", ")),
    };
    PermissionChange::new(PermissionKind::Grant, format!("{} of {}", grant.id, grant.server)).after(what)
}

fn check_arguments(subject: &Subject<'_>) -> Result<()> {
    let Subject { call, checks, .. } = subject;
    if !call.arguments.is_object() {
        let what = format!("the arguments of `{}` are not an object", call.name);
        return Err(Error::new(ErrorKind::InvalidArguments, what).about(&call.tool.id.server));
    }
    let Some(schema) = checks.input() else { return Ok(()) };
    schema.check_value(&subject.arguments).map(drop).map_err(|violations| {
        let what = format!("the arguments do not fit `{}`: {violations}", call.name);
        Error::new(ErrorKind::InvalidArguments, what).about(&call.tool.id.server)
    })
}

/// Keeps a result whole that a model sees only parts of. Whether that can be kept or not, the call has ended.
async fn keep_large(context: &CallContext, call: &PreparedCall, mut outcome: CallOutcome) -> CallOutcome {
    let (CallOutcome::Completed(report) | CallOutcome::ToolError(report)) = &mut outcome else { return outcome };
    let Some(store) = context.rules.results.clone().filter(|_| call.asked_by == Asker::Model) else { return outcome };
    if report.result.raw.as_bytes().len() <= RESULT_CHARS_MAX {
        return outcome;
    }
    let whole = for_display::raw(&report.result);
    match tokio::task::spawn_blocking(move || store.keep(whole.as_bytes())).await {
        Ok(Ok(handle)) => report.kept = Some(handle),
        Ok(Err(error)) => tracing::warn!("a large result is not kept: {error}"),
        Err(gone) => tracing::warn!("a large result is not kept: {gone}"),
    }
    outcome
}

fn finish(call: &PreparedCall, checks: &Checks, result: CallResult) -> CallOutcome {
    let report = |structured: Option<RawJson>, result: CallResult| {
        let name = call.name.clone();
        CallReport { name, result, structured, kept: None, took: Duration::ZERO }
    };
    if result.is_error {
        return CallOutcome::ToolError(report(result.structured.clone(), result));
    }
    let Some(promised) = checks.output() else {
        return CallOutcome::Completed(report(result.structured.clone(), result));
    };
    let structured = result.structured.clone().or_else(|| schema::repair(&result));
    let broken = |how: String| {
        let what = format!("the result of `{}` is not what the tool promises: {how}", call.name);
        CallOutcome::Failed(Error::new(ErrorKind::InvalidResult, what).about(&call.tool.id.server))
    };
    match &structured {
        None => broken("it has no structured content".to_owned()),
        Some(data) => match promised.check(data) {
            Ok(_) => CallOutcome::Completed(report(structured, result)),
            Err(violations) => broken(violations.to_string()),
        },
    }
}
