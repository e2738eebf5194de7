//! A session at a terminal while servers are still starting: what there is is shown and used at once.

use serde_json::json;
use toolgate_testkit::ToolScript;

use crate::emulated::Emulated;
use crate::room::{Room, sample};

/// Servers in the order of their names: `late` starts when the test says so and `never` does not, `one` is there at once.
fn room() -> Room {
    let waits = |file: &str| format!("until [ -e {file} ]; do sleep 0.02; done; exec ../server --script ../late.json");
    let late = sample("late").tool(ToolScript::text("alone", "of late"));
    let room = Room::new().server("late", &late).server("one", &sample("one")).without_workspace();
    room.entry("late", json!({"command": "sh", "args": ["-c", waits("go")]}))
        .entry("never", json!({"command": "sh", "args": ["-c", waits("gone")]}))
}

fn begun(room: &Room) -> Emulated {
    let terminal = Emulated::run(room, &[], 90);
    terminal.sees("🟢 one is ready: 3 tools");
    terminal
}

fn lets_late_start(room: &Room) {
    std::fs::write(room.world.workspace().join("go"), "").unwrap();
}

#[test]
fn listings_answer_with_what_is_there() {
    let room = room();
    let mut terminal = begun(&room);
    let cases = [
        ("/tools", "one  3 tools", "🔄 still starting: late, never"),
        ("/prompts", "one  1 prompt", "🔄 still starting: late, never"),
        ("/resources", "one  1 resource", "🔄 still starting: late, never"),
        ("/tools late", "> /tools late", "🔄 still starting: late"),
    ];
    for (typed, shown, starting) in cases {
        terminal.presses("/clear\r");
        // What is typed before the next prompt stands may be lost.
        terminal.until("a clear screen", |screen| screen.starts_with("> ") && screen.lines().count() == 1);
        terminal.presses(&format!("{typed}\r"));
        terminal.sees_line(starting);
        terminal.sees(shown);
    }
    assert!(!terminal.screen().contains("error:"), "{}", terminal.screen());
    lets_late_start(&room);
    terminal.sees("🟢 late is ready: 4 tools");
    terminal.presses("/tools\r");
    terminal.sees_line("🔄 still starting: never");
    terminal.sees("late  4 tools");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn a_name_means_what_it_was_shown_as() {
    let room = room();
    let mut terminal = begun(&room);
    terminal.presses("/call echo message=first\r");
    terminal.sees_line("first");
    lets_late_start(&room);
    terminal.sees("🟢 late is ready: 4 tools");
    terminal.presses("/call lat\t");
    terminal.sees("late__echo");
    terminal.clears();
    terminal.presses("/call echo message=second\r");
    terminal.sees_line("second");
    terminal.presses("/call late__echo message=third\r");
    terminal.sees_line("third");
    let shown = room.json("audit show --json");
    let called = |record: &serde_json::Value| format!("{} {}", record["server"], record["session"]);
    let calls: Vec<String> = shown["calls"].as_array().unwrap().iter().map(called).collect();
    let session = shown["calls"][0]["session"].to_string();
    let of = |server: &str| format!("\"{server}\" {session}");
    assert!(calls == [of("one"), of("one"), of("late")] || calls == [of("late"), of("one"), of("one")], "{calls:?}");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn a_call_waits_for_the_server_that_has_the_tool() {
    for (typed, waits) in [("/call late__alone", "waiting for late"), ("/call alone", "waiting for late, never")] {
        let room = room();
        let mut terminal = begun(&room);
        terminal.presses(&format!("{typed}\r"));
        terminal.sees(waits);
        lets_late_start(&room);
        terminal.sees_line("of late");
        assert_eq!(terminal.leaves(), Some(0));
    }
}
