//! Keeps what a server offers up to date while it is connected: what it announces is read anew, at a walk.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::backoff::{Backoff, chance, passes_by_itself};
use super::board::Board;
use super::start_plan::Life;
use super::watching::watch;
use crate::connect::{Connection, Kind, Stage, sentence};
use crate::discovery::{Live, Offered, ServerCatalog, refresh};
use crate::error::Result;
use crate::event::{HostEvent, Severity};
use crate::kept::KeptPlace;
use crate::limits::{REFRESH_AGAIN_MS, REFRESH_PACE_LONGEST_MS, REFRESH_PACE_MS};
use crate::server_name::ServerName;

/// Keeps what a server offers up to date until the connection is over.
pub(super) async fn follow(
    board: &Board,
    offer: Arc<ServerCatalog>,
    place: Option<&KeptPlace>,
    refreshes: watch::Receiver<u64>,
) {
    let Some(connection) = offer.said_by.clone() else { return };
    let asked = Notify::new();
    tokio::select! {
        // Whatever is being read at that moment: nobody has to wait for it to find the next connection.
        () = connection.over() => {}
        () = watch(board, &connection, &asked) => {}
        () = keep_up(board, offer, place, refreshes, &asked) => {}
    }
}

/// Reads what is announced, wanted or overdue, and everything when the server was `asked` to tell of changes.
async fn keep_up(
    board: &Board,
    mut offer: Arc<ServerCatalog>,
    place: Option<&KeptPlace>,
    mut refreshes: watch::Receiver<u64>,
    asked: &Notify,
) {
    let Some(connection) = offer.said_by.clone() else { return };
    let mut changes = connection.changes();
    let mut seen = *changes.borrow();
    // Whatever was announced while the lists were being read may not be in them.
    let mut due: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| seen.times(*kind) > 0).collect();
    let mut pace = Pace::new(Instant::now());
    let mut retry = Retry::default();
    loop {
        for kind in due.drain(..) {
            if board.interest.wants(kind) && offer.offered.offers(kind) {
                let before = offer.offered.clone();
                // What takes a lot of room is there while something is read, not while the server rests.
                offer = Box::pin(bring_up_to_date(board, offer, kind, seen.times(kind))).await;
                if !Arc::ptr_eq(&before, &offer.offered) {
                    board.keep(place, &offer.offered).await;
                }
            }
        }
        pace.rested = Instant::now();
        let unread = readable_later(board, &offer);
        retry.plan(&unread, Instant::now());
        tokio::select! {
            announced = changes.changed() => if announced.is_err() { break },
            wanted = refreshes.changed() => {
                if wanted.is_err() { break }
                due = Kind::ALL.to_vec();
                continue;
            }
            () = asked.notified() => {
                due = Kind::ALL.to_vec(); // What changed before that was told to nobody.
                continue;
            }
            () = retry.due() => {
                due = unread;
                continue;
            }
        }
        tokio::time::sleep(pace.next(Instant::now())).await;
        let now = *changes.borrow_and_update();
        due = Kind::ALL.into_iter().filter(|kind| now.times(*kind) > seen.times(*kind)).collect();
        seen = now;
    }
}

/// Lists that could not be read and that are worth another try, where the host lives long enough for one.
fn readable_later(board: &Board, offer: &ServerCatalog) -> Vec<Kind> {
    let passes = |kind: &Kind| offer.problem_with(*kind).is_some_and(passes_by_itself);
    let unread = offer.offered.unread.iter().copied().filter(passes);
    if board.life == Life::Long { unread.collect() } else { Vec::new() }
}

/// When lists that could not be read are read again.
#[derive(Default)]
struct Retry {
    backoff: Backoff,
    at: Option<Instant>,
}

impl Retry {
    /// Plans the next try, once the last one has been made.
    fn plan(&mut self, unread: &[Kind], now: Instant) {
        if unread.is_empty() {
            *self = Self::default();
        } else if self.at.is_none_or(|at| at <= now) {
            self.backoff.failed(None);
            self.at = Some(now + self.backoff.wait(chance()));
        }
    }

    /// Waits for it; never ends where none is planned.
    async fn due(&self) {
        match self.at {
            Some(at) => tokio::time::sleep_until(at).await,
            None => pending().await,
        }
    }
}

/// How long after an announced change the lists are read: the more often something is announced, the longer, so that a server that announces
/// without end is followed at a walk.
struct Pace {
    wait: Duration,
    /// When everything that was announced had been read.
    rested: Instant,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { wait: Duration::from_millis(REFRESH_PACE_MS), rested: now }
    }

    /// How long to wait, now that something was announced again.
    fn next(&mut self, now: Instant) -> Duration {
        let is_storm = now.duration_since(self.rested) < self.wait;
        let longer = self.wait.saturating_mul(2).min(Duration::from_millis(REFRESH_PACE_LONGEST_MS));
        self.wait = if is_storm { longer } else { Duration::from_millis(REFRESH_PACE_MS) };
        self.wait
    }
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
        Ok(fresh) => {
            let (is_same, was_unread) = (fresh.same(&offer.offered, kind), offer.offered.unread.contains(&kind));
            // What is the same is younger now.
            let updated =
                show(board, &connection, offer.updated(Arc::new(fresh.in_order_of(&offer.offered)), kind, None));
            if !is_same {
                announce(board, connection.server(), kind);
            } else if was_unread {
                let text = format!("{} of MCP server {} can be read again", title(kind), connection.server());
                board.diagnose(Severity::Info, connection.server(), text);
            }
            updated
        }
        Err(error) if connection.is_open() => {
            // What goes wrong in the same way again and again is said once.
            if offer.problem_with(kind).is_some_and(|told| told.to_string() == error.to_string()) {
                return offer;
            }
            let text = sentence(connection.config(), Stage::Connected, &error);
            board.diagnose(Severity::Error, connection.server(), text);
            let offered = Offered::clone(&offer.offered).with_unread(kind);
            show(board, &connection, offer.updated(Arc::new(offered), kind, Some(error)))
        }
        Err(_) => offer,
    }
}

/// Puts up what a server offers now, for whoever looks and for whoever calls.
fn show(board: &Board, connection: &Connection, updated: ServerCatalog) -> Arc<ServerCatalog> {
    let updated = Arc::new(updated);
    board.put(updated.clone());
    updated.line.open(Live { connection: connection.clone(), offered: updated.offered.clone() });
    board.manager.settle(connection.config(), updated.problems.first().map(|problem| problem.error.clone()));
    board.changed();
    updated
}

/// Tells that a server offers something else than before.
pub(super) fn announce(board: &Board, server: &ServerName, kind: Kind) {
    board.diagnose(Severity::Info, server, format!("{} of MCP server {server} updated", title(kind)));
    board.tell(HostEvent::Changed { server: server.clone(), kind });
}

/// Tells that a server says something else about itself than before.
pub(super) fn announce_about(board: &Board, server: &ServerName) {
    board.diagnose(Severity::Info, server, format!("MCP server {server} says something else about itself than before"));
    board.tell(HostEvent::About(server.clone()));
}

/// What a list holds, as the first word of a sentence.
const fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools => "Tools",
        Kind::Prompts => "Prompts",
        Kind::Resources => "Resources",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Pace;

    #[test]
    fn a_storm_is_followed_more_and_more_slowly_until_it_is_over() {
        // How long nothing was announced after everything had been read, and how long is waited then.
        let steps = [
            (1_000, 50),
            (0, 100),
            (99, 200),
            (0, 400),
            (0, 800),
            (0, 1_600),
            (0, 3_200),
            (0, 5_000),
            (4_999, 5_000),
            (5_000, 50),
            (49, 100),
            (100, 50),
        ];
        let mut now = Instant::now();
        let mut pace = Pace::new(now);
        for (at, (quiet, expected)) in steps.into_iter().enumerate() {
            now += Duration::from_millis(quiet);
            let wait = pace.next(now);
            assert_eq!(wait.as_millis(), expected, "step {at}");
            now += wait + Duration::from_millis(3);
            pace.rested = now;
        }
    }
}
