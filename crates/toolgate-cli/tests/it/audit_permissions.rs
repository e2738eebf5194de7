//! Changes of permissions by commands are recorded: person, reason and impact.

use std::fs;

use serde_json::{Value, json};

use crate::room::{Room, sample};

const GRANTS: &str = r#"
version = 1

[[grant]]
id = "3fa9c1"
server = "github"
scope = "tool"
mode = "default"
given_at = "2026-07-28T12:00:00Z"
given_in = "/home/ada/project"
server_identity = "sha256:aa"
[grant.tools]
create_issue = "sha256:bb"
"#;

/// The recorded changes, without values that differ between runs.
fn changes(room: &Room) -> Vec<Value> {
    let shown = room.json("audit show --permissions --json");
    assert_eq!(shown["unreadable"], 0);
    assert_eq!(room.json("audit verify --json")["ok"], true);
    shown["permissions"].as_array().unwrap().clone()
}

/// Kind, subject, states and reason.
fn told(changes: &[Value]) -> Vec<Value> {
    let part = |one: &Value| json!([one["change"], one["subject"], one["before"], one["after"], one["reason"]]);
    changes.iter().map(part).collect()
}

#[test]
fn commands_that_change_permissions_are_recorded_with_their_reason() {
    let room = Room::new();
    room.world.write_in_home(".toolgate/grants.toml", GRANTS).unwrap();
    let folder = room.world.workspace().display().to_string();
    let run = |words: &[&str]| {
        let output = room.command(words.iter().copied()).run().unwrap();
        assert_eq!(output.code(), Some(0), "{words:?}: {}", output.transcript());
    };
    run(&["grants", "revoke", "3fa9c1", "--reason", "no longer needed; password=hunter2"]);
    run(&["trust", "--yes", "--reason", "reviewed"]);
    run(&["trust", "--deny"]);
    run(&["trust", "--revoke"]);
    run(&["mcp", "add", "files", "true", "-s", "user", "--reason", "for reports"]);
    run(&["mcp", "disable", "files"]);
    run(&["mcp", "enable", "files"]);
    run(&["mcp", "remove", "files", "-s", "user"]);
    run(&["policy", "preset", "read-only", "--write", "--reason", "audit week"]);
    let changes = changes(&room);
    let expected = [
        json!(["revoke", "3fa9c1 of github", "create_issue", null, "no longer needed; password=[secret]"]),
        json!(["trust", folder, null, "TRUST_FOLDER", "reviewed"]),
        json!(["distrust", folder, "TRUST_FOLDER", "DO_NOT_TRUST", null]),
        json!(["trust_revoked", folder, "DO_NOT_TRUST", null, null]),
        json!(["settings", "MCP server files added to your settings", null, null, "for reports"]),
        json!(["settings", "MCP server files disabled", null, null, null]),
        json!(["settings", "MCP server files enabled", null, null, null]),
        json!(["settings", "MCP server files removed from your settings", null, null, null]),
        json!(["preset", "read-only", null, null, "audit week"]),
    ];
    assert_eq!(told(&changes), expected);
    let (added, removed) = (&changes[4]["files"][0], &changes[7]["files"][0]);
    assert!(added["path"].as_str().unwrap().ends_with("settings.json"), "{added}");
    assert_eq!(added["after"], removed["before"], "the file that was written is the one that was changed");
    let shown = room.run("audit show --permissions --last 1").stdout;
    assert!(shown.contains("preset") && shown.contains("reason: audit week"), "{shown}");
    assert_eq!(room.json("audit show --json")["calls"], json!([]), "they are no calls");
}

#[test]
fn nothing_is_shown_where_nothing_changed() {
    let room = Room::new();
    assert_eq!(changes(&room), Vec::<Value>::new());
    let output = room.run("audit show --permissions");
    assert!(output.stderr.contains("no matching changes of permissions are recorded"), "{}", output.transcript());
}

const CALL: &str = "call echo message=x --yes";

#[test]
fn rules_that_changed_are_recorded_with_their_impact() {
    let room = Room::new().server("s", &sample("s")).with_questions();
    assert_eq!(room.run(CALL).code(), Some(0));
    assert_eq!(changes(&room), Vec::<Value>::new(), "nothing has changed yet");
    let policy = ".toolgate/policies/own.toml";
    let text = "[[rule]]\ntoolName = \"*\"\nmcpName = \"s\"\ndecision = \"deny\"\npriority = 10\n";
    room.world.write_in_home(policy, text).unwrap();
    assert_eq!(room.run(CALL).code(), Some(3));
    assert_eq!(room.run(CALL).code(), Some(3));
    fs::remove_file(room.world.home().join(policy)).unwrap();
    assert_eq!(room.run(CALL).code(), Some(0));
    let changes = changes(&room);
    let kinds: Vec<&Value> = changes.iter().map(|one| &one["change"]).collect();
    assert_eq!(kinds, ["rules", "rules"], "once for each change, not for each call");
    let (made, gone) = (&changes[0], &changes[1]);
    assert_eq!((&made["files"][0]["before"], made["files"][0]["after"].is_string()), (&Value::Null, true));
    assert_eq!(made["files"][0]["after"], gone["files"][0]["before"]);
    assert_eq!(gone["files"][0]["after"], Value::Null);
    let case = |was: &str, now: &str, calls: u64| json!([{"server": "s", "tool": "echo", "was": was, "now": now, "calls": calls}]);
    assert_eq!((&made["impact"]["different"], &made["impact"]["cases"]), (&json!(1), &case("ask", "deny", 1)));
    assert_eq!((&gone["impact"]["different"], &gone["impact"]["cases"]), (&json!(2), &case("deny", "ask", 2)));
    let shown = room.run("audit show --permissions").stdout;
    assert!(shown.contains("decides 2 of 3 calls of the last 7 days differently; echo of s: deny → ask"), "{shown}");
}

#[test]
fn rules_that_follow_from_settings_are_recorded_when_they_change() {
    let room = Room::new().server("s", &sample("s")).with_questions();
    assert_eq!(room.run(CALL).code(), Some(0));
    let room = room.setting("tools", json!({"confirmationRequired": ["echo"]}));
    assert_eq!(room.run(CALL).code(), Some(0));
    assert_eq!(room.run(&format!("{CALL} --allowed-tools add")).code(), Some(0), "options are no change");
    assert_eq!(told(&changes(&room)), [json!(["rules", "settings", null, null, null])]);
}

#[test]
fn a_change_is_recorded_once_also_when_several_commands_notice_it() {
    let room = Room::new().server("s", &sample("s"));
    assert_eq!(room.run(CALL).code(), Some(0));
    let known = changes(&room).len();
    for round in 0..3 {
        let text = format!("[[rule]]\ntoolName = \"other{round}\"\ndecision = \"deny\"\npriority = 10\n");
        room.world.write_in_home(".toolgate/policies/own.toml", &text).unwrap();
        let world = &room.world;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let output = world.command(env!("CARGO_BIN_EXE_toolgate")).args(CALL.split(' ')).run().unwrap();
                    assert_eq!(output.code(), Some(0), "{}", output.transcript());
                });
            }
        });
    }
    let new = told(&changes(&room)).split_off(known);
    assert_eq!(new, vec![json!(["rules", "policies", null, null, null]); 3]);
}
