//! Newline-delimited JSON over any pair of byte streams: pipes, sockets, in-process pipes.
//!
//! Reading never loses step: a line that is too long is skipped to its end, a line that is no JSON is reported. Writing gathers what
//! several callers send at about the same time into one write, and makes callers wait when the other side does not read.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::{Buf, BytesMut};
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::departure::Departure;
use crate::error::{Error, Result};
use crate::limits::{LINE_BYTES_MAX, OUTBOX_BYTES_MAX};
use crate::link::{Inbound, Link, Outgoing};
use crate::message::{Defect, DefectKind, salvage_id};
use crate::peer::lock;

/// Room made for the next read while lines are short.
const READ_BYTES: usize = 8 * 1024;

/// Room made for the next read in the middle of a long line.
const LONG_READ_BYTES: usize = 256 * 1024;

/// How long a failed write leaves it to the reader to say what happened.
const REASON_WAIT: std::time::Duration = std::time::Duration::from_secs(1);

/// A buffer larger than this is given back to the system once it has been written.
const KEPT_BUFFER_BYTES: usize = 64 * 1024;

/// What is kept of either end of a line that is too long, to find its id in.
const KEPT_END_BYTES: usize = 256;

/// Joins a reader and a writer to a peer. For [`Peer::start`](crate::Peer::start).
pub fn open<R, W>(reader: R, writer: W) -> impl FnOnce(Inbound) -> Arc<dyn Link>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    open_with(reader, writer, async { "the other side closed the stream".to_owned() })
}

/// The same, with a way to tell why the stream ended.
pub(crate) fn open_with<R, W>(
    reader: R,
    writer: W,
    why_ended: impl Future<Output = String> + Send + 'static,
) -> impl FnOnce(Inbound) -> Arc<dyn Link>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    move |inbound| {
        let outbox = Arc::new(Outbox::default());
        let writing = tokio::spawn(write_all(writer, outbox.clone(), inbound.clone()));
        let reading = tokio::spawn(read_all(reader, inbound, why_ended));
        Arc::new(StreamLink {
            outbox,
            reading: reading.abort_handle(),
            writing: tokio::sync::Mutex::new(Some(writing)),
        })
    }
}

struct StreamLink {
    outbox: Arc<Outbox>,
    reading: AbortHandle,
    /// Whoever closes second waits here until the first has written everything.
    writing: tokio::sync::Mutex<Option<tokio::task::JoinHandle<()>>>,
}

impl Link for StreamLink {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let mut outgoing = outgoing;
            loop {
                let room = self.outbox.room.notified();
                match self.outbox.accept(outgoing) {
                    Accepted::Yes => return Ok(()),
                    Accepted::Closed => return Err(Error::closed("the stream is closed")),
                    Accepted::Full(back) => outgoing = *back,
                }
                room.await;
            }
        })
    }

    fn try_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        match self.outbox.accept(outgoing) {
            Accepted::Yes | Accepted::Closed => None,
            Accepted::Full(back) => Some(*back),
        }
    }

    fn cancels_with_message(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            lock(&self.outbox.state).closed = true;
            self.outbox.work.notify_one();
            self.outbox.room.notify_waiters();
            let mut writing = self.writing.lock().await;
            if let Some(writing) = writing.take() {
                let abort = writing.abort_handle();
                let limit = std::time::Duration::from_millis(crate::limits::CLOSE_MS);
                if tokio::time::timeout(limit, writing).await.is_err() {
                    abort.abort(); // The other side does not read any more.
                }
            }
            self.reading.abort();
        })
    }
}

impl Drop for StreamLink {
    fn drop(&mut self) {
        self.reading.abort();
        lock(&self.outbox.state).closed = true;
        self.outbox.work.notify_one();
    }
}

/// What waits to be written.
#[derive(Default)]
struct Outbox {
    state: Mutex<OutboxState>,
    work: Notify,
    room: Notify,
}

#[derive(Default)]
struct OutboxState {
    lines: BytesMut,
    /// Which of the lines may still be withdrawn, in their order.
    departures: Vec<(Range<usize>, Arc<Departure>)>,
    closed: bool,
}

impl OutboxState {
    /// Takes out what is to be written now, and tells the requests in it that they leave. Those that were withdrawn stay behind.
    fn take_into(&mut self, batch: &mut BytesMut) {
        std::mem::swap(batch, &mut self.lines);
        let withdrawn: Vec<_> = self.departures.drain(..).filter(|(_, departure)| !departure.begin()).collect();
        for (line, _) in withdrawn.into_iter().rev() {
            let after = batch.split_off(line.end);
            batch.truncate(line.start);
            batch.unsplit(after);
        }
    }
}

enum Accepted {
    Yes,
    Closed,
    Full(Box<Outgoing>),
}

impl Outbox {
    fn accept(&self, outgoing: Outgoing) -> Accepted {
        let mut state = lock(&self.state);
        if state.closed {
            return Accepted::Closed;
        }
        if state.lines.len() >= OUTBOX_BYTES_MAX {
            return Accepted::Full(Box::new(outgoing));
        }
        let start = state.lines.len();
        outgoing.write_to(&mut state.lines);
        state.lines.extend_from_slice(b"\n");
        if let Some(departure) = outgoing.departure {
            let line = start..state.lines.len();
            state.departures.push((line, departure));
        }
        drop(state);
        self.work.notify_one();
        Accepted::Yes
    }

    /// Writing failed, most often because the other side is gone. The reader is about to learn how, which says more than a broken pipe.
    async fn wait_for_a_better_reason(&self) {
        let closed = async {
            while !lock(&self.state).closed {
                self.work.notified().await;
            }
        };
        let _reader_has_none = tokio::time::timeout(REASON_WAIT, closed).await.is_err();
    }
}

async fn write_all<W: AsyncWrite + Unpin>(mut writer: W, outbox: Arc<Outbox>, inbound: Inbound) {
    let mut batch = BytesMut::new();
    loop {
        let closed = {
            let mut state = lock(&outbox.state);
            state.take_into(&mut batch);
            state.closed
        };
        if batch.is_empty() {
            if closed {
                break;
            }
            outbox.room.notify_waiters(); // All that was there may have been withdrawn.
            outbox.work.notified().await;
            continue;
        }
        if let Err(error) = writer.write_all(&batch).await {
            outbox.wait_for_a_better_reason().await;
            lock(&outbox.state).closed = true;
            inbound.closed(&Error::closed(format!("cannot write: {error}")));
            break;
        }
        batch.clear();
        if batch.capacity() > KEPT_BUFFER_BYTES {
            batch = BytesMut::new();
        }
        outbox.room.notify_waiters();
        if let Err(error) = writer.flush().await {
            outbox.wait_for_a_better_reason().await;
            inbound.closed(&Error::closed(format!("cannot write: {error}")));
            break;
        }
    }
    outbox.room.notify_waiters();
    let _nobody_reads_any_more = writer.shutdown().await.is_err();
}

async fn read_all<R: AsyncRead + Unpin>(mut reader: R, inbound: Inbound, why_ended: impl Future<Output = String>) {
    let mut lines = LineReader::default();
    loop {
        match reader.read_buf(lines.room()).await {
            Ok(0) => break,
            Ok(_) => lines.each(|line| match line {
                Line::Whole(line) => inbound.frame(&line, &[]),
                Line::TooLong(defect) => inbound.defect(&defect),
            }),
            Err(error) => {
                inbound.closed(&Error::closed(format!("cannot read: {error}")));
                return;
            }
        }
        if inbound.is_abandoned() {
            return;
        }
    }
    if let Some(rest) = lines.rest() {
        inbound.defect(&rest);
    }
    inbound.closed(&Error::closed(why_ended.await));
}

/// Cuts a byte stream into lines.
#[derive(Debug)]
pub struct LineReader {
    line_bytes_max: usize,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    /// How much of a line that is too long has been thrown away.
    skipped: usize,
    /// The beginning of that line, to tell whose answer it was.
    skipped_head: Vec<u8>,
}

/// One line, or what stood in its place.
#[derive(Debug)]
pub enum Line {
    /// A line without its end; never empty.
    Whole(bytes::Bytes),
    /// A line longer than `LINE_BYTES_MAX`, skipped.
    TooLong(Defect),
}

impl Default for LineReader {
    fn default() -> Self {
        Self::bounded(LINE_BYTES_MAX)
    }
}

impl LineReader {
    /// A reader with a bound of its own, so that tests reach it with short lines; it is never below what is kept of a line.
    pub fn bounded(line_bytes_max: usize) -> Self {
        let line_bytes_max = line_bytes_max.max(KEPT_END_BYTES);
        Self { line_bytes_max, buffer: BytesMut::new(), searched: 0, skipped: 0, skipped_head: Vec::new() }
    }

    /// Where the next bytes go.
    pub fn room(&mut self) -> &mut BytesMut {
        let wanted = if self.buffer.len() >= READ_BYTES { LONG_READ_BYTES.min(self.buffer.len()) } else { READ_BYTES };
        self.buffer.reserve(wanted);
        &mut self.buffer
    }

    /// Hands out every line that is complete.
    pub fn each(&mut self, mut take: impl FnMut(Line)) {
        while let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
            let mut line = self.buffer.split_to(self.searched + at);
            self.buffer.advance(1);
            self.searched = 0;
            if self.skipped > 0 || line.len() > self.line_bytes_max {
                take(Line::TooLong(self.end_skipping(&line)));
                continue;
            }
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            if !line.trim_ascii().is_empty() {
                take(Line::Whole(line.freeze()));
            }
        }
        self.searched = self.buffer.len();
        if self.skipped + self.buffer.len() > self.line_bytes_max {
            self.skip();
        }
    }

    /// What is left when the stream ends in the middle of a line.
    pub fn rest(&mut self) -> Option<Defect> {
        if self.skipped > 0 {
            let rest = self.buffer.split();
            return Some(self.end_skipping(&rest));
        }
        let rest = self.buffer.trim_ascii();
        if rest.is_empty() {
            return None;
        }
        let excerpt = String::from_utf8_lossy(&rest[..rest.len().min(120)]).escape_debug().to_string();
        let detail = format!("the stream ended in the middle of a line of {} bytes: `{excerpt}`", rest.len());
        Some(Defect::new(DefectKind::NotJson, detail))
    }

    /// Throws away what has been read of a line that is too long, keeping its two ends.
    fn skip(&mut self) {
        if self.skipped == 0 {
            self.skipped_head = self.buffer[..self.buffer.len().min(KEPT_END_BYTES)].to_vec();
        }
        let kept = self.buffer.len().min(KEPT_END_BYTES);
        self.skipped += self.buffer.len() - kept;
        let tail = BytesMut::from(&self.buffer[self.buffer.len() - kept..]);
        self.buffer = tail;
        self.searched = self.buffer.len();
    }

    fn end_skipping(&mut self, tail: &[u8]) -> Defect {
        if self.skipped == 0 {
            self.skipped_head = tail[..tail.len().min(KEPT_END_BYTES)].to_vec(); // The whole line came with one read.
        }
        let bytes = self.skipped + tail.len();
        self.skipped = 0;
        let mut ends = std::mem::take(&mut self.skipped_head);
        ends.extend_from_slice(&[b' '; KEPT_END_BYTES]); // Keeps the two ends apart.
        ends.extend_from_slice(&tail[tail.len().saturating_sub(KEPT_END_BYTES)..]);
        let detail = format!("a line of {bytes} bytes (limit LINE_BYTES_MAX = {})", self.line_bytes_max);
        Defect { id: salvage_id(&ends), ..Defect::new(DefectKind::TooLarge, detail) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<String> {
        let mut reader = LineReader::default();
        let mut found = Vec::new();
        for chunk in chunks {
            reader.room().extend_from_slice(chunk);
            reader.each(|line| {
                found.push(match line {
                    Line::Whole(line) => String::from_utf8_lossy(&line).into_owned(),
                    Line::TooLong(defect) => format!("{:?} id={:?}", defect.kind, defect.id),
                });
            });
        }
        found.extend(reader.rest().map(|defect| format!("rest: {:?}", defect.kind)));
        found
    }

    #[test]
    fn lines_are_found_wherever_the_chunks_break() {
        let text = b"{\"a\":1}\r\n\n  \n{\"b\":2}\n";
        for cut in 0..text.len() {
            assert_eq!(lines(&[&text[..cut], &text[cut..]]), ["{\"a\":1}", "{\"b\":2}"], "cut at {cut}");
        }
        assert_eq!(lines(&[b"{\"a\""]), ["rest: NotJson"]);
    }

    #[test]
    fn a_line_too_long_is_none_even_when_it_comes_with_one_read() {
        for size in [300, 301] {
            let text = [&vec![b'x'; size][..], b"\nnext\n"].concat();
            let mut reader = LineReader::bounded(300);
            reader.room().extend_from_slice(&text);
            let mut found = Vec::new();
            reader.each(|line| found.push(matches!(line, Line::Whole(_))));
            assert_eq!(found, [size == 300, true], "a line of {size} bytes");
        }
    }

    #[test]
    fn a_line_too_long_is_skipped_and_its_call_is_known() {
        let filler = vec![b'x'; 1024 * 1024];
        let mut chunks: Vec<&[u8]> = vec![b"{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{\"text\":\""];
        chunks.extend(std::iter::repeat_n(&filler[..], LINE_BYTES_MAX / filler.len() + 3));
        chunks.push(b"\"}}\n{\"next\":1}\n");
        assert_eq!(lines(&chunks), ["TooLarge id=Some(17)", "{\"next\":1}"]);
        chunks[0] = b"{\"result\":{\"text\":\"";
        let last = chunks.len() - 1;
        chunks[last] = b"\"},\"id\":18}\n{\"next\":1}\n";
        assert_eq!(lines(&chunks), ["TooLarge id=Some(18)", "{\"next\":1}"]);
    }
}
