//! Writes the HTTP answers of a chaos server, well or badly.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::tcp::OwnedWriteHalf;

use super::asked::{Asked, flood};
use super::dice::Dice;
use super::fault::ChaosFault;
use crate::http::body::After;
use crate::limits::{CHAOS_DRIP_MS, CHAOS_FLOOD_COUNT};

/// The writing half of a connection.
#[derive(Debug)]
pub(super) struct Writer(pub(super) OwnedWriteHalf);

impl Writer {
    /// An answer without a body.
    pub(super) async fn status(&mut self, status: u16) -> io::Result<After> {
        self.write(&format!("HTTP/1.1 {status} Chaos\r\nContent-Length: 0\r\n\r\n")).await
    }

    /// One message as it is.
    pub(super) async fn json(&mut self, answer: &Value, session: Option<&str>) -> io::Result<After> {
        self.write(&json_response(&answer.to_string(), session)).await
    }

    /// Messages as a stream of events that ends with the last one.
    pub(super) async fn events(&mut self, messages: &[Value], session: Option<&str>) -> io::Result<After> {
        let chunks: String = messages.iter().map(|message| chunk(&format!("data: {message}\n\n"))).collect();
        self.write(&format!("{}{chunks}0\r\n\r\n", events_head(session))).await
    }

    /// The beginning of a stream of events, one of which can be named to have the rest.
    pub(super) async fn cut_stream(&mut self, event: Option<&str>, session: Option<&str>) -> io::Result<()> {
        let first = event.map(|event| chunk(&format!("id: {event}\nretry: 20\ndata:\n\n"))).unwrap_or_default();
        self.write(&format!("{}{first}", events_head(session))).await.map(drop)
    }

    /// An answer with something wrong about it.
    pub(super) async fn badly(
        &mut self,
        asked: &Asked,
        fault: ChaosFault,
        dice: &mut Dice,
        session: Option<&str>,
    ) -> io::Result<After> {
        let whole = json_response(&asked.answer.to_string(), session);
        let head = whole.find("\r\n\r\n").map_or(0, |end| end + 4);
        match fault {
            ChaosFault::CutHead => self.cut(&whole, head / 2, dice).await,
            ChaosFault::CutBody => self.cut(&whole, usize::midpoint(head, whole.len()), dice).await,
            ChaosFault::WrongId => self.json(&asked.answer_with_wrong_id(), session).await,
            ChaosFault::Twice => self.events(&[asked.answer.clone(), asked.answer.clone()], session).await,
            ChaosFault::Drip => self.drip(&whole).await,
            ChaosFault::Flood => {
                let messages: Vec<Value> = flood(CHAOS_FLOOD_COUNT).chain([asked.answer.clone()]).collect();
                self.events(&messages, session).await
            }
            ChaosFault::Garbage if dice.happens(500) => self.write(&json_response("not JSON {", session)).await,
            ChaosFault::Garbage => {
                let chunks = chunk("data: not JSON {\n\n") + &chunk(&format!("data: {}\n\n", asked.answer));
                self.write(&format!("{}{chunks}0\r\n\r\n", events_head(session))).await
            }
            // What happens to pipes only.
            _ => self.write(&whole).await,
        }
    }

    /// The beginning of an answer, and then nothing more.
    async fn cut(&mut self, whole: &str, size: usize, dice: &mut Dice) -> io::Result<After> {
        self.write(whole.get(..size).unwrap_or_default()).await?;
        Ok(if dice.happens(500) { After::Reset } else { After::Close })
    }

    async fn drip(&mut self, text: &str) -> io::Result<After> {
        for byte in text.as_bytes() {
            self.0.write_all(&[*byte]).await?;
            tokio::time::sleep(Duration::from_millis(CHAOS_DRIP_MS)).await;
        }
        Ok(After::KeepOpen)
    }

    async fn write(&mut self, text: &str) -> io::Result<After> {
        self.0.write_all(text.as_bytes()).await?;
        Ok(After::KeepOpen)
    }
}

fn json_response(body: &str, session: Option<&str>) -> String {
    let (length, session) = (body.len(), session_header(session));
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{session}\r\n{body}")
}

fn events_head(session: Option<&str>) -> String {
    let session = session_header(session);
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n{session}\r\n")
}

fn session_header(session: Option<&str>) -> String {
    session.map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default()
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
