//! `Peer`: the symmetric JSON-RPC peer. It owns the calls that wait for answers and the requests that run for the other side.
//!
//! What it promises: notifications reach the handler in the order they arrived and before the response that follows them; every call
//! ends — with its answer, at one of its two time limits, or when the connection closes; a dropped call is cancelled at the other
//! side; a message nobody can use is counted and reported, and the connection goes on.

use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::call::{Call, CallId, OwnNumber, Progress};
use crate::error::{Error, Result, RpcError};
use crate::incoming::{BatchReply, Incoming, Running};
use crate::limits::{LimitBreach, PENDING_CALLS_MAX};
use crate::link::{Inbound, Link, Outgoing};
use crate::message::{Defect, DefectKind, Frame, Id, Message, Notification, Response};
use crate::raw::RawJson;

/// What one side does with what the other side sends.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request. Dropping the future is how a request is cancelled.
    fn request(&self, incoming: Incoming) -> BoxFuture<'static, Result<RawJson, RpcError>>;

    /// Takes a notification. Called in order of arrival; must not block.
    fn notification(&self, notification: Notification, origin: Origin);

    /// Hears of a message that could not be used.
    fn defect(&self, defect: &Defect) {
        tracing::debug!(%defect, "unusable message");
    }

    /// What the other side is told about something unusable that it sent; a server says so, a client keeps quiet.
    fn complaint(&self, _defect: &Defect) -> Option<RpcError> {
        None
    }

    /// Hears that the other side has forgotten us, or cannot be reached any more; what runs may still be answered.
    fn lost(&self, why: &Error) {
        tracing::debug!(%why, "connection lost");
    }

    /// Hears that the connection ended.
    fn closed(&self, why: &Error) {
        tracing::debug!(%why, "connection closed");
    }
}

/// Where a notification came from.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// The call of ours on whose answer stream it arrived, where the transport can tell.
    pub about: Option<CallId>,
}

/// Sees every frame in both directions, for a person who wants to look at the wire.
pub type Tap = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// Which way a frame went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the other side.
    Sent,
    /// From the other side.
    Received,
}

/// How many unusable messages arrived, by kind.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tally(HashMap<DefectKind, u64>);

impl Tally {
    /// How many of one kind.
    pub fn of(&self, kind: DefectKind) -> u64 {
        self.0.get(&kind).copied().unwrap_or_default()
    }

    /// How many in all.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

/// One side of a connection. Cheap to clone; the connection closes when the last clone is dropped.
#[derive(Clone)]
pub struct Peer(Arc<Owner>);

/// Closes the connection when nobody holds it any more. Tasks of the connection hold the core, never the owner.
struct Owner {
    core: Arc<Core>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.core.close(&Error::closed("closed by this side"));
    }
}

impl Peer {
    /// Joins a handler to a transport. `open` is given where to deliver and returns the way out.
    pub fn start(handler: Arc<dyn Handler>, tap: Option<Tap>, open: impl FnOnce(Inbound) -> Arc<dyn Link>) -> Self {
        let core = Arc::new(Core {
            handler,
            tap,
            link: OnceLock::new(),
            next_call: AtomicU64::new(1),
            waiting: Mutex::default(),
            running: Running::default(),
            tally: Mutex::new(Tally::default()),
            heard: AtomicU64::new(0),
            closed: OnceLock::new(),
            closing: Notify::new(),
        });
        let link = open(Inbound::new(&core));
        let _was_unset = core.link.set(link).is_ok();
        Self(Arc::new(Owner { core }))
    }

    /// The id that the next call would like to have; pass it to [`Call::id`] when the parameters must name it.
    pub fn next_call_id(&self) -> CallId {
        self.0.core.next_call_id()
    }

    /// Calls the other side and waits for the answer. Dropping the future cancels the call there.
    pub async fn call(&self, call: Call) -> Result<RawJson> {
        self.0.core.call(call).await
    }

    /// Sends several requests as one batch (2025-03-26) and waits for all answers.
    pub async fn call_batch(&self, calls: Vec<Call>) -> Result<Vec<Result<RawJson>>> {
        self.0.core.call_batch(calls).await
    }

    /// Tells the other side something.
    pub async fn notify(&self, notification: Notification) -> Result<()> {
        self.0.core.send(Outgoing::one(Message::Notification(notification))).await
    }

    /// Whether the connection has ended, and how.
    pub fn close_reason(&self) -> Option<Error> {
        self.0.core.closed.get().cloned()
    }

    /// Waits until the connection has ended.
    pub async fn closed(&self) -> Error {
        self.0.core.wait_closed().await
    }

    /// How many unusable messages arrived so far.
    pub fn tally(&self) -> Tally {
        lock(&self.0.core.tally).clone()
    }

    /// How many frames arrived so far, of whatever kind: one more is a sign of life.
    pub fn heard(&self) -> u64 {
        self.0.core.heard.load(Ordering::Relaxed)
    }

    /// Ends the connection in order: waiting calls fail, what was sent is written, the transport is closed.
    pub async fn close(&self) {
        let core = &self.0.core;
        core.end(&Error::closed("closed by this side")); // First, so that what closing causes is not taken for the reason.
        core.running.wait_for_unattended().await; // Whoever gave a call up a moment ago wants the other side to hear of it.
        core.opened_link().close().await;
    }

    /// Makes a call whose answer nobody waits for.
    pub(crate) fn call_soon(&self, call: &Call) {
        self.0.core.call_soon(call);
    }

    /// This peer, without keeping it alive.
    pub(crate) fn downgrade(&self) -> WeakPeer {
        WeakPeer(Arc::downgrade(&self.0.core))
    }

    /// Where frames that arrive by another road are delivered.
    pub(crate) fn inbound(&self) -> Inbound {
        Inbound::new(&self.0.core)
    }
}

/// A peer that may be spoken to, but is not kept alive by it.
#[derive(Clone)]
pub(crate) struct WeakPeer(Weak<Core>);

impl WeakPeer {
    /// Tells the other side something, if it is still there.
    pub(crate) async fn notify(&self, notification: Notification) -> Result<()> {
        let core = self.0.upgrade().ok_or_else(|| Error::closed("the connection is gone"))?;
        core.send(Outgoing::one(Message::Notification(notification))).await
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("waiting", &lock(&self.0.core.waiting).len()).finish_non_exhaustive()
    }
}

/// A call that waits for its answer.
pub(crate) struct Waiting {
    pub(crate) answer: oneshot::Sender<Result<RawJson>>,
    pub(crate) progress: Option<Progress>,
    /// The last sign of life.
    pub(crate) touched: Instant,
}

/// The inside of a peer, shared by its handles, its calls and its transport.
pub(crate) struct Core {
    handler: Arc<dyn Handler>,
    tap: Option<Tap>,
    link: OnceLock<Arc<dyn Link>>,
    next_call: AtomicU64,
    pub(crate) waiting: Mutex<HashMap<CallId, Waiting, BuildHasherDefault<OwnNumber>>>,
    pub(crate) running: Running,
    tally: Mutex<Tally>,
    /// How many frames arrived.
    heard: AtomicU64,
    closed: OnceLock<Error>,
    closing: Notify,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Core")
    }
}

/// A lock whose holder never panics while holding it; should one do so, the data is still whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Core {
    pub(crate) fn next_call_id(&self) -> CallId {
        self.next_call.fetch_add(1, Ordering::Relaxed)
    }

    /// The link. A transport may deliver before [`Peer::start`] has got hold of it, from another thread; that moment is waited out, since
    /// an answer without a link would be lost.
    fn opened_link(&self) -> &Arc<dyn Link> {
        self.link.wait()
    }

    pub(crate) fn link(&self) -> Result<&Arc<dyn Link>> {
        if let Some(why) = self.closed.get() {
            return Err(why.clone());
        }
        Ok(self.opened_link())
    }

    pub(crate) async fn send(&self, outgoing: Outgoing) -> Result<()> {
        self.show(&outgoing);
        self.link()?.send(outgoing).await
    }

    /// Sends from a place that cannot wait; what finds no room waits in a task of its own, which keeps `held` meanwhile.
    pub(crate) fn send_soon(self: &Arc<Self>, outgoing: Outgoing, held: impl Send + 'static) {
        self.show(&outgoing);
        let Ok(link) = self.link() else { return };
        if let Some(outgoing) = link.try_send(outgoing) {
            let link = link.clone();
            tokio::spawn(async move {
                let _sent = link.send(outgoing).await.is_ok();
                drop(held);
            });
        }
    }

    pub(crate) fn show(&self, outgoing: &Outgoing) {
        if let Some(tap) = &self.tap {
            tap(Direction::Sent, &outgoing.to_bytes());
        }
    }

    /// Enters a call among those that wait.
    pub(crate) fn enter(
        &self,
        id: CallId,
        progress: Option<Progress>,
        now: Instant,
    ) -> Result<oneshot::Receiver<Result<RawJson>>> {
        let (answer, receiver) = oneshot::channel();
        let mut waiting = lock(&self.waiting);
        if let Some(why) = self.closed.get() {
            return Err(why.clone());
        }
        if waiting.len() >= PENDING_CALLS_MAX {
            return Err(Error::Limit(LimitBreach::new(
                "PENDING_CALLS_MAX",
                PENDING_CALLS_MAX,
                "calls waiting for an answer",
            )));
        }
        waiting.insert(id, Waiting { answer, progress, touched: now });
        Ok(receiver)
    }

    /// Takes a call out again; `false` when its answer has already been delivered.
    pub(crate) fn leave(&self, id: CallId) -> bool {
        lock(&self.waiting).remove(&id).is_some()
    }

    pub(crate) fn lost(&self, why: &Error) {
        self.handler.lost(why);
    }

    pub(crate) fn is_waiting(&self, id: CallId) -> bool {
        lock(&self.waiting).contains_key(&id)
    }

    /// Takes one frame from the transport.
    pub(crate) fn receive(self: &Arc<Self>, bytes: &Bytes, calls: &[CallId]) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        if let Some(tap) = &self.tap {
            tap(Direction::Received, bytes);
        }
        match Frame::read(bytes) {
            Ok(frame) => self.take_frame(frame, calls),
            Err(defect) => self.refuse(&on_stream_of(calls, defect)),
        }
    }

    /// Takes one frame that the transport has read already.
    pub(crate) fn receive_read(self: &Arc<Self>, frame: Frame, bytes: &Bytes) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        if let Some(tap) = &self.tap {
            tap(Direction::Received, bytes);
        }
        self.take_frame(frame, &[]);
    }

    fn take_frame(self: &Arc<Self>, frame: Frame, calls: &[CallId]) {
        match frame {
            Frame::One(message) => self.take(message, calls, None),
            Frame::Batch(entries) => {
                let requests = entries.iter().filter(|entry| matches!(entry, Ok(Message::Request(_)))).count();
                let reply = BatchReply::new(requests);
                for entry in entries {
                    match entry {
                        Ok(message) => self.take(message, calls, Some(&reply)),
                        Err(defect) => self.report(&on_stream_of(calls, defect)),
                    }
                }
            }
        }
    }

    fn take(self: &Arc<Self>, message: Message, calls: &[CallId], batch: Option<&Arc<BatchReply>>) {
        match message {
            Message::Response(response) => self.answered(response, calls),
            Message::Notification(notification) => self.notified(notification, calls.first().copied()),
            Message::Request(request) => {
                Incoming::run(self, &self.handler, request, batch.cloned());
            }
        }
    }

    fn answered(&self, response: Response, calls: &[CallId]) {
        // An error without an id that came on a call's own stream can only be that call's answer.
        let Some(id) = response.id.as_ref().map_or_else(|| calls.first().copied(), Id::as_number) else {
            let kind = if response.id.is_some() { DefectKind::UnknownId } else { DefectKind::WithoutId };
            let detail = response.outcome.map_or_else(|error| error.to_string(), |_| format!("{:?}", response.id));
            self.report(&Defect::new(kind, detail));
            return;
        };
        // Nor is an answer on the stream of one call that of another one.
        let is_strange = !calls.is_empty() && !calls.contains(&id);
        let waiting = if is_strange { None } else { lock(&self.waiting).remove(&id) };
        let Some(waiting) = waiting else {
            let sent = !is_strange && id < self.next_call.load(Ordering::Relaxed);
            let kind = if sent { DefectKind::LateResponse } else { DefectKind::UnknownId };
            self.report(&Defect::new(kind, format!("id {id}")));
            return;
        };
        let _caller_is_gone = waiting.answer.send(response.outcome.map_err(Error::Rpc)).is_err();
    }

    fn notified(&self, notification: Notification, about: Option<CallId>) {
        match &*notification.method {
            "notifications/cancelled" => {
                if let Some(id) = notification.params.as_ref().and_then(|params| params.member("requestId"))
                    && let Some(id) = Id::from_raw(&id)
                {
                    self.running.cancel(&id);
                }
            }
            "notifications/progress" => {
                let token = notification.params.as_ref().and_then(|params| params.member("progressToken"));
                let call = token.and_then(|token| Id::from_raw(&token)).and_then(|id| id.as_number());
                if self.progressed(call, &notification) {
                    return;
                }
            }
            _ => {}
        }
        self.handler.notification(notification, Origin { about });
    }

    /// Gives progress to the call that asked for it; `false` when no such call waits.
    fn progressed(&self, call: Option<CallId>, notification: &Notification) -> bool {
        let mut waiting = lock(&self.waiting);
        let Some(call) = call.and_then(|call| waiting.get_mut(&call)) else { return false };
        call.touched = Instant::now();
        let Some(progress) = call.progress.clone() else { return true };
        drop(waiting); // The callback may call back into the peer.
        progress(notification);
        true
    }

    /// Counts and reports a message that could not be used, and ends the call it belongs to.
    pub(crate) fn report(&self, defect: &Defect) {
        *lock(&self.tally).0.entry(defect.kind).or_default() += 1;
        if matches!(defect.kind, DefectKind::NotJson | DefectKind::NotAMessage | DefectKind::TooLarge)
            && let Some(waiting) =
                defect.id.as_ref().and_then(Id::as_number).and_then(|id| lock(&self.waiting).remove(&id))
        {
            let _caller_is_gone =
                waiting.answer.send(Err(Error::protocol(format!("unusable answer: {defect}")))).is_err();
        }
        self.handler.defect(defect);
    }

    /// Reports a frame that could not be used, and tells the other side where the handler wants that.
    pub(crate) fn refuse(&self, defect: &Defect) {
        self.report(defect);
        if let Some(error) = self.handler.complaint(defect)
            && let Ok(link) = self.link()
        {
            let complaint = Outgoing::one(Message::Response(Response { id: None, outcome: Err(error) }));
            self.show(&complaint);
            // Who sends what cannot be used and does not read either is told nothing.
            let _had_no_room = link.try_send(complaint).is_some();
        }
    }

    /// Ends everything and closes the transport in the background.
    pub(crate) fn close(&self, why: &Error) {
        if self.end(why)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let link = self.opened_link().clone();
            runtime.spawn(async move { link.close().await });
        }
    }

    /// Ends everything but the transport: waiting calls fail with `why`, running requests are dropped. `false` when that was done before.
    fn end(&self, why: &Error) -> bool {
        if self.closed.set(why.clone()).is_err() {
            return false; // The first reason is the true one.
        }
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for (_, call) in waiting {
            let _caller_is_gone = call.answer.send(Err(why.clone())).is_err();
        }
        self.running.cancel_all();
        self.closing.notify_waiters();
        self.handler.closed(why);
        true
    }

    async fn wait_closed(&self) -> Error {
        loop {
            let closing = self.closing.notified();
            if let Some(why) = self.closed.get() {
                return why.clone();
            }
            closing.await;
        }
    }
}

/// What cannot be used on the stream of some calls ends none but them.
fn on_stream_of(calls: &[CallId], mut defect: Defect) -> Defect {
    let Some(first) = calls.first() else { return defect };
    let id = defect.id.as_ref().map_or(Some(*first), Id::as_number);
    defect.id = id.filter(|id| calls.contains(id)).map(Id::number);
    defect
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
