//! Reading HTTP answers: bodies with a bound, event streams, and failures in words.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::call::CallId;
use crate::error::{Error, HttpFailure, Result, RpcError};
use crate::limits::{ERROR_BODY_BYTES_MAX, LimitBreach, MESSAGE_BYTES_MAX, RETRY_DELAY_MS, RETRY_DELAY_MS_MAX};
use crate::link::Inbound;
use crate::message::{Frame, Id, Message};
use crate::transport::event_stream::{Event, EventReader};
use crate::transport::http_credentials::{challenges, wants_login};
use crate::transport::http_pool::http_error;

/// How long the rest of an answered stream may take to end, so that its connection can be used again.
const DRAIN: Duration = Duration::from_secs(1);

/// Whether an answer is a stream of events.
pub(crate) fn is_event_stream<B>(response: &Response<B>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).map(http::HeaderValue::as_bytes).unwrap_or_default();
    kind.get(..17).is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/event-stream"))
}

/// The whole body, up to the size of one message.
pub(crate) async fn collect(response: Response<Incoming>) -> Result<Bytes> {
    let announced =
        response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MESSAGE_BYTES_MAX) {
        return Err(too_large());
    }
    let mut body = response.into_body();
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| http_error("read the answer".to_owned(), &error))?;
        let Ok(data) = frame.into_data() else { continue };
        if first.is_empty() {
            first = data; // Most answers come in one piece, which is passed on as it is.
            continue;
        }
        if rest.is_empty() {
            rest.reserve(announced.unwrap_or(first.len() + data.len()));
            rest.extend_from_slice(&first);
        }
        rest.extend_from_slice(&data);
        if rest.len() > MESSAGE_BYTES_MAX {
            return Err(too_large());
        }
    }
    Ok(if rest.is_empty() { first } else { rest.freeze() })
}

fn too_large() -> Error {
    Error::Limit(LimitBreach::new("MESSAGE_BYTES_MAX", MESSAGE_BYTES_MAX, "the body of an answer"))
}

/// How following a stream ended.
pub(crate) enum Followed {
    /// Every call that waited for it has its answer.
    Answered,
    /// It ended or broke before.
    Ended(String),
}

/// Where a broken stream can be taken up again.
#[derive(Debug, Default)]
pub(crate) struct Resume {
    pub(crate) last_id: Option<String>,
    retry: Option<Duration>,
    /// Attempts since the last event.
    pub(crate) attempts: usize,
}

impl Resume {
    fn note(&mut self, event: &Event) {
        self.attempts = 0;
        if let Some(id) = &event.id {
            self.last_id = Some(id.clone());
        }
        if let Some(retry) = event.retry_ms {
            self.retry = Some(Duration::from_millis(retry.min(RETRY_DELAY_MS_MAX)));
        }
    }

    /// What the server asked for, else longer with every attempt; a little more by chance, so that many who were lost at once do not come
    /// back at once.
    pub(crate) fn next_delay(&mut self) -> Duration {
        self.delay(chance())
    }

    /// `chance` is between 0 and 1.
    fn delay(&mut self, chance: f64) -> Duration {
        let grown =
            Duration::from_millis(RETRY_DELAY_MS).mul_f64(1.5_f64.powi(i32::try_from(self.attempts).unwrap_or(16)));
        self.attempts += 1;
        let longest = Duration::from_millis(RETRY_DELAY_MS_MAX);
        self.retry.unwrap_or(grown).min(longest).mul_f64(1.0 + chance / 4.0)
    }
}

/// Between 0 and 1. Without randomness all wait equally long.
fn chance() -> f64 {
    let mut byte = [0_u8];
    let _filled = getrandom::fill(&mut byte).is_ok();
    f64::from(byte[0]) / 255.0
}

/// Delivers the events of a stream until the `calls` that wait for it are answered, or it ends.
pub(crate) async fn follow(
    inbound: &Inbound,
    mut body: Incoming,
    calls: &[CallId],
    resume: &mut Resume,
) -> Result<Followed> {
    let mut events = EventReader::default();
    loop {
        let frame = match body.frame().await {
            None => return Ok(Followed::Ended("the server closed it".to_owned())),
            Some(Err(error)) => return Ok(Followed::Ended(http_error("stream".to_owned(), &error).to_string())),
            Some(Ok(frame)) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        events.push(&data)?;
        while let Some(event) = events.next_event() {
            resume.note(&event);
            if event.is_message() {
                inbound.frame(&event.data, calls);
            }
        }
        if !calls.is_empty() && !calls.iter().any(|call| inbound.is_waiting(*call)) {
            drain_later(body);
            return Ok(Followed::Answered);
        }
    }
}

/// Reads what is left of a body, so that its connection can serve the next request.
pub(crate) fn drain_later(mut body: Incoming) {
    if hyper::body::Body::is_end_stream(&body) {
        return;
    }
    tokio::spawn(async move {
        let rest = async { while let Some(Ok(_)) = body.frame().await {} };
        let _connection_is_given_up = tokio::time::timeout(DRAIN, rest).await.is_err();
    });
}

/// An answer with a status that is no success, as an error that says what it means.
pub(crate) async fn failure(url: String, response: Response<Incoming>, calls: &[CallId], had_session: bool) -> Error {
    let status = response.status();
    let challenges = challenges(response.headers());
    let wants_login = wants_login(status, response.headers());
    let body = beginning(response.into_body()).await;
    let (rpc, answered) = match Frame::read(&body) {
        Ok(Frame::One(Message::Response(response))) => {
            let id = response.id.as_ref().and_then(Id::as_number);
            (response.outcome.err(), id.is_some_and(|id| calls.contains(&id)))
        }
        _ => (None, false),
    };
    let text = String::from_utf8_lossy(&body).into_owned();
    let is_session = match status {
        StatusCode::NOT_FOUND => !answered || rpc.as_ref().is_some_and(RpcError::says_session_is_lost),
        StatusCode::BAD_REQUEST if answered => rpc.as_ref().is_some_and(RpcError::says_session_is_lost),
        StatusCode::BAD_REQUEST => speaks_of_session(&text),
        _ => false,
    };
    let failure = HttpFailure { url, status, challenges, body: text, rpc };
    if wants_login {
        return Error::LoginNeeded(failure.into());
    }
    // The specification says 404; servers in use say 400 as well. That is also how they refuse what they are asked, perhaps after they did
    // some of it, so it has to say so. An error that names the call is its answer instead, unless it is about this.
    if had_session && is_session {
        return Error::SessionLost(status);
    }
    Error::Http(failure.into())
}

/// Whether a refusal is about the session; one that has begun anew says that it was not initialized.
fn speaks_of_session(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("session") || text.contains("not initialized")
}

async fn beginning(mut body: Incoming) -> Bytes {
    let mut text = BytesMut::new();
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(data) = frame.into_data() {
            let room = ERROR_BODY_BYTES_MAX - text.len();
            text.extend_from_slice(&data[..data.len().min(room)]);
            if data.len() >= room {
                break;
            }
        }
    }
    text.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_stream_is_waited_for_longer_each_time_and_never_by_all_at_once() {
        let delays = |chance: f64, retry: Option<u64>| {
            let mut resume = Resume { retry: retry.map(Duration::from_millis), ..Resume::default() };
            [0; 3].map(|_| resume.delay(chance).as_millis())
        };
        assert_eq!(delays(0.0, None), [1_000, 1_500, 2_250]);
        assert_eq!(delays(1.0, None), [1_250, 1_875, 2_812]);
        assert_eq!(delays(0.0, Some(40)), [40; 3], "never sooner than the server asks for");
        assert_eq!(delays(1.0, Some(40)), [50; 3]);
    }

    #[test]
    fn a_refusal_is_about_the_session_only_when_it_says_so() {
        let says = ["Bad Request: No valid session ID provided", "MCP-SESSION-ID is unknown", "Server not initialized"];
        assert!(says.iter().all(|text| speaks_of_session(text)));
        assert!(!["", "your input is wrong", "{}"].iter().any(|text| speaks_of_session(text)));
    }
}
