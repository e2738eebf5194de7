//! The pipeline of one call, on one screen: check the arguments → invoke → check the result. Every ending is a [`CallOutcome`].

use toolgate_wire::Error as WireError;
use toolgate_wire::view::CallResult;

use super::invoke::{RunOptions, invoke};
use super::outcome::{CallOutcome, CallReport};
use super::schema;
use crate::error::{Error, ErrorKind, Result};
use crate::registry::PreparedCall;
use crate::shape::tool_error;

pub(crate) async fn run(call: &PreparedCall, options: RunOptions) -> CallOutcome {
    if let Err(error) = check_arguments(call) {
        return CallOutcome::Failed(error);
    }
    match invoke(call, options).await {
        Ok(result) => finish(call, result),
        Err(WireError::TimedOut { after, idle, .. }) => CallOutcome::TimedOut { after, idle },
        Err(error) => CallOutcome::Failed(call.connection.failed(error)),
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
