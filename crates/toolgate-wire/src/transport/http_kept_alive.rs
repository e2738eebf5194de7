//! Kept-alive HTTP/1.1 connections to plain `http` addresses: the short way to servers on this machine or in this network.
//!
//! A connection goes back among the idle ones as soon as the head of an answer is there, and counts as free again when the body has been
//! read to its end. TLS, proxies and HTTP/2 take the longer way through the general client.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use http::header::HOST;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::client::legacy::connect::HttpConnector;
use tower_service::Service;

use crate::error::{Error, Result};
use crate::limits::HEADER_BYTES_MAX;
use crate::peer::lock;
use crate::transport::http_payload::Payload;
use crate::transport::http_pool::{ShownAs, http_error};
use crate::transport::public_address::Resolver;

/// A connection unused for longer is given up: the other side has probably closed it.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// The connections that may be used again.
pub(crate) struct KeptAlive {
    connector: HttpConnector<Resolver>,
    /// A client talks to few addresses, so looking through them is faster than a table.
    idle: Mutex<Vec<Connection>>,
}

struct Connection {
    to: Authority,
    sender: SendRequest<Payload>,
    used: Instant,
}

impl KeptAlive {
    pub(crate) fn new(connector: HttpConnector<Resolver>) -> Self {
        Self { connector, idle: Mutex::default() }
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn request(&self, mut request: Request<Payload>) -> Result<Response<Incoming>> {
        let url = request.uri().clone();
        let shown_as = request.extensions().get::<ShownAs>().cloned();
        let shown = || ShownAs::or_url(shown_as.as_ref(), &url);
        let doing = || format!("{} {}", request.method(), shown());
        let authority = url.authority().cloned().ok_or_else(|| Error::io(doing(), "the address names no host"))?;
        let method = request.method().clone();
        let host = HeaderValue::from_str(authority.as_str()).map_err(|error| Error::io(doing(), error))?;
        request.headers_mut().insert(HOST, host);
        *request.uri_mut() = url.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/")).into();
        loop {
            let (mut sender, is_new) = match self.take(&authority) {
                Some(sender) => (sender, false),
                None => (self.connect(&url, &shown).await?, true),
            };
            match sender.try_send_request(request).await {
                Ok(response) => {
                    self.put(authority, sender);
                    return Ok(response);
                }
                Err(mut failed) => match failed.take_message() {
                    // It was never sent, because the idle connection had just been closed: another one will do.
                    Some(unsent) if !is_new => request = unsent,
                    _ => return Err(http_error(format!("{method} {}", shown()), failed.error())),
                },
            }
        }
    }

    /// A connection that is free now. Those that are closed or were unused for too long are dropped on the way.
    fn take(&self, authority: &Authority) -> Option<SendRequest<Payload>> {
        let mut idle = lock(&self.idle);
        let mut at = idle.len();
        while at > 0 {
            at -= 1;
            let connection = &idle[at];
            if connection.sender.is_closed() {
                idle.swap_remove(at);
            } else if connection.to == *authority && connection.sender.is_ready() {
                let connection = idle.swap_remove(at);
                if connection.used.elapsed() < IDLE_MAX {
                    return Some(connection.sender);
                }
            }
        }
        None
    }

    /// Gives up what is idle. What is still being read goes on.
    pub(crate) fn forget(&self) {
        lock(&self.idle).retain(|connection| !connection.sender.is_ready());
    }

    fn put(&self, to: Authority, sender: SendRequest<Payload>) {
        lock(&self.idle).push(Connection { to, sender, used: Instant::now() });
    }

    async fn connect(&self, url: &Uri, shown: &(impl Fn() -> String + Sync)) -> Result<SendRequest<Payload>> {
        let failed = |error: &(dyn std::error::Error + 'static)| http_error(format!("connect to {}", shown()), error);
        let stream = self.connector.clone().call(url.clone()).await.map_err(|error| failed(&error))?;
        // Head and body in one piece: messages are small, and one buffer is cheaper to send than two.
        let handshake = Builder::new().max_buf_size(HEADER_BYTES_MAX).writev(false).handshake(stream).await;
        let (sender, connection) = handshake.map_err(|error| failed(&error))?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "an HTTP connection broke");
            }
        });
        Ok(sender)
    }
}
