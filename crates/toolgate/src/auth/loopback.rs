//! A web server for tests: a table of paths and answers, some of them bad, and a list of what was asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One answer. `{origin}` and `{other}` in headers and text stand for two origins of the server.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    way: Way,
}

/// How the body travels.
#[derive(Clone, Copy, Debug)]
enum Way {
    Whole,
    /// A byte now and then, without end.
    Drip,
    /// Fast, without end, and without saying so before.
    Flood,
    /// The connection ends in the middle.
    Torn,
}

impl Answer {
    pub(crate) fn json(text: &str) -> Self {
        Self::text(200, "application/json", text)
    }

    pub(crate) fn text(status: u16, kind: &str, text: &str) -> Self {
        let headers = vec![("content-type", kind.to_owned())];
        Self { status, headers, body: text.as_bytes().to_vec(), way: Way::Whole }
    }

    pub(crate) fn bytes(body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..Self::json("") }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::text(status, "text/plain", "")
    }

    pub(crate) fn redirect(status: u16, to: &str) -> Self {
        Self { status, headers: vec![("location", to.to_owned())], body: Vec::new(), way: Way::Whole }
    }

    pub(crate) fn drip() -> Self {
        Self { way: Way::Drip, ..Self::json("{") }
    }

    pub(crate) fn flood() -> Self {
        Self { way: Way::Flood, ..Self::json("{") }
    }

    pub(crate) fn torn() -> Self {
        Self { way: Way::Torn, ..Self::json("{") }
    }
}

/// A running server; what it does not know is not found.
#[derive(Debug)]
pub(crate) struct Loopback {
    port: u16,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Loopback {
    pub(crate) async fn serving(pages: Vec<(&'static str, Answer)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (pages, log) = (Arc::new(pages), asked.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, port, pages.clone(), log.clone()));
            }
        });
        Self { port, asked }
    }

    /// A text with the origins of this server filled in.
    pub(crate) fn fill(&self, text: &str) -> String {
        fill(text, self.port)
    }

    /// The same text with them taken out again.
    pub(crate) fn strip(&self, text: &str) -> String {
        text.replace(&self.fill("{origin}"), "{origin}").replace(&self.fill("{other}"), "{other}")
    }

    /// Method and path of every request so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        let heads = self.heads();
        heads.iter().map(|head| head.split(" HTTP").next().unwrap().to_owned()).collect()
    }

    /// The heads of all requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|(head, _)| head.clone()).collect()
    }

    /// The bodies of all requests so far.
    pub(crate) fn bodies(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }
}

fn fill(text: &str, port: u16) -> String {
    text.replace("{origin}", &format!("http://127.0.0.1:{port}"))
        .replace("{other}", &format!("http://localhost:{port}"))
}

async fn serve(
    mut stream: TcpStream,
    port: u16,
    pages: Arc<Vec<(&'static str, Answer)>>,
    log: Arc<Mutex<Vec<(String, String)>>>,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut sent = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut sent).await.ok()?;
    log.lock().unwrap().push((head, String::from_utf8_lossy(&sent).into_owned()));
    let found = pages.iter().find(|(known, _)| *known == path).map(|(_, answer)| answer.clone());
    let Answer { status, headers, body, way } = found.unwrap_or_else(|| Answer::status(404));
    let body =
        String::from_utf8(body).map(|text| fill(&text, port).into_bytes()).unwrap_or_else(|raw| raw.into_bytes());
    let mut text = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {}\r\n", fill(&value, port)));
    }
    match way {
        Way::Whole => text.push_str(&format!("content-length: {}\r\n\r\n", body.len())),
        Way::Torn => text.push_str("content-length: 1000\r\n\r\n"),
        Way::Drip | Way::Flood => text.push_str("\r\n"),
    }
    stream.write_all(text.as_bytes()).await.ok()?;
    stream.write_all(&body).await.ok()?;
    loop {
        match way {
            Way::Whole | Way::Torn => return stream.shutdown().await.ok(),
            Way::Drip => {
                stream.write_all(b" ").await.ok()?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Way::Flood => stream.write_all(&[b' '; 64 * 1024]).await.ok()?,
        }
    }
}
