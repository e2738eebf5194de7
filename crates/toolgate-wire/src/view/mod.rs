//! Lenient typed views of what servers offer and answer.
//!
//! A view reads the fields it knows out of raw JSON and keeps the JSON beside them, so that nothing is lost on the way through. An entry
//! that cannot be read is a defect of that entry alone.

mod fields;

mod tool;

mod prompt;

mod resource;

mod content;

mod result;

pub use content::{Block, Content};
pub use prompt::{Prompt, PromptArgument};
pub use resource::{Resource, ResourceContents, ResourceTemplate};
pub use result::{CallResult, PromptMessage, PromptResult, ReadResult};
pub use tool::{Tool, ToolHints};

use crate::limits::{LIST_DEFECTS_MAX, RESULT_PARTS_MAX};
use crate::raw::RawJson;

/// Something a server lists.
pub trait Entry: Sized {
    /// Reads one entry; the error says why it cannot be used.
    fn read(raw: RawJson) -> Result<Self, String>;

    /// The entry as the server wrote it.
    fn raw(&self) -> &RawJson;
}

/// All entries of one list.
#[derive(Debug, Clone)]
pub struct Listing<T> {
    /// Those that could be read, in the order of the server.
    pub entries: Vec<T>,
    /// Those that could not, and what else was wrong with the list.
    pub defects: Vec<EntryDefect>,
    /// How long it may be kept, as the server says (2026-07-28).
    pub cache: CacheHint,
}

/// An entry that could not be read.
#[derive(Debug, Clone)]
pub struct EntryDefect {
    /// Its place in the list.
    pub index: usize,
    /// What it calls itself, if that can be told.
    pub name: Option<String>,
    /// What is wrong with it.
    pub reason: String,
    /// The entry as it came.
    pub raw: RawJson,
}

/// How long a result may be kept and for whom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheHint {
    /// Milliseconds; nothing when the server does not say. What it says and nobody can understand is none at all.
    pub ttl_ms: Option<u64>,
    /// Whether it may be shared between accounts.
    pub is_public: bool,
}

impl CacheHint {
    /// Reads the hint of a result.
    pub fn read(result: &RawJson) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range first")]
        let ttl_ms = result.member("ttlMs").map(|ttl| ttl.read::<f64>().unwrap_or_default().clamp(0.0, 1e15) as u64);
        let is_public = result.member("cacheScope").is_some_and(|scope| scope.as_bytes() == b"\"public\"");
        Self { ttl_ms, is_public }
    }

    /// The stricter of two hints.
    pub(crate) fn and(self, other: Self) -> Self {
        let ttl_ms = match (self.ttl_ms, other.ttl_ms) {
            (None, None) => None,
            (one, another) => Some(one.unwrap_or_default().min(another.unwrap_or_default())),
        };
        Self { ttl_ms, is_public: self.is_public && other.is_public }
    }
}

/// Reads raw entries and sets unreadable ones aside. `others` is the number of further entries that are not parsed.
pub(crate) fn read_entries<T: Entry>(raw: Vec<RawJson>, others: usize) -> (Vec<T>, Vec<EntryDefect>) {
    let mut entries = Vec::with_capacity(raw.len());
    let mut defects = Vec::new();
    let (count, mut untold) = (raw.len(), 0_usize);
    for (index, raw) in raw.into_iter().enumerate() {
        match T::read(raw.clone()) {
            Ok(entry) => entries.push(entry),
            Err(_) if defects.len() >= LIST_DEFECTS_MAX => untold += 1,
            Err(reason) => {
                let name = raw.member("name").and_then(|name| name.read().ok());
                defects.push(EntryDefect { index, name, reason, raw });
            }
        }
    }
    let mut sum_up = |number: usize, reason: String| {
        if number > 0 {
            defects.push(EntryDefect { index: count, name: None, reason, raw: RawJson::NULL });
        }
    };
    sum_up(untold, format!("{untold} more cannot be read (limit LIST_DEFECTS_MAX = {LIST_DEFECTS_MAX})"));
    sum_up(others, format!("{others} more are left out (limit RESULT_PARTS_MAX = {RESULT_PARTS_MAX})"));
    (entries, defects)
}
