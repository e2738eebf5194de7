//! `FileAudit`: keeps records in files. Several processes may write at once, and any of them may be killed at any time.

use std::fmt;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::chain::kind;
use super::folder::{AuditFolder, wait_for};
use super::line::{BeginLine, CallLine};
use super::log_file::{LogFile, Look};
use super::moment::{millis, written};
use super::record::{AuditRecord, AuditSink};
use super::seen::Seen;
use super::unusual::{Unusual, UnusualUse, judge};
use crate::env::{Clock, HostEnv};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{AUDIT_FILE_BYTES_MAX, AUDIT_FSYNC_MS};

pub use super::redact::ArgumentsKept;

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditOptions {
    /// What is kept of the arguments of calls.
    pub arguments: ArgumentsKept,
    /// When records are on the disk for certain.
    pub fsync: Fsync,
    /// A file that has this many bytes is full.
    pub file_bytes_max: u64,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { arguments: ArgumentsKept::default(), fsync: Fsync::default(), file_bytes_max: AUDIT_FILE_BYTES_MAX }
    }
}

/// When records are on the disk for certain. None is lost when a process is killed, whatever this says; it is about machines that stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// After every record.
    Always,
    /// Once a second at most, and when the writer ends.
    #[default]
    Interval,
    /// When the system sees fit.
    Never,
}

impl Fsync {
    /// What `audit.fsync` in the settings calls `word`.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "always" => Some(Self::Always),
            "interval" => Some(Self::Interval),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

/// Who is told about something.
type Listener<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// Keeps records in files.
pub struct FileAudit {
    clock: Arc<dyn Clock>,
    options: AuditOptions,
    writer: Arc<SharedWriter>,
    on_unusual: Option<Listener<Unusual>>,
    on_trouble: Option<Listener<Error>>,
}

impl fmt::Debug for FileAudit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileAudit").field("options", &self.options).finish_non_exhaustive()
    }
}

/// What all who write the same log in one process have in common.
#[derive(Debug)]
struct SharedWriter {
    fsync: Fsync,
    writer: Mutex<Writer>,
}

/// What one process knows while it writes.
#[derive(Debug)]
struct Writer {
    folder: AuditFolder,
    lock: Option<File>,
    log: LogFile,
    seen: Seen,
    synced_at: Option<Instant>,
    /// Calls that could not be written down since the last one that could.
    missed: u64,
    last_error: Option<Error>,
}

impl FileAudit {
    /// The log of this person. Nothing is read or made before the first record.
    #[must_use]
    pub fn open(env: &HostEnv, options: AuditOptions) -> Self {
        let folder = AuditFolder::of(env);
        let writer = Writer {
            log: LogFile::new(folder.clone(), options.file_bytes_max),
            folder,
            lock: None,
            seen: Seen::default(),
            synced_at: None,
            missed: 0,
            last_error: None,
        };
        let writer = Arc::new(SharedWriter { fsync: options.fsync, writer: Mutex::new(writer) });
        Self { clock: Arc::clone(&env.clock), options, writer, on_unusual: None, on_trouble: None }
    }

    /// The same log for somebody else in this process, who is told about their own calls. It is on the disk when the last of them ends.
    #[must_use]
    pub fn shared(&self) -> Self {
        let (clock, writer) = (Arc::clone(&self.clock), Arc::clone(&self.writer));
        Self { clock, options: self.options, writer, on_unusual: None, on_trouble: None }
    }

    /// The same, telling `listener` about unusual use: everything once.
    #[must_use]
    pub fn on_unusual(mut self, listener: impl Fn(&Unusual) + Send + Sync + 'static) -> Self {
        self.on_unusual = Some(Arc::new(listener));
        self
    }

    /// The same, telling `listener` why the ending of a call could not be written down: once, until one can be again. That a call cannot even
    /// begin is what [`begin`](AuditSink::begin) fails with.
    #[must_use]
    pub fn on_trouble(mut self, listener: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.on_trouble = Some(Arc::new(listener));
        self
    }

    /// Why the last record could not be written down; `None` when it could.
    #[must_use]
    pub fn last_error(&self) -> Option<Error> {
        self.writer().last_error.clone()
    }

    fn writer(&self) -> std::sync::MutexGuard<'_, Writer> {
        // Whatever a panic left behind, the files are looked at anew before they are written to.
        self.writer.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditSink for FileAudit {
    fn begin(&self, record: &AuditRecord) -> Result<Option<u64>> {
        let line = BeginLine::of(record, self.options.arguments);
        let now = written(self.clock.now());
        let at = written(record.at);
        let fsync = self.options.fsync;
        self.writer().attempt(|writer| writer.keep_beginning(&line, &at, &now, fsync)).map(Some)
    }

    fn record(&self, record: &AuditRecord) {
        let line = CallLine::of(record, self.options.arguments);
        let now = written(self.clock.now());
        let fsync = self.options.fsync;
        let (kept, was_well) = {
            let mut writer = self.writer();
            let was_well = writer.last_error.is_none();
            (writer.attempt(|writer| writer.keep(record, line, &now, fsync)), was_well)
        };
        let flags = match (kept, &self.on_trouble) {
            (Ok(flags), _) => flags,
            (Err(error), Some(tell)) if was_well => return tell(&error),
            (Err(_), _) => return,
        };
        let Some(tell) = &self.on_unusual else { return };
        for what in flags {
            let (server, tool) = (record.server.clone(), record.tool.clone());
            tell(&Unusual { what, server, tool, asker: record.asker });
        }
    }

    fn settle(&self) {
        let mut writer = self.writer();
        let synced = writer.sync_if_due(self.options.fsync);
        writer.helped(synced);
    }
}

impl Drop for SharedWriter {
    fn drop(&mut self) {
        if self.fsync == Fsync::Interval {
            let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
            let _synced = writer.log.sync().is_ok();
        }
    }
}

impl Writer {
    /// Writes something down while no other process writes, or remembers that it could not be.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> io::Result<T>) -> Result<T> {
        match self.locked(work).and_then(|done| done) {
            Ok(done) => {
                self.last_error = None;
                Ok(done)
            }
            Err(error) => {
                self.log.forget();
                self.missed = self.missed.saturating_add(1);
                let path = self.folder.path().display();
                let error = Error::new(ErrorKind::State, format!("cannot write the audit log in {path}: {error}"))
                    .hinting("check that you may write there, that the disk has room, and what stands in the way");
                self.last_error = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Goes to the end of the log.
    fn look(&mut self, now: &str) -> io::Result<()> {
        if self.log.look(now)? == Look::Changed {
            self.seen.refresh(&self.folder)?;
        }
        if self.missed > 0 {
            self.log.append(kind::MISSED, now, &json!({"calls": self.missed}))?;
            self.missed = 0;
        }
        Ok(())
    }

    /// Writes down that a call begins. The number of that record.
    fn keep_beginning(&mut self, line: &BeginLine, at: &str, now: &str, fsync: Fsync) -> io::Result<u64> {
        self.look(now)?;
        self.log.append(kind::STARTED, at, line)?;
        let number = self.log.last_number();
        let helped = self.log.write_head().and_then(|()| self.sync_at_once(fsync));
        self.helped(helped);
        Ok(number)
    }

    fn keep(&mut self, record: &AuditRecord, line: CallLine, now: &str, fsync: Fsync) -> io::Result<Vec<UnusualUse>> {
        self.look(now)?;
        let flags = judge(record, millis(record.at), &mut self.log.counted, &mut self.seen);
        self.log.append(kind::CALL, &written(record.at), &line.flagged(&flags))?;
        let written = self.log.write_head().and_then(|()| self.seen.write(&self.folder));
        let helped = written.and_then(|()| self.sync_at_once(fsync));
        self.helped(helped);
        Ok(flags)
    }

    /// The record is there; what helps to read it must not make it fail.
    fn helped(&self, helped: io::Result<()>) {
        if let Err(error) = helped {
            tracing::warn!("the audit log in {} is incomplete: {error}", self.folder.path().display());
        }
    }

    /// Where every record has to be on the disk before anybody goes on.
    fn sync_at_once(&mut self, fsync: Fsync) -> io::Result<()> {
        if fsync == Fsync::Always { self.log.sync() } else { Ok(()) }
    }

    /// Where records reach the disk in their own time: nobody waits for that.
    fn sync_if_due(&mut self, fsync: Fsync) -> io::Result<()> {
        let interval = Duration::from_millis(AUDIT_FSYNC_MS);
        if fsync != Fsync::Interval || self.synced_at.is_some_and(|synced| synced.elapsed() < interval) {
            return Ok(());
        }
        self.log.sync()?;
        self.synced_at = Some(Instant::now());
        Ok(())
    }

    /// Does something while no other process writes.
    fn locked<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> io::Result<T> {
        let file = match self.lock.take() {
            Some(file) if self.folder.is_lock(&file) => file,
            _ => {
                self.folder.make()?;
                self.folder.open_lock()?
            }
        };
        wait_for(|| file.try_lock())?;
        let done = work(self);
        // Closing it would do, but not while a child that was just forked has it open as well.
        let _unlocked = file.unlock().is_ok();
        self.lock = Some(file);
        Ok(done)
    }
}
