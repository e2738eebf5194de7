//! What is remembered of servers, where it is not enough: some of it was never asked for, or is too old, and the server is not there.

use serde_json::json;
use toolgate_testkit::Record;
use toolgate_testkit::script::CacheScope;

use crate::room::{Room, sample};

#[test]
fn a_session_shows_what_a_listing_learned_of_a_server_that_rests() {
    let room = Room::new().server("one", &sample("one")).with("one", "start", json!("lazy")).without_workspace();
    assert_eq!(room.run("tools").code(), Some(0));
    let output = room.command([]).input("/tools\n").run().unwrap();
    output.assert_transcript(
        "
        --- stdout
        one  3 tools
          echo  Says it again.
          add   Adds.
          fail  the scripted tool fail
        --- exit 0
        ",
    );
    let record = Record::of_log(room.log("one"));
    assert_eq!(record.count("tools/list"), 1, "it was not started for that");
}

/// A server that is there while there is a file `go`, and whose lists are too old as soon as they are read.
fn fickle() -> Room {
    let script = sample("one").versions(&["2026-07-28"]).caching(0, CacheScope::Private);
    let room = Room::new().server("one", &script).without_workspace();
    let starts = "[ -e go ] && exec ../server --script ../one.json";
    let room = room.entry("one", json!({"command": "sh", "args": ["-c", starts]}));
    std::fs::write(room.world.workspace().join("go"), "").unwrap();
    for line in ["tools", "prompts"] {
        assert_eq!(room.run(line).code(), Some(0), "{line}");
    }
    std::fs::remove_file(room.world.workspace().join("go")).unwrap();
    room
}

/// Whether each tool can be called, as programs are told.
fn listed_available(room: &Room) -> Vec<bool> {
    let listed: serde_json::Value = serde_json::from_str(&room.run("tools --json").stdout).unwrap();
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["available"].as_bool().unwrap()).collect()
}

#[test]
fn what_is_old_is_listed_when_its_server_cannot_be_reached() {
    let room = fickle();
    // What is listed, and what is told beside it.
    for line in ["tools", "tools one"] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(4), "{}", output.transcript());
        assert!(output.stdout.starts_with("one  3 tools, unavailable: connection closed"), "{}", output.transcript());
        assert!(listed_available(&room).iter().all(|available| !available), "{}", output.transcript());
        assert!(output.stderr.starts_with("error: MCP server one: "), "{}", output.transcript());
        assert!(output.stderr.contains("what it offered is known since 20"), "{}", output.transcript());
    }
    let output = room.run("tools one --json");
    let listed: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((output.code(), listed["tools"].as_array().unwrap().len()), (Some(4), 3), "{}", output.transcript());
    assert_eq!(listed["unavailable"][0]["server"], "one", "{}", output.transcript());
    assert!(listed["unavailable"][0]["reason"].as_str().unwrap().starts_with("MCP server one: "));
    let output = room.run("prompts");
    assert!(output.code() == Some(4) && output.stdout.contains("greet"), "{}", output.transcript());
}

#[test]
fn what_is_known_of_a_server_that_cannot_be_reached_is_not_unknown() {
    let room = fickle();
    for (line, expected) in [
        ("call echo message=hi", 4),
        ("call one__echo message=hi", 4),
        ("call --server one echo message=hi", 4),
        ("prompt greet who=me", 4),
    ] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(expected), "{line}: {}", output.transcript());
        assert!(output.stderr.starts_with("error: MCP server one: "), "{line}: {}", output.transcript());
    }
    // Nobody can say whether it has that by now.
    assert_eq!(room.run("call nothing").code(), Some(4));
}
