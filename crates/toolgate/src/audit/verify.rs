//! Finds what was edited, removed, put in or moved in the log, and says where.

use std::fmt;

use super::chain::{Link, NO_HASH, kind};
use super::folder::{CURRENT, HEAD, full_name};
use super::log::{AuditLog, Line, LogPart};
use super::open_calls::{Mark, OpenCalls};
use crate::error::Result;
use crate::limits::AUDIT_FINDINGS_MAX;

/// What was found out about the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// How many files there are.
    pub files: usize,
    /// How many records.
    pub records: u64,
    /// The number and the hash of the last one. Noted elsewhere, they prove later that nothing before it was changed.
    pub last: Option<(u64, String)>,
    /// What somebody changed, and what could not be written.
    pub findings: Vec<Finding>,
    /// How many more findings there are.
    pub more_findings: u64,
    /// What was interrupted: torn lines, which no record is lost by, and calls that never ended.
    pub notes: Vec<Finding>,
    /// How many more notes there are.
    pub more_notes: u64,
}

/// Something about one place of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// The line in it, counted from 1; none when it is about the file.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl Verification {
    /// Whether nothing was changed.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    fn find(&mut self, file: &str, line: Option<usize>, what: impl Into<String>) {
        if self.findings.len() < AUDIT_FINDINGS_MAX {
            self.findings.push(Finding { file: file.to_owned(), line, what: what.into() });
        } else {
            self.more_findings += 1;
        }
    }

    fn note(&mut self, file: &str, line: Option<usize>, what: impl Into<String>) {
        if self.notes.len() < AUDIT_FINDINGS_MAX {
            self.notes.push(Finding { file: file.to_owned(), line, what: what.into() });
        } else {
            self.more_notes += 1;
        }
    }
}

/// Looks at every record of the log.
///
/// # Errors
/// When a file cannot be read.
pub fn verify(log: &AuditLog) -> Result<Verification> {
    let mut walk = Walk {
        log,
        found: Verification { files: log.parts().len(), ..Verification::default() },
        next_seq: 1,
        next_prev: Some(NO_HASH.to_owned()),
        next_file: 1,
        met_head: false,
        open: OpenCalls::none(),
    };
    for (nth, part) in log.parts().iter().enumerate() {
        let is_last = nth + 1 == log.parts().len();
        walk.part(part, is_last)?;
    }
    walk.end();
    Ok(walk.found)
}

/// The way through the log.
struct Walk<'a> {
    log: &'a AuditLog,
    found: Verification,
    /// The number that the next record should have.
    next_seq: u64,
    /// The hash that it should follow; `None` when the one before it cannot be read.
    next_prev: Option<String>,
    /// The number that the next file should have.
    next_file: u64,
    /// Whether the record was met at which the log ended by its head.
    met_head: bool,
    /// Calls whose ending was not met yet, and where they begin.
    open: OpenCalls<(String, usize)>,
}

impl Walk<'_> {
    fn part(&mut self, part: &LogPart, is_last: bool) -> Result<()> {
        if let Some(number) = part.number {
            for missing in (self.next_file..number).take(AUDIT_FINDINGS_MAX) {
                self.found.find(&full_name(missing), None, "the file is missing");
            }
            self.next_file = number;
        }
        let mut lines = part.lines().map_err(|error| self.log.cannot_read(&error))?;
        while let Some(line) = lines.next().map_err(|error| self.log.cannot_read(&error))? {
            if !line.is_ended && is_last {
                let is_whole = line.is_whole();
                let what = match is_whole {
                    true => "the last line has no end: its writer was interrupted; the next one ends it".to_owned(),
                    false => {
                        let bytes = line.text.len();
                        format!(
                            "the last line is torn ({bytes} bytes): its writer was interrupted; the next one mends it"
                        )
                    }
                };
                self.found.note(&part.name, Some(line.number), what);
                if !is_whole {
                    continue;
                }
            }
            self.line(part, &line);
        }
        self.next_file = self.next_file.saturating_add(1);
        Ok(())
    }

    fn line(&mut self, part: &LogPart, line: &Line<'_>) {
        let Some(link) = Link::read(line.text) else {
            self.found.find(&part.name, Some(line.number), "not a record: the line was edited, put in or damaged");
            // It may have been the record that should stand here. The next one tells.
            self.next_prev = None;
            return;
        };
        self.found.records += 1;
        let complaint = self.chain(&link);
        if let Some(what) = complaint.or_else(|| self.opening(part, line, &link)) {
            self.found.find(&part.name, Some(line.number), what);
        }
        self.kind(part, line, &link);
        if let Some(head) = self.log.head()
            && head.seq == link.said.seq
        {
            self.met_head |= head.hash == link.hash && link.holds;
        }
    }

    /// What is wrong with the place of a record in the chain. Afterwards the next one is expected.
    fn chain(&mut self, link: &Link<'_>) -> Option<String> {
        let seq = link.said.seq;
        let expected = self.next_seq;
        // After a line that could not be read, the record that stood there may have had the number before this one.
        let follows_unreadable = self.next_prev.is_none() && seq == expected.saturating_add(1);
        let follows = self.next_prev.as_ref().is_none_or(|prev| *prev == link.said.prev);
        let complaint = if !link.holds {
            Some(format!("record {seq} was edited: its hash is not that of what is written"))
        } else if seq < expected {
            Some(format!("record {seq} stands behind record {}: it was moved, repeated or put in", expected - 1))
        } else if seq > expected && !follows_unreadable {
            Some(match seq - expected {
                1 => format!("record {expected} is missing before record {seq}"),
                _ => format!("records {expected} to {} are missing before record {seq}", seq - 1),
            })
        } else if !follows {
            Some(format!("record {seq} does not follow the record before it: one of the two was replaced"))
        } else {
            None
        };
        // A record that stands too late says nothing about what comes next; nor does the number of one that was edited.
        if link.holds && seq >= expected {
            (self.next_seq, self.next_prev) = (seq.saturating_add(1), Some(link.hash.to_owned()));
            self.found.last = Some((seq, link.hash.to_owned()));
        } else if !link.holds {
            (self.next_seq, self.next_prev) = (expected.saturating_add(1), None);
        }
        complaint
    }

    /// What is wrong with the first record of a file.
    fn opening(&mut self, part: &LogPart, line: &Line<'_>, link: &Link<'_>) -> Option<String> {
        if line.number != 1 {
            return None;
        }
        let Some(number) = link.said.file.filter(|_| link.said.kind == kind::BEGIN) else {
            return Some("the file does not begin with the record that begins a file".to_owned());
        };
        let expected = self.next_file;
        self.next_file = number.max(expected);
        match part.number {
            Some(own) if own != number => Some(format!("this is file {number} under another name")),
            None if number > expected => {
                for missing in (expected..number).take(AUDIT_FINDINGS_MAX) {
                    self.found.find(&full_name(missing), None, "the file is missing");
                }
                None
            }
            None if number < expected => Some(format!("this is file {number}, after file {}", expected - 1)),
            _ => None,
        }
    }

    /// What a record says that is no call.
    fn kind(&mut self, part: &LogPart, line: &Line<'_>, link: &Link<'_>) {
        let said = &link.said;
        let mark = Mark { seq: said.seq, kind: &said.kind, pid: said.pid, started: said.started };
        self.open.follow(&mark, || (part.name.clone(), line.number));
        let count = |count: Option<u64>| count.unwrap_or_default();
        match link.said.kind.as_str() {
            kind::REPAIRED => {
                let what = format!("a torn line of {} bytes was taken away here", count(link.said.bytes));
                self.found.note(&part.name, Some(line.number), what);
            }
            kind::MISSED => {
                let calls = match count(link.said.calls) {
                    1 => "1 call".to_owned(),
                    calls => format!("{calls} calls"),
                };
                let what = format!("{calls} before this could not be written down");
                self.found.find(&part.name, Some(line.number), what);
            }
            kind::RESUMED => {
                let what = match link.said.without.as_deref() {
                    Some("audit") => "a new log begins here: the files of an earlier log are gone".to_owned(),
                    _ => format!("{HEAD} was missing when this was written: records before it may be gone"),
                };
                self.found.find(&part.name, Some(line.number), what);
            }
            _ => (),
        }
    }

    /// Whether the log ends where it should, and every call in it.
    fn end(&mut self) {
        for (seq, (file, line)) in std::mem::replace(&mut self.open, OpenCalls::none()).never_ended() {
            let what = format!(
                "the call of record {seq} was begun and never ended: its process was killed, or could not write"
            );
            self.found.note(&file, Some(line), what);
        }
        let last_name = self.log.parts().last().map_or(CURRENT, |part| part.name.as_str());
        let Some(head) = self.log.head() else {
            if self.log.parts().is_empty() {
                if let Some(begun) = self.log.begun() {
                    let what = format!("a log was begun at {begun}, but its files are gone");
                    self.found.find("audit", None, what);
                }
            } else {
                self.found.find(HEAD, None, "missing or damaged: nobody can tell whether the last records are there");
            }
            return;
        };
        let last_seq = self.next_seq.saturating_sub(1);
        if head.seq > last_seq {
            let what = match head.seq - last_seq {
                1 => format!("record {} is missing at the end", head.seq),
                _ => format!("records {} to {} are missing at the end", last_seq.saturating_add(1), head.seq),
            };
            self.found.find(last_name, None, what);
        } else if head.seq > 0 && !self.met_head && self.found.is_sound() {
            let what = format!("record {} is not the one that was written", head.seq);
            self.found.find(last_name, None, what);
        }
    }
}
