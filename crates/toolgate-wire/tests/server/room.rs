//! What the tests need to speak HTTP and frames without a network: requests as data, answers as data, everything within a time limit.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use toolgate_wire::Error;
use toolgate_wire::server::Server;
use toolgate_wire::transport::http_server::{HttpOptions, HttpService, ResponseBody};

use crate::sample::Sample;

/// Longer than anything here takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits, but not for ever.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it should have happened by now")
}

/// Headers as data.
pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

/// A service and everything to look at it.
pub(crate) struct Room {
    pub(crate) sample: Sample,
    pub(crate) server: Server,
    pub(crate) http: HttpService,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self::of(Sample::new(), HttpOptions::new())
    }

    pub(crate) fn of(sample: Sample, options: HttpOptions) -> Self {
        let server = Server::new(sample.clone());
        let http = HttpService::new(&server, options);
        Self { sample, server, http }
    }

    /// Sends a request as it stands.
    pub(crate) async fn send(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Response<ResponseBody> {
        soon(self.http.handle(request(method, headers, body))).await
    }

    /// POSTs with what every client sends, and reads the whole answer.
    pub(crate) async fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut all = USUAL.to_vec();
        all.extend_from_slice(headers);
        Answer::of(self.send("POST", &all, body.to_owned()).await).await
    }

    /// The same, without waiting for the end of the body.
    pub(crate) async fn post_open(&self, headers: &[(&str, &str)], body: &str) -> Events {
        let mut all = USUAL.to_vec();
        all.extend_from_slice(headers);
        Events::of(self.send("POST", &all, body.to_owned()).await)
    }

    /// Begins a session and gives its name.
    pub(crate) async fn initialize(&self, version: &str) -> String {
        let params = json!({"protocolVersion": version, "capabilities": {"elicitation": {}}, "clientInfo": {"name": "c", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string();
        let answer = self.post(&[], &body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let session = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let done = self
            .post(&[("mcp-session-id", &session)], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        assert_eq!((done.status, done.text.as_str()), (StatusCode::ACCEPTED, ""));
        session
    }
}

pub(crate) const USUAL: &[(&str, &str)] =
    &[("host", "localhost:1"), ("content-type", "application/json"), ("accept", "application/json, text/event-stream")];

pub(crate) fn request(method: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri("/mcp");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::new(body.into())).unwrap()
}

/// An answer that has come to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) async fn of(response: Response<ResponseBody>) -> Self {
        let (parts, body) = response.into_parts();
        let text = soon(body.collect()).await.unwrap().to_bytes();
        Self { status: parts.status, headers: parts.headers, text: String::from_utf8(text.to_vec()).unwrap() }
    }

    pub(crate) fn form(&self) -> &str {
        self.headers.get("content-type").map_or("", |form| form.to_str().unwrap())
    }

    /// The message in the body, whether plain or the last event.
    pub(crate) fn json(&self) -> Value {
        let text = self.text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&self.text);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {:?}", self.text))
    }
}

/// The events of a stream that may stay open.
pub(crate) struct Events {
    pub(crate) response: Response<ResponseBody>,
    buffer: String,
}

/// One event.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) id: String,
    pub(crate) retry: Option<u64>,
    pub(crate) event: String,
    pub(crate) data: String,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Events {
    pub(crate) fn of(response: Response<ResponseBody>) -> Self {
        assert_eq!(response.status(), StatusCode::OK, "{response:?}");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, buffer: String::new() }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Seen> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.buffer = rest;
                if event != ":" {
                    return Some(parse(&event));
                }
                continue;
            }
            let frame = soon(self.response.body_mut().frame()).await?.unwrap();
            self.buffer.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    /// The next message.
    pub(crate) async fn message(&mut self) -> Value {
        self.next().await.expect("one more event").json()
    }
}

fn parse(text: &str) -> Seen {
    let mut seen = Seen::default();
    for line in text.lines() {
        let (field, value) = line.split_once(": ").unwrap();
        match field {
            "id" => value.clone_into(&mut seen.id),
            "retry" => seen.retry = Some(value.parse().unwrap()),
            "event" => value.clone_into(&mut seen.event),
            "data" => seen.data.push_str(value),
            other => panic!("unknown field {other}"),
        }
    }
    seen
}

/// What every request of 2026-07-28 says, with more in its parameters.
pub(crate) fn modern(id: u64, method: &str, params: Value) -> String {
    modern_with(id, method, params, &json!({}))
}

/// The same, with more in `_meta`.
pub(crate) fn modern_with(id: u64, method: &str, mut params: Value, more: &Value) -> String {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    for (key, value) in more.as_object().unwrap() {
        meta[key] = value.clone();
    }
    params["_meta"] = meta;
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// The headers of such a request.
pub(crate) fn modern_headers<'a>(method: &'a str, name: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    headers.extend(name.map(|name| ("mcp-name", name)));
    headers
}

/// A client on a byte stream.
pub(crate) struct Pipe {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: JoinHandle<Error>,
}

impl Pipe {
    pub(crate) fn to(server: &Server) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let server = server.clone();
        let served = tokio::spawn(async move { server.serve_stream(reader, writer).await });
        let (reader, writer) = tokio::io::split(ours);
        Self { lines: BufReader::new(reader).lines(), writer, served }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        soon(self.writer.write_all(format!("{line}\n").as_bytes())).await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = soon(self.lines.next_line()).await.unwrap().expect("one more line");
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) async fn ask(&mut self, line: &str) -> Value {
        self.send(line).await;
        self.receive().await
    }

    /// Goes away, and waits until the server has noticed.
    pub(crate) async fn leave(self) -> Error {
        drop((self.lines, self.writer));
        soon(self.served).await.unwrap()
    }

    /// Does the handshake.
    pub(crate) async fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}});
        let answer = self
            .ask(&json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params}).to_string())
            .await;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        answer
    }
}
