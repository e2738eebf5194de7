//! `Incoming`: one request of the other side while it runs here, and what its handler can do meanwhile.

use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::Instant;

use crate::call::Call;
use crate::error::{Result, RpcError};
use crate::limits::{CLOSE_MS, RUNNING_REQUESTS_MAX};
use crate::link::Outgoing;
use crate::message::{Defect, DefectKind, Id, Message, Notification, Request, Response};
use crate::peer::{Core, Handler, lock};
use crate::raw::RawJson;

/// A request that is being answered.
#[derive(Clone)]
pub struct Incoming {
    /// The request itself.
    pub request: Request,
    core: Arc<Core>,
}

impl Incoming {
    /// Tells the other side something that belongs to this request, such as progress.
    pub async fn notify(&self, notification: Notification) -> Result<()> {
        let outgoing = Outgoing::one(Message::Notification(notification)).about(Some(self.request.id.clone()));
        self.core.send(outgoing).await
    }

    /// Asks the other side something while its request runs (legacy: sampling, elicitation, roots).
    pub async fn call(&self, call: Call) -> Result<RawJson> {
        self.core.call(call.about(Some(self.request.id.clone()))).await
    }

    /// Ends the stream that carries the answer, which the other side fetches later. `false` where that cannot be.
    pub fn park(&self) -> bool {
        self.core.link().is_ok_and(|link| link.park(&self.request.id))
    }

    /// The HTTP request that carried it.
    pub(crate) fn http(&self) -> Option<Arc<http::request::Parts>> {
        self.core.link().ok()?.http(&self.request.id)
    }

    /// The parameters, or `{}`.
    pub fn params(&self) -> RawJson {
        self.request.params.clone().unwrap_or(RawJson::EMPTY_OBJECT)
    }

    /// Starts the handler. One that answers at once costs no task.
    pub(crate) fn run(core: &Arc<Core>, handler: &Arc<dyn Handler>, request: Request, batch: Option<Arc<BatchReply>>) {
        let id = request.id.clone();
        let reply = Reply { core: core.clone(), id: id.clone(), batch };
        let (cancelled, running) = match core.running.enter(core, &id) {
            Ok(entered) => entered,
            Err(refusal) => return reply.refuse(refusal),
        };
        // A handler that panics fails its own request and nothing else.
        let panicked = |_| Err(RpcError::internal("the handler panicked"));
        let asked = AssertUnwindSafe(|| handler.request(Self { request, core: core.clone() }));
        let mut work = match std::panic::catch_unwind(asked) {
            Ok(work) => AssertUnwindSafe(work).catch_unwind(),
            Err(panic) => return reply.now(panicked(panic), running),
        };
        if let Poll::Ready(outcome) = Pin::new(&mut work).poll(&mut Context::from_waker(Waker::noop())) {
            return reply.now(outcome.unwrap_or_else(panicked), running);
        }
        tokio::spawn(async move {
            tokio::select! {
                biased;
                _ = cancelled => reply.withheld(), // Whoever cancels does not want an answer.
                outcome = work => {
                    reply.wait(outcome.unwrap_or_else(panicked)).await;
                }
            }
            drop(running); // Counts until its answer has found room, so that answers cannot pile up.
        });
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("request", &self.request).finish_non_exhaustive()
    }
}

/// Where an answer goes: out by itself, or into the batch it belongs to.
struct Reply {
    core: Arc<Core>,
    id: Id,
    batch: Option<Arc<BatchReply>>,
}

impl Reply {
    fn outgoing(&self, outcome: Result<RawJson, RpcError>) -> Option<Outgoing> {
        let response = Message::Response(Response { id: Some(self.id.clone()), outcome });
        let outgoing = match &self.batch {
            Some(batch) => Outgoing::batch(batch.add(response)?),
            None => Outgoing::one(response),
        };
        Some(outgoing.about(Some(self.id.clone())))
    }

    /// No answer will come; a batch must not wait for it.
    fn withheld(&self) {
        let answers = match &self.batch {
            None => Vec::new(),
            Some(batch) => match batch.withhold() {
                Some(answers) => answers,
                None => return, // Others of the batch are still to come.
            },
        };
        if !answers.is_empty() {
            self.core.send_soon(Outgoing::batch(answers).about(Some(self.id.clone())), ());
        } else if let Ok(link) = self.core.link() {
            link.withdraw(&self.id);
        }
    }

    /// Answers without waiting; the request counts as running until its answer has found room.
    fn now(&self, outcome: Result<RawJson, RpcError>, running: RunningGuard) {
        if let Some(outgoing) = self.outgoing(outcome) {
            self.core.send_soon(outgoing, running);
        }
    }

    /// Refuses a request that was not started. A side that floods us and reads nothing does not hear every refusal.
    fn refuse(&self, refusal: RpcError) {
        let detail = refusal.to_string();
        let Some(outgoing) = self.outgoing(Err(refusal)) else { return };
        match self.core.running.unattended.clone().try_acquire_owned() {
            Ok(permit) => self.core.send_soon(outgoing, permit),
            Err(_) => self.core.report(&Defect::new(DefectKind::TooLarge, format!("{detail}, and no room to say so"))),
        }
    }

    async fn wait(&self, outcome: Result<RawJson, RpcError>) {
        if let Some(outgoing) = self.outgoing(outcome)
            && let Err(error) = self.core.send(outgoing).await
        {
            tracing::debug!(%error, id = %self.id, "an answer could not be sent");
        }
    }
}

/// The answers of one batch, sent together when the last is there.
#[derive(Debug)]
pub(crate) struct BatchReply(Mutex<BatchAnswers>);

#[derive(Debug)]
struct BatchAnswers {
    missing: usize,
    answers: Vec<Message>,
}

impl BatchReply {
    pub(crate) fn new(expected: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(BatchAnswers { missing: expected, answers: Vec::with_capacity(expected) })))
    }

    /// Adds one answer; gives all of them back with the last.
    fn add(&self, answer: Message) -> Option<Vec<Message>> {
        lock(&self.0).answers.push(answer);
        self.withhold()
    }

    /// Waits for one answer less; gives back those that came when it was the last.
    fn withhold(&self) -> Option<Vec<Message>> {
        let mut batch = lock(&self.0);
        batch.missing -= 1;
        (batch.missing == 0).then(|| std::mem::take(&mut batch.answers))
    }
}

/// The requests that run for the other side, so that it can cancel them.
#[derive(Debug)]
pub(crate) struct Running {
    requests: Mutex<HashMap<Id, Option<oneshot::Sender<()>>>>,
    /// When the last of them was answered.
    answered: Mutex<Option<Instant>>,
    /// Room for messages that wait to be sent while nobody waits for them: refusals, cancellations.
    pub(crate) unattended: Arc<Semaphore>,
}

impl Default for Running {
    fn default() -> Self {
        let (requests, answered) = (Mutex::default(), Mutex::default());
        Self { requests, answered, unattended: Arc::new(Semaphore::new(RUNNING_REQUESTS_MAX)) }
    }
}

impl Running {
    /// Enters a request, unless there are too many or its id is taken. It leaves when the guard is dropped.
    fn enter(&self, core: &Arc<Core>, id: &Id) -> Result<(oneshot::Receiver<()>, RunningGuard), RpcError> {
        let (cancel, cancelled) = oneshot::channel();
        let mut running = lock(&self.requests);
        if running.len() >= RUNNING_REQUESTS_MAX {
            let busy = format!("busy: more than {RUNNING_REQUESTS_MAX} requests at once (limit RUNNING_REQUESTS_MAX)");
            return Err(RpcError::internal(busy));
        }
        if running.contains_key(id) {
            return Err(RpcError::new(RpcError::INVALID_REQUEST, format!("the id {id} is already in use")));
        }
        running.insert(id.clone(), Some(cancel));
        Ok((cancelled, RunningGuard { core: core.clone(), id: id.clone() }))
    }

    /// When the other side last waited for an answer of ours: now, while it still does.
    pub(crate) fn last_asked(&self, now: Instant) -> Option<Instant> {
        if lock(&self.requests).is_empty() { *lock(&self.answered) } else { Some(now) }
    }

    /// Waits until the messages that nobody waits for have left, for as long as closing may take.
    pub(crate) async fn wait_for_unattended(&self) {
        let all = u32::try_from(RUNNING_REQUESTS_MAX).unwrap_or(u32::MAX);
        let left = self.unattended.acquire_many(all);
        let _have_left = tokio::time::timeout(Duration::from_millis(CLOSE_MS), left).await.is_ok();
    }

    /// Cancels a request; its id stays taken until it has ended.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(cancel) = lock(&self.requests).get_mut(id).and_then(Option::take) {
            let _already_done = cancel.send(()).is_err();
        }
    }

    pub(crate) fn cancel_all(&self) {
        lock(&self.requests).values_mut().for_each(|cancel| *cancel = None); // A dropped sender cancels as well.
    }
}

struct RunningGuard {
    core: Arc<Core>,
    id: Id,
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        let running = &self.core.running;
        // Noted first: whoever finds no request running any more finds this.
        *lock(&running.answered) = Some(Instant::now());
        lock(&running.requests).remove(&self.id);
    }
}
