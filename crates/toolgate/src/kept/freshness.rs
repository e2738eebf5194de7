//! Whether what is kept of a server can be believed without asking it. Pure.

use std::time::{Duration, SystemTime};

use toolgate_wire::view::CacheHint;

use crate::connect::Kind;
use crate::discovery::{Interest, Offered};
use crate::limits::{CATALOGUE_FRESH_MS_MAX, CATALOGUE_LOCAL_FRESH_MS, CATALOGUE_REMOTE_FRESH_MS};
use crate::servers::TransportConfig;

/// Whether a kept offer can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Everything that is wanted is there, and young enough.
    Fresh,
    /// Everything that is wanted is there, and some of it is too old to be believed for long.
    Stale,
    /// A list that is wanted was never read.
    Incomplete,
}

/// Whether what is kept can be believed at `now`, as far as it is wanted. A list is fresh for as long as its server says; one that says
/// nothing for a day when it is on this machine, and for some minutes when it is elsewhere.
#[must_use]
pub fn freshness(offered: &Offered, interest: Interest, transport: &TransportConfig, now: SystemTime) -> Freshness {
    if !offered.has(interest) {
        return Freshness::Incomplete;
    }
    let unsaid = match transport {
        TransportConfig::Stdio(_) | TransportConfig::BuiltIn(_) => CATALOGUE_LOCAL_FRESH_MS,
        TransportConfig::Http(_) | TransportConfig::Sse(_) | TransportConfig::HttpOrSse(_) => CATALOGUE_REMOTE_FRESH_MS,
    };
    let is_fresh = |(read_at, cache): (SystemTime, CacheHint)| {
        let lifetime = cache.ttl_ms.map_or(unsaid, |said| said.min(CATALOGUE_FRESH_MS_MAX));
        // One that was read in the future was read by another clock, and nobody knows when.
        now.duration_since(read_at).is_ok_and(|age| age < Duration::from_millis(lifetime))
    };
    let mut wanted = Kind::ALL.into_iter().filter(|kind| interest.wants(*kind));
    if wanted.all(|kind| times(offered, kind).into_iter().all(is_fresh)) { Freshness::Fresh } else { Freshness::Stale }
}

/// When the lists of a kind were read, and how long they may be kept.
fn times(offered: &Offered, kind: Kind) -> Vec<(SystemTime, CacheHint)> {
    let read = match kind {
        Kind::Tools => [offered.tools.as_ref().map(|list| (list.read_at, list.cache)), None],
        Kind::Prompts => [offered.prompts.as_ref().map(|list| (list.read_at, list.cache)), None],
        Kind::Resources => [
            offered.resources.as_ref().map(|list| (list.read_at, list.cache)),
            offered.templates.as_ref().map(|list| (list.read_at, list.cache)),
        ],
    };
    let read: Vec<_> = read.into_iter().flatten().collect();
    // That there is none was said with everything else.
    if read.is_empty() { vec![(offered.last_said_at(), CacheHint::default())] } else { read }
}

#[cfg(test)]
#[path = "freshness_tests.rs"]
mod tests;
