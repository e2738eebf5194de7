//! `toolgate audit`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;
use toolgate::audit::{AuditOptions, AuditRecord, AuditSink as _, FileAudit};
use toolgate::policy::{Because, Decision, Mode, Presence, Verdict};
use toolgate::{Asker, HostDirs, HostEnv, ServerName, SystemClock};

use crate::room::Room;

/// When the first call was: 2026-01-02 03:04:05 UTC.
const START: Duration = Duration::from_secs(1_767_323_045);

fn file(room: &Room, name: &str) -> PathBuf {
    room.world.home().join(".toolgate/audit").join(name)
}

fn record(server: &str, tool: &str, outcome: &'static str, took_ms: u64) -> AuditRecord {
    let is_denied = outcome == "denied";
    AuditRecord {
        at: SystemTime::UNIX_EPOCH + START,
        begun: None,
        session: "s1".to_owned(),
        asker: Asker::Cli,
        folder: PathBuf::from("/work"),
        server: ServerName::new(server).unwrap(),
        tool: tool.to_owned(),
        name: tool.to_owned(),
        definition: String::new(),
        is_read_only: true,
        input_schema: None,
        arguments: json!({"path": "a"}).into(),
        mode: Mode::Default,
        presence: Presence::Interactive,
        verdict: Verdict {
            decision: if is_denied { Decision::Deny } else { Decision::Allow },
            because: Because::NoRule,
            adjustments: Vec::new(),
        },
        confirmation: None,
        outcome,
        error: (outcome == "tool_error").then(|| ("tool_error".to_owned(), "it\u{1b}[2J broke".to_owned())),
        took: Duration::from_millis(took_ms),
        result_bytes: Some(1),
    }
}

fn write(room: &Room, records: &[AuditRecord]) {
    let user = room.world.home().join(".toolgate");
    let env = HostEnv {
        vars: BTreeMap::new(),
        dirs: HostDirs { user, system: room.world.root().join("system"), home: None },
        workspace: room.world.workspace().into(),
        clock: Arc::new(SystemClock),
    };
    let audit = FileAudit::open(&env, AuditOptions::default());
    records.iter().for_each(|record| audit.record(record));
    assert!(audit.last_error().is_none());
}

/// A world in which some calls were made.
fn room() -> Room {
    let room = Room::new();
    let confirmed = AuditRecord {
        at: SystemTime::UNIX_EPOCH + START + Duration::from_secs(60),
        verdict: Verdict { decision: Decision::Ask, because: Because::NoRule, adjustments: Vec::new() },
        confirmation: Some("once"),
        is_read_only: false,
        arguments: json!({"password": "x"}).into(),
        ..record("files", "write", "completed", 3_400)
    };
    write(
        &room,
        &[
            record("files", "read", "completed", 10),
            record("files", "read", "tool_error", 30),
            confirmed,
            record("web\u{202e}", "fetch", "denied", 0),
        ],
    );
    room
}

#[test]
fn calls_are_shown() {
    let room = room();
    room.check(
        "audit show",
        r#"
        --- stdout
        TIME                 ASKER  SERVER       TOOL   DECISION    OUTCOME     TOOK   ABOUT
        [TIME]  cli    files        read   allow       completed   [TIME]  {"path":"a"}
        [TIME]  cli    files        read   allow       tool error  [TIME]  it\e[2J broke; {"path":"a"}
        [TIME]  cli    files        write  ask (once)  completed   3.4 s  ! first write after reads; {"password":"[secret]"}
        [TIME]  cli    web\u{202e}  fetch  deny        denied      [TIME]   {"path":"a"}
        --- exit 0
        "#,
    );
    let shown = room.run("audit show --last 2").stdout;
    assert!(shown.contains("2026-01-02 03:05:05  cli "), "{shown}");
    let cases = [
        ("", 4),
        ("--last 3", 3),
        ("--last 0", 0),
        ("--server files", 3),
        ("--server files --tool read", 2),
        ("--outcome denied", 1),
        ("--decision allow", 2),
        ("--asker model", 0),
        ("--session s1 --last 1", 1),
        ("--since 2026-01-02T03:05:00Z", 1),
        ("--until 2026-01-02T03:05:00Z", 3),
        ("--since 2026-01-02 --until 2026-01-03", 4),
        ("--since 1m", 0),
    ];
    for (words, expected) in cases {
        let shown = room.json(&format!("audit show --json {words}"));
        assert_eq!(shown["calls"].as_array().unwrap().len(), expected, "{words}");
    }
    let shown = room.json("audit show --json --tool write");
    let call = &shown["calls"][0];
    assert_eq!((&call["seq"], &call["confirmation"]), (&json!(4), &json!("once")));
    assert_eq!(call["unusual"], json!(["first_write_after_reads"]));
    room.check(
        "audit show --since yesterday",
        "
        --- stderr
        error: --since yesterday: not a time
        hint: so long ago: `[TIME]`, `[TIME]`, `7d`, `2w`; or a time: `2026-01-02`, `[TIME]`
        --- exit 2
        ",
    );
    assert_eq!(room.run("audit show --outcome odd").code(), Some(2));
}

#[test]
fn nothing_is_broken_where_there_is_little_room() {
    let mut room = room();
    let words = ["read of files", "allow, completed, 10 ms, cli", "! first write after reads", "ask (once), completed"];
    for columns in [40, 60, 80, 120] {
        room.world.set_variable("COLUMNS", columns.to_string());
        for line in ["audit show", "audit stats"] {
            let output = room.run(line);
            let widest = output.stdout.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(output.code() == Some(0) && widest <= columns, "{widest} of {columns}:\n{}", output.stdout);
        }
        let shown = room.run("audit show").stdout;
        if columns == 40 {
            words.iter().for_each(|words| assert!(shown.contains(words), "{words}:\n{shown}"));
        }
        assert_eq!(shown.contains("TIME"), columns > 80, "{columns}:\n{shown}");
    }
    room.world.set_variable("COLUMNS", "40");
    let stats = room.run("audit stats").stdout;
    for words in [
        "files\n  3 calls, 1 error\n  P50 30 ms, P95 3.4 s\n",
        "  read\n    2 calls, 1 error\n",
        "1 call, 0 errors, 1 denied",
    ] {
        assert!(stats.contains(words), "{words}:\n{stats}");
    }
}

#[test]
fn answers_are_said_in_words() {
    let cases = [
        ("once", "ask (once)"),
        ("tool_this_session", "ask (this session)"),
        ("tool_always", "ask (always)"),
        ("server_always", "ask (always, whole server)"),
        ("these_arguments_always", "ask (always, these arguments)"),
        ("refused", "ask (no)"),
    ];
    for (answer, words) in cases {
        let room = Room::new();
        let verdict = Verdict { decision: Decision::Ask, because: Because::NoRule, adjustments: Vec::new() };
        let record = record("files", "read", "completed", 1);
        write(&room, &[AuditRecord { verdict, confirmation: Some(answer), ..record }]);
        let shown = room.run("audit show").stdout;
        assert!(shown.contains(words), "{shown}");
    }
}

#[test]
fn an_empty_log_is_no_failure() {
    let room = Room::new();
    room.check(
        "audit show",
        "
        --- stderr
        no such calls are recorded
        --- exit 0
        ",
    );
    room.check(
        "audit verify",
        "
        --- stdout
        nothing is recorded yet
        --- exit 0
        ",
    );
    assert_eq!(room.json("audit stats --json"), json!({"servers": [], "unreadable": 0}));
    assert!(!file(&room, "").exists(), "looking leaves nothing behind");
}

#[test]
fn changes_are_found() {
    let room = room();
    let output = room.run("audit verify");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(output.stdout.starts_with("5 records in 1 file; the last is 5, "), "{}", output.stdout);
    assert!(output.stdout.ends_with("\nno change was found\n"), "{}", output.stdout);
    let verified = room.json("audit verify --json");
    assert_eq!((&verified["ok"], &verified["last"]["seq"]), (&json!(true), &json!(5)));
    let path = file(&room, "audit.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"durationMs\":30", "\"durationMs\":31", 1)).unwrap();
    let output = room.run("audit verify");
    assert_eq!(output.code(), Some(9));
    let found = "✗ audit.jsonl:3: record 3 was edited: its hash is not that of what is written\n";
    assert!(output.stdout.starts_with(found), "{}", output.stdout);
    let verified = room.json("audit verify --json");
    assert_eq!(verified["ok"], json!(false));
    assert_eq!(
        (&verified["findings"][0]["file"], &verified["findings"][0]["line"]),
        (&json!("audit.jsonl"), &json!(3))
    );
    fs::write(&path, format!("{text}{{\"half")).unwrap();
    let output = room.run("audit verify");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(output.stdout.starts_with("! audit.jsonl:6: the last line is torn (6 bytes)"), "{}", output.stdout);
    fs::write(&path, text.replacen("{\"v\":1,\"seq\":3", "{\"v\":1 \"seq\":3", 1)).unwrap();
    let output = room.run("audit show");
    assert_eq!(output.stderr, "1 line of the log could not be read; `toolgate audit verify` says where\n");
    assert_eq!((output.code(), output.stdout.lines().count()), (Some(0), 4));
}

#[test]
fn calls_are_counted_and_drawn() {
    let mut room = room();
    room.check(
        "audit stats",
        r"
        --- stdout
                     CALLS         ERRORS  DENIED  P50    P95
        files        3 ██████░░░░  1       0       [TIME]  3.4 s   ██████████
          read       2 ███░░░░     1       0       [TIME]  [TIME]   ▏
          write      1 ███▎        0       0       3.4 s  3.4 s   ██████████
        web\u{202e}  1 ███▎        0       1       –      –
          fetch      1 ███▎        0       1       –      –
        --- exit 0
        ",
    );
    let stats = room.json("audit stats --json --server files");
    let read = json!({"tool": "read", "calls": 2, "errors": 1, "denied": 0, "p50Ms": 10, "p95Ms": 30});
    assert_eq!(stats["servers"][0]["tools"][0], read);
    assert_eq!((&stats["servers"][0]["calls"], &stats["servers"][0]["p95Ms"]), (&json!(3), &json!(3_400)));
    for columns in [20, 40, 76, 110, 200] {
        room.world.set_variable("COLUMNS", columns.to_string());
        let output = room.run("audit stats");
        let widest = output.stdout.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(output.code() == Some(0) && widest <= columns, "{widest} of {columns}:\n{}", output.stdout);
        assert_eq!(output.stdout.contains('█'), columns >= 76, "{columns}:\n{}", output.stdout);
    }
}

#[test]
fn broken_settings_are_no_reason_not_to_look() {
    let room = room();
    room.world.write_in_home(".toolgate/settings.json", "{").unwrap();
    for line in ["audit show", "audit verify", "audit stats"] {
        assert_eq!(room.run(line).code(), Some(0), "{line}");
    }
}

#[test]
fn a_log_that_cannot_be_read_is_told() {
    let room = Room::new();
    fs::create_dir_all(file(&room, "audit.jsonl")).unwrap();
    let output = room.run("audit show");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stderr.contains("error: cannot read the audit log in "), "{}", output.stderr);
    assert_eq!(room.json("audit show --json")["error"]["kind"], json!("state"));
}
