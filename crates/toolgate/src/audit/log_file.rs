//! `LogFile`: the log as its writer sees it, with the lock held: finding where it ends, mending what a killed process left, appending, and
//! beginning a new file when one is full.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};

use super::chain::{Link, NewLine, Place, hash_of, kind, seal};
use super::folder::{AuditFolder, HEAD, about, is_same_file, keep_private, open};
use super::head::Head;
use super::members::Members;
use super::tail::Tail;
use super::unusual::Counted;
use crate::limits::{AUDIT_BEGUN_BYTES_MAX, AUDIT_LINE_BYTES_MAX, AUDIT_TORN_CHARS_MAX};

/// The log, as far as this process knows it.
#[derive(Debug)]
pub(super) struct LogFile {
    folder: AuditFolder,
    /// This process, which need not ask who it is for every record.
    pid: String,
    /// A file that has this many bytes is full.
    file_bytes_max: u64,
    open: Option<OpenFile>,
    /// The last record.
    end: Place,
    /// The calls of the last minutes, by whichever process.
    pub(super) counted: Vec<Counted>,
    head: Option<File>,
    is_dirty: bool,
    /// The line that was written last, whose room the next one takes.
    line: String,
}

/// The file that is written now.
#[derive(Debug)]
struct OpenFile {
    file: File,
    length: u64,
    number: u64,
}

/// What was found when the log was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nobody else has written.
    AsWeLeftIt,
    /// It is new to us, or somebody else has written.
    Changed,
}

impl LogFile {
    /// Nothing is looked at yet.
    pub(super) fn new(folder: AuditFolder, file_bytes_max: u64) -> Self {
        let end = Place::start();
        Self {
            folder,
            pid: std::process::id().to_string(),
            file_bytes_max,
            open: None,
            end,
            counted: Vec::new(),
            head: None,
            is_dirty: false,
            line: String::new(),
        }
    }

    /// Makes sure that the next record goes to the end of the log, whoever wrote to it or was killed meanwhile.
    pub(super) fn look(&mut self, at: &str) -> io::Result<Look> {
        let found = about(&self.folder.current())?;
        let look = match (&self.open, &found) {
            (Some(open), Some(found)) if open.is(found)? => Look::AsWeLeftIt,
            _ => {
                self.find_end(found.is_some(), at)?;
                Look::Changed
            }
        };
        if self.is_full() {
            self.begin_next(at)?;
        }
        Ok(look)
    }

    /// Whether the next record goes into another file.
    pub(super) fn is_full(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.length >= self.file_bytes_max)
    }

    /// Finds the end of a log that is new to us.
    fn find_end(&mut self, has_current: bool, at: &str) -> io::Result<()> {
        // Should this fail halfway, the next look begins anew.
        self.forget();
        let current = if has_current { self.open_current()? } else { None };
        let full = self.folder.full_numbers()?.last().copied();
        let head = Head::read(&self.folder)?;
        let is_new = head.is_none() && full.is_none() && !has_current;
        let had_log = self.folder.note_begun(at)?;
        let found = match &current {
            Some((_, tail)) => end_of(tail),
            None => self.end_of_full(full)?,
        };
        // A record of which only the end of its line is missing is one, whether the head knows of it or not.
        let unended = current.as_ref().and_then(|(_, tail)| unended(tail, found.as_ref()));
        let is_unended = unended.is_some();
        let found = unended.or(found);
        let file_of_head = head.as_ref().map_or(0, |head| head.file);
        self.counted = head.as_ref().map(|head| head.counted.clone()).unwrap_or_default();
        // Where records that were there are gone, the number that follows theirs shows it for ever.
        let known = [found, head.as_ref().map(Head::place)].into_iter().flatten();
        self.end = known.chain([self.end.clone()]).max_by_key(|place| place.seq).unwrap_or_else(Place::start);
        if is_new {
            // What says where the log ends comes first, so that it is never missing.
            self.write_head()?;
        }
        match current {
            Some((mut open, tail)) => {
                let fallback = if tail.last.is_some() { file_of_head } else { file_of_head.saturating_add(1) };
                let fallback = fallback.max(full.unwrap_or(0).saturating_add(1));
                open.number = first_number(&self.folder).unwrap_or(fallback);
                self.open = Some(open);
                if is_unended {
                    self.write(b"\n")?;
                } else {
                    self.mend(&tail.torn, at)?;
                }
            }
            None => self.begin(full.unwrap_or(0).max(file_of_head).saturating_add(1), at)?,
        }
        let without = if is_new { "audit" } else { HEAD };
        if head.is_none() && (!is_new || had_log) {
            self.append(kind::RESUMED, at, &[&Members::of(|what| what.text("without", without))])?;
        }
        Ok(())
    }

    /// Opens the file that is written now, when it has something in it. One that is no log is put away like a full one.
    fn open_current(&self) -> io::Result<Option<(OpenFile, Tail)>> {
        let path = self.folder.current();
        let mut file = open(&path, OpenOptions::new().read(true).append(true))?;
        keep_private(&path, 0o600)?;
        let length = file.metadata()?.len();
        match Tail::read(&mut file, length)? {
            _ if length == 0 => Ok(None),
            Some(tail) => Ok(Some((OpenFile { file, length, number: 0 }, tail))),
            None => {
                let number = self.folder.full_numbers()?.last().copied().unwrap_or(0).saturating_add(1);
                fs::rename(&path, self.folder.full(number))?;
                Ok(None)
            }
        }
    }

    /// The last record of the last full file.
    fn end_of_full(&self, number: Option<u64>) -> io::Result<Option<Place>> {
        let Some(number) = number else { return Ok(None) };
        let mut file = open(&self.folder.full(number), OpenOptions::new().read(true))?;
        let length = file.metadata()?.len();
        Ok(Tail::read(&mut file, length)?.and_then(|tail| end_of(&tail)))
    }

    /// Takes a torn line away, and says so in a record.
    fn mend(&mut self, torn: &[u8], at: &str) -> io::Result<()> {
        if torn.is_empty() {
            return Ok(());
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        let whole = open.length.saturating_sub(torn.len() as u64);
        open.file.set_len(whole)?;
        open.length = whole;
        if whole == 0 {
            let what = begin_of(open.number);
            self.append(kind::BEGIN, at, &[&what])?;
        }
        let start: String = String::from_utf8_lossy(torn).chars().take(AUDIT_TORN_CHARS_MAX).collect();
        let what = Members::of(|what| {
            what.number("bytes", torn.len() as u64);
            what.text("sha256", &hash_of(torn));
            what.text("start", &start);
        });
        self.append(kind::REPAIRED, at, &[&what])
    }

    /// Puts the full file away, and begins the next.
    fn begin_next(&mut self, at: &str) -> io::Result<()> {
        let Some(number) = self.open.as_ref().map(|open| open.number) else { return Ok(()) };
        if self.folder.full(number).exists() {
            // Somebody has put something there. Better a long file than one lost.
            return Ok(());
        }
        self.sync()?;
        self.open = None;
        fs::rename(self.folder.current(), self.folder.full(number))?;
        self.begin(number.saturating_add(1), at)
    }

    fn begin(&mut self, number: u64, at: &str) -> io::Result<()> {
        let file = open(&self.folder.current(), OpenOptions::new().read(true).append(true).create(true))?;
        let length = file.metadata()?.len();
        self.open = Some(OpenFile { file, length, number });
        self.append(kind::BEGIN, at, &[&begin_of(number)])
    }

    /// Writes one record at the end, with the members of its object as they stand in the line, in parts.
    pub(super) fn append(&mut self, kind: &str, at: &str, members: &[&str]) -> io::Result<()> {
        let mut line = std::mem::take(&mut self.line);
        let place = seal(&mut line, &self.end, &self.pid, &NewLine { kind, at, members });
        let written = self.write(line.as_bytes());
        line.clear();
        line.shrink_to(AUDIT_BEGUN_BYTES_MAX); // A long line is rare, and keeps no memory.
        self.line = line;
        written?;
        self.end = place;
        Ok(())
    }

    /// The number of the record that was written last.
    pub(super) const fn last_number(&self) -> u64 {
        self.end.seq
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Err(io::Error::other("no file is open")) };
        if let Err(error) = open.file.write_all(bytes) {
            // Half a line helps nobody; where it cannot be taken back, the next writer mends it.
            let _taken_back = open.file.set_len(open.length).is_ok();
            self.open = None;
            return Err(error);
        }
        open.length += bytes.len() as u64;
        self.is_dirty = true;
        Ok(())
    }

    /// Writes down where the log ends.
    pub(super) fn write_head(&mut self) -> io::Result<()> {
        let number = self.open.as_ref().map_or(0, |open| open.number);
        let head = Head::at(&self.end, number, self.counted.clone());
        let file = match &mut self.head {
            Some(file) => file,
            absent => absent.insert(Head::open(&self.folder)?),
        };
        head.write(file)
    }

    /// Waits until everything is on the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.take_unsynced()?.map_or(Ok(()), |file| file.sync_data())
    }

    /// Whether something was written that need not be on the disk yet.
    pub(super) const fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// The file that is not on the disk yet, for somebody who waits for that.
    pub(super) fn take_unsynced(&mut self) -> io::Result<Option<File>> {
        let is_dirty = std::mem::replace(&mut self.is_dirty, false);
        self.open.as_ref().filter(|_| is_dirty).map(|open| open.file.try_clone()).transpose()
    }

    /// Whether it is known where the log ends.
    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Forgets which files these are, so that the next look begins anew. Where the log ended is not forgotten.
    pub(super) fn forget(&mut self) {
        self.open = None;
        self.head = None;
    }
}

impl OpenFile {
    /// Whether that is this file, with nothing behind what we wrote.
    fn is(&self, found: &Metadata) -> io::Result<bool> {
        Ok(found.len() == self.length && is_same_file(&self.file.metadata()?, found))
    }
}

/// The last record, when it is one.
fn end_of(tail: &Tail) -> Option<Place> {
    let link = Link::read(tail.last.as_deref()?)?;
    link.holds.then(|| link.place())
}

/// The record behind the last whole line, when only the end of its line is missing and it follows the one before it.
fn unended(tail: &Tail, before: Option<&Place>) -> Option<Place> {
    let link = Link::read(&tail.torn)?;
    let follows = match before {
        Some(before) => link.said.prev == before.hash && link.said.seq == before.seq.saturating_add(1),
        // The only line of a file follows the last one of the file before it.
        None => tail.last.is_none() && link.said.kind == kind::BEGIN,
    };
    (link.holds && follows).then(|| link.place())
}

/// The number that the current file has by its first record.
fn first_number(folder: &AuditFolder) -> Option<u64> {
    let file = open(&folder.current(), OpenOptions::new().read(true)).ok()?;
    let mut line = Vec::new();
    BufReader::new(file).take(AUDIT_LINE_BYTES_MAX as u64).read_until(b'\n', &mut line).ok()?;
    Link::read(line.strip_suffix(b"\n")?)?.said.file
}

fn begin_of(number: u64) -> String {
    Members::of(|what| {
        what.number("file", number);
        what.text("toolgate", env!("CARGO_PKG_VERSION"));
    })
}
