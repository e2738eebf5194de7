//! Several processes at one log, and processes that are killed. `AUDIT_SECONDS` and `AUDIT_KILLS` make it longer.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use toolgate::audit::{AuditLog, AuditSink as _, Query};

use crate::audit::LogRoom;

/// The writers are examples of this crate, so that they are built with the tests and shipped with nothing; a run that names single targets
/// (`--test it`) does not build them again.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test is a file");
    let built = test.parent().and_then(|deps| deps.parent()).expect("tests are built below the target folder");
    let program = built.join("examples").join(name);
    let remedy = "build it with `cargo build -p toolgate --examples`, or run the tests without naming single targets";
    assert!(program.exists(), "{} is missing; {remedy}", program.display());
    program
}

/// A number that whoever runs the tests may make larger.
pub(crate) fn how_many(variable: &str, usual: u64) -> u64 {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests decides how long they take")]
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A process that writes, and what it says it has written.
struct Writing {
    child: Child,
    written: JoinHandle<usize>,
}

impl Writing {
    fn start(room: &LogRoom, session: &str, milliseconds: u64, sizes: (usize, u64)) -> Self {
        let (largest_bytes, file_bytes) = sizes;
        let mut child = Command::new(example("audit_writer"))
            .arg(room.user())
            .args([session, &milliseconds.to_string(), &largest_bytes.to_string(), &file_bytes.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let written = std::thread::spawn(move || said.lines().map_while(Result::ok).count());
        Self { child, written }
    }

    fn kill(mut self) -> usize {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.written.join().unwrap()
    }

    fn end(mut self) -> usize {
        assert!(self.child.wait().unwrap().success());
        self.written.join().unwrap()
    }
}

/// How many calls of each session are in the log.
fn kept(room: &LogRoom) -> BTreeMap<String, usize> {
    let mut kept = BTreeMap::new();
    let log = AuditLog::open(&room.env()).unwrap();
    let unreadable = log.each(&Query::default(), |call| {
        *kept.entry(call.session).or_default() += 1;
        true
    });
    assert_eq!(unreadable.unwrap(), 0);
    kept
}

#[test]
fn processes_that_write_at_once_lose_nothing() {
    let room = LogRoom::new();
    let milliseconds = how_many("AUDIT_SECONDS", 2) * 1_000;
    let start = |session: &str| Writing::start(&room, session, milliseconds, (1_000, 256 * 1024));
    let writers = ["one", "two", "three"].map(|session| (session.to_owned(), start(session)));
    let written: BTreeMap<String, usize> = writers.into_iter().map(|(session, one)| (session, one.end())).collect();
    assert!(written.values().all(|count| *count > 0));
    assert_eq!(kept(&room), written);
    let verified = room.verify();
    assert_eq!((verified.findings, verified.notes), (vec![], vec![]));
    assert!(verified.files > 1);
    println!("{written:?} in {} files", verified.files);
}

/// A log in which as many processes are killed, while others go on.
fn kill(rounds: u64, seed: u64) -> (u64, usize) {
    let room = LogRoom::new();
    for round in 0..rounds {
        let (victim, witness) = (format!("victim-{round}"), format!("witness-{round}"));
        let start = |session: &str, milliseconds| Writing::start(&room, session, milliseconds, (60_000, 1024 * 1024));
        let (victim_writes, witness_writes) = (start(&victim, 60_000), start(&witness, 150));
        // Spread over the time in which both are at work.
        std::thread::sleep(Duration::from_millis(40 + (seed + round) * 7_919 % 97));
        let ended = [(victim, victim_writes.kill(), 1), (witness, witness_writes.end(), 0)];
        let verified = room.verify();
        assert!(verified.is_sound(), "round {round}: {:?}", verified.findings);
        let kept = kept(&room);
        for (session, written, unsaid) in ended {
            let kept = kept.get(&session).copied().unwrap_or(0);
            assert!((written..=written + unsaid).contains(&kept), "{session} has written {written}, {kept} are there");
        }
    }
    room.audit().record(&room.record("after"));
    let verified = room.verify();
    assert!(verified.is_sound(), "{:?}", verified.findings);
    (verified.records, verified.notes.len())
}

#[test]
fn processes_that_are_killed_lose_nothing_they_have_written() {
    let rounds = how_many("AUDIT_KILLS", 10);
    let (mut records, mut torn) = (0, 0);
    // Every log is read again after each round, so none is let grow for long.
    for begin in (0..rounds).step_by(5) {
        let (more_records, more_torn) = kill(5.min(rounds - begin), begin);
        (records, torn) = (records + more_records, torn + more_torn);
    }
    println!("{rounds} killed, {records} records, {torn} torn lines and calls without an ending");
}
