//! `Board`: what the tasks of a host share: its connections, what each server offers, the names given so far, and who wants to hear of it.

use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::{broadcast, watch};
use tokio::task::AbortHandle;

use super::ahead::{ReadAhead, Remembered};
use super::shown::Shown;
use super::start_plan::Life;
use super::{HostBuilder, Memory};
use crate::connect::{ConnectionManager, Kind, Wiring};
use crate::discovery::{Interest, Line, Offered, ServerCatalog, Traffic, Why};
use crate::env::HostEnv;
use crate::error::Error;
use crate::event::{Diagnostic, DiscoveryState, HostEvent, HostEvents, Severity};
use crate::kept::{KeptOffers, KeptPlace};
use crate::limits::EVENTS_WAITING_MAX;
use crate::registry::name::{Claim, Claims, Prefixes};
use crate::registry::{Catalog, NameBook, Naming};
use crate::server_name::ServerName;
use crate::servers::ServerConfig;

pub(super) struct Board {
    pub(super) manager: ConnectionManager,
    pub(super) interest: Interest,
    pub(super) life: Life,
    env: Arc<HostEnv>,
    memory: Memory,
    kept: KeptOffers,
    /// What was read of it before this host was there.
    ahead: Mutex<Option<ReadAhead>>,
    naming: Naming,
    state: Mutex<State>,
    /// Counts the changes of what is offered, and wakes those who wait for one.
    changes: watch::Sender<u64>,
    events: broadcast::Sender<HostEvent>,
}

#[derive(Default)]
struct State {
    offers: HashMap<ServerName, Arc<ServerCatalog>>,
    discovery: DiscoveryState,
    /// Names that were shown, and the catalog that showed them last.
    book: NameBook,
    shown: Option<(u64, Arc<Catalog>)>,
    /// The catalog that was named as if nothing had been shown, for as long as nothing changes.
    fresh: Option<(u64, Arc<Catalog>)>,
    attending: HashMap<ServerName, Attended>,
    /// What went over the ways to servers that were started anew since, or are gone.
    past: HashMap<ServerName, Traffic>,
    /// What servers said and is not kept yet: a host that lives for one question answers it first.
    to_keep: Vec<(KeptPlace, Arc<Offered>)>,
}

/// A server of this host.
struct Attended {
    line: Line,
    /// Whoever attends to it; nobody, while it rests.
    task: Option<AbortHandle>,
}

impl Attended {
    fn end(self, why: Why) {
        self.task.iter().for_each(AbortHandle::abort);
        self.line.end(why);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    pub(super) fn new(builder: HostBuilder) -> Arc<Self> {
        let (events, _) = broadcast::channel(EVENTS_WAITING_MAX);
        let HostBuilder {
            env,
            front_end,
            tap,
            naming,
            interest,
            connect_limit,
            env_exceptions,
            life,
            memory,
            token_store,
            lender,
            ahead,
            ..
        } = builder;
        let told = events.clone();
        let on_status = Box::new(move |server: &ServerName, status, error: Option<&Error>| {
            tell(&told, HostEvent::Status { server: server.clone(), status, error: error.cloned() });
        });
        let kept = KeptOffers::new(&env);
        let wiring =
            Wiring { env: env.clone(), env_exceptions, front_end, tap, connect_limit, token_store, lender, on_status };
        let manager = ConnectionManager::new(wiring);
        let (state, changes, ahead) = (Mutex::default(), watch::Sender::new(0), Mutex::new(ahead));
        Arc::new(Self { manager, interest, life, env, memory, kept, ahead, naming, state, changes, events })
    }

    pub(super) fn now(&self) -> SystemTime {
        self.env.clock.now()
    }

    /// Whether servers are asked to tell of changes.
    pub(super) fn follows_changes(&self) -> bool {
        self.life == Life::Long
    }

    /// What is kept of each of these servers, as far as it may be used here.
    pub(super) fn kept(&self, servers: &[Arc<ServerConfig>]) -> Vec<Remembered> {
        if self.memory != Memory::Used {
            return servers.iter().map(|_| None).collect();
        }
        let ahead = lock(&self.ahead).take().filter(|ahead| ahead.is_about(servers));
        let reading = ahead.unwrap_or_else(|| ReadAhead::of(&self.kept, &self.env, self.interest, servers));
        reading.finish()
    }

    /// Where what a server says is kept, as its files are now; nowhere, when nothing is to be.
    pub(super) fn place(&self, config: &ServerConfig) -> Option<KeptPlace> {
        let is_kept = self.memory != Memory::Off && config.transport.builtin().is_none();
        is_kept.then(|| self.kept.place(config))
    }

    /// Keeps what a server said for the next run. Waited for, since what is said next must not be overtaken by it.
    pub(super) async fn keep(&self, place: Option<&KeptPlace>, offered: &Arc<Offered>) {
        let Some(place) = place.cloned() else { return };
        let offered = offered.clone();
        if self.life == Life::OneQuestion {
            lock(&self.state).to_keep.push((place, offered));
            return;
        }
        let _is_kept = tokio::task::spawn_blocking(move || place.keep(&offered)).await.is_ok();
    }

    /// Forgets what is kept of a server.
    pub(super) fn forget(&self, config: &ServerConfig) {
        let _there_was_something = self.kept.forget(config);
    }

    /// Keeps what was put off.
    pub(super) fn keep_the_rest(&self) {
        let rest = take(&mut lock(&self.state).to_keep);
        rest.iter().for_each(|(place, offered)| place.keep(offered));
    }

    pub(super) fn events(&self) -> HostEvents {
        HostEvents(self.events.subscribe())
    }

    pub(super) fn tell(&self, event: HostEvent) {
        tell(&self.events, event);
    }

    pub(super) fn diagnose(&self, severity: Severity, server: &ServerName, text: String) {
        self.tell(HostEvent::Diagnostic(Diagnostic { severity, server: server.clone(), text }));
    }

    pub(super) fn discovery(&self) -> DiscoveryState {
        lock(&self.state).discovery
    }

    /// Notes whether all servers have settled, tells it when that is news, and wakes whoever waits. Called whenever one settles, comes, goes, or
    /// has something to find out again.
    pub(super) fn note_discovery(&self) {
        let mut state = lock(&self.state);
        let are_settled = self.manager.are_all_settled();
        let now = if are_settled { DiscoveryState::Completed } else { DiscoveryState::InProgress };
        if std::mem::replace(&mut state.discovery, now) != now {
            // Told before anybody can find something else.
            self.tell(HostEvent::Discovery(now));
        }
        drop(state);
        self.changed();
    }

    /// Makes the way to a server, to which nobody attends yet.
    pub(super) fn take_in(&self, config: Arc<ServerConfig>) -> Line {
        let mut state = lock(&self.state);
        let before = state.past.get(&config.name).copied().unwrap_or_default();
        let line = Line::new(config, before);
        state.attending.insert(line.server().clone(), Attended { line: line.clone(), task: None });
        line
    }

    /// Notes who attends to a server; ends it, when the server is no longer there.
    pub(super) fn keep_task(&self, line: &Line, task: AbortHandle) {
        match lock(&self.state).attending.get_mut(line.server()) {
            Some(attended) if attended.line.is_same(line) => attended.task = Some(task),
            _ => task.abort(),
        }
    }

    /// The way to a server.
    pub(super) fn line(&self, server: &str) -> Option<Line> {
        let state = lock(&self.state);
        state.attending.get(server).map(|attended| attended.line.clone())
    }

    /// The ways to all servers.
    pub(super) fn lines(&self) -> Vec<Line> {
        lock(&self.state).attending.values().map(|attended| attended.line.clone()).collect()
    }

    /// Has those servers say what they offer that have not said it in this run and have not failed to; they settle anew. `false` when there
    /// are none.
    pub(super) fn wake(&self, is_meant: impl Fn(&ServerName) -> bool) -> bool {
        let state = lock(&self.state);
        let is_silent = |line: &Line| state.offers.get(line.server()).is_none_or(|offer| offer.said_by.is_none());
        let lines = state.attending.values().map(|attended| &attended.line).filter(|line| is_meant(line.server()));
        // Unsettled while nothing can be put up: whoever says something now settles after that.
        let silent = lines.filter(|line| is_silent(line) && self.manager.unsettle(line.config()));
        let silent: Vec<Line> = silent.cloned().collect();
        drop(state);
        if silent.is_empty() {
            return false;
        }
        // Before they are asked: one may settle at once.
        self.note_discovery();
        silent.iter().for_each(Line::ask);
        true
    }

    /// What a server offers or offered.
    pub(super) fn offer(&self, line: &Line) -> Option<Arc<ServerCatalog>> {
        lock(&self.state).offers.get(line.server()).cloned()
    }

    /// Ends the task of a server and takes down what it offered.
    pub(super) fn stop_attending_to(&self, server: &ServerName) {
        let mut state = lock(&self.state);
        if let Some(attended) = state.attending.remove(server) {
            state.past.insert(server.clone(), attended.line.traffic());
            attended.end(Why::Replaced);
        }
        state.offers.remove(server);
        (state.shown, state.fresh) = (None, None);
    }

    pub(super) fn stop_attending(&self) {
        lock(&self.state).attending.drain().for_each(|(_, attended)| attended.end(Why::AllEnded));
    }

    /// Puts up what a server offers now, in place of what it offered before. Whoever waits is woken by [`Self::changed`].
    pub(super) fn put(&self, offer: Arc<ServerCatalog>) {
        if !self.manager.is_current(offer.line.config()) {
            return;
        }
        let mut state = lock(&self.state);
        state.offers.insert(offer.server().clone(), offer);
        // Whoever sees that the server has settled must not be shown what was offered before that.
        (state.shown, state.fresh) = (None, None);
    }

    /// Takes everything down.
    pub(super) fn clear(&self) {
        lock(&self.state).offers.clear();
        self.changed();
    }

    pub(super) fn leave_offers_to_the_system(&self) {
        let State { offers, book, shown, fresh, .. } = &mut *lock(&self.state);
        std::mem::forget((take(offers), take(book), take(shown), take(fresh)));
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    pub(super) fn catalog(&self) -> Arc<Catalog> {
        let now = *self.changes.borrow();
        let mut state = lock(&self.state);
        let State { offers, book, shown, .. } = &mut *state;
        kept(shown, now, || build(&claims(self.manager.settled(), offers), offers, self.naming, book))
    }

    pub(super) fn catalog_now(&self, shown: &Shown) -> Arc<Catalog> {
        if shown.keeps_names() {
            return self.catalog_kept(shown);
        }
        let now = *self.changes.borrow();
        let mut state = lock(&self.state);
        let State { offers, fresh, .. } = &mut *state;
        // Whoever looks for a name in it waits for those that could claim it.
        let build = |servers: Vec<ServerName>| {
            let firm: Vec<_> = servers.into_iter().map(|name| (name, Claims::FIRM)).collect();
            build(&firm, offers, self.naming, &mut NameBook::for_once())
        };
        let all = self.manager.names();
        let some: Vec<_> = all.iter().filter(|name| shown.has(name)).cloned().collect();
        if some.len() < all.len() { build(some) } else { kept(fresh, now, || build(all)) }
    }

    /// What the servers that are shown offer, named as among all of them.
    fn catalog_kept(&self, shown: &Shown) -> Arc<Catalog> {
        let all = self.catalog();
        let mut state = lock(&self.state);
        let State { offers, book, .. } = &mut *state;
        let mut servers = claims(self.manager.settled(), offers);
        let count = servers.len();
        servers.retain(|(name, _)| shown.has(name));
        if servers.len() < count { build(&servers, offers, self.naming, book) } else { all }
    }

    /// The servers that are shown, in order, and whether each has settled.
    pub(super) fn order(&self, shown: &Shown) -> Vec<(ServerName, bool)> {
        self.manager.settled().into_iter().filter(|(name, _)| shown.has(name)).collect()
    }

    /// Waits until `look` sees what it wants.
    pub(super) async fn wait<T>(&self, look: impl Fn(&Self) -> Option<T>) -> T {
        let mut changes = self.changes.subscribe();
        loop {
            changes.mark_unchanged();
            if let Some(seen) = look(self) {
                return seen;
            }
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await; // The sender lives in this very board.
            }
        }
    }

    /// Waits until what `find` finds can no longer become something else; without success, until there is nobody left to wait for.
    /// `find` gives the server that has it, and whether no other server could take it away.
    pub(super) async fn wait_for(
        &self,
        shown: &Shown,
        find: impl Fn(&Catalog) -> Option<(ServerName, bool)>,
    ) -> Result<(Arc<Catalog>, ServerName), Arc<Catalog>> {
        let look = |board: &Self| {
            let order = board.order(shown);
            // Names that were shown are those among all servers, also those that are not shown now.
            let is_complete = match shown.keeps_names() {
                true => board.manager.are_all_settled(),
                false => order.iter().all(|(_, is_settled)| *is_settled),
            };
            let catalog = board.catalog_now(shown);
            match find(&catalog) {
                Some((server, is_final)) => {
                    let mut earlier = order.iter().take_while(|(name, _)| *name != server);
                    let is_final = is_final || shown.keeps_names();
                    let is_safe = is_final || earlier.all(|(_, is_settled)| *is_settled);
                    // What is too old for a question is an answer only when its server cannot say it anew.
                    let is_answer = self.life == Life::Long || order.contains(&(server.clone(), true));
                    (is_safe && is_answer).then_some(Ok((catalog, server)))
                }
                None => is_complete.then_some(Err(catalog)),
            }
        };
        self.wait(look).await
    }
}

/// What was built at this moment already, or is built now.
fn kept(slot: &mut Option<(u64, Arc<Catalog>)>, now: u64, build: impl FnOnce() -> Arc<Catalog>) -> Arc<Catalog> {
    match slot {
        Some((at, catalog)) if *at == now => catalog.clone(),
        _ => {
            let catalog = build();
            *slot = Some((now, catalog.clone()));
            catalog
        }
    }
}

/// Who can be given names for good: all servers up to the first that has not said what it offers, neither now nor in an earlier run.
fn claims(
    order: Vec<(ServerName, bool)>,
    offers: &HashMap<ServerName, Arc<ServerCatalog>>,
) -> Vec<(ServerName, Claims)> {
    let mut claims = Claims::FIRM;
    let claimed = |(name, is_settled): (ServerName, bool)| {
        let own = claims;
        if !is_settled {
            let is_known = |kind| offers.get(&name).is_some_and(|offer| offer.offered.is_known(kind));
            let after = |claim, kind| if is_known(kind) { claim } else { Claim::Open };
            claims = Claims { tools: after(own.tools, Kind::Tools), prompts: after(own.prompts, Kind::Prompts) };
        }
        (name, own)
    };
    order.into_iter().map(claimed).collect()
}

fn build(
    order: &[(ServerName, Claims)],
    offers: &HashMap<ServerName, Arc<ServerCatalog>>,
    naming: Naming,
    book: &mut NameBook,
) -> Arc<Catalog> {
    let all = Prefixes::of(order.iter().map(|(name, _)| name));
    let servers = order.iter().filter_map(|(name, claim)| Some((offers.get(name)?.clone(), *claim))).collect();
    Arc::new(Catalog::build(servers, &all, naming, book))
}

/// Nobody needs to be listening.
fn tell(events: &broadcast::Sender<HostEvent>, event: HostEvent) {
    let _listeners = events.send(event).unwrap_or_default();
}
