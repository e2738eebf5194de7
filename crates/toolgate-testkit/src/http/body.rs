//! Writes response heads and bodies, well or badly.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::tcp::OwnedWriteHalf;

use crate::fault::BodyOddity;
use crate::limits::FILLER_CHUNK_BYTES;

/// What a connection does after a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    KeepOpen,
    Close,
    Reset,
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length,
    Chunks(Option<BodyOddity>),
    UntilClose,
}

/// A status line and headers, without those that tell the length.
#[derive(Clone, Debug)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// Ends the response after that many bytes of its head.
    pub(crate) cut_after: Option<usize>,
}

/// A response while its body is written.
#[derive(Debug)]
pub(crate) struct BodyWriter<'a> {
    write: &'a mut OwnedWriteHalf,
    framing: Framing,
    after: After,
}

impl<'a> BodyWriter<'a> {
    /// Begins a response whose body has this length, or one that is not known; `None` when the head was cut.
    pub(crate) async fn begin(
        write: &'a mut OwnedWriteHalf,
        head: &ResponseHead,
        length: Option<usize>,
        oddity: Option<BodyOddity>,
    ) -> io::Result<Option<Self>> {
        let (framing, line, after) = framing(length, oddity);
        let mut text = format!("HTTP/1.1 {} {}\r\n", head.status, reason(head.status));
        for (name, value) in &head.headers {
            // Writing to a string cannot fail.
            let _infallible = write!(text, "{name}: {value}\r\n");
        }
        text.push_str(&line);
        text.push_str("\r\n");
        let bytes = text.as_bytes();
        if let Some(cut) = head.cut_after {
            write.write_all(bytes.get(..cut).unwrap_or(bytes)).await?;
            write.flush().await?;
            return Ok(None);
        }
        write.write_all(bytes).await?;
        write.flush().await?;
        Ok(Some(Self { write, framing, after }))
    }

    /// Writes a part of the body.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        match self.framing {
            Framing::Length | Framing::UntilClose => self.write.write_all(bytes).await?,
            Framing::Chunks(oddity) => self.write.write_all(&chunks(bytes, oddity)).await?,
        }
        self.write.flush().await
    }

    /// Writes a part of the body, in pieces with pauses where that is asked for.
    pub(crate) async fn write_slowly(&mut self, bytes: &[u8], drip: Option<(usize, Duration)>) -> io::Result<()> {
        let Some((piece, pause)) = drip else { return self.write(bytes).await };
        for piece in bytes.chunks(piece) {
            tokio::time::sleep(pause).await;
            self.write(piece).await?;
        }
        Ok(())
    }

    /// Writes that many bytes of filler.
    pub(crate) async fn fill(&mut self, bytes: u64) -> io::Result<()> {
        let block = [b'x'; FILLER_CHUNK_BYTES];
        let mut left = bytes;
        while left > 0 {
            let piece = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
            self.write(block.get(..piece).unwrap_or_default()).await?;
            left -= piece as u64;
        }
        Ok(())
    }

    /// Ends the body as its framing ends bodies.
    pub(crate) async fn finish(self) -> io::Result<After> {
        if let Framing::Chunks(oddity) = self.framing {
            let end: &[u8] = match oddity {
                Some(BodyOddity::NoLastChunk) => b"",
                Some(BodyOddity::Trailers) => b"0\r\nX-Trailer: late\r\nX-Other: later\r\n\r\n",
                Some(BodyOddity::ChunkExtensions) => b"000;last=yes\r\n\r\n",
                _ => b"0\r\n\r\n",
            };
            self.write.write_all(end).await?;
            self.write.flush().await?;
        }
        Ok(self.after)
    }
}

fn framing(length: Option<usize>, oddity: Option<BodyOddity>) -> (Framing, String, After) {
    let until_close = (Framing::UntilClose, "Connection: close\r\n".to_owned(), After::Close);
    let with_length = |length: usize, after| (Framing::Length, format!("Content-Length: {length}\r\n"), after);
    match (oddity, length) {
        (None, Some(length)) => with_length(length, After::KeepOpen),
        (Some(BodyOddity::LengthTooLong), Some(length)) => with_length(length + 10, After::Close),
        (Some(BodyOddity::LengthTooShort), Some(length)) => with_length(length.saturating_sub(10), After::Close),
        (Some(BodyOddity::UntilClose | BodyOddity::LengthTooLong | BodyOddity::LengthTooShort), _) => until_close,
        (oddity, _) => {
            let is_broken = matches!(oddity, Some(BodyOddity::NoLastChunk | BodyOddity::BadChunkSize));
            let after = if is_broken { After::Close } else { After::KeepOpen };
            (Framing::Chunks(oddity), "Transfer-Encoding: chunked\r\n".to_owned(), after)
        }
    }
}

fn chunks(bytes: &[u8], oddity: Option<BodyOddity>) -> Vec<u8> {
    let mut written = Vec::with_capacity(bytes.len() + 16);
    let size = if oddity == Some(BodyOddity::OneByteChunks) { 1 } else { bytes.len() };
    for piece in bytes.chunks(size) {
        let line = match oddity {
            Some(BodyOddity::ChunkExtensions) => format!("{:06X};note=\"a b\"\r\n", piece.len()),
            Some(BodyOddity::BadChunkSize) => "not-a-size\r\n".to_owned(),
            _ => format!("{:x}\r\n", piece.len()),
        };
        written.extend_from_slice(line.as_bytes());
        written.extend_from_slice(piece);
        written.extend_from_slice(b"\r\n");
    }
    written
}

const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        302 => "Found",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        409 => "Conflict",
        415 => "Unsupported Media Type",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}
