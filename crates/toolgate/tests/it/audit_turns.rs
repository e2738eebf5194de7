//! Who writes again and again keeps the log to itself for a moment: what that makes possible, and that nobody is shut out or misled by it.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use toolgate::audit::{ArgumentsKept, AuditOptions, AuditRecord, AuditSink, FileAudit, Fsync, Query};
use toolgate::limits::{AUDIT_FSYNC_MS, AUDIT_TURN_MS_MAX};

use crate::audit::LogRoom;

/// A call that began and ended.
fn call(audit: &FileAudit, record: AuditRecord) -> AuditRecord {
    let begun = audit.begin(&record).unwrap();
    AuditRecord { begun, ..record }
}

/// Whoever waits for no disk has nothing to be asked about again but its turn.
const NO_DISK: AuditOptions =
    AuditOptions { arguments: ArgumentsKept::Redacted, fsync: Fsync::Never, file_bytes_max: 1 << 20 };

#[test]
fn what_was_written_reaches_the_disk_though_nothing_follows() {
    let room = LogRoom::new();
    let audit = room.audit();
    audit.record(&room.record("last"));
    let turn = audit.settle().unwrap();
    let disk = audit.settle().expect("it has given its turn back, and what it wrote is not on the disk");
    assert!(turn < disk && disk <= Duration::from_millis(AUDIT_FSYNC_MS), "{turn:?} {disk:?}");
    thread::sleep(disk);
    assert_eq!(audit.settle(), None, "everything is there");
}

#[test]
fn records_are_written_at_once_only_in_a_turn() {
    let room = LogRoom::new();
    let audit = room.audit_with(NO_DISK);
    assert!(audit.begin_at_once(&room.record("a")).is_none() && !audit.record_at_once(&room.record("a")));
    assert!(audit.settle().is_none(), "nothing was written that more could follow");
    let first = call(&audit, room.record("first"));
    assert!(audit.settle().is_some(), "more may follow");
    assert!(audit.record_at_once(&first));
    let second = room.record("second");
    let begun = audit.begin_at_once(&second).unwrap().unwrap();
    assert!(audit.record_at_once(&AuditRecord { begun, ..second }));
    assert!(audit.settle().is_some(), "it is in the middle of something");
    assert!(audit.settle().is_none(), "nothing has followed");
    assert!(!audit.record_at_once(&room.record("third")));
    let calls: Vec<String> = room.calls(&Query::default()).into_iter().map(|call| call.tool).collect();
    assert_eq!(calls, ["first", "second"]);
    assert_eq!(room.findings(), Vec::<String>::new(), "each ending has its beginning");
}

#[test]
fn the_ending_says_what_the_beginning_said() {
    let room = LogRoom::new();
    let audit = room.audit();
    let record = call(&audit, room.record("echo"));
    // What is said of the beginning is not worked out again.
    audit.record(&AuditRecord { session: "another".to_owned(), ..record.clone() });
    // What nobody remembers is.
    room.audit().record(&AuditRecord { session: "another".to_owned(), ..record });
    let sessions: Vec<String> = room.calls(&Query::default()).into_iter().map(|call| call.session).collect();
    assert_eq!(sessions, ["session-1", "another"]);
}

#[test]
fn others_write_and_read_when_a_turn_is_over() {
    let room = LogRoom::new();
    let audit = Arc::new(room.audit());
    audit.record(&room.record("ours"));
    assert!(audit.settle().is_some());
    // Somebody else waits for the lock, and gets it when whoever had it leaves.
    let (other, record) = (room.audit(), room.record("theirs"));
    let waits = thread::spawn(move || other.record(&record));
    audit.record(&room.record("ours"));
    audit.leave();
    waits.join().unwrap();
    assert_eq!(room.calls(&Query::default()).len(), 3);
    assert_eq!(room.findings(), Vec::<String>::new());
    drop(audit);
    assert_eq!(room.findings(), Vec::<String>::new());
}

#[test]
fn a_long_turn_ends_for_those_who_wait_and_for_nobody_else() {
    let room = LogRoom::new();
    let audit = room.audit_with(NO_DISK);
    audit.record(&room.record("ours"));
    assert!(audit.settle().is_some());
    thread::sleep(Duration::from_millis(AUDIT_TURN_MS_MAX));
    assert!(audit.record_at_once(&room.record("ours")));
    assert!(audit.settle().is_some() && audit.record_at_once(&room.record("ours")), "nobody waits");
    let (other, record) = (room.audit_with(NO_DISK), room.record("theirs"));
    let waits = thread::spawn(move || other.record(&record));
    while !waits.is_finished() {
        audit.record(&room.record("ours"));
        audit.settle();
    }
    audit.leave();
    let calls = room.calls(&Query::default());
    assert_eq!(calls.iter().filter(|call| call.tool == "theirs").count(), 1);
    assert_eq!(room.findings(), Vec::<String>::new());
}

#[test]
fn a_writer_that_is_dropped_in_its_turn_leaves_everything_in_order() {
    let room = LogRoom::new();
    let audit = room.audit();
    audit.record(&room.record("a"));
    assert!(audit.settle().is_some() && audit.record_at_once(&room.record("b")));
    drop(audit);
    assert_eq!(room.calls(&Query::default()).len(), 2);
    assert_eq!(room.findings(), Vec::<String>::new());
}

#[test]
fn whoever_waits_for_the_disk_or_for_the_next_file_does_not_do_it_at_once() {
    let room = LogRoom::new();
    let audit = room.audit_with(AuditOptions { fsync: Fsync::Always, ..AuditOptions::default() });
    audit.record(&room.record("a"));
    assert!(audit.settle().is_some() && !audit.record_at_once(&room.record("b")));
    drop(audit);
    let audit = room.audit_with(AuditOptions { file_bytes_max: 1, ..AuditOptions::default() });
    audit.record(&room.record("c"));
    audit.settle();
    assert!(!audit.record_at_once(&room.record("d")), "the file is full");
    audit.record(&room.record("d"));
    drop(audit);
    assert_eq!(room.calls(&Query::default()).len(), 3);
    assert_eq!(room.findings(), Vec::<String>::new());
}

#[test]
fn a_turn_that_cannot_be_taken_is_no_trouble() {
    let room = LogRoom::new();
    let audit = room.audit_with(NO_DISK);
    audit.record(&room.record("a"));
    fs::remove_dir_all(room.path("")).unwrap();
    fs::write(room.user().join("audit"), "in the way").unwrap();
    assert!(audit.settle().is_none());
    assert!(audit.last_error().is_none(), "nothing was to be written");
    assert!(audit.begin(&room.record("b")).is_err());
}
