//! What a chaos server knows while it runs: its plan, which life it is in, and what it was asked.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use serde_json::Value;

use super::asked::Asked;
use super::dice::Dice;
use super::fault::{ChaosFault, Mishap, Way};
use super::ledger::{add_fault, add_line, faults, lives};
use super::plan::ChaosPlan;
use crate::guarded::Guarded;
use crate::limits::CHAOS_CALLS_APART_COUNT;

/// One running chaos server.
#[derive(Debug)]
pub(super) struct Chaos {
    pub(super) plan: ChaosPlan,
    way: Way,
    life: AtomicU32,
    /// How often each nonce was asked for in this life: what is repeated need not go wrong again.
    seen: Guarded<HashMap<String, u32>>,
    others: AtomicU64,
    /// Calls in this life.
    calls: AtomicU64,
}

impl Chaos {
    pub(super) fn begin(plan: ChaosPlan, way: Way) -> io::Result<Self> {
        let (life, others, calls) = (AtomicU32::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let chaos = Self { plan, way, life, seen: Guarded::default(), others, calls };
        chaos.begin_life()?;
        Ok(chaos)
    }

    /// Begins the next life, which offers other tools.
    pub(super) fn begin_life(&self) -> io::Result<()> {
        add_line(&self.plan.lives, &format!("{} {}", self.plan.name, std::process::id()))?;
        let count = lives(&self.plan.lives).iter().filter(|life| life.name == self.plan.name).count();
        self.life.store(u32::try_from(count).unwrap_or(u32::MAX), Ordering::SeqCst);
        Ok(())
    }

    pub(super) fn life(&self) -> u32 {
        self.life.load(Ordering::SeqCst)
    }

    /// Reads a message; nothing for those that are not answered.
    pub(super) fn read(&self, message: &Value) -> Option<Asked> {
        Asked::read(message, self.life(), self.plan.is_modern)
    }

    /// What goes wrong with a request, and numbers for whatever else is left to chance about it.
    pub(super) fn mishap(&self, asked: &Asked) -> (Option<Mishap>, Dice) {
        let (name, time, per_mille) = match &asked.nonce {
            Some(nonce) => {
                let mut seen = self.seen.lock();
                let times = seen.entry(nonce.clone()).or_default();
                *times += 1;
                (nonce.as_str(), u64::from(*times), self.plan.call_faults_per_mille)
            }
            None => ("", self.others.fetch_add(1, Ordering::SeqCst), self.plan.other_faults_per_mille),
        };
        let words = [self.plan.name.as_str(), name, &time.to_string(), &self.life().to_string()];
        let mut dice = Dice::about(self.plan.seed, &words);
        let (goes_wrong, is_calm) = (dice.happens(per_mille), self.plan.calm.exists());
        let mishap = match self.overdue(asked) {
            _ if is_calm => None,
            Some(fault) => Some(Mishap::of(fault, &mut dice)),
            None => goes_wrong.then(|| Mishap::roll(&mut dice, self.way, &self.plan.only)).flatten(),
        };
        if let Some(mishap) = mishap {
            self.note(mishap.fault);
        }
        (mishap, dice)
    }

    /// Every now and then, what is to go wrong surely and has not yet.
    fn overdue(&self, asked: &Asked) -> Option<ChaosFault> {
        asked.nonce.as_ref()?;
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        if self.plan.surely.is_empty() || !number.is_multiple_of(CHAOS_CALLS_APART_COUNT) {
            return None;
        }
        let seen = faults(&self.plan.faults);
        let is_seen = |fault: &ChaosFault| seen.iter().any(|(name, other)| *name == self.plan.name && other == fault);
        self.plan.surely.iter().find(|fault| !is_seen(fault)).copied()
    }

    /// Notes that something goes wrong.
    pub(super) fn note(&self, fault: ChaosFault) {
        let _written = add_fault(&self.plan.faults, &self.plan.name, fault).is_ok();
    }

    /// Executes a call: its nonce is in the ledger when this returns.
    pub(super) fn execute(&self, asked: &Asked) -> io::Result<()> {
        asked.nonce.as_ref().map_or(Ok(()), |nonce| add_line(&self.plan.ledger, nonce))
    }
}

/// The process stops here until somebody lets it go on.
pub(super) fn stop_this_process() {
    let _stopped = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP).is_ok();
}
