//! `toolgate extensions`.

use serde_json::json;

use crate::room::Room;

fn room() -> Room {
    let room = Room::new();
    let manifest = json!({"name": "tool-box", "version": "1.2.0", "mcpServers": {"boxed": {"command": "x"}}});
    room.world.write_in_home(".toolgate/extensions/tool-box/gemini-extension.json", &manifest.to_string()).unwrap();
    room
}

#[test]
fn extensions_are_listed_and_switched() {
    let room = room();
    room.check(
        "extensions list",
        "
        --- stdout
        EXTENSION  VERSION  STATE    SERVERS  FOLDER
        tool-box   1.2.0    enabled  boxed    [HOME]/.toolgate/extensions/tool-box
        --- exit 0
        ",
    );
    let servers = |room: &Room| -> Vec<String> {
        let listed = room.json("mcp list --no-connect --json");
        listed["servers"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(servers(&room), ["boxed", "workspace"]);
    assert_eq!(room.json("extensions disable tool-box --json")["action"], json!("disabled"));
    assert_eq!(servers(&room), ["workspace"]);
    assert_eq!(room.run("mcp disable boxed").code(), Some(7), "its server is not there now");
    assert_eq!(room.run("extensions enable tool-box --workspace").code(), Some(0));
    assert_eq!(servers(&room), ["boxed", "workspace"]);
    assert_eq!(room.run("mcp disable boxed").code(), Some(0));
    let enabled = room.json("extensions enable tool-box --json");
    assert_eq!(enabled["serversEnabled"], json!(["boxed"]));
    room.check(
        "extensions enable toolbox",
        "
        --- stderr
        error: there is no extension `toolbox`
        hint: did you mean `tool-box`?
        --- exit 7
        ",
    );
}
