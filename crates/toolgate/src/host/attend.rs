//! The life of one server in a host: connect, discover, follow its changes until it is gone, and connect again. One task each, so that none
//! waits for another.

use std::sync::Arc;
use std::time::Instant;

use tokio::runtime::Handle;
use toolgate_wire::transport::child::expect_child;

use super::ahead::Remembered;
use super::backoff::{Backoff, chance, passes_by_itself};
use super::board::Board;
use super::follow::{announce, announce_about, follow};
use super::start_plan::{Life, StartPlan, start_plan};
use crate::connect::{Connection, Difference, Kind, Stage, sentence};
use crate::discovery::{Line, Live, Problem, ServerCatalog, discover, nothing_offered};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{HostEvent, Severity};
use crate::host::Reconciled;
use crate::kept::{Freshness, KeptPlace};
use crate::servers::{ServerConfig, TransportConfig};
use crate::settings::raw::StartMode;
use crate::trust::AdmittedServers;

/// Starts a task for every server that is new.
pub(super) fn start(board: &Arc<Board>, servers: AdmittedServers) {
    let new = board.manager.enlist(servers);
    board.note_discovery();
    attend_to_all(board, new);
}

fn attend_to_all(board: &Arc<Board>, servers: Vec<Arc<ServerConfig>>) {
    let kept = board.kept(&servers);
    for (config, kept) in servers.into_iter().zip(kept) {
        let line = board.take_in(config);
        if begin(board, &line, kept).connects {
            attend_to(board, &Handle::current(), &line);
        } else {
            // A server that nobody uses costs no task.
            let (board, runtime) = (Arc::downgrade(board), Handle::current());
            line.rest_until_asked(move |line| {
                if let Some(board) = board.upgrade() {
                    attend_to(&board, &runtime, &line);
                }
            });
        }
    }
}

fn attend_to(board: &Arc<Board>, runtime: &Handle, line: &Line) {
    if matches!(line.config().transport, TransportConfig::Stdio(_)) {
        expect_child();
    }
    let task = runtime.spawn(attend(board.clone(), line.clone()));
    board.keep_task(line, task.abort_handle());
}

/// Shows what is kept of a server; where that is enough, nobody waits for more.
fn begin(board: &Board, line: &Line, kept: Remembered) -> StartPlan {
    let config = line.config();
    let plan = start_plan(board.life, config.start, &config.transport, kept.as_ref().map(|(_, freshness)| *freshness));
    let mut problem = None;
    if let Some((offered, freshness)) = kept {
        board.manager.remember(config, offered.agreed(), offered.last_said_at());
        let is_whole = freshness != Freshness::Incomplete;
        let nothing = nothing_offered(line.server(), &offered, board.interest).filter(|_| is_whole);
        problem = nothing.as_ref().map(|problem| problem.error.clone());
        board.put(Arc::new(ServerCatalog::new(line, None, Arc::new(offered), nothing.into_iter().collect())));
    }
    if plan.settles {
        settle(board, line, problem);
    }
    plan
}

/// Says that everything that was to be found out about a server has been.
fn settle(board: &Board, line: &Line, problem: Option<Error>) {
    board.manager.settle(line.config(), problem);
    board.tell(HostEvent::Settled(line.server().clone()));
    board.note_discovery();
}

/// Starts what is new, ends what is gone, and leaves the rest alone.
pub(super) fn reconcile(board: &Arc<Board>, servers: AdmittedServers) -> Reconciled {
    let before = board.manager.names();
    let Difference { start, stop, retire: retiring } = board.manager.reconcile(servers);
    let mut changed = Reconciled::default();
    for server in &stop {
        board.stop_attending_to(server);
    }
    retiring.into_iter().for_each(|connection| retire(board, connection));
    for config in &start {
        let to = if stop.contains(&config.name) { &mut changed.restarted } else { &mut changed.added };
        to.push(config.name.clone());
    }
    changed.removed = stop.into_iter().filter(|name| !changed.restarted.contains(name)).collect();
    if !changed.is_empty() {
        // Also of those that nobody waits for any more.
        board.note_discovery();
    }
    attend_to_all(board, start);
    if !changed.is_empty() || board.manager.names() != before {
        board.changed();
    }
    if !changed.is_empty() {
        board.tell(HostEvent::Reconciled(changed.clone()));
    }
    changed
}

/// Attends to one server for as long as somebody wants it.
async fn attend(board: Arc<Board>, line: Line) {
    let mut asks = line.asks();
    let mut backoff = Backoff::default();
    let mut told: Option<String> = None;
    loop {
        // Whoever asked before this attempt gets its outcome.
        asks.mark_unchanged();
        line.begin();
        // A server whose files change while it runs is kept as what it was when it was started.
        let place = board.place(line.config());
        // Meeting it takes a lot of room, which is not needed while it is there.
        let met = Box::pin(meet(&board, &line)).await;
        // So does whoever asked while it was made: a server that nobody wants later is not started again on their account.
        asks.mark_unchanged();
        let error = match met {
            Ok((live, problems)) => {
                let stood = Instant::now();
                if told.take().is_some() {
                    board.diagnose(Severity::Info, line.server(), format!("MCP server {} is back", line.server()));
                }
                let error = serve(&board, &line, live, problems, place.as_ref()).await;
                backoff.failed(Some(stood.elapsed()));
                told = Some(error.to_string());
                error
            }
            Err(Unmet { error, connection }) => {
                backoff.failed(None);
                // What goes wrong in the same way again and again is said once.
                if told.replace(error.to_string()) != Some(error.to_string()) {
                    board.diagnose(severity(&error), line.server(), sentence(line.config(), Stage::Start, &error));
                }
                line.down(error.clone());
                settle(&board, &line, None);
                close_unmet(connection);
                error
            }
        };
        let comes_back = board.life == Life::Long && line.config().start != StartMode::Lazy;
        let wait = (comes_back && passes_by_itself(&error)).then(|| backoff.wait(chance()));
        board.manager.plan_next(line.config(), wait);
        board.tell(HostEvent::Planned { server: line.server().clone(), wait });
        let asked = asks.changed();
        let is_over = match wait {
            None => asked.await.is_err(),
            Some(wait) => tokio::time::timeout(wait, asked).await.is_ok_and(|asked| asked.is_err()),
        };
        if is_over {
            return;
        }
    }
}

/// Closes a connection when what runs on it has ended.
fn retire(board: &Arc<Board>, connection: Connection) {
    let board = board.clone();
    tokio::spawn(async move { board.manager.retire(connection).await });
}

/// Closing may take a while, and nobody needs to wait for it.
fn close_unmet(connection: Option<Connection>) {
    if let Some(connection) = connection {
        tokio::spawn(async move { connection.client().close().await });
    }
}

/// A server that could not be reached or understood.
struct Unmet {
    error: Error,
    /// What is still to be closed.
    connection: Option<Connection>,
}

/// Connects to a server and finds out what it offers.
async fn meet(board: &Board, line: &Line) -> Result<(Live, Vec<Problem>), Unmet> {
    let config = line.config();
    let connection = board.manager.open(config).await.map_err(|error| Unmet { error, connection: None })?;
    let started = Instant::now();
    match discover(&connection, board.interest, board.now()).await {
        Ok((offered, problems)) => {
            board.manager.listed(config, started.elapsed());
            let offered = match board.offer(line) {
                // What an earlier run kept is no word of this server: a call must not be decided by it.
                Some(before) if before.said_by.is_none() => offered.in_order_of(&before.offered),
                Some(before) => offered.in_order_of(&before.offered).with_unread_of(&before.offered),
                None => offered,
            };
            Ok((Live { connection, offered: Arc::new(offered) }, problems))
        }
        Err(error) => {
            board.manager.fail(config, &error, connection.stderr_tail());
            Err(Unmet { error, connection: Some(connection) })
        }
    }
}

/// A server that is there, until it is lost. Why it was.
async fn serve(
    board: &Arc<Board>,
    line: &Line,
    live: Live,
    problems: Vec<Problem>,
    place: Option<&KeptPlace>,
) -> Error {
    for Problem { error, .. } in &problems {
        board.diagnose(severity(error), line.server(), sentence(line.config(), Stage::Connected, error));
    }
    let before = board.offer(line);
    let problem = problems.first().map(|problem| problem.error.clone());
    let offer = ServerCatalog::new(line, Some(live.connection.clone()), live.offered.clone(), problems);
    let offer = Arc::new(offer);
    board.put(offer.clone());
    // From the moment on in which the server is there, whoever wants its lists anew is heard.
    let refreshes = line.refreshes();
    line.open(live);
    settle(board, line, problem);
    if let Some(before) = before {
        if !before.offered.same_about(&offer.offered) {
            announce_about(board, line.server());
        }
        let is_other = |kind: &Kind| board.interest.wants(*kind) && !before.offered.same(&offer.offered, *kind);
        Kind::ALL.into_iter().filter(is_other).for_each(|kind| announce(board, line.server(), kind));
    }
    board.keep(place, &offer.offered).await;
    let connection = offer.said_by.clone();
    follow(board, offer, place, refreshes).await;
    let why = lose(board, line, connection.as_ref());
    // What runs on a connection that was given up may still be answered.
    connection.into_iter().for_each(|connection| retire(board, connection));
    why
}

fn severity(error: &Error) -> Severity {
    if error.kind() == ErrorKind::LoginNeeded { Severity::Warning } else { Severity::Error }
}

/// What was shown stays, as something that cannot be used at the moment.
fn lose(board: &Board, line: &Line, connection: Option<&Connection>) -> Error {
    let why = connection.and_then(Connection::end);
    let why = why.unwrap_or_else(|| Error::new(ErrorKind::Connect, "connection closed").about(line.server()));
    line.down(why.clone());
    if board.manager.is_current(line.config()) {
        let last_words = connection.map(Connection::stderr_tail).unwrap_or_default();
        board.manager.lose(line.config(), &why, last_words);
        board.changed();
        board.diagnose(Severity::Error, line.server(), sentence(line.config(), Stage::Lost, &why));
    }
    why
}
