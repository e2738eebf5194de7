//! A client without knowledge: it writes JSON lines and reads JSON lines.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, ReadHalf, WriteHalf};
use toolgate_testkit::in_process::{self, ClientHalf};
use toolgate_testkit::{Record, Script};

/// Long enough for a loaded machine; nothing waits this long when all is well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A raw client on a pipe.
pub(crate) struct RawClient<R, W> {
    read: BufReader<R>,
    write: W,
    next_id: i64,
}

/// A raw client on an in-process pipe.
pub(crate) type PipeClient = RawClient<ReadHalf<ClientHalf>, WriteHalf<ClientHalf>>;

/// Starts a script and connects to it.
pub(crate) fn start(script: Script) -> (PipeClient, Record) {
    let (half, record) = in_process::serve(script);
    let (read, write) = tokio::io::split(half);
    (RawClient::new(read, write), record)
}

/// Starts a legacy script and initializes it.
pub(crate) async fn start_legacy(script: Script, version: &str) -> (PipeClient, Record) {
    let (mut client, record) = start(script);
    let answer = client.request("initialize", initialize_params(version)).await;
    assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    (client, record)
}

pub(crate) fn initialize_params(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
        "clientInfo": {"name": "raw", "version": "0"},
    })
}

/// Parameters with the metadata every modern request carries.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {}, "sampling": {}, "roots": {}});
    params
}

/// Parameters of a tool call.
pub(crate) fn call(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// The text of the first block of a call's answer.
pub(crate) fn text(answer: &Value) -> &str {
    answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_else(|| panic!("no text in {answer}"))
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> RawClient<R, W> {
    pub(crate) fn new(read: R, write: W) -> Self {
        Self { read: BufReader::new(read), write, next_id: 1 }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.write.write_all(format!("{text}\n").as_bytes()).await.unwrap();
        self.write.flush().await.unwrap();
    }

    /// Sends a request without waiting; its id.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a request and gives the next message, which must be its answer.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "not the answer to {method}: {answer}");
        answer
    }

    /// The next line as bytes, newline included; empty at the end.
    pub(crate) async fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        let read = self.read.read_until(b'\n', &mut line);
        tokio::time::timeout(PATIENCE, read).await.expect("the server says nothing").unwrap();
        line
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_slice(&line).unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&line)))
    }

    /// Nothing comes for a little while.
    pub(crate) async fn expect_silence(&mut self) {
        let mut line = Vec::new();
        let read = self.read.read_until(b'\n', &mut line);
        let heard = tokio::time::timeout(Duration::from_millis(150), read).await;
        assert!(heard.is_err(), "heard {:?}", String::from_utf8_lossy(&line));
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> RawClient<R, W> {
    /// Reads that many bytes, which must all be filler, and throws them away.
    pub(crate) async fn count_filler(&mut self, bytes: u64) -> u64 {
        let mut seen = 0;
        while seen < bytes {
            let block = tokio::time::timeout(PATIENCE, self.read.fill_buf()).await.unwrap().unwrap();
            assert!(!block.is_empty() && block.iter().all(|byte| *byte == b'x'));
            let length = block.len();
            self.read.consume(length);
            seen += length as u64;
        }
        seen
    }
}
