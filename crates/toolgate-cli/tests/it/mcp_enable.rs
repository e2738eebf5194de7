//! `toolgate mcp enable` and `toolgate mcp disable`.

use serde_json::json;

use crate::room::Room;

const FILE: &str = ".toolgate/mcp-server-enablement.json";

fn room() -> Room {
    Room::new().entry("GitHub", json!({"command": "x"})).entry("time", json!({"url": "http://127.0.0.1:1/"}))
}

fn text(room: &Room) -> String {
    std::fs::read_to_string(room.world.home().join(FILE)).unwrap()
}

#[test]
fn servers_are_switched_off_and_on_again() {
    let room = room();
    room.check(
        "mcp enable github",
        "
        --- stdout
        MCP server GitHub is already enabled
        --- exit 0
        ",
    );
    assert!(!room.world.home().join(FILE).exists(), "nothing is written for nothing");
    room.check(
        "mcp disable github workspace GITHUB",
        "
        --- stdout
        disabled MCP server GitHub; `toolgate mcp enable GitHub` switches it on again
        disabled MCP server workspace; `toolgate mcp enable workspace` switches it on again
        --- exit 0
        ",
    );
    let both = "{\n  \"github\": {\n    \"enabled\": false\n  },\n  \"workspace\": {\n    \"enabled\": false\n  }\n}\n";
    assert_eq!(text(&room), both);
    room.check(
        "mcp disable GitHub",
        "
        --- stdout
        MCP server GitHub is already disabled
        --- exit 0
        ",
    );
    room.check(
        "mcp enable GitHub time",
        "
        --- stdout
        enabled MCP server GitHub
        MCP server time is already enabled
        --- exit 0
        ",
    );
    assert_eq!(text(&room), "{\n  \"workspace\": {\n    \"enabled\": false\n  }\n}\n");
}

#[test]
fn servers_of_a_folder_that_is_not_trusted_are_switched_too() {
    let room = room();
    let settings = r#"{"mcpServers": {"theirs": {"command": "touch", "args": ["pwned"]}}}"#;
    room.world.write_in_workspace(".toolgate/settings.json", settings).unwrap();
    for line in ["mcp disable theirs", "mcp enable theirs", "mcp disable GitHub"] {
        assert_eq!(room.run(line).code(), Some(0), "{line}");
    }
    assert!(!room.world.workspace().join("pwned").exists());
    let listed = room.json("mcp list --no-connect --json");
    let status = |name: &str| {
        let servers = listed["servers"].as_array().unwrap();
        servers.iter().find(|one| one["name"] == json!(name)).unwrap()["status"].clone()
    };
    assert_eq!((status("GitHub"), status("theirs")), (json!("disabled"), json!("disabled")));
}

#[test]
fn the_same_for_programs() {
    let room = room();
    let file = room.world.home().join(FILE).display().to_string();
    let one = |action: &str| {
        json!({
            "server": "time", "scope": "user", "file": file, "action": action,
            "servers": [{"server": "time", "action": action}]
        })
    };
    assert_eq!(room.json("mcp disable time --json"), one("disabled"));
    assert_eq!(room.json("mcp disable time --json"), one("already_disabled"));
    assert_eq!(room.json("--json mcp enable time"), one("enabled"));
    assert_eq!(room.json("mcp enable time --json"), one("already_enabled"));
    let many = room.json("mcp disable time github --json");
    assert_eq!((&many["server"], &many["action"]), (&json!(null), &json!(null)));
    assert_eq!(many["servers"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_switched_is_told_and_nothing_is_written() {
    let room = room().setting("mcp", json!({"excluded": ["TIM*"]}));
    for command in ["enable", "disable"] {
        let cases = [
            (
                format!("mcp {command} GitHub gihub"),
                7,
                "error: there is no server `gihub`\nhint: did you mean `GitHub`?\n",
            ),
            (format!("mcp {command} time"), 3, "error: time is in `mcp.excluded` of "),
            (
                format!("mcp {command} GitHub --session"),
                2,
                "error: `--session` changes nothing here: the session ends with this command",
            ),
            (format!("mcp {command}"), 2, "<NAME>..."),
        ];
        for (line, code, message) in cases {
            let output = room.run(&line);
            assert_eq!(output.code(), Some(code), "{line}: {}", output.transcript());
            assert!(output.stdout.is_empty() && output.stderr.contains(message), "{line}: {}", output.transcript());
        }
    }
    assert!(!room.world.home().join(FILE).exists());
    let room = room.setting("mcp", json!({"allowed": []}));
    let output = room.run("mcp enable GitHub");
    assert_eq!(output.code(), Some(3));
    assert!(output.stderr.contains("GitHub is not in `mcp.allowed` of "), "{}", output.stderr);
}

#[test]
fn files_that_cannot_be_read_are_named_and_left_alone() {
    let room = room();
    let broken = "{\"time\": {\"enabled\": false}";
    room.world.write_in_home(FILE, broken).unwrap();
    for line in ["mcp disable GitHub", "mcp enable time"] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(2), "{line}: {}", output.transcript());
        assert!(output.stderr.contains("mcp-server-enablement.json:1:1: expected `}`"), "{line}: {}", output.stderr);
        assert_eq!(text(&room), broken);
    }
    room.world.write_in_home(".toolgate/settings.json", "{\"mcpServers\": ").unwrap();
    let output = room.run("mcp disable GitHub");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stderr.contains("settings.json:1:"), "{}", output.stderr);
}
