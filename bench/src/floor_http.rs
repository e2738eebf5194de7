//! The floor over HTTP/1.1: a server and a client written on bare sockets.

use std::time::Instant;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::floor_stdio::answer;
use crate::measure::{Load, Sample};

/// Serves until the process is ended; prints its address first.
pub(crate) async fn serve() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    crate::say(&listener.local_addr()?.to_string());
    loop {
        let (socket, _) = listener.accept().await?;
        tokio::spawn(connection(socket));
    }
}

async fn connection(socket: TcpStream) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let (reader, mut writer) = socket.into_split();
    let mut reader = BufReader::with_capacity(64 * 1024, reader);
    let (mut body, mut answered, mut out) = (Vec::new(), Vec::new(), Vec::new());
    while read_message(&mut reader, &mut body).await? {
        answered.clear();
        out.clear();
        if answer(&body, &mut answered) {
            out.extend_from_slice(
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    answered.len()
                )
                .as_bytes(),
            );
            out.extend_from_slice(&answered);
        } else {
            out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
        }
        writer.write_all(&out).await?;
    }
    Ok(())
}

/// Reads a head and its body, of requests and answers alike.
async fn read_message(reader: &mut BufReader<OwnedReadHalf>, body: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut line = Vec::with_capacity(128);
    let mut length = 0;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).await? == 0 {
            return Ok(false);
        }
        if line == b"\r\n" {
            break;
        }
        if line.len() > 15 && line[..15].eq_ignore_ascii_case(b"content-length:") {
            let digits = String::from_utf8_lossy(&line[15..]).trim().to_owned();
            length = digits.parse().map_err(std::io::Error::other)?;
        }
    }
    body.resize(length, 0);
    reader.read_exact(body).await?;
    Ok(true)
}

struct Connection {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    address: String,
    body: Vec<u8>,
}

impl Connection {
    async fn open(address: &str) -> std::io::Result<Self> {
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let (reader, writer) = socket.into_split();
        Ok(Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            writer,
            address: address.to_owned(),
            body: Vec::new(),
        })
    }

    async fn call(&mut self, id: usize, arguments: &str) -> std::io::Result<()> {
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{arguments}}}}}"
        );
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.writer.write_all(request.as_bytes()).await?;
        let mut body = std::mem::take(&mut self.body);
        read_message(&mut self.reader, &mut body).await?;
        serde_json::from_slice::<serde::de::IgnoredAny>(&body)?;
        self.body = body;
        Ok(())
    }
}

/// As many connections as callers, one call after the other on each.
pub(crate) async fn load(address: &str, load: &Load) -> std::io::Result<Sample> {
    let mut connections = Vec::new();
    for _ in 0..load.callers {
        connections.push(Connection::open(address).await?);
    }
    let mut sample = Sample::new(load.calls);
    let each = load.calls / load.callers;
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|mut connection| {
            let arguments = load.arguments.clone();
            tokio::spawn(async move {
                let mut times = Vec::with_capacity(each);
                for id in 0..each {
                    let started = Instant::now();
                    connection.call(id, &arguments).await?;
                    times.push(started.elapsed());
                }
                Ok::<_, std::io::Error>(times)
            })
        })
        .collect();
    for task in tasks {
        sample.add(task.await.map_err(std::io::Error::other)??);
    }
    sample.finish();
    Ok(sample)
}
