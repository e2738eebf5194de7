//! The list of revisions as a file, with the time, the cause and the content of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{REVISION_LOG_BYTES_MAX, REVISIONS_BYTES_MAX, REVISIONS_MAX};

const VERSION: u32 = 1;

/// One saved state of the settings and policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Hash of its files. Equal content has an equal hash.
    pub id: String,
    /// The time at which it was saved.
    #[serde(with = "time")]
    pub at: SystemTime,
    /// The command that made it, or `changed by hand`.
    pub cause: String,
    /// The person's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Settings and policies.
    pub files: BTreeMap<String, KeptFile>,
    /// Grants and trust at that time.
    #[serde(default)]
    pub beside: BTreeMap<String, KeptFile>,
}

/// The content of one file of a revision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeptFile {
    /// The SHA-256 of its text, in hexadecimal.
    pub hash: String,
    /// Its size.
    pub bytes: u64,
}

impl Revision {
    /// All contents of the revision.
    pub(super) fn contents(&self) -> impl Iterator<Item = &KeptFile> {
        self.files.values().chain(self.beside.values())
    }
}

/// The list, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Log {
    version: u32,
    pub(super) revisions: Vec<Revision>,
}

impl Log {
    /// Parses the file.
    pub(super) fn parse(text: Option<&str>, file: &Path) -> Result<Self> {
        let Some(text) = text else { return Ok(Self { version: VERSION, revisions: Vec::new() }) };
        let wrong = |what: &str| {
            let error = Error::new(ErrorKind::State, format!("{}: {what}", file.display()));
            error.hinting("correct the file, or remove its folder to begin a new list")
        };
        let log: Self = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        if log.version != VERSION {
            return Err(wrong(&format!("version {} is not supported, only {VERSION}", log.version)));
        }
        Ok(log)
    }

    /// Serializes the list, without the oldest revisions when there are too many.
    pub(super) fn render(&mut self) -> Result<String> {
        while self.revisions.len() > REVISIONS_MAX || self.bytes() > REVISIONS_BYTES_MAX {
            if !self.drop_oldest() {
                break;
            }
        }
        loop {
            let text = serde_json::to_string_pretty(self)
                .map_err(|error| Error::new(ErrorKind::State, format!("cannot write the revisions: {error}")))?;
            if text.len() <= REVISION_LOG_BYTES_MAX || !self.drop_oldest() {
                return Ok(text);
            }
        }
    }

    /// The newest revision always stays.
    fn drop_oldest(&mut self) -> bool {
        let is_one_of_many = self.revisions.len() > 1;
        if is_one_of_many {
            self.revisions.remove(0);
        }
        is_one_of_many
    }

    fn bytes(&self) -> u64 {
        let contents: BTreeSet<&KeptFile> = self.revisions.iter().flat_map(Revision::contents).collect();
        contents.iter().map(|content| content.bytes).fold(0, u64::saturating_add)
    }

    /// The newest revision with that id, or the only one with that prefix.
    pub(super) fn find(&self, word: &str) -> Result<&Revision> {
        let begins = |revision: &&Revision| !word.is_empty() && revision.id.starts_with(word);
        let ids: BTreeSet<&str> = self.revisions.iter().filter(begins).map(|one| one.id.as_str()).collect();
        let found = self.revisions.iter().rev().find(|one| ids.contains(one.id.as_str()));
        match (found, ids.len()) {
            (Some(revision), 1) => Ok(revision),
            (Some(_), count) => {
                let what = format!("`{word}` matches {count} revisions");
                Err(Error::new(ErrorKind::State, what).hinting("type more characters of the id"))
            }
            (None, _) => Err(Error::new(ErrorKind::State, format!("there is no revision `{word}`"))
                .hinting("`toolgate revisions list` shows them")),
        }
    }
}

mod time {
    use super::{SystemTime, Timestamp};
    use serde::{Deserialize as _, Deserializer, Serializer, de, ser};

    pub(super) fn serialize<S: Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
        let time = Timestamp::try_from(*time).map_err(ser::Error::custom)?;
        to.collect_str(&time)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
        let text = String::deserialize(from)?;
        text.parse::<Timestamp>().map(SystemTime::from).map_err(de::Error::custom)
    }
}
