//! Lines out of a byte stream: the same lines however the bytes are cut, each within its bound, none lost and none invented.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use toolgate_fuzz::stream_in_pieces;
use toolgate_wire::DefectKind;
use toolgate_wire::transport::stream::{Line, LineReader};

/// A small bound, so that short inputs reach it.
const LINE_BYTES_MAX: usize = 320;

/// What came out in place of one line.
#[derive(Debug, PartialEq)]
enum Read {
    Whole(Bytes),
    TooLong { detail: String, id: Option<String> },
    Unfinished(String),
}

fuzz_target!(|input: &[u8]| {
    let Some((stream, pieces)) = stream_in_pieces(input) else { return };
    let at_once = read(&[stream]);
    assert_eq!(read(&pieces), at_once, "cut into pieces, other lines come out");
    compare_with_plain_splitting(stream, &at_once);
});

fn read(pieces: &[&[u8]]) -> Vec<Read> {
    let mut reader = LineReader::bounded(LINE_BYTES_MAX);
    let mut found = Vec::new();
    for piece in pieces {
        reader.room().extend_from_slice(piece);
        reader.each(|line| {
            found.push(match line {
                Line::Whole(line) => Read::Whole(line),
                Line::TooLong(defect) => {
                    assert_eq!(defect.kind, DefectKind::TooLarge);
                    Read::TooLong { detail: defect.detail, id: defect.id.map(|id| id.to_string()) }
                }
            });
        });
        assert!(reader.room().len() <= LINE_BYTES_MAX, "more than one line is held back");
    }
    if let Some(rest) = reader.rest() {
        found.push(match rest.kind {
            DefectKind::TooLarge => Read::TooLong { detail: rest.detail, id: rest.id.map(|id| id.to_string()) },
            _ => Read::Unfinished(rest.detail),
        });
    }
    found
}

/// The same by the shortest means there are: split at line feeds, take a carriage return away, leave out what is blank.
fn compare_with_plain_splitting(stream: &[u8], found: &[Read]) {
    let mut found = found.iter();
    let mut lines: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    let unfinished = lines.pop().unwrap_or_default();
    for line in lines {
        if line.len() > LINE_BYTES_MAX {
            expect_too_long(line, found.next());
            continue;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.trim_ascii().is_empty() {
            assert_eq!(found.next(), Some(&Read::Whole(Bytes::copy_from_slice(line))));
        }
    }
    if unfinished.len() > LINE_BYTES_MAX {
        expect_too_long(unfinished, found.next());
    } else if !unfinished.trim_ascii().is_empty() {
        let size = format!("a line of {} bytes", unfinished.trim_ascii().len());
        assert!(
            matches!(found.next(), Some(Read::Unfinished(detail)) if detail.contains(&size)),
            "{size} is not reported"
        );
    }
    assert_eq!(found.next(), None, "a line was invented");
}

fn expect_too_long(line: &[u8], found: Option<&Read>) {
    let Some(Read::TooLong { detail, id }) = found else {
        panic!("a line of {} bytes came out as {found:?}", line.len())
    };
    assert!(detail.contains(&format!("a line of {} bytes", line.len())), "{detail}");
    let is_in_line = |id: &String| line.windows(id.len()).any(|part| part == id.as_bytes());
    assert!(id.as_ref().is_none_or(is_in_line), "id {id:?} was invented");
}
