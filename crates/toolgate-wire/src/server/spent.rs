//! `Spent`: the states (`requestState`) that were used. Memory is bounded: for each signing process, used states above a floor are
//! remembered, and all states below it count as used.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::{REQUEST_STATE_SIGNERS_MAX, REQUEST_STATES_SPENT_MAX};
use crate::peer::lock;

/// The identity of a state: the signer, and the number of the state among those it signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Issued {
    pub(super) by: u64,
    pub(super) at: u64,
}

/// The states of one key.
pub(super) struct Spent {
    own: u64,
    next: AtomicU64,
    /// Signers, the most recent one last.
    known: Mutex<Vec<(u64, Window)>>,
}

/// The used states of one signer.
#[derive(Default)]
struct Window {
    floor: u64,
    used: BTreeSet<u64>,
}

impl Spent {
    /// State of a new signing process.
    pub(super) fn new() -> Self {
        let mut own = [0; 8];
        // Without randomness, signers may share an id, and then refuse each other's states.
        let _filled = getrandom::fill(&mut own).is_ok();
        Self { own: u64::from_le_bytes(own), next: AtomicU64::new(0), known: Mutex::default() }
    }

    /// Issues a new state.
    pub(super) fn issue(&self) -> Issued {
        Issued { by: self.own, at: self.next.fetch_add(1, Ordering::Relaxed) }
    }

    /// Uses a state. `false` when it was used before, or is below the floor.
    pub(super) fn spend(&self, state: Issued) -> bool {
        let mut known = lock(&self.known);
        if let Some(at) = known.iter().position(|(by, _)| *by == state.by) {
            let (by, mut window) = known.remove(at);
            let is_new = window.spend(state.at);
            known.push((by, window));
            return is_new;
        }
        if known.len() >= REQUEST_STATE_SIGNERS_MAX {
            let oldest = known.iter().position(|(by, _)| *by != self.own);
            oldest.map(|at| known.remove(at));
        }
        let mut window = Window::default();
        let is_new = window.spend(state.at);
        known.push((state.by, window));
        is_new
    }
}

impl Window {
    fn spend(&mut self, at: u64) -> bool {
        if at < self.floor || !self.used.insert(at) {
            return false;
        }
        while self.used.remove(&self.floor) {
            self.floor = self.floor.saturating_add(1);
        }
        if self.used.len() > REQUEST_STATES_SPENT_MAX
            && let Some(lowest) = self.used.pop_first()
        {
            self.floor = lowest.saturating_add(1);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_is_good_once_and_memory_is_bounded() {
        let spent = Spent::new();
        let first = spent.issue();
        for _ in 0..2 * REQUEST_STATES_SPENT_MAX {
            let (unused, used) = (spent.issue(), spent.issue());
            assert!(spent.spend(used));
            assert!(!spent.spend(used));
            assert_ne!(unused, used);
        }
        let remembered = lock(&spent.known).iter().map(|(_, window)| window.used.len()).sum::<usize>();
        assert!(remembered <= REQUEST_STATES_SPENT_MAX, "{remembered}");
        assert!(!spent.spend(first), "older than what is remembered");
        assert!(spent.spend(spent.issue()));
    }

    #[test]
    fn states_in_a_row_leave_nothing_behind() {
        let spent = Spent::new();
        for _ in 0..10 {
            let state = spent.issue();
            assert!(spent.spend(state));
        }
        assert!(lock(&spent.known).iter().all(|(_, window)| window.used.is_empty()));
    }

    #[test]
    fn the_busiest_signer_is_not_the_one_that_is_forgotten() {
        let spent = Spent::new();
        let busy = u64::MAX;
        for by in 0..3 * REQUEST_STATE_SIGNERS_MAX as u64 {
            assert!(spent.spend(Issued { by: busy, at: by + 100 }));
            assert!(spent.spend(Issued { by, at: 5 }));
        }
        assert!(!spent.spend(Issued { by: busy, at: 100 }), "its first state is still known to be used");
    }

    #[test]
    fn signers_that_ended_are_forgotten() {
        let spent = Spent::new();
        assert!(spent.spend(spent.issue()));
        for by in 0..2 * REQUEST_STATE_SIGNERS_MAX as u64 {
            assert!(spent.spend(Issued { by, at: 5 }));
            assert!(!spent.spend(Issued { by, at: 5 }));
        }
        assert!(lock(&spent.known).len() <= REQUEST_STATE_SIGNERS_MAX);
        assert!(!spent.spend(Issued { by: spent.own, at: 0 }), "its own are never forgotten");
    }
}
