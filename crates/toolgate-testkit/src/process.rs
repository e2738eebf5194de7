//! What only a process of its own can do: flood its stderr, close its stdout, ignore SIGTERM.

use std::fs::OpenOptions;
use std::sync::Arc;
use tokio::io::AsyncWriteExt as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::engine::server::Server;
use crate::limits::FILLER_CHUNK_BYTES;
use crate::record::Event;

/// Writes that many bytes of lines to stderr.
pub(crate) async fn flood_stderr(bytes: u64) {
    let line = b"noise on stderr that nobody asked for, and that a client must not choke on\n";
    let block: Vec<u8> = line.iter().copied().cycle().take(FILLER_CHUNK_BYTES).collect();
    let mut stderr = tokio::io::stderr();
    let mut left = bytes;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        // A reader that went away is the client's business, not ours.
        if stderr.write_all(block.get(..piece).unwrap_or_default()).await.is_err() {
            return;
        }
        left -= piece as u64;
    }
    let _flushed = stderr.flush().await.is_ok();
}

/// Makes the reader of stdout see its end while the process lives on.
pub(crate) fn close_stdout() {
    if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
        let _replaced = rustix::stdio::dup2_stdout(&nowhere).is_ok();
    }
}

/// From now on SIGTERM is recorded and has no other effect.
pub(crate) fn ignore_term(server: &Arc<Server>) {
    let Ok(mut terms) = signal(SignalKind::terminate()) else { return };
    let record = server.record.clone();
    // Ends with the runtime of the process, which is the only place where this is called.
    tokio::spawn(async move {
        while terms.recv().await.is_some() {
            record.event(Event::Terminated);
        }
    });
}
