//! Keeps what a server offers up to date while it is connected: what it announces is read anew, at a walk.

use std::sync::Arc;
use std::time::Duration;

use super::board::Board;
use crate::connect::{Kind, Stage, sentence};
use crate::discovery::{Live, Offered, ServerCatalog, refresh, watch_lists};
use crate::error::Result;
use crate::event::{HostEvent, Severity};
use crate::kept::KeptPlace;
use crate::limits::{REFRESH_AGAIN_MS, REFRESH_PACE_MS};
use crate::server_name::ServerName;

/// Keeps what a server offers up to date until the connection is over.
pub(super) async fn follow(board: &Board, mut offer: Arc<ServerCatalog>, place: Option<&KeptPlace>) {
    let Some(connection) = offer.said_by.clone() else { return };
    let mut changes = connection.changes();
    let mut seen = *changes.borrow();
    // Whatever was announced while the lists were being read may not be in them.
    let mut due: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| seen.times(*kind) > 0).collect();
    let watching = if board.follows_changes() { watch_lists(&connection, board.interest).await } else { None };
    if watching.is_some() {
        due = Kind::ALL.to_vec(); // The same holds for what changed before the server was asked to tell.
    }
    let mut refreshes = offer.line.refreshes();
    loop {
        for kind in due.drain(..) {
            if board.interest.wants(kind) && offer.offered.offers(kind) {
                let before = offer.offered.clone();
                offer = bring_up_to_date(board, offer, kind, seen.times(kind)).await;
                if !Arc::ptr_eq(&before, &offer.offered) {
                    board.keep(place, &offer.offered);
                }
            }
        }
        tokio::select! {
            () = connection.over() => break,
            announced = changes.changed() => if announced.is_err() { break },
            wanted = refreshes.changed() => {
                if wanted.is_err() { break }
                due = Kind::ALL.to_vec();
                continue;
            }
        }
        // A server that announces changes all the time is followed at a walk.
        tokio::time::sleep(Duration::from_millis(REFRESH_PACE_MS)).await;
        let now = *changes.borrow_and_update();
        due = Kind::ALL.into_iter().filter(|kind| now.times(*kind) > seen.times(*kind)).collect();
        seen = now;
    }
    drop(watching);
}

/// Reads one list anew. A server that announced a change and shows the old list gets a second chance a little later.
async fn bring_up_to_date(board: &Board, offer: Arc<ServerCatalog>, kind: Kind, announced: u64) -> Arc<ServerCatalog> {
    let Some(connection) = offer.said_by.clone() else { return offer };
    let mut fresh = refresh(&connection, &offer.offered, kind, board.now()).await;
    let is_same = |fresh: &Result<Offered>| fresh.as_ref().is_ok_and(|fresh| fresh.same(&offer.offered, kind));
    if announced > 0 && is_same(&fresh) && connection.changes().borrow().times(kind) == announced {
        tokio::time::sleep(Duration::from_millis(REFRESH_AGAIN_MS)).await;
        fresh = refresh(&connection, &offer.offered, kind, board.now()).await;
    }
    match fresh {
        Ok(fresh) if fresh.same(&offer.offered, kind) => offer,
        Ok(fresh) => {
            let fresh = Arc::new(fresh);
            let updated = Arc::new(offer.updated(fresh.clone(), kind));
            board.put(updated.clone());
            offer.line.open(Live { connection: connection.clone(), offered: fresh });
            board.manager.settle(connection.config(), updated.problems.first().map(|problem| problem.error.clone()));
            board.changed();
            announce(board, connection.server(), kind);
            updated
        }
        Err(error) => {
            if connection.is_open() {
                let text = sentence(connection.config(), Stage::Connected, &error);
                board.diagnose(Severity::Error, connection.server(), text);
            }
            offer
        }
    }
}

/// Tells that a server offers something else than before.
pub(super) fn announce(board: &Board, server: &ServerName, kind: Kind) {
    let mut title = kind.as_str().to_owned();
    title.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
    board.diagnose(Severity::Info, server, format!("{title} of MCP server {server} updated"));
    board.tell(HostEvent::Changed { server: server.clone(), kind });
}
