//! Their clients, our server: each asks everything once and reports what it was told; the reports are compared by content.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::{Child, Command};
use toolgate_wire::Version;

use crate::partners::{Partner, listening_at, node, python};

/// How a partner client reaches our server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum By {
    Stdio,
    Http,
    Sse,
}

/// A partner client: the program, which version it insists on if it can be told, and what it settles on.
#[derive(Debug, Clone, Copy)]
struct Asking {
    partner: Partner,
    era: Option<&'static str>,
    version: Version,
    cancels: bool,
}

const fn asking(partner: Partner, version: Version) -> Asking {
    Asking { partner, era: None, version, cancels: true }
}

const fn in_era(partner: Partner, era: &'static str, version: Version) -> Asking {
    Asking { partner, era: Some(era), version, cancels: true }
}

/// Our server as a program. It is an example of this crate, so that it is built with the tests and shipped with nothing; a run that names
/// single targets (`--test interop`) does not build it again.
pub(crate) fn partner_server() -> PathBuf {
    let test = std::env::current_exe().expect("this test is a file");
    let built = test.parent().and_then(|deps| deps.parent()).expect("tests are built below the target folder");
    let program = built.join("examples/partner_server");
    let remedy = "build it with `cargo build -p toolgate-wire --example partner_server`, or run the tests without naming single targets";
    assert!(program.exists(), "{} is missing; {remedy}", program.display());
    program
}

/// Our server, about to be asked.
pub(crate) struct OurServer {
    /// How to reach it, in the words of the partner clients.
    pub(crate) target: Vec<String>,
    /// What it noted about cancelled calls.
    pub(crate) log: PathBuf,
    _listening: Option<Child>,
    _folder: tempfile::TempDir,
}

impl OurServer {
    pub(crate) async fn start(by: By) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the log");
        let log = folder.path().join("log");
        let program = partner_server();
        let how = match by {
            By::Stdio => {
                let target = vec!["stdio".to_owned(), program.display().to_string(), "stdio".to_owned()];
                return Self { target, log, _listening: None, _folder: folder };
            }
            By::Http => "http",
            By::Sse => "sse",
        };
        let mut command = Command::new(program);
        command.args([how, "0"]).env("PARTNER_LOG", &log).env("PARTNER_SLOW_SECONDS", SLOW_SECONDS);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("our server starts");
        let target = vec![how.to_owned(), listening_at(&mut child).await];
        Self { target, log, _listening: Some(child), _folder: folder }
    }

    /// What it has noted.
    pub(crate) fn noted(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// Longer than a client waits for the trace of its cancellation, so that a call that merely ended is no trace.
pub(crate) const SLOW_SECONDS: &str = "40";

/// Longer than a client gives itself.
const INTERVIEW_MAX: Duration = Duration::from_secs(150);

async fn check(asking: Asking, by: By) {
    let server = OurServer::start(by).await;
    let (program, script) = asking.partner.command();
    let mut command = Command::new(program);
    command.arg(script);
    if let Some(era) = asking.era {
        command.args(["--era", era]);
    }
    command.args(&server.target).env("PARTNER_LOG", &server.log).env("PARTNER_AWAIT_LOG", &server.log);
    command.env("PARTNER_SLOW_SECONDS", SLOW_SECONDS).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(INTERVIEW_MAX, command.output())
        .await
        .expect("the client ends")
        .expect("the client starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the client failed:\n{errors}");
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("no report: {error}\n{errors}"));
    assert_eq!(report, expected(asking), "{errors}");
    let noted = if asking.cancels { "cancelled slow\n" } else { "" };
    assert_eq!(server.noted(), noted, "one call was cancelled, and no other");
}

/// What a client has to report that was told everything its version knows.
fn expected(asking: Asking) -> Value {
    let version = asking.version;
    let mut tools = vec!["echo", "add", "count", "slow"];
    if version.has_elicitation() {
        tools.push("ask");
    }
    json!({
        "protocolVersion": version.as_str(),
        "serverInfo": {"name": "partner", "version": "1.0.0"},
        "instructions": "partner instructions",
        "tools": tools,
        "echo": "hello wörld ✓",
        "add": "5",
        "structured": if version.has_structured_output() { json!({"sum": 5}) } else { Value::Null },
        "progress": [1, 2, 3],
        "cancelled": if asking.cancels { json!(true) } else { json!("unsupported") },
        "ask": if version.has_elicitation() { "hello Ada" } else { "unsupported" },
        "prompt": "Please greet Ada.",
        "resource": "first note",
    })
}

const V1_PYTHON: &str = "python/client_v1.py";

/// It cannot cancel anything.
const PYTHON_1_2_1: Asking =
    Asking { cancels: false, ..asking(python("python/mcp-1.2.1/bin/python", V1_PYTHON), Version::V2024_11_05) };
const PYTHON_1_9_4: Asking = asking(python("python/mcp-1.9.4/bin/python", V1_PYTHON), Version::V2025_03_26);
const PYTHON_1_12_4: Asking = asking(python("python/mcp-1.12.4/bin/python", V1_PYTHON), Version::V2025_06_18);
const PYTHON_1_26_0: Asking = asking(python("python/mcp-1.26.0/bin/python", V1_PYTHON), Version::V2025_11_25);

const PYTHON_2: Partner = python("python/mcp-2.3.0/bin/python", "python/client_v2.py");
const PYTHON_2_LEGACY: Asking = in_era(PYTHON_2, "legacy", Version::V2025_11_25);
const PYTHON_2_AUTO: Asking = in_era(PYTHON_2, "auto", Version::V2026_07_28);

const FASTMCP: Partner = python("python/fastmcp-4.1.2/bin/python", "python/fastmcp_client.py");
const FASTMCP_LEGACY: Asking = in_era(FASTMCP, "legacy", Version::V2025_11_25);
const FASTMCP_AUTO: Asking = in_era(FASTMCP, "auto", Version::V2026_07_28);

const TYPESCRIPT_1: Asking = asking(node("node/client_v1.mjs"), Version::V2025_11_25);
const TYPESCRIPT_2_LEGACY: Asking = in_era(node("node/client_v2.mjs"), "legacy", Version::V2025_11_25);
const TYPESCRIPT_2_AUTO: Asking = in_era(node("node/client_v2.mjs"), "auto", Version::V2026_07_28);
const TYPESCRIPT_2_MODERN: Asking = in_era(node("node/client_v2.mjs"), "pin", Version::V2026_07_28);

/// One test for each partner and transport.
macro_rules! clients {
    ($($name:ident: $asking:expr, $by:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            check($asking, By::$by).await;
        }
    )*};
}

clients! {
    python_1_2_1_stdio: PYTHON_1_2_1, Stdio;
    python_1_2_1_sse: PYTHON_1_2_1, Sse;
    python_1_9_4_stdio: PYTHON_1_9_4, Stdio;
    python_1_9_4_http: PYTHON_1_9_4, Http;
    python_1_9_4_sse: PYTHON_1_9_4, Sse;
    python_1_12_4_stdio: PYTHON_1_12_4, Stdio;
    python_1_12_4_http: PYTHON_1_12_4, Http;
    python_1_12_4_sse: PYTHON_1_12_4, Sse;
    python_1_26_0_stdio: PYTHON_1_26_0, Stdio;
    python_1_26_0_http: PYTHON_1_26_0, Http;
    python_1_26_0_sse: PYTHON_1_26_0, Sse;
    python_2_legacy_stdio: PYTHON_2_LEGACY, Stdio;
    python_2_legacy_http: PYTHON_2_LEGACY, Http;
    python_2_legacy_sse: PYTHON_2_LEGACY, Sse;
    python_2_auto_stdio: PYTHON_2_AUTO, Stdio;
    python_2_auto_http: PYTHON_2_AUTO, Http;
    fastmcp_4_legacy_stdio: FASTMCP_LEGACY, Stdio;
    fastmcp_4_legacy_http: FASTMCP_LEGACY, Http;
    fastmcp_4_legacy_sse: FASTMCP_LEGACY, Sse;
    fastmcp_4_auto_stdio: FASTMCP_AUTO, Stdio;
    fastmcp_4_auto_http: FASTMCP_AUTO, Http;
    typescript_1_stdio: TYPESCRIPT_1, Stdio;
    typescript_1_http: TYPESCRIPT_1, Http;
    typescript_1_sse: TYPESCRIPT_1, Sse;
    typescript_2_legacy_stdio: TYPESCRIPT_2_LEGACY, Stdio;
    typescript_2_legacy_http: TYPESCRIPT_2_LEGACY, Http;
    typescript_2_legacy_sse: TYPESCRIPT_2_LEGACY, Sse;
    typescript_2_auto_stdio: TYPESCRIPT_2_AUTO, Stdio;
    typescript_2_auto_http: TYPESCRIPT_2_AUTO, Http;
    typescript_2_modern_stdio: TYPESCRIPT_2_MODERN, Stdio;
    typescript_2_modern_http: TYPESCRIPT_2_MODERN, Http;
}
