//! Detection of unusual calls: a new tool of a well-known server, a burst, or the first write to a server that was
//! only read from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::chain::hash_of;
use super::record::AuditRecord;
use super::seen::Seen;
use crate::asker::Asker;
use crate::limits::{AUDIT_COUNTED_SERVERS_MAX, AUDIT_MINUTE_CALLS_MAX, AUDIT_SETTLED_DAYS_COUNT};
use crate::server_name::ServerName;

/// Parts of a minute that are told apart.
const MINUTE_MS: u64 = 60_000;

/// How much of a hash stands for a server.
const ID_CHARS: usize = 16;

/// What can be unusual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnusualUse {
    /// The first call of this tool, though its server has been in use for weeks.
    NewTool,
    /// More calls of the server within a minute than anybody makes by hand.
    Burst,
    /// The first call that may change something, of a server that was only read from so far.
    FirstWriteAfterReads,
}

impl UnusualUse {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::NewTool, Self::Burst, Self::FirstWriteAfterReads];

    /// The word for it in records and JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NewTool => "new_tool",
            Self::Burst => "burst",
            Self::FirstWriteAfterReads => "first_write_after_reads",
        }
    }
}

/// Something unusual about a call, told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusual {
    /// What.
    pub what: UnusualUse,
    /// Whose tool.
    pub server: ServerName,
    /// Which tool.
    pub tool: String,
    /// Who asked.
    pub asker: Asker,
}

/// The calls of one server, minute by minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counted {
    /// Which server: a part of the hash of its name, which has no length to speak of.
    server: String,
    /// Its name, when this process knows it.
    #[serde(skip)]
    name: String,
    /// The minute, counted since 1970.
    minute: u64,
    /// Calls in that minute.
    calls: u32,
    /// Calls in the minute before it.
    before: u32,
    /// Whether this burst was told.
    told: bool,
}

/// Judges a call that ended. `counted` and `seen` are changed so that the next one is judged with this one in mind.
pub(super) fn judge(record: &AuditRecord, at_ms: u64, counted: &mut Vec<Counted>, seen: &mut Seen) -> Vec<UnusualUse> {
    let mut found = Vec::new();
    if was_made(record.outcome) {
        let is_first_write = !record.is_read_only && seen.has_only_reads(&record.server);
        // First calls of a new server are expected.
        let days = seen.days_before_new_tool(&record.server, &record.tool, at_ms);
        if days.is_some_and(|days| days >= AUDIT_SETTLED_DAYS_COUNT) {
            found.push(UnusualUse::NewTool);
        }
        if is_first_write {
            found.push(UnusualUse::FirstWriteAfterReads);
        }
        seen.add((record.asker.as_str(), at_ms), &record.server, &record.tool, record.is_read_only);
    }
    if count(&record.server, at_ms, counted) {
        found.push(UnusualUse::Burst);
    }
    found
}

/// Whether a call reached its server, as far as its outcome tells.
pub(super) fn was_made(outcome: &str) -> bool {
    !matches!(outcome, "denied" | "refused")
}

/// Counts a call. Whether a burst begins with it.
///
/// The calls of the minute before count as far as that minute is within the last sixty seconds, as if they had been spread evenly.
fn count(server: &str, at_ms: u64, counted: &mut Vec<Counted>) -> bool {
    let minute = at_ms / MINUTE_MS;
    let mut one = match counted.iter().position(|one| one.name == server) {
        Some(at) => counted.remove(at),
        None => {
            let id: String = hash_of(server.as_bytes()).chars().take(ID_CHARS).collect();
            let of_others = counted.iter().position(|one| one.server == id).map(|at| counted.remove(at));
            let one = of_others.unwrap_or(Counted { minute, ..Counted::default() });
            Counted { server: id, name: server.to_owned(), ..one }
        }
    };
    // A call that ended later may have begun earlier; it counts in the minute we are in.
    match minute.saturating_sub(one.minute) {
        0 => (),
        1 => (one.before, one.calls, one.minute) = (one.calls, 0, minute),
        _ => (one.before, one.calls, one.minute) = (0, 0, minute),
    }
    one.calls = one.calls.saturating_add(1);
    let still_within = MINUTE_MS - at_ms.saturating_sub(one.minute * MINUTE_MS).min(MINUTE_MS);
    let before = u64::from(one.before) * still_within / MINUTE_MS;
    let is_burst = u64::from(one.calls) + before > u64::from(AUDIT_MINUTE_CALLS_MAX);
    let begins = is_burst && !one.told;
    one.told = is_burst;
    counted.push(one);
    if counted.len() > AUDIT_COUNTED_SERVERS_MAX {
        counted.remove(0); // The one that was silent longest.
    }
    begins
}

/// What a server was used for, and by whom.
pub(super) type Uses = BTreeMap<String, ServerUse>;

/// The same of one server.
#[derive(Debug, Default)]
pub(super) struct ServerUse {
    /// The first use whose time is known, in milliseconds since 1970. `None` when times were not kept yet.
    pub(super) since_ms: Option<u64>,
    /// Whether something was read.
    pub(super) read: bool,
    /// Whether something may have been changed.
    pub(super) wrote: bool,
    /// The tools that were called, each by whom.
    pub(super) tools: BTreeMap<String, Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::{Counted, count};
    use crate::limits::{AUDIT_COUNTED_SERVERS_MAX, AUDIT_MINUTE_CALLS_MAX};

    /// Calls at these milliseconds; which of them begin a burst.
    fn bursts(times: impl IntoIterator<Item = u64>) -> Vec<usize> {
        let mut counted = Vec::new();
        let begin = times.into_iter().enumerate().filter(|(_, at)| count("s", *at, &mut counted));
        begin.map(|(nth, _)| nth).collect()
    }

    #[test]
    fn a_burst_is_told_once() {
        let most = AUDIT_MINUTE_CALLS_MAX as usize;
        let start = 1_000_000 * 60_000;
        assert_eq!(bursts((0..500).map(|nth| start + nth)), [most]);
        assert_eq!(bursts((0..300).map(|nth| start + nth * 1_100)), Vec::<usize>::new(), "fewer than one a second");
        let across = (0..100).map(|nth| start + 58_000 + nth * 40);
        assert_eq!(bursts(across).len(), 1, "the minute before counts");
        let twice = (0..100).chain(200_000..200_100).map(|nth| start + nth);
        assert_eq!(bursts(twice), [most, 100 + most], "a second burst is another one");
    }

    #[test]
    fn clocks_that_go_back_and_many_servers_are_no_trouble() {
        let mut counted: Vec<Counted> = Vec::new();
        for at in [u64::MAX, 0, 5, u64::MAX, 60_000] {
            assert!(!count("s", at, &mut counted));
        }
        for nth in 0..100 {
            assert!(!count(&format!("s{nth}"), 0, &mut counted));
        }
        assert_eq!(counted.len(), AUDIT_COUNTED_SERVERS_MAX);
    }
}
