//! What went wrong when servers of every temper were met with plain rmcp 3.8.0, one test for each finding, passing
//! here. `rmcp_findings` runs the same servers against rmcp and sees each of them fail. The sixth finding, about
//! order, is in `peer`.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use toolgate_testkit::script::{UnknownSession, VERSIONS};
use toolgate_testkit::{Behaviour, Event, Script, ToolScript, What, When};
use toolgate_wire::view::Content;
use toolgate_wire::{Call, ConnectOptions, Endpoint, Era, Error, connect};

use crate::support::{Met, PATIENCE, Side, Way, child_config, expect_gone, is_alive, log_folder, pids, raw, within};

const PROBE: When = When::Method("server/discover");
const CALL: When = When::Method("tools/call");

fn server(versions: &[&str]) -> Script {
    Script::new("demo").versions(versions).tool(ToolScript::echo("echo"))
}

fn legacy() -> Script {
    server(&["2025-11-25"])
}

/// 1: longer than any probe is waited for.
pub(crate) fn slow_to_start(versions: &[&str]) -> Script {
    server(versions).fault(When::Start, What::Pause { ms: 12_000 })
}

/// 2: what servers on older SDKs do when they are asked something they do not know.
pub(crate) fn killed_by_the_probe() -> [(&'static str, Script); 2] {
    [
        ("it exits", legacy().fault(PROBE, What::Exit(1))),
        ("it says nothing any more", legacy().fault(PROBE, What::Stall)),
    ]
}

/// 3: a success that is no answer.
pub(crate) fn answers_anything_with_nothing() -> Script {
    legacy().fault(PROBE, What::EmptyResult)
}

/// 4: what servers in use say about a session they do not know.
pub(crate) fn forgetful(way: UnknownSession) -> Script {
    legacy().http(|http| http.unknown_session = way)
}

/// 5: two answers in one, or none at all.
pub(crate) fn ambiguous() -> Script {
    legacy().fault(CALL, What::ResultAndError)
}

/// 5: a tool that never answers.
pub(crate) fn never_answering() -> Script {
    legacy().tool(ToolScript::new("never", Behaviour::Never))
}

/// 7: one bad tool among good ones, and results with something new in them.
pub(crate) fn with_one_bad_tool() -> Script {
    let hologram = json!({"content": [{"type": "hologram", "depth": 3}, {"type": "text", "text": "and text"}]});
    legacy()
        .tool(ToolScript::raw(json!({"name": "bad", "inputSchema": "none"}), Behaviour::Echo))
        .tool(ToolScript::new("hologram", Behaviour::Reply(hologram)))
        .tool(ToolScript::new("nothing", Behaviour::Reply(json!({}))))
}

/// 7: the same without the bad tool, for what comes after the list.
pub(crate) fn with_new_content() -> Script {
    let mut script = with_one_bad_tool();
    script.tools.retain(|tool| tool.name() != "bad");
    script
}

/// 8: a version that never was.
pub(crate) fn of_no_known_version() -> Script {
    legacy().fault(When::Method("initialize"), What::Version("2019-01-01".to_owned()))
}

/// 9: a server that leaves a process behind, as `npx` and shells do.
pub(crate) fn with_a_grandchild() -> Script {
    legacy().fault(When::Start, What::Grandchild { seconds: 600, holds_stdout: false })
}

/// 13: progress and the answer in one array, as 2025-03-26 allows.
pub(crate) fn answering_in_batches() -> Script {
    server(&["2025-03-26"])
        .tool(ToolScript::new("batched", Behaviour::batch(Behaviour::progress(3, 1, Behaviour::text("together")))))
}

async fn echo(met: &Met) -> String {
    within("a call", met.client().call_tool("echo", raw(json!({"message": "hi"})))).await.unwrap().text()
}

#[tokio::test]
async fn finding_1_a_start_of_twelve_seconds_is_waited_for() {
    let rows = [(slow_to_start(&["2025-11-25"]), Era::Legacy), (slow_to_start(&VERSIONS), Era::Modern)];
    let rows = rows.map(|(script, era)| async move {
        let met = within("a slow start", Way::Child.meet(script)).await;
        assert_eq!((met.client().era(), echo(&met).await.as_str()), (era, "hi"));
        assert_eq!((met.record.count("server/discover"), met.record.count("initialize")), (1, 1));
        met.client().close().await;
    });
    futures_util::future::join_all(rows).await;
}

#[tokio::test]
async fn finding_2_a_server_killed_by_the_probe_is_started_without_it() {
    for (name, script) in killed_by_the_probe() {
        let met = within(name, Way::Child.meet(script)).await;
        assert_eq!((met.client().era(), echo(&met).await.as_str()), (Era::Legacy, "hi"), "{name}");
        assert_eq!((pids(&met.record).len(), met.record.count("server/discover")), (2, 1), "{name}");
        assert!(!is_alive(pids(&met.record)[0]), "{name}: the first process is gone");
    }
}

#[tokio::test]
async fn finding_3_an_empty_answer_to_the_probe_means_an_older_server() {
    for way in [Way::Child, Way::Duplex] {
        let met = within("an empty answer", way.meet(answers_anything_with_nothing())).await;
        assert_eq!((met.client().era(), echo(&met).await.as_str()), (Era::Legacy, "hi"), "{way:?}");
    }
}

#[tokio::test]
async fn finding_4_a_lost_session_is_made_anew() {
    for way in [UnknownSession::NotFound, UnknownSession::BadRequestText, UnknownSession::BadRequestWithoutId] {
        let met = Way::HttpEvents.meet(forgetful(way)).await;
        assert_eq!(echo(&met).await, "hi");
        met.http().restart().await;
        tokio::time::sleep(Duration::from_millis(50)).await; // Until the client has seen its connections go.
        assert_eq!(echo(&met).await, "hi", "{way:?}");
        assert_eq!(met.record.count("initialize"), 2, "{way:?}");
    }
}

#[tokio::test]
async fn finding_5_an_answer_with_a_result_and_an_error_is_an_error() {
    for way in Way::ALL {
        let met = way.meet(ambiguous()).await;
        let error = within("both at once", met.client().call_tool("echo", raw(json!({})))).await.unwrap_err();
        assert_eq!(error.to_string(), "both a result and an error (code -32603)", "{way:?}");
    }
}

#[tokio::test]
async fn finding_5_every_call_ends() {
    let met = Way::Duplex.meet(never_answering()).await;
    tokio::time::pause(); // From here on, waiting costs no time.
    let error = met.client().call_tool("never", raw(json!({}))).await.unwrap_err();
    assert_eq!(error.to_string(), "`tools/call` timed out: no answer or progress within 600s");
}

#[tokio::test]
async fn finding_7_one_bad_entry_hides_nothing_else() {
    for way in [Way::Child, Way::HttpJson] {
        let met = way.meet(with_one_bad_tool()).await;
        let list = met.client().list_tools().await.unwrap();
        assert_eq!(
            list.entries.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
            ["echo", "hologram", "nothing"],
            "{way:?}"
        );
        let defect = &list.defects[0];
        assert_eq!(
            (defect.name.as_deref(), defect.reason.as_str()),
            (Some("bad"), "`inputSchema` is not a schema"),
            "{way:?}"
        );
        let result = met.client().call_tool("hologram", raw(json!({}))).await.unwrap();
        assert_eq!((result.content.len(), result.text().as_str()), (2, "and text"), "{way:?}");
        assert!(matches!(&result.content[0].content, Content::Unknown { kind, .. } if kind == "hologram"), "{way:?}");
        let nothing = met.client().call_tool("nothing", raw(json!({}))).await.unwrap();
        assert_eq!((nothing.content.len(), nothing.is_error), (0, false), "{way:?}");
    }
}

#[tokio::test]
async fn finding_8_an_unknown_version_is_refused() {
    for way in Way::ALL {
        let met = within("an unknown version", way.meet(of_no_known_version())).await;
        assert!(
            matches!(&met.connected, Err(Error::UnknownVersion { offered }) if offered == "2019-01-01"),
            "{way:?}: {:?}",
            met.connected
        );
    }
}

/// How a connection to a process ends.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Closed,
    Dropped,
    /// The process ends first; the client is still there.
    ExitedByItself,
}

#[tokio::test]
async fn finding_9_no_process_outlives_the_connection() {
    let endings = [Ending::Closed, Ending::Dropped, Ending::ExitedByItself];
    let rows = endings.into_iter().flat_map(|ending| [false, true].map(|holds_stdout| (ending, holds_stdout)));
    futures_util::future::join_all(rows.map(|(ending, holds_stdout)| leave_nothing_behind(ending, holds_stdout))).await;
}

async fn leave_nothing_behind(ending: Ending, holds_stdout: bool) {
    let grandchild = What::Grandchild { seconds: 600, holds_stdout };
    let met = Way::Child.meet(legacy().fault(When::Start, grandchild).fault(CALL.nth(2), What::Exit(0))).await;
    assert_eq!(echo(&met).await, "hi");
    let processes = pids(&met.record);
    assert_eq!(processes.len(), 2, "{processes:?}");
    assert!(processes.iter().all(|pid| is_alive(*pid)), "{ending:?}");
    let mut kept = Some(met);
    match ending {
        Ending::Closed => within("closing", kept.as_ref().unwrap().client().close()).await,
        Ending::Dropped => drop(kept.take()),
        Ending::ExitedByItself => {
            let call = kept.as_ref().unwrap().client().call_tool("echo", raw(json!({})));
            let error = within("the end", call).await.unwrap_err();
            assert!(error.is_closed(), "{error}");
        }
    }
    for pid in processes {
        expect_gone(pid).await;
    }
    drop(kept);
}

#[tokio::test]
async fn finding_9_a_process_is_asked_to_end_before_it_is_ended() {
    // What it ignores, and what it therefore hears before it is gone.
    let rows: [(&str, &[What], bool); 3] = [
        ("nothing", &[], false),
        ("the end of its input", &[What::IgnoreEof], false),
        ("everything", &[What::IgnoreEof, What::IgnoreTerm], true),
    ];
    for (name, ignores, is_told) in rows {
        let script = ignores.iter().fold(legacy(), |script, what| script.fault(When::Start, what.clone()));
        let (_folder, log) = log_folder();
        let mut config = child_config(&script, &log);
        config.grace = Duration::from_millis(300);
        let client =
            connect(Endpoint::Child(config), ConnectOptions::new(std::sync::Arc::new(Side::default()))).await.unwrap();
        let handle = client.child().unwrap().clone();
        within(name, client.close()).await;
        expect_gone(handle.pid().unwrap()).await;
        let record = toolgate_testkit::Record::of_log(&log);
        record.wait_for_event(|event| *event == Event::EndOfInput, PATIENCE).await.unwrap();
        assert_eq!(record.events().contains(&Event::Terminated), is_told, "ignores {name}");
        let ended = handle.exit_status().unwrap().to_string();
        let expected = match ignores.len() {
            0 => "exit status: 0",
            1 => "signal: 15 (SIGTERM)",
            _ => "signal: 9 (SIGKILL)",
        };
        assert_eq!(ended, expected, "ignores {name}");
    }
}

/// The signal that ends a child with its parent is tied to the thread that started it; threads come and go while the
/// program runs.
#[tokio::test]
async fn finding_9_a_process_outlives_the_thread_that_started_it() {
    let runtime = tokio::runtime::Handle::current();
    let connecting = std::thread::spawn(move || runtime.block_on(Way::Child.meet(legacy())));
    let met = within("connecting", tokio::task::spawn_blocking(move || connecting.join())).await.unwrap().unwrap();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(echo(&met).await, "hi");
    }
}

/// Tells the process that holds a server from the test that started it.
const HOLDER: &str = "as-the-holder-of-a-server";

#[tokio::test]
async fn finding_9_a_process_does_not_outlive_a_program_that_is_killed() {
    if std::env::args().any(|argument| argument == HOLDER) {
        return hold_a_server().await;
    }
    let this = "findings::finding_9_a_process_does_not_outlive_a_program_that_is_killed";
    let mut program = tokio::process::Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", this, HOLDER, "--nocapture"]).stdout(std::process::Stdio::piped()).kill_on_drop(true);
    let mut program = program.spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let server: u32 = loop {
        let line = within("the program to say which", lines.next_line()).await.unwrap().unwrap();
        if let Some(pid) = line.rsplit_once("server ").and_then(|(_, pid)| pid.parse().ok()) {
            break pid;
        }
    };
    assert!(is_alive(server));
    program.kill().await.unwrap();
    expect_gone(server).await;
}

/// A program that has a server which only a signal ends, and that says which.
#[expect(clippy::print_stdout, reason = "that is how the test that started it learns of it")]
async fn hold_a_server() {
    let met = Way::Child.meet(legacy().fault(When::Start, What::IgnoreEof)).await;
    println!("server {}", met.client().child().and_then(|child| child.pid()).unwrap());
    tokio::time::sleep(2 * PATIENCE).await;
}

#[tokio::test]
async fn finding_13_batches_are_taken_apart() {
    for way in Way::ALL {
        let met = way.meet(answering_in_batches()).await;
        let steps = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = steps.clone();
        let call = Call::tool("batched", &raw(json!({}))).on_progress(move |_| {
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        });
        let result = within("a batch", met.client().finish_tool_call(call)).await.unwrap();
        assert_eq!(
            (result.text().as_str(), steps.load(std::sync::atomic::Ordering::SeqCst)),
            ("together", 3),
            "{way:?}"
        );
    }
}
