//! Sessions of the older versions over HTTP: which there are, and where in each the messages of its peer go.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::request::Parts;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::answer::{AnswerStream, Keep};
use crate::error::{Error, Result};
use crate::limits::{REPLAY_BYTES_MAX, REPLAY_EVENTS_MAX, SESSIONS_MAX};
use crate::link::{Link, Messages, Outgoing};
use crate::message::{Id, Message, Response};
use crate::peer::{Peer, lock};
use crate::server::ServerCore;
use crate::server::session::Session;

/// One session.
pub(super) struct HttpSession {
    pub(super) id: String,
    pub(super) peer: Peer,
    pub(super) link: Arc<SessionLink>,
    pub(super) session: Arc<Session>,
    touched: Mutex<Instant>,
}

impl HttpSession {
    /// A session that is not known to anybody yet; `None` when the system has no randomness to name it.
    pub(super) fn new(core: &Arc<ServerCore>) -> Option<Arc<Self>> {
        let id = random_name()?;
        let link = Arc::new(SessionLink::default());
        let (peer, session) = core.connect(|_| link.clone());
        Some(Arc::new(Self { id, peer, link, session, touched: Mutex::new(Instant::now()) }))
    }

    pub(super) fn touch(&self) {
        *lock(&self.touched) = Instant::now();
    }

    fn is_over(&self, idle: Duration) -> bool {
        !self.link.is_busy() && lock(&self.touched).elapsed() >= idle
    }

    /// The smallest one gives way first: idle before busy, and of those the one touched longest ago.
    fn standing(&self) -> (bool, Instant) {
        (self.link.is_busy(), *lock(&self.touched))
    }
}

/// 128 bits in hexadecimal.
pub(super) fn random_name() -> Option<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bits)))
}

/// All sessions of one service.
#[derive(Default)]
pub(super) struct Sessions {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    open: HashMap<String, Arc<HttpSession>>,
    /// Who looks after those that nobody uses, as long as there are any.
    sweeper: Option<AbortHandle>,
}

impl Drop for Known {
    fn drop(&mut self) {
        if let Some(sweeper) = &self.sweeper {
            sweeper.abort(); // It sleeps for minutes and would be all that is left of the service.
        }
    }
}

impl Sessions {
    pub(super) fn find(&self, id: &str) -> Option<Arc<HttpSession>> {
        let session = lock(&self.known).open.get(id).cloned()?;
        session.touch();
        Some(session)
    }

    /// Takes in a session. When there are too many, the one that has been idle longest gives way.
    pub(super) fn add(self: &Arc<Self>, session: Arc<HttpSession>, idle: Duration) {
        let mut known = lock(&self.known);
        let given_way = if known.open.len() >= SESSIONS_MAX {
            let longest =
                known.open.values().min_by_key(|session| session.standing()).map(|session| session.id.clone());
            longest.and_then(|id| known.open.remove(&id))
        } else {
            None
        };
        known.open.insert(session.id.clone(), session);
        if known.sweeper.is_none() {
            known.sweeper = Some(tokio::spawn(sweep(Arc::downgrade(self), idle)).abort_handle());
        }
        drop(known);
        if let Some(session) = given_way {
            session.link.close_all(); // Outside the lock.
        }
    }

    /// Ends a session; `false` when there is none of that name.
    pub(super) fn remove(&self, id: &str) -> bool {
        let session = lock(&self.known).open.remove(id);
        session.is_some_and(|session| {
            session.link.close_all();
            true
        })
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.known).open.len()
    }

    pub(super) fn remove_all(&self) {
        let all = std::mem::take(&mut lock(&self.known).open);
        all.values().for_each(|session| session.link.close_all());
    }
}

/// Ends sessions that nobody uses any more, as long as there are any.
async fn sweep(sessions: Weak<Sessions>, idle: Duration) {
    loop {
        tokio::time::sleep(idle / 4).await;
        let Some(sessions) = sessions.upgrade() else { return };
        let mut known = lock(&sessions.known);
        let over: Vec<_> =
            known.open.values().filter(|session| session.is_over(idle)).map(|session| session.id.clone()).collect();
        let ended: Vec<_> = over.iter().filter_map(|id| known.open.remove(id)).collect();
        let over = known.open.is_empty();
        if over {
            known.sweeper = None;
        }
        drop(known);
        ended.iter().for_each(|session| session.link.close_all());
        if over {
            return;
        }
    }
}

/// Brings each message of a session's peer onto the stream it belongs to.
pub(super) struct SessionLink {
    /// For what belongs to no request.
    pub(super) standalone: Arc<AnswerStream>,
    next: AtomicU64,
    streams: Mutex<Streams>,
}

impl Default for SessionLink {
    fn default() -> Self {
        let standalone = AnswerStream::new(0, Keep::ForReplay, None);
        Self { standalone, next: AtomicU64::new(1), streams: Mutex::default() }
    }
}

#[derive(Default)]
struct Streams {
    running: HashMap<Id, Running>,
    by_number: HashMap<u64, Arc<AnswerStream>>,
    /// Streams that are complete, oldest first, kept for those who lost them.
    finished: VecDeque<Arc<AnswerStream>>,
    closed: bool,
}

impl Streams {
    /// A stream is complete; it is kept if somebody may come back for it.
    fn finish(&mut self, stream: &Arc<AnswerStream>) {
        if !stream.is_resumable() {
            self.by_number.remove(&stream.number);
            return;
        }
        self.finished.push_back(stream.clone());
        let (mut events, mut bytes) = (0, 0);
        for kept in self.finished.iter().map(|stream| stream.kept()) {
            events += kept.0;
            bytes += kept.1;
        }
        while self.finished.len() > 1 && (events > REPLAY_EVENTS_MAX || bytes > REPLAY_BYTES_MAX) {
            let Some(oldest) = self.finished.pop_front() else { break };
            self.by_number.remove(&oldest.number);
            let kept = oldest.kept();
            events -= kept.0;
            bytes -= kept.1;
        }
    }
}

struct Running {
    stream: Arc<AnswerStream>,
    http: Arc<Parts>,
}

impl SessionLink {
    /// Opens the stream for the answers to these requests; `None` when one of them runs already.
    pub(super) fn open(&self, ids: &[Id], http: Parts) -> Option<Arc<AnswerStream>> {
        let mut streams = lock(&self.streams);
        if streams.closed || ids.iter().any(|id| streams.running.contains_key(id)) {
            return None;
        }
        let stream = AnswerStream::new(self.next.fetch_add(1, Ordering::Relaxed), Keep::ForReplay, None);
        let http = Arc::new(http);
        for id in ids {
            streams.running.insert(id.clone(), Running { stream: stream.clone(), http: http.clone() });
        }
        streams.by_number.insert(stream.number, stream.clone());
        Some(stream)
    }

    /// The stream of that number, if it is still known.
    pub(super) fn stream(&self, number: u64) -> Option<Arc<AnswerStream>> {
        if number == self.standalone.number {
            return Some(self.standalone.clone());
        }
        lock(&self.streams).by_number.get(&number).cloned()
    }

    /// Where a message goes: to its request, or to nobody in particular.
    fn route(&self, about: Option<&Id>) -> Arc<AnswerStream> {
        let found = about.and_then(|id| lock(&self.streams).running.get(id).map(|running| running.stream.clone()));
        found.unwrap_or_else(|| self.standalone.clone())
    }

    /// Nothing more comes for any request of this stream.
    fn finish(&self, stream: &Arc<AnswerStream>) {
        let mut streams = lock(&self.streams);
        streams.running.retain(|_, running| !Arc::ptr_eq(&running.stream, stream));
        streams.finish(stream);
    }

    fn is_busy(&self) -> bool {
        self.standalone.is_read() || !lock(&self.streams).running.is_empty()
    }

    pub(super) fn close_all(&self) {
        let mut streams = lock(&self.streams);
        streams.closed = true;
        streams.running.clear();
        let open = std::mem::take(&mut streams.by_number);
        streams.finished.clear();
        drop(streams);
        open.values().chain([&self.standalone]).for_each(|stream| stream.withdraw());
    }

    fn push(&self, stream: &Arc<AnswerStream>, outgoing: &Outgoing) {
        if !is_answer(&outgoing.messages) || stream.number == self.standalone.number {
            return stream.push(outgoing.to_bytes());
        }
        stream.push_last(outgoing.to_bytes());
        match &outgoing.messages {
            Messages::One(Message::Response(Response { id: Some(id), .. })) => {
                let mut streams = lock(&self.streams);
                streams.running.remove(id);
                streams.finish(stream);
            }
            _ => self.finish(stream),
        }
    }
}

fn is_answer(messages: &Messages) -> bool {
    match messages {
        Messages::One(message) => matches!(message, Message::Response(_)),
        Messages::Batch(messages) => messages.iter().all(|message| matches!(message, Message::Response(_))),
    }
}

impl Link for SessionLink {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            if lock(&self.streams).closed {
                return Err(Error::closed("the session has ended"));
            }
            if !outgoing.begins_to_leave() {
                return Ok(());
            }
            let stream = self.route(outgoing.about.as_ref());
            if is_answer(&outgoing.messages) {
                self.push(&stream, &outgoing);
            } else {
                stream.send(outgoing.to_bytes()).await;
            }
            Ok(())
        })
    }

    fn try_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        let stream = self.route(outgoing.about.as_ref());
        if !is_answer(&outgoing.messages) && stream.is_full() {
            return Some(outgoing);
        }
        if outgoing.begins_to_leave() {
            self.push(&stream, &outgoing);
        }
        None
    }

    fn cancels_with_message(&self) -> bool {
        true
    }

    fn withdraw(&self, request: &Id) {
        let stream = self.route(Some(request));
        if stream.number != self.standalone.number {
            stream.withdraw();
            self.finish(&stream);
        }
    }

    fn park(&self, request: &Id) -> bool {
        let stream = self.route(Some(request));
        stream.number != self.standalone.number && stream.park()
    }

    fn http(&self, request: &Id) -> Option<Arc<Parts>> {
        lock(&self.streams).running.get(request).map(|running| running.http.clone())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.close_all();
        Box::pin(async {})
    }
}
