//! Limits of `audit.alerts` as the program reports them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::room::{Room, sample};

const CALL: &str = "call echo message=x";

fn room(audit: Value) -> Room {
    Room::new().server("s", &sample("s")).setting("audit", audit)
}

#[test]
fn a_call_that_passes_a_limit_is_told_flagged_and_found() {
    let room = room(json!({
        "alerts": [{"name": "any result", "resultBytes": 1}, {"latencyMs": 600_000}],
        "onAlert": "cat > told.json"
    }));
    let output = room.run(CALL);
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(output.stderr.contains("alert any result: `echo` of s: a result of "), "{}", output.stderr);
    let told: Value = serde_json::from_str(&wait_for(&room, "told.json")).unwrap();
    assert_eq!((&told["alert"], &told["tool"]), (&json!("any result"), &json!("echo")));
    let call = &room.json("audit show --json")["calls"][0];
    assert_eq!(call["alerts"], json!(["any result"]));
    let shown = room.run("audit show").stdout;
    assert!(shown.contains("! alert any result"), "{shown}");
    let checked = room.run("audit check");
    assert_eq!(checked.code(), Some(9), "{}", checked.transcript());
    assert!(checked.stdout.contains("any result") && checked.stdout.contains("(limit 1)"), "{}", checked.stdout);
    let output = room.run("audit check --since 1h --json");
    let found: Value = serde_json::from_str(&output.stdout).unwrap();
    let alert = &found["alerts"][0];
    assert_eq!((&found["limits"], &alert["measure"], &alert["limit"]), (&json!(2), &json!("resultBytes"), &json!(1)));
}

#[test]
fn nothing_to_tell_and_nothing_to_look_for_is_said() {
    let quiet = room(json!({"alerts": [{"latencyMs": 600_000}]}));
    assert_eq!(quiet.run(CALL).stderr, "");
    quiet.check(
        "audit check",
        "
        --- stderr
        no call passed a limit
        --- exit 0
        ",
    );
    Room::new().check(
        "audit check",
        "
        --- stderr
        no limits are set: `audit.alerts` is empty
        --- exit 0
        ",
    );
    let wrong = room(json!({"alerts": [{"callsPerMinut": 1}]}));
    let output = wrong.run("audit check");
    assert_eq!(output.code(), Some(9), "{}", output.transcript());
    assert!(output.stderr.contains("unknown key `callsPerMinut`; did you mean `callsPerMinute`?"), "{}", output.stderr);
    assert!(wrong.run(CALL).stderr.contains("unknown key `callsPerMinut`; did you mean `callsPerMinute`?"));
}

/// A limit is about a tool under each of its names, as a restriction is.
#[test]
fn a_limit_knows_a_tool_by_all_its_names() {
    let names =
        ["run_shell_command", "ShellTool", "shelltool", "RUN_*", "workspace__run_shell_command", "mcp_workspace_*"];
    let limits: Vec<Value> = names.iter().map(|name| json!({"name": name, "tool": name, "resultBytes": 0})).collect();
    let others = [
        json!({"name": "other", "tool": "ReadFileTool", "resultBytes": 0}),
        json!({"name": "own", "server": "WORKSPACE", "resultBytes": 0}),
    ];
    let room = room(json!({"alerts": limits.into_iter().chain(others).collect::<Vec<_>>()}));
    let output = room.run("call run_shell_command command=ls");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    let expected: Vec<&str> = names.into_iter().chain(["own"]).collect();
    assert_eq!(room.json("audit show --json")["calls"][0]["alerts"], json!(expected));
    let found: Value = serde_json::from_str(&room.run("audit check --json").stdout).unwrap();
    let at = found["alerts"][0]["at"].as_str().unwrap();
    assert!(at.contains('T') && at.ends_with('Z'), "{found}");
}

/// Background programs of an alert command end with it.
#[test]
fn a_command_leaves_nothing_behind() {
    let room = room(json!({
        "alerts": [{"resultBytes": 1}],
        "onAlert": "sh -c 'sleep 3; echo late > late.txt' & echo now > now.txt"
    }));
    assert_eq!(room.run(CALL).code(), Some(0));
    let home = room.world.home().join(".toolgate");
    assert!(home.join("now.txt").exists());
    std::thread::sleep(std::time::Duration::from_millis(3500));
    assert!(!home.join("late.txt").exists());
}

/// An odd key among those of the record is found by the check, too.
#[test]
fn settings_of_the_record_that_have_no_effect_are_found() {
    for (audit, said) in [
        (json!({"alert": [{"latencyMs": 5}]}), "did you mean `alerts`?"),
        (json!({"alerts": [], "onAlert": ["echo"]}), "audit.onAlert: expected a string, found a list"),
    ] {
        let output = room(audit).run("audit check");
        assert_eq!(output.code(), Some(9), "{}", output.transcript());
        assert!(output.stderr.contains(said), "{}", output.transcript());
    }
}

/// The text of a file that a command writes in the person's folder.
fn wait_for(room: &Room, name: &str) -> String {
    let file = room.world.home().join(".toolgate").join(name);
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if text.ends_with('\n') || Instant::now() > until {
            return text;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_command_that_hangs_neither_delays_the_end_nor_stays_for_ever() {
    let room = room(json!({"alerts": [{"resultBytes": 1}], "onAlert": "echo $$ > pid; sleep 600"}));
    let begun = Instant::now();
    let output = room.run(CALL);
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(8), "the command has ten seconds, and the call took {took:?}");
    let pid = wait_for(&room, "pid");
    let status = std::path::Path::new("/proc").join(pid.trim()).join("stat");
    // What ended and has no parent to ask for it is a zombie.
    let is_running = || std::fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z "));
    while is_running() && begun.elapsed() < Duration::from_secs(40) {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!is_running(), "it was ended");
}

#[test]
fn what_the_record_tells_is_found_also_when_the_calls_before_it_are_gone() {
    let room = room(json!({"alerts": [{"callsPerMinute": 1}]}));
    assert_eq!(room.run(CALL).code(), Some(0));
    assert!(room.run(CALL).stderr.contains("alert callsPerMinute"));
    let log = room.world.home().join(".toolgate/audit/audit.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    // The records of the call before it are gone, as with a file that was removed.
    let last = text.lines().rev().take_while(|line| !line.contains("\"resultBytes\"")).count();
    let kept: Vec<&str> = text.lines().skip(text.lines().count().saturating_sub(last + 1)).collect();
    std::fs::write(&log, kept.join("\n") + "\n").unwrap();
    let checked = room.run("audit check");
    assert_eq!(checked.code(), Some(9), "{}{text}", checked.transcript());
    assert!(checked.stdout.contains("reported when the call was made"), "{}", checked.transcript());
    let found: Value = serde_json::from_str(&room.run("audit check --json").stdout).unwrap();
    let alert = &found["alerts"][0];
    assert_eq!((&alert["alert"], &alert["measure"]), (&json!("callsPerMinute"), &json!("recorded")));
    assert_eq!((&alert["value"], &alert["limit"]), (&Value::Null, &Value::Null));
}
