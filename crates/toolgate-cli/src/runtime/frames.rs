//! What the program and the runtime say to each other: frames of one byte for the kind, four for the length, and that many bytes. Both ends
//! are the same program, so that a frame nobody can read is an error and not something to be guessed at.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::conditions::Conditions;
use super::server_question::{ServerAnswer, ServerQuestion};
use crate::confirm::{AskedQuestion, Picked};
use crate::limits::RUNTIME_FRAME_BYTES_MAX;
use crate::terminal::Terminal;

/// The version of these frames.
pub(crate) const PROTOCOL: u32 = 1;

/// The version of the program. Only the same one may run a command for somebody.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The kind and the length.
const HEAD_BYTES: usize = 5;

/// What is said first.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// [`PROTOCOL`] of whoever asks.
    pub(crate) protocol: u32,
    /// [`VERSION`] of whoever asks.
    pub(crate) version: String,
    /// What is wanted.
    pub(crate) wants: Wants,
}

impl Request {
    /// Asked by this program.
    pub(crate) fn new(wants: Wants) -> Self {
        Self { protocol: PROTOCOL, version: VERSION.to_owned(), wants }
    }
}

/// What can be wanted.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Wants {
    /// A command is to be run.
    Run(Box<Errand>),
    /// A server is to be used by a session. When that is taken, the stream is the server from then on.
    Borrow(Box<Borrowing>),
    /// Everything `toolgate ps` shows to somebody who runs under these conditions.
    Status(Box<Conditions>),
    /// All servers, or those of that name, are to be asked anew what they offer.
    Refresh(Option<String>),
    /// What is used by nobody in that folder, and below it, is to end: nothing may be started there any more.
    Leave(PathBuf),
    /// The end.
    Down,
}

/// A command, and the world of whoever typed it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Errand {
    /// The words as they were typed, with the name of the program.
    pub(crate) words: Vec<String>,
    /// The folder they were typed in.
    pub(crate) folder: String,
    /// Their environment.
    pub(crate) vars: BTreeMap<String, String>,
    /// What their streams are.
    pub(crate) terminal: Terminal,
    /// How wide the terminal is on which they are asked.
    pub(crate) talk_columns: Option<usize>,
    /// Which folder that is: at its path there may be another one for whoever sees other files.
    pub(crate) folder_number: Option<(u64, u64)>,
    /// What they run under.
    pub(crate) conditions: Conditions,
}

impl fmt::Debug for Errand {
    /// Words and variables may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errand").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// A server that a session wants to use.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Borrowing {
    /// What the session was started with, and where.
    pub(crate) errand: Errand,
    /// What the server is called.
    pub(crate) server: String,
    /// How it is reached: it has to be the same here.
    pub(crate) identity: String,
}

/// From the program to the runtime.
#[derive(Debug)]
pub(crate) enum ToRuntime {
    /// The first frame.
    Request(Box<Request>),
    /// The answer to a question.
    Answer(Picked),
    /// The answer to a question of a server.
    ServerAnswer(ServerAnswer),
    /// The person wants it to stop.
    Interrupt,
    /// A piece of what stands in stdin.
    Stdin(Vec<u8>),
    /// The end of stdin, or why it cannot be read.
    StdinEnd(Option<String>),
}

/// From the runtime to the program.
#[derive(Debug)]
pub(crate) enum ToClient {
    /// The command is being run here.
    Taken,
    /// A piece of the results.
    Out(Vec<u8>),
    /// A line beside them.
    Said(String),
    /// What is waited for, or that nothing is any more.
    Waits(Option<String>),
    /// A question for the person.
    Question(AskedQuestion),
    /// A question of a server for the person.
    ServerQuestion(ServerQuestion),
    /// What stands in stdin is needed.
    WantsStdin,
    /// The end of the command, with its exit code.
    End(u8),
    /// The program is to run the command itself; nothing has been done or said.
    Yourself,
    /// An answer that is no command's: one JSON value.
    Answer(serde_json::Value),
}

/// Why a frame cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadFrame(String);

impl fmt::Display for BadFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ToRuntime {
    /// The frame as bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Request(request) => framed(b'R', &json(request)),
            Self::Answer(picked) => framed(b'A', &json(picked)),
            Self::ServerAnswer(answer) => framed(b'a', &json(answer)),
            Self::Interrupt => framed(b'I', &[]),
            Self::Stdin(piece) => framed(b'S', piece),
            Self::StdinEnd(None) => framed(b'E', &[]),
            Self::StdinEnd(Some(reason)) => framed(b'E', reason.as_bytes()),
        }
    }

    fn read(kind: u8, body: &[u8]) -> Result<Self, BadFrame> {
        Ok(match kind {
            b'R' => Self::Request(read_json(body)?),
            b'A' => Self::Answer(read_json(body)?),
            b'a' => Self::ServerAnswer(read_json(body)?),
            b'I' => Self::Interrupt,
            b'S' => Self::Stdin(body.to_vec()),
            b'E' => Self::StdinEnd(Some(text(body)).filter(|reason| !reason.is_empty())),
            other => return Err(unknown(other)),
        })
    }
}

impl ToClient {
    /// The frame as bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Taken => framed(b't', &[]),
            Self::Out(piece) => framed(b'o', piece),
            Self::Said(line) => framed(b's', line.as_bytes()),
            Self::Waits(None) => framed(b'w', &[]),
            Self::Waits(Some(for_what)) => framed(b'w', for_what.as_bytes()),
            Self::Question(question) => framed(b'q', &json(question)),
            Self::ServerQuestion(question) => framed(b'Q', &json(question)),
            Self::WantsStdin => framed(b'i', &[]),
            Self::End(code) => framed(b'e', &[*code]),
            Self::Yourself => framed(b'y', &[]),
            Self::Answer(value) => framed(b'a', &json(value)),
        }
    }

    fn read(kind: u8, body: &[u8]) -> Result<Self, BadFrame> {
        Ok(match kind {
            b't' => Self::Taken,
            b'o' => Self::Out(body.to_vec()),
            b's' => Self::Said(text(body)),
            b'w' => Self::Waits(Some(text(body)).filter(|for_what| !for_what.is_empty())),
            b'q' => Self::Question(read_json(body)?),
            b'Q' => Self::ServerQuestion(read_json(body)?),
            b'i' => Self::WantsStdin,
            b'e' => Self::End(*body.first().ok_or_else(|| BadFrame("an end without a code".to_owned()))?),
            b'y' => Self::Yourself,
            b'a' => Self::Answer(read_json(body)?),
            other => return Err(unknown(other)),
        })
    }
}

/// A frame of one direction.
pub(crate) trait Frame: Sized {
    /// Reads what a frame of that kind holds.
    fn of(kind: u8, body: &[u8]) -> Result<Self, BadFrame>;
}

impl Frame for ToRuntime {
    fn of(kind: u8, body: &[u8]) -> Result<Self, BadFrame> {
        Self::read(kind, body)
    }
}

impl Frame for ToClient {
    fn of(kind: u8, body: &[u8]) -> Result<Self, BadFrame> {
        Self::read(kind, body)
    }
}

/// Bytes as they arrive, and the frames in them.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    bytes: Vec<u8>,
    /// How much of them has been read.
    read: usize,
}

impl FrameReader {
    /// Takes in what arrived.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if self.read > 0 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole frame, if there is one.
    pub(crate) fn next<F: Frame>(&mut self) -> Result<Option<F>, BadFrame> {
        let rest = self.bytes.get(self.read..).unwrap_or_default();
        let Some((&[kind, a, b, c, d], rest)) = rest.split_first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if length > RUNTIME_FRAME_BYTES_MAX {
            return Err(BadFrame(format!("a frame of {length} bytes is larger than {RUNTIME_FRAME_BYTES_MAX}")));
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let frame = F::of(kind, body)?;
        self.read += HEAD_BYTES + length;
        Ok(Some(frame))
    }
}

fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
    // What is larger is refused by the reader, which says so.
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let mut frame = Vec::with_capacity(HEAD_BYTES + body.len());
    frame.push(kind);
    frame.extend(length.to_be_bytes());
    frame.extend_from_slice(body);
    frame
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Every value here is plain data, which can be written.
    serde_json::to_vec(value).unwrap_or_default()
}

fn read_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, BadFrame> {
    serde_json::from_slice(body).map_err(|error| BadFrame(format!("a frame cannot be read: {error}")))
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

fn unknown(kind: u8) -> BadFrame {
    BadFrame(format!("there is no frame of the kind {kind:#04x}"))
}

#[cfg(test)]
mod tests {
    use super::{FrameReader, ToClient, ToRuntime, framed};
    use crate::limits::RUNTIME_FRAME_BYTES_MAX;

    #[test]
    fn frames_arrive_whole_however_they_are_cut() {
        let frames = [
            ToClient::Taken,
            ToClient::Out(b"x\ny".to_vec()),
            ToClient::Said("line".to_owned()),
            ToClient::Waits(None),
            ToClient::Waits(Some("a".to_owned())),
            ToClient::WantsStdin,
            ToClient::Answer(serde_json::json!({"a": 1})),
            ToClient::Yourself,
            ToClient::End(6),
        ];
        let bytes: Vec<u8> = frames.iter().flat_map(ToClient::bytes).collect();
        for size in [1, 2, 7, bytes.len()] {
            let mut reader = FrameReader::default();
            let mut seen = Vec::new();
            for piece in bytes.chunks(size) {
                reader.take(piece);
                while let Some(frame) = reader.next::<ToClient>().unwrap() {
                    seen.push(format!("{frame:?}"));
                }
            }
            assert_eq!(seen, frames.iter().map(|frame| format!("{frame:?}")).collect::<Vec<_>>(), "{size}");
        }
    }

    #[test]
    fn what_is_no_frame_is_said() {
        let too_long = [&[b'S'][..], &u32::MAX.to_be_bytes()].concat();
        let cases = [
            (framed(b'?', b"x"), "there is no frame of the kind 0x3f".to_owned()),
            (framed(b'R', b"{"), "a frame cannot be read: EOF while parsing an object at line 1 column 1".to_owned()),
            (too_long, format!("a frame of {} bytes is larger than {RUNTIME_FRAME_BYTES_MAX}", u32::MAX)),
        ];
        for (bytes, expected) in cases {
            let mut reader = FrameReader::default();
            reader.take(&bytes);
            assert_eq!(reader.next::<ToRuntime>().unwrap_err().to_string(), expected);
        }
    }
}
