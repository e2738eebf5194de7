//! `Payload`: the body of a request, which knows when it begins to be written on a connection.
//!
//! A body is read only once there is a connection for it, so everything that fails before that — a name, a connection, a certificate —
//! leaves no doubt that the request was not sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;

use crate::departure::Departure;
use crate::link::Outgoing;

/// The body of one request. Cheap to clone, for the next attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Payload {
    bytes: Full<Bytes>,
    departure: Option<Arc<Departure>>,
}

impl From<Full<Bytes>> for Payload {
    fn from(bytes: Full<Bytes>) -> Self {
        Self { bytes, departure: None }
    }
}

impl From<&Outgoing> for Payload {
    fn from(outgoing: &Outgoing) -> Self {
        Self { bytes: Full::new(outgoing.to_bytes()), departure: outgoing.departure.clone() }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.departure.as_ref().is_some_and(|departure| !departure.begin()) {
            return Poll::Ready(Some(Err(io::Error::other("nobody waits for the answer any more"))));
        }
        Pin::new(&mut self.bytes).poll_frame(cx).map_err(|never| match never {})
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.bytes.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::departure::SendMark;
    use crate::transport::http_pool::{HttpPool, HttpSettings};

    /// What a listener does with the one connection it takes.
    #[derive(Clone, Copy)]
    enum Server {
        IsGone,
        HangsUp,
        ReadsThenHangsUp,
        Answers,
    }

    async fn serve(listener: TcpListener, server: Server) {
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !matches!(server, Server::HangsUp) && !request.ends_with(b"ping") {
            connection.read_buf(&mut request).await.unwrap();
        }
        if matches!(server, Server::Answers) {
            connection.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        }
    }

    /// Whether a request can have left, and whether it was answered.
    async fn sent_to(url: &str, server: Server, settings: HttpSettings) -> (bool, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = url.replace("PORT", &listener.local_addr().unwrap().port().to_string());
        let serving = match server {
            Server::IsGone => {
                drop(listener);
                None
            }
            _ => Some(tokio::spawn(serve(listener, server))),
        };
        let mark = SendMark::default();
        let payload =
            Payload { bytes: Full::new(Bytes::from_static(b"ping")), departure: Departure::of(vec![mark.clone()]) };
        let request = Request::post(url).body(payload).unwrap();
        let answered = HttpPool::new(settings).send(request).await.is_ok();
        if let Some(serving) = serving {
            serving.abort();
        }
        (mark.is_sent(), answered)
    }

    #[tokio::test]
    async fn a_request_has_left_once_it_is_written_and_not_before() {
        let plain = HttpSettings::default;
        let http2 = || HttpSettings { http2_prior_knowledge: true, ..HttpSettings::default() };
        let public = || HttpSettings { public_only: true, ..HttpSettings::default() };
        let (http, https) = ("http://127.0.0.1:PORT/", "https://127.0.0.1:PORT/");
        let rows = [
            ("answered", http, Server::Answers, plain(), (true, true)),
            ("reset after it was read", http, Server::ReadsThenHangsUp, plain(), (true, false)),
            ("connecting is refused", http, Server::IsGone, plain(), (false, false)),
            ("connecting is refused, HTTP/2", http, Server::IsGone, http2(), (false, false)),
            ("connecting is refused, TLS", https, Server::IsGone, plain(), (false, false)),
            ("TLS fails", https, Server::HangsUp, plain(), (false, false)),
            ("no such name", "http://nobody.invalid:PORT/", Server::IsGone, plain(), (false, false)),
            ("an address that is not public", http, Server::IsGone, public(), (false, false)),
        ];
        for (name, url, server, settings, expected) in rows {
            assert_eq!(sent_to(url, server, settings).await, expected, "{name}");
        }
    }
}
