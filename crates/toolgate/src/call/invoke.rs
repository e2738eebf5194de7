//! One request to the server: time limits, progress, and pages the person has to visit first.

use std::time::Duration;

use toolgate_wire::view::CallResult;
use toolgate_wire::{Call, Error as WireError, RpcError};

use crate::connect::{CallProgress, Connection, Elicitation, ElicitationAnswer, read_elicitation};
use crate::limits::{TIME_LIMIT_MS_MAX, URLS_TO_VISIT_MAX};
use crate::registry::PreparedCall;

/// How long a call may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// How long it may stay without a sign of life; the server's own limit when absent.
    pub timeout: Option<Duration>,
    /// How long it may take in all; the server's own limit when absent.
    pub max_duration: Option<Duration>,
}

/// Calls the tool. A server that wants pages to be visited first is called again, once, when the person has visited them.
pub(super) async fn invoke(call: &PreparedCall, options: RunOptions) -> Result<CallResult, WireError> {
    let connection = &call.connection;
    let _running = connection.runs();
    let ask = || connection.client().finish_tool_call(request(call, options));
    match connection.asks(ask).await {
        Err(WireError::Rpc(refusal)) if visit_first(connection, &refusal).await => connection.asks(ask).await,
        other => other,
    }
}

fn request(call: &PreparedCall, options: RunOptions) -> Call {
    let config = call.connection.config();
    let longest = Duration::from_millis(TIME_LIMIT_MS_MAX);
    let total = options.max_duration.or(config.max_duration).map_or(longest, |limit| limit.min(longest));
    let front_end = call.connection.front_end().clone();
    let id = call.tool.id.clone();
    Call::tool(&id.tool, &call.arguments)
        .idle_limit(options.timeout.unwrap_or(config.call_timeout).min(longest))
        .total_limit(total)
        .on_progress(move |notification| {
            let news = notification.params.as_ref().and_then(|params| CallProgress::read(&id.server, &id.tool, params));
            news.iter().for_each(|news| front_end.progress(news));
        })
}

/// Whether a refusal asked for pages to be visited, and the person has visited all of them.
async fn visit_first(connection: &Connection, refusal: &RpcError) -> bool {
    if refusal.code != RpcError::URL_ELICITATION_REQUIRED || !connection.front_end().abilities().urls {
        return false;
    }
    let pages = refusal.data.as_ref().and_then(|data| data.member("elicitations")?.elements()).unwrap_or_default();
    if pages.is_empty() || pages.len() > URLS_TO_VISIT_MAX {
        return false;
    }
    for page in pages {
        let Ok(question @ Elicitation::Url { .. }) = read_elicitation(&page) else { return false };
        let answer = connection.front_end().elicit(connection.server().clone(), question).await;
        if !matches!(answer, ElicitationAnswer::Accept(_)) {
            return false;
        }
    }
    true
}
