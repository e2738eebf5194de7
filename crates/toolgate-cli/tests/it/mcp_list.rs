//! `toolgate mcp list`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolgate_testkit::snapshot::assert_snapshot;
use toolgate_testkit::{ScriptedHttp, What, When};

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
        🔴 absent - Disconnected  /nonexistent/program (stdio)
        🔴 closed - Login needed (OAuth not authenticated)  http://[CLOSED]/mcp (http)
        🔴 down - Disconnected  http://127.0.0.1:1/mcp (http)
        🟢 good - Ready (3 tools, 1 prompt, 1 resource)  [WORLD]/server --script ../good.json --log ../good.log (stdio)
          Tools:
          - echo
          - add
          - fail
          Prompts:
          - greet
          Resources:
          - docs://start (docs://start)
        🟢 workspace - Ready (7 tools)  workspace (builtin)
          Tools:
          - read_file
          - list_directory
          - glob
          - search_file_content
          - write_file
          - replace
          - run_shell_command
        --- stderr
        error: MCP server absent: could not be started: cannot start `/nonexistent/program`: No such file or directory (os error 2)
        hint: check `command` and `cwd` of `absent` in [HOME]/.toolgate/settings.json:1
        error: MCP server closed (http://[CLOSED]/mcp) needs a login; run `toolgate mcp auth closed`
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
        "why",
        "decidedIn",
        "since",
        "nextAttempt",
        "transport",
        "target",
        "protocolVersion",
        "serverInfo",
        "tools",
        "prompts",
        "resources",
        "hidden",
        "source",
        "origin",
        "extension",
        "replaces",
        "error",
        "stderr",
    ];
    expected.sort_unstable();
    for one in servers {
        let mut found = keys(one);
        found.sort_unstable();
        assert_eq!(found, expected, "{one}");
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
    assert!(good["since"].as_str().unwrap().ends_with('Z') && good["nextAttempt"].is_null(), "{good}");
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

#[test]
fn nothing_is_started_when_nobody_wants_it() {
    let room = Room::new().server("good", &sample("good")).setting("mcp", json!({"excluded": ["hidden"]}));
    let room = room.entry("hidden", json!({"command": "x", "args": ["--token", "sesame"]})).entry("empty", json!({}));
    room.world.write_in_home(".toolgate/mcp-server-enablement.json", "{\"good\": {\"enabled\": false}}").unwrap();
    room.check(
        "mcp list --no-connect",
        "
        --- stdout
        ⚪ workspace - Not started  workspace (builtin)
        🔴 empty - Disconnected
          [HOME]/.toolgate/settings.json:1: mcpServers.empty: set `url` or `command`
        ⏸️ good - Disabled  [WORLD]/server --script ../good.json --log ../good.log (stdio)
          disabled in [HOME]/.toolgate/mcp-server-enablement.json
        🔴 hidden - Blocked (excluded)  x --token **** (stdio)
          in `mcp.excluded` of [HOME]/.toolgate/settings.json:1
        --- stderr
        error: [HOME]/.toolgate/settings.json:1:46: mcpServers.empty: set `url` or `command`
        hint: `command` starts a program, `url` names a remote server
        --- exit 0
        ",
    );
    assert!(!room.log("good").exists(), "the server was not started");
    let listed = room.json("mcp list --no-connect --json");
    let brief = |one: &Value| json!([one["name"], one["status"], one["reason"], one["origin"]["line"]]);
    let brief: Vec<Value> = listed["servers"].as_array().unwrap().iter().map(brief).collect();
    let expected = json!([
        ["workspace", "disconnected", null, null],
        ["empty", "failed", "settings", 1],
        ["good", "disabled", "disabled", 1],
        ["hidden", "blocked", "excluded", 1]
    ]);
    assert_eq!(Value::Array(brief), expected);
}

#[test]
fn every_server_says_where_it_comes_from_and_what_it_replaced() {
    let room = Room::new().entry("a", json!({"command": "user"}));
    let system = room.world.root().join("system");
    std::fs::create_dir_all(&system).unwrap();
    let defaults = "{\"mcpServers\": {\n\"a\": {\"command\": \"default\"},\n\"b\": {\"command\": \"default\"}}}";
    std::fs::write(system.join("system-defaults.json"), defaults).unwrap();
    let listed = room.json("mcp list --no-connect --json");
    let brief =
        |one: &Value| json!([one["name"], one["target"], one["source"], one["origin"]["line"], one["replaces"]]);
    let brief: Vec<Value> = listed["servers"].as_array().unwrap().iter().map(brief).collect();
    let file = system.join("system-defaults.json");
    let expected = json!([
        ["a", "user", "user", 1, [{"source": "system-defaults", "file": file, "line": 2}]],
        ["b", "default", "system-defaults", 3, []],
        ["workspace", "workspace", "built-in", null, []]
    ]);
    assert_eq!(Value::Array(brief), expected);
    assert_eq!(listed["folder"]["trust"], json!("trusted"));
}

#[test]
fn one_broken_file_does_not_hide_the_others() {
    let room = Room::new();
    room.world.write_in_home(".toolgate/settings.json", "{\n  \"mcpServers\": oops\n}").unwrap();
    let system = room.world.root().join("system");
    std::fs::create_dir_all(&system).unwrap();
    std::fs::write(system.join("settings.json"), "{\"mcpServers\": {\"kept\": {\"command\": \"c\"}}}").unwrap();
    let output = room.run("mcp list --no-connect");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stdout.contains("kept"), "{}", output.stdout);
    assert!(output.stderr.contains("settings.json:2:17"), "{}", output.stderr);
    let listed = room.json("mcp list --no-connect --json");
    assert_eq!(listed["error"]["kind"], json!("settings"));
    assert_eq!(listed["broken"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["servers"][0]["name"], json!("kept"));
    assert_eq!(room.run("tools kept").code(), Some(2), "whatever uses servers ends there");
}

#[test]
fn what_a_server_wrote_before_it_failed_is_listed() {
    let many = "printf 'line %s\\n' 1 2 3 4 5 6 7 >&2; exit 3";
    let room = Room::new()
        .entry("many", json!({"command": "sh", "args": ["-c", many]}))
        .entry("once", json!({"command": "sh", "args": ["-c", "echo no database >&2; exit 3"]}))
        .server("good", &sample("good").fault(When::Start, What::StderrFlood { bytes: 200 }))
        .without_workspace();
    let tail: Vec<String> = (3..=7).map(|number| format!("line {number}")).collect();
    let shown: String = tail.iter().map(|line| format!("  stderr: {line}\n")).collect();
    let in_session = room.command([]).input("/mcp list\n").run().unwrap();
    for output in [room.run("mcp list"), in_session] {
        let said = &output.stderr;
        assert!(said.contains(&shown) && !said.contains("line 2\n"), "{}", output.transcript());
        assert_eq!(said.matches("no database").count(), 1, "once is enough: {}", output.transcript());
        assert!(!said.contains("noise"), "{}", output.transcript());
    }
    let listed = room.json("mcp list --json");
    let stderr = |one: &Value| (one["name"].as_str().unwrap().to_owned(), one["stderr"].clone());
    let stderr: BTreeMap<String, Value> = listed["servers"].as_array().unwrap().iter().map(stderr).collect();
    let expected = [("many", json!(tail.join("\n"))), ("once", json!("no database")), ("good", Value::Null)];
    for (server, expected) in expected {
        assert_eq!(stderr[server], expected, "{listed}");
    }
}
