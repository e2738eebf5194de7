//! An authorization server of which only the token endpoint is there. Each refresh token is good for one use, and those that come twice are counted.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Every message here is far smaller.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// What was asked of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Refresh tokens that were taken.
    pub(crate) redeemed: u64,
    /// Those that had been taken before.
    pub(crate) twice: u64,
    /// Those that were never given out.
    pub(crate) unknown: u64,
}

/// The server.
#[derive(Clone, Debug)]
pub(crate) struct TokenServer(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    current: String,
    used: HashSet<String>,
    counts: Counts,
}

impl TokenServer {
    /// A server that has given out that refresh token.
    pub(crate) fn new(first: &str) -> Self {
        let state = State { current: first.to_owned(), used: HashSet::new(), counts: Counts::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    pub(crate) fn counts(&self) -> Counts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).counts
    }

    /// Serves until it is dropped.
    pub(crate) async fn serve(self, listener: TcpListener) -> std::io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            tokio::spawn(self.clone().connection(socket));
        }
    }

    async fn connection(self, mut socket: TcpStream) -> std::io::Result<()> {
        socket.set_nodelay(true)?;
        let (reader, mut writer) = socket.split();
        let mut reader = BufReader::new(reader);
        while let Some((_, form)) = read_message(&mut reader).await? {
            let (status, body) = self.answer(&form);
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            writer.write_all((head + &body).as_bytes()).await?;
        }
        Ok(())
    }

    fn answer(&self, form: &str) -> (&'static str, String) {
        let token = form.split('&').find_map(|field| field.strip_prefix("refresh_token=")).unwrap_or_default();
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if token != state.current {
            if state.used.contains(token) {
                state.counts.twice += 1;
            } else {
                state.counts.unknown += 1;
            }
            return ("400 Bad Request", r#"{"error": "invalid_grant"}"#.to_owned());
        }
        state.counts.redeemed += 1;
        let number = state.counts.redeemed;
        let used = std::mem::replace(&mut state.current, format!("refresh-{number}"));
        state.used.insert(used);
        let body = serde_json::json!({
            "access_token": format!("access-{number}"), "refresh_token": state.current, "token_type": "Bearer", "expires_in": 0,
        });
        ("200 OK", body.to_string())
    }
}

/// Posts a form, as bare as it is answered. Gives the status line and the body.
pub(crate) async fn post(address: &str, form: &str) -> std::io::Result<(String, String)> {
    let mut socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let head = format!(
        "POST /token HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n",
        form.len()
    );
    socket.write_all((head + form).as_bytes()).await?;
    let answer = read_message(&mut BufReader::new(socket)).await?;
    answer.ok_or_else(|| std::io::Error::other("the connection was closed"))
}

/// The first line and the body of the next message. `None` when there is none.
async fn read_message(reader: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<Option<(String, String)>> {
    let mut first = String::new();
    if reader.read_line(&mut first).await? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    if length > BODY_BYTES_MAX {
        return Err(std::io::Error::other("the message is too large"));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await?;
    let body = String::from_utf8(body).map_err(std::io::Error::other)?;
    Ok(Some((first.trim().to_owned(), body)))
}
