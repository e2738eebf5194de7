//! HTTP+SSE, the transport of 2024-11-05, client side: one GET stream for everything the server says, POSTs for what we say.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method as HttpMethod, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::task::AbortHandle;

use crate::call::CallId;
use crate::error::{Error, Result};
use crate::link::{Inbound, Link, Outgoing};
use crate::transport::event_stream::{Event, EventReader};
use crate::transport::http_answer;
use crate::transport::http_client::{accepted_in_time, calls_in};
use crate::transport::http_endpoint::{HttpEndpoint, resolve_same_origin};
use crate::transport::http_payload::Payload;
use crate::transport::http_pool::shown_text;

/// A stream that has told where messages go, before a peer is joined to it.
#[derive(Debug)]
pub struct SseTransport {
    endpoint: HttpEndpoint,
    messages_to: Uri,
    body: Incoming,
    events: EventReader,
}

/// Opens the stream and waits for the `endpoint` event.
pub async fn connect(endpoint: HttpEndpoint) -> Result<SseTransport> {
    let url = endpoint.url.clone();
    let mut headers = endpoint.base_headers();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let response = endpoint.request(HttpMethod::GET, url.clone(), headers, Payload::default()).await?;
    if !response.status().is_success() {
        return Err(http_answer::failure(endpoint.shown(), response, &[], false).await);
    }
    if !http_answer::is_event_stream(&response) {
        return Err(Error::protocol(format!("{} does not answer with an event stream", endpoint.shown())));
    }
    let mut body = response.into_body();
    let mut events = EventReader::default();
    loop {
        while let Some(event) = events.next_event() {
            if event.kind.as_deref() == Some("endpoint") {
                let messages_to = messages_to(&endpoint, &event)?;
                return Ok(SseTransport { endpoint, messages_to, body, events });
            }
        }
        let Some(Ok(frame)) = body.frame().await else {
            return Err(Error::protocol(format!("{} ended its stream without naming an endpoint", endpoint.shown())));
        };
        if let Ok(data) = frame.into_data() {
            events.push(&data)?;
        }
    }
}

fn messages_to(endpoint: &HttpEndpoint, event: &Event) -> Result<Uri> {
    let named = String::from_utf8_lossy(&event.data);
    resolve_same_origin(&endpoint.url, named.trim()).ok_or_else(|| {
        let (from, to) = (endpoint.shown(), shown_text(&named));
        Error::protocol(format!("{from} names an endpoint on another origin, which is refused: `{to}`"))
    })
}

impl SseTransport {
    /// For [`Peer::start`](crate::Peer::start).
    pub fn open(self) -> impl FnOnce(Inbound) -> Arc<dyn Link> {
        move |inbound| {
            let reading = tokio::spawn(read(self.body, self.events, inbound.clone())).abort_handle();
            Arc::new(SseLink { endpoint: self.endpoint, messages_to: self.messages_to, inbound, reading })
        }
    }
}

async fn read(mut body: Incoming, mut events: EventReader, inbound: Inbound) {
    let why = loop {
        while let Some(event) = events.next_event() {
            if event.is_message() {
                inbound.frame(&event.data, &[]);
            }
        }
        let data = match body.frame().await {
            None => break Error::closed("the server closed the event stream"),
            Some(Err(error)) => break Error::closed(format!("the event stream broke: {error}")),
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
        };
        if let Err(error) = events.push(&data) {
            break error;
        }
    };
    inbound.closed(&why);
}

struct SseLink {
    endpoint: HttpEndpoint,
    messages_to: Uri,
    inbound: Inbound,
    reading: AbortHandle,
}

impl SseLink {
    async fn post(&self, outgoing: Outgoing, calls: &[CallId]) -> Result<()> {
        let mut headers = self.endpoint.base_headers();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let to = self.messages_to.clone();
        let response = self.endpoint.request(HttpMethod::POST, to, headers, Payload::from(&outgoing)).await?;
        if response.status().is_success() {
            http_answer::drain_later(response.into_body());
            return Ok(());
        }
        // The address is the session: a server that does not know it any more will not know it later, while its stream may stay open.
        let error = http_answer::failure(self.endpoint.shown_at(&self.messages_to), response, calls, true).await;
        if matches!(error, Error::SessionLost(_)) {
            self.inbound.lost(&error);
        }
        Err(error)
    }
}

impl Link for SseLink {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let calls = calls_in(&outgoing.messages);
            let sending = self.post(outgoing, &calls);
            if calls.is_empty() {
                accepted_in_time(&self.endpoint, &self.messages_to, sending).await
            } else {
                sending.await
            }
        })
    }

    fn try_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        Some(outgoing)
    }

    fn cancels_with_message(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.reading.abort();
        Box::pin(async {})
    }
}

impl Drop for SseLink {
    fn drop(&mut self) {
        self.reading.abort();
    }
}
