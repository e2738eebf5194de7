//! `toolgate mcp export`.

use std::fs;

use serde_json::json;

use crate::room::Room;

fn room() -> Room {
    Room::new()
        .entry("notes", json!({"command": "npx", "args": ["-y", "notes", "${HOME}"], "env": {"TOKEN": "$NOTES_TOKEN"}, "start": "lazy"}))
        .entry("hosted", json!({"url": "https://hosted.example/mcp", "headers": {"Authorization": "Bearer ${HOSTED}"}}))
        .entry("held", json!({"command": "held"}))
        .setting("mcp", json!({"excluded": ["held"]}))
}

#[test]
fn servers_are_written_as_another_client_wants_them() {
    let mut room = room();
    room.world.set_variable("NOTES_TOKEN", "sesame");
    room.world.set_variable("HOSTED", "sesame");
    room.check(
        "mcp export --to codex",
        "
        --- stdout
        [mcp_servers.hosted]
        url = \"https://hosted.example/mcp\"
        bearer_token_env_var = \"HOSTED\"

        [mcp_servers.notes]
        command = \"npx\"
        args = [\"-y\", \"notes\", \"${HOME}\"]

        [mcp_servers.notes.env]
        TOKEN = \"${NOTES_TOKEN}\"
        --- stderr
        not carried over: notes.args: Codex replaces no variables; write what `HOME` stands for
        not carried over: notes.env.TOKEN: Codex replaces no variables; write what `NOTES_TOKEN` stands for
        not carried over: notes.start: Codex has nothing like it
        held is left out: in `mcp.excluded` of [HOME]/.toolgate/settings.json:1; name it to have it
        --- exit 0
        ",
    );
    for format in
        ["gemini-cli", "claude-desktop", "claude-code", "vscode", "cursor", "codex", "goose", "zed", "toolgate"]
    {
        let output = room.run(&format!("mcp export --to {format}"));
        assert_eq!(output.code(), Some(0), "{}", output.transcript());
        assert!(output.stdout.contains("notes") && !output.transcript().contains("sesame"), "{}", output.transcript());
        assert!(!output.stdout.contains("workspace"), "the built-in server is ours: {}", output.stdout);
    }
}

#[test]
fn some_servers_into_a_new_file() {
    let room = room();
    let done = room.run("mcp export --to cursor held -o mcp.json");
    assert_eq!((done.code(), done.stdout.as_str()), (Some(0), ""), "{}", done.transcript());
    assert!(done.stderr.contains("1 server written to "), "{}", done.stderr);
    let file = room.world.workspace().join("mcp.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"held\"") && !text.contains("notes"), "{text}");
    let refused = room.run("mcp export --to cursor -o mcp.json");
    assert_eq!(refused.code(), Some(2), "{}", refused.transcript());
    assert!(refused.stderr.contains("nothing is overwritten"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let unknown = room.run("mcp export --to cursor note");
    assert_eq!(unknown.code(), Some(7), "{}", unknown.transcript());
    assert!(unknown.stderr.contains("did you mean `notes`?"), "{}", unknown.stderr);
    assert_eq!(room.run("mcp export").code(), Some(2));
}

#[test]
fn programs_get_one_object() {
    let told = room().json("mcp export --to claude-desktop notes hosted --json");
    assert_eq!((&told["format"], &told["servers"], &told["file"]), (&json!("claude-desktop"), &json!(1), &json!(null)));
    let text: serde_json::Value = serde_json::from_str(told["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["mcpServers"]["notes"]["command"], "npx");
    let keys: Vec<&str> = told["notes"].as_array().unwrap().iter().map(|note| note["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["hosted", "notes.args", "notes.env.TOKEN", "notes.start"], "{told:#}");
}

#[test]
fn what_is_written_can_be_imported_again() {
    for format in ["gemini-cli", "claude-code", "vscode", "cursor", "toolgate"] {
        let (from, to) = (room(), Room::new());
        let text = from.run(&format!("mcp export --to {format} hosted")).stdout;
        to.world.write_in_workspace("file", &text).unwrap();
        let imported = to.run(&format!("mcp import file --from {format} --yes -s user"));
        assert_eq!(imported.code(), Some(0), "{format}: {}", imported.transcript());
        let settings = fs::read_to_string(to.world.home().join(".toolgate/settings.json")).unwrap();
        assert!(
            settings.contains("https://hosted.example/mcp") && settings.contains("HOSTED}"),
            "{format}: {settings}"
        );
    }
}
