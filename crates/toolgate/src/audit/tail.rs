//! The end of a file of the log: its last whole line, and what stands behind that.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use crate::limits::AUDIT_LINE_BYTES_MAX;

/// How much is read at first; most lines are a tenth of it.
const FIRST_BYTES: u64 = 8 * 1024;

/// The end of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tail {
    /// The last whole line, without its end.
    pub(super) last: Option<Vec<u8>>,
    /// What stands behind it: the beginning of a line that was never finished.
    pub(super) torn: Vec<u8>,
}

impl Tail {
    /// Reads the end of a file of that length. `None` when no line of ours is that long: it is no file of the log.
    pub(super) fn read(file: &mut File, length: u64) -> io::Result<Option<Self>> {
        let most = AUDIT_LINE_BYTES_MAX as u64 * 2;
        let mut wanted = FIRST_BYTES;
        loop {
            let start = length.saturating_sub(wanted);
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(start))?;
            file.take(length - start).read_to_end(&mut bytes)?;
            if let Some(tail) = Self::of(&bytes, start == 0) {
                return Ok(Some(tail));
            }
            if wanted >= most {
                return Ok(None);
            }
            wanted = (wanted * 8).min(most);
        }
    }

    /// The tail within these bytes; `None` when more of the file is needed.
    fn of(bytes: &[u8], is_whole_file: bool) -> Option<Self> {
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            return is_whole_file.then(|| Self { last: None, torn: bytes.to_vec() });
        };
        let (lines, torn) = (bytes.get(..end)?, bytes.get(end + 1..)?);
        let start = match lines.iter().rposition(|byte| *byte == b'\n') {
            Some(before) => before + 1,
            None if is_whole_file => 0,
            None => return None,
        };
        Some(Self { last: Some(lines.get(start..)?.to_vec()), torn: torn.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::Tail;

    #[test]
    fn the_last_line_is_found_however_long_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let long = "x".repeat(100_000);
        let cases = [
            (String::new(), None, ""),
            ("torn".to_owned(), None, "torn"),
            ("one\n".to_owned(), Some("one"), ""),
            ("one\ntwo\n".to_owned(), Some("two"), ""),
            ("one\ntwo\nto".to_owned(), Some("two"), "to"),
            (format!("one\n{long}\n"), Some(long.as_str()), ""),
            (format!("one\ntwo\n{long}"), Some("two"), long.as_str()),
            (format!("{long}\n{long}"), Some(long.as_str()), long.as_str()),
            ("\n\n".to_owned(), Some(""), ""),
        ];
        for (text, last, torn) in cases {
            std::fs::write(&path, &text).unwrap();
            let tail = Tail::read(&mut File::open(&path).unwrap(), text.len() as u64).unwrap().unwrap();
            let expected = Tail { last: last.map(|last| last.as_bytes().to_vec()), torn: torn.as_bytes().to_vec() };
            assert!(tail == expected, "{} bytes", text.len());
        }
    }

    #[test]
    fn what_has_no_lines_is_no_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let length = 9 * 1024 * 1024;
        File::create(&path).unwrap().set_len(length).unwrap();
        assert_eq!(Tail::read(&mut File::open(&path).unwrap(), length).unwrap(), None);
    }
}
