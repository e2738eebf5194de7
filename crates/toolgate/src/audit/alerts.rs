//! Alerts: compares calls with the limits of `audit.alerts`, with counters in memory. Without limits nothing is counted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::Arc;
use std::time::SystemTime;

use super::alert_rules::{AlertRule, AlertRules, Limit, Per};
use super::folder::{AuditFolder, open};
use super::moment::millis;
use super::open_calls::OpenCalls;
use super::record::AuditRecord;
use super::seen::Seen;
use super::stored::StoredCall;
use super::unusual::was_made;
use crate::limits::{
    ALERT_COUNTERS_MAX, ALERT_ERROR_CALLS_COUNT, ALERT_ERROR_CALLS_LEAST_COUNT, ALERT_RECENT_BYTES_MAX, ALERT_TIMES_MAX,
};

const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 24 * 60 * MINUTE_MS;
const DAY_MINUTES: i64 = 24 * 60;

/// The measure of an alert of which the record has the name only.
pub const RECORDED_ALERT: &str = "recorded";

/// A limit that a call passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// The name of the limit in the settings, or its key when it has no name.
    pub name: String,
    /// The key of the limit in the settings, or [`RECORDED_ALERT`].
    pub measure: &'static str,
    /// The server of the call.
    pub server: String,
    /// The tool, by its name on the server.
    pub tool: String,
    /// Start time of the call.
    pub at: SystemTime,
    /// The measured value. For hours it is the minute of the day.
    pub value: u64,
    /// The highest value without an alert.
    pub limit: u64,
    /// Whether a line is printed.
    pub line: bool,
    /// Whether the record is marked.
    pub flag: bool,
    /// The command that receives the alert.
    pub command: Option<String>,
}

/// The parts of a call that limits look at.
#[derive(Debug)]
pub(super) struct AlertFacts<'a> {
    at: SystemTime,
    server: &'a str,
    tool: &'a str,
    outcome: &'a str,
    took_ms: u64,
    result_bytes: Option<u64>,
    /// Days that the server was in use before this first call of the tool. `None` for later calls.
    new_after_days: Option<u64>,
}

impl<'a> AlertFacts<'a> {
    pub(super) fn of_record(record: &'a AuditRecord, seen: &Seen) -> Self {
        let (server, tool) = (record.server.as_str(), record.tool.as_str());
        let new_after_days =
            seen.days_before_new_tool(server, tool, millis(record.at)).filter(|_| was_made(record.outcome));
        let took_ms = u64::try_from(record.took.as_millis()).unwrap_or(u64::MAX);
        let (at, outcome, result_bytes) = (record.at, record.outcome, record.result_bytes);
        Self { at, server, tool, outcome, took_ms, result_bytes, new_after_days }
    }

    fn of_stored(call: &'a StoredCall, new_after_days: Option<u64>) -> Self {
        Self {
            at: call.at,
            server: &call.server,
            tool: &call.tool,
            outcome: &call.outcome,
            took_ms: call.duration_ms,
            result_bytes: call.result_bytes,
            new_after_days,
        }
    }
}

/// Counts calls and finds those that pass a limit.
#[derive(Debug, Default)]
pub(super) struct Alerts {
    rules: Arc<AlertRules>,
    counters: BTreeMap<(usize, String), Counter>,
    /// Whether the recent calls of other processes have been counted.
    knows_recent: bool,
}

/// The calls of one server or tool that one limit counts.
#[derive(Debug, Default)]
struct Counter {
    /// Times of the calls within the last minute.
    times_ms: VecDeque<u64>,
    /// Outcomes of the last calls; `true` is a failure.
    errors: VecDeque<bool>,
    /// Whether this excess has been reported.
    told: bool,
}

impl Alerts {
    /// Replaces the limits. Counters stay when the limits are equal.
    pub(super) fn use_rules(&mut self, rules: &Arc<AlertRules>) {
        if *self.rules != **rules {
            self.rules = Arc::clone(rules);
            self.counters.clear();
            self.knows_recent = false;
        }
    }

    /// Whether there is nothing to check.
    pub(super) fn is_idle(&self) -> bool {
        self.rules.is_empty()
    }

    /// Counts recent calls of other processes. Reads the log once, and only for limits that count.
    pub(super) fn know_recent(&mut self, folder: &AuditFolder) {
        if std::mem::replace(&mut self.knows_recent, true)
            || !self.rules.rules.iter().any(|rule| rule.limit.is_counted())
        {
            return;
        }
        for call in recent_calls(folder) {
            let _already_told = self.look(&AlertFacts::of_stored(&call, None));
        }
    }

    /// The limits that a call passes.
    pub(super) fn look(&mut self, call: &AlertFacts<'_>) -> Vec<Alert> {
        let rules = Arc::clone(&self.rules);
        let about = rules.rules.iter().enumerate().filter(|(_, rule)| rule.is_about(call.server, call.tool));
        about.filter_map(|(nth, rule)| self.alert(nth, rule, call)).collect()
    }

    fn alert(&mut self, nth: usize, rule: &AlertRule, call: &AlertFacts<'_>) -> Option<Alert> {
        let is_made = was_made(call.outcome);
        let (value, limit) = match rule.limit {
            Limit::CallsPerMinute(most) => self.counter(nth, rule, call).counts(millis(call.at), most)?,
            Limit::DenialsPerMinute(most) if !is_made => self.counter(nth, rule, call).counts(millis(call.at), most)?,
            Limit::ErrorPercent(most) if is_made => {
                let is_error = matches!(call.outcome, "tool_error" | "failed" | "timed_out");
                self.counter(nth, rule, call).errs(is_error, most)?
            }
            Limit::ResultBytes(most) => above(call.result_bytes?, most)?,
            Limit::LatencyMs(most) if is_made => above(call.took_ms, most)?,
            Limit::Hours { from, until, ahead } => (outside(millis(call.at), (from, until), ahead)?, until),
            Limit::NewToolAfterDays(days) => {
                call.new_after_days.filter(|used| *used >= days).map(|used| (used, days))?
            }
            Limit::DenialsPerMinute(_) | Limit::ErrorPercent(_) | Limit::LatencyMs(_) => return None,
        };
        Some(Alert {
            name: rule.name.clone(),
            measure: rule.limit.as_str(),
            server: call.server.to_owned(),
            tool: call.tool.to_owned(),
            at: call.at,
            value,
            limit,
            line: rule.sinks.line,
            flag: rule.sinks.flag,
            command: rule.sinks.command.clone(),
        })
    }

    fn counter(&mut self, nth: usize, rule: &AlertRule, call: &AlertFacts<'_>) -> &mut Counter {
        let of = match rule.per {
            Per::Server => call.server.to_owned(),
            Per::Tool => format!("{}\0{}", call.server, call.tool),
            Per::All => String::new(),
        };
        let key = (nth, of);
        if self.counters.len() >= ALERT_COUNTERS_MAX && !self.counters.contains_key(&key) {
            self.counters.pop_first();
        }
        self.counters.entry(key).or_default()
    }
}

impl Counter {
    /// Counts a call. Returns the number within a minute when it newly passes the limit.
    fn counts(&mut self, at_ms: u64, most: u64) -> Option<(u64, u64)> {
        while self.times_ms.front().is_some_and(|first| first.saturating_add(MINUTE_MS) <= at_ms) {
            self.times_ms.pop_front();
        }
        self.times_ms.push_back(at_ms);
        if self.times_ms.len() > ALERT_TIMES_MAX {
            self.times_ms.pop_front();
        }
        self.tell_once(self.times_ms.len() as u64, most)
    }

    /// Counts an outcome. Returns the recent percentage of failures when it newly passes the limit.
    fn errs(&mut self, is_error: bool, most: u64) -> Option<(u64, u64)> {
        self.errors.push_back(is_error);
        if self.errors.len() > ALERT_ERROR_CALLS_COUNT {
            self.errors.pop_front();
        }
        if self.errors.len() < ALERT_ERROR_CALLS_LEAST_COUNT {
            return None;
        }
        let wrong = self.errors.iter().filter(|is_error| **is_error).count();
        self.tell_once((wrong * 100 / self.errors.len()) as u64, most)
    }

    fn tell_once(&mut self, value: u64, most: u64) -> Option<(u64, u64)> {
        let is_above = value > most;
        let was_told = std::mem::replace(&mut self.told, is_above);
        (is_above && !was_told).then_some((value, most))
    }
}

fn above(value: u64, most: u64) -> Option<(u64, u64)> {
    (value > most).then_some((value, most))
}

/// The minute of the day, when it is outside the allowed hours. The hours may span midnight.
fn outside(at_ms: u64, (from, until): (u64, u64), ahead: i64) -> Option<u64> {
    let minute = i64::try_from(at_ms / MINUTE_MS).ok()?.saturating_add(ahead).rem_euclid(DAY_MINUTES);
    let minute = u64::try_from(minute).ok()?;
    let is_within = if from <= until { (from..until).contains(&minute) } else { minute >= from || minute < until };
    (!is_within).then_some(minute)
}

/// The calls at the end of the log.
fn recent_calls(folder: &AuditFolder) -> Vec<StoredCall> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = open(&folder.current(), OpenOptions::new().read(true))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(ALERT_RECENT_BYTES_MAX)))?;
        let mut bytes = Vec::new();
        file.take(ALERT_RECENT_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let open: OpenCalls<()> = OpenCalls::none();
    let calls = bytes.split(|byte| *byte == b'\n').filter_map(|line| StoredCall::read(line, &open).ok().flatten());
    calls.filter(StoredCall::has_ended).collect()
}

/// Compares the calls of the log with limits, one after the other.
#[derive(Debug)]
pub struct AlertReplay {
    alerts: Alerts,
    /// First use of each server, with its tools called so far.
    used: BTreeMap<String, (u64, BTreeSet<String>)>,
}

impl AlertReplay {
    /// A state without calls.
    #[must_use]
    pub fn new(rules: AlertRules) -> Self {
        let alerts = Alerts { rules: Arc::new(rules), knows_recent: true, ..Alerts::default() };
        Self { alerts, used: BTreeMap::new() }
    }

    /// The limits that the next call passes, those that it passed when it was made among them: what was told then stays true, also where the
    /// calls before it are gone from the log.
    pub fn add(&mut self, call: &StoredCall) -> Vec<Alert> {
        let at_ms = millis(call.at);
        let mut new_after_days = None;
        if was_made(&call.outcome) {
            let (first_ms, tools) = self.used.entry(call.server.clone()).or_insert((at_ms, BTreeSet::new()));
            if tools.insert(call.tool.clone()) && tools.len() > 1 {
                new_after_days = Some(at_ms.saturating_sub(*first_ms) / DAY_MS);
            }
        }
        let mut found = self.alerts.look(&AlertFacts::of_stored(call, new_after_days));
        for name in &call.alerts {
            if !found.iter().any(|alert| alert.name == *name) {
                found.push(recorded(name, call));
            }
        }
        found
    }
}

/// An alert that the record tells of.
fn recorded(name: &str, call: &StoredCall) -> Alert {
    Alert {
        name: name.to_owned(),
        measure: RECORDED_ALERT,
        server: call.server.clone(),
        tool: call.tool.clone(),
        at: call.at,
        value: 0,
        limit: 0,
        line: false,
        flag: true,
        command: None,
    }
}
