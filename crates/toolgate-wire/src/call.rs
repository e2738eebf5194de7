//! `Call`: one request to the other side, its two time limits, its progress, and what happens when it is given up.

use std::fmt;
use std::hash::Hasher;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use crate::departure::{Departure, SendMark};
use crate::error::{Error, Result};
use crate::limits::{REQUEST_IDLE_MS, REQUEST_TOTAL_MS};
use crate::link::Outgoing;
use crate::message::{Id, Message, Method, Notification, Request};
use crate::peer::{Core, lock};
use crate::raw::RawJson;

/// The number under which a call of ours waits.
pub type CallId = u64;

/// Hashes the numbers of our own calls, which nobody else chooses and which follow each other.
#[derive(Default)]
pub(crate) struct OwnNumber(u64);

impl Hasher for OwnNumber {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The upper bits choose within a group of the table, so they have to differ as well.
        self.0 = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// Hears the progress of one call, in order, before the call ends. Must not block.
pub type Progress = Arc<dyn Fn(&Notification) + Send + Sync>;

/// One request to the other side.
#[derive(Clone)]
pub struct Call {
    method: Method,
    params: Option<RawJson>,
    /// What the parameters name, where that is known without reading them.
    name: Option<String>,
    id: Option<CallId>,
    idle: Duration,
    total: Duration,
    /// When it has to have ended; that long after it is made, where nobody has begun it before.
    ends: Option<Instant>,
    progress: Option<Progress>,
    about: Option<Id>,
    headers: Vec<(HeaderName, HeaderValue)>,
    silent_when_dropped: bool,
    mark: Option<SendMark>,
}

impl Call {
    /// A call of `method`, with the default time limits.
    pub fn new(method: impl Into<Method>, params: Option<RawJson>) -> Self {
        Self {
            method: method.into(),
            params,
            name: None,
            id: None,
            idle: Duration::from_millis(REQUEST_IDLE_MS),
            total: Duration::from_millis(REQUEST_TOTAL_MS),
            ends: None,
            progress: None,
            about: None,
            headers: Vec::new(),
            silent_when_dropped: false,
            mark: None,
        }
    }

    /// What is called.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// With what.
    pub fn params(&self) -> Option<&RawJson> {
        self.params.as_ref()
    }

    /// The same call with other parameters.
    #[must_use]
    pub fn with_params(mut self, params: Option<RawJson>) -> Self {
        self.params = params;
        self
    }

    /// Says what the parameters name, so that they need not be read for it.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Uses an id taken from [`Peer::next_call_id`](crate::Peer::next_call_id).
    #[must_use]
    pub fn id(mut self, id: CallId) -> Self {
        self.id = Some(id);
        self
    }

    /// How long it may stay without a sign of life; progress resets it, and so does a question of the other side, for as long as it is
    /// being answered.
    #[must_use]
    pub fn idle_limit(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// How long it may take in all.
    #[must_use]
    pub fn total_limit(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }

    /// Begins it: how long it may take in all counts from now on, over every request that it takes. Beginning it again changes nothing.
    #[must_use]
    pub fn begun(mut self) -> Self {
        self.ends = Some(self.ends_at());
        self
    }

    /// How much of its time is left.
    pub fn time_left(&self) -> Duration {
        self.ends_at().saturating_duration_since(Instant::now())
    }

    fn ends_at(&self) -> Instant {
        self.ends.unwrap_or_else(|| Instant::now() + self.total)
    }

    /// Waits for something that this call takes, for as long as it may take in all.
    pub(crate) async fn in_time<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::time::timeout_at(self.ends_at(), work).await.unwrap_or_else(|_| Err(self.timed_out(false)))
    }

    /// When it has waited long enough, with the last sign of life at `touched`; whether that is for want of another.
    pub(crate) fn patience(&self, touched: Instant) -> (Instant, bool) {
        let (idle_end, total_end) = (touched + self.idle, self.ends_at());
        (idle_end.min(total_end), idle_end < total_end)
    }

    /// Hears the progress of this call.
    #[must_use]
    pub fn on_progress(mut self, progress: impl Fn(&Notification) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Sets `mark` before a byte of this call can have left. It stays unset when the call ends without having left.
    #[must_use]
    pub fn mark(mut self, mark: &SendMark) -> Self {
        self.mark = Some(mark.clone());
        self
    }

    pub(crate) fn wants_progress(&self) -> bool {
        self.progress.is_some()
    }

    pub(crate) fn about(mut self, about: Option<Id>) -> Self {
        self.about = about;
        self
    }

    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Not announced as cancelled when dropped: the handshake must never be.
    pub(crate) fn silent_when_dropped(mut self) -> Self {
        self.silent_when_dropped = true;
        self
    }

    fn message(&self, id: CallId) -> Message {
        Message::Request(Request { id: Id::number(id), method: self.method.clone(), params: self.params.clone() })
    }

    fn outgoing(&self, id: CallId) -> Outgoing {
        let mut outgoing = Outgoing::one(self.message(id)).about(self.about.clone());
        outgoing.headers.clone_from(&self.headers);
        outgoing.name.clone_from(&self.name);
        outgoing.departure = Departure::of(self.mark.iter().cloned().collect());
        outgoing
    }

    pub(crate) fn timed_out(&self, idle: bool) -> Error {
        Error::TimedOut { method: self.method.clone(), after: if idle { self.idle } else { self.total }, idle }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.method).field("params", &self.params).finish_non_exhaustive()
    }
}

/// Withdraws a call that ends before it has left, and cancels one at the other side that is dropped before its answer came.
struct Unfinished<'a> {
    core: &'a Arc<Core>,
    id: CallId,
    departure: Option<Arc<Departure>>,
    silent: bool,
    reason: &'static str,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let gave_up = self.core.leave(self.id);
        let never_left = self.departure.as_ref().is_some_and(|departure| departure.withdraw());
        if !gave_up || never_left || self.silent || !self.core.link().is_ok_and(|link| link.cancels_with_message()) {
            return;
        }
        let params = serde_json::json!({"requestId": self.id, "reason": self.reason});
        let cancelled = Notification::new("notifications/cancelled", Some(params.into()));
        let outgoing = Outgoing::one(Message::Notification(cancelled));
        match self.core.running.unattended.clone().try_acquire_owned() {
            Ok(permit) => self.core.send_soon(outgoing, permit),
            // Many cancellations wait already: the other side reads nothing any more.
            Err(_) => tracing::debug!(call = self.id, "no room to say that a call is cancelled"),
        }
    }
}

impl Core {
    pub(crate) async fn call(self: &Arc<Self>, call: Call) -> Result<RawJson> {
        let call = call.begun();
        let id = call.id.unwrap_or_else(|| self.next_call_id());
        let started = Instant::now();
        let answer = self.enter(id, call.progress.clone(), started)?;
        let outgoing = call.outgoing(id);
        self.exchange(id, &call, outgoing, (started, answer)).await
    }

    /// Makes a call whose answer nobody waits for. Where the transport needs no waiting, it is on its way when this returns.
    pub(crate) fn call_soon(self: &Arc<Self>, call: &Call) {
        let (Ok(runtime), Ok(room)) =
            (tokio::runtime::Handle::try_current(), self.running.unattended.clone().try_acquire_owned())
        else {
            return;
        };
        let id = call.id.unwrap_or_else(|| self.next_call_id());
        let Ok(answer) = self.enter(id, None, Instant::now()) else { return };
        self.send_soon(call.outgoing(id), room);
        let (core, limit) = (self.clone(), call.idle);
        runtime.spawn(async move {
            // Waited for, so that it is not taken for an answer that came too late.
            let _is_told = tokio::time::timeout(limit, answer).await.is_ok();
            core.leave(id);
        });
    }

    async fn exchange(
        self: &Arc<Self>,
        id: CallId,
        call: &Call,
        outgoing: Outgoing,
        (started, mut answer): (Instant, oneshot::Receiver<Result<RawJson>>),
    ) -> Result<RawJson> {
        let mut unfinished = Unfinished {
            core: self,
            id,
            departure: outgoing.departure.clone(),
            silent: call.silent_when_dropped,
            reason: "the caller gave up",
        };
        let mut sending = pin!(self.send(outgoing));
        let mut sent = false;
        let mut alarm = pin!(sleep_until(call.patience(started).0));
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return answer.unwrap_or_else(|_| Err(Error::closed("the call was forgotten"))),
                result = &mut sending, if !sent => {
                    result?;
                    sent = true;
                }
                () = &mut alarm => {
                    let now = Instant::now();
                    let touched = lock(&self.waiting).get(&id).map_or(started, |waiting| waiting.touched);
                    // What is made for a request of the other side is not kept waiting by that very request.
                    let asked = if call.about.is_none() { self.running.last_asked(now) } else { None };
                    let (end, is_idle) = call.patience(asked.map_or(touched, |asked| asked.max(touched)));
                    if now >= end {
                        unfinished.reason = "the time limit was reached";
                        return Err(call.timed_out(is_idle));
                    }
                    alarm.as_mut().reset(end);
                }
            }
        }
    }

    pub(crate) async fn call_batch(self: &Arc<Self>, calls: Vec<Call>) -> Result<Vec<Result<RawJson>>> {
        let departure = Departure::of(calls.iter().filter_map(|call| call.mark.clone()).collect());
        let mut messages = Vec::with_capacity(calls.len());
        let mut entered = Vec::with_capacity(calls.len());
        for call in &calls {
            let id = self.next_call_id();
            messages.push(call.message(id));
            let guard = Unfinished {
                core: self,
                id,
                departure: departure.clone(),
                silent: false,
                reason: "the caller gave up",
            };
            entered.push((guard, self.enter(id, call.progress.clone(), Instant::now())?));
        }
        let limit = calls.iter().map(|call| call.idle.min(call.total)).min().unwrap_or_default();
        let first_method = calls.first().map_or(Method::Borrowed("batch"), |call| call.method.clone());
        let all = async {
            let answers = async {
                let mut answers = Vec::with_capacity(entered.len());
                for (_, answer) in &mut entered {
                    answers.push(answer.await.unwrap_or_else(|_| Err(Error::closed("the call was forgotten"))));
                }
                answers
            };
            let outgoing = Outgoing { departure, ..Outgoing::batch(messages) };
            let (sent, answers) = futures_util::future::join(self.send(outgoing), answers).await;
            sent.map(|()| answers)
        };
        tokio::time::timeout(limit, all).await.unwrap_or(Err(Error::TimedOut {
            method: first_method,
            after: limit,
            idle: false,
        }))
    }
}
