//! `toolgate mcp list`.

use serde_json::{Value, json};
use toolgate_testkit::ScriptedHttp;
use toolgate_testkit::snapshot::assert_snapshot;

use crate::room::{Room, closed, sample};

/// One server of every fate.
async fn mixed() -> (Room, ScriptedHttp) {
    let closed = ScriptedHttp::start(closed()).await.unwrap();
    let room = Room::new()
        .server("good", &sample("good"))
        .entry("down", json!({"url": "http://127.0.0.1:1/mcp", "type": "http"}))
        .entry("absent", json!({"command": "/nonexistent/program"}))
        .entry("closed", json!({"url": closed.url(), "type": "http"}));
    (room, closed)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fate_is_shown() {
    let (room, closed) = mixed().await;
    let shown = room.run("mcp list").transcript().replace(&closed.address().to_string(), "[CLOSED]");
    assert_snapshot(
        &shown,
        "
        --- stdout
           SERVER     STATUS       OFFERS                         TARGET
        ✗  absent     failed                                      /nonexistent/program (stdio)
        ✗  closed     needs_login                                 http://[CLOSED]/mcp (http)
        ✗  down       failed                                      http://127.0.0.1:1/mcp (http)
        ✓  good       connected    3 tools, 1 prompt, 1 resource  [WORLD]/server --script ../good.json --log ../good.log (stdio)
        ✓  workspace  connected    7 tools                        workspace (builtin)
        --- stderr
        error: MCP server absent: could not be started: cannot start `/nonexistent/program`: No such file or directory (os error 2)
        hint: check `command` and `cwd` of `absent` in [HOME]/.toolgate/settings.json:1
        error: MCP server closed needs a login; run `toolgate mcp auth closed`
        error: MCP server down: discovery failed: connect to http://127.0.0.1:1/mcp: tcp connect error: Connection refused (os error 111)
        hint: Cannot connect to 'down': server may be down or URL incorrect
        --- exit 0
        ",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_for_programs() {
    let (room, _closed) = mixed().await;
    let listed = room.json("mcp list --json");
    let servers = listed["servers"].as_array().unwrap();
    let keys = |one: &Value| one.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut expected = [
        "name",
        "status",
        "reason",
        "transport",
        "target",
        "protocolVersion",
        "serverInfo",
        "tools",
        "prompts",
        "resources",
        "source",
        "error",
    ];
    expected.sort_unstable();
    for one in servers {
        assert_eq!(keys(one), expected, "{one}");
    }
    let brief: Vec<Value> = servers
        .iter()
        .map(|one| json!([one["name"], one["status"], one["reason"], one["transport"], one["tools"], one["source"]]))
        .collect();
    assert_eq!(
        Value::Array(brief),
        json!([
            ["absent", "failed", "spawn", "stdio", 0, "user"],
            ["closed", "needs_login", "login_needed", "http", 0, "user"],
            ["down", "failed", "connect", "http", 0, "user"],
            ["good", "connected", null, "stdio", 3, "user"],
            ["workspace", "connected", null, "builtin", 7, "built-in"]
        ])
    );
    let told = servers[1]["error"].as_str().unwrap();
    assert!(told.ends_with("; run `toolgate mcp auth closed`"), "what to do next is part of it: {told}");
    let good = &servers[3];
    assert_eq!(good["serverInfo"]["name"], json!("good"));
    assert_eq!(good["protocolVersion"], json!("2025-11-25"));
    assert_eq!((&good["prompts"], &good["resources"]), (&json!(1), &json!(1)));
}

#[test]
fn tables_fit_the_terminal() {
    let room = Room::new()
        .entry("工具服务器", json!({"command": "/nonexistent/一个很长的程序名称/with/a/long/path/to/somewhere"}));
    for columns in [30_usize, 60, 100] {
        let output = room.command(["mcp", "list"]).env("COLUMNS", columns.to_string()).run().unwrap();
        assert_eq!(output.code(), Some(0));
        for line in output.stdout.lines() {
            // Chinese characters take two columns each.
            let width: usize = line.chars().map(|letter| if letter > '\u{2fff}' { 2 } else { 1 }).sum();
            assert!(width <= columns, "{width} columns instead of {columns}: {line}");
        }
    }
}
