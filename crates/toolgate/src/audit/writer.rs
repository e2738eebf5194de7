//! `FileAudit`: keeps records in files. Several processes may write at once, and any of them may be killed at any time.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::alert_rules::AlertRules;
use super::alerts::Alert;
use super::folder::AuditFolder;
use super::log_writer::Writer;
use super::permission::{PermissionChange, RecordedPerson};
use super::record::{AuditRecord, AuditSink};
use super::rules_noted::{self, NotedRules, RulesInForce};
use super::unusual::Unusual;
use crate::env::{Clock, HostEnv};
use crate::error::{Error, Result};
use crate::limits::AUDIT_FILE_BYTES_MAX;

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
    /// The person and the folder of recorded permission changes.
    here: Arc<(RecordedPerson, PathBuf)>,
    writer: Arc<SharedWriter>,
    on_unusual: Option<Listener<Unusual>>,
    on_alert: Option<Listener<Alert>>,
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
    /// The rules that last decided calls.
    rules: Mutex<NotedRules>,
    folder: AuditFolder,
}

impl FileAudit {
    /// The log of this person. Nothing is read or made before the first record.
    #[must_use]
    pub fn open(env: &HostEnv, options: AuditOptions) -> Self {
        let folder = AuditFolder::of(env);
        let writer = Mutex::new(Writer::new(folder.clone(), options.file_bytes_max));
        let writer = Arc::new(SharedWriter { fsync: options.fsync, writer, rules: Mutex::default(), folder });
        let here = Arc::new((RecordedPerson::local(env), env.workspace.to_path_buf()));
        Self {
            clock: Arc::clone(&env.clock),
            options,
            here,
            writer,
            on_unusual: None,
            on_alert: None,
            on_trouble: None,
        }
    }

    /// The same log for somebody else in this process, who is told about their own calls. It is on the disk when the last of them ends.
    #[must_use]
    pub fn shared(&self) -> Self {
        let (clock, writer, here) = (Arc::clone(&self.clock), Arc::clone(&self.writer), Arc::clone(&self.here));
        Self { clock, options: self.options, here, writer, on_unusual: None, on_alert: None, on_trouble: None }
    }

    /// The same, telling `listener` about unusual use: everything once.
    #[must_use]
    pub fn on_unusual(mut self, listener: impl Fn(&Unusual) + Send + Sync + 'static) -> Self {
        self.on_unusual = Some(Arc::new(listener));
        self
    }

    /// Adds limits for calls. `listener` receives each alert.
    #[must_use]
    pub fn on_alert(mut self, rules: &Arc<AlertRules>, listener: impl Fn(&Alert) + Send + Sync + 'static) -> Self {
        self.writer().alerts.use_rules(rules);
        self.on_alert = Some(Arc::new(listener));
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
        self.writer().last_error().cloned()
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // Whatever a panic left behind, the files are looked at anew before they are written to.
        self.writer.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer, when it can write without waiting for anybody.
    fn ready_writer(&self) -> Option<MutexGuard<'_, Writer>> {
        let writer = self.writer.writer.try_lock().ok()?;
        (self.options.fsync != Fsync::Always && writer.is_ready()).then_some(writer)
    }

    fn keep_beginning(&self, writer: &mut Writer, record: &AuditRecord) -> Result<Option<u64>> {
        let (clock, options) = (&self.clock, &self.options);
        let number = writer.attempt(clock.as_ref(), |writer| {
            let number = writer.keep_beginning(record, options.arguments)?;
            writer.sync_at_once(options.fsync);
            Ok(number)
        });
        number.map(Some)
    }

    /// Writes a permission change and flushes it to disk, because such changes are rare and important. Returns the number of the record.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
    pub fn keep_permission(&self, change: &PermissionChange) -> Result<u64> {
        let (person, folder) = &*self.here;
        let members = change.members(person, folder);
        self.writer().attempt(self.clock.as_ref(), |writer| {
            let number = writer.keep_permission(self.clock.now(), &members)?;
            writer.sync_at_once(Fsync::Always);
            Ok(number)
        })
    }

    fn keep(&self, mut writer: MutexGuard<'_, Writer>, record: &AuditRecord) {
        let was_well = writer.last_error().is_none();
        let kept = writer.attempt(self.clock.as_ref(), |writer| {
            let flags = writer.keep(record, self.options.arguments)?;
            writer.sync_at_once(self.options.fsync);
            Ok(flags)
        });
        drop(writer);
        let (flags, alerts) = match (kept, &self.on_trouble) {
            (Ok(noticed), _) => noticed,
            (Err(error), Some(tell)) if was_well => return tell(&error),
            (Err(_), _) => return,
        };
        if let Some(tell) = &self.on_alert {
            alerts.iter().for_each(|alert| tell(alert));
        }
        let Some(tell) = &self.on_unusual else { return };
        for what in flags {
            let (server, tool) = (record.server.clone(), record.tool.clone());
            tell(&Unusual { what, server, tool, asker: record.asker });
        }
    }
}

impl AuditSink for FileAudit {
    fn begin(&self, record: &AuditRecord) -> Result<Option<u64>> {
        self.keep_beginning(&mut self.writer(), record)
    }

    fn record(&self, record: &AuditRecord) {
        self.keep(self.writer(), record);
    }

    fn permission_changed(&self, change: &PermissionChange) -> Result<()> {
        self.keep_permission(change).map(drop)
    }

    fn rules_in_force(&self, rules: &RulesInForce<'_>) -> Result<()> {
        let mut noted = self.writer.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.are(rules) {
            return Ok(());
        }
        let record = |change: &PermissionChange| self.keep_permission(change).map(drop);
        rules_noted::note_change(&self.writer.folder, rules, (&*noted, self.clock.now()), record)?;
        noted.note(rules);
        Ok(())
    }

    fn begin_at_once(&self, record: &AuditRecord) -> Option<Result<Option<u64>>> {
        let mut writer = self.ready_writer()?;
        Some(self.keep_beginning(&mut writer, record))
    }

    fn record_at_once(&self, record: &AuditRecord) -> bool {
        self.ready_writer().map(|writer| self.keep(writer, record)).is_some()
    }

    fn settle(&self) -> Option<Duration> {
        let (again, to_sync) = {
            let mut writer = self.writer();
            let again = writer.rest(self.clock.as_ref());
            if self.options.fsync == Fsync::Interval {
                let to_sync = writer.take_unsynced_if_due();
                // Nothing waits longer for the disk because nothing follows it.
                (again.into_iter().chain(writer.sync_due_in()).min(), to_sync)
            } else {
                (again, None)
            }
        };
        // Nobody else waits for the disk meanwhile.
        if let Some(file) = to_sync
            && let Err(error) = file.sync_data()
        {
            self.writer().incomplete(&error);
        }
        again
    }

    fn leave(&self) {
        self.writer().give_back();
    }
}

impl Drop for SharedWriter {
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        writer.give_back();
        if self.fsync == Fsync::Interval {
            writer.sync();
        }
    }
}
