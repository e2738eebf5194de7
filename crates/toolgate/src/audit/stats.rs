//! `Statistics`: how often each tool was called, how often that went wrong, and how long it took.

use std::collections::BTreeMap;

use super::stored::StoredCall;

/// Calls by server and tool.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    servers: BTreeMap<String, BTreeMap<String, ToolStatistics>>,
}

/// The calls of one tool, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolStatistics {
    /// All calls.
    pub calls: u64,
    /// Those that ended with an error or too late.
    pub errors: u64,
    /// Those that were not let through.
    pub denied: u64,
    /// How long each took that was made.
    durations_ms: Vec<u64>,
}

/// How long calls took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Half of them took no longer.
    pub p50_ms: u64,
    /// Of twenty, nineteen took no longer.
    pub p95_ms: u64,
}

impl Statistics {
    /// Counts a call.
    pub fn add(&mut self, call: &StoredCall) {
        let tools = match self.servers.get_mut(&call.server) {
            Some(tools) => tools,
            None => self.servers.entry(call.server.clone()).or_default(),
        };
        let tool = match tools.get_mut(&call.tool) {
            Some(tool) => tool,
            None => tools.entry(call.tool.clone()).or_default(),
        };
        tool.calls += 1;
        if call.is_denied() {
            tool.denied += 1;
        } else {
            tool.errors += u64::from(call.is_error());
            // Nobody knows how long a call took that has no ending.
            tool.durations_ms.extend(call.has_ended().then_some(call.duration_ms));
        }
    }

    /// Each server with its tools, in the order of their names.
    pub fn servers(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, ToolStatistics>)> {
        self.servers.iter().map(|(name, tools)| (name.as_str(), tools))
    }
}

impl ToolStatistics {
    /// All of these together.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        all.into_iter().fold(Self::default(), |mut sum, one| {
            sum.calls += one.calls;
            sum.errors += one.errors;
            sum.denied += one.denied;
            sum.durations_ms.extend_from_slice(&one.durations_ms);
            sum
        })
    }

    /// How long the calls took that were made; `None` when none was.
    #[must_use]
    pub fn latency(&self) -> Option<Latency> {
        let mut sorted = self.durations_ms.clone();
        sorted.sort_unstable();
        let at = |percent: usize| {
            // The smallest of which at least so many are no larger.
            let rank = (sorted.len() * percent).div_ceil(100);
            sorted.get(rank.saturating_sub(1)).copied()
        };
        Some(Latency { p50_ms: at(50)?, p95_ms: at(95)? })
    }
}

#[cfg(test)]
mod tests {
    use super::{Latency, ToolStatistics};

    #[test]
    fn latencies_are_those_of_real_calls() {
        let latency = |p50_ms, p95_ms| Some(Latency { p50_ms, p95_ms });
        let cases = [
            (vec![], None),
            (vec![7], latency(7, 7)),
            (vec![9, 1], latency(1, 9)),
            (vec![3, 1, 2], latency(2, 3)),
            ((1..=20).rev().collect(), latency(10, 19)),
            ((1..=100).collect(), latency(50, 95)),
        ];
        for (durations_ms, expected) in cases {
            let one = ToolStatistics { durations_ms, ..ToolStatistics::default() };
            assert_eq!(one.latency(), expected, "{one:?}");
        }
    }
}
