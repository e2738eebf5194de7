//! A script over a pipe within the process of the test, or over any pair of streams.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::engine::server::Server;
use crate::pipe::{self, Home};
use crate::record::Record;
use crate::script::Script;

/// Bytes each direction of the pipe holds before a writer has to wait.
const PIPE_CAPACITY_BYTES: usize = 64 * 1024;

/// The client's end of a pipe to a scripted server. Dropping it ends the server.
#[derive(Debug)]
pub struct ClientHalf {
    stream: DuplexStream,
    // Dropped with the stream: that is how a frozen server learns that it may end.
    _presence: oneshot::Sender<()>,
}

/// Starts a script on a pipe. Must be called within a tokio runtime.
#[must_use]
pub fn serve(script: Script) -> (ClientHalf, Record) {
    let (stream, server_half) = tokio::io::duplex(PIPE_CAPACITY_BYTES);
    let (read, write) = tokio::io::split(server_half);
    let record = Record::default();
    let server = Server::new(script, record.clone(), 1);
    let (presence, client) = oneshot::channel();
    // Not joined: it ends when the client half is dropped.
    tokio::spawn(pipe::serve(server, read, write, Home::Within(client)));
    (ClientHalf { stream, _presence: presence }, record)
}

/// Starts a script on any pair of streams. Must be called within a tokio runtime.
pub fn over<R, W>(script: Script, read: R, write: W) -> (ServerTask, Record)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let record = Record::default();
    let server = Server::new(script, record.clone(), 1);
    let (presence, client) = oneshot::channel();
    let running = tokio::spawn(async move {
        pipe::serve(server, read, write, Home::Within(client)).await;
    });
    (ServerTask { running, _presence: presence }, record)
}

/// A running scripted server. Dropping it ends the server.
#[derive(Debug)]
pub struct ServerTask {
    running: JoinHandle<()>,
    _presence: oneshot::Sender<()>,
}

impl ServerTask {
    /// Waits until the server ended by itself: its input ended or its script said so.
    pub async fn ended(mut self) {
        // A panic in the server would have been printed by its own task.
        let _joined = (&mut self.running).await.is_ok();
    }
}

impl Drop for ServerTask {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl AsyncRead for ClientHalf {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for ClientHalf {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
