//! A proxy that notes what it is asked for: whole URLs for `http`, tunnels for `https`.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A proxy that runs.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    heads: Arc<Mutex<Vec<String>>>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Proxy {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = heads.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(pass_on(socket, seen.clone()));
            }
        });
        Self { port, heads, accepting }
    }

    /// The head of the first request on each connection.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn pass_on(socket: TcpStream, seen: Arc<Mutex<Vec<String>>>) -> std::io::Result<()> {
    let mut client = BufReader::new(socket);
    let mut head = String::new();
    while client.read_line(&mut head).await? > 2 {}
    seen.lock().unwrap().push(head.clone());
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let authority = target.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap_or(target);
    let mut server = TcpStream::connect(authority).await?;
    if method == "CONNECT" {
        client.get_mut().write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
    } else {
        // Only the first request of a connection is rewritten, so the connection ends with it.
        let origin_form = head.replacen(&format!("http://{authority}"), "", 1).replacen(
            "\r\n\r\n",
            "\r\nconnection: close\r\n\r\n",
            1,
        );
        server.write_all(origin_form.as_bytes()).await?;
    }
    tokio::io::copy_bidirectional(&mut client, &mut server).await.map(drop)
}
