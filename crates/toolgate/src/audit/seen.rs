//! `Seen`: which tools were called before, by whom, and whether that could change anything. A file of its own, so that nobody has to read the
//! whole log for it; it only grows, one short line for everything new, and is made anew from the log when it is gone.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use serde::{Deserialize, Serialize};

use super::folder::{AuditFolder, open};
use super::log::AuditLog;
use super::moment::millis;
use super::query::Query;
use super::unusual::{ServerUse, Uses, was_made};
use crate::limits::{AUDIT_NAME_CHARS_MAX, AUDIT_SEEN_AGAIN_BYTES_MAX, AUDIT_SEEN_BYTES_MAX};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What was called before.
#[derive(Debug, Default)]
pub(super) struct Seen {
    uses: Uses,
    /// How much of the file is known.
    known_bytes: u64,
    /// Whether the file ends in the middle of a line, which a killed process left.
    is_torn: bool,
    /// Lines that are not in the file yet.
    new: String,
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    asker: String,
    server: String,
    tool: String,
    read_only: bool,
    /// The time of the call, in milliseconds since 1970. 0 in lines of older versions.
    #[serde(default)]
    at: u64,
}

impl Seen {
    /// Reads what other processes have added.
    pub(super) fn refresh(&mut self, folder: &AuditFolder) -> io::Result<()> {
        let mut file = match open(&folder.seen(), OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.make_anew(folder),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if length < self.known_bytes {
            *self = Self::default();
        }
        if length > self.known_bytes {
            file.seek(SeekFrom::Start(self.known_bytes))?;
            let mut text = Vec::new();
            file.take(AUDIT_SEEN_BYTES_MAX.saturating_sub(self.known_bytes)).read_to_end(&mut text)?;
            let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
            lines.for_each(|line| self.know(line));
            self.is_torn = text.last().is_some_and(|last| *last != b'\n');
            self.known_bytes = length;
        }
        Ok(())
    }

    /// Reads the newest records instead.
    fn make_anew(&mut self, folder: &AuditFolder) -> io::Result<()> {
        *self = Self::default();
        let log = AuditLog::without_lock(folder)?;
        log.newest(AUDIT_SEEN_AGAIN_BYTES_MAX)
            .each(&Query::default(), |call| {
                if was_made(&call.outcome) {
                    self.add((&call.asker, millis(call.at)), &call.server, &call.tool, call.read_only);
                }
                true
            })
            .map(drop)
            .map_err(io::Error::other)
    }

    /// Whether the tool was called by that asker.
    pub(super) fn has_called(&self, asker: &str, server: &str, tool: &str) -> bool {
        let tools = self.uses.get(server).map(|one| &one.tools);
        tools.and_then(|tools| tools.get(&*shortened(tool))).is_some_and(|askers| askers.iter().any(|one| one == asker))
    }

    /// Whether something was read from that server, and nothing else done.
    pub(super) fn has_only_reads(&self, server: &str) -> bool {
        self.uses.get(server).is_some_and(|one| one.read && !one.wrote)
    }

    /// The days the server was used before, when this tool of it was never called. `None` also when no time of its use is known.
    pub(super) fn days_before_new_tool(&self, server: &str, tool: &str, at_ms: u64) -> Option<u64> {
        let used = self.uses.get(server)?;
        let is_new = !used.tools.contains_key(&*shortened(tool));
        used.since_ms.filter(|_| is_new).map(|since_ms| at_ms.saturating_sub(since_ms) / DAY_MS)
    }

    /// Adds a call.
    pub(super) fn add(&mut self, (asker, at): (&str, u64), server: &str, tool: &str, read_only: bool) {
        let uses = self.uses.get(server);
        let is_known = uses.is_some_and(|one| if read_only { one.read } else { one.wrote });
        if is_known && self.has_called(asker, server, tool) {
            return;
        }
        let line = Line {
            asker: asker.to_owned(),
            server: server.to_owned(),
            tool: shortened(tool).into_owned(),
            read_only,
            at,
        };
        if let Ok(text) = serde_json::to_string(&line) {
            self.new.push_str(&text);
            self.new.push('\n');
        }
        self.know(line);
    }

    fn know(&mut self, line: Line) {
        let server: &mut ServerUse = self.uses.entry(line.server).or_default();
        let known_at = Some(line.at).filter(|at| *at > 0);
        server.since_ms = server.since_ms.into_iter().chain(known_at).min();
        server.read |= line.read_only;
        server.wrote |= !line.read_only;
        let askers = server.tools.entry(line.tool).or_default();
        if !askers.contains(&line.asker) {
            askers.push(line.asker);
        }
    }

    /// Writes down what is new.
    pub(super) fn write(&mut self, folder: &AuditFolder) -> io::Result<()> {
        let is_there = self.known_bytes > 0;
        if self.new.is_empty() && is_there {
            return Ok(());
        }
        let new = std::mem::take(&mut self.new);
        if self.known_bytes.saturating_add(new.len() as u64) >= AUDIT_SEEN_BYTES_MAX {
            return Ok(()); // What is new then stays new, and is told every time.
        }
        let text = if self.is_torn { format!("\n{new}") } else { new };
        let mut file = open(&folder.seen(), OpenOptions::new().append(true).create(true))?;
        file.write_all(text.as_bytes())?;
        self.known_bytes = file.metadata()?.len();
        self.is_torn = false;
        Ok(())
    }
}

fn shortened(tool: &str) -> Cow<'_, str> {
    if tool.len() <= AUDIT_NAME_CHARS_MAX {
        return Cow::Borrowed(tool);
    }
    Cow::Owned(tool.chars().take(AUDIT_NAME_CHARS_MAX).collect())
}
