//! `Link`: the seam between the peer, which knows calls and answers, and a transport, which knows how bytes travel.
//!
//! A transport takes [`Outgoing`] messages and gives what arrives to its [`Inbound`]. A byte stream hands a request over
//! and is done; over HTTP, sending a request *is* the exchange: it ends when the answer stream has ended, and dropping it closes that stream.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderName, HeaderValue};

use crate::departure::Departure;
use crate::error::{Error, Result};
use crate::message::{Defect, Frame, Id, Message};
use crate::peer::Core;

/// Something to send, with what a transport needs to know about it.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// One message, or several as a batch.
    pub messages: Messages,
    /// The request of the other side that this belongs to: its answer, or news about it.
    pub about: Option<Id>,
    /// What its parameters name, where that is known without reading them.
    pub name: Option<String>,
    /// Headers that belong to this message alone; only HTTP has a place for them.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// What is told that it begins to leave, where somebody wants to know.
    pub(crate) departure: Option<Arc<Departure>>,
}

/// One message or a batch.
#[derive(Debug, Clone)]
pub enum Messages {
    /// A single message.
    One(Message),
    /// A batch.
    Batch(Vec<Message>),
}

impl Outgoing {
    pub(crate) fn one(message: Message) -> Self {
        Self::of(Messages::One(message))
    }

    /// Several messages as one batch.
    pub fn batch(messages: Vec<Message>) -> Self {
        Self::of(Messages::Batch(messages))
    }

    fn of(messages: Messages) -> Self {
        Self { messages, about: None, name: None, headers: Vec::new(), departure: None }
    }

    pub(crate) fn about(mut self, about: Option<Id>) -> Self {
        self.about = about;
        self
    }

    /// A transport says so before the first byte can leave. `false` when it was withdrawn meanwhile, and must not be sent.
    pub fn begins_to_leave(&self) -> bool {
        self.departure.as_ref().is_none_or(|departure| departure.begin())
    }

    /// Appends the JSON text, on one line.
    pub fn write_to(&self, out: &mut BytesMut) {
        match &self.messages {
            Messages::One(message) => message.write_to(out),
            Messages::Batch(messages) => {
                out.extend_from_slice(b"[");
                for (at, message) in messages.iter().enumerate() {
                    if at > 0 {
                        out.extend_from_slice(b",");
                    }
                    message.write_to(out);
                }
                out.extend_from_slice(b"]");
            }
        }
    }

    /// The JSON text, on one line.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = BytesMut::new();
        self.write_to(&mut out);
        out.freeze()
    }
}

/// How messages leave. Made by a transport, owned by a peer.
pub trait Link: Send + Sync + 'static {
    /// Sends, waiting for room. For a request over HTTP it ends with the answer.
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<()>>;

    /// Sends at once if that needs no waiting, else hands the message back.
    fn try_send(&self, outgoing: Outgoing) -> Option<Outgoing>;

    /// Whether a call given up is told to the other side with a message (else closing its stream says it).
    fn cancels_with_message(&self) -> bool;

    /// No answer to `request` of the other side will come: it was cancelled.
    fn withdraw(&self, _request: &Id) {}

    /// Ends the answer stream of `request` early; what follows waits until the other side asks for it. `false` where that cannot be.
    fn park(&self, _request: &Id) -> bool {
        false
    }

    /// The HTTP request that carried `request` of the other side.
    fn http(&self, _request: &Id) -> Option<Arc<Parts>> {
        None
    }

    /// Ends the transport in order: everything accepted is written first.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Keeps a panic in somebody's handler from ending the task that reads, on which every call waits.
fn guarded(deliver: impl FnOnce()) {
    if std::panic::catch_unwind(AssertUnwindSafe(deliver)).is_err() {
        tracing::error!("a handler panicked; the connection goes on without what it was told");
    }
}

/// Where a transport delivers what arrives. Does not keep the peer alive.
#[derive(Clone, Debug)]
pub struct Inbound(Weak<Core>);

impl Inbound {
    pub(crate) fn new(core: &Arc<Core>) -> Self {
        Self(Arc::downgrade(core))
    }

    /// One frame arrived. `calls` are the calls of ours whose answer stream carried it: on that, nobody else is answered.
    pub fn frame(&self, bytes: &Bytes, calls: &[u64]) {
        if let Some(core) = self.0.upgrade() {
            guarded(|| core.receive(bytes, calls));
        }
    }

    /// One frame arrived that the transport has read already.
    pub(crate) fn read_frame(&self, frame: Frame, bytes: &Bytes) {
        if let Some(core) = self.0.upgrade() {
            guarded(|| core.receive_read(frame, bytes));
        }
    }

    /// Something arrived that is no frame.
    pub fn defect(&self, defect: &Defect) {
        if let Some(core) = self.0.upgrade() {
            guarded(|| core.refuse(defect));
        }
    }

    /// The other side has forgotten us, or cannot be reached any more; what runs may still be answered.
    pub(crate) fn lost(&self, why: &Error) {
        if let Some(core) = self.0.upgrade() {
            guarded(|| core.lost(why));
        }
    }

    /// Nothing will arrive any more.
    pub fn closed(&self, why: &Error) {
        if let Some(core) = self.0.upgrade() {
            core.close(why);
        }
    }

    /// Whether a call of ours is still waiting for its answer.
    pub fn is_waiting(&self, call: u64) -> bool {
        self.0.upgrade().is_some_and(|core| core.is_waiting(call))
    }

    /// Whether the peer is gone, so that a transport may stop.
    pub fn is_abandoned(&self) -> bool {
        self.0.strong_count() == 0
    }
}
