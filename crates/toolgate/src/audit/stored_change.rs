//! `StoredChange`: a change of permissions as it stands in the log.

use std::time::SystemTime;

use serde::Deserialize;

use super::chain::kind;
use super::query::Query;
use super::stored::{Unreadable, moment};

/// A change of permissions as it stands in the log.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredChange {
    /// The number of the record, counted from 1 over all files.
    pub seq: u64,
    /// The time of the change.
    #[serde(deserialize_with = "moment")]
    pub at: SystemTime,
    /// The process that made it.
    #[serde(default)]
    pub pid: u32,
    /// The word for its kind.
    pub change: String,
    /// The subject of the change, such as a rule, a grant or a setting.
    #[serde(default)]
    pub subject: String,
    /// The person who made it.
    #[serde(default)]
    pub by: StoredPerson,
    /// The run of the host it was made in.
    pub session: Option<String>,
    /// The folder it was made in.
    #[serde(default)]
    pub folder: String,
    /// The reason the person gave.
    pub reason: Option<String>,
    /// The state before, in words.
    pub before: Option<String>,
    /// The state afterwards, in words.
    pub after: Option<String>,
    /// The files that are others since.
    #[serde(default)]
    pub files: Vec<StoredFile>,
    /// Number of files that are not listed.
    #[serde(default)]
    pub more_files: u64,
    /// The calls that are decided otherwise since.
    pub impact: Option<StoredImpact>,
    /// The whole record, as it is written.
    #[serde(skip)]
    pub line: String,
}

/// The person who made a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct StoredPerson {
    /// An identity that was proved.
    pub principal: Option<String>,
    /// The local user.
    pub user: Option<String>,
    /// The number of the local user.
    pub uid: Option<u32>,
}

/// A file that a change is about.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredFile {
    /// The file.
    pub path: String,
    /// The hash of its text before.
    pub before: Option<String>,
    /// The hash of its text afterwards.
    pub after: Option<String>,
}

/// The calls that changed rules decide otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct StoredImpact {
    /// Days of the record that were decided anew.
    #[serde(default)]
    pub days: u64,
    /// Calls that were decided anew.
    #[serde(default)]
    pub calls: u64,
    /// Calls that are decided otherwise.
    #[serde(default)]
    pub different: u64,
    /// Which ones, together where tool and decisions are equal.
    #[serde(default)]
    pub cases: Vec<StoredImpactCase>,
}

/// Calls of one tool that changed rules decide otherwise in one way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct StoredImpactCase {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The decision in the record.
    pub was: String,
    /// The decision under the changed rules.
    pub now: String,
}

impl StoredPerson {
    /// The name to show: the principal, else the user.
    #[must_use]
    pub fn shown(&self) -> String {
        let number = || self.uid.map(|uid| format!("uid {uid}"));
        let name = self.principal.clone().or_else(|| self.user.clone()).or_else(number);
        name.unwrap_or_else(|| "unknown".to_owned())
    }
}

/// The kind of a line.
#[derive(Deserialize)]
struct Kind<'a> {
    kind: &'a str,
}

impl StoredChange {
    /// Reads a line of the log: `Ok(None)` when it is about something else.
    pub(super) fn read(line: &[u8]) -> Result<Option<Self>, Unreadable> {
        let Ok(Kind { kind }) = serde_json::from_slice(line) else { return Err(Unreadable) };
        if kind != kind::PERMISSION {
            return Ok(None);
        }
        let mut change: Self = serde_json::from_slice(line).map_err(|_| Unreadable)?;
        change.line = String::from_utf8(line.to_vec()).map_err(|_| Unreadable)?;
        Ok(Some(change))
    }

    /// Whether it is of the time and session that are wanted; nothing else in a query is about changes.
    pub(super) fn is_wanted(&self, query: &Query) -> bool {
        let is_of = |wanted: &Option<String>| {
            wanted.as_deref().is_none_or(|wanted| self.session.as_deref().is_some_and(|session| session == wanted))
        };
        query.since.is_none_or(|since| self.at >= since)
            && query.until.is_none_or(|until| self.at < until)
            && is_of(&query.session)
    }
}
