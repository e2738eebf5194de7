//! Whatever is changed in the log is found: bytes, lines, files. What a killed writer leaves is mended instead.

use std::fs;

use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};
use proptest::sample::Index;
use serde_json::Value;
use toolgate::audit::{AuditOptions, AuditSink as _, FileAudit, Query};

use crate::audit::LogRoom;

/// A log of that many calls, behind the record that begins it.
fn room_with(calls: usize) -> LogRoom {
    let room = LogRoom::new();
    let audit = room.audit();
    for nth in 0..calls {
        audit.record(&room.record(&format!("tool-{nth}")));
    }
    room
}

fn lines_of(room: &LogRoom) -> Vec<String> {
    room.text("audit.jsonl").lines().map(ToOwned::to_owned).collect()
}

fn write_lines(room: &LogRoom, lines: &[String]) {
    fs::write(room.path("audit.jsonl"), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

#[test]
fn changed_lines_are_named() {
    type Change = fn(&mut Vec<String>);
    let cases: [(&str, Change, &[&str]); 9] = [
        ("nothing", |_| (), &[]),
        (
            "edited",
            |lines| lines[2] = lines[2].replace("tool-1", "tool-9"),
            &["audit.jsonl:3: record 3 was edited: its hash is not that of what is written"],
        ),
        (
            "no record",
            |lines| lines[2] = "hello".to_owned(),
            &["audit.jsonl:3: not a record: the line was edited, put in or damaged"],
        ),
        ("removed", |lines| drop(lines.remove(2)), &["audit.jsonl:3: record 3 is missing before record 4"]),
        (
            "two removed",
            |lines| drop(lines.drain(2..4)),
            &["audit.jsonl:3: records 3 to 4 are missing before record 5"],
        ),
        (
            "swapped",
            |lines| lines.swap(2, 3),
            &[
                "audit.jsonl:3: record 3 is missing before record 4",
                "audit.jsonl:4: record 3 stands behind record 4: it was moved, repeated or put in",
            ],
        ),
        (
            "repeated",
            |lines| lines.insert(3, lines[2].clone()),
            &["audit.jsonl:4: record 3 stands behind record 3: it was moved, repeated or put in"],
        ),
        ("last removed", |lines| drop(lines.pop()), &["audit.jsonl: record 6 is missing at the end"]),
        ("first removed", |lines| drop(lines.remove(0)), &["audit.jsonl:1: record 1 is missing before record 2"]),
    ];
    for (what, change, expected) in cases {
        let room = room_with(5);
        let mut lines = lines_of(&room);
        change(&mut lines);
        write_lines(&room, &lines);
        assert_eq!(room.findings(), expected, "{what}");
        // It stays found when more is written.
        room.audit().record(&room.record("later"));
        assert_eq!(room.verify().is_sound(), expected.is_empty(), "{what}, later");
    }
}

/// A record that says something else, with a hash that fits.
fn forged(line: &str) -> String {
    sealed(&line.replace("\"tool\":\"tool-", "\"tool\":\"forged-"))
}

/// A record with a hash that fits.
pub(crate) fn sealed(line: &str) -> String {
    let (body, _) = line.rsplit_once(",\"hash\":\"").unwrap();
    let digest = ring::digest::digest(&ring::digest::SHA256, format!("{body}}}").as_bytes());
    let hash: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{body},\"hash\":\"{hash}\"}}")
}

#[test]
fn a_record_made_anew_does_not_fit_its_neighbours() {
    let cases = [
        (2, "audit.jsonl:4: record 4 does not follow the record before it: one of the two was replaced"),
        (3, "audit.jsonl: record 4 is not the one that was written"),
    ];
    for (at, expected) in cases {
        let room = room_with(3);
        let mut lines = lines_of(&room);
        lines[at] = forged(&lines[at]);
        write_lines(&room, &lines);
        assert_eq!(room.findings(), [expected]);
        room.audit().record(&room.record("later"));
        assert!(!room.verify().is_sound(), "it stays found");
    }
}

#[test]
fn files_that_are_gone_or_renamed_are_named() {
    let many = || {
        let room = LogRoom::new();
        let audit = room.audit_with(AuditOptions { file_bytes_max: 2_000, ..AuditOptions::default() });
        for nth in 0..12 {
            audit.record(&room.record(&format!("tool-{nth}")));
        }
        assert!(room.verify().is_sound() && room.verify().files > 3);
        room
    };
    type Change = fn(&LogRoom);
    let cases: [(&str, Change, &str); 5] = [
        ("first", |room| fs::remove_file(room.path("audit-1.jsonl")).unwrap(), "audit-1.jsonl: the file is missing"),
        ("middle", |room| fs::remove_file(room.path("audit-2.jsonl")).unwrap(), "audit-2.jsonl: the file is missing"),
        ("current", |room| fs::remove_file(room.path("audit.jsonl")).unwrap(), "missing at the end"),
        ("head", |room| fs::remove_file(room.path("head.json")).unwrap(), "head.json: missing or damaged"),
        (
            "exchanged",
            |room| {
                fs::rename(room.path("audit-1.jsonl"), room.path("kept")).unwrap();
                fs::rename(room.path("audit-2.jsonl"), room.path("audit-1.jsonl")).unwrap();
                fs::rename(room.path("kept"), room.path("audit-2.jsonl")).unwrap();
            },
            "audit-1.jsonl:1: records 1 to ",
        ),
    ];
    for (what, change, expected) in cases {
        let room = many();
        change(&room);
        let found = room.findings();
        assert!(found.iter().any(|finding| finding.contains(expected)), "{what}: {found:?}");
        room.audit().record(&room.record("later"));
        assert!(!room.verify().is_sound(), "{what} stays found");
        let before = room.verify().records;
        room.audit().record(&room.record("later"));
        assert_eq!(room.verify().records, before + 1, "{what}: writing goes on");
    }
}

#[test]
fn a_log_taken_away_under_a_writer_shows_that() {
    let room = LogRoom::new();
    let audit = room.audit();
    audit.record(&room.record("one"));
    fs::remove_dir_all(room.path("")).unwrap();
    audit.record(&room.record("two"));
    assert!(audit.last_error().is_none());
    let expected = [
        "audit.jsonl:1: records 1 to 2 are missing before record 3",
        "audit.jsonl:2: a new log begins here: the files of an earlier log are gone",
    ];
    assert_eq!(room.findings(), expected);
}

#[test]
fn a_log_that_was_removed_is_missed() {
    let room = LogRoom::new();
    assert_eq!(room.findings(), Vec::<String>::new(), "there never was one");
    room.audit().record(&room.record("one"));
    fs::remove_dir_all(room.path("")).unwrap();
    let findings = room.findings();
    let is_missed = findings.iter().all(|one| one.starts_with("audit: a log was begun at 20"));
    assert!(findings.len() == 1 && is_missed, "{findings:?}");
    room.audit().record(&room.record("two"));
    let anew = "audit.jsonl:2: a new log begins here: the files of an earlier log are gone";
    assert_eq!(room.findings(), [anew]);
    // A new log on purpose: the note about the old one is removed too.
    fs::remove_dir_all(room.path("")).unwrap();
    fs::remove_file(room.user().join("audit-begun.json")).unwrap();
    room.audit().record(&room.record("three"));
    assert_eq!(room.findings(), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_changed_byte_is_found(at in any::<Index>(), with in 1_u8..=255) {
        CHANGED.with(|(room, whole)| {
            let mut bytes = whole.clone();
            let at = at.index(bytes.len() - 1); // The end of the last line apart, which may be on its way.
            bytes[at] ^= with;
            fs::write(room.path("audit.jsonl"), &bytes).unwrap();
            let verified = room.verify();
            prop_assert!(!verified.is_sound(), "byte {at} ^ {with}");
            Ok(())
        })?;
    }
}

thread_local! {
    static CHANGED: (LogRoom, Vec<u8>) = {
        let room = room_with(6);
        let whole = fs::read(room.path("audit.jsonl")).unwrap();
        (room, whole)
    };
}

/// Leaves the log as a process does that is killed while it writes the last record.
fn tear(room: &LogRoom, keep: usize) -> usize {
    let head = fs::read(room.path("head.json")).unwrap();
    let before = fs::read(room.path("audit.jsonl")).unwrap();
    room.audit().record(&room.record("torn"));
    let after = fs::read(room.path("audit.jsonl")).unwrap();
    let keep = keep.min(after.len() - before.len());
    fs::write(room.path("audit.jsonl"), &after[..before.len() + keep]).unwrap();
    fs::write(room.path("head.json"), head).unwrap();
    after.len() - before.len()
}

#[test]
fn torn_lines_are_mended_and_whole_ones_kept() {
    let length = tear(&room_with(2), 0);
    for keep in [0, 1, 10, 300, length - 66, length - 2, length - 1, length] {
        let room = room_with(2);
        tear(&room, keep);
        let verified = room.verify();
        let is_torn = keep > 0 && keep < length;
        assert!(verified.is_sound(), "{keep}: {:?}", verified.findings);
        assert_eq!(verified.notes.len(), usize::from(is_torn), "{keep}: {:?}", verified.notes);
        room.audit().record(&room.record("later"));
        let verified = room.verify();
        assert!(verified.is_sound(), "{keep}: {:?}", verified.findings);
        let is_whole = keep + 1 >= length;
        let notes: Vec<String> = verified.notes.iter().map(ToString::to_string).collect();
        let expected = format!("audit.jsonl:4: a torn line of {keep} bytes was taken away here");
        assert_eq!(notes, if is_torn && !is_whole { vec![expected] } else { vec![] }, "{keep}");
        let tools: Vec<String> = room.calls(&Query::default()).into_iter().map(|call| call.tool).collect();
        assert_eq!(tools.contains(&"torn".to_owned()), is_whole, "{keep}: {tools:?}");
        assert_eq!(tools.last().unwrap(), "later");
    }
}

#[test]
fn a_last_record_that_only_lacks_its_end_is_kept_also_when_the_head_knows_it() {
    let room = room_with(3);
    let path = room.path("audit.jsonl");
    let text = room.text("audit.jsonl");
    fs::write(&path, text.trim_end()).unwrap();
    let verified = room.verify();
    assert_eq!((verified.findings, verified.notes.len(), verified.records), (vec![], 1, 4));
    assert_eq!(room.calls(&Query::default()).len(), 3);
    room.audit().record(&room.record("later"));
    assert!(room.text("audit.jsonl").starts_with(&text));
    let verified = room.verify();
    assert_eq!((verified.findings, verified.notes, verified.records), (vec![], vec![], 5));
}

#[test]
fn a_file_whose_beginning_was_torn_begins_again() {
    for whole_file in [0, 5, 40] {
        let room = LogRoom::new();
        let options = AuditOptions { file_bytes_max: 1_500, ..AuditOptions::default() };
        let write = |audit: &FileAudit| audit.record(&room.record("read"));
        let audit = room.audit_with(options);
        while !room.path("audit-1.jsonl").exists() {
            write(&audit);
        }
        // As if it had been killed right after the first file was full.
        let begun = fs::read(room.path("audit.jsonl")).unwrap();
        let last_full: Value = serde_json::from_str(room.text("audit-1.jsonl").lines().last().unwrap()).unwrap();
        fs::write(room.path("audit.jsonl"), &begun[..whole_file]).unwrap();
        let mut head: Value = serde_json::from_str(room.text("head.json").trim()).unwrap();
        for (key, from) in [("seq", &last_full["seq"]), ("hash", &last_full["hash"]), ("file", &1.into())] {
            head[key] = from.clone();
        }
        fs::write(room.path("head.json"), head.to_string()).unwrap();
        write(&room.audit_with(options));
        let verified = room.verify();
        assert!(verified.is_sound(), "{whole_file}: {:?}", verified.findings);
        assert_eq!(verified.notes.len(), usize::from(whole_file > 0));
    }
}

#[test]
fn what_is_no_log_is_put_away() {
    let room = room_with(2);
    fs::write(room.path("audit.jsonl"), vec![0; 9 * 1024 * 1024]).unwrap();
    let audit = room.audit();
    audit.record(&room.record("later"));
    assert!(audit.last_error().is_none(), "{:?}", audit.last_error());
    assert!(!room.verify().is_sound());
    assert_eq!(fs::metadata(room.path("audit-1.jsonl")).unwrap().len(), 9 * 1024 * 1024);
}
