//! `StoredCall`: a call as it stands in the log.

use std::time::SystemTime;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::chain::kind;
use super::moment::written_moment;
use super::open_calls::{Mark, OpenCalls, RUNNING, UNKNOWN};

/// A call as it stands in the log. What another version wrote, and this one does not know, is left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCall {
    /// The number of the record, counted from 1 over all files.
    pub seq: u64,
    /// When it was asked for.
    #[serde(deserialize_with = "moment")]
    pub at: SystemTime,
    /// Which run of which host.
    #[serde(default)]
    pub session: String,
    /// Its process.
    #[serde(default)]
    pub pid: u32,
    /// Who asked: the word for it.
    #[serde(default)]
    pub asker: String,
    /// In which folder.
    #[serde(default)]
    pub folder: String,
    /// Whose tool.
    pub server: String,
    /// What its server calls it.
    pub tool: String,
    /// What it was called by.
    #[serde(default)]
    pub name: String,
    /// The hash of its definition.
    #[serde(default)]
    pub definition: String,
    /// Whether its server said that it changes nothing.
    #[serde(default)]
    pub read_only: bool,
    /// What was kept of its arguments.
    #[serde(default)]
    pub arguments: Value,
    /// The hash of its arguments, secrets covered.
    #[serde(default)]
    pub arguments_hash: String,
    /// How many values of the arguments were covered or cut; none, when they are the arguments themselves.
    #[serde(default)]
    pub covered: usize,
    /// The mode it was decided in: the word for it.
    #[serde(default)]
    pub mode: String,
    /// Whether somebody could be asked.
    #[serde(default)]
    pub interactive: bool,
    /// What was decided: the word for it.
    #[serde(default)]
    pub decision: String,
    /// The rule that decided.
    pub rule: Option<StoredRule>,
    /// The entry of the server's own lists that decided.
    pub filter: Option<StoredRule>,
    /// The grant that decided.
    pub grant: Option<String>,
    /// What made the decision stricter or milder, in words.
    #[serde(default)]
    pub adjustments: Vec<String>,
    /// What the person answered, when they were asked.
    pub confirmation: Option<String>,
    /// How it ended: the word for it. `running` and `unknown` are calls of whose ending nothing is written: their process is there, or it is gone.
    #[serde(default)]
    pub outcome: String,
    /// What went wrong.
    pub error: Option<StoredError>,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: u64,
    /// How large its result was.
    pub result_bytes: Option<u64>,
    /// What was unusual about it.
    #[serde(default)]
    pub unusual: Vec<String>,
    /// The limits of `audit.alerts` that the call passed.
    #[serde(default)]
    pub alerts: Vec<String>,
    /// The whole record, as it is written.
    #[serde(skip)]
    pub line: String,
}

/// Where a rule is written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredRule {
    /// In words.
    pub label: String,
    /// The file.
    pub file: Option<String>,
    /// The line in it, counted from 1.
    pub line: Option<usize>,
    /// What it is called there.
    pub name: Option<String>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredError {
    /// The word for its kind.
    pub kind: String,
    /// What was said.
    pub message: String,
}

impl StoredCall {
    /// Reads a line of the log: `Ok(None)` when it is about something else than a call, or only the beginning of one that ended.
    pub(super) fn read<T>(line: &[u8], open: &OpenCalls<T>) -> Result<Option<Self>, Unreadable> {
        let Ok(Mark { kind, seq, .. }) = serde_json::from_slice(line) else { return Err(Unreadable) };
        let outcome = match kind {
            kind::CALL => None,
            kind::STARTED => match open.outcome(seq) {
                Some(outcome) => Some(outcome),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let mut call: Self = serde_json::from_slice(line).map_err(|_| Unreadable)?;
        call.line = String::from_utf8(line.to_vec()).map_err(|_| Unreadable)?;
        if let Some(outcome) = outcome {
            outcome.clone_into(&mut call.outcome);
            // What follows from the lack of a record is told in the words of one.
            let mut said: serde_json::Map<String, Value> = serde_json::from_slice(line).map_err(|_| Unreadable)?;
            said.insert("outcome".to_owned(), Value::from(outcome));
            call.line = Value::Object(said).to_string();
        }
        if call.outcome.is_empty() {
            return Err(Unreadable);
        }
        Ok(Some(call))
    }

    /// Whether it is written how it ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !matches!(self.outcome.as_str(), RUNNING | UNKNOWN)
    }

    /// Whether it ended badly, other than by being refused.
    #[must_use]
    pub fn is_error(&self) -> bool {
        matches!(self.outcome.as_str(), "tool_error" | "failed" | "timed_out")
    }

    /// Whether it was not let through.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        !super::unusual::was_made(&self.outcome)
    }
}

/// A line that is no record.
#[derive(Debug)]
pub(super) struct Unreadable;

pub(super) fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(from)?;
    written_moment(&text).ok_or_else(|| serde::de::Error::custom("not a time"))
}
