//! `mcp import` from Gemini CLI: restrictions that stand beside its lists.

use serde_json::{Value, json};

use crate::room::Room;

fn settings(room: &Room) -> String {
    std::fs::read_to_string(room.world.home().join(".toolgate/settings.json")).unwrap()
}

type Files = &'static [(&'static str, &'static str)];

const SERVER: &str = r#""mcpServers": {"notes": {"command": "notes-server", "trust": true}}"#;

/// Keys beside the server, files in the home, a line of the report, and the settings afterwards.
fn cases() -> [(&'static str, Files, &'static str, Value); 8] {
    const DENY: &str = "[[rule]]\ntoolName = \"x\"\ndecision = \"deny\"\npriority = 1\n";
    let trusted = json!({"notes": {"command": "notes-server", "trust": true}});
    let wary = json!({"notes": {"command": "notes-server"}});
    [
        (
            r#""general": {"defaultApprovalMode": "plan"}"#,
            &[],
            "+ general.defaultApprovalMode: plan",
            json!({"general": {"defaultApprovalMode": "plan"}, "mcpServers": trusted}),
        ),
        (
            r#""tools": {"approvalMode": "plan"}"#,
            &[],
            "+ general.defaultApprovalMode: plan",
            json!({"general": {"defaultApprovalMode": "plan"}, "mcpServers": trusted}),
        ),
        (r#""general": {"defaultApprovalMode": "auto_edit"}"#, &[], "+ notes", json!({"mcpServers": trusted})),
        (
            r#""admin": {"mcp": {"enabled": false}}"#,
            &[],
            "+ admin.mcp.enabled: false",
            json!({"admin": {"mcp": {"enabled": false}}, "mcpServers": trusted}),
        ),
        (
            r#""excludeTools": ["x"]"#,
            &[],
            "not carried over: `excludeTools` of an old version, now called `tools.exclude`",
            json!({"mcpServers": wary}),
        ),
        (
            r#""tools": {"exclude": ["y"]}"#,
            &[(".gemini/extensions/ext/gemini-extension.json", r#"{"name": "ext", "excludeTools": ["x", "y"]}"#)],
            "+ tools.exclude: y, x",
            json!({"tools": {"exclude": ["y", "x"]}, "mcpServers": trusted}),
        ),
        (
            r#""ui": {}"#,
            &[
                (".gemini/extensions/ext/gemini-extension.json", r#"{"name": "ext", "mcpServers": {"s": {}}}"#),
                (".gemini/extensions/ext/policies/deny.toml", DENY),
            ],
            "policies/deny.toml of an extension",
            json!({"mcpServers": wary}),
        ),
        (
            r#""ui": {}"#,
            &[(".gemini/mcp-server-enablement.json", "no JSON")],
            "mcp-server-enablement.json, which cannot be read",
            json!({"mcpServers": wary}),
        ),
    ]
}

/// Restrictions that stand elsewhere than in the lists: the mode, the administrator's switch, servers that are switched off, extensions.
#[test]
fn restrictions_of_other_files_and_keys_come_along() {
    for (keys, files, said, expected) in cases() {
        let room = Room::new();
        room.world.write_in_home(".gemini/settings.json", &format!("{{{SERVER}, {keys}}}")).unwrap();
        for (name, text) in files {
            room.world.write_in_home(name, text).unwrap();
        }
        let output = room.run("mcp import --from gemini-cli --yes");
        assert_eq!(output.code(), Some(0), "{}", output.transcript());
        assert!(output.stdout.contains(said), "{said}\n{}", output.transcript());
        let now: Value = serde_json::from_str(&settings(&room)).unwrap();
        assert_eq!(now, expected, "{keys} {files:?}");
        let told = room.json("mcp import --from gemini-cli --json --dry-run");
        assert!(told["servers"].is_array(), "{told}");
    }
    let room = Room::new();
    room.world.write_in_home(".gemini/settings.json", &format!("{{{SERVER}}}")).unwrap();
    room.world.write_in_home(".gemini/mcp-server-enablement.json", r#"{"NOTES": {"enabled": false}}"#).unwrap();
    let output = room.run("mcp import --from gemini-cli --yes");
    assert!(output.stdout.contains("notes-server: switched off there"), "{}", output.transcript());
    assert!(!room.world.home().join(".toolgate/settings.json").exists(), "{}", output.transcript());
}
