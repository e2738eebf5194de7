//! `Line`: the way to one server, across all its connections. Whoever wants to use a server asks its line, which starts it when nobody has, and
//! waits for the next connection when the last one is gone.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    state: watch::Sender<Now>,
    /// Has it attended to, when nobody attends to it before it is asked for.
    starter: Mutex<Option<Starter>>,
    /// How often somebody asked for a connection.
    asked: watch::Sender<u64>,
    /// How often somebody wanted its lists to be read anew.
    refreshed: watch::Sender<u64>,
    /// How many connections there were.
    connections: AtomicU64,
    calls: AtomicU64,
    /// Answers that came when nobody waited any more, on connections that are gone.
    late: AtomicU64,
}

/// Has a line attended to.
type Starter = Box<dyn FnOnce(Line) + Send>;

/// A server that is there: a connection, and what it said over it.
#[derive(Debug, Clone)]
pub struct Live {
    /// The connection.
    pub connection: Connection,
    /// What the server offers.
    pub offered: Arc<Offered>,
}

/// Where it is, and how many attempts to connect were begun until then: one value, so that nobody sees the one without the other.
#[derive(Debug, Clone)]
struct Now {
    attempts: u64,
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    /// Nobody has wanted it yet.
    Resting,
    /// The last attempt is being made.
    Opening,
    Open(Live),
    /// The last attempt failed, or its connection was lost.
    Down(Error),
    /// Nobody attends to it any more.
    Ended(Why),
}

/// Why nobody attends to a server any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// It is not among those that are wanted any more, or means something else now.
    Replaced,
    /// Everything is being ended.
    AllEnded,
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
    /// The way to a server, with what went over the one that there was before.
    pub(crate) fn new(config: Arc<ServerConfig>, before: Traffic) -> Self {
        let gate = Gate::new(config.max_concurrency, config.on_busy);
        Self(Arc::new(Inner {
            config,
            identity: OnceLock::new(),
            gate,
            state: watch::Sender::new(Now { attempts: 0, state: State::Resting }),
            starter: Mutex::default(),
            asked: watch::Sender::new(0),
            refreshed: watch::Sender::new(0),
            connections: AtomicU64::new(before.connections),
            calls: AtomicU64::new(before.calls),
            late: AtomicU64::new(before.late_answers),
        }))
    }

    /// Whose line it is.
    pub fn server(&self) -> &ServerName {
        &self.0.config.name
    }

    /// Whether both are the same way.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
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
        match &self.0.state.borrow().state {
            State::Open(live) if live.connection.is_open() => Some(live.clone()),
            _ => None,
        }
    }

    /// Whether it can be used at this moment.
    pub fn availability(&self) -> Availability {
        match &self.0.state.borrow().state {
            State::Open(live) => match live.connection.end() {
                None => Availability::Live,
                Some(error) => Availability::Unavailable(error),
            },
            State::Resting => Availability::Resting,
            State::Opening => Availability::Connecting,
            State::Down(error) => Availability::Unavailable(error.clone()),
            State::Ended(why) => Availability::Unavailable(self.ended(*why)),
        }
    }

    /// The server, started or connected anew when that is needed. Several who ask at once share one attempt.
    ///
    /// # Errors
    /// When the attempt failed, or nobody attends to the server any more.
    pub async fn live(&self) -> Result<Live> {
        if let Some(live) = self.now() {
            return Ok(live);
        }
        let mut state = self.0.state.subscribe();
        // The attempt whose outcome is the answer: one that is under way, else the next.
        let mut awaited = None;
        loop {
            let is_new = {
                let now = state.borrow_and_update();
                let is_under_way = matches!(now.state, State::Opening);
                let is_new = awaited.is_none() && !is_under_way;
                let awaited = *awaited.get_or_insert(now.attempts + u64::from(is_new));
                match &now.state {
                    State::Open(live) if live.connection.is_open() => return Ok(live.clone()),
                    State::Down(error) if now.attempts >= awaited => return Err(error.clone()),
                    State::Ended(why) => return Err(self.ended(*why)),
                    _ => is_new,
                }
            };
            if is_new {
                self.ask();
            }
            if state.changed().await.is_err() {
                return Err(self.ended(Why::AllEnded));
            }
        }
    }

    fn ended(&self, why: Why) -> Error {
        let (what, hint) = match why {
            Why::Replaced => (
                "the server was changed or removed in the settings meanwhile",
                "what is to be called on the server as it is now has to be called again",
            ),
            Why::AllEnded => ("all servers are being stopped", "nothing is started any more"),
        };
        Error::new(ErrorKind::Connect, what).about(self.server()).hinting(hint)
    }

    /// Wants a connection, without waiting for it.
    pub(crate) fn ask(&self) {
        self.0.asked.send_modify(|asked| *asked += 1);
        self.start();
    }

    fn start(&self) {
        if let Some(start) = self.starter() {
            start(self.clone());
        }
    }

    fn starter(&self) -> Option<Starter> {
        self.0.starter.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Nobody attends to the server until somebody asks for it, and then `start` has it attended to.
    pub(crate) fn rest_until_asked(&self, start: impl FnOnce(Self) + Send + 'static) {
        *self.0.starter.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(start));
        // Somebody may have been faster.
        if *self.0.asked.borrow() > 0 {
            self.start();
        }
    }

    /// Who asks for a connection. For whoever attends to the server.
    pub(crate) fn asks(&self) -> watch::Receiver<u64> {
        self.0.asked.subscribe()
    }

    /// Wants its lists to be read anew, and a connection for that.
    pub fn refresh(&self) {
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
        self.turn_to(State::Opening);
    }

    /// Says that the server is there, or that it offers something else than before.
    pub(crate) fn open(&self, live: Live) {
        let connection = live.connection.clone();
        let before = self.turn_to(State::Open(live));
        if !matches!(before, State::Open(before) if before.connection.is_same(&connection)) {
            self.0.connections.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Says that the attempt failed, or that the connection is gone.
    pub(crate) fn down(&self, error: Error) {
        if let State::Open(live) = self.turn_to(State::Down(error)) {
            self.0.late.fetch_add(live.connection.late_answers(), Ordering::Relaxed);
        }
    }

    /// Says that nobody attends to the server any more.
    pub(crate) fn end(&self, why: Why) {
        self.turn_to(State::Ended(why));
        drop(self.starter());
    }

    /// Gives what it was before. What has ended stays so.
    fn turn_to(&self, mut state: State) -> State {
        self.0.state.send_modify(|now| {
            if !matches!(now.state, State::Ended(_)) {
                now.attempts += u64::from(matches!(state, State::Opening));
                std::mem::swap(&mut now.state, &mut state);
            }
        });
        state
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
        f.debug_struct("Line").field("server", self.server()).field("state", &self.0.state.borrow().state).finish()
    }
}
