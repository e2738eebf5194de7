//! The end of what a child wrote to stderr: always drained, kept up to a bound, and read only with its secrets covered.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::time::Instant;

use crate::limits::STDERR_TAIL_BYTES;
use crate::peer::lock;

/// Covers the secrets in what a child wrote to stderr. It sees all that is kept at once, so a secret is whole whatever the pieces it came
/// in; only at the two ends can it be cut.
pub type Mask = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// What is kept of a child's stderr. Never printed by itself.
#[derive(Clone, Default)]
pub(crate) struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    /// The time of the last write.
    written_at: Arc<Mutex<Option<Instant>>>,
    mask: Option<Mask>,
}

impl StderrTail {
    pub(crate) fn new(mask: Option<Mask>) -> Self {
        Self { bytes: Arc::default(), written_at: Arc::default(), mask }
    }

    /// What is kept, as people may see it.
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = lock(&self.bytes).iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        self.mask.as_ref().map_or_else(|| text.to_string(), |mask| mask(&text))
    }

    /// The time of the last output. `None` when there was none.
    pub(crate) fn written_at(&self) -> Option<Instant> {
        *lock(&self.written_at)
    }

    fn push(&self, chunk: &[u8]) {
        *lock(&self.written_at) = Some(Instant::now());
        let mut bytes = lock(&self.bytes);
        bytes.extend(chunk);
        let surplus = bytes.len().saturating_sub(STDERR_TAIL_BYTES);
        bytes.drain(..surplus);
    }

    /// Reads stderr to its end.
    pub(crate) async fn drain(self, mut stderr: ChildStderr) {
        let mut chunk = [0; 4096];
        while let Ok(size @ 1..) = stderr.read(&mut chunk).await {
            self.push(&chunk[..size]);
        }
    }
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StderrTail").field("bytes", &lock(&self.bytes).len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_covered_in_whatever_pieces_it_came() {
        let tail = StderrTail::new(Some(Arc::new(|text| text.replace("hunter2", "…"))));
        for chunk in ["the word is hun", "t", "er2, ", "hunter2"] {
            tail.push(chunk.as_bytes());
        }
        assert_eq!(tail.text(), "the word is …, …");
        assert!(!format!("{tail:?}").contains("hunter2"));
    }

    #[test]
    fn no_more_than_the_end_is_kept() {
        let tail = StderrTail::default();
        tail.push(&vec![b'x'; STDERR_TAIL_BYTES]);
        tail.push(b"end");
        assert_eq!(tail.text().len(), STDERR_TAIL_BYTES);
        assert!(tail.text().ends_with("xend"));
    }
}
