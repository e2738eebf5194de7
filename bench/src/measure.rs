//! What is measured and how it is told: latencies, throughput, memory, and ratios within one run.

use std::time::{Duration, Instant};

/// How much work one measurement does.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) calls: usize,
    pub(crate) callers: usize,
    /// The arguments of each call, as JSON.
    pub(crate) arguments: String,
}

/// The times of one measurement.
pub(crate) struct Sample {
    started: Instant,
    times: Vec<Duration>,
    calls: usize,
    total: Duration,
}

impl Sample {
    pub(crate) fn new(calls: usize) -> Self {
        Self { started: Instant::now(), times: Vec::with_capacity(calls), calls, total: Duration::ZERO }
    }

    pub(crate) fn took(&mut self, time: Duration) {
        self.times.push(time);
    }

    pub(crate) fn add(&mut self, times: Vec<Duration>) {
        self.times.extend(times);
    }

    pub(crate) fn finish(&mut self) {
        self.total = self.started.elapsed();
        self.times.sort_unstable();
    }

    fn percentile(&self, percent: usize) -> f64 {
        let at = (self.times.len() * percent / 100).min(self.times.len().saturating_sub(1));
        self.times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }

    pub(crate) fn figures(&self) -> Figures {
        #[expect(clippy::cast_precision_loss, reason = "a number of calls is far below 2^52")]
        let per_second = self.calls as f64 / self.total.as_secs_f64();
        Figures { p50_us: self.percentile(50), p99_us: self.percentile(99), per_second }
    }
}

/// The figures of one measurement.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
pub(crate) struct Figures {
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) per_second: f64,
}

/// The middle of several runs.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Resident memory of this process in KB.
pub(crate) fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|value| value.parse().ok()).unwrap_or_default()
}
