//! Reads HTTP requests from a connection.

use std::io;
use tokio::io::AsyncReadExt as _;
use tokio::net::tcp::OwnedReadHalf;

use crate::limits::{REQUEST_BODY_BYTES_MAX, REQUEST_HEAD_BYTES_MAX};

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query as sent.
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The first header of this name, which is given in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// The value of a query parameter.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Reads requests one after the other.
#[derive(Debug)]
pub(crate) struct RequestReader {
    read: OwnedReadHalf,
    buffer: Vec<u8>,
}

/// What stands before a request's body.
pub(crate) struct Head {
    request: Request,
}

impl Head {
    /// Whether the client waits for `100 Continue`.
    pub(crate) fn expects_continue(&self) -> bool {
        self.request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
    }
}

impl RequestReader {
    pub(crate) const fn new(read: OwnedReadHalf) -> Self {
        Self { read, buffer: Vec::new() }
    }

    /// The next head; `None` when the client closed the connection between requests.
    pub(crate) async fn head(&mut self) -> io::Result<Option<Head>> {
        let end = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
            if self.buffer.len() > REQUEST_HEAD_BYTES_MAX {
                return Err(malformed("the head of a request is too long"));
            }
            if !self.more().await? {
                return if self.buffer.is_empty() { Ok(None) } else { Err(cut_off()) };
            }
        };
        let head: Vec<u8> = self.buffer.drain(..end + 4).collect();
        let head = String::from_utf8_lossy(&head);
        parse_head(&head).map(Some)
    }

    /// Reads the body that follows a head.
    pub(crate) async fn body(&mut self, head: Head) -> io::Result<Request> {
        let mut request = head.request;
        let is_chunked =
            request.header("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
        request.body = if is_chunked {
            self.chunks().await?
        } else {
            let length = request.header("content-length").unwrap_or("0");
            let length = length.trim().parse().map_err(|_| malformed("a bad content length"))?;
            self.take(length).await?
        };
        Ok(request)
    }

    /// Comes back when the client closed the connection. What it sends meanwhile is kept.
    pub(crate) async fn closed(&mut self) {
        while self.buffer.len() <= REQUEST_BODY_BYTES_MAX {
            if !matches!(self.more().await, Ok(true)) {
                return;
            }
        }
    }

    /// Reads some more bytes; `false` at the end. Losing the future loses no bytes.
    async fn more(&mut self) -> io::Result<bool> {
        Ok(self.read.read_buf(&mut self.buffer).await? > 0)
    }

    async fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        if length > REQUEST_BODY_BYTES_MAX {
            return Err(malformed("the body of a request is too long"));
        }
        while self.buffer.len() < length {
            if !self.more().await? {
                return Err(cut_off());
            }
        }
        Ok(self.buffer.drain(..length).collect())
    }

    async fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = self.line().await?;
            let digits = size.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(digits, 16).map_err(|_| malformed("a bad chunk size"))?;
            if size == 0 {
                while !self.line().await?.is_empty() {}
                return Ok(body);
            }
            if body.len().saturating_add(size) > REQUEST_BODY_BYTES_MAX {
                return Err(malformed("the body of a request is too long"));
            }
            body.extend(self.take(size).await?);
            self.take(2).await?;
        }
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let line: Vec<u8> = self.buffer.drain(..end + 2).collect();
                return Ok(String::from_utf8_lossy(&line).trim().to_owned());
            }
            if !self.more().await? {
                return Err(cut_off());
            }
        }
    }
}

fn parse_head(head: &str) -> io::Result<Head> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1")) = (words.next(), words.next(), words.next()) else {
        return Err(malformed("not an HTTP/1.1 request line"));
    };
    let mut headers = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| malformed("a header without a colon"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let (method, target) = (method.to_owned(), target.to_owned());
    Ok(Head { request: Request { method, target, headers, body: Vec::new() } })
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the client closed the connection within a request")
}
