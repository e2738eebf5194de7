//! `AuditLog`: the log as its readers see it: all files in order, up to where it ended when it was opened.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::PathBuf;

use super::chain::Link;
use super::folder::{AuditFolder, CURRENT, full_name, open};
use super::head::Head;
use super::open_calls::OpenCalls;
use super::query::Query;
use super::stored::StoredCall;
use super::stored_change::StoredChange;
use crate::env::HostEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::AUDIT_LINE_BYTES_MAX;

/// The log, as it was when it was opened.
#[derive(Debug)]
pub struct AuditLog {
    folder: AuditFolder,
    files: Vec<LogPart>,
    head: Option<Head>,
}

/// One of its files.
#[derive(Debug)]
pub(super) struct LogPart {
    /// What it is called.
    pub(super) name: String,
    /// Its number, when its name has one.
    pub(super) number: Option<u64>,
    path: PathBuf,
    /// The one that was written to is held open: it may have another name by now.
    current: Option<File>,
    /// How much of it is looked at.
    length: u64,
}

impl AuditLog {
    /// Opens the log of this person. One that nobody has written yet is empty.
    ///
    /// # Errors
    /// When its files cannot be listed or opened, or a writer keeps them locked.
    pub fn open(env: &HostEnv) -> Result<Self> {
        let folder = AuditFolder::of(env);
        let opened = folder.lock_for_reading().and_then(|lock| {
            let opened = Self::without_lock(&folder);
            drop(lock);
            opened
        });
        opened.map_err(|error| cannot_read(&folder, &error))
    }

    /// The same for a writer, who has the lock.
    pub(super) fn without_lock(folder: &AuditFolder) -> io::Result<Self> {
        let mut files = Vec::new();
        for number in folder.full_numbers()? {
            let path = folder.full(number);
            let length = fs::symlink_metadata(&path)?.len();
            files.push(LogPart { name: full_name(number), number: Some(number), path, current: None, length });
        }
        match open(&folder.current(), OpenOptions::new().read(true)) {
            Ok(file) => {
                let length = file.metadata()?.len();
                let (name, path) = (CURRENT.to_owned(), folder.current());
                files.push(LogPart { name, number: None, path, current: Some(file), length });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (),
            Err(error) => return Err(error),
        }
        Ok(Self { folder: folder.clone(), files, head: Head::read(folder)? })
    }

    /// Only the newest files, of about that size together.
    pub(super) fn newest(mut self, bytes_max: u64) -> Self {
        let mut bytes = 0_u64;
        let kept = self.files.iter().rev().take_while(|part| {
            bytes = bytes.saturating_add(part.length);
            bytes <= bytes_max
        });
        let left_out = self.files.len().saturating_sub(kept.count().max(1));
        self.files.drain(..left_out);
        self
    }

    /// Its files, in order.
    pub(super) fn parts(&self) -> &[LogPart] {
        &self.files
    }

    /// Where it ended.
    pub(super) const fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// Passes on the calls that are wanted, the oldest first, until `take` says that it has enough. How many lines could not be read.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn each(&self, query: &Query, mut take: impl FnMut(StoredCall) -> bool) -> Result<u64> {
        let open = self.open_calls(query).map_err(|error| self.cannot_read(&error))?;
        let mut unreadable = 0;
        let mut last = VecDeque::new();
        for part in &self.files {
            if part.ended_before(query) {
                continue;
            }
            let mut lines = part.lines().map_err(|error| self.cannot_read(&error))?;
            while let Some(line) = lines.next().map_err(|error| self.cannot_read(&error))? {
                if !line.is_whole() {
                    continue; // A writer may be about to finish it.
                }
                let call = match StoredCall::read(line.text, &open) {
                    Ok(Some(call)) if query.wants(&call) => call,
                    Ok(_) => continue,
                    Err(_) => {
                        unreadable += 1;
                        continue;
                    }
                };
                let Some(count) = query.last else {
                    if !take(call) {
                        return Ok(unreadable);
                    }
                    continue;
                };
                last.push_back(call);
                if last.len() > count {
                    last.pop_front();
                }
            }
        }
        let _enough = last.into_iter().all(&mut take);
        Ok(unreadable)
    }

    /// Passes matching permission changes to `take`, the oldest first, until it has enough. Returns the number of unreadable lines.
    /// Only the times, the session and the count of the query apply.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn each_change(&self, query: &Query, mut take: impl FnMut(StoredChange) -> bool) -> Result<u64> {
        let mut unreadable = 0;
        let mut last = VecDeque::new();
        for part in self.files.iter().filter(|part| !part.ended_before(query)) {
            let mut lines = part.lines().map_err(|error| self.cannot_read(&error))?;
            while let Some(line) = lines.next().map_err(|error| self.cannot_read(&error))? {
                let change = match StoredChange::read(line.text) {
                    _ if !line.is_whole() => continue,
                    Ok(Some(change)) if change.is_wanted(query) => change,
                    Ok(_) => continue,
                    Err(_) => {
                        unreadable += 1;
                        continue;
                    }
                };
                last.push_back(change);
                match query.last {
                    Some(count) if last.len() > count => drop(last.pop_front()),
                    Some(_) => (),
                    None => {
                        if !last.drain(..).all(&mut take) {
                            return Ok(unreadable);
                        }
                    }
                }
            }
        }
        let _enough = last.into_iter().all(&mut take);
        Ok(unreadable)
    }

    /// The calls without an ending. All that may be wanted is read for it once more, since an ending may be far behind its beginning.
    fn open_calls(&self, query: &Query) -> io::Result<OpenCalls<()>> {
        let mut open = OpenCalls::none();
        for part in self.files.iter().filter(|part| !part.ended_before(query)) {
            let mut lines = part.lines()?;
            while let Some(line) = lines.next()? {
                if let Ok(mark) = serde_json::from_slice(line.text) {
                    open.follow(&mark, || ());
                }
            }
        }
        Ok(open)
    }

    /// The time at which a log was begun, if the note beside the folder has it.
    pub(super) fn begun(&self) -> Option<String> {
        self.folder.begun()
    }

    /// Why it cannot be read.
    pub(super) fn cannot_read(&self, error: &io::Error) -> Error {
        cannot_read(&self.folder, error)
    }
}

fn cannot_read(folder: &AuditFolder, error: &io::Error) -> Error {
    let what = format!("cannot read the audit log in {}: {error}", folder.path().display());
    Error::new(ErrorKind::State, what)
}

impl LogPart {
    /// Whether nothing in it can be wanted. A record is written after its call was asked for, so a file that nobody has touched since then has
    /// only earlier ones.
    fn ended_before(&self, query: &Query) -> bool {
        let (Some(since), None) = (query.since, &self.current) else { return false };
        fs::metadata(&self.path).and_then(|about| about.modified()).is_ok_and(|touched| touched < since)
    }

    /// Its lines, one by one.
    pub(super) fn lines(&self) -> io::Result<Lines> {
        let file = match &self.current {
            Some(file) => {
                let mut file = file.try_clone()?;
                io::Seek::rewind(&mut file)?;
                file
            }
            None => open(&self.path, OpenOptions::new().read(true))?,
        };
        Ok(Lines { from: BufReader::new(file.take(self.length)), number: 0, line: Vec::new() })
    }
}

/// Reads lines, however long they are.
#[derive(Debug)]
pub(super) struct Lines {
    from: BufReader<io::Take<File>>,
    number: usize,
    line: Vec<u8>,
}

/// One line.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub(super) number: usize,
    /// Its text without its end; the start of it, when it is longer than any of ours.
    pub(super) text: &'a [u8],
    /// Whether it has an end.
    pub(super) is_ended: bool,
}

impl Line<'_> {
    /// Whether nothing of it is missing, but for its end.
    pub(super) fn is_whole(&self) -> bool {
        self.is_ended || Link::read(self.text).is_some_and(|link| link.holds)
    }
}

impl Lines {
    /// The next one.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let most = AUDIT_LINE_BYTES_MAX as u64;
        if self.from.by_ref().take(most).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut is_ended = self.line.ends_with(b"\n");
        if !is_ended && self.line.len() == AUDIT_LINE_BYTES_MAX {
            is_ended = self.from.skip_until(b'\n')? > 0;
        }
        let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        Ok(Some(Line { number: self.number, text, is_ended }))
    }
}
