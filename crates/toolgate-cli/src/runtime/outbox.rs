//! `Outbox`: what waits to be read by one program that the runtime works for. Results wait for room, everything else never does: whoever does
//! not read slows their own command and nobody else's.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

use super::frames::ToClient;
use crate::limits::OUTBOX_BYTES_MAX;
use crate::talk::Listener;

/// Frames on their way to a program.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Something was taken out, or nobody reads any more.
    room: Condvar,
    /// Something was put in.
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<u8>,
    /// Something of the command itself has been put in.
    has_begun: bool,
    /// The last frame has been put in.
    is_last: bool,
    /// Nobody reads any more.
    is_closed: bool,
}

impl Outbox {
    /// Puts a frame in, if there is room.
    pub(crate) fn tell(&self, frame: &ToClient) {
        let mut state = self.state();
        if state.is_open() && state.waiting.len() < OUTBOX_BYTES_MAX {
            state.has_begun |= !matches!(frame, ToClient::Taken);
            state.waiting.extend(frame.bytes());
            drop(state);
            self.news.notify_one();
        }
    }

    /// Puts results in, when there is room.
    fn print(&self, results: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        while state.is_open() && state.waiting.len() >= OUTBOX_BYTES_MAX {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.is_open() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.has_begun = true;
        state.waiting.extend(ToClient::Out(results.to_vec()).bytes());
        drop(state);
        self.news.notify_one();
        Ok(())
    }

    /// Puts the last frame in; whatever comes later is of no interest.
    pub(crate) fn end(&self, last: &ToClient) {
        let mut state = self.state();
        if state.is_open() {
            state.waiting.extend(last.bytes());
            state.is_last = true;
        }
        drop(state);
        self.news.notify_one();
    }

    /// Nobody reads any more.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.room.notify_all();
        self.news.notify_one();
    }

    /// Whether the program has been told something of the command.
    pub(crate) fn has_begun(&self) -> bool {
        self.state().has_begun
    }

    /// Sends what is put in until the last frame has been sent, or nobody reads any more.
    pub(crate) async fn send_to(&self, mut stream: impl AsyncWrite + Unpin) {
        loop {
            let (waiting, is_over) = {
                let mut state = self.state();
                (std::mem::take(&mut state.waiting), state.is_last || state.is_closed)
            };
            self.room.notify_all();
            if !waiting.is_empty() {
                if stream.write_all(&waiting).await.is_err() {
                    return self.close();
                }
            } else if is_over {
                return;
            } else {
                self.news.notified().await;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    const fn is_open(&self) -> bool {
        !self.is_closed && !self.is_last
    }
}

impl Listener for Outbox {
    fn hears(&self, line: &str) {
        self.tell(&ToClient::Said(line.to_owned()));
    }

    fn sees_waiting(&self, for_what: Option<&str>) {
        self.tell(&ToClient::Waits(for_what.map(ToOwned::to_owned)));
    }
}

/// Results on their way to a program.
#[derive(Debug)]
pub(crate) struct Results(pub(crate) Arc<Outbox>);

impl io::Write for Results {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A large piece is several frames, so that it begins to arrive before it is whole.
        let piece = bytes.get(..OUTBOX_BYTES_MAX).unwrap_or(bytes);
        self.0.print(piece).map(|()| piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use tokio::io::AsyncReadExt as _;

    use super::{Outbox, Results};
    use crate::limits::OUTBOX_BYTES_MAX;
    use crate::runtime::frames::{FrameReader, ToClient};
    use crate::talk::Listener as _;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn results_wait_for_a_reader_and_talk_does_not() {
        let outbox = Arc::new(Outbox::default());
        let total = OUTBOX_BYTES_MAX * 3;
        let printing = tokio::task::spawn_blocking({
            let outbox = outbox.clone();
            move || {
                Results(outbox.clone()).write_all(&vec![b'x'; total]).unwrap();
                outbox.end(&ToClient::End(0));
            }
        });
        // Nobody reads yet, and whoever talks is not held up by that.
        for _ in 0..10_000 {
            outbox.hears(&"y".repeat(1000));
        }
        let (near, mut far) = tokio::io::duplex(4096);
        let sending = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send_to(near).await }
        });
        let (mut reader, mut seen, mut is_ended) = (FrameReader::default(), 0, false);
        let mut piece = vec![0; 4096];
        loop {
            let count = far.read(&mut piece).await.unwrap();
            if count == 0 {
                break;
            }
            reader.take(&piece[..count]);
            while let Some(frame) = reader.next::<ToClient>().unwrap() {
                match frame {
                    ToClient::Out(bytes) => seen += bytes.len(),
                    ToClient::End(0) => is_ended = true,
                    _ => {}
                }
            }
        }
        sending.await.unwrap();
        printing.await.unwrap();
        assert_eq!((seen, is_ended), (total, true));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_is_gone_is_written_to_no_more() {
        let outbox = Arc::new(Outbox::default());
        let printing = tokio::task::spawn_blocking({
            let outbox = outbox.clone();
            move || Results(outbox).write_all(&vec![b'x'; OUTBOX_BYTES_MAX * 3])
        });
        outbox.close();
        assert_eq!(printing.await.unwrap().unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    }
}
