//! When a server that was lost or could not be reached is tried again. Pure, but for chance.

use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::{Error, ErrorKind};
use crate::limits::{RECONNECT_FIRST_MS, RECONNECT_LONGEST_MS, RECONNECT_STEADY_MS};

/// How often it went wrong in a row.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Notes that an attempt failed, or that a connection ended that stood for `stood`.
    pub(super) fn failed(&mut self, stood: Option<Duration>) {
        let was_steady = stood.is_some_and(|stood| stood >= Duration::from_millis(RECONNECT_STEADY_MS));
        self.failures = if was_steady { 1 } else { self.failures.saturating_add(1) };
    }

    /// How long to wait before the next attempt. `chance` is between 0 and 1: many that were lost at once do not come back at once.
    pub(super) fn wait(&self, chance: f64) -> Duration {
        let doubled = self.failures.saturating_sub(1).min(20);
        let longest = RECONNECT_FIRST_MS.saturating_mul(1 << doubled).min(RECONNECT_LONGEST_MS);
        Duration::from_millis(longest).mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
    }
}

/// Between 0 and 1. Without randomness all wait equally long.
pub(super) fn chance() -> f64 {
    let mut byte = [0_u8];
    let _filled = SystemRandom::new().fill(&mut byte).is_ok();
    f64::from(byte[0]) / 255.0
}

/// Whether trying again can help without anybody doing something about it first.
pub(super) fn passes_by_itself(error: &Error) -> bool {
    use ErrorKind::{Busy, Connect, Limit, Protocol, Refused, TimedOut};
    matches!(error.kind(), Connect | TimedOut | Protocol | Limit | Refused | Busy)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn waits_grow_to_a_limit_and_start_anew_after_a_steady_time() {
        let mut backoff = Backoff::default();
        let mut waits = Vec::new();
        for _ in 0..10 {
            backoff.failed(None);
            waits.push(backoff.wait(1.0).as_millis());
        }
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
        backoff.failed(Some(Duration::from_secs(5)));
        assert_eq!(backoff.wait(1.0).as_millis(), 60_000, "it keeps failing");
        backoff.failed(Some(Duration::from_secs(60)));
        assert_eq!(backoff.wait(1.0).as_millis(), 500, "it stood long enough");
        assert_eq!(backoff.wait(0.0).as_millis(), 250, "not all at once");
        for _ in 0..100 {
            backoff.failed(None);
        }
        assert_eq!(backoff.wait(1.0).as_millis(), 60_000);
    }
}
