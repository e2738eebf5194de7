//! `toolgate mcp remove`.

use serde_json::json;

use crate::room::Room;

const PROJECT: &str = ".toolgate/settings.json";

fn project_text(room: &Room) -> String {
    std::fs::read_to_string(room.world.workspace().join(PROJECT)).unwrap()
}

#[test]
fn an_entry_goes_with_what_belongs_to_it() {
    let room = Room::new();
    let cases = [
        (
            "{\n  // all of them\n  \"mcpServers\": {\n    \"a\": {\"command\": \"${A}\"}, // a\n    // about x\n    \"x\": {\n      \"command\": \"x\"\n    } // x\n    // end\n  }\n}",
            "{\n  // all of them\n  \"mcpServers\": {\n    \"a\": {\"command\": \"${A}\"} // a\n    // end\n  }\n}",
        ),
        ("{\"mcpServers\": {\"x\": {}, \"a\": {}}, \"mcp\": {}}", "{\"mcpServers\": {\"a\": {}}, \"mcp\": {}}"),
        ("{\r\n  \"mcpServers\": {\r\n    \"x\": null,\r\n  }\r\n}\r\n", "{\r\n  \"mcpServers\": {}\r\n}\r\n"),
    ];
    for (text, expected) in cases {
        room.world.write_in_workspace(PROJECT, text).unwrap();
        room.check(
            "mcp remove x",
            "
            --- stdout
            removed MCP server x from the project settings: [WORKSPACE]/.toolgate/settings.json
            --- exit 0
            ",
        );
        assert_eq!(project_text(&room), expected);
    }
}

#[test]
fn the_project_comes_before_the_person() {
    let room = Room::new().entry("both", json!({"command": "mine"})).entry("own", json!({"command": "mine"}));
    room.world.write_in_workspace(PROJECT, r#"{"mcpServers": {"both": {"command": "theirs"}}}"#).unwrap();
    room.check(
        "mcp remove both",
        "
        --- stdout
        removed MCP server both from the project settings: [WORKSPACE]/.toolgate/settings.json
        the entry in [HOME]/.toolgate/settings.json:1 is in force now
        --- exit 0
        ",
    );
    room.check(
        "mcp remove own",
        "
        --- stdout
        removed MCP server own from your settings: [HOME]/.toolgate/settings.json
        --- exit 0
        ",
    );
    let said = room.json("mcp remove both --json");
    let file = room.world.home().join(PROJECT).display().to_string();
    assert_eq!(said, json!({"server": "both", "scope": "user", "file": file, "action": "removed", "inForce": null}));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), r#"{"mcpServers":{}}"#);
}

#[test]
fn what_is_not_there_is_answered_with_where_it_is() {
    let room = Room::new().entry("github", json!({"command": "x"}));
    let cases = [
        ("mcp remove gihub", "there is no server `gihub`", "hint: did you mean `github`?"),
        ("mcp remove zzz", "there is no server `zzz`", "hint: there is `github`, `workspace`"),
        (
            "mcp remove workspace",
            "there is no server `workspace` in the settings of the project or in yours",
            "hint: `workspace` is built in and cannot be removed; `toolgate mcp disable workspace` switches it off",
        ),
        (
            "mcp remove github -s project",
            "there is no server `github` in the project settings",
            "`-s user` removes it there",
        ),
    ];
    for (line, message, hint) in cases {
        let output = room.run(line);
        assert_eq!(output.code(), Some(7), "{line}: {}", output.transcript());
        assert_eq!(output.stdout, "", "{line}");
        assert!(output.stderr.contains(message) && output.stderr.contains(hint), "{line}: {}", output.stderr);
    }
    assert!(!room.world.workspace().join(".toolgate").exists(), "nothing is made by looking");
    let said = room.json("mcp remove zzz --json");
    assert_eq!((&said["error"]["kind"], &said["error"]["server"]), (&json!("unknown_server"), &json!("zzz")));
}

#[test]
fn what_others_wrote_is_not_removed() {
    let mut room = Room::new().setting("mcp", json!({"serverCommand": "prog"}));
    let system = room.world.home().join("system");
    room.world.set_variable("TOOLGATE_SYSTEM_DIR", system.display().to_string());
    room.world.write_in_home("system/settings.json", r#"{"mcpServers": {"office": {"command": "x"}}}"#).unwrap();
    let manifest = r#"{"name": "box", "version": "1.0.0", "mcpServers": {"boxed": {"command": "x"}}}"#;
    room.world.write_in_home(".toolgate/extensions/box/toolgate-extension.json", manifest).unwrap();
    let cases = [
        (
            "office",
            "hint: it stands in [HOME]/system/settings.json:1, the administrator's file, and cannot be removed from here; \
             `toolgate mcp disable office` switches it off",
        ),
        (
            "boxed",
            "hint: it comes with the extension `box` and cannot be removed from here; `toolgate mcp disable boxed` switches \
             it off",
        ),
        ("mcp", "hint: it is made of `mcp.serverCommand` in [HOME]/.toolgate/settings.json:1; remove that by hand"),
    ];
    for (name, hint) in cases {
        let expected = format!(
            "--- stderr\nerror: there is no server `{name}` in the settings of the project or in yours\n{hint}\n--- exit 7\n"
        );
        room.check(&format!("mcp remove {name}"), &expected);
        assert_eq!(room.run(&format!("mcp disable {name}")).code(), Some(0), "{name}");
    }
}

#[test]
fn a_file_named_for_the_run_is_the_one_that_is_changed() {
    let room = Room::new().entry("a", json!({"command": "x"}));
    room.world.write_in_workspace("mine.json", r#"{"mcpServers": {"a": {}}}"#).unwrap();
    assert_eq!(room.json("mcp remove a --config mine.json --json")["scope"], json!("config"));
    assert_eq!(std::fs::read_to_string(room.world.workspace().join("mine.json")).unwrap(), r#"{"mcpServers": {}}"#);
    assert_eq!(room.run("mcp remove a --config mine.json").code(), Some(7));
    assert_eq!(room.run("mcp remove a").code(), Some(0));
}

#[test]
fn names_are_completed() {
    let room = Room::new().entry("github", json!({"command": "x"})).entry("gitlab", json!({}));
    for command in ["remove", "enable", "disable"] {
        let output = room.command(["--", "toolgate", "mcp", command, "gi"]).env("COMPLETE", "fish").run().unwrap();
        for name in ["github", "gitlab"] {
            assert!(output.stdout.lines().any(|line| line.starts_with(name)), "{command}: {}", output.transcript());
        }
    }
}
