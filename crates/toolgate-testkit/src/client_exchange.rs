//! One HTTP/1.1 request of a scripted client: writes it, well or badly, and reads the answer, JSON or events.

use futures_util::future::BoxFuture;
use serde_json::Value;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::broadcast;

use crate::client_http::{Announced, HttpPlayer};
use crate::client_stream::FILLER;
use crate::client_transcript::End;
use crate::limits::CLIENT_TEXT_BYTES_MAX;

/// What the script wants of the exchanges that are open.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    HalfClose,
    Close,
    Reset,
    /// Ends the exchange of this request.
    Cancel(Value),
}

/// What is written, and how.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) bytes: Vec<u8>,
    /// Bytes of filler afterwards.
    pub(crate) filler: u64,
    /// Where the connection ends early.
    pub(crate) cut_after: Option<usize>,
    /// Bytes in one piece, and the pause before each.
    pub(crate) drip: Option<(usize, Duration)>,
}

impl Sending {
    pub(crate) const fn whole(bytes: Vec<u8>) -> Self {
        Self { bytes, filler: 0, cut_after: None, drip: None }
    }

    async fn write(&self, write: &mut OwnedWriteHalf) -> io::Result<()> {
        let (piece, pause) = self.drip.unwrap_or((usize::MAX, Duration::ZERO));
        let bytes = self.bytes.get(..self.cut_after.unwrap_or(usize::MAX)).unwrap_or(&self.bytes);
        for piece in bytes.chunks(piece) {
            if self.drip.is_some() {
                tokio::time::sleep(pause).await;
            }
            write.write_all(piece).await?;
        }
        let mut left = self.filler;
        while left > 0 {
            let piece = usize::try_from(left).unwrap_or(usize::MAX).min(FILLER.len());
            write.write_all(FILLER.get(..piece).unwrap_or_default()).await?;
            left -= piece as u64;
        }
        Ok(())
    }
}

/// How the client leaves.
enum Leaving {
    Close,
    Reset,
}

impl HttpPlayer {
    /// Runs an exchange to its end and writes that down.
    pub(crate) async fn run(self: &Arc<Self>, announced: Announced) {
        let number = announced.number;
        let end = self.exchange(announced).await.unwrap_or_else(|error| End::Broken(error.to_string()));
        self.conversation.change(|state| {
            if let Some(exchange) = state.transcript.exchanges.get_mut(number) {
                exchange.end = end;
            }
        });
    }

    async fn exchange(self: &Arc<Self>, announced: Announced) -> io::Result<End> {
        let Announced { number, id, sending, mut orders } = announced;
        let (read, mut write) = TcpStream::connect(self.address).await?.into_split();
        let mut read = BufReader::new(read);
        let leaving = tokio::select! {
            end = self.read_answer(number, &mut read) => return end,
            leaving = speak(&mut write, &sending, &mut orders, id.as_ref()) => leaving,
        };
        if matches!(leaving, Leaving::Reset) {
            read.get_ref().as_ref().set_zero_linger()?;
            write.forget(); // Without the farewell that dropping it would send.
        }
        Ok(End::ByClient)
    }

    async fn read_answer(self: &Arc<Self>, number: usize, read: &mut BufReader<OwnedReadHalf>) -> io::Result<End> {
        self.conversation.may_read().await;
        let status = read_line(read).await?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut headers = Vec::new();
        loop {
            let line = read_line(read).await?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let find = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let framing = match (find("transfer-encoding"), find("content-length").and_then(|length| length.parse().ok())) {
            (Some(_), _) => Framing::Chunks,
            (None, Some(length)) => Framing::Length(length),
            (None, None) => Framing::UntilClose,
        };
        let is_events = find("content-type").is_some_and(|form| form.starts_with("text/event-stream"));
        let session = find("mcp-session-id");
        self.conversation.change(|state| {
            state.session = session.or(state.session.take());
            if let Some(exchange) = state.transcript.exchanges.get_mut(number) {
                (exchange.status, exchange.headers) = (status, headers);
            }
        });
        let mut body = Body { read, framing };
        let mut text = Vec::new();
        while let Some(piece) = {
            self.conversation.may_read().await;
            body.next().await?
        } {
            text.extend_from_slice(&piece);
            if text.len() > CLIENT_TEXT_BYTES_MAX {
                return Err(io::Error::other("the answer is longer than a scripted client reads"));
            }
            while is_events && let Some(data) = take_event(&mut text) {
                self.heard(&data).await;
            }
        }
        if !is_events && !text.is_empty() {
            self.heard(&text).await;
        }
        Ok(End::ByServer)
    }

    /// Boxed because what is heard may lead to another exchange.
    fn heard<'a>(self: &'a Arc<Self>, text: &'a [u8]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            for reply in self.conversation.hear(text) {
                self.run(self.post(&reply)).await;
            }
        })
    }
}

/// Writes, then waits for orders; returns when the client leaves before the answer is complete.
async fn speak(
    write: &mut OwnedWriteHalf,
    sending: &Sending,
    orders: &mut broadcast::Receiver<Order>,
    id: Option<&Value>,
) -> Leaving {
    tokio::select! {
        // A server that has heard enough stops reading; what it answers is read all the same.
        _written = sending.write(write) => {}
        leaving = interruption(orders, id) => return leaving,
    }
    if sending.cut_after.is_some() {
        return Leaving::Close;
    }
    loop {
        match orders.recv().await {
            Ok(Order::HalfClose) => drop(write.shutdown().await),
            Ok(Order::Close) => return Leaving::Close,
            Ok(Order::Reset) => return Leaving::Reset,
            Ok(Order::Cancel(cancelled)) if id == Some(&cancelled) => return Leaving::Close,
            Ok(Order::Cancel(_)) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// How the client leaves in the middle of what it sends.
async fn interruption(orders: &mut broadcast::Receiver<Order>, id: Option<&Value>) -> Leaving {
    loop {
        match orders.recv().await {
            Ok(Order::Close) => return Leaving::Close,
            Ok(Order::Reset) => return Leaving::Reset,
            Ok(Order::Cancel(cancelled)) if id == Some(&cancelled) => return Leaving::Close,
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

enum Framing {
    Length(u64),
    Chunks,
    UntilClose,
}

struct Body<'a> {
    read: &'a mut BufReader<OwnedReadHalf>,
    framing: Framing,
}

impl Body<'_> {
    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.framing {
            Framing::Length(0) => Ok(None),
            Framing::Length(length) => {
                self.framing = Framing::Length(0);
                self.exactly(length).await.map(Some)
            }
            Framing::Chunks => {
                let line = read_line(self.read).await?;
                let size = line.split(';').next().unwrap_or_default().trim();
                let size = u64::from_str_radix(size, 16).map_err(io::Error::other)?;
                let chunk = self.exactly(size).await?;
                read_line(self.read).await?;
                Ok((size > 0).then_some(chunk))
            }
            Framing::UntilClose => {
                let piece = self.read.fill_buf().await?.to_vec();
                self.read.consume(piece.len());
                Ok((!piece.is_empty()).then_some(piece))
            }
        }
    }

    async fn exactly(&mut self, bytes: u64) -> io::Result<Vec<u8>> {
        let mut piece = Vec::new();
        let bound = bytes.min(CLIENT_TEXT_BYTES_MAX as u64);
        let read = (&mut *self.read).take(bound).read_to_end(&mut piece).await?;
        if read as u64 == bytes { Ok(piece) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// A line without its end.
async fn read_line(read: &mut BufReader<OwnedReadHalf>) -> io::Result<String> {
    let mut line = String::new();
    read.take(CLIENT_TEXT_BYTES_MAX as u64).read_line(&mut line).await?;
    if line.ends_with('\n') { Ok(line.trim_end().to_owned()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Takes the first complete event with data out of what has arrived.
fn take_event(text: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        let (end, gap) = end_of_event(text)?;
        let event: Vec<u8> = text.drain(..end + gap).take(end).collect();
        let lines = event.split(|byte| *byte == b'\n');
        let data = lines.filter_map(|line| line.strip_suffix(b"\r").unwrap_or(line).strip_prefix(b"data:"));
        let data: Vec<&[u8]> = data.map(<[u8]>::trim_ascii_start).collect();
        let data = data.join(&b'\n');
        if !data.is_empty() {
            return Some(data);
        }
    }
}

/// Where the first event ends, and how long the blank line after it is.
fn end_of_event(text: &[u8]) -> Option<(usize, usize)> {
    let mut ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    ends.find_map(|at| match text.get(at + 1..)? {
        [b'\n', ..] => Some((at, 2)),
        [b'\r', b'\n', ..] => Some((at, 3)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::take_event;

    #[test]
    fn events_of_a_client_script_come_whole() {
        let mut text = b": alive\n\nid: 1\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata: half".to_vec();
        assert_eq!(take_event(&mut text).unwrap(), b"{\"a\":\n1}");
        assert_eq!(take_event(&mut text), None);
        assert_eq!(text, b"data: half");
    }
}
