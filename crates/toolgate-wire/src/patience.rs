//! `Patience`: more time to connect for a child that shows activity. The first start of a package runner downloads the package, and its
//! output on stderr is the only visible sign.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::transport::child::ChildHandle;

/// Receives the last stderr line of a child that gets more time than the ordinary limit. Must not block.
pub type StillStarting = Arc<dyn Fn(&str) + Send + Sync>;

/// Extra time for a child that is alive and writes to stderr.
#[derive(Clone)]
pub struct Patience {
    /// Total time for connecting while the child is busy. It replaces the ordinary limit.
    pub limit: Duration,
    /// Longest time without output on stderr before the child counts as hanging.
    pub silence: Duration,
    /// Called once, when the ordinary limit has passed.
    pub told: Option<StillStarting>,
}

impl Patience {
    /// Deadline for a child that has not answered. `None` when it has passed.
    pub(crate) fn deadline(&self, begun: Instant, child: &ChildHandle) -> Option<Instant> {
        if child.exit_status().is_some() {
            return None;
        }
        later(self, begun, child.last_wrote_to_stderr()?, Instant::now())
    }
}

fn later(patience: &Patience, begun: Instant, wrote: Instant, now: Instant) -> Option<Instant> {
    let deadline = (wrote + patience.silence).min(begun + patience.limit);
    (deadline > now).then_some(deadline)
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").field("limit", &self.limit).field("silence", &self.silence).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Patience, later};

    #[test]
    fn a_child_is_waited_for_as_long_as_it_writes_and_no_longer_than_the_limit() {
        let seconds = Duration::from_secs;
        let patience = Patience { limit: seconds(600), silence: seconds(30), told: None };
        let begun = Instant::now();
        // The last write, the time of the check, and the deadline.
        let cases = [
            (0, 30, None),
            (1, 30, Some(31)),
            (29, 30, Some(59)),
            (58, 59, Some(88)),
            (29, 59, None),
            (590, 595, Some(600)),
            (599, 600, None),
        ];
        for (wrote, now, expected) in cases {
            let found = later(&patience, begun, begun + seconds(wrote), begun + seconds(now));
            assert_eq!(found, expected.map(|at| begun + seconds(at)), "{wrote} {now}");
        }
    }
}
