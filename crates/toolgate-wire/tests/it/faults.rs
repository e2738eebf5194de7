//! The fault matrix over pipes: a process, a pipe in this process, a socket. Every fault ends in success or in an
//! error that says what happened, in time, and nothing stays behind: no task, no descriptor, no process.

use serde_json::json;
use toolgate_testkit::fault::Trigger;
use toolgate_testkit::{Behaviour, Script, ToolScript, What, When};
use toolgate_wire::DefectKind;

use crate::demo::{CALL, HANDSHAKE, LIST, PROBE, READY, legacy, modern};
use crate::support::{Census, Limits, Met, Running, Way, expect_gone, journey, pids, raw, within};

const START: When = When::Start;

const OK: &[&str] = &["ok hi"];

/// Meets a server with a fault, compares how far it comes, and counts what stays behind.
async fn check(name: &str, way: Way, script: Script, expected: &[&str]) {
    check_and(name, way, script, expected, async |_| ()).await;
}

async fn check_and(name: &str, way: Way, script: Script, expected: &[&str], and: impl AsyncFnOnce(&Met)) {
    let before = Census::take();
    run(name, way, script, expected, and).await;
    before.expect_no_more(name).await;
}

/// The same for rows that wait for time to pass, all at once.
async fn check_at_once(rows: Vec<(String, Way, Script, &[&str])>) {
    let before = Census::take();
    let rows = rows
        .into_iter()
        .map(|(name, way, script, expected)| async move { run(&name, way, script, expected, async |_| ()).await });
    futures_util::future::join_all(rows).await;
    before.expect_no_more("all rows").await;
}

async fn run(name: &str, way: Way, script: Script, expected: &[&str], and: impl AsyncFnOnce(&Met)) {
    let name = &format!("{name} over {way:?}");
    let limits = Limits::expecting(expected);
    let met = within(name, meet(way, script, &limits)).await;
    let said = within(name, journey(&met, &limits)).await;
    for part in expected {
        assert!(said.contains(part), "{name}: expected `{part}` in `{said}`");
    }
    and(&met).await;
    let pids = pids(&met.record);
    drop(met.connected);
    if let Running::Child { .. } = met.server {
        for pid in pids {
            expect_gone(pid).await;
        }
    }
}

async fn meet(way: Way, script: Script, limits: &Limits) -> Met {
    way.meet_with(script, |options| {
        options.limit = limits.connect;
        options.probe_patience = limits.probe_patience;
    })
    .await
}

/// The first child of a runtime leaves descriptors for signals behind, which are no leak.
async fn warm_up() {
    let met = Way::Child.meet(legacy()).await;
    met.client().close().await;
    expect_gone(pids(&met.record)[0]).await;
}

async fn call_again(met: &Met) {
    let result = within("the next call", met.client().call_tool("echo", raw(json!({"message": "again"})))).await;
    assert_eq!(result.unwrap().text(), "again", "the connection is still in step");
}

#[tokio::test]
async fn a_process_that_exits_says_how_at_each_phase() {
    warm_up().await;
    let ended = "the server ended with exit status: 3";
    let rows: [(&str, Trigger, Script, &[&str]); 11] = [
        ("at the start", START.into(), legacy(), &["connect:", ended]),
        ("on the probe", PROBE.into(), legacy(), OK),
        ("on the probe, in the middle of the answer", PROBE.after_bytes(7), legacy(), OK),
        ("on the handshake", HANDSHAKE.into(), legacy(), &["connect:", ended]),
        ("after the handshake", HANDSHAKE.after(), legacy(), &[ended]),
        ("when told that all is ready", READY.into(), legacy(), &[ended]),
        ("on the list", LIST.into(), legacy(), &["list:", ended]),
        ("in the middle of the list", LIST.after_bytes(40), modern(), &["list:", ended]),
        ("after the list", LIST.after(), legacy(), &["call:", ended]),
        ("in the middle of a call", CALL.into(), modern(), &["call:", ended]),
        ("after the call", CALL.after(), modern(), OK),
    ];
    for (name, when, script, expected) in rows {
        check(&format!("exit {name}"), Way::Child, script.fault(when, What::Exit(3)), expected).await;
    }
    let last_words = legacy().fault(CALL.before(), What::StderrFlood { bytes: 75 }).fault(CALL, What::Exit(3));
    check("exit with words on stderr", Way::Child, last_words, &["call:", ended, "its last words: noise on stderr"])
        .await;
}

const CHILD_CLOSED: [&[&str]; 4] = [
    &["connect:", "the server closed its stdout"],
    &["the server closed its stdout"],
    &["list:", "the server closed its stdout"],
    &["call:", "the server closed its stdout"],
];
const STREAM_CLOSED: [&[&str]; 4] = [&["connect:", "closed"], &["closed"], &["list:", "closed"], &["call:", "closed"]];

#[tokio::test]
async fn a_stream_that_ends_says_so_at_each_phase() {
    warm_up().await;
    let mut all: Vec<(String, Way, Script, &[&str])> = Vec::new();
    for what in [What::Close, What::Reset] {
        for way in [Way::Child, Way::Duplex, Way::Socket] {
            let is_child = way == Way::Child;
            let closed: [&[&str]; 4] = if is_child { CHILD_CLOSED } else { STREAM_CLOSED };
            let rows: [(&str, Trigger, &[&str]); 6] = [
                ("on the probe", PROBE.into(), if is_child { OK } else { closed[0] }),
                ("on the handshake", HANDSHAKE.into(), closed[0]),
                ("after the handshake", HANDSHAKE.after(), closed[1]),
                ("on the list", LIST.into(), closed[2]),
                ("on a call", CALL.into(), closed[3]),
                ("in the middle of a call", CALL.after_bytes(30), closed[3]),
            ];
            for (name, when, expected) in rows {
                if way == Way::Socket && when == PROBE.into() {
                    continue; // A socket is connected a second time, and nobody listens there any more.
                }
                all.push((format!("{what:?} {name}"), way, legacy().fault(when, what.clone()), expected));
            }
        }
    }
    check_at_once(all).await;
}

#[tokio::test]
async fn a_silent_server_is_given_up_in_time_at_each_phase() {
    warm_up().await;
    const UNANSWERED: &[&str] = &["connect:", "did not answer the handshake within 2.5s"];
    const LIST_TIMED_OUT: &[&str] = &["list: `tools/list` timed out: no answer or progress within 300ms"];
    const CALL_TIMED_OUT: &[&str] = &["call: `tools/call` timed out: no answer or progress within 300ms"];
    let mut all = Vec::new();
    for what in [What::Stall, What::Freeze] {
        let rows: [(&str, Way, Trigger, &[&str]); 7] = [
            ("at the start", Way::Child, START.into(), UNANSWERED),
            ("at the start", Way::Duplex, START.into(), UNANSWERED),
            ("on the handshake", Way::Child, HANDSHAKE.into(), UNANSWERED),
            ("on the handshake", Way::Socket, HANDSHAKE.into(), UNANSWERED),
            ("on the list", Way::Duplex, LIST.into(), LIST_TIMED_OUT),
            ("on a call", Way::Child, CALL.into(), CALL_TIMED_OUT),
            ("in the middle of a call", Way::Child, CALL.after_bytes(30), CALL_TIMED_OUT),
        ];
        for (name, way, when, expected) in rows {
            all.push((format!("{what:?} {name}"), way, legacy().fault(when, what.clone()), expected));
        }
    }
    check_at_once(all).await;
}

#[tokio::test]
async fn noise_beside_the_messages_is_counted_and_does_no_harm() {
    warm_up().await;
    let junk = What::Junk(
        ["Listening on stdio…", "{\"level\":\"info\"", "", "  ", "{}", "[]", "null", "7"].map(str::to_owned).to_vec(),
    );
    let phases: [(&str, Trigger); 5] = [
        ("at the start", START.into()),
        ("on the probe", PROBE.into()),
        ("on the handshake", HANDSHAKE.into()),
        ("on the list", LIST.into()),
        ("on a call", CALL.into()),
    ];
    for way in [Way::Child, Way::Duplex] {
        for (name, when) in phases {
            check_and(&format!("junk {name}"), way, legacy().fault(when, junk.clone()), OK, async |met| {
                let tally = met.client().peer().tally();
                assert_eq!(
                    (tally.of(DefectKind::NotJson), tally.of(DefectKind::NotAMessage)),
                    (2, 4),
                    "{name}: {tally:?}"
                );
                assert_eq!(met.side.heard().defects.len(), 6, "{name}");
            })
            .await;
            check_and(
                &format!("invalid UTF-8 {name}"),
                way,
                legacy().fault(when, What::InvalidUtf8),
                OK,
                async |met| {
                    assert_eq!(met.client().peer().tally().of(DefectKind::NotJson), 1, "{name}");
                },
            )
            .await;
        }
    }
    let flood = What::StderrFlood { bytes: 10 << 20 };
    check("a flood on stderr at the start", Way::Child, legacy().fault(START, flood.clone()), OK).await;
    check("a flood on stderr during a call", Way::Child, legacy().fault(CALL.before(), flood), OK).await;
}

/// A line without an end swallows the answer that follows it; everything after that line is in step again.
#[tokio::test]
async fn a_line_of_a_hundred_megabytes_is_skipped_by_name() {
    warm_up().await;
    let long = What::LongLine { bytes: 100 << 20 };
    for way in [Way::Child, Way::Duplex] {
        let before = Census::take();
        let met = within(
            "a long line",
            way.meet(legacy().fault(PROBE.before(), long.clone()).fault(CALL.nth(1).before(), long.clone())),
        )
        .await;
        let expected = "call: `tools/call` timed out: no answer or progress within 300ms";
        assert_eq!(journey(&met, &Limits::expecting(&[expected])).await, expected, "{way:?}");
        let heard = met.side.wait_until("both defects", |heard| heard.defects.len() == 2).await;
        for defect in heard.defects {
            let text = defect.to_string();
            assert!(
                text.starts_with("too large: a line of 1048")
                    && text.ends_with("bytes (limit LINE_BYTES_MAX = 67108864)"),
                "{way:?}: {text}"
            );
        }
        call_again(&met).await;
        drop(met);
        before.expect_no_more("long lines").await;
    }
}

#[tokio::test]
async fn answers_with_something_wrong_about_them() {
    warm_up().await;
    let timed_out: &[&str] = &["call: `tools/call` timed out: no answer or progress within 300ms"];
    let text = |text: &str| What::AnswerText(text.to_owned());
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"content":{}{}}}}}"#, "[".repeat(5000), "]".repeat(5000));
    let rows: Vec<(&str, What, &[&str], Option<DefectKind>)> = vec![
        ("a wrong id", What::WrongId, timed_out, Some(DefectKind::UnknownId)),
        ("an error without an id", What::MissingId, timed_out, Some(DefectKind::WithoutId)),
        ("a result without an id", What::ResultWithoutId, timed_out, Some(DefectKind::WithoutId)),
        ("a null id", What::NullId, timed_out, Some(DefectKind::WithoutId)),
        ("a string id", What::StringId, OK, None),
        ("sent twice", What::DuplicateResponse, OK, Some(DefectKind::LateResponse)),
        ("never sent", What::NoAnswer, timed_out, None),
        ("a result and an error", What::ResultAndError, &["call: both a result and an error (code -32603)"], None),
        ("an empty result", What::EmptyResult, &["ok "], None),
        ("a list", What::AnswerWith(json!([1])), &["call: the result of a tool is not an object: [1]"], None),
        ("null", What::AnswerWith(json!(null)), &["call: the result of a tool is not an object: null"], None),
        (
            "an error as text",
            text(r#"{"jsonrpc":"2.0","id":$ID,"error":"broken"}"#),
            &["call: broken (code -32603)"],
            None,
        ),
        (
            "neither",
            text(r#"{"jsonrpc":"2.0","id":$ID}"#),
            &["call: the answer has neither a result nor an error"],
            None,
        ),
        (
            "cut",
            text(r#"{"jsonrpc":"2.0","id":$ID,"result":{"#),
            &["call: unusable answer: not JSON"],
            Some(DefectKind::NotJson),
        ),
        (
            "two ids",
            text(r#"{"id":$ID,"id":$ID,"result":{}}"#),
            &["call: unusable answer: not a JSON-RPC message"],
            Some(DefectKind::NotAMessage),
        ),
        ("no version of JSON-RPC", text(r#"{"id":$ID,"result":{"content":[{"type":"text","text":"hi"}]}}"#), OK, None),
        ("nested deeply", text(&deep), &["ok "], None),
    ];
    for (name, what, expected, defect) in rows {
        for way in [Way::Duplex, Way::Child] {
            check_and(name, way, legacy().fault(CALL.nth(1), what.clone()), expected, async |met| {
                met.side.wait_until("the defect", |heard| heard.defects.len() == usize::from(defect.is_some())).await;
                let tally = met.client().peer().tally();
                assert_eq!(tally.total(), u64::from(defect.is_some()), "{name}: {tally:?}");
                assert!(defect.is_none_or(|kind| tally.of(kind) == 1), "{name}: {tally:?}");
                call_again(met).await;
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_slow_drip_is_waited_for() {
    warm_up().await;
    for way in [Way::Child, Way::Duplex, Way::Socket] {
        let drip = |bytes| What::Drip { bytes, every_ms: 1 };
        let script =
            [PROBE, HANDSHAKE, LIST, CALL].into_iter().fold(legacy(), |script, when| script.fault(when, drip(3)));
        check("a drip of three bytes", way, script, OK).await;
    }
}

/// Every prefix of an answer: the rest comes later, or never.
#[tokio::test]
async fn a_frame_cut_at_every_byte() {
    let answer = r#"{"id":2,"jsonrpc":"2.0","result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"demo","version":"0"}}}}"#;
    let mut lengths = Vec::new();
    for cut in 0..answer.len() * 2 {
        let paused = modern().fault(CALL.after_bytes(cut), What::Pause { ms: 1 });
        check(&format!("the rest after byte {cut} comes later"), Way::Duplex, paused, OK).await;
        let met = Way::Duplex.meet(modern().fault(CALL.after_bytes(cut), What::Close)).await;
        let said = within("a cut frame", journey(&met, &Limits::expecting(&[]))).await;
        match said.as_str() {
            "ok hi" => lengths.push(cut),
            _ => {
                assert_eq!(said, "call: connection closed: the other side closed the stream", "cut at {cut}");
                assert_eq!(met.client().peer().tally().of(DefectKind::NotJson), u64::from(cut > 0), "cut at {cut}");
            }
        }
    }
    let whole = lengths[0];
    assert!(
        whole > 100 && lengths == (whole..answer.len() * 2).collect::<Vec<_>>(),
        "only the whole line is an answer: {lengths:?}"
    );
}

#[tokio::test]
async fn lists_that_never_end_do() {
    let tools =
        |script: Script| (0..5).fold(script, |script, n| script.tool(ToolScript::text(format!("tool-{n}"), "x")));
    let repeated = Way::Duplex.meet(tools(legacy()).page_size(2).fault(LIST, What::RepeatedCursor)).await;
    let list = within("a repeated cursor", repeated.client().list_tools()).await.unwrap();
    assert!(list.defects[0].reason.contains("repeats the cursor"), "{:?}", list.defects);
    assert!(!list.entries.is_empty(), "what was listed counts");
    let missing = Way::Duplex.meet(legacy().fault(LIST, What::EmptyResult)).await;
    let error = within("no list", missing.client().list_tools()).await.unwrap_err().to_string();
    assert_eq!(error, "the answer to `tools/list` has no list `tools`");
}

/// A large answer that is whole, and one that is too large: its caller learns so at once.
#[tokio::test]
async fn large_answers_arrive_or_are_refused_by_name() {
    for way in [Way::Child, Way::Duplex] {
        let met = way.meet(legacy().tool(ToolScript::new("big", Behaviour::Big { bytes: 3 << 20 }))).await;
        let result = within("a large result", met.client().call_tool("big", raw(json!({})))).await.unwrap();
        assert_eq!(result.text().len(), 3 << 20, "{way:?}");
    }
    let answer = format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"content":"{}"}}}}"#, "x".repeat(100 << 20));
    let met = Way::Duplex.meet(legacy().fault(CALL.nth(1), What::AnswerText(answer))).await;
    let error = within("an answer too large", met.client().call_tool("echo", raw(json!({"message": "hi"}))))
        .await
        .unwrap_err()
        .to_string();
    let expected = "unusable answer: too large: a line of 1048";
    assert!(error.starts_with(expected) && error.ends_with("(limit LINE_BYTES_MAX = 67108864)"), "{error}");
    call_again(&met).await;
}
