//! Prompts and resources of the partners, and the test of one server.

use serde_json::Value;

use crate::room::Room;

#[test]
fn prompts_are_listed_and_filled_in() {
    let room = Room::with_every_partner();
    let list = room.prints(&["prompts"]);
    for prompt in ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt", "greet"] {
        assert!(list.contains(prompt), "no {prompt}:\n{list}");
    }
    assert!(list.contains("city"), "arguments are named:\n{list}");
    let prompts = [
        (vec!["prompt", "simple-prompt"], "This is a simple prompt without arguments."),
        (vec!["prompt", "args-prompt", "city=Paris", "state=TX"], "What's weather in Paris, TX?"),
        (vec!["prompt", "greet", "name=Room"], "Please greet Room."),
    ];
    for (words, expected) in prompts {
        let shown = room.prints(&words);
        assert!(shown.contains(expected), "{words:?}:\n{shown}");
    }
    let incomplete = room.toolgate(&["prompt", "args-prompt"]);
    assert_eq!(incomplete.code(), Some(2), "{}", incomplete.transcript());
    assert!(incomplete.stderr.contains("city"), "{}", incomplete.transcript());
}

#[test]
fn resources_are_listed_and_read() {
    let room = Room::with_every_partner();
    let list = room.prints(&["resources"]);
    let known = [
        "demo://resource/static/document/features.md",
        "demo://resource/dynamic/text/{resourceId}",
        "memory://knowledge-graph",
        "note://one",
    ];
    for uri in known {
        assert!(list.contains(uri), "no {uri}:\n{list}");
    }
    let read = [
        ("note://one", "first note"),
        ("demo://resource/static/document/instructions.md", "# Everything Server"),
        // Not in the list: it fits a template.
        ("demo://resource/dynamic/text/7", "Resource 7: This is a plaintext resource"),
    ];
    for (uri, expected) in read {
        let shown = room.prints(&["read", uri]);
        assert!(shown.contains(expected), "{uri}:\n{shown}");
    }
    let unknown = room.toolgate(&["read", "demo://nope"]);
    assert_eq!(unknown.code(), Some(7), "{}", unknown.transcript());
}

#[test]
fn servers_pass_their_test() {
    let room = Room::with_every_partner();
    for (server, name) in [("everything", "mcp-servers/everything"), ("git", "mcp-git"), ("fastmcp", "partner")] {
        let told = room.prints(&["mcp", "test", server]);
        assert!(told.contains(server) && told.contains(name), "{server}:\n{told}");
        let report: Value = room.json(&["mcp", "test", server]);
        assert!(report.is_object(), "{report:#}");
    }
    let unknown = room.toolgate(&["mcp", "test", "everythin"]);
    assert_eq!(unknown.code(), Some(7), "{}", unknown.transcript());
    assert!(unknown.stderr.contains("everything"), "the nearest name is told:\n{}", unknown.transcript());
}
