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
fn a_name_means_one_tool_however_fast_its_server_is() {
    let room = room();
    let mut terminal = begun(&room);
    // `late` and `never` stand before `one`, and may have an `echo` too.
    terminal.presses("/call ech\t");
    terminal.clears();
    terminal.presses("/tools one\r");
    terminal.sees("one__echo");
    terminal.presses("/call one__echo message=first\r");
    terminal.sees_line("first");
    lets_late_start(&room);
    terminal.sees("🟢 late is ready: 4 tools");
    terminal.presses("/call echo message=second\r");
    terminal.sees_line("second");
    terminal.presses("/call one__echo message=third\r");
    terminal.sees_line("third");
    let shown = room.json("audit show --json");
    let calls = shown["calls"].as_array().unwrap();
    let session = &calls[0]["session"];
    let mut called: Vec<String> =
        calls.iter().map(|record| format!("{} {}", record["server"], record["session"] == *session)).collect();
    called.sort();
    assert_eq!(called, ["\"late\" true", "\"one\" true", "\"one\" true"]);
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn a_result_says_that_it_is_an_error_or_nothing() {
    let room = Room::new().server("one", &sample("one").tool(ToolScript::text("empty", ""))).without_workspace();
    let mut terminal = Emulated::run(&room, &[], 90);
    terminal.sees("1/1 server");
    terminal.presses("/call fail\r");
    terminal.sees_line("error: `fail` of one failed:");
    terminal.presses("/call empty\r");
    terminal.sees_line("(no content)");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn every_command_calls_a_tool_by_the_same_name() {
    let room = Room::new().server("one", &sample("one")).server("two", &sample("two")).without_workspace();
    // Also when what servers offer is known from before.
    for _start in 0..2 {
        let lines =
            "/tools two\n/tools one\n/mcp two\n/call --server two echo message=hi\n/call two__echo message=hi\n";
        let output = room.command([]).input(lines).run().unwrap();
        let text = output.transcript();
        let all: Vec<&str> = output.stdout.lines().collect();
        let shows = |name: &str| {
            all.iter().filter(|line| line.trim_start_matches([' ', '-']).split(' ').next() == Some(name)).count()
        };
        assert_eq!((shows("two__echo"), shows("echo"), shows("hi")), (2, 1, 2), "{text}");
        let output = room.command([]).input("/tools\n/call echo message=x\n").run().unwrap();
        assert_eq!(output.code(), Some(0), "{}", output.transcript());
    }
    let calls = room.json("audit show --json");
    let of = |server: &str| calls["calls"].as_array().unwrap().iter().filter(|call| call["server"] == *server).count();
    assert_eq!((of("one"), of("two")), (2, 4));
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

#[test]
fn a_server_that_is_only_remembered_is_not_called_ready() {
    let fickle = "[ -e go ] && exec ../server --script ../late.json";
    let late = sample("late").tool(ToolScript::text("alone", "of late"));
    let room = Room::new().server("late", &late).server("one", &sample("one")).without_workspace();
    let room = room.entry("late", json!({"command": "sh", "args": ["-c", fickle]}));
    lets_late_start(&room);
    assert_eq!(room.run("mcp refresh").code(), Some(0));
    std::fs::remove_file(room.world.workspace().join("go")).unwrap();
    let mut terminal = Emulated::run(&room, &[], 90);
    terminal.sees("2/2 servers");
    terminal.presses("/mcp late\r");
    terminal.sees("⚪ late - Resting, starts when it is used (4 tools");
    terminal.presses("/stats\r");
    terminal.sees("2 of 2 servers ready, 2 of them resting");
    terminal.presses("/call late__echo message=hi\r");
    terminal.sees("1/2 servers");
    terminal.presses("/clear\r");
    let is_clear = |screen: &str| !screen.contains("resting") && screen.lines().any(|line| line.starts_with(">  "));
    terminal.until("a clear screen", is_clear);
    terminal.presses("/mcp late\r");
    terminal.sees("🔴 late - Disconnected");
    terminal.sees("error: MCP server late");
    terminal.presses("/stats\r");
    terminal.sees("1 of 2 servers ready, 1 of them resting (not there: late)");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn the_tools_of_a_server_that_was_lost_stay_listed_and_say_so() {
    let ends = "(until [ -e ended ]; do sleep 0.02; done; kill $$) >/dev/null 2>&1 &";
    let starts = format!("[ ! -e ended ] || exit 1; {ends} exec ../server --script ../one.json");
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let room = room.entry("one", json!({"command": "sh", "args": ["-c", starts]}));
    let mut terminal = begun(&room);
    std::fs::write(room.world.workspace().join("ended"), "").unwrap();
    terminal.sees("one");
    for (typed, shown) in
        [("/tools", "one  3 tools, unavailable: "), ("/mcp", "🔴 one - Disconnected, next attempt in ")]
    {
        let mut is_shown = false;
        // Between two attempts; while one is made, nothing is planned.
        for _ in 0..50 {
            terminal.presses("/clear\r");
            terminal.until("a clear screen", |screen| screen.starts_with("> ") && screen.lines().count() == 1);
            terminal.presses(&format!("{typed}\r"));
            terminal.sees("echo");
            is_shown = terminal.screen().contains(shown);
            if is_shown {
                break;
            }
        }
        assert!(is_shown, "{typed}: {}", terminal.screen());
    }
    assert_eq!(terminal.leaves(), Some(0));
}
