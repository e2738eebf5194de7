//! The pipeline of one call, on one screen: decide → check the arguments → ask → invoke → check the result → keep a record. Every ending is
//! a [`CallOutcome`], and every call leaves one record, also one that nobody waits for any more.

use toolgate_wire::Error as WireError;
use toolgate_wire::view::CallResult;

use super::confirm::{Confirmation, ConfirmationRequest};
use super::context::CallContext;
use super::invoke::{RunOptions, invoke};
use super::judge::Subject;
use super::outcome::{CallOutcome, CallReport};
use super::recording::Recording;
use super::schema;
use crate::error::{Error, ErrorKind, Result};
use crate::grants::{RememberOptions, choices};
use crate::policy::{Decision, Verdict};
use crate::registry::PreparedCall;
use crate::shape::tool_error;

pub(crate) async fn run(context: &CallContext, call: &PreparedCall, options: RunOptions) -> CallOutcome {
    let subject = Subject::of(call);
    let verdict = subject.judge(context);
    let mut recording = Recording::begin(context, &subject, verdict);
    let outcome = run_decided(context, &subject, &mut recording, options).await;
    recording.end(&outcome);
    outcome
}

async fn run_decided(
    context: &CallContext,
    subject: &Subject<'_>,
    recording: &mut Recording<'_>,
    options: RunOptions,
) -> CallOutcome {
    let call = subject.call;
    if recording.verdict.decision == Decision::Deny {
        return CallOutcome::Denied(recording.verdict.clone());
    }
    // Nobody is asked about a call that cannot be made.
    if let Err(error) = check_arguments(call) {
        return CallOutcome::Failed(error);
    }
    if recording.verdict.decision == Decision::Ask {
        let asked_about = Subject::of(call).with_all_tools();
        let answer = context.rules.confirmer.confirm(question(context, &asked_about, &recording.verdict)).await;
        recording.confirmed(&answer);
        match answer {
            Confirmation::Refuse { reason } => return CallOutcome::Refused { reason },
            Confirmation::Proceed(remember) => {
                let seen = asked_about.as_grants_see_it(context);
                if let Err(error) = context.grants().remember(&seen, remember, RememberOptions::default()) {
                    tracing::warn!("the answer is not remembered: {error}");
                }
            }
        }
    }
    match invoke(call, options).await {
        Ok(result) => finish(call, result),
        Err(WireError::TimedOut { after, idle, .. }) => CallOutcome::TimedOut { after, idle },
        Err(error) => CallOutcome::Failed(call.connection.failed(error)),
    }
}

fn question(context: &CallContext, subject: &Subject<'_>, verdict: &Verdict) -> ConfirmationRequest {
    let call = subject.call;
    ConfirmationRequest {
        name: call.name.clone(),
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        asked_by: call.asked_by,
        verdict: verdict.clone(),
        edit: subject.edit(context),
        choices: choices(&subject.as_grants_see_it(context), context.rules.lasting),
    }
}
fn check_arguments(call: &PreparedCall) -> Result<()> {
    if !call.arguments.is_object() {
        let what = format!("the arguments of `{}` are not an object", call.name);
        return Err(Error::new(ErrorKind::InvalidArguments, what).about(&call.tool.id.server));
    }
    let Some(schema) = &call.tool.tool.input_schema else { return Ok(()) };
    schema::check(schema, &call.arguments).map(drop).map_err(|violations| {
        let what = format!("the arguments do not fit `{}`: {violations}", call.name);
        Error::new(ErrorKind::InvalidArguments, what).about(&call.tool.id.server)
    })
}

fn finish(call: &PreparedCall, result: CallResult) -> CallOutcome {
    let name = call.name.clone();
    if tool_error::reports_error(&result) {
        let structured = result.structured.clone();
        return CallOutcome::ToolError(CallReport { name, result, structured });
    }
    let Some(promised) = call.tool.output_schema() else {
        let structured = result.structured.clone();
        return CallOutcome::Completed(CallReport { name, result, structured });
    };
    let structured = result.structured.clone().or_else(|| schema::repair(&result));
    let broken = |how: String| {
        let what = format!("the result of `{name}` is not what the tool promises: {how}");
        CallOutcome::Failed(Error::new(ErrorKind::InvalidResult, what).about(&call.tool.id.server))
    };
    match &structured {
        None => broken("it has no structured content".to_owned()),
        Some(data) => match schema::check(promised, data) {
            Ok(_) => CallOutcome::Completed(CallReport { name, result, structured }),
            Err(violations) => broken(violations.to_string()),
        },
    }
}
