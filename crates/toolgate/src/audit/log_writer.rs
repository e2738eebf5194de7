//! `Writer`: what one process knows while it writes the log. Processes take turns with a lock; one that writes again and again keeps its turn
//! for a few milliseconds, and then a record costs one write to a file and nothing else.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant, SystemTime};

use super::alerts::{Alert, AlertFacts, Alerts};
use super::chain::kind;
use super::folder::AuditFolder;
use super::line::{beginning, ending};
use super::log_file::{LogFile, Look};
use super::members::Members;
use super::moment::{millis, written};
use super::record::AuditRecord;
use super::redact::ArgumentsKept;
use super::seen::Seen;
use super::unusual::{UnusualUse, judge};
use super::writer::Fsync;
use crate::env::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{AUDIT_BEGUN_BYTES_MAX, AUDIT_BEGUN_MAX, AUDIT_FSYNC_MS, AUDIT_TURN_MS, AUDIT_TURN_MS_MAX};

/// Unusual traits of a call, and the limits that it passed.
pub(super) type Noticed = (Vec<UnusualUse>, Vec<Alert>);

/// What one process knows while it writes.
#[derive(Debug)]
pub(super) struct Writer {
    folder: AuditFolder,
    /// The file of the lock, while it is not held.
    lock: Option<File>,
    /// The same while it is.
    turn: Option<Turn>,
    /// Whether something was written since it was last asked.
    is_active: bool,
    log: LogFile,
    seen: Seen,
    /// What stands in the lines of calls that have begun and not ended, by the number of that line: the line of the ending says it again.
    begun: HashMap<u64, Begun>,
    /// The limits for calls.
    pub(super) alerts: Alerts,
    synced_at: Option<Instant>,
    /// Calls that could not be written down since the last one that could.
    missed: u64,
    last_error: Option<Error>,
}

/// What the lines of a call have in common.
#[derive(Debug)]
struct Begun {
    at: String,
    members: String,
}

impl Begun {
    fn of(record: &AuditRecord, keep: ArgumentsKept) -> Self {
        Self { at: written(record.at), members: beginning(record, keep) }
    }
}

/// The lock is held, and nobody else writes.
#[derive(Debug)]
struct Turn {
    lock: File,
    since: Instant,
}

impl Writer {
    /// Nothing is read or made yet.
    pub(super) fn new(folder: AuditFolder, file_bytes_max: u64) -> Self {
        Self {
            log: LogFile::new(folder.clone(), file_bytes_max),
            folder,
            lock: None,
            turn: None,
            is_active: false,
            seen: Seen::default(),
            begun: HashMap::new(),
            alerts: Alerts::default(),
            synced_at: None,
            missed: 0,
            last_error: None,
        }
    }

    /// Why the last record could not be written down.
    pub(super) const fn last_error(&self) -> Option<&Error> {
        self.last_error.as_ref()
    }

    /// Whether it has its turn, and room in the file.
    pub(super) fn is_ready(&self) -> bool {
        self.turn.is_some() && !self.log.is_full()
    }

    /// Writes something down in its turn, or remembers that it could not be. A turn that it had is not given back, one that it took is.
    pub(super) fn attempt<T>(&mut self, clock: &dyn Clock, work: impl FnOnce(&mut Self) -> io::Result<T>) -> Result<T> {
        self.is_active = true;
        let is_own = !self.is_ready();
        let turn = if is_own { self.take_turn(clock) } else { Ok(()) };
        let done = turn.and_then(|()| work(self));
        if done.is_err() {
            self.log.forget();
        }
        if is_own || done.is_err() {
            self.give_back();
        }
        match done {
            Ok(done) => {
                self.last_error = None;
                Ok(done)
            }
            Err(error) => {
                self.missed = self.missed.saturating_add(1);
                let path = self.folder.path().display();
                let error = Error::new(ErrorKind::State, format!("cannot write the audit log in {path}: {error}"))
                    .hinting("check that you may write there, that the disk has room, and what stands in the way");
                self.last_error = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Waits for its turn and goes to the end of the log.
    fn take_turn(&mut self, clock: &dyn Clock) -> io::Result<()> {
        if self.turn.is_none() {
            let lock = self.lock_file()?;
            self.folder.wait_for(|| lock.try_lock())?;
            self.turn = Some(Turn { lock, since: Instant::now() });
        }
        self.look(&written(clock.now()))
    }

    fn lock_file(&mut self) -> io::Result<File> {
        match self.lock.take() {
            Some(file) if self.folder.is_lock(&file) => Ok(file),
            _ => {
                self.folder.make()?;
                self.folder.open_lock()
            }
        }
    }

    /// Goes to the end of the log.
    fn look(&mut self, now: &str) -> io::Result<()> {
        if self.log.look(now)? == Look::Changed {
            self.seen.refresh(&self.folder)?;
        }
        if self.missed > 0 {
            self.log.append(kind::MISSED, now, &[&Members::of(|what| what.number("calls", self.missed))])?;
            self.missed = 0;
        }
        Ok(())
    }

    /// Lets others write.
    pub(super) fn give_back(&mut self) {
        let Some(Turn { lock, .. }) = self.turn.take() else { return };
        if self.log.is_open()
            && let Err(error) = self.log.write_head()
        {
            self.incomplete(&error);
        }
        // Closing it would do, but not while a child that was just forked has it open as well.
        let _unlocked = lock.unlock().is_ok();
        self.lock = Some(lock);
    }

    /// Takes a turn while there is something to write again and again, and gives it back when there is not, or when it was long; then the next
    /// one begins at once, unless somebody waits. When to ask again.
    pub(super) fn rest(&mut self, clock: &dyn Clock) -> Option<Duration> {
        let is_active = std::mem::replace(&mut self.is_active, false);
        let held = self.turn.as_ref().map(|turn| turn.since.elapsed());
        let is_short = held.is_some_and(|held| held < Duration::from_millis(AUDIT_TURN_MS_MAX));
        let goes_on = is_active
            && (is_short || {
                self.give_back();
                self.last_error.is_none() && self.takes_turn_at_once(clock)
            });
        if !goes_on {
            self.give_back();
        }
        goes_on.then_some(Duration::from_millis(AUDIT_TURN_MS))
    }

    /// Takes a turn if nobody else has theirs, or waits for it.
    fn takes_turn_at_once(&mut self, clock: &dyn Clock) -> bool {
        if self.folder.is_waited_for() {
            return false;
        }
        let Ok(lock) = self.lock_file() else { return false };
        if lock.try_lock().is_err() {
            self.lock = Some(lock);
            return false;
        }
        self.turn = Some(Turn { lock, since: Instant::now() });
        let is_found = self.look(&written(clock.now())).is_ok();
        if !is_found {
            // Whoever writes next finds out what is wrong.
            self.log.forget();
            self.give_back();
        }
        is_found
    }

    /// Writes down that a call begins. The number of that record.
    pub(super) fn keep_beginning(&mut self, record: &AuditRecord, keep: ArgumentsKept) -> io::Result<u64> {
        let begun = Begun::of(record, keep);
        self.log.append(kind::STARTED, &begun.at, &[&begun.members])?;
        let number = self.log.last_number();
        if self.begun.len() < AUDIT_BEGUN_MAX && begun.members.len() <= AUDIT_BEGUN_BYTES_MAX {
            self.begun.insert(number, begun);
        }
        Ok(number)
    }

    /// Writes down how a call ended. What is unusual about it.
    pub(super) fn keep(&mut self, record: &AuditRecord, keep: ArgumentsKept) -> io::Result<Noticed> {
        let alerts = if self.alerts.is_idle() { Vec::new() } else { self.alerts(record) };
        let flags = judge(record, millis(record.at), &mut self.log.counted, &mut self.seen);
        let started = record.begun.map(|number| format!("\"started\":{number},")).unwrap_or_default();
        let begun = match record.begun.and_then(|number| self.begun.remove(&number)) {
            Some(begun) => begun,
            None => Begun::of(record, keep),
        };
        let parts = [&started, &begun.members, ",", &ending(record, &flags, &alerts)];
        self.log.append(kind::CALL, &begun.at, &parts)?;
        if let Err(error) = self.seen.write(&self.folder) {
            self.incomplete(&error);
        }
        Ok((flags, alerts))
    }

    fn alerts(&mut self, record: &AuditRecord) -> Vec<Alert> {
        self.alerts.know_recent(&self.folder);
        self.alerts.look(&AlertFacts::of_record(record, &self.seen))
    }

    /// Writes a permission change. Returns the number of the record.
    pub(super) fn keep_permission(&mut self, at: SystemTime, members: &str) -> io::Result<u64> {
        self.log.append(kind::PERMISSION, &written(at), &[members])?;
        Ok(self.log.last_number())
    }

    /// The record is there; what helps to read it must not make it fail.
    pub(super) fn incomplete(&self, error: &io::Error) {
        tracing::warn!("the audit log in {} is incomplete: {error}", self.folder.path().display());
    }

    /// Waits for the disk, where every record has to be there before anybody goes on.
    pub(super) fn sync_at_once(&mut self, fsync: Fsync) {
        if fsync == Fsync::Always {
            self.sync();
        }
    }

    /// Waits for the disk.
    pub(super) fn sync(&mut self) {
        if let Err(error) = self.log.sync() {
            self.incomplete(&error);
        }
    }

    /// After what time there is something to be brought to the disk; nothing when all of it is there.
    pub(super) fn sync_due_in(&self) -> Option<Duration> {
        let since = self.synced_at.map(|synced| synced.elapsed()).unwrap_or_default();
        self.log.is_dirty().then(|| Duration::from_millis(AUDIT_FSYNC_MS).saturating_sub(since))
    }

    /// What is to be brought to the disk now, where records get there in their own time.
    pub(super) fn take_unsynced_if_due(&mut self) -> Option<File> {
        // The first record is brought there with those that follow it, or when the program ends.
        if self.synced_at.get_or_insert_with(Instant::now).elapsed() < Duration::from_millis(AUDIT_FSYNC_MS) {
            return None;
        }
        self.synced_at = Some(Instant::now());
        self.log.take_unsynced().ok().flatten()
    }
}
