//! Bounds of the record of calls and permission changes, and of alerts.

/// One file of the audit log; a new one is begun after that. About twenty thousand calls, read in a blink.
pub const AUDIT_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Files of the audit log that are looked at; each has twenty thousand calls.
pub const AUDIT_FILES_MAX: usize = 100_000;

/// One line of the audit log. What we write is a quarter of it at most.
pub const AUDIT_LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The arguments of one call in the audit log, as JSON; what is larger is cut further.
pub const AUDIT_ARGUMENTS_BYTES_MAX: usize = 64 * 1024;

/// The arguments of one call in the audit log, as JSON, when arguments are kept in full.
pub const AUDIT_FULL_ARGUMENTS_BYTES_MAX: usize = 1024 * 1024;

/// Values in the arguments of one call that are kept in the audit log; the others are counted.
pub const AUDIT_ARGUMENT_VALUES_MAX: usize = 1_000;

/// Values that are kept of arguments that are still too large after the first cut.
pub const AUDIT_FEW_ARGUMENT_VALUES_MAX: usize = 50;

/// One text in the arguments of a call that is kept whole in the audit log.
pub const AUDIT_TEXT_CHARS_MAX: usize = 2_000;

/// The start of a longer text that is kept, besides its length and hash.
pub const AUDIT_CUT_TEXT_CHARS: usize = 200;

/// The start of a text that is searched for secrets; the rest is never kept.
pub const AUDIT_SEARCHED_CHARS_MAX: usize = 8_000;

/// A name in the audit log: of a tool, a session, a folder, a rule.
pub const AUDIT_NAME_CHARS_MAX: usize = 512;

/// An error message, or a word of explanation, in the audit log.
pub const AUDIT_MESSAGE_CHARS_MAX: usize = 1_000;

/// Words of explanation about one verdict in the audit log.
pub const AUDIT_ADJUSTMENTS_MAX: usize = 16;

/// Schemas looked at to learn which arguments of one call are secret; references may go in circles.
pub const AUDIT_SCHEMA_LOOKUPS_MAX: usize = 10_000;

/// Longest wait for another process that writes to the audit log; one record takes microseconds.
pub const AUDIT_LOCK_MS: u64 = 5_000;

/// Pause between two attempts to lock the audit log.
pub const AUDIT_LOCK_PAUSE_MS: u64 = 1;

/// Longest time that records wait for the disk when they are flushed at intervals.
pub const AUDIT_FSYNC_MS: u64 = 1_000;

/// Time that a writer keeps the audit log locked after its last record. It is longer than the gap between two calls in
/// a row.
pub const AUDIT_TURN_MS: u64 = 2;

/// Longest time that a writer without a pause keeps the audit log locked.
pub const AUDIT_TURN_MS_MAX: u64 = 8;

/// Running calls whose first record is remembered; that of other calls is computed again.
pub const AUDIT_BEGUN_MAX: usize = 256;

/// Size of one remembered record.
pub const AUDIT_BEGUN_BYTES_MAX: usize = 16 * 1024;

/// The start of a torn line that is kept with the record of its repair.
pub const AUDIT_TORN_CHARS_MAX: usize = 2_000;

/// The file of tools called before: room for fifty thousand of them.
pub const AUDIT_SEEN_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Newest records that are read to rebuild that file; this takes less than a second.
pub const AUDIT_SEEN_AGAIN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Days of use after which the first call of a tool is unusual.
pub const AUDIT_SETTLED_DAYS_COUNT: u64 = 14;

/// Limits in `audit.alerts`; every call is compared with each.
pub const ALERT_RULES_MAX: usize = 100;

/// Servers and tools that limits count at once; an evicted one starts again at zero.
pub const ALERT_COUNTERS_MAX: usize = 1_000;

/// Counted calls of one server or tool within a minute; further calls do not raise the count.
pub const ALERT_TIMES_MAX: usize = 10_000;

/// Latest calls that an error percentage covers.
pub const ALERT_ERROR_CALLS_COUNT: usize = 20;

/// Minimum calls for an error percentage: one failure of two calls is already 50 %.
pub const ALERT_ERROR_CALLS_LEAST_COUNT: usize = 10;

/// End of the log that is read once for limits that also count calls of other processes: some hundred calls.
pub const ALERT_RECENT_BYTES_MAX: u64 = 512 * 1024;

/// Time limit of an alert command.
pub const ALERT_COMMAND_MS: u64 = 10_000;

/// The time that the end of a process waits for such commands; one that takes longer goes on behind it.
pub const ALERT_COMMAND_WAIT_MS: u64 = 1_000;

/// Interval at which a running alert command is checked.
pub const ALERT_COMMAND_LOOK_MS: u64 = 20;

/// Alert commands that run at once; further alerts are only recorded.
pub const ALERT_COMMANDS_MAX: usize = 4;

/// Alert commands that one process starts within a minute.
pub const ALERT_COMMANDS_PER_MINUTE_MAX: usize = 30;

/// Calls of one server within a minute that are nothing unusual: one for every second.
pub const AUDIT_MINUTE_CALLS_MAX: u32 = 60;

/// Servers whose calls are counted at once to find bursts; the one that was silent longest makes room.
pub const AUDIT_COUNTED_SERVERS_MAX: usize = 16;

/// Findings about the audit log that are told one by one; the others are counted.
pub const AUDIT_FINDINGS_MAX: usize = 200;

/// Files listed in the record of one permission change; more are counted. A rulebook has a few.
pub const AUDIT_CHANGED_FILES_MAX: usize = 100;

/// Kinds of calls listed in the record of changed rules; `policy simulate` lists all.
pub const AUDIT_IMPACT_CASES_MAX: usize = 20;

/// Days of the record that changed rules are tried on: a week covers every working day.
pub const AUDIT_IMPACT_DAYS_COUNT: u64 = 7;

/// Newest records that changed rules are tried on; reading them takes less than a second per change.
pub const AUDIT_IMPACT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The file of the rules last in force: room for all its entries.
pub const AUDIT_NOTED_RULES_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Policy files, and folders with settings, whose last state is stored; an evicted one counts as new.
pub const AUDIT_NOTED_RULES_MAX: usize = 2_000;

/// The age from which a policy file counts as unchanged since it was read: older than the start of a process by far.
pub const AUDIT_NOTED_SETTLED_MS: u64 = 60_000;

/// Folders whose rules one process remembers; a runtime serves a few at a time.
pub const AUDIT_NOTED_FOLDERS_MAX: usize = 64;

/// Parts of all texts of one call that are searched for secrets.
pub const AUDIT_SEARCHED_CHARS_TOTAL_MAX: usize = 256 * 1024;

/// Nesting of JSON inside texts: a log that quotes a request has two levels.
pub const AUDIT_TEXT_DEPTH_MAX: usize = 3;

/// Words of one command line, given as a list, that are checked with the words before them; longer ones are lists of files.
pub const AUDIT_COMMAND_WORDS_MAX: usize = 64;

/// The longest word of a command line that is looked at together with the words before it.
pub const AUDIT_COMMAND_WORD_BYTES_MAX: usize = 1024;

/// The longest text of others that is shown whole with its secrets covered. Of a longer one, such as a frame of the wire, the beginning is shown.
pub const COVERED_TEXT_BYTES_MAX: usize = 1024 * 1024;

/// The beginning that is shown then.
pub const COVERED_TEXT_START_BYTES: usize = 64 * 1024;
