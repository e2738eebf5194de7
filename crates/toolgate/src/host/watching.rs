//! Hearing of changes from a server that tells only whoever asked for it: it is asked until it does, and anew when it has stopped; one that told
//! and cannot be reached any more is lost.

use std::future::pending;

use tokio::sync::Notify;
use tokio::time::Instant;
use toolgate_wire::RpcError;

use super::backoff::{Backoff, chance, passes_by_itself};
use super::board::Board;
use crate::connect::Connection;
use crate::discovery::watch_lists;
use crate::error::{Error, ErrorKind};

/// Has a server tell of its changes, where it wants to be asked and somebody wants to hear it. `asked` is told each time that it has been: what
/// changed before that it told nobody. Never ends; the connection does.
pub(super) async fn watch(board: &Board, connection: &Connection, asked: &Notify) {
    let mut backoff = Backoff::default();
    let mut has_told = false;
    while board.follows_changes() {
        // Asking takes a lot of room, which is not needed while nothing but news is waited for.
        match Box::pin(watch_lists(connection, board.interest)).await {
            Ok(None) => break,
            Ok(Some(mut subscription)) => {
                asked.notify_one();
                has_told = true;
                let since = Instant::now();
                let ended = subscription.ended().await;
                tracing::debug!(server = %connection.server(), ?ended, "the server has stopped telling of changes");
                backoff.failed(Some(since.elapsed()));
            }
            Err(error) => {
                tracing::debug!(server = %connection.server(), %error, "does not hear of changes");
                match (error.kind(), error.wire()) {
                    // One that has never told may be one that cannot, and answers everything else.
                    (ErrorKind::Connect, Some(why)) if has_told => connection.give_up(why),
                    _ if may_tell_later(&error) => {}
                    _ => break,
                }
                backoff.failed(None);
            }
        }
        tokio::time::sleep(backoff.wait(chance())).await;
    }
    pending().await
}

/// Whether asking again can help.
fn may_tell_later(error: &Error) -> bool {
    let is_unknown = error.wire().is_some_and(|why| why.rpc_code() == Some(RpcError::METHOD_NOT_FOUND));
    passes_by_itself(error) && !is_unknown
}
