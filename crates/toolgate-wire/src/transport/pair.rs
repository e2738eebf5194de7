//! Two peers in one process. Messages are handed over as frames, without system calls.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::error::{Error, Result};
use crate::limits::QUEUE_FRAMES_MAX;
use crate::link::{Inbound, Link, Outgoing};
use crate::peer::lock;

/// One end of a pair; becomes a link when a peer is started on it.
#[derive(Debug)]
pub struct PairEnd {
    sender: mpsc::Sender<Bytes>,
    receiver: mpsc::Receiver<Bytes>,
}

/// Two ends that are joined.
pub fn pair() -> (PairEnd, PairEnd) {
    let (to_right, from_left) = mpsc::channel(QUEUE_FRAMES_MAX);
    let (to_left, from_right) = mpsc::channel(QUEUE_FRAMES_MAX);
    (PairEnd { sender: to_right, receiver: from_right }, PairEnd { sender: to_left, receiver: from_left })
}

impl PairEnd {
    /// For [`Peer::start`](crate::Peer::start).
    pub fn open(self) -> impl FnOnce(Inbound) -> Arc<dyn Link> {
        move |inbound| {
            let mut receiver = self.receiver;
            let reading = tokio::spawn(async move {
                while let Some(frame) = receiver.recv().await {
                    inbound.frame(&frame, &[]);
                }
                inbound.closed(&Error::closed("the other side closed the pair"));
            });
            Arc::new(PairLink { sender: Mutex::new(Some(self.sender)), reading: reading.abort_handle() })
        }
    }
}

struct PairLink {
    sender: Mutex<Option<mpsc::Sender<Bytes>>>,
    reading: AbortHandle,
}

impl Link for PairLink {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let closed = || Error::closed("the other side closed the pair");
            let sender = lock(&self.sender).clone().ok_or_else(closed)?;
            let room = sender.reserve().await.map_err(|_| closed())?;
            if outgoing.begins_to_leave() {
                room.send(outgoing.to_bytes());
            }
            Ok(())
        })
    }

    fn try_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        let sender = lock(&self.sender).clone()?;
        let Ok(room) = sender.try_reserve() else { return (!sender.is_closed()).then_some(outgoing) };
        if outgoing.begins_to_leave() {
            room.send(outgoing.to_bytes());
        }
        None
    }

    fn cancels_with_message(&self) -> bool {
        true
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        lock(&self.sender).take();
        self.reading.abort();
        Box::pin(async {})
    }
}

impl Drop for PairLink {
    fn drop(&mut self) {
        self.reading.abort();
    }
}
