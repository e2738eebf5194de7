//! `serve`: puts an HTTP service on a listening socket, HTTP/1.1 and HTTP/2 alike. No connection outlives it.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::body::ResponseBody;
use crate::limits::{ACCEPT_PAUSE_MS, CLOSE_MS, CONNECTION_IDLE_MS, CONNECTIONS_MAX, HEADER_BYTES_MAX, KEEP_ALIVE_MS};

/// A service on a socket. Dropping it ends every connection at once.
pub struct Serving {
    address: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Serving {
    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Takes no more connections, lets running requests end for a while, then ends what is left. Streams that stay open by nature should be
    /// ended first ([`HttpService::close_sessions`](super::HttpService::close_sessions),
    /// [`Server::end_subscriptions`](crate::server::Server::end_subscriptions)).
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let _was_aborted = (&mut self.accepting).await.is_err();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.accepting.abort(); // Its connections go with it.
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Serves `service` to everybody who connects.
pub fn serve<S>(listener: TcpListener, service: S) -> Serving
where
    S: tower_service::Service<Request<Incoming>, Response = Response<ResponseBody>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
{
    let address = listener.local_addr().ok();
    let (stop, stopped) = watch::channel(false);
    Serving { address, stop, accepting: tokio::spawn(accept(listener, service, stopped)) }
}

async fn accept<S>(listener: TcpListener, service: S, mut stopped: watch::Receiver<bool>)
where
    S: tower_service::Service<Request<Incoming>, Response = Response<ResponseBody>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = stopped.changed() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                Ok((socket, _)) => {
                    connections.spawn(connection(socket, service.clone(), stopped.clone()));
                }
                Err(error) => pause(&error).await,
            },
        }
    }
    drop(listener);
    let all_ended = async { while connections.join_next().await.is_some() {} };
    let _too_slow = tokio::time::timeout(Duration::from_millis(CLOSE_MS), all_ended).await.is_err();
}

/// An error of one connection is not worth a pause; a system without free handles is.
async fn pause(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::warn!(%error, "cannot accept a connection");
        tokio::time::sleep(Duration::from_millis(ACCEPT_PAUSE_MS)).await;
    }
}

async fn connection<S>(socket: TcpStream, service: S, mut stopped: watch::Receiver<bool>)
where
    S: tower_service::Service<Request<Incoming>, Response = Response<ResponseBody>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
{
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "answers may be slow: TCP_NODELAY was refused");
    }
    let idle = Duration::from_millis(CONNECTION_IDLE_MS);
    let http2 = tokio::select! {
        begun = tokio::time::timeout(idle, begins_http2(&socket)) => match begun {
            Ok(Ok(http2)) => http2,
            Ok(Err(_)) | Err(_) => return, // It never said anything.
        },
        _ = stopped.changed() => return,
    };
    let service = hyper::service::service_fn(move |request| service.clone().call(request));
    let io = TokioIo::new(socket);
    let ended = if http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(Duration::from_millis(KEEP_ALIVE_MS));
        builder.max_header_list_size(u32::try_from(HEADER_BYTES_MAX).unwrap_or(u32::MAX));
        let mut serving = pin!(builder.serve_connection(io, service));
        tokio::select! {
            ended = serving.as_mut() => ended,
            _ = stopped.changed() => {
                serving.as_mut().graceful_shutdown();
                serving.await
            }
        }
    } else {
        let mut builder = http1::Builder::new();
        // Head and body in one piece: messages are small, and one buffer is cheaper to send than two.
        builder.timer(TokioTimer::new()).header_read_timeout(idle).writev(false);
        let mut serving = pin!(builder.serve_connection(io, service));
        tokio::select! {
            ended = serving.as_mut() => ended,
            _ = stopped.changed() => {
                serving.as_mut().graceful_shutdown();
                serving.await
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Whether the first bytes are those of HTTP/2. Looks without taking them.
async fn begins_http2(socket: &TcpStream) -> io::Result<bool> {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut start = [0; PREFACE.len()];
    loop {
        let seen = socket.peek(&mut start).await?;
        if seen == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if !PREFACE.starts_with(&start[..seen]) || seen == PREFACE.len() {
            return Ok(PREFACE.starts_with(&start[..seen]));
        }
        tokio::time::sleep(Duration::from_millis(1)).await; // A preface in pieces: what is there already would be seen again at once.
    }
}
