//! Server-sent events out of a byte stream: the same events however the bytes are cut, and what is written reads back.

#![no_main]

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use toolgate_fuzz::stream_in_pieces;
use toolgate_wire::transport::event_stream::{Event, EventReader};

fuzz_target!(|input: &[u8]| {
    let Some((stream, pieces)) = stream_in_pieces(input) else { return };
    let at_once = read(&[stream]);
    assert_eq!(read(&pieces), at_once, "cut into pieces, other events come out");
    compare_with_plain_splitting(stream, &at_once);
    write_again(&at_once, &pieces);
});

fn read(pieces: &[&[u8]]) -> Vec<Event> {
    let mut reader = EventReader::default();
    let mut events = Vec::new();
    for piece in pieces {
        assert!(reader.push(piece).is_ok(), "an input of this size breaks no limit");
        events.extend(std::iter::from_fn(|| reader.next_event()));
    }
    events
}

/// The same by the shortest means there are, for streams that are text: line ends made alike, then split.
fn compare_with_plain_splitting(stream: &[u8], found: &[Event]) {
    let Ok(text) = std::str::from_utf8(stream) else { return };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let mut expected = Vec::new();
    let mut event = Event::default();
    let mut data: Option<String> = None;
    let Some((whole_lines, _unfinished)) = text.rsplit_once('\n') else {
        assert!(found.is_empty(), "an event without a line");
        return;
    };
    for line in whole_lines.split('\n') {
        if line.is_empty() {
            event.data = data.take().unwrap_or_default().into();
            expected.push(std::mem::take(&mut event));
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => data = Some(data.map_or_else(|| value.to_owned(), |before| format!("{before}\n{value}"))),
            "event" => event.kind = Some(value.to_owned()),
            "id" if !value.contains('\0') => event.id = Some(value.to_owned()),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                event.retry_ms = value.parse().ok().or(event.retry_ms)
            }
            _ => {}
        }
    }
    // An empty event is handed out where a field was sent empty, and only there; which is which does not matter to anybody.
    let is_something = |event: &&Event| **event != Event::default();
    let found: Vec<&Event> = found.iter().filter(is_something).collect();
    let expected: Vec<&Event> = expected.iter().filter(is_something).collect();
    assert_eq!(found, expected);
}

/// Events are written with data on one line, which messages always are.
fn write_again(events: &[Event], pieces: &[&[u8]]) {
    let made_up = pieces.chunks(3).map(|parts| Event {
        kind: parts.first().map(|part| on_one_line(part)),
        data: parts.get(1).map(|part| on_one_line(part)).unwrap_or_default().into(),
        id: parts.get(2).map(|part| on_one_line(part).replace('\0', "")),
        retry_ms: parts
            .first()
            .map(|part| part.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(257).wrapping_add(u64::from(*byte)))),
    });
    let one_line = events.iter().filter(|event| !event.data.iter().any(|byte| matches!(byte, b'\n' | b'\r'))).cloned();
    let events: Vec<Event> = one_line.chain(made_up).collect();
    let mut out = BytesMut::new();
    for event in &events {
        event.write_to(&mut out);
    }
    assert_eq!(read(&[&out]), events, "what was written reads back differently");
}

fn on_one_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace(['\n', '\r'], " ")
}
