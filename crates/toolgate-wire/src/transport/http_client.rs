//! Streamable HTTP, client side: every message is a POST, its answer is JSON or a stream of events.
//!
//! Before 2026-07-28 there is also a session, one GET stream for what the server says unasked, and resumption of streams that broke. A
//! request is sent and answered within one future: dropping it closes the stream, which is how 2026-07-28 cancels.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, Method as HttpMethod, Response, StatusCode, Uri};
use hyper::body::Incoming;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::call::CallId;
use crate::era::Version;
use crate::error::{Error, Result};
use crate::headers::{self, LAST_EVENT_ID, MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};
use crate::limits::{ACCEPT_MS, CLOSE_MS, RESUME_ATTEMPTS_MAX, RETRY_DELAY_MS_MAX};
use crate::link::{Inbound, Link, Messages, Outgoing};
use crate::message::Message;
use crate::peer::lock;
use crate::raw::RawJson;
use crate::transport::http_answer::{self, Followed, Resume};
use crate::transport::http_endpoint::resolve_same_origin;
use crate::transport::http_payload::Payload;

pub use crate::transport::http_credentials::{Credentials, Refusal, RequestFacts};
pub use crate::transport::http_endpoint::HttpEndpoint;

/// Redirects that are followed within one request.
const REDIRECTS_MAX: usize = 3;

/// How long the GET stream may take to open before calls go ahead without it.
const LISTEN_OPEN: Duration = Duration::from_secs(2);

/// What the wire and its background task share.
pub(crate) struct HttpWire {
    endpoint: HttpEndpoint,
    pub(crate) inbound: Inbound,
    state: Mutex<State>,
}

#[derive(Default, Clone)]
struct State {
    version: Option<Version>,
    session: Option<HeaderValue>,
    /// Where a redirect has led.
    moved_to: Option<Uri>,
}

/// The way out of a client over streamable HTTP.
pub struct HttpLink {
    wire: Arc<HttpWire>,
    listening: Mutex<Option<AbortHandle>>,
}

impl fmt::Debug for HttpLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpLink").field(&self.wire.endpoint.shown()).finish()
    }
}

impl HttpLink {
    pub(crate) fn new(endpoint: HttpEndpoint, inbound: Inbound) -> Self {
        let wire = HttpWire { endpoint, inbound, state: Mutex::default() };
        Self { wire: Arc::new(wire), listening: Mutex::new(None) }
    }

    /// Speaks this version from now on; `None` before a handshake. Forgets the session.
    pub(crate) fn speak(&self, version: Option<Version>) {
        let mut state = lock(&self.wire.state);
        state.version = version;
        state.session = None;
    }

    /// Keeps the session and says the agreed version from now on.
    pub(crate) fn agreed(&self, version: Version) {
        lock(&self.wire.state).version = Some(version);
    }

    /// Whether the server has given us a session.
    pub(crate) fn has_session(&self) -> bool {
        lock(&self.wire.state).session.is_some()
    }

    /// Opens the stream for what the server says unasked, and waits until it is open or refused.
    pub(crate) async fn listen(&self) {
        let body = match tokio::time::timeout(LISTEN_OPEN, self.wire.get(None)).await {
            Ok(Ok(response)) if response.status().is_success() && http_answer::is_event_stream(&response) => {
                Some(response.into_body())
            }
            Ok(Ok(response)) if !may_come_later(response.status()) => return, // The server has no such stream, and need not have.
            _ => None,
        };
        let task = tokio::spawn(keep_listening(self.wire.clone(), body));
        if let Some(former) = lock(&self.listening).replace(task.abort_handle()) {
            former.abort();
        }
    }
}

impl Drop for HttpLink {
    fn drop(&mut self) {
        if let Some(listening) = lock(&self.listening).take() {
            listening.abort();
        }
    }
}

impl Link for HttpLink {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let calls = calls_in(&outgoing.messages);
            let exchange = async {
                let (response, had_session) = self.wire.post(&outgoing).await?;
                self.wire.read_answer(response, &calls, had_session).await
            };
            // Calls have time limits of their own.
            if calls.is_empty() {
                accepted_in_time(&self.wire.endpoint, &self.wire.endpoint.url, exchange).await
            } else {
                exchange.await
            }
        })
    }

    fn try_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        Some(outgoing)
    }

    fn cancels_with_message(&self) -> bool {
        !lock(&self.wire.state).version.is_some_and(Version::is_modern)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(listening) = lock(&self.listening).take() {
                listening.abort();
            }
            if lock(&self.wire.state).session.is_some() {
                let _gone_either_way =
                    tokio::time::timeout(Duration::from_millis(CLOSE_MS), self.wire.delete()).await.is_ok();
            }
        })
    }
}

/// Ends the wait for a server that does not accept a message which wants no answer.
pub(crate) async fn accepted_in_time(
    endpoint: &HttpEndpoint,
    url: &Uri,
    sending: impl Future<Output = Result<()>>,
) -> Result<()> {
    let limit = Duration::from_millis(ACCEPT_MS);
    let late = |_| {
        let doing = format!("POST {}", endpoint.shown_at(url));
        Err(Error::io(doing, format!("the message was not accepted within {limit:?}")))
    };
    tokio::time::timeout(limit, sending).await.unwrap_or_else(late)
}

fn is_handshake(messages: &Messages) -> bool {
    matches!(messages, Messages::One(Message::Request(request)) if request.method == "initialize")
}

/// The calls whose answers a message asks for.
pub(crate) fn calls_in(messages: &Messages) -> Vec<CallId> {
    let call = |message: &Message| match message {
        Message::Request(request) => request.id.as_number(),
        _ => None,
    };
    match messages {
        Messages::One(message) => call(message).into_iter().collect(),
        Messages::Batch(messages) => messages.iter().filter_map(call).collect(),
    }
}

impl HttpWire {
    async fn post(&self, outgoing: &Outgoing) -> Result<(Response<Incoming>, bool)> {
        let body = Payload::from(outgoing);
        for _ in 0..=REDIRECTS_MAX {
            let mut state = lock(&self.state).clone();
            if is_handshake(&outgoing.messages) {
                // The session that is being replaced stays in use for other calls, which learn from it that it is lost.
                state = State { moved_to: state.moved_to, ..State::default() };
            }
            let mut headers = self.base_headers(&state);
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
            if state.version.is_some_and(Version::is_modern) {
                add_routing_headers(&mut headers, outgoing)?;
            }
            for (name, value) in &outgoing.headers {
                headers.insert(name, value.clone());
            }
            let response = self.request(HttpMethod::POST, &state, headers, body.clone()).await?;
            if !self.follow_redirect(&state, &response) {
                self.remember_session(&response);
                return Ok((response, state.session.is_some()));
            }
        }
        Err(Error::protocol(format!("{} redirects in circles", self.endpoint.shown())))
    }

    /// Opens an event stream: for what the server says unasked, or to resume one that broke.
    pub(crate) async fn get(&self, resume_after: Option<&str>) -> Result<Response<Incoming>> {
        let state = lock(&self.state).clone();
        let mut headers = self.base_headers(&state);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = resume_after {
            let id = HeaderValue::from_str(id).map_err(|error| Error::io("resume a stream", error))?;
            headers.insert(LAST_EVENT_ID, id);
        }
        self.request(HttpMethod::GET, &state, headers, Payload::default()).await
    }

    async fn delete(&self) -> Result<()> {
        let state = lock(&self.state).clone();
        let headers = self.base_headers(&state);
        self.request(HttpMethod::DELETE, &state, headers, Payload::default()).await.map(drop)
    }

    async fn request(
        &self,
        method: HttpMethod,
        state: &State,
        headers: HeaderMap,
        body: Payload,
    ) -> Result<Response<Incoming>> {
        let url = state.moved_to.clone().unwrap_or_else(|| self.endpoint.url.clone());
        self.endpoint.request(method, url, headers, body).await
    }

    fn base_headers(&self, state: &State) -> HeaderMap {
        let mut headers = self.endpoint.base_headers();
        if let Some(version) = state.version.filter(|version| version.has_version_header()) {
            headers.insert(MCP_PROTOCOL_VERSION, HeaderValue::from_static(version.as_str()));
        }
        if let Some(session) = &state.session {
            headers.insert(MCP_SESSION_ID, session.clone());
        }
        headers
    }

    fn remember_session(&self, response: &Response<Incoming>) {
        let Some(session) = response.headers().get(MCP_SESSION_ID) else { return };
        let mut state = lock(&self.state);
        if !state.version.is_some_and(Version::is_modern)
            && response.status().is_success()
            && state.session.as_ref() != Some(session)
        {
            state.session = Some(session.clone());
        }
    }

    /// Follows a redirect that stays on the same origin; others would carry credentials elsewhere.
    fn follow_redirect(&self, state: &State, response: &Response<Incoming>) -> bool {
        if !matches!(response.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
            return false;
        }
        let from = state.moved_to.as_ref().unwrap_or(&self.endpoint.url);
        let target =
            response.headers().get(LOCATION).and_then(|location| resolve_same_origin(from, location.to_str().ok()?));
        let Some(target) = target else { return false };
        lock(&self.state).moved_to = Some(target);
        true
    }

    async fn read_answer(&self, response: Response<Incoming>, calls: &[CallId], had_session: bool) -> Result<()> {
        let status = response.status();
        if !status.is_success() {
            let url = self.endpoint.shown();
            return Err(http_answer::failure(url, response, calls, had_session).await);
        }
        if calls.is_empty() {
            http_answer::drain_later(response.into_body());
            return Ok(());
        }
        if !http_answer::is_event_stream(&response) {
            let body = http_answer::collect(response).await?;
            if body.trim_ascii().is_empty() {
                return Err(Error::protocol(format!(
                    "{} accepted the request (HTTP {status}) without answering it",
                    self.endpoint.shown()
                )));
            }
            self.inbound.frame(&body, calls);
            return self.ensure_answered(calls, "the body holds no answer to the request");
        }
        let mut resume = Resume::default();
        let mut body = response.into_body();
        loop {
            let followed = http_answer::follow(&self.inbound, body, calls, &mut resume).await?;
            match followed {
                Followed::Answered => return Ok(()),
                Followed::Ended(why) => body = self.resume(&mut resume, &why).await?,
            }
        }
    }

    fn ensure_answered(&self, calls: &[CallId], problem: &str) -> Result<()> {
        if calls.iter().any(|call| self.inbound.is_waiting(*call)) {
            return Err(Error::protocol(format!("{}: {problem}", self.endpoint.shown())));
        }
        Ok(())
    }

    /// The stream for what the server says unasked, which it had before, is refused: it may have lost the session.
    fn stream_is_refused(&self, status: StatusCode) {
        let has_session = lock(&self.state).session.is_some();
        if has_session && matches!(status, StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST) {
            self.inbound.lost(&Error::SessionLost(status));
        }
    }

    /// Opens a stream that ended before its answer again, where that is possible.
    async fn resume(&self, resume: &mut Resume, why: &str) -> Result<Incoming> {
        let lost = |more: &str| {
            Error::io(
                format!("read the answer of {}", self.endpoint.shown()),
                format!("the stream ended before the answer ({why}){more}"),
            )
        };
        let is_modern = lock(&self.state).version.is_some_and(Version::is_modern);
        loop {
            let Some(last_id) = resume.last_id.clone().filter(|_| !is_modern) else { return Err(lost("")) };
            if resume.attempts >= RESUME_ATTEMPTS_MAX {
                return Err(lost(&format!("; gave up after {RESUME_ATTEMPTS_MAX} attempts to resume it")));
            }
            tokio::time::sleep(resume.next_delay()).await;
            match self.get(Some(&last_id)).await {
                Ok(response) if response.status().is_success() && http_answer::is_event_stream(&response) => {
                    return Ok(response.into_body());
                }
                Ok(response) if matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST) => {
                    // Not a lost session to the caller, who would repeat a request that has been accepted.
                    self.inbound.lost(&Error::SessionLost(response.status()));
                    return Err(lost(&format!("; the server has lost the session (HTTP {})", response.status())));
                }
                Ok(response) if response.status().is_client_error() => {
                    return Err(lost(&format!("; resuming it gave HTTP {}", response.status())));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// `Mcp-Method` and `Mcp-Name` (2026-07-28).
fn add_routing_headers(headers: &mut HeaderMap, outgoing: &Outgoing) -> Result<()> {
    let Messages::One(message) = &outgoing.messages else { return Ok(()) };
    let (method, params) = match message {
        Message::Request(request) => (&request.method, request.params.as_ref()),
        Message::Notification(note) => (&note.method, note.params.as_ref()),
        Message::Response(_) => return Ok(()),
    };
    headers.insert(MCP_METHOD, headers::encode(method)?);
    let read_name = || headers::name_in(method, params.unwrap_or(&RawJson::EMPTY_OBJECT)).map(Cow::Owned);
    if let Some(name) = outgoing.name.as_deref().map(Cow::Borrowed).or_else(read_name) {
        headers.insert(MCP_NAME, headers::encode(&name)?);
    }
    Ok(())
}

/// Whether a stream that is refused like that can be had later: the server is not well, wants to be asked less often, or still holds the
/// one that broke.
fn may_come_later(status: StatusCode) -> bool {
    let passes = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS, StatusCode::CONFLICT];
    status.is_server_error() || passes.contains(&status)
}

/// Reads the GET stream for as long as the server keeps offering it. One that was open and cannot be opened again is news that would be
/// missed: the connection is lost.
async fn keep_listening(wire: Arc<HttpWire>, mut body: Option<Incoming>) {
    let mut resume = Resume::default();
    let mut was_open = false;
    let mut unreachable = None;
    loop {
        if let Some(body) = body.take() {
            was_open = true;
            let opened = Instant::now();
            let _ended_or_broken = http_answer::follow(&wire.inbound, body, &[], &mut resume).await.is_ok();
            if opened.elapsed() >= Duration::from_millis(RETRY_DELAY_MS_MAX) {
                resume.attempts = 0; // Closed for being idle, as proxies do; not a stream that keeps failing.
            }
        }
        if wire.inbound.is_abandoned() {
            return;
        }
        if resume.attempts >= RESUME_ATTEMPTS_MAX {
            break;
        }
        tokio::time::sleep(resume.next_delay()).await;
        match wire.get(resume.last_id.as_deref()).await {
            Ok(response) if response.status().is_success() && http_answer::is_event_stream(&response) => {
                body = Some(response.into_body());
                unreachable = None;
            }
            // Who we are was good enough before, and may be again when somebody has renewed it.
            Ok(response)
                if was_open && (may_come_later(response.status()) || response.status() == StatusCode::UNAUTHORIZED) =>
            {
                let doing = format!("listen to {}", wire.endpoint.shown());
                unreachable = Some(Error::io(doing, format!("HTTP {}", response.status())));
            }
            // The session is over, or the stream is not offered any more.
            Ok(response) if response.status().is_client_error() && !may_come_later(response.status()) => {
                return wire.stream_is_refused(response.status());
            }
            Ok(_) => unreachable = None,
            Err(error) => unreachable = Some(error),
        }
    }
    if let Some(error) = unreachable {
        wire.inbound.lost(&error);
    }
}
