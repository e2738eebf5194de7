//! The log of calls: written, read, counted, and what is unusual in it.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolgate::audit::{
    ArgumentsKept, AuditLog, AuditOptions, AuditRecord, AuditSink as _, FileAudit, Fsync, Query, Statistics,
    StoredCall, Unusual, UnusualUse, Verification, verify,
};
use toolgate::policy::{Because, Decision, Mode, Presence, RuleOrigin, Verdict};
use toolgate::{Asker, Clock, HostEnv, ServerName};
use toolgate_testkit::world::TestClock;

use crate::support::Room;

/// The clock of a test world.
struct Still(TestClock);

impl Clock for Still {
    fn now(&self) -> SystemTime {
        self.0.now()
    }
}

/// A world with a log in it.
pub(crate) struct LogRoom {
    room: Room,
}

impl LogRoom {
    pub(crate) fn new() -> Self {
        Self { room: Room::new() }
    }

    pub(crate) fn env(&self) -> HostEnv {
        HostEnv { clock: Arc::new(Still(self.room.world.clock().clone())), ..self.room.env() }
    }

    pub(crate) fn clock(&self) -> &TestClock {
        self.room.world.clock()
    }

    pub(crate) fn user(&self) -> PathBuf {
        self.env().dirs.user
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.user().join("audit").join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn audit(&self) -> FileAudit {
        self.audit_with(AuditOptions::default())
    }

    pub(crate) fn audit_with(&self, options: AuditOptions) -> FileAudit {
        FileAudit::open(&self.env(), options)
    }

    pub(crate) fn calls(&self, query: &Query) -> Vec<StoredCall> {
        let mut calls = Vec::new();
        let unreadable = AuditLog::open(&self.env()).unwrap().each(query, |call| {
            calls.push(call);
            true
        });
        assert_eq!(unreadable.unwrap(), 0);
        calls
    }

    pub(crate) fn verify(&self) -> Verification {
        verify(&AuditLog::open(&self.env()).unwrap()).unwrap()
    }

    /// What is found, one line each.
    pub(crate) fn findings(&self) -> Vec<String> {
        self.verify().findings.iter().map(ToString::to_string).collect()
    }

    pub(crate) fn record(&self, tool: &str) -> AuditRecord {
        AuditRecord {
            at: self.clock().now(),
            begun: None,
            session: "session-1".to_owned(),
            asker: Asker::Cli,
            folder: PathBuf::from("/work"),
            server: ServerName::new("files").unwrap(),
            tool: tool.to_owned(),
            name: format!("files__{tool}"),
            definition: "sha256:d".to_owned(),
            is_read_only: false,
            input_schema: None,
            arguments: json!({"path": "a.txt"}).into(),
            mode: Mode::Default,
            presence: Presence::Interactive,
            verdict: Verdict { decision: Decision::Ask, because: Because::NoRule, adjustments: Vec::new() },
            confirmation: Some("once"),
            outcome: "completed",
            error: None,
            took: Duration::from_millis(12),
            result_bytes: Some(34),
        }
    }
}

#[test]
fn a_record_says_everything_about_its_call() {
    let room = LogRoom::new();
    let schema = json!({"properties": {"pin": {"type": "string", "format": "password"}}});
    let origin = RuleOrigin {
        label: "files: excludeTools".to_owned(),
        file: Some(Arc::new(PathBuf::from("/etc/s.json"))),
        line: Some(7),
        name: None,
    };
    let record = AuditRecord {
        is_read_only: true,
        input_schema: Some(schema.into()),
        arguments: json!({"pin": "1234", "token": "abc", "path": "a"}).into(),
        verdict: Verdict {
            decision: Decision::Deny,
            because: Because::Filter(origin),
            adjustments: vec!["nobody can be asked".to_owned()],
        },
        outcome: "denied",
        error: Some(("denied".to_owned(), "no: password=abc".to_owned())),
        result_bytes: None,
        confirmation: None,
        presence: Presence::Headless,
        ..room.record("read")
    };
    room.audit().record(&record);
    let text = room.text("audit.jsonl");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["kind"], &lines[0]["file"]), (2, &json!("begin"), &json!(1)));
    let mut call = lines[1].clone();
    assert_eq!(call["prev"], lines[0]["hash"]);
    let members = call.as_object_mut().unwrap();
    for changing in ["hash", "prev", "pid", "argumentsHash"] {
        assert!(members.remove(changing).is_some(), "{changing}");
    }
    let expected = json!({
        "v": 1, "seq": 2, "kind": "call", "at": "2026-01-02T03:04:05.000Z", "session": "session-1", "asker": "cli",
        "folder": "/work", "server": "files", "tool": "read", "name": "files__read", "definition": "sha256:d",
        "readOnly": true, "arguments": {"pin": "[secret]", "token": "[secret]", "path": "a"}, "covered": 2, "mode": "default",
        "interactive": false, "decision": "deny", "rule": null, "grant": null,
        "filter": {"label": "files: excludeTools", "file": "/etc/s.json", "line": 7, "name": null},
        "adjustments": ["nobody can be asked"], "confirmation": null, "outcome": "denied",
        "error": {"kind": "denied", "message": "no: password=[secret]"}, "durationMs": 12, "resultBytes": null, "unusual": [],
    });
    assert_eq!(call, expected);
    let stored = room.calls(&Query::default()).remove(0);
    assert_eq!((stored.at, stored.seq, stored.filter.unwrap().line), (room.clock().now(), 2, Some(7)));
    assert_eq!(stored.line, text.lines().nth(1).unwrap());
    assert!(room.verify().is_sound());
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let room = LogRoom::new();
    fs::create_dir_all(room.path("")).unwrap();
    fs::set_permissions(room.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    room.audit().record(&room.record("read"));
    let mode = |name: &str| fs::metadata(room.path(name)).unwrap().permissions().mode() & 0o777;
    for name in ["audit.jsonl", "head.json", "seen.jsonl", "lock"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert_eq!(mode(""), 0o700);
}

#[test]
fn full_arguments_are_kept_on_request() {
    let room = LogRoom::new();
    let options = AuditOptions { arguments: ArgumentsKept::Full, fsync: Fsync::Always, ..AuditOptions::default() };
    let arguments = json!({"password": "x", "long": "y".repeat(100_000)});
    room.audit_with(options).record(&AuditRecord { arguments: arguments.clone().into(), ..room.record("write") });
    let call = room.calls(&Query::default()).remove(0);
    assert_eq!((call.arguments, call.covered), (arguments, 0));
}

#[test]
fn files_are_begun_anew_and_the_chain_goes_on() {
    let room = LogRoom::new();
    let options = AuditOptions { file_bytes_max: 4_000, ..AuditOptions::default() };
    for round in 0..3 {
        let audit = room.audit_with(options);
        for nth in 0..10 {
            audit.record(&room.record(&format!("tool-{round}-{nth}")));
        }
    }
    let verified = room.verify();
    assert_eq!(verified.findings, []);
    assert!(verified.files > 3, "{}", verified.files);
    assert_eq!(verified.records, 30 + verified.files as u64, "each file has a record that begins it");
    let calls = room.calls(&Query::default());
    assert_eq!(calls.len(), 30);
    assert!(calls.is_sorted_by_key(|call| call.seq));
    assert_eq!(calls[29].tool, "tool-2-9");
    let last = room.calls(&Query { last: Some(2), ..Query::default() });
    assert_eq!(last.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["tool-2-8", "tool-2-9"]);
}

#[test]
fn calls_are_found_by_what_they_are() {
    let room = LogRoom::new();
    let audit = room.audit();
    let start = room.clock().now();
    for nth in 0..4_u64 {
        room.clock().set(start + Duration::from_secs(nth * 3_600));
        let mut record = room.record(if nth % 2 == 0 { "read" } else { "write" });
        record.server = ServerName::new(if nth < 2 { "files" } else { "web" }).unwrap();
        record.asker = if nth == 3 { Asker::Model } else { Asker::Cli };
        record.session = format!("s{nth}");
        record.outcome = if nth == 0 { "tool_error" } else { "completed" };
        record.verdict.decision = if nth == 1 { Decision::Allow } else { Decision::Ask };
        audit.record(&record);
    }
    let hours = |count: u64| Some(start + Duration::from_secs(count * 3_600));
    let text = |text: &str| Some(text.to_owned());
    let all = Query::default;
    let cases = [
        (all(), "s0 s1 s2 s3"),
        (Query { since: hours(2), ..all() }, "s2 s3"),
        (Query { until: hours(2), ..all() }, "s0 s1"),
        (Query { since: hours(1), until: hours(2), ..all() }, "s1"),
        (Query { server: text("web"), ..all() }, "s2 s3"),
        (Query { tool: text("read"), ..all() }, "s0 s2"),
        (Query { tool: text("files__read"), ..all() }, "s0 s2"),
        (Query { server: text("web"), tool: text("read"), ..all() }, "s2"),
        (Query { outcome: text("tool_error"), ..all() }, "s0"),
        (Query { decision: text("allow"), ..all() }, "s1"),
        (Query { session: text("s3"), ..all() }, "s3"),
        (Query { asker: text("cli"), last: Some(2), ..all() }, "s1 s2"),
        (Query { last: Some(0), ..all() }, ""),
        (Query { tool: text("nothing"), ..all() }, ""),
    ];
    for (query, expected) in cases {
        let found: Vec<String> = room.calls(&query).into_iter().map(|call| call.session).collect();
        assert_eq!(found.join(" "), expected, "{query:?}");
    }
    let mut statistics = Statistics::default();
    room.calls(&all()).iter().for_each(|call| statistics.add(call));
    let counted: Vec<_> = statistics
        .servers()
        .flat_map(|(server, tools)| {
            tools.iter().map(move |(tool, one)| (server.to_owned(), tool.clone(), one.calls, one.errors))
        })
        .collect();
    let line = |server: &str, tool: &str, errors| (server.to_owned(), tool.to_owned(), 1, errors);
    assert_eq!(
        counted,
        [line("files", "read", 1), line("files", "write", 0), line("web", "read", 0), line("web", "write", 0)]
    );
}

#[test]
fn unusual_use_is_flagged_and_told_once() {
    let room = LogRoom::new();
    let told: Arc<Mutex<Vec<Unusual>>> = Arc::default();
    let listening = || {
        let told = Arc::clone(&told);
        room.audit().on_unusual(move |unusual| told.lock().unwrap().push(unusual.clone()))
    };
    let audit = listening();
    let reads = |tool: &str| AuditRecord { is_read_only: true, ..room.record(tool) };
    let steps: [(AuditRecord, &[&str]); 9] = [
        (reads("read"), &[]),
        (reads("read"), &[]),
        (AuditRecord { asker: Asker::Model, ..reads("read") }, &[]),
        (AuditRecord { outcome: "denied", ..room.record("write") }, &[]),
        (room.record("write"), &["first_write_after_reads"]),
        (room.record("write"), &[]),
        (room.record("remove"), &[]),
        (reads("read"), &[]),
        (AuditRecord { server: ServerName::new("new").unwrap(), ..room.record("write") }, &[]),
    ];
    let expected: Vec<Vec<String>> =
        steps.iter().map(|(_, flags)| flags.iter().map(|flag| (*flag).to_owned()).collect()).collect();
    steps.iter().for_each(|(record, _)| audit.record(record));
    let flagged: Vec<Vec<String>> = room.calls(&Query::default()).into_iter().map(|call| call.unusual).collect();
    assert_eq!(flagged, expected);
    assert_eq!(told.lock().unwrap().len(), expected.concat().len());
    // Another process knows it too, and so does one that finds only the log.
    drop(audit);
    listening().record(&reads("read"));
    fs::remove_file(room.path("seen.jsonl")).unwrap();
    listening().record(&room.record("write"));
    assert_eq!(told.lock().unwrap().len(), expected.concat().len());
    // The first call of a tool is unusual when its server has been in use for weeks, also for a process that finds only the log.
    for (days, tool, is_news) in [(7, "early", false), (8, "late", true), (0, "late", false), (0, "later", true)] {
        room.clock().advance(Duration::from_secs(days * 24 * 60 * 60));
        if tool == "later" {
            fs::remove_file(room.path("seen.jsonl")).unwrap();
        }
        let before = told.lock().unwrap().len();
        listening().record(&room.record(tool));
        let news: Vec<UnusualUse> = told.lock().unwrap().iter().skip(before).map(|one| one.what).collect();
        assert_eq!(news, if is_news { vec![UnusualUse::NewTool] } else { Vec::new() }, "{tool}");
    }
    // A burst is counted over processes.
    for _ in 0..100 {
        listening().record(&reads("read"));
    }
    let bursts = told.lock().unwrap().iter().filter(|one| one.what == UnusualUse::Burst).count();
    assert_eq!(bursts, 1);
    assert!(room.verify().is_sound());
}

#[test]
fn a_log_that_cannot_be_written_is_remembered_and_the_next_record_says_so() {
    let room = LogRoom::new();
    fs::create_dir_all(room.user()).unwrap();
    fs::write(room.path(""), "not a folder").unwrap_or_else(|_| fs::write(room.user().join("audit"), "x").unwrap());
    let audit = room.audit();
    assert!(audit.last_error().is_none());
    audit.record(&room.record("read"));
    audit.record(&room.record("read"));
    let error = audit.last_error().unwrap().to_string();
    assert!(error.starts_with("cannot write the audit log in ") && error.contains("audit: "), "{error}");
    fs::remove_file(room.user().join("audit")).unwrap();
    audit.record(&room.record("read"));
    assert!(audit.last_error().is_none());
    assert_eq!(room.findings(), ["audit.jsonl:2: 2 calls before this could not be written down"]);
    assert_eq!(room.calls(&Query::default()).len(), 1);
}

/// Puts something else where a file of the log should be.
type Obstacle = fn(&std::path::Path);

#[test]
fn what_is_no_file_is_neither_waited_for_nor_followed_and_told() {
    let obstacles: [(&str, Obstacle); 5] = [
        ("a folder", |path| fs::create_dir(path).unwrap()),
        ("a pipe or a device", |path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("a link", |path| std::os::unix::fs::symlink("/dev/null", path).unwrap()),
        ("a link", |path| std::os::unix::fs::symlink(path.with_file_name("nowhere"), path).unwrap()),
        ("a link", |path| {
            fs::write(path.with_file_name("other"), "").unwrap();
            std::os::unix::fs::symlink("other", path).unwrap();
        }),
    ];
    for name in ["audit.jsonl", "head.json", "lock"] {
        for (what, put) in obstacles {
            let room = LogRoom::new();
            fs::create_dir_all(room.path("")).unwrap();
            put(&room.path(name));
            let told: Arc<Mutex<Vec<String>>> = Arc::default();
            let hears = Arc::clone(&told);
            let audit = room.audit().on_trouble(move |error| hears.lock().unwrap().push(error.to_string()));
            let refused = audit.begin(&room.record("read")).unwrap_err().to_string();
            assert!(refused.ends_with(&format!("{name} is {what}, not a regular file")), "{refused}");
            assert_eq!(told.lock().unwrap().len(), 0, "whoever is refused is told by that");
            let audit = {
                let hears = Arc::clone(&told);
                room.audit().on_trouble(move |error| hears.lock().unwrap().push(error.to_string()))
            };
            audit.record(&room.record("read"));
            audit.record(&room.record("read"));
            assert_eq!(*told.lock().unwrap(), [refused], "told once");
            assert_eq!(fs::read(room.path("other")).unwrap_or_default(), b"", "{name}: nothing is written elsewhere");
            assert!(AuditLog::open(&room.env()).is_err(), "{name}: {what}");
        }
    }
}

#[test]
fn a_lock_that_is_never_given_back_refuses_the_call() {
    let room = LogRoom::new();
    room.audit().record(&room.record("read"));
    let held = fs::File::open(room.path("lock")).unwrap();
    held.lock().unwrap();
    let audit = room.audit();
    let refused = audit.begin(&room.record("write")).unwrap_err().to_string();
    assert!(refused.ends_with("another process has it locked and does not end"), "{refused}");
    held.unlock().unwrap();
    audit.record(&room.record("later"));
    assert_eq!(room.findings(), ["audit.jsonl:3: 1 call before this could not be written down"]);
}

#[test]
fn a_call_is_there_from_its_beginning_and_counts_once() {
    let room = LogRoom::new();
    let audit = room.audit();
    let outcomes = || room.calls(&Query::default()).into_iter().map(|call| call.outcome).collect::<Vec<_>>();
    let begun = audit.begin(&room.record("write")).unwrap();
    assert_eq!(begun, Some(2));
    assert_eq!(outcomes(), ["running"]);
    let call = room.calls(&Query { outcome: Some("running".to_owned()), ..Query::default() }).remove(0);
    assert_eq!((call.tool.as_str(), &call.arguments, call.has_ended()), ("write", &json!({"path": "a.txt"}), false));
    let line: Value = serde_json::from_str(&call.line).unwrap();
    assert_eq!((&line["kind"], &line["outcome"]), (&json!("started"), &json!("running")));
    audit.record(&room.record("read"));
    audit.record(&AuditRecord { begun, ..room.record("write") });
    assert_eq!(outcomes(), ["completed", "completed"]);
    let last: Value = serde_json::from_str(room.text("audit.jsonl").lines().last().unwrap()).unwrap();
    assert_eq!((&last["kind"], &last["started"]), (&json!("call"), &json!(2)));
    assert_eq!(room.verify().notes, []);
    // As if the process had been killed: no process has that number.
    audit.begin(&room.record("kill")).unwrap();
    let text = room.text("audit.jsonl");
    let own = format!("\"pid\":{}", std::process::id());
    let (before, beginning) = text.trim_end().rsplit_once('\n').unwrap();
    let killed = crate::audit_changed::sealed(&beginning.replace(&own, "\"pid\":4000000000"));
    fs::write(room.path("audit.jsonl"), format!("{before}\n{killed}\n")).unwrap();
    fs::remove_file(room.path("head.json")).unwrap();
    drop(audit);
    room.audit().record(&room.record("later"));
    assert_eq!(outcomes(), ["completed", "completed", "unknown", "completed"]);
    let notes: Vec<String> = room.verify().notes.iter().map(ToString::to_string).collect();
    let note =
        "audit.jsonl:5: the call of record 5 was begun and never ended: its process was killed, or could not write";
    assert_eq!(notes, [note]);
    let mut statistics = Statistics::default();
    room.calls(&Query::default()).iter().for_each(|call| statistics.add(call));
    let (_, tools) = statistics.servers().next().unwrap();
    assert_eq!((tools["kill"].calls, tools["kill"].errors, tools["kill"].latency()), (1, 0, None));
}

#[test]
fn a_log_nobody_has_written_is_empty() {
    let room = LogRoom::new();
    assert_eq!(room.calls(&Query::default()).len(), 0);
    assert_eq!(room.verify(), Verification::default());
    drop(room.audit());
    assert!(!room.path("").exists(), "a host without calls leaves nothing behind");
}
