//! `run_shell_command`: whatever happens to a call, nothing that it started stays.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_wire::Call;

use crate::room::{Room, has, soon, until};

/// Starts a child and a grandchild that would stay for long, and writes down who they are.
const STAYS: &str =
    "sleep 1000 & echo $! > child; (sleep 1000 & echo $! > grandchild; wait) & echo ready; echo $$ > shell; wait";

/// The processes that were written down, once all of them are.
async fn started(ws: &Path) -> Vec<u32> {
    let read = |name: &str| std::fs::read_to_string(ws.join(name)).ok()?.trim().parse::<u32>().ok();
    let mut found = Vec::new();
    until(|| {
        found = ["child", "grandchild", "shell"].into_iter().filter_map(read).collect();
        found.len() == 3
    })
    .await;
    found
}

/// Whether a process runs; one that only waits to be collected does not.
fn is_running(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

async fn are_gone(pids: &[u32]) {
    until(|| pids.iter().all(|pid| !is_running(*pid))).await;
}

#[tokio::test]
async fn a_time_limit_ends_grandchildren_too_and_keeps_the_output() {
    let room = Room::with(&[]).await;
    let told = room.call("run_shell_command", json!({"command": STAYS, "timeout": 3000})).await;
    assert!(told.is_error());
    has(&told.text(), &["ready\n", "timed out after 3000 ms", "600000"]);
    assert_eq!((&told.data()["timed_out"], &told.data()["stdout"]), (&json!(true), &json!("ready\n")));
    are_gone(&started(&room.ws()).await).await;
}

#[tokio::test]
async fn a_call_that_is_given_up_ends_the_whole_group() {
    let room = Room::with(&[]).await;
    let params = json!({"name": "run_shell_command", "arguments": {"command": STAYS}});
    let ws = room.ws();
    let pids = {
        let call = room.client.request(Call::new("tools/call", Some(params.into())));
        tokio::select! {
            result = call => panic!("it should still run: {result:?}"),
            pids = started(&ws) => pids,
        }
    };
    assert_eq!(pids.len(), 3);
    are_gone(&pids).await;
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_whole_group() {
    let room = Room::with(&[]).await;
    let params = json!({"name": "run_shell_command", "arguments": {"command": STAYS}});
    let client = room.client.clone();
    let call = tokio::spawn(async move { client.request(Call::new("tools/call", Some(params.into()))).await });
    let pids = started(&room.ws()).await;
    soon(room.client.peer().close()).await;
    assert!(soon(call).await.unwrap().is_err());
    are_gone(&pids).await;
}

#[tokio::test]
async fn what_is_left_in_the_background_ends_with_the_shell() {
    let room = Room::with(&[]).await;
    let command = "sleep 1000 & echo $! > child; (sleep 1000 & echo $! > grandchild); echo $$ > shell; echo done";
    let before = Instant::now();
    let told = room.call("run_shell_command", json!({"command": command})).await;
    assert_eq!((told.text().as_str(), told.is_error()), ("done\n", false));
    assert!(before.elapsed() < Duration::from_secs(100), "it did not wait for the background");
    are_gone(&started(&room.ws()).await).await;
}

#[tokio::test]
async fn a_process_that_left_the_group_does_not_hold_up_the_answer() {
    let room = Room::with(&[]).await;
    let command =
        "setsid sh -c 'echo $$ > escaped; exec sleep 1000' & while ! [ -s escaped ]; do sleep 0.05; done; echo done";
    let told = room.call("run_shell_command", json!({"command": command})).await;
    assert_eq!(told.text(), "done\n");
    let pid: u32 = room.content("escaped").trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn many_commands_wait_for_their_turn() {
    let room = Room::with(&[]).await;
    let calls = (0..40).map(|number| room.text("run_shell_command", json!({"command": format!("echo {number}")})));
    let texts = futures_util::future::join_all(calls).await;
    assert_eq!(texts, (0..40).map(|number| format!("{number}\n")).collect::<Vec<_>>());
}
