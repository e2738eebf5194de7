//! One frame of JSON-RPC: request, response, notification, or a batch of them; ids; reading and writing.
//!
//! Reading is one pass over the envelope: params, results and errors stay raw and share the bytes of the frame. It
//! forgives what can be understood and names what cannot ([`Defect`]), with the id of the call it belongs to where that can be told.

use std::borrow::Cow;
use std::fmt;

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::RpcError;
use crate::limits::BATCH_MESSAGES_MAX;
use crate::raw::{RawJson, present, write_string};

/// The name of a method.
pub type Method = Cow<'static, str>;

/// The id of a request: a string or a number, echoed exactly as it was spelled.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Id(Spelling);

/// Plain numbers, which are nearly all, need no memory of their own.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Spelling {
    Number(u64),
    Other(RawJson),
}

impl Id {
    /// A number of our own.
    pub fn number(number: u64) -> Self {
        Self(Spelling::Number(number))
    }

    /// A string of our own.
    pub fn text(text: &str) -> Self {
        Self(Spelling::Other(RawJson::string(text)))
    }

    /// The id as JSON.
    pub fn to_raw(&self) -> RawJson {
        match &self.0 {
            Spelling::Number(number) => RawJson::from(serde_json::Value::from(*number)),
            Spelling::Other(raw) => raw.clone(),
        }
    }

    fn write_to(&self, out: &mut BytesMut) {
        match &self.0 {
            Spelling::Number(number) => write_number(out, *number),
            Spelling::Other(raw) => out.extend_from_slice(raw.as_bytes()),
        }
    }

    /// Reads an id; `null`, objects and the like are none.
    pub fn from_raw(raw: &RawJson) -> Option<Self> {
        Self::read(raw.as_bytes(), || raw.clone())
    }

    /// Reads an id out of a frame.
    fn read(text: &[u8], raw: impl FnOnce() -> RawJson) -> Option<Self> {
        match text.first()? {
            b'0' if text.len() > 1 => Some(Self(Spelling::Other(raw()))),
            b'0'..=b'9' => match std::str::from_utf8(text).ok()?.parse() {
                Ok(number) => Some(Self(Spelling::Number(number))),
                Err(_) => Some(Self(Spelling::Other(raw()))),
            },
            b'"' if text.contains(&b'\\') => Some(Self::text(&raw().read::<String>().ok()?)),
            b'"' | b'-' => Some(Self(Spelling::Other(raw()))),
            _ => None,
        }
    }

    /// The number it stands for: `7`, `7.0` and `"7"` alike, since some servers answer with another spelling.
    pub fn as_number(&self) -> Option<u64> {
        match &self.0 {
            Spelling::Number(number) => Some(*number),
            Spelling::Other(raw) => {
                let text = raw.as_str().trim_matches('"');
                text.strip_suffix(".0").unwrap_or(text).parse().ok()
            }
        }
    }
}

/// Writes digits without going through formatting, which every message would pay for.
pub(crate) fn write_number(out: &mut BytesMut, mut number: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        let digit = (number % 10) as u8;
        digits[start] = b'0' + digit;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Spelling::Number(number) => fmt::Display::fmt(number, f),
            Spelling::Other(raw) => fmt::Display::fmt(raw, f),
        }
    }
}

/// A request: it wants one answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its id.
    pub id: Id,
    /// What is asked.
    pub method: Method,
    /// With what.
    pub params: Option<RawJson>,
}

/// A notification: it wants none.
#[derive(Debug, Clone)]
pub struct Notification {
    /// What is told.
    pub method: Method,
    /// With what.
    pub params: Option<RawJson>,
}

impl Notification {
    /// A notification of our own.
    pub fn new(method: impl Into<Method>, params: Option<RawJson>) -> Self {
        Self { method: method.into(), params }
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// Whose answer it is; some servers leave it out of errors.
    pub id: Option<Id>,
    /// The result or the error.
    pub outcome: Result<RawJson, RpcError>,
}

/// One message.
#[derive(Debug, Clone)]
pub enum Message {
    /// A request.
    Request(Request),
    /// An answer.
    Response(Response),
    /// A notification.
    Notification(Notification),
}

/// What one frame held.
#[derive(Debug)]
pub enum Frame {
    /// A single message.
    One(Message),
    /// A batch (2025-03-26), each entry on its own.
    Batch(Vec<Result<Message, Defect>>),
}

/// Something received that could not be used. It is counted and reported; the connection goes on.
#[derive(Debug, Clone)]
pub struct Defect {
    /// What was wrong with it.
    pub kind: DefectKind,
    /// The details, bounded.
    pub detail: String,
    /// The call it belongs to, where that could be told.
    pub id: Option<Id>,
}

/// The kinds of unusable messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefectKind {
    /// Not JSON at all, such as a log line on stdout.
    NotJson,
    /// JSON, but neither request, notification nor response.
    NotAMessage,
    /// Longer than a limit allows.
    TooLarge,
    /// A response that nobody waits for: late, or sent twice.
    LateResponse,
    /// A response to an id that was never sent.
    UnknownId,
    /// An error without an id.
    WithoutId,
    /// Not allowed in the agreed version, and ignored.
    NotInThisVersion,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            DefectKind::NotJson => "not JSON",
            DefectKind::NotAMessage => "not a JSON-RPC message",
            DefectKind::TooLarge => "too large",
            DefectKind::LateResponse => "late or repeated response",
            DefectKind::UnknownId => "response to an unknown id",
            DefectKind::WithoutId => "error without an id",
            DefectKind::NotInThisVersion => "not part of the agreed version",
        };
        write!(f, "{kind}: {}", self.detail)
    }
}

impl Defect {
    pub(crate) fn new(kind: DefectKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), id: None }
    }

    /// A message that could not be read, with a short excerpt and the id, if one shows through.
    fn unreadable(kind: DefectKind, why: &str, bytes: &[u8]) -> Self {
        let excerpt: String = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).chars().take(120).collect();
        let why: String = why.chars().take(200).collect(); // A parser may repeat what it could not use.
        Self { kind, detail: format!("{why}: `{}`", excerpt.escape_debug()), id: salvage_id(bytes) }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

impl Frame {
    /// Reads one frame.
    pub fn read(bytes: &Bytes) -> Result<Self, Defect> {
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return read_batch(bytes);
        }
        read_message(bytes).map(Self::One)
    }
}

fn read_batch(bytes: &Bytes) -> Result<Frame, Defect> {
    let raw = RawJson::from_bytes(bytes.clone())
        .map_err(|error| Defect::unreadable(DefectKind::NotJson, &error.to_string(), bytes))?;
    let (entries, others) = raw.elements_within(BATCH_MESSAGES_MAX).unwrap_or_default();
    if entries.is_empty() {
        return Err(Defect::unreadable(DefectKind::NotAMessage, "an empty batch", bytes));
    }
    if others > 0 {
        let count = entries.len() + others;
        let detail = format!("a batch of {count} messages (limit BATCH_MESSAGES_MAX = {BATCH_MESSAGES_MAX})");
        return Err(Defect::new(DefectKind::TooLarge, detail));
    }
    Ok(Frame::Batch(entries.iter().map(read_entry).collect()))
}

fn read_entry(entry: &RawJson) -> Result<Message, Defect> {
    // To serde, an array with the values of the fields is as good as an object.
    if entry.as_bytes().first() == Some(&b'[') {
        return Err(Defect::unreadable(DefectKind::NotAMessage, "a batch within a batch", entry.as_bytes()));
    }
    read_message(&entry.to_bytes())
}

fn read_message(bytes: &Bytes) -> Result<Message, Defect> {
    let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(|error| {
        let kind = if error.is_data() { DefectKind::NotAMessage } else { DefectKind::NotJson };
        Defect::unreadable(kind, &error.to_string(), bytes)
    })?;
    let share = |part: Option<&RawValue>| part.map(|part| RawJson::part_of(bytes, part));
    let id = envelope.id.and_then(|id| Id::read(id.get().as_bytes(), || RawJson::part_of(bytes, id)));
    if let Some(method) = envelope.method {
        let method = Method::Owned(method.into_owned());
        let params = share(envelope.params).filter(|params| !params.is_null());
        return match id {
            Some(id) => Ok(Message::Request(Request { id, method, params })),
            None if envelope.id.is_some() => Err(Defect::unreadable(
                DefectKind::NotAMessage,
                "a request whose id is neither string nor number",
                bytes,
            )),
            None => Ok(Message::Notification(Notification { method, params })),
        };
    }
    let error = share(envelope.error).filter(|error| !error.is_null());
    let outcome = match (error, share(envelope.result)) {
        // Some servers send `"result": null` beside an error.
        (Some(error), _) => Err(RpcError::lenient(error)),
        (None, Some(result)) => Ok(result),
        (None, None) if id.is_some() => Err(RpcError::internal("the answer has neither a result nor an error")),
        (None, None) => return Err(Defect::unreadable(DefectKind::NotAMessage, "no method, result or error", bytes)),
    };
    Ok(Message::Response(Response { id, outcome }))
}

/// Finds the id of a response that cannot be read as a whole, so that its caller need not wait in vain.
pub(crate) fn salvage_id(bytes: &[u8]) -> Option<Id> {
    let looks_like_response = |bytes: &[u8]| {
        memchr::memmem::find(bytes, b"\"result\"").is_some() || memchr::memmem::find(bytes, b"\"error\"").is_some()
    };
    let head = &bytes[..bytes.len().min(256)];
    let tail = &bytes[bytes.len().saturating_sub(256)..];
    if !looks_like_response(head) && !looks_like_response(tail) {
        return None;
    }
    // Ids stand first or last in every implementation; one inside the payload is told apart by its place.
    let first =
        memchr::memmem::find(head, b"\"id\":").filter(|at| !head[..*at].contains(&b'[') && count(head, *at, b'{') == 1);
    let last = || {
        memchr::memmem::rfind(tail, b"\"id\":").filter(|at| !tail[*at..].contains(&b']') && count_after(tail, *at) <= 1)
    };
    let digits = first.map(|at| &head[at + 5..]).or_else(|| last().map(|at| &tail[at + 5..]))?.trim_ascii_start();
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number: u64 = std::str::from_utf8(&digits[..length]).ok()?.parse().ok()?;
    Some(Id::number(number))
}

fn count(bytes: &[u8], until: usize, wanted: u8) -> usize {
    bytes[..until].iter().filter(|byte| **byte == wanted).count()
}

fn count_after(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().filter(|byte| **byte == b'}').count()
}

impl Message {
    /// Writes the message as one line of JSON, without the line end.
    pub fn write_to(&self, out: &mut BytesMut) {
        match self {
            Self::Request(request) => write_request(out, &request.id, &request.method, request.params.as_ref()),
            Self::Notification(note) => write_notification(out, &note.method, note.params.as_ref()),
            Self::Response(response) => write_response(out, response),
        }
    }

    /// The message as bytes of its own.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = BytesMut::new();
        self.write_to(&mut out);
        out.freeze()
    }
}

fn write_request(out: &mut BytesMut, id: &Id, method: &str, params: Option<&RawJson>) {
    let size = params.map_or(0, |params| params.as_bytes().len());
    out.reserve(size + method.len() + 64);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.write_to(out);
    out.extend_from_slice(b",\"method\":");
    write_tail(out, method, params);
}

fn write_notification(out: &mut BytesMut, method: &str, params: Option<&RawJson>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":");
    write_tail(out, method, params);
}

fn write_tail(out: &mut BytesMut, method: &str, params: Option<&RawJson>) {
    write_string(out, method);
    if let Some(params) = params {
        out.extend_from_slice(b",\"params\":");
        write_on_one_line(out, params.as_bytes());
    }
    out.extend_from_slice(b"}");
}

fn write_response(out: &mut BytesMut, response: &Response) {
    let size = response.outcome.as_ref().map_or(256, |result| result.as_bytes().len());
    out.reserve(size + 64);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    if let Some(id) = &response.id {
        out.extend_from_slice(b",\"id\":");
        id.write_to(out);
    }
    match &response.outcome {
        Ok(result) => {
            out.extend_from_slice(b",\"result\":");
            write_on_one_line(out, result.as_bytes());
        }
        Err(error) => {
            out.extend_from_slice(b",\"error\":");
            let start = out.len();
            error.write_to(out);
            flatten(&mut out[start..]);
        }
    }
    out.extend_from_slice(b"}");
}

/// Line breaks in JSON only ever stand between tokens, so a space says the same and keeps the frame on one line.
fn write_on_one_line(out: &mut BytesMut, json: &[u8]) {
    let start = out.len();
    out.extend_from_slice(json);
    flatten(&mut out[start..]);
}

fn flatten(json: &mut [u8]) {
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', &json[from..]) {
        json[from + at] = b' ';
        from += at + 1;
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
