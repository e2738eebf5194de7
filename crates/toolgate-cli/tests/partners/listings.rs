//! What the program lists: every server connected, every tool once, and names that two servers wanted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::room::{Room, SERVERS};

/// Who each server says it is, and how many tools, prompts and resources it has.
///
/// `everything` has one tool more than for a client that knows no roots.
fn expected_servers() -> Value {
    json!([
        ["time", "stdio", "mcp-time", 2, 0, 0],
        ["git", "stdio", "mcp-git", 12, 0, 0],
        ["files", "stdio", "secure-filesystem-server", 14, 0, 0],
        ["memory", "stdio", "memory-server", 9, 0, 1],
        ["fastmcp", "stdio", "partner", 5, 1, 1],
        ["everything", "stdio", "mcp-servers/everything", 14, 4, 7],
        ["workspace", "builtin", "toolgate-workspace", 7, 0, 0],
    ])
}

/// Names that more than one server wants: who keeps it, and what the others are called.
const COLLISIONS: [(&str, &str, &str, &str); 4] = [
    ("echo", "fastmcp", "everything__echo", "everything"),
    ("read_file", "files", "workspace__read_file", "workspace"),
    ("write_file", "files", "workspace__write_file", "workspace"),
    ("list_directory", "files", "workspace__list_directory", "workspace"),
];

fn list<'a>(listing: &'a Value, key: &str) -> &'a Vec<Value> {
    listing[key].as_array().unwrap_or_else(|| panic!("`{key}` is no list: {listing:#}"))
}

#[test]
fn every_server_is_connected_and_says_who_it_is() {
    let room = Room::with_every_partner();
    let listing = room.json(&["mcp", "list"]);
    let servers = list(&listing, "servers");
    let found: Vec<Value> = servers
        .iter()
        .map(|server| {
            let about = [&server["name"], &server["transport"], &server["serverInfo"]["name"]];
            json!([about[0], about[1], about[2], server["tools"], server["prompts"], server["resources"]])
        })
        .collect();
    assert_eq!(Value::from(found), expected_servers(), "{listing:#}");
    for server in servers {
        assert_eq!(server["status"], "connected", "{server:#}");
        assert_eq!((&server["reason"], &server["error"]), (&Value::Null, &Value::Null), "{server:#}");
        assert!(server["serverInfo"]["version"].is_string(), "{server:#}");
        assert!(server["protocolVersion"].as_str().is_some_and(|version| version.starts_with("20")), "{server:#}");
    }
    // Those that know the newest version are spoken to in it.
    let version = |name: &str| &servers.iter().find(|server| server["name"] == name).expect(name)["protocolVersion"];
    for (name, expected) in [("time", "2026-07-28"), ("fastmcp", "2026-07-28"), ("everything", "2025-11-25")] {
        assert_eq!(version(name), expected, "{name}");
    }
}

#[test]
fn every_tool_has_a_name_of_its_own() {
    let room = Room::with_every_partner();
    let listing = room.json(&["tools"]);
    let tools = list(&listing, "tools");
    assert_eq!(listing["quarantined"], json!([]), "nothing of these servers is unusable");
    let names: BTreeSet<&str> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    assert_eq!(names.len(), tools.len(), "two tools share a name: {listing:#}");
    for expected in expected_servers().as_array().expect("a list") {
        let of_server = tools.iter().filter(|tool| tool["server"] == expected[0]).count();
        assert_eq!(json!(of_server), expected[3], "tools of {}", expected[0]);
    }
    let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    let mut renamed = 0;
    for (name, kept_by, new_name, server) in COLLISIONS {
        assert_eq!((&find(name)["server"], &find(name)["tool"]), (&json!(kept_by), &json!(name)));
        assert_eq!((&find(new_name)["server"], &find(new_name)["tool"]), (&json!(server), &json!(name)));
        renamed += 1;
    }
    let differing = tools.iter().filter(|tool| tool["name"] != tool["tool"]).count();
    assert_eq!(differing, renamed, "no other tool is renamed");
    // What a server says of its tools is told as it came.
    let read_text = find("read_text_file");
    assert_eq!(read_text["title"], "Read Text File");
    assert_eq!(read_text["annotations"], json!({"readOnlyHint": true, "openWorldHint": false}));
    assert_eq!(read_text["inputSchema"]["required"], json!(["path"]));
    assert_eq!(read_text["trusted"], false);
    let add = find("add");
    assert_eq!(add["outputSchema"]["required"], json!(["sum"]));
    assert!(find("git_log")["description"].as_str().is_some_and(|text| text.contains("commit logs")));
}

#[test]
fn collisions_are_named_with_who_kept_the_name() {
    let room = Room::with_every_partner();
    let text = room.prints(&["tools", "--all"]);
    for (name, kept_by, new_name, _) in COLLISIONS {
        let line =
            text.lines().find(|line| line.contains(new_name)).unwrap_or_else(|| panic!("no {new_name}:\n{text}"));
        let told = text.lines().any(|line| line.contains(new_name) && line.contains(kept_by));
        assert!(told, "it is not said that {kept_by} keeps `{name}`: {line}\n{text}");
    }
}

#[test]
fn tables_name_every_server_and_one_server_can_be_listed_alone() {
    let room = Room::with_every_partner();
    let table = room.prints(&["mcp", "list"]);
    for server in SERVERS {
        assert!(table.contains(&format!("🟢 {server} - Ready (")), "no {server}:\n{table}");
    }
    let alone = room.prints(&["tools", "memory"]);
    for tool in ["create_entities", "read_graph", "open_nodes"] {
        assert!(alone.contains(tool), "{alone}");
    }
    for foreign in ["git_log", "convert_time", "run_shell_command"] {
        assert!(!alone.contains(foreign), "{alone}");
    }
}
