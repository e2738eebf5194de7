//! Which servers are shown when: in the order of the settings, without making those that are ready wait for one that hangs.
//!
//! What is ready is shown at once when nothing has arrived for a moment. Servers that start alike arrive within that moment, so they stand
//! in order; a server that takes long never holds up the others.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use toolgate::servers::TransportConfig;
use toolgate::shape::visible;
use toolgate::{Host, HostEvent, HostEvents, Interest, ServerName, ServerView};

use crate::limits::{AWAITED_NAMES_MAX, MODEL_WAIT_MS};
use crate::talk::Talk;

/// When nothing has arrived for this long, what is there is shown. A timer takes up to a millisecond more.
const QUIET_MIN_MS: u64 = 1;

/// Servers that took long to start arrive at longer intervals: this part of the time since the beginning counts as a moment.
const QUIET_PART: f64 = 0.10;

/// What needs no starting is there at once, but stands last and is the first to lose a name: it waits for the others, up to this.
const BUILT_IN_WAIT: Duration = Duration::from_secs(2);

/// While others keep arriving, those at the front of the order wait no longer than this.
const FRONT_WAIT: Duration = Duration::from_millis(50);

/// A wait shorter than this needs no explanation.
pub(crate) const UNEXPLAINED_WAIT: Duration = Duration::from_millis(300);

/// Which servers a command waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// All that are still starting.
    ForAll,
    /// None: those that have started by now count.
    ForNobody,
}

/// The servers of a host, as they become ready.
#[derive(Debug)]
pub(crate) struct Arrivals<'a> {
    host: &'a Host,
    talk: &'a Talk,
    waiting: Waiting,
    events: HostEvents,
    shown: HashSet<ServerName>,
    begun: Instant,
}

impl<'a> Arrivals<'a> {
    /// To be made before the servers are started, so that no arrival is missed.
    pub(crate) fn new(host: &'a Host, talk: &'a Talk, waiting: Waiting) -> Self {
        Self { host, talk, waiting, events: host.events(), shown: HashSet::new(), begun: Instant::now() }
    }

    /// The servers to be shown now, in the order of the settings; nothing when all have been.
    pub(crate) async fn next(&mut self) -> Option<Vec<ServerView>> {
        if self.waiting == Waiting::ForNobody {
            let views = self.host.servers();
            let is_new =
                |at: &usize| views.get(*at).is_some_and(|view| view.is_settled && !self.shown.contains(view.name()));
            let now: Vec<usize> = (0..views.len()).filter(is_new).collect();
            return (!now.is_empty()).then(|| self.show(&views, &now));
        }
        let mut last_arrival = Instant::now();
        let mut first_waits_since = None;
        loop {
            let views = self.host.servers();
            let states: Vec<State> = views.iter().map(|view| self.state_of(view)).collect();
            let waits = states.contains(&State::Ready) || states.contains(&State::ReadyBuiltIn);
            if waits && first_waits_since.is_none() {
                first_waits_since = Some(Instant::now());
            }
            let quiet = quiet_after(self.begun.elapsed());
            let patience = Patience {
                is_quiet: last_arrival.elapsed() >= quiet,
                is_built_in_due: self.begun.elapsed() >= BUILT_IN_WAIT,
                is_front_due: first_waits_since.is_some_and(|since| since.elapsed() >= FRONT_WAIT),
            };
            let now = due(&states, patience);
            if !now.is_empty() {
                return Some(self.show(&views, &now));
            }
            if !states.contains(&State::Awaited) {
                self.talk.waits_no_more();
                return None;
            }
            self.explain(&views);
            let until = if states.contains(&State::Ready) { Some(last_arrival + quiet) } else { None };
            if self.arrived(until).await {
                last_arrival = Instant::now();
            }
        }
    }

    fn state_of(&self, view: &ServerView) -> State {
        let is_built_in = matches!(view.config.transport, TransportConfig::BuiltIn(_));
        match view.is_settled {
            false => State::Awaited,
            true if self.shown.contains(view.name()) => State::Shown,
            true if is_built_in => State::ReadyBuiltIn,
            true => State::Ready,
        }
    }

    fn show(&mut self, views: &[ServerView], now: &[usize]) -> Vec<ServerView> {
        let due: Vec<ServerView> = now.iter().filter_map(|at| views.get(*at)).cloned().collect();
        self.shown.extend(due.iter().map(|view| view.name().clone()));
        due
    }

    /// Waits for the next arrival, or until that time. Whether something arrived.
    async fn arrived(&mut self, until: Option<Instant>) -> bool {
        // Somebody who looks on is told after a while who is waited for.
        let look_again = Instant::now() + UNEXPLAINED_WAIT;
        let until = until.unwrap_or(look_again).min(look_again);
        loop {
            match tokio::time::timeout_at(until, self.events.next()).await {
                Ok(Some(HostEvent::Settled(_) | HostEvent::Missed(_))) => {
                    // Those that arrived together are looked at together.
                    while let Some(Some(_)) = self.events.next().now_or_never() {}
                    return true;
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return false,
            }
        }
    }

    fn explain(&self, views: &[ServerView]) {
        if self.talk.is_terminal() && self.begun.elapsed() >= UNEXPLAINED_WAIT {
            let awaited = views.iter().filter(|view| !view.is_settled).map(|view| view.name().as_str());
            self.talk.waits(&awaited_text(&awaited.collect::<Vec<_>>()));
        }
    }
}

/// How long nothing must arrive that long after the beginning, in whole milliseconds: a timer takes no other steps.
fn quiet_after(elapsed: Duration) -> Duration {
    let part = u64::try_from(elapsed.mul_f64(QUIET_PART).as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(part.max(QUIET_MIN_MS))
}

/// Where a server is on its way to being shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Awaited,
    Ready,
    ReadyBuiltIn,
    Shown,
}

/// How long those that are ready have waited.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// Nothing has arrived for a moment.
    is_quiet: bool,
    /// What is built in has waited long enough for others to arrive.
    is_built_in_due: bool,
    /// Those at the front have waited long enough.
    is_front_due: bool,
}

/// Which servers to show now, by their place in the order.
fn due(states: &[State], patience: Patience) -> Vec<usize> {
    let front = states.iter().take_while(|state| **state != State::Awaited).count();
    let is_due = |(at, state): &(usize, &State)| match state {
        State::Awaited | State::Shown => false,
        _ if front == states.len() => true,
        _ if *at < front && (patience.is_quiet || patience.is_front_due) => true,
        State::Ready => patience.is_quiet,
        State::ReadyBuiltIn => patience.is_quiet && patience.is_built_in_due,
    };
    states.iter().enumerate().filter(is_due).map(|(at, _)| at).collect()
}

/// `waiting for a, b, c and 2 more`.
fn awaited_text(names: &[&str]) -> String {
    format!("waiting for {}", few(names))
}

/// `a, b, c and 2 more`.
pub(crate) fn few(names: &[&str]) -> String {
    let named = names.get(..AWAITED_NAMES_MAX).unwrap_or(names).join(", ");
    match names.len().saturating_sub(AWAITED_NAMES_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// The servers that have settled, after those that are waited for have. Which ones are still starting is said.
pub(crate) async fn settled(host: &Host, talk: &Talk, waiting: Waiting) -> Vec<ServerView> {
    if waiting == Waiting::ForAll {
        all_settled(host, talk).await;
    }
    let (settled, starting): (Vec<_>, Vec<_>) = host.servers().into_iter().partition(|view| view.is_settled);
    if !starting.is_empty() {
        let names: Vec<&str> = starting.iter().map(|view| view.name().as_str()).collect();
        talk.line(&visible::line(&format!("🔄 still starting: {}", few(&names))));
    }
    settled
}

/// Waits until all servers have settled, and says who is waited for.
pub(crate) async fn all_settled(host: &Host, talk: &Talk) {
    explained(host, talk, host.all_settled()).await;
}

/// Waits until a model has enough to begin with, and says who is missing then. What servers offered in earlier runs is enough; those of which
/// nothing is known get a moment after the others, and all the time they need while there is nothing at all.
pub(crate) async fn enough_for_a_model(host: &Host, talk: &Talk) {
    let missing = explained(host, talk, missing_for_a_model(host)).await;
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|view| view.name().as_str()).collect();
        let line = format!("the model begins without {}; what is still starting is offered to it later", few(&names));
        talk.line(&visible::line(&line));
    }
}

async fn missing_for_a_model(host: &Host) -> Vec<ServerView> {
    let mut events = host.events();
    let mut arrived = Instant::now();
    loop {
        let (known, unknown): (Vec<_>, Vec<_>) =
            host.servers().into_iter().partition(|view| host.knows(view.name(), Interest::TOOLS));
        let missing: Vec<_> = unknown.into_iter().filter(|view| !view.is_settled).collect();
        if missing.is_empty() {
            return missing;
        }
        let news = async {
            while !matches!(events.next().await, None | Some(HostEvent::Settled(_) | HostEvent::Missed(_))) {}
        };
        match known.is_empty() {
            true => news.await,
            false => {
                let until = arrived + Duration::from_millis(MODEL_WAIT_MS);
                if tokio::time::timeout_at(until, news).await.is_err() {
                    return missing;
                }
            }
        }
        arrived = Instant::now();
    }
}

/// Waits for something that servers have to settle for, and says who is waited for.
pub(crate) async fn explained<T>(host: &Host, talk: &Talk, waiting: impl Future<Output = T>) -> T {
    let mut waiting = std::pin::pin!(waiting);
    // `interval` ticks at once, for which a timer takes a millisecond.
    let mut explained = tokio::time::interval_at(Instant::now() + UNEXPLAINED_WAIT, UNEXPLAINED_WAIT);
    let done = loop {
        tokio::select! {
            biased;
            done = &mut waiting => break done,
            _ = explained.tick() => {
                let views = host.servers();
                let awaited: Vec<&str> =
                    views.iter().filter(|view| !view.is_settled).map(|view| view.name().as_str()).collect();
                if !awaited.is_empty() {
                    talk.waits(&awaited_text(&awaited));
                }
            }
        }
    };
    talk.waits_no_more();
    done
}

#[cfg(test)]
mod tests {
    use super::{Patience, State, awaited_text, due};

    #[test]
    fn servers_are_shown_in_order_and_without_waiting_for_one_that_hangs() {
        use State::{Awaited, Ready, ReadyBuiltIn, Shown};
        let soon = Patience { is_quiet: false, is_built_in_due: false, is_front_due: false };
        let front = Patience { is_front_due: true, ..soon };
        let quiet = Patience { is_quiet: true, ..front };
        let later = Patience { is_built_in_due: true, ..quiet };
        let cases = [
            (vec![Awaited, Awaited], later, vec![]),
            (vec![Ready, Ready, ReadyBuiltIn], soon, vec![0, 1, 2]),
            (vec![Ready, Awaited, Ready], soon, vec![]),
            (vec![Ready, Awaited, Ready], front, vec![0]),
            (vec![Ready, Awaited, Ready], quiet, vec![0, 2]),
            (vec![Awaited, Ready, Shown], quiet, vec![1]),
            (vec![Ready, Shown, Shown], soon, vec![0]),
            (vec![Awaited, Ready, ReadyBuiltIn], quiet, vec![1]),
            (vec![Awaited, Shown, ReadyBuiltIn], later, vec![2]),
            (vec![ReadyBuiltIn, Awaited], front, vec![0]),
            (vec![], later, vec![]),
        ];
        for (states, patience, expected) in cases {
            assert_eq!(due(&states, patience), expected, "{states:?} {patience:?}");
        }
    }

    #[test]
    fn few_are_named_and_the_others_counted() {
        assert_eq!(awaited_text(&["a"]), "waiting for a");
        assert_eq!(awaited_text(&["a", "b", "c"]), "waiting for a, b, c");
        assert_eq!(awaited_text(&["a", "b", "c", "d", "e"]), "waiting for a, b, c and 2 more");
    }
}
