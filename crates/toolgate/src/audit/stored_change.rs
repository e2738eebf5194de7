//! `StoredChange`: a recorded change of permissions.

use std::time::SystemTime;

use serde::Deserialize;

use super::chain::kind;
use super::query::Query;
use super::stored::{Unreadable, moment};

/// A recorded change of permissions.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredChange {
    /// Number of the record, counted from 1 over all files.
    pub seq: u64,
    /// The time of the change.
    #[serde(deserialize_with = "moment")]
    pub at: SystemTime,
    /// Id of the process that made it.
    #[serde(default)]
    pub pid: u32,
    /// The kind, as a word.
    pub change: String,
    /// The subject of the change, such as a rule, a grant or a setting.
    #[serde(default)]
    pub subject: String,
    /// The person who made it.
    #[serde(default)]
    pub by: StoredPerson,
    /// The run of the host.
    pub session: Option<String>,
    /// The workspace folder.
    #[serde(default)]
    pub folder: String,
    /// The reason the person gave.
    pub reason: Option<String>,
    /// The state before, as text.
    pub before: Option<String>,
    /// The state afterwards, as text.
    pub after: Option<String>,
    /// The changed files.
    #[serde(default)]
    pub files: Vec<StoredFile>,
    /// Number of files that are not listed.
    #[serde(default)]
    pub more_files: u64,
    /// The recorded calls that are decided differently now.
    pub impact: Option<StoredImpact>,
    /// The whole record as JSON.
    #[serde(skip)]
    pub line: String,
}

/// The person who made a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct StoredPerson {
    /// A verified identity.
    pub principal: Option<String>,
    /// Local user name.
    pub user: Option<String>,
    /// Local user id.
    pub uid: Option<u32>,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredFile {
    /// Path of the file.
    pub path: String,
    /// Hash of the text before.
    pub before: Option<String>,
    /// Hash of the text afterwards.
    pub after: Option<String>,
}

/// The recorded calls that changed rules decide differently.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct StoredImpact {
    /// Days of the record that were decided again.
    #[serde(default)]
    pub days: u64,
    /// Calls that were decided again.
    #[serde(default)]
    pub calls: u64,
    /// Calls that are decided differently.
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
    /// The name to show: the principal, or the user.
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
    /// Reads a line of the log. `Ok(None)` for lines of other kinds.
    pub(super) fn read(line: &[u8]) -> Result<Option<Self>, Unreadable> {
        let Ok(Kind { kind }) = serde_json::from_slice(line) else { return Err(Unreadable) };
        if kind != kind::PERMISSION {
            return Ok(None);
        }
        let mut change: Self = serde_json::from_slice(line).map_err(|_| Unreadable)?;
        change.line = String::from_utf8(line.to_vec()).map_err(|_| Unreadable)?;
        Ok(Some(change))
    }

    /// Whether the time and session match the query. The other fields of a query do not apply to changes.
    pub(super) fn is_wanted(&self, query: &Query) -> bool {
        let is_of = |wanted: &Option<String>| {
            wanted.as_deref().is_none_or(|wanted| self.session.as_deref().is_some_and(|session| session == wanted))
        };
        query.since.is_none_or(|since| self.at >= since)
            && query.until.is_none_or(|until| self.at < until)
            && is_of(&query.session)
    }
}
