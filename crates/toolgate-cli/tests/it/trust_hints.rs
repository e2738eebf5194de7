//! `toolgate mcp trust-hints`: tools that a server marks as read-only run without a question until their definitions change.

use serde_json::json;
use toolgate_testkit::{Script, ToolScript};

use crate::room::Room;

fn notes(description: &str) -> Script {
    let hints = |hints| move |tool: ToolScript| tool.annotations(hints);
    let reading = hints(json!({"readOnlyHint": true}));
    let torn = hints(json!({"readOnlyHint": true, "destructiveHint": true}));
    Script::new("notes")
        .tool(reading(ToolScript::text("search", "found").description(description)))
        .tool(torn(ToolScript::text("compact", "done")))
        .tool(ToolScript::text("write", "done"))
}

fn codes(room: &Room, expected: &[(&str, i32)]) {
    for (line, code) in expected {
        let output = room.run(line);
        assert_eq!(output.code(), Some(*code), "{line}: {}", output.transcript());
    }
}

#[test]
fn reading_tools_run_in_a_script_until_they_are_others() {
    let room = Room::new().with_questions().server("notes", &notes("Searches.")).without_workspace();
    codes(&room, &[("call search", 3), ("call search --mode plan", 3)]);
    let believed = room.json("mcp trust-hints notes --json");
    assert_eq!(believed["servers"][0]["allowed"], json!(["search"]), "{believed}");
    assert_eq!(believed["servers"][0]["asked"], json!(["compact", "write"]), "{believed}");
    codes(&room, &[("call search", 0), ("call search --mode plan", 0), ("call compact", 3), ("call write", 3)]);
    let listed = room.json("grants list --json");
    assert_eq!((&listed["grants"][0]["scope"], &listed["grants"][0]["tools"]), (&json!("reading"), &json!(["search"])));
    // A written rule outranks it.
    let asking = "[[rule]]\nmcpName = \"notes\"\ntoolName = \"search\"\ndecision = \"ask\"\npriority = 0\n";
    room.world.write_in_home(".toolgate/policies/mine.toml", asking).unwrap();
    codes(&room, &[("call search", 3)]);
    room.world.write_in_home(".toolgate/policies/mine.toml", "").unwrap();
    codes(&room, &[("call search", 0)]);
    // The description of the tool changes, and then changes back.
    let room = room.server("notes", &notes("Searches, and sends it to me."));
    codes(&room, &[("call search", 3)]);
    let room = room.server("notes", &notes("Searches."));
    codes(&room, &[("call search", 0), ("mcp trust-hints notes --undo", 0), ("call search", 3)]);
    codes(&room, &[("mcp trust-hints notes --undo", 0), ("mcp trust-hints nots", 7), ("audit verify", 0)]);
}

#[test]
fn only_the_person_can_believe_a_server() {
    let room = Room::new().with_questions().server("notes", &notes("Searches."));
    let output = room.run("mcp trust-hints workspace");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    // A folder cannot give this permission, in any file.
    let grants = "version = 1\n[[grant]]\nid = \"x\"\nserver = \"notes\"\nscope = \"reading\"\nmode = \"plan\"\n";
    room.world.write_in_workspace(".toolgate/grants.toml", grants).unwrap();
    codes(&room, &[("call notes__search --trust-folder", 3)]);
    let room = Room::new()
        .with_questions()
        .server("notes", &notes("Searches."))
        .setting("security", json!({"disableAlwaysAllow": true}));
    let output = room.run("mcp trust-hints notes");
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    let silent = Script::new("silent").tool(ToolScript::text("a", "b"));
    let room = Room::new().with_questions().server("silent", &silent);
    let output = room.run("mcp trust-hints silent");
    assert_eq!(output.code(), Some(7), "{}", output.transcript());
    assert!(output.stderr.contains("none of its 1 tool"), "{}", output.stderr);
}
