//! `ConnectionManager`: starts connections in parallel, bounded, and owns them by name. It knows nothing of what servers offer.

mod opening;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;
use toolgate_wire::Direction;

use super::connection::Connection;
use super::denied::with_env_hint;
use super::front_end::FrontEnd;
use super::lender::Lender;
use super::status::{Agreed, ServerStatus, ServerView};
use crate::auth::ServerLogin;
use crate::auth::logins::Logins;
use crate::auth::store::TokenStore;
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::STARTING_PLACE_MS;
use crate::server_name::ServerName;
use crate::servers::ServerConfig;
use crate::settings::EnvExceptions;
use crate::transport::Opener;
use crate::trust::AdmittedServers;
use crate::workspace_folders::WorkspaceFolders;

/// Sees every frame to and from every server.
pub type WireTap = Arc<dyn Fn(&ServerName, Direction, &[u8]) + Send + Sync>;

/// Hears of every change of a status, with the error that caused it.
pub(crate) type StatusSink = Box<dyn Fn(&ServerName, ServerStatus, Option<&Error>) + Send + Sync>;

/// What the manager is given by the host.
pub(crate) struct Wiring {
    pub(crate) env: Arc<HostEnv>,
    pub(crate) env_exceptions: EnvExceptions,
    pub(crate) front_end: Arc<dyn FrontEnd>,
    pub(crate) tap: Option<WireTap>,
    pub(crate) connect_limit: usize,
    pub(crate) token_store: TokenStore,
    /// Who may have a server already that would be started here.
    pub(crate) lender: Option<Arc<dyn Lender>>,
    pub(crate) on_status: StatusSink,
}

/// The connections of a host.
pub(crate) struct ConnectionManager {
    wiring: Wiring,
    opener: Opener,
    /// The folders that servers are told as roots.
    folders: Arc<RwLock<WorkspaceFolders>>,
    logins: Arc<Logins>,
    places: Arc<Semaphore>,
    board: Mutex<Vec<Entry>>,
    /// Connections that nobody wants any more, and that close when their last call has ended.
    retiring: Mutex<Vec<Connection>>,
    is_closed: AtomicBool,
}

/// What changes when other servers are wanted than those that are there.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    /// To be started, because they are new or were changed.
    pub(crate) start: Vec<Arc<ServerConfig>>,
    /// Taken from the board, because they are gone or were changed.
    pub(crate) stop: Vec<ServerName>,
    /// Connections of those.
    pub(crate) retire: Vec<Connection>,
}

/// One server on the board, in the order of the settings.
struct Entry {
    config: Arc<ServerConfig>,
    status: ServerStatus,
    is_settled: bool,
    error: Option<Error>,
    connection: Option<Connection>,
    /// What it wrote to stderr before its connection was gone.
    last_words: String,
    /// How long listing what it offers took.
    listing_took: Option<Duration>,
    /// Since when the status is what it is.
    since: SystemTime,
    /// When it is tried again, where that is planned.
    next_attempt: Option<SystemTime>,
    /// What it said about itself in an earlier run, and when it said something last.
    remembered: Option<(Agreed, SystemTime)>,
}

impl Entry {
    fn new(config: Arc<ServerConfig>, since: SystemTime) -> Self {
        Self {
            config,
            status: ServerStatus::Disconnected,
            is_settled: false,
            error: None,
            connection: None,
            last_words: String::new(),
            listing_took: None,
            since,
            next_attempt: None,
            remembered: None,
        }
    }

    /// Whether it is known from an earlier run, and nobody has tried to connect to it in this one.
    fn is_resting(&self) -> bool {
        self.connection.is_none() && self.remembered.is_some() && self.status == ServerStatus::Disconnected
    }

    /// Nothing more is to be found out about it.
    fn give_up(&mut self) -> Option<Connection> {
        self.is_settled = true;
        self.connection.take()
    }

    fn view(&self) -> ServerView {
        ServerView {
            config: self.config.clone(),
            status: self.status,
            is_settled: self.is_settled,
            error: self.error.clone(),
            is_remembered: self.connection.is_none() && self.remembered.is_some(),
            remembered_at: self.remembered.as_ref().filter(|_| self.connection.is_none()).map(|(_, at)| *at),
            agreed: match (&self.connection, &self.remembered) {
                (Some(connection), _) => Some(connection.agreed()),
                (None, remembered) => remembered.as_ref().map(|(agreed, _)| agreed.clone()),
            },
            listing_took: self.listing_took,
            since: self.since,
            next_attempt: self.next_attempt,
        }
    }
}

impl ConnectionManager {
    pub(crate) fn new(wiring: Wiring) -> Self {
        let logins = Arc::new(Logins::new(wiring.env.clone(), wiring.token_store));
        let opener = Opener::new(wiring.env.clone(), &wiring.env_exceptions, logins.clone());
        let places = Arc::new(Semaphore::new(wiring.connect_limit.clamp(1, Semaphore::MAX_PERMITS)));
        let folders = Arc::new(RwLock::new(wiring.env.workspace.clone()));
        Self {
            wiring,
            opener,
            folders,
            logins,
            places,
            board: Mutex::default(),
            retiring: Mutex::default(),
            is_closed: AtomicBool::new(false),
        }
    }

    /// The logins of all servers.
    pub(crate) fn logins(&self) -> &Logins {
        &self.logins
    }

    /// Who can log in to a server.
    pub(crate) async fn login_of(&self, server: &ServerConfig) -> Result<Arc<ServerLogin>> {
        self.opener.login(server).await
    }

    fn now(&self) -> SystemTime {
        self.wiring.env.clock.now()
    }

    fn board(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes servers in, after those that are there; a name that is there already stays what it is. Gives those that are new.
    pub(crate) fn enlist(&self, servers: AdmittedServers) -> Vec<Arc<ServerConfig>> {
        let now = self.now();
        let mut board = self.board();
        let mut new = Vec::new();
        for config in servers.into_inner() {
            if board.iter().any(|entry| entry.config.name == config.name) {
                continue;
            }
            let config = anew(config);
            new.push(config.clone());
            board.push(Entry::new(config, now));
        }
        new
    }

    /// Makes `servers` the ones on the board, in their order. One that is there and means the same stays as it is.
    pub(crate) fn reconcile(&self, servers: AdmittedServers) -> Difference {
        let now = self.now();
        let mut difference = Difference::default();
        let mut gone = Vec::new();
        let mut board = self.board();
        let mut before = std::mem::take(&mut *board);
        for config in servers.into_inner() {
            let same = before.iter().position(|entry| entry.config.means_the_same(&config));
            match same {
                Some(at) => board.push(before.swap_remove(at)),
                None => {
                    let config = anew(config);
                    difference.start.push(config.clone());
                    board.push(Entry::new(config, now));
                }
            }
        }
        drop(board);
        for mut entry in before {
            let name = entry.config.name.clone();
            match entry.connection.take() {
                Some(connection) => {
                    gone.push((name.clone(), ServerStatus::Disconnecting));
                    difference.retire.push(connection);
                }
                // Nothing has to end first.
                None if entry.status == ServerStatus::Connecting => {
                    gone.push((name.clone(), ServerStatus::Disconnected))
                }
                None => {}
            }
            difference.stop.push(name);
        }
        gone.into_iter().for_each(|(name, status)| (self.wiring.on_status)(&name, status, None));
        difference
    }

    /// Whether servers are borrowed where that is possible.
    pub(crate) fn borrows(&self) -> bool {
        self.wiring.lender.is_some()
    }

    /// Has these folders beside the workspace from now on. The connections given are of servers that are to be told so.
    pub(crate) fn include(&self, folders: &[PathBuf]) -> Vec<Connection> {
        let mut told = self.folders.write().unwrap_or_else(PoisonError::into_inner);
        if told.included() == folders {
            return Vec::new();
        }
        *told = told.including(folders.to_vec());
        drop(told);
        let is_other = |entry: &&Entry| entry.config.transport.builtin().is_none();
        self.board().iter().filter(is_other).filter_map(|entry| entry.connection.clone()).collect()
    }

    /// Closes a connection when the calls that run on it have ended, or when everything is closed.
    pub(crate) async fn retire(&self, connection: Connection) {
        let retiring = || self.retiring.lock().unwrap_or_else(PoisonError::into_inner);
        retiring().push(connection.clone());
        connection.clone().retire().await;
        retiring().retain(|other| !other.is_same(&connection));
        // One that has a place on the board is told of there.
        if !self.board().iter().any(|entry| entry.config.name == *connection.server()) {
            (self.wiring.on_status)(connection.server(), ServerStatus::Disconnected, None);
        }
    }

    /// Whether that is still what a server on the board means.
    pub(crate) fn is_current(&self, config: &Arc<ServerConfig>) -> bool {
        self.board().iter().any(|entry| Arc::ptr_eq(&entry.config, config))
    }

    /// Connects to one server. The connection is kept here too, until it is closed or lost.
    pub(crate) async fn open(&self, config: &Arc<ServerConfig>) -> Result<Connection> {
        let place = self.places.clone().acquire_owned().await.ok();
        self.change(config, ServerStatus::Connecting, |_| ());
        let mut opening = std::pin::pin!(self.open_now(config));
        // A silent server gives its place to the next one, and goes on without it.
        let opened = match tokio::time::timeout(Duration::from_millis(STARTING_PLACE_MS), &mut opening).await {
            Ok(opened) => opened,
            Err(_) => {
                drop(place);
                opening.await
            }
        };
        match opened {
            Ok(connection) if self.is_closed.load(Ordering::Acquire) || !self.is_current(config) => {
                connection.client().close().await;
                Err(Error::new(ErrorKind::Connect, "no longer wanted").about(&config.name))
            }
            Ok(connection) => {
                let kept = connection.clone();
                self.change(config, ServerStatus::Connected, |entry| {
                    entry.connection = Some(kept);
                    entry.error = None;
                    // What is shown from now on is of this run, also when the server is lost again.
                    entry.remembered = None;
                });
                Ok(connection)
            }
            Err((error, last_words)) => {
                let error = with_env_hint(config, error, &last_words);
                self.fail(config, &error, last_words);
                Err(error)
            }
        }
    }

    /// Notes that a server could not be started, or not be understood.
    pub(crate) fn fail(&self, server: &Arc<ServerConfig>, error: &Error, last_words: String) {
        self.end(server, ServerStatus::after(error), error, last_words);
    }

    /// Notes that a server was lost.
    pub(crate) fn lose(&self, server: &Arc<ServerConfig>, why: &Error, last_words: String) {
        self.end(server, ServerStatus::Disconnected, why, last_words);
    }

    fn end(&self, server: &Arc<ServerConfig>, status: ServerStatus, error: &Error, last_words: String) {
        let error = with_env_hint(server, error.clone(), &last_words);
        self.change(server, status, |entry| {
            entry.error = Some(error);
            entry.connection = None;
            entry.last_words = last_words;
        });
    }

    /// The end of what a server wrote to stderr.
    pub(crate) fn stderr_tail(&self, server: &str) -> String {
        let board = self.board();
        let entry = board.iter().find(|entry| &*entry.config.name == server);
        let tail = |entry: &Entry| match &entry.connection {
            Some(connection) => connection.stderr_tail(),
            None => entry.last_words.clone(),
        };
        entry.map(tail).unwrap_or_default()
    }

    /// Notes what a server said about itself in an earlier run, and when it said something last.
    pub(crate) fn remember(&self, server: &Arc<ServerConfig>, agreed: Agreed, at: SystemTime) {
        self.with_entry(server, |entry| entry.remembered = Some((agreed, at)));
    }

    /// Notes that a server is tried again after that time, or only when somebody wants it.
    pub(crate) fn plan_next(&self, server: &Arc<ServerConfig>, wait: Option<Duration>) {
        let at = wait.and_then(|wait| self.now().checked_add(wait));
        self.with_entry(server, |entry| entry.next_attempt = at);
    }

    /// A server that was replaced meanwhile has no place on the board.
    fn with_entry(&self, server: &Arc<ServerConfig>, change: impl FnOnce(&mut Entry)) {
        let mut board = self.board();
        if let Some(entry) = board.iter_mut().find(|entry| Arc::ptr_eq(&entry.config, server)) {
            change(entry);
        }
    }

    /// Notes how long listing what a server offers took.
    pub(crate) fn listed(&self, server: &Arc<ServerConfig>, took: Duration) {
        self.with_entry(server, |entry| entry.listing_took = Some(took));
    }

    /// Notes that everything that was to be found out about a server has been, and what went wrong on the way while it is connected, or is known
    /// to be wrong with it from an earlier run.
    pub(crate) fn settle(&self, server: &Arc<ServerConfig>, problem: Option<Error>) {
        self.with_entry(server, |entry| {
            entry.is_settled = true;
            if entry.connection.is_some() || entry.is_resting() {
                entry.error = problem;
            }
        });
    }

    /// Notes that there is more to be found out about a server, unless that has failed; whether it is so.
    pub(crate) fn unsettle(&self, server: &Arc<ServerConfig>) -> bool {
        let mut is_open = false;
        self.with_entry(server, |entry| {
            is_open = entry.error.is_none() || entry.is_resting();
            entry.is_settled &= !is_open;
        });
        is_open
    }

    /// Closes all connections in order, all at once.
    pub(crate) async fn close_all(&self) {
        self.is_closed.store(true, Ordering::Release);
        let is_starting = |entry: &&Entry| entry.status == ServerStatus::Connecting;
        let starting: Vec<_> = self.board().iter().filter(is_starting).map(|entry| entry.config.clone()).collect();
        let mut open: Vec<Connection> = self.board().iter_mut().filter_map(Entry::give_up).collect();
        starting.iter().for_each(|config| self.change(config, ServerStatus::Disconnected, |_| ()));
        open.append(&mut self.retiring.lock().unwrap_or_else(PoisonError::into_inner));
        let closing = open.iter().map(|connection| async {
            self.change(connection.config(), ServerStatus::Disconnecting, |_| ());
            connection.client().close().await;
            self.change(connection.config(), ServerStatus::Disconnected, |_| ());
        });
        futures_util::future::join_all(closing).await;
    }

    /// All servers, in order.
    pub(crate) fn views(&self) -> Vec<ServerView> {
        self.board().iter().map(Entry::view).collect()
    }

    /// The names of all servers, in order.
    pub(crate) fn names(&self) -> Vec<ServerName> {
        self.board().iter().map(|entry| entry.config.name.clone()).collect()
    }

    /// Whether every server has settled.
    pub(crate) fn are_all_settled(&self) -> bool {
        // While servers settle in order, the last one tells soonest.
        self.board().iter().rev().all(|entry| entry.is_settled)
    }

    /// The name of each server in order, and whether it has settled.
    pub(crate) fn settled(&self) -> Vec<(ServerName, bool)> {
        self.board().iter().map(|entry| (entry.config.name.clone(), entry.is_settled)).collect()
    }

    /// A server that was replaced meanwhile has no place on the board to be changed.
    fn change(&self, server: &Arc<ServerConfig>, status: ServerStatus, change: impl FnOnce(&mut Entry)) {
        let now = self.now();
        let error = {
            let mut board = self.board();
            let Some(entry) = board.iter_mut().find(|entry| Arc::ptr_eq(&entry.config, server)) else { return };
            if entry.status != status {
                entry.since = now;
            }
            entry.status = status;
            entry.next_attempt = None;
            change(entry);
            entry.error.clone()
        };
        (self.wiring.on_status)(&server.name, status, error.as_ref());
    }
}

/// What a server is meant to be that begins now. No two of its lives share it, so that it tells them apart.
fn anew(config: Arc<ServerConfig>) -> Arc<ServerConfig> {
    Arc::new(Arc::unwrap_or_clone(config))
}

impl fmt::Debug for ConnectionManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionManager").field("servers", &self.board().len()).finish_non_exhaustive()
    }
}
