//! `Line`: the way to one server, across all its connections. Whoever wants to use a server asks its line, which starts it when nobody has, and
//! waits for the next connection when the last one is gone.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;

use crate::connect::{Connection, Gate};
use crate::discovery::Offered;
use crate::error::{Error, ErrorKind, Result};
use crate::server_name::ServerName;
use crate::servers::{ServerConfig, identity};

/// The way to one server. Cheap to clone.
#[derive(Clone)]
pub struct Line(Arc<Inner>);

struct Inner {
    config: Arc<ServerConfig>,
    identity: OnceLock<String>,
    gate: Gate,
    state: watch::Sender<State>,
    /// How often somebody asked for a connection.
    asked: watch::Sender<u64>,
    /// How often somebody wanted its lists to be read anew.
    refreshed: watch::Sender<u64>,
    /// How many attempts to connect were begun.
    attempts: AtomicU64,
    /// How many connections there were.
    connections: AtomicU64,
    calls: AtomicU64,
    /// Answers that came when nobody waited any more, on connections that are gone.
    late: AtomicU64,
}

/// A server that is there: a connection, and what it said over it.
#[derive(Debug, Clone)]
pub struct Live {
    /// The connection.
    pub connection: Connection,
    /// What the server offers.
    pub offered: Arc<Offered>,
}

#[derive(Debug, Clone)]
enum State {
    /// Nobody has wanted it yet.
    Resting,
    /// That attempt is being made.
    Opening,
    Open(Live),
    /// That attempt failed, or its connection was lost.
    Down {
        attempt: u64,
        error: Error,
    },
    /// Nobody attends to it any more.
    Ended,
}

/// Whether a server can be used at this moment.
#[derive(Debug, Clone)]
pub enum Availability {
    /// It is connected.
    Live,
    /// It is started when it is used.
    Resting,
    /// It is being connected.
    Connecting,
    /// It was lost or could not be reached; using it tries again.
    Unavailable(Error),
}

/// What went over a line so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Calls that were made.
    pub calls: u64,
    /// Calls that run.
    pub running: usize,
    /// Calls that wait for a place.
    pub waiting: usize,
    /// Connections that there were, the present one included.
    pub connections: u64,
    /// Answers that came when nobody waited for them any more.
    pub late_answers: u64,
}

impl Line {
    pub(crate) fn new(config: Arc<ServerConfig>) -> Self {
        let gate = Gate::new(config.max_concurrency, config.on_busy);
        Self(Arc::new(Inner {
            config,
            identity: OnceLock::new(),
            gate,
            state: watch::Sender::new(State::Resting),
            asked: watch::Sender::new(0),
            refreshed: watch::Sender::new(0),
            attempts: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            late: AtomicU64::new(0),
        }))
    }

    /// Whose line it is.
    pub fn server(&self) -> &ServerName {
        &self.0.config.name
    }

    /// What the server is meant to be.
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.0.config
    }

    /// The hash of how the server is reached.
    pub(crate) fn identity(&self) -> &str {
        self.0.identity.get_or_init(|| identity(&self.0.config))
    }

    /// The server, if it is there at this moment.
    pub fn now(&self) -> Option<Live> {
        match &*self.0.state.borrow() {
            State::Open(live) if live.connection.is_open() => Some(live.clone()),
            _ => None,
        }
    }

    /// Whether it can be used at this moment.
    pub fn availability(&self) -> Availability {
        match &*self.0.state.borrow() {
            State::Open(live) => match live.connection.end() {
                None => Availability::Live,
                Some(error) => Availability::Unavailable(error),
            },
            State::Resting => Availability::Resting,
            State::Opening => Availability::Connecting,
            State::Down { error, .. } => Availability::Unavailable(error.clone()),
            State::Ended => Availability::Unavailable(self.ended()),
        }
    }

    /// The server, started or connected anew when that is needed. Several who ask at once share one attempt.
    ///
    /// # Errors
    /// When the attempt failed, or nobody attends to the server any more.
    pub async fn live(&self) -> Result<Live> {
        let mut state = self.0.state.subscribe();
        // An attempt that is under way answers for whoever asks now.
        let begun = self.0.attempts.load(Ordering::Acquire);
        let is_under_way = matches!(&*state.borrow(), State::Opening);
        let good_from = if is_under_way { begun } else { begun + 1 };
        let mut has_asked = is_under_way;
        loop {
            match &*state.borrow_and_update() {
                State::Open(live) if live.connection.is_open() => return Ok(live.clone()),
                State::Down { attempt, error } if *attempt >= good_from => return Err(error.clone()),
                State::Ended => return Err(self.ended()),
                _ => {}
            }
            if !std::mem::replace(&mut has_asked, true) {
                self.ask();
            }
            if state.changed().await.is_err() {
                return Err(self.ended());
            }
        }
    }

    fn ended(&self) -> Error {
        Error::new(ErrorKind::Connect, "the server is no longer wanted").about(self.server())
    }

    /// Wants a connection, without waiting for it.
    pub(crate) fn ask(&self) {
        self.0.asked.send_modify(|asked| *asked += 1);
    }

    /// Who asks for a connection. For whoever attends to the server.
    pub(crate) fn asks(&self) -> watch::Receiver<u64> {
        self.0.asked.subscribe()
    }

    /// Wants its lists to be read anew, and a connection for that.
    pub(crate) fn refresh(&self) {
        self.0.refreshed.send_modify(|times| *times += 1);
        if self.now().is_none() {
            self.ask();
        }
    }

    /// When its lists are to be read anew. For whoever attends to the server.
    pub(crate) fn refreshes(&self) -> watch::Receiver<u64> {
        self.0.refreshed.subscribe()
    }

    /// Says that an attempt begins.
    pub(crate) fn begin(&self) {
        self.0.attempts.fetch_add(1, Ordering::AcqRel);
        self.0.state.send_replace(State::Opening);
    }

    /// Says that the server is there, or that it offers something else than before.
    pub(crate) fn open(&self, live: Live) {
        let is_new =
            !matches!(&*self.0.state.borrow(), State::Open(before) if before.connection.is_same(&live.connection));
        if is_new {
            self.0.connections.fetch_add(1, Ordering::Relaxed);
        }
        self.0.state.send_replace(State::Open(live));
    }

    /// Says that the attempt failed, or that the connection is gone.
    pub(crate) fn down(&self, error: Error) {
        let attempt = self.0.attempts.load(Ordering::Acquire);
        let before = self.0.state.send_replace(State::Down { attempt, error });
        if let State::Open(live) = before {
            self.0.late.fetch_add(live.connection.late_answers(), Ordering::Relaxed);
        }
    }

    /// Says that nobody attends to the server any more.
    pub(crate) fn end(&self) {
        self.0.state.send_replace(State::Ended);
    }

    /// How many calls run at once, and who waits.
    pub(crate) fn gate(&self) -> &Gate {
        &self.0.gate
    }

    /// Counts a call.
    pub(crate) fn count_call(&self) {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// What went over it so far.
    pub fn traffic(&self) -> Traffic {
        let now = self.now().map(|live| live.connection.late_answers()).unwrap_or_default();
        Traffic {
            calls: self.0.calls.load(Ordering::Relaxed),
            running: self.0.gate.running(),
            waiting: self.0.gate.waiting(),
            connections: self.0.connections.load(Ordering::Relaxed),
            late_answers: self.0.late.load(Ordering::Relaxed) + now,
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("server", self.server()).field("state", &*self.0.state.borrow()).finish()
    }
}
