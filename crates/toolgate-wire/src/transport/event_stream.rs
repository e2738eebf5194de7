//! Server-sent events: reading them out of a byte stream, and writing them.
//!
//! One event carries one JSON message. Reading copies the bytes of the stream once and shares them from there on.

use bytes::{Buf, Bytes, BytesMut};

use crate::error::{Error, Result};
use crate::limits::{LimitBreach, MESSAGE_BYTES_MAX};

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its type; `message` when the stream names none.
    pub kind: Option<String>,
    /// Its data; empty for an event that only carries an id or a retry time.
    pub data: Bytes,
    /// Its id, for resumption.
    pub id: Option<String>,
    /// How long to wait before reconnecting, in milliseconds.
    pub retry_ms: Option<u64>,
}

impl Event {
    /// Whether it carries a message (and not, say, the endpoint of the oldest HTTP transport).
    pub fn is_message(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == "message" || kind.is_empty()) && !self.data.is_empty()
    }

    /// Writes the event. `data` must hold no line breaks, which frames never do.
    pub fn write_to(&self, out: &mut BytesMut) {
        out.reserve(self.data.len() + 64);
        if let Some(id) = &self.id {
            out.extend_from_slice(format!("id: {id}\n").as_bytes());
        }
        if let Some(retry) = self.retry_ms {
            out.extend_from_slice(format!("retry: {retry}\n").as_bytes());
        }
        if let Some(kind) = &self.kind {
            out.extend_from_slice(format!("event: {kind}\n").as_bytes());
        }
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(&self.data);
        out.extend_from_slice(b"\n\n");
    }
}

/// Cuts a byte stream into events.
#[derive(Debug, Default)]
pub struct EventReader {
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    /// The last line ended with CR, and the LF that may belong to it has not come yet.
    after_cr: bool,
    started: bool,
    event: Event,
    /// Whether `event` holds anything to hand out.
    touched: bool,
    has_data: bool,
    /// The data of `event` as soon as it has more than one line: appended to, since copying it for every line would take forever.
    joined: BytesMut,
}

impl EventReader {
    /// Adds bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() + self.event.data.len() + self.joined.len() > MESSAGE_BYTES_MAX {
            let what = "one server-sent event";
            return Err(Error::Limit(LimitBreach::new("MESSAGE_BYTES_MAX", MESSAGE_BYTES_MAX, what)));
        }
        Ok(())
    }

    /// The next event that is complete.
    pub fn next_event(&mut self) -> Option<Event> {
        while let Some(line) = self.next_line() {
            if line.is_empty() {
                self.has_data = false;
                if !self.joined.is_empty() {
                    self.event.data = self.joined.split().freeze();
                }
                if std::mem::take(&mut self.touched) {
                    return Some(std::mem::take(&mut self.event));
                }
            } else {
                self.take_line(&line);
            }
        }
        None
    }

    /// The next line without its end, which may be LF, CR LF or CR.
    fn next_line(&mut self) -> Option<Bytes> {
        if !self.started {
            if self.buffer.len() < 3 && b"\xef\xbb\xbf".starts_with(&self.buffer) {
                return None; // The beginning of a byte order mark, or nothing yet.
            }
            if self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.advance(3);
            }
            self.started = true;
        }
        if self.after_cr && !self.buffer.is_empty() {
            self.after_cr = false;
            self.buffer.advance(usize::from(self.buffer[0] == b'\n'));
        }
        let Some(at) = memchr::memchr2(b'\n', b'\r', &self.buffer[self.searched..]) else {
            self.searched = self.buffer.len();
            return None;
        };
        let line = self.buffer.split_to(self.searched + at).freeze();
        self.after_cr = self.buffer[0] == b'\r';
        self.buffer.advance(1);
        self.searched = 0;
        Some(line)
    }

    fn take_line(&mut self, line: &Bytes) {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let name = line.slice(..colon);
        let mut value = line.slice((colon + 1).min(line.len())..);
        if value.first() == Some(&b' ') {
            value.advance(1);
        }
        let text = || String::from_utf8_lossy(&value).into_owned();
        match &name[..] {
            b"data" if self.has_data => {
                let first = std::mem::take(&mut self.event.data);
                self.joined.extend_from_slice(&first);
                self.joined.extend_from_slice(b"\n");
                self.joined.extend_from_slice(&value);
            }
            b"data" => {
                self.event.data = value;
                self.has_data = true;
            }
            b"event" => self.event.kind = Some(text()),
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"retry" => match text().parse() {
                Ok(retry) if value.iter().all(u8::is_ascii_digit) => self.event.retry_ms = Some(retry),
                _ => return,
            },
            _ => return, // A comment, or a field from the future.
        }
        self.touched = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<(String, String, String, u64)> {
        let mut reader = EventReader::default();
        let mut events = Vec::new();
        for chunk in chunks {
            reader.push(chunk).unwrap();
            while let Some(event) = reader.next_event() {
                let data = String::from_utf8_lossy(&event.data).into_owned();
                events.push((
                    event.kind.unwrap_or_default(),
                    data,
                    event.id.unwrap_or_default(),
                    event.retry_ms.unwrap_or(0),
                ));
            }
        }
        events
    }

    #[test]
    fn events_are_found_wherever_the_chunks_break_and_however_lines_end() {
        let expected = [
            (String::new(), "{\"a\":1}".to_owned(), "1".to_owned(), 0),
            ("endpoint".to_owned(), "/m".to_owned(), String::new(), 500),
            (String::new(), "x\ny".to_owned(), String::new(), 0),
            (String::new(), String::new(), "p".to_owned(), 0),
        ];
        // Whole at its end, whatever ends its lines: nothing more need come.
        assert_eq!(read(&[b"data: x\r\r"]), read(&[b"data: x\n\n"]));
        assert_eq!(read(&[b"data: x\r", b"\n\r", b"\n"]), read(&[b"data: x\n\n"]));
        let text = "\u{feff}: hello\nid: 1\ndata: {\"a\":1}\n\nevent:endpoint\nretry: 500\nretry: x\ndata:/m\n\n\ndata: x\ndata: y\nfuture: z\n\nid: p\ndata:\n\ndata: unfinished\n";
        for ending in ["\n", "\r\n", "\r"] {
            let text = text.replace('\n', ending);
            let bytes = text.as_bytes();
            for cut in 0..bytes.len() {
                assert_eq!(read(&[&bytes[..cut], &bytes[cut..]]), expected, "cut at {cut}, ending {ending:?}");
            }
        }
    }

    #[test]
    fn a_time_to_wait_is_digits_and_nothing_else() {
        for (value, retry_ms) in [("500", 500), ("+500", 0), ("-1", 0), ("", 0), ("18446744073709551616", 0)] {
            let text = format!("retry: {value}\ndata: x\n\n");
            assert_eq!(read(&[text.as_bytes()]), [(String::new(), "x".to_owned(), String::new(), retry_ms)], "{value}");
        }
    }

    /// Were the data copied for every line, this would be a quarter of a terabyte to copy.
    #[test]
    fn an_event_of_very_many_lines_is_read_in_one_go() {
        let lines = 700_000;
        let mut text = "data:\n".repeat(lines);
        text.push_str("\ndata: next\n\n");
        let events = read(&[text.as_bytes()]);
        let sizes: Vec<usize> = events.iter().map(|(_, data, ..)| data.len()).collect();
        assert_eq!(sizes, [lines - 1, 4]);
    }

    #[test]
    fn what_is_written_reads_back() {
        let event = Event { kind: Some("message".into()), data: "{}".into(), id: Some("7".into()), retry_ms: Some(9) };
        let mut out = BytesMut::new();
        event.write_to(&mut out);
        let mut reader = EventReader::default();
        reader.push(&out).unwrap();
        assert_eq!(reader.next_event(), Some(event));
    }

    #[test]
    fn an_endless_event_is_a_named_breach() {
        let mut reader = EventReader::default();
        let chunk = vec![b'x'; 1 << 20];
        let error = (0..=MESSAGE_BYTES_MAX >> 20).find_map(|_| reader.push(&chunk).err()).unwrap();
        assert!(error.to_string().contains("MESSAGE_BYTES_MAX"), "{error}");
    }
}
