//! `toolgate revisions`: earlier settings and policies are listed, compared, simulated, restored and purged.

use std::fs;

use serde_json::{Value, json};

use crate::room::{Room, sample};

const POLICY: &str = ".toolgate/policies/mine.toml";

fn rule(tool: &str, decision: &str) -> String {
    format!("[[rule]]\nmcpName = \"one\"\ntoolName = \"{tool}\"\ndecision = \"{decision}\"\npriority = 300\n")
}

fn ids(room: &Room) -> Vec<String> {
    let listed = room.json("revisions list --json");
    listed["revisions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_change_is_noticed_tried_and_taken_back() {
    let room = Room::new().with_questions().server("one", &sample("one")).without_workspace();
    room.world.write_in_home(POLICY, &rule("echo", "allow")).unwrap();
    assert_eq!(room.run("call echo message=hello").code(), Some(0));
    room.world.write_in_home(POLICY, &rule("echo", "deny")).unwrap();
    assert_eq!(room.run("call echo message=hello").code(), Some(3));
    let [denying, allowing] = &ids(&room)[..] else { panic!("{:?}", ids(&room)) };
    let diff = room.json(&format!("revisions diff {allowing} --json"));
    assert_eq!(
        (&diff["files"][0]["file"], &diff["files"][0]["change"]),
        (&json!("policies/mine.toml"), &json!("changed"))
    );
    assert!(diff["files"][0]["diff"].as_str().unwrap().contains("+decision = \"deny\""), "{diff}");
    let simulated = room.json(&format!("policy simulate --against {allowing} --json"));
    let first = &simulated["differences"][0];
    assert_eq!(
        (&simulated["calls"], &first["was"], &first["now"]),
        (&json!(2), &json!("deny"), &json!("allow")),
        "{simulated}"
    );
    assert_eq!(room.run("call echo message=hello").code(), Some(3), "nothing has happened yet");
    let restored = room.command(["revisions", "restore", allowing, "--reason", "too narrow", "--json"]).run().unwrap();
    let restored: Value = serde_json::from_str(&restored.stdout).unwrap();
    let file = json!([{"file": "policies/mine.toml", "change": "changed"}]);
    assert_eq!(restored, json!({"restored": allowing, "before": denying, "files": file}));
    assert_eq!(room.run("call echo message=hello").code(), Some(0));
    assert_eq!(ids(&room), [allowing.clone(), denying.clone(), allowing.clone()]);
    assert_eq!(room.json("revisions list --json")["revisions"][0]["reason"], json!("too narrow"));
    let record =
        fs::read_to_string(room.world.home().join(".toolgate/audit/audit.jsonl")).unwrap_or_else(|_| every_line(&room));
    assert!(record.contains("\"change\":\"restore\"") && record.contains("too narrow"), "{record}");
    assert_eq!(room.run("audit verify").code(), Some(0));
    assert!(
        !fs::read_dir(room.world.home().join(".toolgate/revisions"))
            .unwrap()
            .any(|entry| { entry.unwrap().file_name().to_string_lossy().starts_with("laid-out-") })
    );
}

/// All lines of the record, from all files.
fn every_line(room: &Room) -> String {
    let files = fs::read_dir(room.world.home().join(".toolgate/audit")).unwrap();
    files.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok()).collect()
}

#[test]
fn commands_that_edit_keep_what_was_before_and_after() {
    let room = Room::new();
    room.world.write_in_home(".toolgate/settings.json", "{ /* mine */ }\n").unwrap();
    assert_eq!(room.run("mcp add -s user time uvx mcp-server-time").code(), Some(0));
    assert_eq!(room.run("policy preset ci --write").code(), Some(0));
    let listed = room.json("revisions --json");
    let causes: Vec<&Value> = listed["revisions"].as_array().unwrap().iter().map(|one| &one["cause"]).collect();
    assert_eq!(causes, ["policy preset", "mcp add", "changed by hand"]);
    let oldest = ids(&room).pop().unwrap();
    assert_eq!(room.run(&format!("revisions show {oldest} settings.json")).stdout, "{ /* mine */ }\n");
    assert_eq!(room.run(&format!("revisions restore {oldest}")).code(), Some(0));
    let settings = room.world.home().join(".toolgate/settings.json");
    assert_eq!(fs::read_to_string(settings).unwrap(), "{ /* mine */ }\n");
    assert!(!room.world.home().join(".toolgate/policies/ci.toml").exists());
}

#[test]
fn a_revision_that_would_stop_everything_is_not_restored() {
    let room = Room::new();
    room.world.write_in_home(POLICY, "[[rule]]\ntoolNam = \"x\"\n").unwrap();
    assert_eq!(room.run("revisions").code(), Some(0));
    room.world.write_in_home(POLICY, &rule("echo", "deny")).unwrap();
    let broken = ids(&room).pop().unwrap();
    let output = room.run(&format!("revisions restore {broken}"));
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(
        output.stderr.contains("cannot be used") && output.stderr.contains(" policies/mine.toml:1:1: "),
        "{}",
        output.stderr
    );
    let now = fs::read_to_string(room.world.home().join(POLICY)).unwrap();
    assert_eq!(now, rule("echo", "deny"));
    for (line, code) in [
        ("revisions restore ffffffffffffffff", 7),
        ("revisions show zzz", 7),
        ("revisions purge", 2),
        ("revisions purge --keep 1", 0),
        ("revisions purge --all", 0),
        ("revisions", 0),
    ] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(code), "{line}: {}", output.transcript());
    }
}
