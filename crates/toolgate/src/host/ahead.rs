//! `ReadAhead`: what is kept of servers, read before there is a host: while somebody finds out what else it needs. Of many servers a thread of
//! its own reads, and whoever needs it before that is done reads along.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::SystemTime;

use toolgate_wire::transport::child::expect_child;

use crate::discovery::{Interest, Offered, offered_by_built_in};
use crate::env::HostEnv;
use crate::kept::{Freshness, KeptOffers, KeptReader, freshness};
use crate::servers::{ServerConfig, TransportConfig};
use crate::trust::AdmittedServers;

/// From this many servers on, a second thread is worth its start.
const SHARED_MIN: usize = 16;

/// What is kept of a server, and whether it can be believed; nothing when nothing that is wanted was ever asked for.
pub(super) type Remembered = Option<(Offered, Freshness)>;

/// What is kept of some servers.
pub struct ReadAhead {
    reading: Arc<Reading>,
    /// What was read already, with the place of the server it is about.
    read: Vec<(usize, Remembered)>,
    /// What somebody else reads. Nobody waits for the end of that thread, which takes longer than a server.
    other: Option<Receiver<Vec<(usize, Remembered)>>>,
}

impl fmt::Debug for ReadAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadAhead").field("servers", &self.reading.servers.len()).finish_non_exhaustive()
    }
}

/// What those who read share.
struct Reading {
    kept: KeptOffers,
    env: Arc<HostEnv>,
    interest: Interest,
    servers: Vec<Arc<ServerConfig>>,
    /// The server that nobody has taken yet.
    next: AtomicUsize,
    now: SystemTime,
    /// Whether servers of which too little is kept are started soon.
    starts: bool,
}

impl ReadAhead {
    /// Reads for a host that lives for one question: what all servers need that it will start is begun too.
    pub(super) fn for_one_question(env: &Arc<HostEnv>, interest: Interest, servers: &AdmittedServers) -> Self {
        let reading = Reading::new(&KeptOffers::new(env), env, interest, servers.shared());
        Self::begin(Reading { starts: true, ..reading })
    }

    /// Reads for a host that is there.
    pub(super) fn of(kept: &KeptOffers, env: &Arc<HostEnv>, interest: Interest, servers: &[Arc<ServerConfig>]) -> Self {
        Self::begin(Reading::new(kept, env, interest, servers))
    }

    fn begin(reading: Reading) -> Self {
        let reading = Arc::new(reading);
        if reading.servers.len() < SHARED_MIN {
            let read = reading.read();
            return Self { reading, read, other: None };
        }
        let (tell, other) = mpsc::channel();
        let shared = reading.clone();
        let read = move || drop(tell.send(shared.read()));
        // Without a thread whoever needs it reads all of it.
        let _is_shared = thread::Builder::new().name("reader".to_owned()).spawn(read).is_ok();
        Self { reading, read: Vec::new(), other: Some(other) }
    }

    /// Whether it is about these servers, as they are meant.
    pub(super) fn is_about(&self, servers: &[Arc<ServerConfig>]) -> bool {
        self.reading.servers == servers
    }

    /// What is kept of each server, in their order.
    pub(super) fn finish(mut self) -> Vec<Remembered> {
        self.read.extend(self.reading.read());
        let others = self.other.map(|other| other.recv().unwrap_or_default());
        let mut all: Vec<Remembered> = self.reading.servers.iter().map(|_| None).collect();
        for (at, remembered) in self.read.into_iter().chain(others.into_iter().flatten()) {
            if let Some(place) = all.get_mut(at) {
                *place = remembered;
            }
        }
        all
    }
}

impl Reading {
    fn new(kept: &KeptOffers, env: &Arc<HostEnv>, interest: Interest, servers: &[Arc<ServerConfig>]) -> Self {
        let (kept, env, servers, now) = (kept.clone(), env.clone(), servers.to_vec(), env.clock.now());
        Self { kept, env, interest, servers, next: AtomicUsize::new(0), now, starts: false }
    }

    /// Reads what nobody else reads: whoever comes first takes the next one, since a thread takes a moment to begin.
    fn read(&self) -> Vec<(usize, Remembered)> {
        let reader = self.kept.reader();
        let next = || {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let server = self.servers.get(at)?;
            let remembered = self.remembered(server, &reader);
            let is_fresh = matches!(remembered, Some((_, Freshness::Fresh)));
            if self.starts && !is_fresh && matches!(server.transport, TransportConfig::Stdio(_)) {
                expect_child();
            }
            Some((at, remembered))
        };
        std::iter::from_fn(next).collect()
    }

    fn remembered(&self, server: &ServerConfig, reader: &KeptReader<'_>) -> Remembered {
        let offered = match &server.transport {
            // What is built in is not kept: it is known.
            TransportConfig::BuiltIn(server) => offered_by_built_in(&self.env.workspace, &server.included, self.now)?,
            _ => reader.load(server)?.offered,
        };
        let freshness = freshness(&offered, self.interest, &server.transport, self.now);
        let has_some = freshness != Freshness::Incomplete || offered.has_some(self.interest);
        has_some.then_some((offered, freshness))
    }
}
