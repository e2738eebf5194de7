//! `Capture`: the beginning and the end of what a command writes, however much that is.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::limits::{SHELL_HEAD_BYTES_MAX, SHELL_TAIL_BYTES_MAX};

/// One stream of output.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut: u64,
}

impl Capture {
    /// Reads until the stream ends, and keeps nothing of it open afterwards. May be dropped and called again.
    pub(super) async fn drain<R: AsyncRead + Unpin>(&mut self, stream: &mut Option<R>) {
        let Some(open) = stream else { return };
        let mut chunk = [0; 8 * 1024];
        while let Ok(size @ 1..) = open.read(&mut chunk).await {
            self.push(chunk.get(..size).unwrap_or_default());
        }
        *stream = None;
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = SHELL_HEAD_BYTES_MAX - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(SHELL_TAIL_BYTES_MAX);
        self.tail.drain(..surplus);
        self.cut += surplus as u64;
    }

    /// How many bytes are missing in the middle.
    pub(super) fn cut(&self) -> u64 {
        self.cut
    }

    /// What was kept, with a line that says what was cut. Bytes that are not UTF-8 are shown as replacement characters.
    pub(super) fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        if self.cut == 0 {
            return String::from_utf8_lossy(&[&*self.head, &*tail].concat()).into_owned();
        }
        let (head, tail) = (without_broken_end(&self.head), without_broken_start(&tail));
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        format!("{head}\n[… {} bytes were cut here …]\n{tail}", self.cut)
    }
}

/// Without the part of a character that the cut has left at the end.
fn without_broken_end(bytes: &[u8]) -> &[u8] {
    let cut_in = (1..=3.min(bytes.len())).find(|back| {
        let from = bytes.get(bytes.len() - back..).unwrap_or_default();
        std::str::from_utf8(from).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    });
    bytes.get(..bytes.len() - cut_in.unwrap_or(0)).unwrap_or(bytes)
}

/// Without the part of a character that the cut has left at the start.
fn without_broken_start(bytes: &[u8]) -> &[u8] {
    let is_rest = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let skipped = bytes.iter().take(3).take_while(is_rest).count();
    bytes.get(skipped..).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Capture, SHELL_HEAD_BYTES_MAX, SHELL_TAIL_BYTES_MAX};

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let cases: [(&str, usize, u64); 4] = [
            ("a", 10, 0),
            ("a", SHELL_HEAD_BYTES_MAX + SHELL_TAIL_BYTES_MAX, 0),
            ("ä", 100_000, 134_464),
            ("€", 50_000, 84_464),
        ];
        for (letter, count, cut) in cases {
            let all = letter.repeat(count);
            for step in [1, 7, 4096, all.len()] {
                let mut capture = Capture::default();
                all.as_bytes().chunks(step).for_each(|chunk| capture.push(chunk));
                assert_eq!(capture.cut(), cut, "{letter} {count} {step}");
                let text = capture.text();
                assert!(!text.contains('\u{fffd}'), "{letter} {count} {step}");
                assert!(text.starts_with(letter) && text.ends_with(letter));
                assert_eq!(text.contains("were cut here"), cut > 0);
                if cut == 0 {
                    assert_eq!(text, all);
                }
            }
        }
    }
}
