//! The life of one server in a host: connect, discover, then follow its changes until it is gone. One task each, so that none waits for
//! another.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::board::Board;
use crate::connect::{Connection, Difference, Kind, Stage, sentence};
use crate::discovery::{Problem, ServerCatalog, discover, offers, refresh, watch_lists};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{DiscoveryState, HostEvent, Severity};
use crate::host::Reconciled;
use crate::limits::{REFRESH_AGAIN_MS, REFRESH_PACE_MS};
use crate::servers::ServerConfig;
use crate::trust::AdmittedServers;

/// Starts a task for every server that is new.
pub(super) fn start(board: &Arc<Board>, servers: AdmittedServers) {
    let new = board.manager.enlist(servers);
    if new.is_empty() && board.discovery() == DiscoveryState::InProgress {
        return;
    }
    board.set_discovery(if new.is_empty() { DiscoveryState::Completed } else { DiscoveryState::InProgress });
    new.into_iter().for_each(|config| attend_to(board, config));
}

fn attend_to(board: &Arc<Board>, config: Arc<ServerConfig>) {
    let name = config.name.clone();
    let task = tokio::spawn(attend(board.clone(), config));
    board.keep_task(name, task.abort_handle());
}

/// Starts what is new, ends what is gone, and leaves the rest alone.
pub(super) fn reconcile(board: &Arc<Board>, servers: AdmittedServers) -> Reconciled {
    let Difference { start, stop, retire } = board.manager.reconcile(servers);
    let mut changed = Reconciled::default();
    for server in &stop {
        board.stop_attending_to(server);
    }
    for connection in retire {
        let board = board.clone();
        tokio::spawn(async move { board.manager.retire(connection).await });
    }
    for config in &start {
        let to = if stop.contains(&config.name) { &mut changed.restarted } else { &mut changed.added };
        to.push(config.name.clone());
    }
    changed.removed = stop.into_iter().filter(|name| !changed.restarted.contains(name)).collect();
    if !start.is_empty() {
        board.set_discovery(DiscoveryState::InProgress);
    }
    start.into_iter().for_each(|config| attend_to(board, config));
    board.changed();
    if !changed.is_empty() {
        board.tell(HostEvent::Reconciled(changed.clone()));
    }
    changed
}

async fn attend(board: Arc<Board>, config: Arc<ServerConfig>) {
    let met = meet(&board, &config).await;
    match &met {
        Ok(offer) => board.put(offer.clone()),
        Err(Unmet { error, .. }) => {
            board.diagnose(severity(error), &config.name, sentence(&config, Stage::Start, error))
        }
    }
    let problems = met.as_ref().map(|offer| offer.problems.as_slice()).unwrap_or_default();
    for Problem { error, .. } in problems {
        board.diagnose(severity(error), &config.name, sentence(&config, Stage::Connected, error));
    }
    board.manager.settle(&config, problems.first().map(|problem| problem.error.clone()));
    board.tell(HostEvent::Settled(config.name.clone()));
    if board.manager.settled().iter().all(|(_, is_settled)| *is_settled) {
        board.set_discovery(DiscoveryState::Completed);
    } else {
        board.changed();
    }
    match met {
        Ok(offer) => follow(&board, offer).await,
        // Closing may take a while, and nobody needs to wait for it.
        Err(Unmet { connection: Some(connection), .. }) => connection.client().close().await,
        Err(Unmet { connection: None, .. }) => {}
    }
}

/// A server that could not be reached or understood.
struct Unmet {
    error: Error,
    /// What is still to be closed.
    connection: Option<Connection>,
}

/// Connects to a server and finds out what it offers.
async fn meet(board: &Board, config: &Arc<ServerConfig>) -> Result<Arc<ServerCatalog>, Unmet> {
    let connection = board.manager.open(config).await.map_err(|error| Unmet { error, connection: None })?;
    let started = Instant::now();
    match discover(&connection, board.interest).await {
        Ok(offer) => {
            board.manager.listed(config, started.elapsed());
            Ok(Arc::new(offer))
        }
        Err(error) => {
            board.manager.fail(config, &error, connection.stderr_tail());
            Err(Unmet { error, connection: Some(connection) })
        }
    }
}

fn severity(error: &Error) -> Severity {
    if error.kind() == ErrorKind::LoginNeeded { Severity::Warning } else { Severity::Error }
}

/// Keeps what a server offers up to date until the connection is over.
async fn follow(board: &Board, mut offer: Arc<ServerCatalog>) {
    let connection = offer.connection.clone();
    let mut changes = connection.changes();
    let mut seen = *changes.borrow();
    // Whatever was announced while the lists were being read may not be in them.
    let mut due: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| seen.times(*kind) > 0).collect();
    let watching = if board.follows_changes { watch_lists(&connection, board.interest).await } else { None };
    if watching.is_some() {
        due = Kind::ALL.to_vec(); // The same holds for what changed before the server was asked to tell.
    }
    let is_followed = |kind: &Kind| board.interest.wants(*kind) && offers(&connection, *kind);
    loop {
        for kind in due.drain(..).filter(is_followed) {
            offer = bring_up_to_date(board, offer, kind, seen.times(kind)).await;
        }
        tokio::select! {
            _end = connection.client().peer().closed() => break,
            announced = changes.changed() => if announced.is_err() { break },
        }
        // A server that announces changes all the time is followed at a walk.
        tokio::time::sleep(Duration::from_millis(REFRESH_PACE_MS)).await;
        let now = *changes.borrow_and_update();
        due = Kind::ALL.into_iter().filter(|kind| now.times(*kind) > seen.times(*kind)).collect();
        seen = now;
    }
    drop(watching);
    lose(board, &connection);
}

/// Reads one list anew. A server that announced a change and shows the old list gets a second chance a little later.
async fn bring_up_to_date(board: &Board, offer: Arc<ServerCatalog>, kind: Kind, announced: u64) -> Arc<ServerCatalog> {
    let connection = offer.connection.clone();
    let mut fresh = refresh(&offer, kind).await;
    let is_same = |fresh: &Result<ServerCatalog>| fresh.as_ref().is_ok_and(|fresh| fresh.same(&offer, kind));
    if announced > 0 && is_same(&fresh) && connection.changes().borrow().times(kind) == announced {
        tokio::time::sleep(Duration::from_millis(REFRESH_AGAIN_MS)).await;
        fresh = refresh(&offer, kind).await;
    }
    match fresh {
        Ok(fresh) if fresh.same(&offer, kind) => offer,
        Ok(fresh) => {
            let fresh = Arc::new(fresh);
            board.put(fresh.clone());
            board.manager.settle(connection.config(), fresh.problems.first().map(|problem| problem.error.clone()));
            board.changed();
            let server = connection.server().clone();
            let mut title = kind.as_str().to_owned();
            title.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
            board.diagnose(Severity::Info, &server, format!("{title} of MCP server {server} updated"));
            board.tell(HostEvent::Changed { server, kind });
            fresh
        }
        Err(error) => {
            if connection.end().is_none() {
                let text = sentence(connection.config(), Stage::Connected, &error);
                board.diagnose(Severity::Error, connection.server(), text);
            }
            offer
        }
    }
}

fn lose(board: &Board, connection: &Connection) {
    let server = connection.server();
    let why = connection.end().unwrap_or_else(|| Error::new(ErrorKind::Connect, "connection closed").about(server));
    if !board.manager.is_current(connection.config()) {
        return; // Another one has taken its place, or nobody wants it any more.
    }
    board.take_down(server);
    board.manager.lose(connection.config(), &why, connection.stderr_tail());
    board.diagnose(Severity::Error, server, sentence(connection.config(), Stage::Lost, &why));
}
