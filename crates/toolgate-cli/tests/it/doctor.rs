//! `toolgate doctor`.

use serde_json::{Value, json};

use crate::room::{Room, sample};

fn room() -> Room {
    let room = Room::new()
        .server("good", &sample("good"))
        .entry("gone", json!({"command": "no-such-program", "args": ["--api-key", "sesame"]}))
        .setting("mcp", json!({"excluded": ["old*"]}));
    let system = room.world.root().join("system");
    std::fs::create_dir_all(&system).unwrap();
    let defaults =
        r#"{"mcpServers": {"gone": {"command": "x"}, "oldie": {"command": "y"}}, "tools": {"exclude": ["rm"]}}"#;
    std::fs::write(system.join("system-defaults.json"), defaults).unwrap();
    room
}

#[test]
fn everything_that_decides_is_named() {
    let room = room().with_questions();
    room.check(
        "doctor --no-connect",
        "
        --- stdout
          ✓ folder       [WORKSPACE]: trusted (it brings nothing of its own)
          ✓ settings     system defaults: [WORLD]/system/system-defaults.json (used)
          ✓ settings     user: [HOME]/.toolgate/settings.json (used)
          · settings     workspace: [WORKSPACE]/.toolgate/settings.json (absent)
          · settings     system override: [WORLD]/system/settings.json (absent)
          · excluded     old* ([HOME]/.toolgate/settings.json:1)
          · tool hidden  rm ([WORLD]/system/system-defaults.json:1)

        gone  no-such-program --api-key **** (stdio)
          ✓ settings     user: [HOME]/.toolgate/settings.json:1
          · replaces     system defaults: [WORLD]/system/system-defaults.json:1
          ✓ enabled      no list and nobody holds it back
          · trust        not set
          · policy       includes all tools, 1 excluded for all servers
          ✗ command      `no-such-program` is not there, or no program

        good  [WORLD]/server --script ../good.json --log ../good.log (stdio)
          ✓ settings     user: [HOME]/.toolgate/settings.json:1
          ✓ enabled      no list and nobody holds it back
          · trust        not set
          · policy       includes all tools, 1 excluded for all servers
          ✓ command      [WORLD]/server

        workspace  workspace (builtin)
          ✓ settings     built in: built-in settings
          ✓ enabled      no list and nobody holds it back
          · trust        not set
          · policy       includes all tools, 1 excluded for all servers

        oldie  y (stdio)
          ✓ settings     system defaults: [WORLD]/system/system-defaults.json:1
          ✗ blocked      oldie is in `mcp.excluded` of [HOME]/.toolgate/settings.json:1
        --- exit 9
        ",
    );
    assert!(!room.log("good").exists(), "nothing was started");
}

#[test]
fn servers_are_tried_and_what_they_receive_is_named() {
    let mut room = room();
    room.world.set_variable("GITHUB_TOKEN", "sesame-token");
    let report = room.json("doctor --json");
    let of = |name: &str| -> Value {
        let servers = report["servers"].as_array().unwrap();
        servers.iter().find(|one| one["name"] == json!(name)).cloned().unwrap()
    };
    let good = of("good");
    assert_eq!((&good["status"], &good["ok"]), (&json!("connected"), &json!(true)), "{good}");
    assert!(good["offers"].as_str().unwrap().contains("3 tools, 1 prompt, 1 resource"), "{good}");
    let received: Vec<&str> =
        good["environment"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(received.contains(&"PATH") && received.contains(&"HOME"), "{received:?}");
    let gone = of("gone");
    assert_eq!((&gone["status"], &gone["programMissing"]), (&json!("failed"), &json!(true)), "{gone}");
    assert!(gone["error"].as_str().unwrap().contains("could not be started"), "{gone}");
    assert!(!report.to_string().contains("sesame"), "no value of a variable or argument is shown");
    let one = room.json("doctor --json --server good");
    assert_eq!(one["servers"].as_array().map(Vec::len), Some(1));
    assert_eq!(room.run("doctor --server good").code(), Some(0));
    assert_eq!(room.run("doctor").code(), Some(9));
    assert_eq!(room.run("doctor --server nobody").code(), Some(7));
}
