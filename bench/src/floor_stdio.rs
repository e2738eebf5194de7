//! The floor over pipes: a server and a client that do the least possible work for MCP, without an MCP library.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Display;
use std::io::{BufRead, Write};
use std::process::Stdio;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Notify, oneshot};

use crate::measure::{Load, Sample};

/// What is looked at in a message to a server.
#[derive(Deserialize)]
pub(crate) struct Asked<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) method: Option<&'a str>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
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
    id: u64,
}

impl FloorClient {
    pub(crate) async fn start(command: &[String]) -> std::io::Result<Self> {
        let mut child =
            Command::new(&command[0]).args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err(std::io::Error::other("no pipes")) };
        let mut client =
            Self { _child: child, stdin, stdout: BufReader::with_capacity(256 * 1024, stdout), line: Vec::new() };
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

    /// The most that the pipe can carry: a loop without callers, which sends a new request for every answer.
    pub(crate) async fn pipelined(&mut self, load: &Load) -> std::io::Result<Sample> {
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

    /// Many callers on the one connection, each with one call at a time: a table of who waits, one writer, one reader.
    pub(crate) async fn concurrent(mut self, load: &Load) -> std::io::Result<Sample> {
        let table: Rc<RefCell<Table>> = Rc::default();
        let work = Rc::new(Notify::new());
        let mut sample = Sample::new(load.calls);
        let each = load.calls / load.callers;
        let caller = |_| {
            let (table, work, arguments) = (table.clone(), work.clone(), load.arguments.clone());
            tokio::task::spawn_local(async move {
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    let started = Instant::now();
                    let answer = table.borrow_mut().call(&arguments);
                    work.notify_one();
                    answer.await.map_err(std::io::Error::other)?;
                    times.push(started.elapsed());
                }
                Ok::<_, std::io::Error>(times)
            })
        };
        let callers: Vec<_> = (0..load.callers).map(caller).collect();
        let (out, mut stdin) = (table.clone(), self.stdin);
        let writer = tokio::task::spawn_local(async move {
            loop {
                let batch = std::mem::take(&mut out.borrow_mut().outbox);
                if batch.is_empty() {
                    work.notified().await;
                } else if stdin.write_all(&batch).await.is_err() {
                    return;
                }
            }
        });
        let mut answered = 0;
        while answered < each * load.callers {
            self.line.clear();
            self.stdout.read_until(b'\n', &mut self.line).await?;
            let Answered { id } = serde_json::from_slice(&self.line)?;
            if let Some(waiting) = table.borrow_mut().waiting.remove(&id) {
                waiting.send(std::mem::take(&mut self.line)).ok();
                answered += 1;
            }
        }
        for caller in callers {
            sample.add(caller.await??);
        }
        sample.finish();
        writer.abort();
        Ok(sample)
    }
}

/// Who waits, and what is to be written.
#[derive(Default)]
struct Table {
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Vec<u8>>>,
    outbox: Vec<u8>,
}

impl Table {
    fn call(&mut self, arguments: &str) -> oneshot::Receiver<Vec<u8>> {
        let (sender, receiver) = oneshot::channel();
        self.next += 1;
        self.waiting.insert(self.next, sender);
        self.outbox.extend_from_slice(request(self.next, arguments).as_bytes());
        receiver
    }
}

fn request(id: impl Display, arguments: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{arguments}}}}}\n"
    )
}
