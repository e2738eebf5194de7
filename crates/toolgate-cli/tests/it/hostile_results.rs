//! Results, listings and schemas of ten megabytes that grow when shown: no command takes more memory than a few copies of them.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, PromptScript, ResourceScript, Script, ToolScript};

use crate::room::Room;

/// Size of the server's answer.
const HOSTILE_BYTES: usize = 10_000_000;

/// Peak memory of a command.
const PEAK_BYTES_MAX: u64 = 150 * 1024 * 1024;

/// Time limit for a command, for an unoptimized build beside other tests and a server that builds its answer meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// Each is equally large and grows in another way.
fn hostile_json() -> [(&'static str, String); 5] {
    let open = "[".repeat(HOSTILE_BYTES / 2);
    let close = "]".repeat(HOSTILE_BYTES / 2);
    [
        ("nested", format!("{open}{close}")),
        ("numbers", format!("[{}0]", "0,".repeat(HOSTILE_BYTES / 2))),
        ("objects", format!("[{}{{}}]", "{\"\":0},".repeat(HOSTILE_BYTES / 7))),
        ("members", format!("{{{}\"\":0}}", "\"\":0,".repeat(HOSTILE_BYTES / 5))),
        ("text", format!("[\"{}\"]", "\u{7f}".repeat(HOSTILE_BYTES))),
    ]
}

fn hostile_texts() -> [(&'static str, String); 3] {
    [
        ("delete", "\u{7f}".repeat(HOSTILE_BYTES)),
        ("turned", "\u{202e}".repeat(HOSTILE_BYTES / 3)),
        ("lines", "\u{9b}\n".repeat(HOSTILE_BYTES / 3)),
    ]
}

/// A complete answer with this JSON as its result.
fn answer(result: &str) -> Behaviour {
    Behaviour::Raw(format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#))
}

/// A tool with an output schema, so that results are checked.
fn checked(answer: Behaviour) -> ToolScript {
    ToolScript::new("grow", answer).output_schema(json!({"type": "object", "properties": {"a": {"type": "array"}}}))
}

/// A room with a server `big` with one tool, and a prompt and a resource with these answers.
fn room(tool: ToolScript, prompt: Behaviour, resource: Behaviour) -> Room {
    let script = Script::new("big")
        .tool(tool)
        .prompt(PromptScript::new("grow", prompt))
        .resource(ResourceScript::new("big:it", resource));
    Room::new().server("big", &script).without_workspace()
}

/// Peak memory and exit code of the program. Its output is discarded.
#[track_caller]
fn peak(room: &Room, line: &str) -> (u64, Duration, Option<i32>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(line.split_whitespace())
        .env_clear()
        .envs(room.world.variables())
        .current_dir(room.world.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (began, mut peak) = (Instant::now(), 0);
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let high = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = peak.max(high.and_then(|kilobytes| kilobytes.trim().parse().ok()).unwrap_or(0) * 1024);
        if let Some(status) = child.try_wait().unwrap() {
            return (peak, began.elapsed(), status.code());
        }
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("`{line}` did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs every line. Each must end in one of the expected ways and stay small.
#[track_caller]
#[expect(clippy::print_stdout, reason = "the figures are read by people, in the output of a run")]
fn check(room: &Room, what: &str, lines: &[(&str, &[i32])]) {
    for (line, endings) in lines {
        let (bytes, took, code) = peak(room, line);
        assert!(code.is_some_and(|code| endings.contains(&code)), "`{line}` with {what} ended with {code:?}");
        println!("{what}: `{line}` {} MB in {took:.1?}", bytes / 1_048_576);
        assert!(bytes < PEAK_BYTES_MAX, "`{line}` with {what} took {} MB", bytes / 1_048_576);
    }
}

/// All commands that show a result.
const SHOWN: [(&str, &[i32]); 6] = [
    ("call grow", &[0, 1]),
    ("call grow --debug", &[0, 1]),
    ("call grow --json", &[0, 1]),
    ("call grow --raw", &[0, 1]),
    ("prompt grow", &[0, 4]),
    ("read big:it", &[0, 4]),
];

fn hostile(what: &str) -> String {
    let (_, json) = hostile_json().into_iter().find(|(name, _)| *name == what).unwrap();
    json
}

/// Results with this JSON as data.
#[track_caller]
fn check_data(what: &str) {
    let hostile = hostile(what);
    let tool = answer(&format!(r#"{{"content":[],"structuredContent":{{"a":{hostile}}}}}"#));
    let prompt = answer(&format!(r#"{{"messages":[{{"role":"user","content":{{"type":"x","x":{hostile}}}}}]}}"#));
    let resource = answer(&format!(r#"{{"contents":[{{"uri":"big:it","text":"x","x":{hostile}}}]}}"#));
    check(&room(checked(tool), prompt, resource), &format!("data of {what}"), &SHOWN);
}

/// Results with this JSON instead of content blocks.
#[track_caller]
fn check_parts(what: &str) {
    let hostile = hostile(what);
    let parts = |member: &str| answer(&format!(r#"{{"{member}":{hostile}}}"#));
    let room = room(ToolScript::new("grow", parts("content")), parts("messages"), parts("contents"));
    check(&room, &format!("parts of {what}"), &SHOWN);
}

#[test]
fn nested_data_stays_small() {
    check_data("nested");
}

#[test]
fn many_numbers_stay_small() {
    check_data("numbers");
}

#[test]
fn many_members_stay_small() {
    check_data("members");
}

#[test]
fn hidden_characters_in_data_stay_small() {
    check_data("text");
}

#[test]
fn nested_parts_stay_small() {
    check_parts("nested");
}

#[test]
fn many_parts_stay_small() {
    check_parts("numbers");
}

#[test]
fn many_empty_parts_stay_small() {
    check_parts("objects");
}

#[track_caller]
fn check_texts(what: &str) {
    let (_, text) = hostile_texts().into_iter().find(|(name, _)| *name == what).unwrap();
    let block = json!({"type": "text", "text": text});
    let room = room(
        ToolScript::new("grow", answer(&json!({"content": [block]}).to_string())),
        answer(&json!({"messages": [{"role": "user", "content": block}]}).to_string()),
        answer(&json!({"contents": [{"uri": "big:it", "text": text}]}).to_string()),
    );
    check(&room, what, &SHOWN);
}

#[test]
fn texts_of_control_characters_stay_small() {
    check_texts("delete");
}

#[test]
fn many_lines_stay_small() {
    check_texts("lines");
}

#[test]
fn texts_that_turn_the_direction_stay_small() {
    check_texts("turned");
}

#[test]
fn listings_that_grow_when_they_are_shown_stay_small() {
    const LISTED: [(&str, &[i32]); 7] = [
        ("tools", &[0, 4]),
        ("tools --schema", &[0, 4]),
        ("tools --json", &[0, 4]),
        ("mcp list", &[0, 4]),
        ("mcp test big", &[0, 4]),
        ("call grow a=1", &[0, 1, 2, 4, 7]),
        ("policy explain grow --json", &[0, 2, 4, 7]),
    ];
    for (what, hostile) in hostile_json() {
        for list in [
            format!(r#"{{"tools":[{{"name":"grow","inputSchema":{{"type":"object","x":{hostile}}}}}]}}"#),
            format!(r#"{{"tools":{hostile}}}"#),
        ] {
            let script = Script::new("big").tool(ToolScript::text("grow", "x")).method("tools/list", answer(&list));
            let room = Room::new().server("big", &script).without_workspace();
            check(&room, &format!("tools with {what}: {}", list.get(..40).unwrap_or_default()), &LISTED);
        }
    }
}

#[test]
fn what_was_recorded_of_large_calls_is_shown_small() {
    let big: Value = json!({"content": [{"type": "text", "text": "\u{7f}".repeat(HOSTILE_BYTES)}]});
    let room = room(ToolScript::new("grow", answer(&big.to_string())), answer("{}"), answer("{}"));
    check(
        &room,
        "a large text",
        &[("call grow", &[0]), ("audit show", &[0]), ("audit show --json", &[0]), ("audit stats", &[0])],
    );
}
