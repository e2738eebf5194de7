//! Plays a client script on a byte stream: one JSON text per line, both directions at once.

use serde_json::{Value, json};
use std::future::Future;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::{Mutex, watch};

use crate::client_script::{ClientScript, HANDSHAKE_ID, Meta, Step};
use crate::client_state::Conversation;
use crate::client_transcript::{End, Transcript};
use crate::limits::{CLIENT_TEXT_BYTES_MAX, FILLER_CHUNK_BYTES};

impl ClientScript {
    /// Plays the script on a pair of streams: pipes of a process, a duplex, the halves of a socket.
    pub async fn over<R, W>(&self, read: R, write: W) -> Transcript
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        self.play(read, Outlet::Any(Box::new(write))).await
    }

    /// Plays the script on a TCP connection, which can be reset.
    pub async fn over_tcp(&self, stream: TcpStream) -> Transcript {
        let (read, write) = stream.into_split();
        self.play(read, Outlet::Tcp(write)).await
    }

    async fn play<R: AsyncRead + Unpin>(&self, read: R, write: Outlet) -> Transcript {
        let player = Player {
            conversation: Conversation::new(self.clone()),
            outlet: Mutex::new(Some(write)),
            gone: watch::Sender::new(false),
        };
        let timed_out = {
            let steps = async {
                for step in &self.steps {
                    player.perform(step).await;
                }
            };
            let reading = player.read(read);
            tokio::time::timeout(Duration::from_millis(self.limit_ms), beside(steps, reading)).await.is_err()
        };
        player.conversation.finish(timed_out)
    }
}

/// Runs to the end of `first`; `second` runs beside it.
pub(crate) async fn beside(first: impl Future<Output = ()>, second: impl Future<Output = ()>) {
    tokio::pin!(first, second);
    tokio::select! {
        () = &mut first => {}
        () = &mut second => first.await,
    }
}

/// Where a client writes.
enum Outlet {
    Any(Box<dyn AsyncWrite + Unpin + Send>),
    Tcp(OwnedWriteHalf),
}

impl Outlet {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Any(write) => {
                write.write_all(bytes).await?;
                write.flush().await
            }
            Self::Tcp(write) => write.write_all(bytes).await,
        }
    }

    async fn shutdown(&mut self) -> io::Result<()> {
        match self {
            Self::Any(write) => write.shutdown().await,
            Self::Tcp(write) => write.shutdown().await,
        }
    }
}

struct Player {
    conversation: Conversation,
    /// `None` once the client has nothing more to say.
    outlet: Mutex<Option<Outlet>>,
    /// Whether the client has closed the connection.
    gone: watch::Sender<bool>,
}

impl Player {
    async fn perform(&self, step: &Step) {
        let conversation = &self.conversation;
        match step {
            Step::Handshake => self.handshake().await,
            Step::Request { id, method, params, meta } => {
                self.send(&request(conversation, id, method, params, *meta)).await;
            }
            Step::Await(id) => conversation.until(|state| state.ended || state.has_answer(id)).await,
            Step::AwaitMethod(method) => {
                conversation.until(|state| state.ended || has_method(&state.transcript, method)).await;
            }
            Step::AwaitEnd => conversation.until(|state| state.ended).await,
            Step::Notify { method, params } => self.send(&notification(method, params)).await,
            Step::Batch(messages) => self.send(&Value::Array(messages.clone())).await,
            Step::Cancel(id) => self.send(&cancellation(id)).await,
            Step::Answer { to_method, result } => conversation.answer(to_method, result),
            Step::Wait { ms } => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Step::Raw(bytes) => self.write(bytes).await,
            Step::InvalidUtf8 => self.write(INVALID_UTF8).await,
            Step::LongLine { bytes } => self.fill(*bytes).await,
            Step::Cut { bytes, message } => {
                let text = message.to_string().into_bytes();
                self.write(text.get(..*bytes).unwrap_or(&text)).await;
                self.leave().await;
            }
            Step::Drip { bytes, every_ms, message } => {
                conversation.sending(message);
                for piece in format!("{message}\n").as_bytes().chunks((*bytes).max(1)) {
                    tokio::time::sleep(Duration::from_millis(*every_ms)).await;
                    self.write(piece).await;
                }
            }
            Step::Reset => {
                let outlet = self.outlet.lock().await.take();
                self.leave().await;
                if let Some(Outlet::Tcp(write)) = outlet {
                    let _refused = write.as_ref().set_zero_linger().is_err();
                    write.forget(); // Without the farewell that dropping it would send.
                }
            }
            Step::HalfClose => {
                if let Some(mut outlet) = self.outlet.lock().await.take() {
                    let _gone_already = outlet.shutdown().await.is_err();
                }
            }
            Step::Close => self.leave().await,
            Step::StopReading { ms } => conversation.stop_reading(*ms),
            Step::Header { .. } | Step::UsualHeaders | Step::Http { .. } => {}
        }
    }

    async fn handshake(&self) {
        self.send(&self.conversation.script.opening()).await;
        self.conversation.until(|state| state.ended || state.has_answer(&json!(HANDSHAKE_ID))).await;
        if let Some(end) = self.conversation.handshake_end() {
            self.send(&end).await;
        }
    }

    async fn send(&self, message: &Value) {
        self.conversation.sending(message);
        self.write(format!("{message}\n").as_bytes()).await;
    }

    /// Writes, as long as there is somebody to write to: how the other side went shows when reading.
    async fn write(&self, bytes: &[u8]) {
        let mut outlet = self.outlet.lock().await;
        if let Some(open) = &mut *outlet
            && open.write(bytes).await.is_err()
        {
            *outlet = None;
        }
    }

    async fn fill(&self, bytes: u64) {
        let mut left = bytes;
        while left > 0 {
            let piece = usize::try_from(left).unwrap_or(usize::MAX).min(FILLER.len());
            self.write(FILLER.get(..piece).unwrap_or_default()).await;
            left -= piece as u64;
        }
        self.write(b"\n").await;
    }

    async fn leave(&self) {
        self.gone.send_replace(true);
        self.conversation.until(|state| state.ended).await;
        // The reader has let go of its half, so this is the end of the connection.
        *self.outlet.lock().await = None;
    }

    async fn read<R: AsyncRead + Unpin>(&self, read: R) {
        let mut gone = self.gone.subscribe();
        let end = tokio::select! {
            end = self.read_lines(read) => end,
            _ = gone.wait_for(|gone| *gone) => End::ByClient,
        };
        self.conversation.change(|state| {
            state.transcript.end = end;
            state.ended = true;
        });
    }

    async fn read_lines<R: AsyncRead + Unpin>(&self, read: R) -> End {
        let mut read = BufReader::new(read);
        loop {
            self.conversation.may_read().await;
            let mut line = Vec::new();
            let bound = CLIENT_TEXT_BYTES_MAX as u64;
            match (&mut read).take(bound).read_until(b'\n', &mut line).await {
                Ok(0) => return End::ByServer,
                Ok(_) => {}
                Err(error) => return End::Broken(error.to_string()),
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            for reply in self.conversation.hear(&line) {
                self.write(format!("{reply}\n").as_bytes()).await;
            }
        }
    }
}

/// Filler outside of every future, which would become too large to be moved about.
pub(crate) static FILLER: [u8; FILLER_CHUNK_BYTES] = [b'x'; FILLER_CHUNK_BYTES];

/// A text that no decoder takes.
pub(crate) const INVALID_UTF8: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\xfe\",\"method\":\"ping\"}\n";

pub(crate) fn request(conversation: &Conversation, id: &Value, method: &str, params: &Value, meta: Meta) -> Value {
    match meta {
        Meta::Filled => conversation.script.message(id, method, params),
        Meta::AsWritten => json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
    }
}

pub(crate) fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(crate) fn cancellation(id: &Value) -> Value {
    notification("notifications/cancelled", &json!({"requestId": id, "reason": "the script says so"}))
}

pub(crate) fn has_method(transcript: &Transcript, method: &str) -> bool {
    transcript.messages.iter().any(|message| message.get("method").is_some_and(|found| found == method))
}
