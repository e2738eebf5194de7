//! Settings: none, wrong ones, other ones.

use serde_json::json;

use crate::room::{Room, sample};

#[test]
fn an_empty_home_has_the_built_in_server() {
    let room = Room::new();
    let listed = room.json("tools --json");
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected =
        ["read_file", "list_directory", "glob", "search_file_content", "write_file", "replace", "run_shell_command"];
    assert_eq!(names, expected);
    assert!(!room.world.home().join(".toolgate").exists(), "nothing is written by looking");
}

#[test]
fn no_home_at_all_is_like_an_empty_one() {
    let mut room = Room::new();
    room.world.remove_variable("HOME");
    assert_eq!(room.run("tools").code(), Some(0));
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_line_and_column() {
    let room = Room::new();
    room.world
        .write_in_home(".toolgate/settings.json", "{\n  // mine\n  \"mcpServers\": {\n    \"a\": oops\n  }\n}\n")
        .unwrap();
    let commands =
        ["tools", "mcp list", "mcp test", "call read_file path=x", "prompts", "prompt x", "resources", "read x:y"];
    for line in commands {
        let output = room.run(line);
        assert_eq!(output.code(), Some(2), "{line}");
        // The list of what can be read is the one thing that is still shown.
        assert_eq!(output.stdout.is_empty(), line != "mcp list", "{line}");
        assert!(output.stderr.contains(".toolgate/settings.json:4:10"), "{line}: {}", output.stderr);
    }
    let said = room.json("mcp list --json");
    assert_eq!(said["error"]["kind"], json!("settings"));
}

#[test]
fn another_file_for_one_run() {
    let room = Room::new().entry("broken", json!({"command": "/nonexistent/program"}));
    room.check(
        "tools --config missing.json",
        "
        --- stderr
        error: [WORKSPACE]/missing.json: no such file
        hint: check the path given with `--config`
        --- exit 2
        ",
    );
    let other = Room::new().server("other", &sample("other"));
    let settings = std::fs::read_to_string(other.world.home().join(".toolgate/settings.json")).unwrap();
    room.world.write_in_workspace("servers.json", &settings).unwrap();
    let listed = room.json("--config servers.json mcp list --json");
    let servers = listed["servers"].as_array().unwrap();
    let names: Vec<(&str, &str)> =
        servers.iter().map(|one| (one["name"].as_str().unwrap(), one["source"].as_str().unwrap())).collect();
    assert_eq!(names, [("other", "command-line"), ("workspace", "built-in")]);
}

#[test]
fn what_is_odd_is_said_and_the_rest_is_used() {
    let room = Room::new().server("good", &sample("good")).with("good", "timeuot", json!(5)).entry("empty", json!({}));
    let output = room.run("tools good");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(output.stdout.contains("echo"), "{}", output.stdout);
    assert!(output.stderr.contains("`timeuot`") || output.stderr.contains("timeuot"), "{}", output.stderr);
    assert!(output.stderr.contains("timeout"), "the nearest known key is named: {}", output.stderr);
    assert!(output.stderr.contains("settings.json:1:"), "{}", output.stderr);
    assert_eq!(room.run("tools empty").code(), Some(2));
}

#[test]
fn a_server_that_is_held_back_is_not_started() {
    let room = Room::new().server("files", &sample("files")).without_workspace();
    let output = room.run("tools workspace");
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    assert!(output.stderr.contains("workspace is in `mcp.excluded`"), "{}", output.stderr);
}
