//! The servers of `findings`, met with plain rmcp 3.8.0 as its documentation says: each of them fails here, in
//! bounded time. Should a later rmcp pass, the test says so, and the reason for our own answer can be looked at
//! again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, NotificationContext, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientServiceExt, RoleClient};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;
use toolgate_testkit::script::{UnknownSession, VERSIONS};
use toolgate_testkit::{Record, Script, ScriptedHttp, in_process, scripted_server_path};

use crate::findings;
use crate::support::{PATIENCE, is_alive, log_folder, pids, within};

/// Long enough that whoever has not answered by then never will.
const LONG_ENOUGH: Duration = Duration::from_secs(2);

/// The same for a connection, since rmcp waits ten seconds for the probe, and for a server that starts after twelve.
const LONG_ENOUGH_TO_CONNECT: Duration = Duration::from_secs(13);

/// Counts progress and answers nothing else.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl ClientHandler for Counting {
    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

type Connected = Result<RunningService<RoleClient, Counting>, ClientInitializeError>;

/// Probes for the newest version and falls back, as a host of all eras would ask for it.
fn auto() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// A scripted server as a process, and what rmcp made of it; `None` when it made nothing of it in time.
struct Met {
    connected: Option<Connected>,
    record: Record,
    _folder: TempDir,
}

async fn meet_child(script: &Script) -> Met {
    let (folder, log) = log_folder();
    let mut command = Command::new(scripted_server_path().unwrap());
    command.args(["--script", &script.to_json(), "--log"]).arg(&log);
    let transport = TokioChildProcess::new(command).unwrap();
    let connecting = Counting::default().serve_with_lifecycle(transport, auto());
    let connected = tokio::time::timeout(LONG_ENOUGH_TO_CONNECT, connecting).await.ok();
    Met { connected, record: Record::of_log(&log), _folder: folder }
}

async fn meet_pipe(script: Script) -> (Connected, Record) {
    let (half, record) = in_process::serve(script);
    (within("connecting", Counting::default().serve_with_lifecycle(tokio::io::split(half), auto())).await, record)
}

async fn meet_http(server: &ScriptedHttp) -> Connected {
    // Its HTTP client wants to be able to speak TLS, though nobody does here.
    let _is_there_already = rustls::crypto::ring::default_provider().install_default().is_err();
    let transport = StreamableHttpClientTransport::from_uri(server.url());
    within("connecting", Counting::default().serve_with_lifecycle(transport, auto())).await
}

/// What came of a call; `None` when nothing came.
async fn call(
    client: &RunningService<RoleClient, Counting>,
    tool: &'static str,
) -> Option<Result<String, ServiceError>> {
    let arguments = json!({"message": "hi"}).as_object().cloned().unwrap();
    let call = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments));
    let result = tokio::time::timeout(LONG_ENOUGH, call).await.ok()?;
    Some(result.map(|result| {
        serde_json::to_value(result).unwrap()["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }))
}

#[tokio::test]
async fn finding_1_a_slow_start_fails() {
    let scripts = [findings::slow_to_start(&["2025-11-25"]), findings::slow_to_start(&VERSIONS)];
    let rows = scripts.map(|script| async move {
        let met = meet_child(&script).await;
        // Connecting fails, or the late answer to the probe ends the connection afterwards.
        if let Some(Ok(client)) = met.connected {
            let answer = call(&client, "echo").await;
            assert!(!matches!(answer, Some(Ok(_))), "rmcp now waits for a slow start");
        }
    });
    futures_util::future::join_all(rows).await;
}

#[tokio::test]
async fn finding_2_a_server_killed_by_the_probe_is_lost() {
    let rows = findings::killed_by_the_probe().map(|(name, script)| async move {
        let met = meet_child(&script).await;
        assert!(!matches!(met.connected, Some(Ok(_))), "{name}: rmcp now starts the server again");
        assert_eq!(pids(&met.record).len(), 1, "{name}");
    });
    futures_util::future::join_all(rows).await;
}

#[tokio::test]
async fn finding_3_an_empty_answer_to_the_probe_is_an_error() {
    let (connected, record) = meet_pipe(findings::answers_anything_with_nothing()).await;
    assert!(connected.is_err(), "rmcp now takes an empty answer for an older server");
    assert_eq!(record.count("initialize"), 0, "no fallback");
}

#[tokio::test]
async fn finding_4_a_lost_session_stays_lost() {
    for way in [UnknownSession::BadRequestText, UnknownSession::BadRequestWithoutId] {
        let server = ScriptedHttp::start(findings::forgetful(way)).await.unwrap();
        let client = meet_http(&server).await.unwrap();
        assert!(
            matches!(call(&client, "echo").await, Some(Ok(text)) if text == "hi"),
            "{way:?}: before the restart all is well"
        );
        server.restart().await;
        let answer = call(&client, "echo").await;
        assert!(!matches!(answer, Some(Ok(_))), "{way:?}: rmcp now makes a new session");
        if way == UnknownSession::BadRequestWithoutId {
            assert!(answer.is_none(), "nothing ends this wait: {answer:?}");
        }
    }
}

#[tokio::test]
async fn finding_5_an_answer_with_a_result_and_an_error_is_waited_for() {
    let (connected, record) = meet_pipe(findings::ambiguous()).await;
    let client = connected.unwrap();
    let answer = call(&client, "echo").await;
    assert!(answer.is_none(), "rmcp now understands it: {answer:?}");
    assert_eq!(record.count("tools/call"), 1);
}

#[tokio::test]
async fn finding_5_a_call_without_an_answer_never_ends() {
    let (connected, record) = meet_pipe(findings::never_answering()).await;
    let client = connected.unwrap();
    let calling = client.call_tool(CallToolRequestParams::new("never"));
    let mut calling = std::pin::pin!(calling);
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut calling).await.is_err());
    record.wait_for_method("tools/call", PATIENCE).await.unwrap();
    tokio::time::pause(); // From here on, waiting costs no time.
    let a_day = Duration::from_secs(24 * 3600);
    assert!(tokio::time::timeout(a_day, calling).await.is_err(), "rmcp now ends calls by itself");
}

#[tokio::test]
async fn finding_7_one_bad_entry_hides_everything() {
    let (connected, _) = meet_pipe(findings::with_one_bad_tool()).await;
    let error = connected.unwrap().list_all_tools().await.err().map(|error| error.to_string());
    assert!(error.is_some_and(|error| !error.contains("bad")), "no list, and no word about which entry it was");
    let (connected, _) = meet_pipe(findings::with_new_content()).await;
    let client = connected.unwrap();
    assert_eq!(client.list_all_tools().await.unwrap().len(), 3);
    for tool in ["hologram", "nothing"] {
        let answer = call(&client, tool).await;
        assert!(!matches!(answer, Some(Ok(_))), "rmcp now takes the result of `{tool}`: {answer:?}");
    }
}

#[tokio::test]
async fn finding_8_an_unknown_version_is_accepted() {
    let (connected, _) = meet_pipe(findings::of_no_known_version()).await;
    let client = connected.unwrap();
    let version = client.peer_info().map(|info| info.protocol_version.to_string());
    assert_eq!(version.as_deref(), Some("2019-01-01"));
}

#[tokio::test]
async fn finding_9_a_grandchild_outlives_the_connection() {
    for is_cancelled in [true, false] {
        let met = meet_child(&findings::with_a_grandchild()).await;
        let client = met.connected.unwrap().unwrap();
        let processes = pids(&met.record);
        let (server, grandchild) = (processes[0], processes[1]);
        if is_cancelled {
            within("the end", client.cancel()).await.unwrap();
        } else {
            drop(client);
        }
        let gone = async {
            while is_alive(server) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        within("the server to end", gone).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let is_left = is_alive(grandchild);
        // Nobody else will end it.
        let _ended = std::process::Command::new("kill").arg(grandchild.to_string()).status().unwrap();
        assert!(is_left, "rmcp now ends what the server started");
    }
}

#[tokio::test]
async fn finding_13_batches_are_lost() {
    let (connected, record) = meet_pipe(findings::answering_in_batches()).await;
    let client = connected.unwrap();
    let answer = call(&client, "batched").await;
    assert!(!matches!(answer, Some(Ok(_))), "rmcp now takes batches apart");
    assert_eq!(client.service().0.load(Ordering::SeqCst), 0);
    assert_eq!(record.count("tools/call"), 1);
}
