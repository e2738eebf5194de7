//! An HTTP client without knowledge: it writes request texts and takes answers apart byte by byte.

use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::support::PATIENCE;

/// One connection.
pub(crate) struct RawHttp {
    stream: BufReader<TcpStream>,
}

/// A response whose body is still to be read.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    connection: RawHttp,
    /// Bytes of the body that were read and not used.
    unread: Vec<u8>,
}

/// A server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) retry: String,
    pub(crate) data: String,
}

impl SseEvent {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A request in the making.
#[derive(Clone, Debug)]
pub(crate) struct RequestText {
    line: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl RequestText {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self { line: format!("{method} {path} HTTP/1.1"), headers: Vec::new(), body: String::new() }
    }

    /// A POST of a message as every client of streamable HTTP sends it.
    pub(crate) fn post(message: &Value) -> Self {
        let mut request = Self::new("POST", "/mcp")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        request.body = message.to_string();
        request
    }

    /// A POST of a modern request with the headers that go with it.
    pub(crate) fn modern(id: i64, method: &str, params: Value) -> Self {
        let params = crate::support::modern(params);
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str);
        let name = name.map(str::to_owned);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let request = Self::post(&message).header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", method);
        match name {
            Some(name) => request.header("Mcp-Name", &name),
            None => request,
        }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path).header("Accept", "text/event-stream")
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
        self
    }

    /// Gives it a body of this type.
    pub(crate) fn content(mut self, kind: &str, body: &str) -> Self {
        self.headers.push(("Content-Type".to_owned(), kind.to_owned()));
        self.body = body.to_owned();
        self
    }

    /// Sends the POST to this path instead.
    pub(crate) fn redirect(&mut self, path: &str) {
        self.line = format!("POST {path} HTTP/1.1");
    }

    pub(crate) fn session(self, id: &str) -> Self {
        self.header("Mcp-Session-Id", id)
    }

    fn text(&self) -> String {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = self.body.len();
        format!("{}\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\n\r\n{}", self.line, self.body)
    }

    /// Sends it on a connection of its own.
    pub(crate) async fn send(&self, address: SocketAddr) -> Response {
        RawHttp::connect(address).await.send(self).await.expect("no answer")
    }
}

impl RawHttp {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self { stream: BufReader::new(TcpStream::connect(address).await.unwrap()) }
    }

    /// Sends a request; `None` when the connection ends before the whole head of an answer.
    pub(crate) async fn send(mut self, request: &RequestText) -> Option<Response> {
        self.stream.get_mut().write_all(request.text().as_bytes()).await.unwrap();
        let mut lines = Vec::new();
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                break;
            }
            lines.push(line);
        }
        let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines[1..]
            .iter()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Some(Response { status, headers, connection: self, unread: Vec::new() })
    }

    /// One line without its end; `None` when the connection ends first.
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
        let count = tokio::time::timeout(PATIENCE, read).await.expect("the server says nothing");
        matches!(count, Ok(1..) if line.ends_with('\n')).then(|| line.trim_end().to_owned())
    }

    /// Everything up to the end of the connection, and how it ended.
    pub(crate) async fn rest(&mut self) -> (Vec<u8>, std::io::Result<usize>) {
        let mut bytes = Vec::new();
        let read = self.stream.read_to_end(&mut bytes);
        let ended = tokio::time::timeout(PATIENCE, read).await.expect("the server does not close");
        (bytes, ended)
    }
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The connection, whatever is left of the body.
    pub(crate) fn into_connection(self) -> RawHttp {
        self.connection
    }

    /// The next part of the body; `None` at its end.
    async fn part(&mut self) -> Option<Vec<u8>> {
        if self.header("transfer-encoding") == Some("chunked") {
            let size = self.connection.line().await?;
            let size = usize::from_str_radix(size.split(';').next().unwrap().trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            if size == 0 {
                while !self.connection.line().await?.is_empty() {}
                return None;
            }
            let read = self.connection.stream.read_exact(&mut chunk);
            tokio::time::timeout(PATIENCE, read).await.unwrap().ok()?;
            chunk.truncate(size);
            return Some(chunk);
        }
        if let Some(length) = self.header("content-length") {
            let length: usize = length.parse().unwrap();
            self.headers.retain(|(name, _)| name != "content-length");
            self.headers.push(("content-length".to_owned(), "0".to_owned()));
            if length == 0 {
                return None;
            }
            let mut body = vec![0; length];
            self.connection.stream.read_exact(&mut body).await.ok()?;
            return Some(body);
        }
        let mut bytes = vec![0; 4096];
        let count = self.connection.stream.read(&mut bytes).await.ok()?;
        bytes.truncate(count);
        (count > 0).then_some(bytes)
    }

    /// The whole body, and the connection for the next request.
    pub(crate) async fn body(mut self) -> (String, RawHttp) {
        let mut body = std::mem::take(&mut self.unread);
        while let Some(part) = self.part().await {
            body.extend(part);
        }
        (String::from_utf8_lossy(&body).into_owned(), self.connection)
    }

    /// The body as JSON.
    pub(crate) async fn json(self) -> Value {
        let (body, _) = self.body().await;
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
    }

    /// The next event; `None` when the stream ends.
    pub(crate) async fn event(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(end) = self.unread.windows(2).position(|window| window == b"\n\n") {
                let text: Vec<u8> = self.unread.drain(..end + 2).collect();
                let event = parse_event(&String::from_utf8_lossy(&text));
                if event != SseEvent::default() {
                    return Some(event);
                }
                continue;
            }
            let part = self.part().await?;
            self.unread.extend(part);
        }
    }

    /// The message of the next event that has one.
    pub(crate) async fn message(&mut self) -> Value {
        loop {
            let event = self.event().await.expect("the stream ended");
            if !event.data.is_empty() {
                return event.json();
            }
        }
    }
}

fn parse_event(text: &str) -> SseEvent {
    let mut event = SseEvent::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => event.kind = value.to_owned(),
            "id" => event.id = value.to_owned(),
            "retry" => event.retry = value.to_owned(),
            "data" => event.data.push_str(value),
            _ => (),
        }
    }
    event
}

/// Opens a legacy session; its id.
pub(crate) async fn initialize(address: SocketAddr, version: &str) -> String {
    let params = crate::support::initialize_params(version);
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let mut response = RequestText::post(&message).send(address).await;
    assert_eq!(response.status, 200);
    let id = response.header("mcp-session-id").unwrap_or_default().to_owned();
    let is_stream = response.header("content-type") == Some("text/event-stream");
    let answer = if is_stream { response.message().await } else { response.json().await };
    assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
    id
}

/// A legacy request in a session.
pub(crate) fn legacy(session: &str, id: i64, method: &str, params: &Value) -> RequestText {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    RequestText::post(&message).session(session)
}
