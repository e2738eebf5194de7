//! `--debug`: the wire, what servers write to stderr, and why tools are not as they were sent.

use serde_json::json;
use toolgate_testkit::{Behaviour, Script, ToolScript, What, When};

use crate::room::{Room, sample};

#[test]
fn every_frame_is_a_line_on_stderr() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let output = room.run("call echo message=hi --debug");
    assert_eq!(output.stdout.lines().count(), 1, "{}", output.stdout);
    let sent = output.stderr.lines().filter(|line| line.starts_with("one → {")).count();
    let received = output.stderr.lines().filter(|line| line.starts_with("one ← {")).count();
    assert!(sent >= 3 && received >= 3, "{}", output.stderr);
    assert!(output.stderr.contains("\"method\":\"tools/call\""), "{}", output.stderr);
    let quiet = room.run("call echo message=hi");
    assert_eq!(quiet.stderr, "");
}

#[test]
fn what_a_server_writes_to_stderr_and_logs_is_shown() {
    let script = sample("noisy")
        .tool(ToolScript::new(
            "logs",
            Behaviour::log("error", json!("\u{1b}[2Jit went wrong"), Behaviour::text("done")),
        ))
        .fault(When::Start, What::StderrFlood { bytes: 300 });
    let room = Room::new().server("noisy", &script).without_workspace();
    let output = room.run("call logs --debug");
    assert!(output.stderr.contains("noisy stderr: noise on stderr"), "{}", output.stderr);
    assert!(
        output.stderr.lines().any(|line| line.starts_with("noisy") && line.ends_with("error: \\e[2Jit went wrong")),
        "{}",
        output.stderr
    );
    let long = Behaviour::log("error", json!("long ".repeat(100_000)), Behaviour::text("done"));
    let talker = Room::new().server("talker", &Script::new("talker").tool(ToolScript::new("talk", long)));
    let output = talker.without_workspace().run("call talk --debug");
    let line = output.stderr.lines().find(|line| line.starts_with("talker ") && line.contains(" error: ")).unwrap();
    assert!(line.chars().count() < 2100 && line.ends_with('…'), "{line}");
    assert_eq!(room.run("call logs").stderr, "", "off a terminal only the result counts");
}

#[test]
fn why_tools_are_filtered_quarantined_or_renamed() {
    let odd = Script::new("odd")
        .tool(ToolScript::text("hidden", "x"))
        .tool(ToolScript::text("with space", "x"))
        .tool(ToolScript::text("echo", "x"))
        .tool(ToolScript::raw(json!({"name": "broken", "inputSchema": 7}), Behaviour::text("x")));
    let room = Room::new().server("first", &sample("first")).server("odd", &odd).with(
        "odd",
        "excludeTools",
        json!(["hidden"]),
    );
    let room = room.without_workspace();
    let output = room.run("tools --debug --json");
    let said: Vec<&str> = output.stderr.lines().filter(|line| line.starts_with("MCP server odd: ")).collect();
    let file = room.world.home().join(".toolgate/settings.json").display().to_string();
    let hidden = format!("MCP server odd: tool hidden hidden: `hidden` in `excludeTools` hides it ({file}:1)");
    assert_eq!(
        said,
        [
            "MCP server odd: tool broken skipped: `inputSchema` is not a schema",
            &*hidden,
            "MCP server odd: tool with space is called with_space: its own name is too long or has characters that names may not have",
            "MCP server odd: tool echo is called odd__echo: `first` has that name",
        ]
    );
}
