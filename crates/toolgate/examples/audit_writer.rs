//! Writes records to an audit log as fast as it can, and says after each that it is written. The tests start several at once and kill them.
//!
//! `audit_writer FOLDER SESSION MILLISECONDS LARGEST_BYTES FILE_BYTES`

#![expect(clippy::expect_used, reason = "a program that cannot do what it is for ends, and says why")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use toolgate::audit::{ArgumentsKept, AuditOptions, AuditRecord, AuditSink as _, FileAudit, Fsync};
use toolgate::policy::{Because, Decision, Mode, Presence, Verdict};
use toolgate::{Asker, HostDirs, HostEnv, ServerName, SystemClock};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, session, milliseconds, largest_bytes, file_bytes] = words.as_slice() else {
        panic!("audit_writer FOLDER SESSION MILLISECONDS LARGEST_BYTES FILE_BYTES")
    };
    let user = PathBuf::from(folder);
    let env = HostEnv {
        vars: BTreeMap::new(),
        dirs: HostDirs { user: user.clone(), system: user.join("system"), home: None },
        workspace: user.clone().into(),
        clock: Arc::new(SystemClock),
    };
    let options = AuditOptions {
        arguments: ArgumentsKept::Full,
        fsync: Fsync::Never,
        file_bytes_max: file_bytes.parse().expect("a number of bytes"),
    };
    let audit = FileAudit::open(&env, options);
    let largest: usize = largest_bytes.parse().expect("a number of bytes");
    let until = Instant::now() + Duration::from_millis(milliseconds.parse().expect("milliseconds"));
    let mut stdout = std::io::stdout().lock();
    let mut count = 0_usize;
    while Instant::now() < until {
        // Sizes that never repeat soon, so that lines end everywhere in a page.
        let bytes = (count * 7919) % largest.max(1);
        let mut record = record(session, count, bytes, &env);
        record.begun = audit.begin(&record).unwrap_or_else(|error| panic!("{error}"));
        audit.record(&record);
        if let Some(error) = audit.last_error() {
            panic!("{error}");
        }
        count += 1;
        writeln!(stdout, "{count}").and_then(|()| stdout.flush()).expect("somebody reads");
    }
}

fn record(session: &str, count: usize, bytes: usize, env: &HostEnv) -> AuditRecord {
    AuditRecord {
        at: SystemTime::now(),
        begun: None,
        session: session.to_owned(),
        asker: Asker::Model,
        folder: env.workspace.to_path_buf(),
        server: ServerName::new("files").expect("a good name"),
        tool: format!("tool-{}", count % 50),
        name: "tool".to_owned(),
        definition: String::new(),
        is_read_only: true,
        input_schema: None,
        arguments: json!({"count": count, "filling": "x".repeat(bytes)}).into(),
        mode: Mode::Default,
        presence: Presence::Headless,
        verdict: Verdict { decision: Decision::Allow, because: Because::NoRule, adjustments: Vec::new() },
        confirmation: None,
        outcome: "completed",
        error: None,
        took: Duration::from_millis(1),
        result_bytes: Some(10),
    }
}
