//! `toolgate mcp test`.

use serde_json::json;
use toolgate_testkit::{Behaviour, Script, ScriptedHttp, ToolScript, What, When};

use crate::room::{Room, closed, sample};

#[test]
fn a_server_that_is_well() {
    let room = Room::new().server("good", &sample("good"));
    room.check(
        "mcp test good",
        "
            --- stdout
            good  [WORLD]/server --script ../good.json --log ../good.log (stdio)
              ✓ settings  [HOME]/.toolgate/settings.json:1
              ✓ trust     the folder brings nothing of its own
              ✓ policy    includes all tools
              ✓ connect   MCP 2025-11-25 with good 1.0.0 in [TIME]
              ✓ ping      answered in [TIME]
              ✓ offers    3 tools, 1 prompt, 1 resource in [TIME]
            --- exit 0
            ",
    );
    let tested = room.json("mcp test good --json");
    let one = &tested["servers"][0];
    assert_eq!((&one["name"], &one["ok"], &one["tools"]), (&json!("good"), &json!(true), &json!(3)), "{tested}");
    assert!(one["connectMs"].is_u64() && one["pingMs"].is_u64(), "{tested}");
    let steps: Vec<&str> = one["steps"].as_array().unwrap().iter().filter_map(|step| step["step"].as_str()).collect();
    assert_eq!(steps, ["settings", "trust", "policy", "connect", "ping", "offers"]);
}

#[test]
fn a_server_with_a_broken_tool_is_exit_9() {
    let script = sample("odd").tool(ToolScript::raw(json!({"description": "nameless"}), Behaviour::text("x")));
    let room = Room::new().server("odd", &script);
    room.check(
        "mcp test odd",
        "
            --- stdout
            odd  [WORLD]/server --script ../odd.json --log ../odd.log (stdio)
              ✓ settings  [HOME]/.toolgate/settings.json:1
              ✓ trust     the folder brings nothing of its own
              ✓ policy    includes all tools
              ✓ connect   MCP 2025-11-25 with odd 1.0.0 in [TIME]
              ✓ ping      answered in [TIME]
              ✓ offers    3 tools, 1 prompt, 1 resource in [TIME]
              ✗ problem   unnamed tool skipped: entry 4: `name` is missing
            --- exit 9
            ",
    );
    assert_eq!(room.json("mcp test odd --json")["servers"][0]["ok"], json!(false));
    // Whatever is wrong with it, what it says itself is shown; when nothing is, it is not.
    let loud = |script: Script| script.fault(When::Start, What::StderrFlood { bytes: 200 });
    for (script, is_shown) in [(loud(script), true), (loud(sample("odd")), false)] {
        let output = Room::new().server("odd", &script).run("mcp test odd");
        let said = output.stdout.contains("    stderr: noise on stderr");
        assert_eq!((said, output.stdout.contains("✗ problem")), (is_shown, is_shown), "{}", output.transcript());
    }
}

#[test]
fn a_server_that_dies_shows_its_last_words() {
    let script =
        Script::new("dies").fault(When::Start, What::StderrFlood { bytes: 200 }).fault(When::Message(1), What::Exit(3));
    let room = Room::new().server("dies", &script);
    let output = room.run("mcp test dies");
    assert_eq!(output.code(), Some(4), "{}", output.transcript());
    assert!(output.stdout.contains("noise on stderr"), "{}", output.transcript());
    assert!(output.stdout.contains("✗ connect"), "{}", output.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worst_decides() {
    let closed = ScriptedHttp::start(closed()).await.unwrap();
    let room =
        Room::new().server("good", &sample("good")).entry("closed", json!({"url": closed.url(), "type": "http"}));
    assert_eq!(room.run("mcp test").code(), Some(5));
    assert_eq!(room.run("mcp test good").code(), Some(0));
    let room = room.entry("down", json!({"url": "http://127.0.0.1:1/mcp", "type": "http"}));
    assert_eq!(room.run("mcp test").code(), Some(4));
    assert_eq!(room.run("mcp test nobody").code(), Some(7));
}

#[test]
fn a_server_that_its_settings_make_unusable_is_a_failure() {
    let room = Room::new()
        .server("good", &sample("good"))
        .entry("bad", json!({"builtin": "nothing_like_it"}))
        .without_workspace();
    let output = room.run("mcp test");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stdout.contains("\n\nbad\n  ✗ settings "), "{}", output.transcript());
    assert!(output.stdout.contains("no built-in server is called `nothing_like_it`"), "{}", output.transcript());
    let tested = room.json("mcp test --json");
    let servers = tested["servers"].as_array().unwrap();
    let bad = servers.iter().find(|one| one["name"] == json!("bad")).unwrap();
    let keys = |one: &serde_json::Value| one.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(bad), keys(&servers[0]), "the same members");
    assert_eq!((&bad["ok"], &bad["status"]), (&json!(false), &json!("failed")));
    assert_eq!((&bad["error"]["code"], &bad["error"]["kind"]), (&json!(2), &json!("settings")), "{bad}");
    assert_eq!(room.run("mcp test good").code(), Some(0));
}
