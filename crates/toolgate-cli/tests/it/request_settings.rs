//! Settings with the keys and values of the request, in an otherwise empty home.

use serde_json::json;

use crate::room::Room;

const DEVELOPMENT: &str = r#"{
  "mcp": {
    "allowed": ["development-tools"],
    "excluded": ["production-server"]
  },
  "tools": {
    "allowed": ["read_file", "list_directory"],
    "exclude": ["run_shell_command(*)"]
  }
}"#;

const PRODUCTION: &str = r#"{
  "mcp": {
    "allowed": ["monitoring-server"],
    "excluded": ["development-server", "admin-tools"]
  },
  "tools": {
    "allowed": ["read_file", "list_directory", "web_search"],
    "exclude": ["write_file", "run_shell_command", "edit_file"]
  }
}"#;

fn home_with(settings: &str) -> Room {
    let room = Room::new();
    room.world.write_in_home(".toolgate/settings.json", settings).unwrap();
    room.world.write_in_workspace("notes.txt", "hello\n").unwrap();
    room
}

/// Runs a command that prints nothing but its result. Returns its exit code.
fn quiet(room: &Room, line: &str) -> Option<i32> {
    let output = room.run(line);
    assert!(!output.stderr.contains("warning:"), "{line}: {}", output.transcript());
    output.code()
}

#[test]
fn the_examples_for_development_and_production_work_in_an_empty_home() {
    // settings, a command, its exit code
    let cases = [
        (DEVELOPMENT, "call read_file path=notes.txt", 0),
        (DEVELOPMENT, "call list_directory path=.", 0),
        (DEVELOPMENT, "call --yes write_file path=new.txt content=x", 0),
        (DEVELOPMENT, "call --yes run_shell_command command=ls", 3),
        (DEVELOPMENT, "mcp list", 0),
        (DEVELOPMENT, "mcp test", 0),
        (DEVELOPMENT, "doctor", 0),
        (DEVELOPMENT, "policy check --connect", 0),
        (PRODUCTION, "call read_file path=notes.txt", 0),
        (PRODUCTION, "call list_directory path=.", 0),
        (PRODUCTION, "call --yes write_file path=new.txt content=x", 3),
        (PRODUCTION, "call --yes run_shell_command command=ls", 3),
        (PRODUCTION, "call --yes replace path=notes.txt old_string=a new_string=b", 3),
        (PRODUCTION, "mcp test", 0),
        (PRODUCTION, "doctor", 0),
        (PRODUCTION, "policy check --connect", 0),
    ];
    for (settings, line, code) in cases {
        assert_eq!(quiet(&home_with(settings), line), Some(code), "{line}");
    }
    let shown = |settings: &str| -> Vec<String> {
        let listed = home_with(settings).json("tools --json");
        let tools = listed["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let reading = ["read_file", "list_directory", "glob", "search_file_content"];
    assert_eq!(shown(DEVELOPMENT), [&reading[..], &["write_file", "replace"]].concat());
    assert_eq!(shown(PRODUCTION), reading, "`edit_file` in `tools.exclude` means `replace` too");
}

#[test]
fn the_built_in_server_is_there_unless_it_is_excluded_by_name() {
    // settings, flags, whether the server is used
    let cases = [
        (json!({"mcp": {"allowed": ["x"]}}), "", true),
        (json!({"mcp": {"allowed": []}}), "", true),
        (json!({}), "--allowed-mcp-server-names x", true),
        (json!({"mcp": {"allowed": ["x"]}, "mcpServers": {"workspace": {"builtin": "workspace"}}}), "", true),
        (json!({"mcp": {"excluded": ["workspace"]}}), "", false),
        (json!({"mcp": {"excluded": ["*"]}}), "", false),
        (json!({"mcp": {"excluded": ["Workspace"]}}), "--allowed-mcp-server-names workspace", false),
        // A second entry is an ordinary server, and so is a program of that name.
        (json!({"mcp": {"allowed": ["x"]}, "mcpServers": {"workspace": {"command": "y"}}}), "", false),
    ];
    for (settings, flags, is_used) in cases {
        let room = home_with(&settings.to_string());
        let listed = room.json(&format!("mcp list --no-connect --json {flags}"));
        let workspace = listed["servers"].as_array().unwrap().iter().find(|one| one["name"] == "workspace").unwrap();
        assert_eq!(workspace["status"] == "disconnected", is_used, "{settings} {flags}: {workspace}");
    }
    let second = json!({"mcp": {"allowed": ["x"]}, "mcpServers": {"files": {"builtin": "workspace"}}});
    let listed = home_with(&second.to_string()).json("mcp list --no-connect --json");
    let statuses: Vec<_> = listed["servers"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["disconnected", "blocked"], "{listed}");
    let strict = json!({
        "security": {"strict": true},
        "mcpServers": {"workspace": {"builtin": "workspace", "includeTools": ["read_file"]}}
    });
    let tools = home_with(&strict.to_string()).json("tools --json");
    assert_eq!(tools["tools"].as_array().unwrap().len(), 1, "{tools}");
    assert_eq!(tools["tools"][0]["name"], json!("read_file"));
}
