//! The `scripted-server` program: a real process with real pipes, its log, and the faults only a process can have.

use serde_json::json;
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use toolgate_testkit::{Event, Record, Script, ToolScript, What, When, scripted_server_path};

use crate::support::{PATIENCE, RawClient, call, initialize_params, text};

struct Process {
    child: Child,
    client: RawClient<ChildStdout, ChildStdin>,
    record: Record,
    log: PathBuf,
    _folder: TempDir,
}

fn spawn_at(script: &Script, folder: TempDir) -> Process {
    let log = folder.path().join("log");
    let mut child = Command::new(scripted_server_path().unwrap())
        .arg("--script")
        .arg(script.to_json())
        .arg("--log")
        .arg(&log)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let client = RawClient::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    Process { child, client, record: Record::of_log(&log), log, _folder: folder }
}

fn spawn(script: &Script) -> Process {
    spawn_at(script, TempDir::new().unwrap())
}

impl Process {
    async fn exit_code(&mut self) -> Option<i32> {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("the process does not end").unwrap().code()
    }
}

fn echo_server() -> Script {
    Script::new("demo").tool(ToolScript::echo("echo"))
}

#[tokio::test]
async fn a_process_serves_logs_and_ends_with_its_input() {
    let mut process = spawn(&echo_server());
    process.client.request("initialize", initialize_params("2025-11-25")).await;
    let answer = process.client.request("tools/call", call("echo", json!({"message": "hi"}))).await;
    assert_eq!(text(&answer), "hi");
    process.record.wait_for_method("tools/call", PATIENCE).await.unwrap();
    drop(process.client);
    let ended = tokio::time::timeout(PATIENCE, process.child.wait()).await;
    assert!(ended.unwrap().unwrap().success());
    assert!(process.record.events().contains(&Event::EndOfInput));
    assert!(process.log.is_file());
}

#[tokio::test]
async fn a_script_can_be_a_file_and_a_bad_one_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("script.json");
    std::fs::write(&file, echo_server().to_json()).unwrap();
    let run = |script: String| {
        let mut command = Command::new(scripted_server_path().unwrap());
        command.args(["--script", &script]).stdin(Stdio::null());
        async move { command.output().await.unwrap() }
    };
    assert!(run(file.display().to_string()).await.status.success());
    let refused = run("{\"nothing\": 1}".to_owned()).await;
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("this is not a script"));
}

#[tokio::test]
async fn exit_codes_and_lives() {
    let script = echo_server().fault(When::Method("ping").in_life(1), What::Exit(7));
    let mut first = spawn(&script);
    first.client.ask("ping", json!({})).await;
    assert_eq!(first.exit_code().await, Some(7));
    let mut second = spawn_at(&script, first._folder);
    assert_eq!(second.client.request("ping", json!({})).await["result"], json!({}));
    let lives: Vec<Event> = second.record.events();
    assert!(lives.iter().any(|event| matches!(event, Event::Started { life: 2, .. })), "{lives:?}");
}

#[tokio::test]
async fn stdout_can_be_closed_while_the_process_lives_on() {
    let mut process = spawn(&echo_server().fault(When::Method("ping"), What::Close));
    process.client.ask("ping", json!({})).await;
    assert_eq!(process.client.line().await, b"");
    process.client.ask("tools/list", json!({})).await;
    process.record.wait_for_method("tools/list", PATIENCE).await.unwrap();
    assert!(process.child.try_wait().unwrap().is_none());
}

#[tokio::test]
async fn a_stubborn_process_survives_its_input_and_sigterm() {
    let script = echo_server().fault(When::Start, What::IgnoreEof).fault(When::Start, What::IgnoreTerm);
    let mut process = spawn(&script);
    process.client.request("ping", json!({})).await;
    drop(process.client);
    process.record.wait_for_event(|event| *event == Event::EndOfInput, PATIENCE).await.unwrap();
    let pid = process.child.id().unwrap().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().await.unwrap();
    process.record.wait_for_event(|event| *event == Event::Terminated, PATIENCE).await.unwrap();
    assert!(process.child.try_wait().unwrap().is_none());
    process.child.kill().await.unwrap();
}

#[tokio::test]
async fn a_grandchild_outlives_the_process() {
    let grandchild = What::Grandchild { seconds: 300, holds_stdout: false };
    let mut process = spawn(&echo_server().fault(When::Start, grandchild));
    process.client.request("ping", json!({})).await;
    let is_it = |event: &Event| matches!(event, Event::Grandchild { .. });
    let Event::Grandchild { pid } = process.record.wait_for_event(is_it, PATIENCE).await.unwrap() else {
        panic!("another event");
    };
    process.child.kill().await.unwrap();
    let alive = Command::new("kill").args(["-0", &pid.to_string()]).status().await.unwrap();
    assert!(alive.success());
    Command::new("kill").args(["-KILL", &pid.to_string()]).status().await.unwrap();
}

#[tokio::test]
async fn stderr_is_flooded_and_stdout_goes_on() {
    let flood = What::StderrFlood { bytes: 1_000_000 };
    let mut process = spawn(&echo_server().fault(When::Method("ping"), flood.clone()));
    let mut stderr = process.child.stderr.take().unwrap();
    let reading = tokio::spawn(async move {
        let mut noise = Vec::new();
        stderr.read_to_end(&mut noise).await.unwrap();
        noise.len()
    });
    process.client.ask("ping", json!({})).await;
    drop(process.client);
    let ended = tokio::time::timeout(PATIENCE, process.child.wait()).await;
    assert!(ended.unwrap().unwrap().success());
    assert_eq!(reading.await.unwrap(), 1_000_000);
}

#[tokio::test]
async fn a_hundred_megabytes_without_a_newline_are_streamed() {
    let bytes = 100 * 1024 * 1024;
    let mut process = spawn(&echo_server().fault(When::Method("ping"), What::LongLine { bytes }));
    process.client.ask("ping", json!({})).await;
    assert_eq!(process.client.count_filler(bytes).await, bytes);
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.child.id().unwrap())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kb: u64 = peak.trim().trim_end_matches("kB").trim().parse().unwrap();
    assert!(peak_kb < 64 * 1024, "the server held {peak_kb} kB");
}
