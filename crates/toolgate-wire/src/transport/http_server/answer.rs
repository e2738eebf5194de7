//! `AnswerStream`: what a server sends about one request (or, in a session, about none), in order, on its way to whoever reads it.
//!
//! Readers may come and go: each has a place in the stream, and in a session what was read is kept for a while, so that a reader who lost its
//! connection can take up where it was. A reader who is there but slow makes the sender wait.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use crate::call::Call;
use crate::error::{Error, Result};
use crate::limits::{OUTBOX_BYTES_MAX, QUEUE_FRAMES_MAX, REPLAY_BYTES_MAX, REPLAY_EVENTS_MAX};
use crate::message::Notification;
use crate::peer::{Direction, Tap, lock};
use crate::raw::RawJson;
use crate::server::{Outlet, cannot_ask, notification_bytes};

/// One message of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    /// Counted from 1.
    pub(crate) number: u64,
    pub(crate) json: Bytes,
    /// Whether it is the answer, after which nothing comes.
    last: bool,
}

/// Whether events stay after they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Nothing,
    ForReplay,
}

/// What a stream turned out to be when its first event came.
#[derive(Debug)]
pub(crate) enum First {
    /// The answer, and nothing before it.
    Answer(Bytes),
    /// News before the answer.
    Stream,
    /// No answer will come.
    Nothing,
}

/// The events of one request.
pub(crate) struct AnswerStream {
    /// Its name within the session.
    pub(crate) number: u64,
    keep: Keep,
    tap: Option<Tap>,
    state: Mutex<State>,
    room: Notify,
}

#[derive(Default)]
struct State {
    log: VecDeque<Event>,
    bytes: usize,
    sent: u64,
    delivered: u64,
    /// Which reader is attached; 0 is none.
    reader: u64,
    readers: u64,
    waker: Option<Waker>,
    finished: bool,
    parked: bool,
    streamed: bool,
}

impl State {
    fn unread(&self) -> u64 {
        self.sent - self.delivered
    }

    fn is_full(&self) -> bool {
        let unread = self.unread();
        let many = unread >= QUEUE_FRAMES_MAX as u64 || (self.bytes >= OUTBOX_BYTES_MAX && unread > 0);
        self.reader != 0 && many && !self.finished
    }

    /// Forgets the oldest events that nobody can be waiting for, down to the limits.
    fn trim(&mut self) {
        while self.log.len() > 1 && (self.log.len() > REPLAY_EVENTS_MAX || self.bytes > REPLAY_BYTES_MAX) {
            let unread = self.log.front().is_some_and(|event| event.number > self.delivered);
            if unread && self.reader != 0 {
                return;
            }
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some(event) = self.log.pop_front() {
            self.bytes -= event.json.len();
            self.delivered = self.delivered.max(event.number);
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl AnswerStream {
    pub(crate) fn new(number: u64, keep: Keep, tap: Option<Tap>) -> Arc<Self> {
        Arc::new(Self { number, keep, tap, state: Mutex::default(), room: Notify::new() })
    }

    /// Begins to read after event `after`, or where the last reader stopped. A reader that is there already has to leave.
    pub(crate) fn attach(self: &Arc<Self>, after: Option<u64>) -> Reader {
        let mut state = lock(&self.state);
        state.readers += 1;
        state.reader = state.readers;
        state.parked = false;
        state.wake();
        let place = after.unwrap_or(state.delivered).min(state.sent);
        Reader { stream: self.clone(), reader: state.reader, place }
    }

    /// Whether sending would have to wait.
    pub(crate) fn is_full(&self) -> bool {
        lock(&self.state).is_full()
    }

    /// Sends at once; the caller has looked whether there is room.
    pub(crate) fn push(&self, json: Bytes) {
        self.accept(|number| Event { number, json, last: false });
    }

    /// Sends the answer, for which there is always room. Nothing comes after it.
    pub(crate) fn push_last(&self, json: Bytes) {
        self.accept(|number| Event { number, json, last: true });
    }

    fn accept(&self, event: impl FnOnce(u64) -> Event) {
        let mut state = lock(&self.state);
        if state.finished {
            return;
        }
        state.sent += 1;
        let event = event(state.sent);
        if let Some(tap) = &self.tap {
            tap(Direction::Sent, &event.json);
        }
        state.bytes += event.json.len();
        state.finished = event.last;
        state.log.push_back(event);
        state.trim();
        state.wake();
    }

    /// Sends, waiting for room.
    pub(crate) async fn send(&self, json: Bytes) {
        loop {
            let room = self.room.notified();
            if !self.is_full() {
                return self.push(json);
            }
            room.await;
        }
    }

    /// Ends it without an answer.
    pub(crate) fn withdraw(&self) {
        let mut state = lock(&self.state);
        state.finished = true;
        state.wake();
        drop(state);
        self.room.notify_waiters();
    }

    /// Sends the reader away; it may come back for the rest.
    pub(crate) fn park(&self) -> bool {
        let mut state = lock(&self.state);
        if self.keep == Keep::Nothing || state.finished {
            return false;
        }
        state.parked = true;
        if state.streamed {
            state.reader = 0;
        }
        state.wake();
        drop(state);
        self.room.notify_waiters();
        true
    }

    /// From now on it travels as a stream of events, so that a lost reader knows where it was.
    pub(crate) fn begin_streaming(&self) {
        let mut state = lock(&self.state);
        state.streamed = true;
        if state.parked {
            state.reader = 0;
        }
    }

    /// Whether somebody may come back for it.
    pub(crate) fn is_resumable(&self) -> bool {
        let state = lock(&self.state);
        self.keep == Keep::ForReplay && (state.streamed || state.parked || state.sent > 1)
    }

    pub(crate) fn is_read(&self) -> bool {
        lock(&self.state).reader != 0
    }

    pub(crate) fn has_begun(&self) -> bool {
        lock(&self.state).sent > 0
    }

    /// Events and bytes kept.
    pub(crate) fn kept(&self) -> (usize, usize) {
        let state = lock(&self.state);
        (state.log.len(), state.bytes)
    }
}

/// Reads a stream from one place on.
pub(crate) struct Reader {
    pub(crate) stream: Arc<AnswerStream>,
    reader: u64,
    /// The last event read.
    pub(crate) place: u64,
}

impl Reader {
    /// What the stream turns out to be.
    pub(crate) fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<First> {
        let mut state = lock(&self.stream.state);
        let only_answer = state.log.front().is_some_and(|event| event.last && event.number == 1);
        if only_answer && !state.parked {
            state.delivered = 1;
            return Poll::Ready(state.log.pop_front().map_or(First::Nothing, |event| First::Answer(event.json)));
        }
        if state.parked || !state.log.is_empty() {
            return Poll::Ready(First::Stream);
        }
        if state.finished || state.reader != self.reader {
            return Poll::Ready(First::Nothing);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The next event; `None` when there is no more for this reader.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut state = lock(&self.stream.state);
        if state.reader != self.reader {
            return Poll::Ready(None);
        }
        let first = state.log.front().map_or(u64::MAX, |event| event.number);
        let at = usize::try_from((self.place + 1).saturating_sub(first)).unwrap_or(usize::MAX);
        if let Some(event) = state.log.get(at).cloned() {
            self.place = event.number;
            state.delivered = state.delivered.max(event.number);
            if self.stream.keep == Keep::Nothing {
                state.pop();
            } else {
                state.trim();
            }
            drop(state);
            self.stream.room.notify_waiters();
            return Poll::Ready(Some(event));
        }
        if state.finished {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = lock(&self.stream.state);
        if state.reader == self.reader {
            state.reader = 0;
            state.waker = None;
            drop(state);
            self.stream.room.notify_waiters(); // Nobody has to wait for a reader who is gone.
        }
    }
}

/// News of a request of 2026-07-28 go onto its own stream; there are no requests to the client.
impl Outlet for AnswerStream {
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            if !self.is_read() {
                return Err(Error::closed("the client has left"));
            }
            self.send(notification_bytes(notification)).await;
            Ok(())
        })
    }

    fn call(&self, _call: Call) -> BoxFuture<'_, Result<RawJson>> {
        Box::pin(std::future::ready(Err(cannot_ask())))
    }

    fn park(&self) -> bool {
        false
    }
}
