//! Writes server-sent events in the plain form and in every unusual one.

use serde_json::Value;

use crate::fault::EventOddity;

/// One event to be written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Event<'a> {
    pub(crate) kind: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) retry_ms: Option<u64>,
    pub(crate) data: &'a str,
    /// Whether nothing comes after it.
    pub(crate) is_last: bool,
}

/// What stands at the very start of a stream.
pub(crate) fn opening(oddity: Option<EventOddity>) -> &'static [u8] {
    match oddity {
        Some(EventOddity::ByteOrderMark) => b"\xef\xbb\xbf",
        _ => b"",
    }
}

/// An event that carries bytes which are not UTF-8.
pub(crate) const NOT_UTF8: &[u8] = b"data: \xff\xfe\xc3\x28 this is not UTF-8\n\n";

/// The text of one event.
pub(crate) fn write(event: &Event<'_>, oddity: Option<EventOddity>) -> String {
    let space = if oddity == Some(EventOddity::NoSpace) { "" } else { " " };
    let mut text = String::new();
    match oddity {
        Some(EventOddity::Comments) => text.push_str(": still here\n\n:\n\nevent: message\n\n"),
        Some(EventOddity::UnknownTypes) => {
            text.push_str("event: surprise\ndata: {\"nobody\": \"knows\"}\n\ncolour: blue\n");
        }
        _ => (),
    }
    let mut line = |name: &str, value: &str| {
        text.push_str(name);
        text.push(':');
        text.push_str(space);
        text.push_str(value);
        text.push('\n');
    };
    if let Some(kind) = event.kind {
        line("event", kind);
    }
    if let Some(id) = event.id {
        line("id", id);
    }
    if let Some(retry_ms) = event.retry_ms {
        line("retry", &retry_ms.to_string());
    }
    for data in data_lines(event.data, oddity).lines() {
        line("data", data);
    }
    if event.data.is_empty() {
        line("data", "");
    }
    if !(event.is_last && oddity == Some(EventOddity::NoFinalBlankLine)) {
        text.push('\n');
    }
    match oddity {
        Some(EventOddity::CrLf) => text.replace('\n', "\r\n"),
        Some(EventOddity::Cr) => text.replace('\n', "\r"),
        _ => text,
    }
}

/// The data, spread over several lines where that is asked for; JSON does not mind.
fn data_lines(data: &str, oddity: Option<EventOddity>) -> String {
    let spread = match oddity {
        Some(EventOddity::SplitData) => {
            serde_json::from_str::<Value>(data).ok().and_then(|value| serde_json::to_string_pretty(&value).ok())
        }
        _ => None,
    };
    spread.unwrap_or_else(|| data.to_owned())
}
