//! One call at its server: time limits, progress, pages the person has to visit first, the task it may become, and what becomes of it when the
//! connection is lost.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use toolgate_wire::view::CallResult;
use toolgate_wire::{Call, Error as WireError, RawJson, RpcError, SendMark, Task};

use super::context::CallContext;
use crate::connect::{CallProgress, Connection, Elicitation, ElicitationAnswer, read_elicitation};
use crate::discovery::Live;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{TIME_LIMIT_MS_MAX, URLS_TO_VISIT_MAX};
use crate::registry::PreparedCall;
use crate::servers::ServerConfig;

/// How long a call may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// How long it may stay without a sign of life; the server's own limit when absent.
    pub timeout: Option<Duration>,
    /// How long it may take in all; the server's own limit when absent.
    pub max_duration: Option<Duration>,
}

/// How a call ended at its server.
pub(super) enum Ended {
    Answered(CallResult),
    TimedOut {
        after: Duration,
        idle: bool,
    },
    /// It was not done, or the server says so.
    Failed(Error),
    /// It may have been done or not: the connection was lost before an answer.
    Unknown(Error),
}

/// Whether a call whose connection was lost may be made once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeatable {
    /// It never left, or the server did not look at it.
    Unsent,
    /// The server says that doing it twice is like doing it once.
    Harmless,
    /// It may have been done.
    No,
}

/// Calls the tool. A call that was lost with its connection is made once more where that is sure to do nothing twice.
pub(super) async fn invoke(context: &CallContext, call: &PreparedCall, live: Live, options: RunOptions) -> Ended {
    call.offer.line.count_call();
    let mut connection = live.connection;
    // Begun once: however often it is made, it has its time once.
    let request = request(context, &connection, call, options).begun();
    let mut is_first = true;
    // What the first attempt may have done stays done, however the second one ends.
    let mut may_be_done = false;
    loop {
        let mark = SendMark::default();
        let error = match attempt(&connection, &request.clone().mark(&mark)).await {
            Ok(result) => return Ended::Answered(result),
            Err(WireError::TimedOut { after, idle, .. }) => {
                if idle {
                    connection.suspect();
                }
                return Ended::TimedOut { after, idle };
            }
            Err(error) => error,
        };
        let repeatable = repeatable(call, &mark, &error);
        if !is_loss(&error) {
            may_be_done |= is_vague(&error) && repeatable != Repeatable::Unsent;
            return without_answer(connection.failed(error), may_be_done);
        }
        may_be_done |= repeatable != Repeatable::Unsent;
        connection.failed_to_send(&error, &mark);
        let lost = connection.failed(error);
        if !is_first || repeatable == Repeatable::No {
            return without_answer(lost, may_be_done);
        }
        is_first = false;
        connection = match tokio::time::timeout(request.time_left(), again(call)).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(_)) | Err(_) if may_be_done => return Ended::Unknown(lost),
            // What never arrived has failed for the reason for which it cannot be sent now.
            Ok(Err(error)) => return Ended::Failed(error),
            Err(_) => return Ended::TimedOut { after: total_limit(connection.config(), options), idle: false },
        };
    }
}

fn without_answer(error: Error, may_be_done: bool) -> Ended {
    if may_be_done { Ended::Unknown(error) } else { Ended::Failed(error) }
}

/// Whether the answer, if there was one, was lost on the way.
fn is_loss(error: &WireError) -> bool {
    matches!(error, WireError::Closed(_) | WireError::Io { .. } | WireError::SessionLost(_) | WireError::TaskLost(_))
}

/// Whether what came says nothing about the call, which may have been done all the same: somebody on the way answered in place of the
/// server, or its answer cannot be used. Also 503 does not say that nothing was done: it is what gateways say of a server that they lost.
fn is_vague(error: &WireError) -> bool {
    match error {
        WireError::Http(failure) => failure.status.is_server_error() || failure.status == StatusCode::REQUEST_TIMEOUT,
        WireError::Protocol(_) | WireError::Limit(_) => true,
        _ => false,
    }
}

fn repeatable(call: &PreparedCall, mark: &SendMark, error: &WireError) -> Repeatable {
    let hints = call.tool.hints();
    if !mark.is_sent() || error.was_refused_unseen() {
        Repeatable::Unsent
    } else if hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true) {
        Repeatable::Harmless
    } else {
        Repeatable::No
    }
}

/// The next connection, when the server still offers on it what was decided about.
async fn again(call: &PreparedCall) -> Result<Connection> {
    let live = call.offer.line.live().await?;
    as_decided(call, &live)?;
    Ok(live.connection)
}

/// The server as it is after somebody was asked or a place was waited for, when it still offers what was decided about.
pub(super) fn still_there(call: &PreparedCall, live: Live) -> Result<Live> {
    match call.offer.line.now() {
        Some(now) if !Arc::ptr_eq(&now.offered, &live.offered) => as_decided(call, &now).map(|()| now),
        _ => Ok(live),
    }
}

fn as_decided(call: &PreparedCall, live: &Live) -> Result<()> {
    if call.as_offered_by(live)?.tool.tool.raw == call.tool.tool.raw {
        return Ok(());
    }
    let what = format!("the server describes `{}` in another way than before", call.tool.id.tool);
    Err(Error::new(ErrorKind::UnknownTool, what).about(&call.tool.id.server))
}

/// Calls the tool once. A server that wants pages to be visited first is called again when the person has visited them.
async fn attempt(connection: &Connection, request: &Call) -> Result<CallResult, WireError> {
    let _running = connection.runs();
    let ask = || connection.client().request(request.clone());
    let answer = match connection.asks(ask).await {
        Err(WireError::Rpc(refusal)) if visit_first(connection, &refusal).await => connection.asks(ask).await,
        other => other,
    }?;
    if !Task::is_in(&answer)? {
        return CallResult::read(answer);
    }
    // A task takes a lot of room, which calls that become none do without.
    CallResult::read(Box::pin(follow(connection, request, &answer)).await?)
}

/// Follows the task that a call has become. A login in between is about the task: the call itself has been accepted, and is not made again.
async fn follow(connection: &Connection, request: &Call, task: &RawJson) -> Result<RawJson, WireError> {
    let followed = connection.asks(|| connection.client().finish_task(request, task)).await;
    followed.map_err(|error| match error {
        WireError::LoginNeeded(_) | WireError::Credentials(_) => WireError::TaskLost(error.to_string().into()),
        other => other,
    })
}

fn total_limit(config: &ServerConfig, options: RunOptions) -> Duration {
    let longest = Duration::from_millis(TIME_LIMIT_MS_MAX);
    options.max_duration.or(config.max_duration).map_or(longest, |limit| limit.min(longest))
}

fn request(context: &CallContext, connection: &Connection, call: &PreparedCall, options: RunOptions) -> Call {
    let config = connection.config();
    let longest = Duration::from_millis(TIME_LIMIT_MS_MAX);
    let (progress, front_end) = (context.rules.progress.clone(), connection.front_end().clone());
    let id = call.tool.id.clone();
    Call::tool(&id.tool, &call.arguments)
        .idle_limit(options.timeout.unwrap_or(config.call_timeout).min(longest))
        .total_limit(total_limit(config, options))
        .on_progress(move |notification| {
            let news = notification.params.as_ref().and_then(|params| CallProgress::read(&id.server, &id.tool, params));
            match (&news, &progress) {
                (Some(news), Some(progress)) => progress(news),
                (Some(news), None) => front_end.progress(news),
                (None, _) => {}
            }
        })
}

/// Whether a refusal asked for pages to be visited, and the person has visited all of them.
async fn visit_first(connection: &Connection, refusal: &RpcError) -> bool {
    if refusal.code != RpcError::URL_ELICITATION_REQUIRED || !connection.front_end().abilities().urls {
        return false;
    }
    let pages = refusal.data.as_ref().and_then(|data| data.member("elicitations"));
    let (pages, others) = pages.and_then(|pages| pages.elements_within(URLS_TO_VISIT_MAX)).unwrap_or_default();
    if pages.is_empty() || others > 0 {
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
