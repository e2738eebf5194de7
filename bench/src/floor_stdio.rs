//! The floor over pipes: a server and a client that do the least possible work for MCP, without an MCP library.

use std::io::{BufRead, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::measure::{Load, Sample};

#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    size: Option<usize>,
}

/// The answer to one message, or nothing for a notification. Shared by both floor servers.
pub(crate) fn answer(line: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(asked) = serde_json::from_slice::<Asked<'_>>(line) else { return false };
    let (Some(id), Some(method)) = (asked.id, asked.method) else { return false };
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.get().as_bytes());
    match method {
        "tools/call" => {
            out.extend_from_slice(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
            let params = asked.params.and_then(|params| serde_json::from_str::<Params<'_>>(params.get()).ok());
            let arguments = params.and_then(|params| params.arguments);
            let size = arguments.as_ref().and_then(|arguments| arguments.size);
            match (size, arguments.and_then(|arguments| arguments.message)) {
                (Some(size), _) => {
                    out.push(b'"');
                    out.resize(out.len() + size, b'x');
                    out.push(b'"');
                }
                (None, Some(message)) => out.extend_from_slice(message.get().as_bytes()),
                (None, None) => out.extend_from_slice(b"\"\""),
            }
            out.extend_from_slice(b"}]}}");
        }
        "initialize" => out.extend_from_slice(
            b",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"floor\",\"version\":\"1\"}}}",
        ),
        "tools/list" => out.extend_from_slice(
            b",\"result\":{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\"}}]}}",
        ),
        _ => out.extend_from_slice(b",\"error\":{\"code\":-32601,\"message\":\"method not found\"}}"),
    }
    true
}

/// A server on stdin and stdout. Writes when there is nothing left to read at once.
pub(crate) fn serve() -> std::io::Result<()> {
    let mut input = std::io::BufReader::with_capacity(256 * 1024, std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    let (mut line, mut out) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return output.write_all(&out);
        }
        if answer(&line, &mut out) {
            out.push(b'\n');
        }
        if !input.buffer().contains(&b'\n') {
            output.write_all(&out)?;
            output.flush()?;
            out.clear();
        }
    }
}

/// A bare client of a server that is a child process.
pub(crate) struct FloorClient {
    _child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
}

/// Only the id is looked at, to know that it is an answer.
#[derive(Deserialize)]
struct Answered {
    #[expect(dead_code, reason = "reading it is the work that a client cannot leave out")]
    id: u64,
}

impl FloorClient {
    pub(crate) async fn start(command: &[String]) -> std::io::Result<Self> {
        let mut child = Command::new(&command[0]).args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(std::io::Error::other("no pipes")) };
        let mut client = Self { _child: child, stdin, stdout: BufReader::with_capacity(256 * 1024, stdout), line: Vec::new() };
        client.exchange(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}\n").await?;
        Ok(client)
    }

    async fn exchange(&mut self, request: &[u8]) -> std::io::Result<usize> {
        self.stdin.write_all(request).await?;
        self.line.clear();
        self.stdout.read_until(b'\n', &mut self.line).await?;
        serde_json::from_slice::<Answered>(&self.line)?;
        Ok(self.line.len())
    }

    /// One call after the other.
    pub(crate) async fn sequential(&mut self, load: &Load) -> std::io::Result<Sample> {
        let mut sample = Sample::new(load.calls);
        for id in 0..load.calls {
            let started = Instant::now();
            let request = request(id, &load.arguments);
            self.exchange(request.as_bytes()).await?;
            sample.took(started.elapsed());
        }
        sample.finish();
        Ok(sample)
    }

    /// Many calls at once on the one connection, each new one sent when another is answered.
    pub(crate) async fn concurrent(&mut self, load: &Load) -> std::io::Result<Sample> {
        let mut sample = Sample::new(load.calls);
        let (mut sent, mut answered) = (0, 0);
        let mut batch = Vec::new();
        let mut chunk = vec![0; 256 * 1024];
        let mut pending = Vec::new();
        while answered < load.calls {
            batch.clear();
            while sent < load.calls && sent - answered < load.callers {
                batch.extend_from_slice(request(sent, &load.arguments).as_bytes());
                sent += 1;
            }
            self.stdin.write_all(&batch).await?;
            let size = self.stdout.read(&mut chunk).await?;
            if size == 0 {
                return Err(std::io::Error::other("the server left"));
            }
            pending.extend_from_slice(&chunk[..size]);
            let mut start = 0;
            while let Some(end) = pending[start..].iter().position(|byte| *byte == b'\n') {
                serde_json::from_slice::<Answered>(&pending[start..start + end])?;
                answered += 1;
                start += end + 1;
            }
            pending.drain(..start);
        }
        sample.took(Duration::ZERO);
        sample.finish();
        Ok(sample)
    }
}

fn request(id: usize, arguments: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{arguments}}}}}\n")
}
