//! Hearing of changes from a server that tells only whoever asked for it: a subscription that has ended is made anew, and a server that cannot be
//! reached for that is a lost one.

use std::future::pending;
use std::time::Duration;

use tokio::time::Instant;
use toolgate_wire::Subscription;

use super::backoff::{Backoff, chance};
use super::board::Board;
use crate::connect::Connection;
use crate::discovery::watch_lists;
use crate::error::{Error, ErrorKind};

/// Whether, and since when, a server tells of its changes.
pub(super) struct Watching {
    subscription: Option<Subscription>,
    since: Instant,
    /// When it is asked again, once it has stopped to tell.
    again_at: Option<Instant>,
    backoff: Backoff,
}

impl Watching {
    /// Asks the server to tell, where it wants to be asked and somebody wants to hear it.
    pub(super) async fn begin(board: &Board, connection: &Connection) -> Self {
        let (since, backoff) = (Instant::now(), Backoff::default());
        let mut watching = Self { subscription: None, since, again_at: None, backoff };
        if board.follows_changes() {
            watching.subscribe(board, connection).await.unwrap_or_else(|error| unheard(connection, &error));
        }
        watching
    }

    /// Whether the server has been asked, and tells.
    pub(super) const fn is_on(&self) -> bool {
        self.subscription.is_some()
    }

    async fn subscribe(&mut self, board: &Board, connection: &Connection) -> Result<(), Error> {
        self.subscription = watch_lists(connection, board.interest).await?;
        self.since = Instant::now();
        Ok(())
    }

    /// Waits until the server has stopped to tell, and has been asked again: whatever changed meanwhile it told nobody. Never ends where
    /// nothing is told, or will be. May be dropped and called again at any time.
    pub(super) async fn again(&mut self, board: &Board, connection: &Connection) {
        let again_at = match (self.again_at, &mut self.subscription) {
            (Some(again_at), _) => again_at,
            (None, None) => return pending().await,
            (None, Some(subscription)) => {
                let ended = subscription.ended().await;
                tracing::debug!(server = %connection.server(), ?ended, "the server has stopped telling of changes");
                self.subscription = None;
                self.later(Some(self.since.elapsed()))
            }
        };
        tokio::time::sleep_until(again_at).await;
        let subscribed = self.subscribe(board, connection).await;
        self.again_at = None;
        let Err(error) = subscribed else { return };
        match (error.kind(), error.wire()) {
            (ErrorKind::Connect, Some(why)) => connection.give_up(why),
            (ErrorKind::TimedOut, _) => {
                self.later(None);
            }
            _ => unheard(connection, &error),
        }
    }

    /// When to ask again, after it told for that long or did not answer.
    fn later(&mut self, told_for: Option<Duration>) -> Instant {
        self.backoff.failed(told_for);
        *self.again_at.insert(Instant::now() + self.backoff.wait(chance()))
    }
}

fn unheard(connection: &Connection, error: &Error) {
    tracing::debug!(server = %connection.server(), %error, "will not hear of changes");
}
