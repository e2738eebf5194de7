//! Faults as data: when something goes wrong, where around the answer, and what goes wrong.
//! How a fault changes the bytes is the business of `engine::deliver` and of the transports.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// When it happens.
    pub when: Trigger,
    /// What happens.
    pub what: What,
}

/// A method or tool name in a [`When`]. Names read from JSON are leaked: a script has a handful of them and its process is
/// short, and tests can write `When::Method("tools/list")`.
pub type Name = &'static str;

/// The event a fault waits for. The methods of this type and of [`Trigger`] narrow it further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Before anything is read: at the start of the process, of a pipe, or of each HTTP connection.
    Start,
    /// The Nth message received, counted from 1.
    Message(u32),
    /// Every message with this method.
    Method(#[serde(deserialize_with = "leaked")] Name),
    /// Every `tools/call` of this tool.
    Tool(#[serde(deserialize_with = "leaked")] Name),
    /// Every request whose method the server does not know (in the era in which it arrived).
    UnknownMethod,
    /// The Nth HTTP POST, counted from 1.
    Post(u32),
    /// The Nth HTTP GET, counted from 1.
    Get(u32),
    /// Every HTTP DELETE.
    Delete,
}

/// Where a fault sits relative to the answer of the message that set it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Before the message is handled.
    Before,
    /// The message is handled, the answer is replaced.
    Instead,
    /// Right after the answer.
    After,
    /// After that many bytes of the answer as they go over the wire (line, event or body).
    AfterBytes(usize),
}

/// When a fault happens, in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// The event.
    pub on: When,
    /// Where around the answer; `None` takes what is natural for the fault.
    #[serde(default)]
    pub place: Option<Place>,
    /// Only the Nth time the event happens, counted from 1.
    #[serde(default)]
    pub nth: Option<u32>,
    /// Only in the Nth life of the server: the Nth process with the same `--log` file, or after N - 1 restarts.
    #[serde(default)]
    pub life: Option<u32>,
}

impl From<When> for Trigger {
    fn from(on: When) -> Self {
        Self { on, place: None, nth: None, life: None }
    }
}

impl Trigger {
    /// Before the message is handled.
    #[must_use]
    pub const fn before(mut self) -> Self {
        self.place = Some(Place::Before);
        self
    }

    /// In place of the answer, after the message was handled.
    #[must_use]
    pub const fn instead(mut self) -> Self {
        self.place = Some(Place::Instead);
        self
    }

    /// Right after the answer.
    #[must_use]
    pub const fn after(mut self) -> Self {
        self.place = Some(Place::After);
        self
    }

    /// After that many bytes of the answer.
    #[must_use]
    pub const fn after_bytes(mut self, bytes: usize) -> Self {
        self.place = Some(Place::AfterBytes(bytes));
        self
    }

    /// Only the Nth time, counted from 1.
    #[must_use]
    pub const fn nth(mut self, nth: u32) -> Self {
        self.nth = Some(nth);
        self
    }

    /// Only in the Nth life of the server, counted from 1.
    #[must_use]
    pub const fn in_life(mut self, life: u32) -> Self {
        self.life = Some(life);
        self
    }
}

impl When {
    /// See [`Trigger::before`].
    #[must_use]
    pub fn before(self) -> Trigger {
        Trigger::from(self).before()
    }

    /// See [`Trigger::instead`].
    #[must_use]
    pub fn instead(self) -> Trigger {
        Trigger::from(self).instead()
    }

    /// See [`Trigger::after`].
    #[must_use]
    pub fn after(self) -> Trigger {
        Trigger::from(self).after()
    }

    /// See [`Trigger::after_bytes`].
    #[must_use]
    pub fn after_bytes(self, bytes: usize) -> Trigger {
        Trigger::from(self).after_bytes(bytes)
    }

    /// See [`Trigger::nth`].
    #[must_use]
    pub fn nth(self, nth: u32) -> Trigger {
        Trigger::from(self).nth(nth)
    }

    /// See [`Trigger::in_life`].
    #[must_use]
    pub fn in_life(self, life: u32) -> Trigger {
        Trigger::from(self).in_life(life)
    }
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    // The stream. Natural place: instead of the answer.
    /// The process exits with this code; a server in this process stops with all its connections.
    Exit(u8),
    /// The stream ends (stdout is closed while the process lives on; the TCP connection is closed).
    Close,
    /// The TCP connection is reset; a pipe is closed.
    Reset,
    /// Nothing is written any more. Input is still read.
    Stall,
    /// Nothing is written and nothing is read any more.
    Freeze,
    /// The answer is written in pieces of `bytes` bytes with a pause of `every_ms` before each.
    Drip {
        /// Bytes in one piece.
        bytes: usize,
        /// Pause before each piece.
        every_ms: u64,
    },

    // Extra output. Natural place: before the message is handled.
    /// Lines that are not JSON.
    Junk(Vec<String>),
    /// A line that is not UTF-8.
    InvalidUtf8,
    /// That many bytes without a newline; streamed, never held in memory.
    LongLine {
        /// How many.
        bytes: u64,
    },
    /// That many bytes on stderr (of a process; others have none).
    StderrFlood {
        /// How many.
        bytes: u64,
    },
    /// Waits. At [`When::Start`] this is a slow start: nothing is read meanwhile.
    Pause {
        /// How long.
        ms: u64,
    },

    // The process. Natural at `When::Start`.
    /// Starts a `sleep` of that many seconds that outlives the server; its pid is recorded.
    Grandchild {
        /// How long it lives.
        seconds: u32,
        /// Whether it keeps the server's stdout open, as a forgotten background process does.
        holds_stdout: bool,
    },
    /// The process does not end when its input ends.
    IgnoreEof,
    /// The process does not end on SIGTERM.
    IgnoreTerm,

    // The answer. Always in its place.
    /// The answer carries an id nobody used.
    WrongId,
    /// An error without an id in place of the answer.
    MissingId,
    /// The answer without its id.
    ResultWithoutId,
    /// The answer with `"id": null`.
    NullId,
    /// The answer with its id as a string (`7` becomes `"7"`).
    StringId,
    /// The answer twice.
    DuplicateResponse,
    /// The answer that much later; other requests are answered meanwhile.
    LateResponse {
        /// How much later.
        ms: u64,
    },
    /// No answer to this request; everything else goes on.
    NoAnswer,
    /// `"result": null` and an `error` in one answer.
    ResultAndError,
    /// `"result": {}`.
    EmptyResult,
    /// This `result` in place of the right one.
    AnswerWith(Value),
    /// This JSON-RPC error in place of the answer.
    AnswerError {
        /// The code.
        code: i64,
        /// The message.
        message: String,
    },
    /// Exactly this text in place of the whole message; `$ID` stands for the request's id.
    AnswerText(String),
    /// `initialize` is answered with this protocol version.
    Version(String),
    /// A list is answered with its first page and always the same cursor.
    RepeatedCursor,
    /// A list is answered with its first page and a new cursor each time, for ever.
    EndlessPages,

    // HTTP only; ignored elsewhere.
    /// Answers with this status, headers and body and handles nothing (`.instead()`: handles, then answers so).
    HttpStatus(HttpAnswer),
    /// Forgets all sessions, as a restart does; the message is handled afterwards.
    ForgetSessions,
    /// The answer carries this content type.
    ContentType(String),
    /// The event stream is closed after a first event with an id (and `retry`); the answer waits for a resumption.
    CloseAfterPriming {
        /// The `retry:` value, left out when `None`.
        #[serde(default)]
        retry_ms: Option<u64>,
    },
    /// The `endpoint` event of the legacy SSE transport names this instead.
    Endpoint(String),
    /// The response ends after that many bytes of its head.
    CutHead {
        /// How many bytes of status line and headers are sent.
        bytes: usize,
    },
    /// An unusual or broken way to send the body.
    Body(BodyOddity),
    /// An unusual but legal way to write the events.
    Events(EventOddity),
}

impl What {
    /// Where this fault happens when the trigger does not say.
    #[must_use]
    pub const fn natural_place(&self) -> Place {
        match self {
            Self::Junk(_)
            | Self::InvalidUtf8
            | Self::LongLine { .. }
            | Self::StderrFlood { .. }
            | Self::Pause { .. }
            | Self::Grandchild { .. }
            | Self::IgnoreEof
            | Self::IgnoreTerm
            | Self::HttpStatus(_)
            | Self::ForgetSessions => Place::Before,
            _ => Place::Instead,
        }
    }
}

/// A whole HTTP answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpAnswer {
    /// The status code.
    pub status: u16,
    /// Extra headers, in order.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body; `$ID` stands for the id of the request in the POST.
    #[serde(default)]
    pub body: String,
}

impl HttpAnswer {
    /// An answer without a body.
    #[must_use]
    pub const fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }
}

/// Ways to send a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyOddity {
    /// Chunked, one byte in each chunk (legal).
    OneByteChunks,
    /// Chunked, with chunk extensions, leading zeros and upper-case sizes (legal).
    ChunkExtensions,
    /// Chunked, with trailers after the last chunk (legal).
    Trailers,
    /// A chunk size that is not a number (broken).
    BadChunkSize,
    /// The connection is closed without the last chunk (broken).
    NoLastChunk,
    /// Neither length nor chunks: the body ends with the connection (legal).
    UntilClose,
    /// A content length ten bytes too long, then the end of the connection (broken).
    LengthTooLong,
    /// A content length ten bytes too short; the rest follows all the same (broken).
    LengthTooShort,
}

/// Ways to write server-sent events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventOddity {
    /// Lines end with CR LF.
    CrLf,
    /// Lines end with CR alone.
    Cr,
    /// A byte order mark first.
    ByteOrderMark,
    /// Comment lines and empty events between.
    Comments,
    /// The data of an event in several `data:` lines.
    SplitData,
    /// No space after the colons.
    NoSpace,
    /// Events of types nobody knows between, and unknown fields.
    UnknownTypes,
    /// No blank line after the last event before the stream ends.
    NoFinalBlankLine,
}

fn leaked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    Ok(Box::leak(String::deserialize(deserializer)?.into_boxed_str()))
}
