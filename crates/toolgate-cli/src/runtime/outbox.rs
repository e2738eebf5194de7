//! `Outbox`: what waits to be read by one program that the runtime works for. Results wait for room, everything else never does: whoever does
//! not read slows their own command and nobody else's.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

use super::frames::ToClient;
use crate::limits::{OUTBOX_BYTES_MAX, RUNTIME_FRAME_BYTES_MAX, TALK_LINE_BYTES_MAX};
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

#[derive(Debug)]
struct State {
    /// What is sent even while the rest is held.
    at_once: Vec<u8>,
    waiting: Vec<u8>,
    /// How much of that are results, and how much is talk: neither takes the room of the other.
    results_bytes: usize,
    talk_bytes: usize,
    /// Lines there was no room for.
    dropped: usize,
    /// Nothing is sent yet: the command may still be given back, and then nothing of it was said.
    is_held: bool,
    /// Results or a question have been put in, which cannot be taken back.
    has_begun: bool,
    /// The last frame has been put in.
    is_last: bool,
    /// Nobody reads any more.
    is_closed: bool,
}

impl Default for State {
    fn default() -> Self {
        let (waiting, at_once, results_bytes, talk_bytes, dropped) = (Vec::new(), Vec::new(), 0, 0, 0);
        let (is_held, has_begun, is_last, is_closed) = (true, false, false, false);
        Self { waiting, at_once, results_bytes, talk_bytes, dropped, is_held, has_begun, is_last, is_closed }
    }
}

impl Outbox {
    /// Puts in what an answer is needed to: there is always room for it. False when it will not be read.
    #[must_use]
    pub(crate) fn ask(&self, question: &ToClient) -> bool {
        let bytes = question.bytes();
        let mut state = self.state();
        if !state.is_open() || bytes.len() > RUNTIME_FRAME_BYTES_MAX {
            return false;
        }
        state.has_begun = true;
        state.is_held = false;
        state.waiting.extend(bytes);
        drop(state);
        self.news.notify_one();
        true
    }

    /// Asks for what stands in stdin, which shows the person nothing: the command may still be given back. False when it will not be read.
    #[must_use]
    pub(crate) fn ask_for_stdin(&self) -> bool {
        let mut state = self.state();
        let is_open = state.is_open();
        if is_open {
            state.at_once.extend(ToClient::WantsStdin.bytes());
        }
        drop(state);
        self.news.notify_one();
        is_open
    }

    /// Puts something in that is said beside the results, if there is room.
    fn tell(&self, talk: &ToClient) {
        let bytes = talk.bytes();
        let mut state = self.state();
        if !state.is_open() {
            return;
        }
        let (is_line, is_over) = (matches!(talk, ToClient::Said(_)), matches!(talk, ToClient::Waits(None)));
        // What is shown while somebody waits takes no room from what they are to read.
        let room = if is_line || is_over { OUTBOX_BYTES_MAX } else { OUTBOX_BYTES_MAX / 4 };
        if state.talk_bytes >= room {
            state.dropped += usize::from(is_line);
            return;
        }
        // Who is shown that something takes its time is shown why.
        state.is_held &= is_line;
        state.say_what_was_dropped();
        state.talk_bytes += bytes.len();
        state.waiting.extend(bytes);
        drop(state);
        self.news.notify_one();
    }

    /// Puts results in, when there is room.
    fn print(&self, results: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        while state.is_open() && state.results_bytes >= OUTBOX_BYTES_MAX {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.is_open() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.has_begun = true;
        state.is_held = false;
        state.results_bytes += results.len();
        state.waiting.extend(ToClient::Out(results.to_vec()).bytes());
        drop(state);
        self.news.notify_one();
        Ok(())
    }

    /// Sends what was put in, and all that comes.
    fn release(&self) {
        self.state().is_held = false;
        self.news.notify_one();
    }

    /// Puts the last frame in; whatever comes later is of no interest.
    pub(crate) fn end(&self, last: &ToClient) {
        let mut state = self.state();
        if state.is_open() {
            if state.is_held && matches!(last, ToClient::Yourself) {
                state.waiting.clear(); // The program says it all again.
            }
            state.say_what_was_dropped();
            state.waiting.extend(last.bytes());
            (state.is_held, state.is_last) = (false, true);
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

    /// Whether the program has been told something of the command that it cannot be told again.
    pub(crate) fn has_begun(&self) -> bool {
        self.state().has_begun
    }

    /// Sends what is put in until the last frame has been sent, or nobody reads any more.
    pub(crate) async fn send_to(&self, mut stream: impl AsyncWrite + Unpin) {
        loop {
            let (waiting, is_over) = {
                let mut state = self.state();
                (state.take(), state.is_last || state.is_closed)
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

    /// What is to be sent now.
    fn take(&mut self) -> Vec<u8> {
        let mut now = std::mem::take(&mut self.at_once);
        if !self.is_held {
            (self.results_bytes, self.talk_bytes) = (0, 0);
            now.append(&mut self.waiting);
        }
        now
    }

    fn say_what_was_dropped(&mut self) {
        match std::mem::take(&mut self.dropped) {
            0 => {}
            dropped => {
                let said = format!("({dropped} more lines were not kept while nobody read them)");
                self.waiting.extend(ToClient::Said(said).bytes());
            }
        }
    }
}

impl Listener for Outbox {
    fn hears(&self, line: &str) {
        // A line is a line, not a dump.
        let end = line.floor_char_boundary(TALK_LINE_BYTES_MAX);
        self.tell(&ToClient::Said(line.get(..end).unwrap_or(line).to_owned()));
    }

    fn sees_waiting(&self, for_what: Option<&str>) {
        self.tell(&ToClient::Waits(for_what.map(ToOwned::to_owned)));
    }

    fn sees_it_begin(&self) {
        self.release();
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
    use crate::limits::{OUTBOX_BYTES_MAX, TALK_LINE_BYTES_MAX};
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

    /// Everything that a program is sent when it reads at last.
    async fn sent(outbox: &Outbox) -> Vec<ToClient> {
        let (near, mut far) = tokio::io::duplex(4096);
        let mut bytes = Vec::new();
        let (_, read) = tokio::join!(outbox.send_to(near), far.read_to_end(&mut bytes));
        read.unwrap();
        let mut reader = FrameReader::default();
        reader.take(&bytes);
        std::iter::from_fn(|| reader.next().unwrap()).collect()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_is_said_or_asked_after_large_results_is_not_lost() {
        let outbox = Outbox::default();
        outbox.print(&vec![b'x'; OUTBOX_BYTES_MAX]).unwrap();
        outbox.hears("error: at last");
        let line = "y".repeat(TALK_LINE_BYTES_MAX * 2);
        (0..10_000).for_each(|_| outbox.sees_waiting(Some("progress")));
        (0..10).for_each(|_| outbox.hears(&line));
        assert!(outbox.ask(&ToClient::WantsStdin));
        outbox.end(&ToClient::End(1));
        let frames = sent(&outbox).await;
        let words: Vec<String> = frames
            .iter()
            .filter(|frame| !matches!(frame, ToClient::Waits(_)))
            .map(|frame| match frame {
                ToClient::Out(results) => format!("{} results", results.len()),
                ToClient::Said(line) if line.starts_with('y') => format!("{} letters", line.len()),
                ToClient::Said(line) => line.clone(),
                other => format!("{other:?}"),
            })
            .collect();
        let long = format!("{TALK_LINE_BYTES_MAX} letters");
        let dropped = "(6 more lines were not kept while nobody read them)".to_owned();
        let results = format!("{OUTBOX_BYTES_MAX} results");
        let expected = [
            vec![results, "error: at last".to_owned()],
            vec![long; 4],
            vec!["WantsStdin".to_owned(), dropped, "End(1)".to_owned()],
        ];
        assert_eq!(words, expected.concat());
    }

    #[tokio::test]
    async fn nothing_was_said_by_a_command_that_is_given_back() {
        type Deed = fn(&Outbox);
        let cases: [(Deed, ToClient, &[&str]); 5] = [
            (|_| {}, ToClient::Yourself, &["Yourself"]),
            (|_| {}, ToClient::End(0), &["Said(\"odd\")", "End(0)"]),
            (|outbox| assert!(outbox.ask_for_stdin()), ToClient::Yourself, &["WantsStdin", "Yourself"]),
            (Outbox::release, ToClient::Yourself, &["Said(\"odd\")", "Yourself"]),
            (|outbox| outbox.sees_waiting(None), ToClient::Yourself, &["Said(\"odd\")", "Waits(None)", "Yourself"]),
        ];
        for (then, last, expected) in cases {
            let outbox = Outbox::default();
            outbox.hears("odd");
            then(&outbox);
            outbox.end(&last);
            let frames: Vec<String> = sent(&outbox).await.iter().map(|frame| format!("{frame:?}")).collect();
            assert_eq!(frames, expected, "{last:?}");
        }
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
