//! Agreeing on a version over pipes: what a server may do with the probe, row by row, and what the client makes of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::UnixListener;
use toolgate_testkit::fault::Trigger;
use toolgate_testkit::{Event, Script, What, When, in_process};
use toolgate_wire::limits::PROBE_PATIENCE_MS;
use toolgate_wire::transport::child::ChildConfig;
use toolgate_wire::{ConnectOptions, DefectKind, Endpoint, Era, connect};

use crate::demo::{HANDSHAKE, PROBE, both, legacy, modern};
use crate::support::{Met, PATIENCE, Side, Way, log_folder, raw, within};

/// Shorter than the default, for servers that are known to stay silent longer.
const PROBE_PATIENCE: Duration = Duration::from_millis(300);

/// An answer to the probe that names the versions the server speaks.
fn unsupported(data: &Value) -> What {
    let error = json!({"code": -32022, "message": "unsupported protocol version", "data": data});
    What::AnswerText(format!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{error}}}"#))
}

fn error(code: i64) -> What {
    What::AnswerError { code, message: "no".to_owned() }
}

/// What came of a negotiation.
struct Expected {
    era: Era,
    methods: &'static [&'static str],
    lives: usize,
}

const MODERN: Expected = Expected { era: Era::Modern, methods: &["server/discover"], lives: 1 };
const RETRIED: Expected = Expected { era: Era::Modern, methods: &["server/discover", "server/discover"], lives: 1 };
const LEGACY: Expected =
    Expected { era: Era::Legacy, methods: &["server/discover", "initialize", "notifications/initialized"], lives: 1 };
const RESPAWNED: Expected = Expected { lives: 2, ..LEGACY };
/// Silent for long enough to be sent the handshake as well; then started anew.
const BOTH_TRIED: Expected = Expected {
    era: Era::Legacy,
    methods: &["server/discover", "initialize", "initialize", "notifications/initialized"],
    lives: 2,
};

async fn check(name: &str, script: Script, expected: &Expected) {
    check_with(name, script, expected, |_| ()).await;
}

/// Connects to a process, compares what happened, and calls a tool to see that the connection is sound.
async fn check_with(name: &str, script: Script, expected: &Expected, adjust: impl FnOnce(&mut ConnectOptions)) {
    let met = within(name, Way::Child.meet_with(script, adjust)).await;
    let client = met.connected.as_ref().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(client.era(), expected.era, "{name}");
    assert_eq!(client.version().is_modern(), expected.era == Era::Modern, "{name}");
    call_echo(name, &met).await;
    let mut methods = met.record.methods();
    methods.truncate(expected.methods.len());
    assert_eq!(methods, expected.methods, "{name}");
    assert_eq!(lives(&met), expected.lives, "{name}");
    client.close().await;
}

fn lives(met: &Met) -> usize {
    met.record.events().iter().filter(|event| matches!(event, Event::Started { .. })).count()
}

async fn call_echo(name: &str, met: &Met) {
    let result = within(name, met.client().call_tool("echo", raw(json!({"message": "hi"})))).await;
    assert_eq!(result.unwrap_or_else(|error| panic!("{name}: {error}")).text(), "hi", "{name}");
}

#[tokio::test]
async fn what_the_answer_to_the_probe_means() {
    let first: Trigger = PROBE.nth(1);
    let rows = [
        ("a modern server", modern(), MODERN),
        ("a server of both eras", both(), MODERN),
        ("a legacy server", legacy(), LEGACY),
        (
            "an unknown version, ours among the others",
            modern().fault(first, unsupported(&json!({"supported": ["2026-07-28"]}))),
            RETRIED,
        ),
        (
            "an unknown version, only legacy ones known",
            both().fault(PROBE, unsupported(&json!({"supported": ["2024-11-05", "2025-11-25"]}))),
            LEGACY,
        ),
        ("an unknown version without a list", both().fault(PROBE, unsupported(&json!({}))), LEGACY),
        ("mismatching headers, once", modern().fault(first, error(-32020)), RETRIED),
        ("a missing capability, once", modern().fault(first, error(-32021)), RETRIED),
        ("an invalid request", legacy().fault(PROBE, error(-32600)), LEGACY),
        ("invalid parameters", legacy().fault(PROBE, error(-32602)), LEGACY),
        ("an internal error", legacy().fault(PROBE, error(-32603)), LEGACY),
        ("a server error", legacy().fault(PROBE, error(-32000)), LEGACY),
        ("an error and a result", legacy().fault(PROBE, What::ResultAndError), LEGACY),
        ("an empty result", legacy().fault(PROBE, What::EmptyResult), LEGACY),
        ("no result at all", legacy().fault(PROBE, What::AnswerWith(Value::Null)), LEGACY),
        ("a list as the result", legacy().fault(PROBE, What::AnswerWith(json!([]))), LEGACY),
        (
            "half a result",
            legacy().fault(PROBE, What::AnswerWith(json!({"supportedVersions": ["2026-07-28"]}))),
            LEGACY,
        ),
        (
            "an answer that is cut",
            legacy().fault(PROBE, What::AnswerText(r#"{"jsonrpc":"2.0","id":$ID,"result":{"#.to_owned())),
            LEGACY,
        ),
        ("an id as a string", both().fault(PROBE, What::StringId), MODERN),
        ("junk before the answer", both().fault(PROBE, What::Junk(vec!["Starting…".to_owned()])), MODERN),
    ];
    for (name, script, expected) in rows {
        check(name, script, &expected).await;
    }
}

#[tokio::test]
async fn a_server_that_does_not_survive_the_probe_is_started_anew() {
    let default = Duration::from_millis(PROBE_PATIENCE_MS);
    let rows = [
        ("it exits", default, What::Exit(1), PROBE.into(), RESPAWNED),
        ("it exits on what it does not know", default, What::Exit(0), When::UnknownMethod.into(), RESPAWNED),
        ("it closes its stdout", default, What::Close, PROBE.into(), RESPAWNED),
        ("it exits in the middle of its answer", default, What::Exit(1), PROBE.after_bytes(9), RESPAWNED),
        ("it reads on and says nothing any more", PROBE_PATIENCE, What::Stall, PROBE.into(), BOTH_TRIED),
        ("it neither reads nor writes any more", PROBE_PATIENCE, What::Freeze, PROBE.into(), RESPAWNED),
    ];
    let rows =
        rows.map(|(name, patience, what, when, expected): (&str, Duration, What, Trigger, Expected)| async move {
            let script = legacy().fault(when, what);
            check_with(name, script, &expected, |options| options.probe_patience = patience).await;
        });
    futures_util::future::join_all(rows).await;
}

#[tokio::test]
async fn a_slow_start_is_waited_for() {
    let slow = |script: Script| script.fault(When::Start, What::Pause { ms: 3000 });
    // A server of both eras may be met in either, since both handshakes wait for it when it wakes up.
    let rows = [
        ("a legacy server", slow(legacy()), Era::Legacy),
        ("a modern server", slow(modern()), Era::Modern),
        ("a server of both eras", slow(both()), Era::Modern),
    ];
    let rows = rows.map(|(name, script, era)| check_slow(name, script, era));
    futures_util::future::join_all(rows).await;
}

async fn check_slow(name: &str, script: Script, era: Era) {
    let met = within(name, Way::Child.meet_with(script, |options| options.probe_patience = PROBE_PATIENCE)).await;
    assert_eq!(met.client().era(), era, "{name}");
    call_echo(name, &met).await;
    assert_eq!((met.record.count("server/discover"), met.record.count("initialize"), lives(&met)), (1, 1, 1), "{name}");
    met.client().close().await;
}

/// The answer takes longer than a silent server would be given: one that is saying something is not wedged.
#[tokio::test]
async fn an_answer_that_drips_is_waited_for() {
    let script = modern().fault(PROBE, What::Drip { bytes: 4, every_ms: 60 });
    let met = within("a drip", Way::Child.meet_with(script, |options| options.probe_patience = PROBE_PATIENCE)).await;
    assert_eq!((met.client().era(), lives(&met)), (Era::Modern, 1));
    met.client().close().await;
}

#[tokio::test]
async fn a_probe_answered_late_is_ignored_and_waited_for_only_where_it_is_needed() {
    let late = |script: Script| script.fault(PROBE, What::LateResponse { ms: 3000 });
    let scripts = [
        ("legacy", late(legacy()), Era::Legacy),
        ("both eras", late(both()), Era::Legacy),
        ("modern", late(modern()), Era::Modern),
    ];
    let rows =
        [Way::Child, Way::HttpEvents, Way::HttpJson].into_iter().flat_map(|way| scripts.clone().map(|row| (way, row)));
    let rows = rows.map(|(way, (name, script, era))| async move {
        let name = format!("{name} over {way:?}");
        let met = within(&name, way.meet_with(script, |options| options.probe_patience = PROBE_PATIENCE)).await;
        assert_eq!(met.connected.as_ref().map(|client| client.era()).map_err(ToString::to_string), Ok(era), "{name}");
        call_echo(&name, &met).await;
        if way == Way::Child && era == Era::Legacy {
            met.side.wait_until(&name, |heard| heard.defects.len() == 1).await;
            assert_eq!(met.client().peer().tally().of(DefectKind::LateResponse), 1, "{name}");
            call_echo(&name, &met).await;
        }
    });
    futures_util::future::join_all(rows).await;
}

#[tokio::test]
async fn what_was_remembered_is_used_and_checked() {
    let rows = [
        (
            "legacy, and it is",
            legacy(),
            Era::Legacy,
            Expected { methods: &["initialize", "notifications/initialized"], ..LEGACY },
        ),
        (
            "legacy, of both eras",
            both(),
            Era::Legacy,
            Expected { methods: &["initialize", "notifications/initialized"], ..LEGACY },
        ),
        ("modern, and it is", modern(), Era::Modern, MODERN),
        ("modern, but it is legacy", legacy(), Era::Modern, LEGACY),
        (
            "legacy, but it is modern",
            modern(),
            Era::Legacy,
            Expected { era: Era::Modern, methods: &["initialize", "server/discover"], lives: 2 },
        ),
        ("HTTP+SSE, which no process speaks", both(), Era::LegacySse, MODERN),
    ];
    for (name, script, remembered, expected) in rows {
        check_with(name, script, &expected, |options| options.era = Some(remembered)).await;
    }
    // What one connection found out serves the next.
    for script in [legacy(), modern()] {
        let met = Way::Child.meet(script.clone()).await;
        let era = met.client().era();
        let again = Way::Child.meet_with(script, |options| options.era = Some(era)).await;
        assert_eq!(again.client().era(), era);
        assert_eq!(again.record.count("server/discover"), usize::from(era == Era::Modern));
    }
}

#[tokio::test]
async fn the_handshake_offers_the_newest_version_that_has_one() {
    let met = Way::Child.meet(legacy()).await;
    let seen = met.record.received().into_iter().find(|message| message["method"] == "initialize").unwrap();
    assert_eq!(seen["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(seen["params"]["clientInfo"], json!({"name": "wire-tests", "version": "1.0.0"}));
    assert_eq!(seen["params"]["capabilities"]["elicitation"], json!({}));
    let probe = met.record.received().into_iter().find(|message| message["method"] == "server/discover").unwrap();
    let meta = &probe["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "wire-tests");
    assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
}

#[tokio::test]
async fn refusals_say_what_the_server_did() {
    let limit = Duration::from_millis(1500);
    let known = "supported are 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28";
    let rows: [(&str, Script, &[&str]); 8] = [
        (
            "an unknown version",
            legacy().fault(HANDSHAKE, What::Version("2019-01-01".into())),
            &["speaks MCP 2019-01-01", known],
        ),
        (
            "a version from the future",
            modern().fault(PROBE, unsupported(&json!({"supported": ["2099-01-01"]}))),
            &["speaks MCP 2099-01-01", known],
        ),
        (
            "it refuses the version it names",
            modern().fault(PROBE, unsupported(&json!({"supported": ["2026-07-28"]}))),
            &["2026-07-28", "refuses it"],
        ),
        (
            "no version",
            legacy().fault(HANDSHAKE, What::EmptyResult),
            &["answered `initialize` without a protocol version"],
        ),
        (
            "an error",
            legacy().fault(HANDSHAKE, What::AnswerError { code: -5, message: "not today".into() }),
            &["not today", "-5"],
        ),
        ("it exits", legacy().fault(HANDSHAKE, What::Exit(3)), &["the server ended with exit status: 3"]),
        ("no answer", legacy().fault(HANDSHAKE, What::NoAnswer), &["did not answer the handshake within 1.5s"]),
        (
            "no answer, but words on stderr",
            legacy().fault(When::Start, What::StderrFlood { bytes: 75 }).fault(HANDSHAKE, What::NoAnswer),
            &["did not answer the handshake within 1.5s", "its last words: noise on stderr"],
        ),
    ];
    let rows = rows.map(|(name, script, expected)| async move {
        let limit = if expected[0].contains("did not answer") { limit } else { PATIENCE };
        let met = within(name, Way::Child.meet_with(script, |options| options.limit = limit)).await;
        let refusal = met.refusal();
        for part in expected {
            assert!(refusal.contains(part), "{name}: {refusal}");
        }
    });
    futures_util::future::join_all(rows).await;
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_named() {
    let rows = [("/does/not/exist", "No such file"), ("/etc", "ermission denied")];
    for (program, expected) in rows {
        let options = ConnectOptions::new(Arc::new(Side::default()));
        let error = connect(Endpoint::Child(ChildConfig::new(program)), options).await.unwrap_err().to_string();
        assert!(error.contains(&format!("cannot start `{program}`")) && error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_pipe_that_ends_on_the_probe_cannot_be_opened_again_and_says_so() {
    let met = within("the end", Way::Duplex.meet(legacy().fault(PROBE, What::Close))).await;
    assert_eq!(met.refusal(), "connection closed: the other side closed the stream");
}

#[tokio::test]
async fn a_socket_that_ends_on_the_probe_is_connected_again() {
    let (folder, _) = log_folder();
    let path = folder.path().join("socket");
    let records = serve_each(&path, legacy().fault(PROBE, What::Close));
    let client = within(
        "the second connection",
        connect(Endpoint::Socket(path), ConnectOptions::new(Arc::new(Side::default()))),
    )
    .await
    .unwrap();
    assert_eq!(client.era(), Era::Legacy);
    client.close().await;
    let methods: Vec<_> = within("the records", records).await.unwrap().iter().map(|record| record.methods()).collect();
    assert_eq!(methods, [vec!["server/discover"], vec!["initialize", "notifications/initialized"]]);
}

/// Serves two connections on a socket; gives what each of them saw.
fn serve_each(path: &Path, script: Script) -> tokio::task::JoinHandle<Vec<toolgate_testkit::Record>> {
    let listener = UnixListener::bind(path).unwrap();
    tokio::spawn(async move {
        let mut records = Vec::new();
        for _ in 0..2 {
            let (read, write) = listener.accept().await.unwrap().0.into_split();
            let (task, record) = in_process::over(script.clone(), read, write);
            task.ended().await;
            records.push(record);
        }
        records
    })
}
