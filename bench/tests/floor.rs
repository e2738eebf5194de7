//! The floor and its stand-in servers do the work they are compared by. Nothing is timed here.

#![expect(clippy::expect_used, reason = "a test that cannot go on is a failed test")]

use std::process::{Command, Output};

use serde_json::{Map, Value, json};

const BENCH: &str = env!("CARGO_BIN_EXE_toolgate-bench");

/// Runs the floor with settings that name these stand-ins.
fn floor(stand_ins: &[(&str, &[&str])], words: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = folder.path().join("servers.json");
    let entry = |options: &[&str]| {
        let args = [&["serve", "stand-in"], options].concat();
        json!({"command": BENCH, "args": args})
    };
    let servers: Map<String, Value> =
        stand_ins.iter().map(|(name, options)| ((*name).to_owned(), entry(options))).collect();
    std::fs::write(&settings, json!({"mcpServers": servers}).to_string()).expect("settings");
    Command::new(BENCH).args(["floor", "--config"]).arg(settings).args(words).output().expect("the floor starts")
}

fn printed(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn every_tool_of_every_server_is_printed() {
    let lines = printed(&floor(&[("one", &[]), ("two", &["--tools", "25", "--page", "10"])], &["tools"]));
    let of = |server: &str| lines.iter().filter(|line| line.starts_with(server)).count();
    assert_eq!((of("one "), of("two "), lines.len()), (10, 25, 35));
    let line = "one tool_9 Gives the message back, as number 9 of those that do.";
    assert!(lines.iter().any(|found| found == line), "{lines:#?}");
}

#[test]
fn tools_are_printed_as_they_came() {
    let lines = printed(&floor(&[("one", &["--tools", "3", "--page", "2"])], &["tools", "--json"]));
    let tools: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line.trim_end_matches(',')).expect("JSON")).collect();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["echo", "tool_1", "tool_2"]);
    assert!(tools.iter().all(|tool| tool["inputSchema"]["required"] == json!(["message"])), "{tools:#?}");
}

#[test]
fn a_call_prints_what_the_tool_said() {
    assert_eq!(printed(&floor(&[("one", &[])], &["call", "hello wörld"])), ["hello wörld"]);
}

#[test]
fn a_run_without_the_program_says_how_to_build_it() {
    let output = Command::new(BENCH).args(["host", "cold", "--toolgate", "nowhere/toolgate"]).output().expect("starts");
    assert!(!output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("nowhere/toolgate") && complaint.contains("cargo build --release"), "{complaint}");
}
