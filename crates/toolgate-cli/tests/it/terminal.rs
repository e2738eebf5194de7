//! On a terminal: colours, a line that says who is waited for, progress — and never anything that a server wrote as it is.

use serde_json::json;
use toolgate_testkit::{Behaviour, Script, ToolScript, What, When};

use crate::room::{Room, sample};
use crate::screen;

#[test]
fn colours_are_for_terminals_that_want_them() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let seen = screen::run(&room, &["tools"], &[]);
    assert_eq!(seen.code, Some(0), "{}", seen.text);
    assert!(seen.text.contains("\u{1b}[1mone\u{1b}[0m"), "{:?}", seen.text);
    let plain = screen::run(&room, &["tools", "--no-color"], &[]);
    assert!(!plain.text.contains("\u{1b}["), "{:?}", plain.text);
    let mut room = room;
    room.world.set_variable("NO_COLOR", "1");
    assert!(!screen::run(&room, &["tools"], &[]).text.contains("\u{1b}["));
}

#[test]
fn lines_are_cut_at_the_edge() {
    let script = Script::new("wide").tool(ToolScript::text("long", "x").description("工".repeat(100)));
    let room = Room::new().server("wide", &script).without_workspace();
    let seen = screen::run(&room, &["tools"], &[]);
    let line = seen.plain().lines().find(|line| line.contains("long")).map(ToOwned::to_owned).unwrap();
    let width: usize = line.chars().map(|letter| if letter > '\u{2fff}' { 2 } else { 1 }).sum();
    assert!((70..=80).contains(&width) && line.ends_with('…'), "{width} columns: {line}");
}

#[test]
fn who_is_waited_for_is_said() {
    let slow = sample("slow").fault(When::Start, What::Pause { ms: 1500 });
    let room = Room::new().server("sluggish", &slow).without_workspace();
    for line in [&["tools"][..], &["mcp", "list"]] {
        let seen = screen::run(&room, line, &[]);
        assert!(seen.plain().contains("waiting for sluggish"), "{line:?}: {:?}", seen.text);
        assert_eq!(seen.code, Some(0));
    }
    let output = room.run("tools");
    assert_eq!(output.stderr, "", "nobody who reads a file is told");
}

#[test]
fn progress_is_shown_while_a_call_runs() {
    let script =
        Script::new("works").tool(ToolScript::new("work", Behaviour::progress(4, 300, Behaviour::text("done"))));
    let room = Room::new().server("works", &script).without_workspace();
    let seen = screen::run(&room, &["call", "work"], &[]);
    assert!(seen.plain().contains("work of works: "), "{:?}", seen.text);
    assert!(seen.plain().trim_end().ends_with("done"), "{:?}", seen.text);
    assert_eq!(room.run("call work").stderr, "");
}

#[test]
fn nothing_of_a_server_acts_on_the_terminal() {
    let script = Script::new("evil")
        .tool(ToolScript::text("strike", "\u{1b}]0;owned\u{7}\u{9b}2J\u{1b}[2Jtext").description("\u{1b}[2Jd"))
        .tool(ToolScript::new("data", Behaviour::structured(json!({"text": "\u{9b}2J\u{202e}"}))));
    let room = Room::new().server("evil", &script).without_workspace();
    let lines: [&[&str]; 6] = [
        &["tools", "--no-color"],
        &["tools", "--json"],
        &["call", "strike"],
        &["call", "strike", "--raw"],
        &["call", "strike", "--json"],
        &["call", "data", "--json"],
    ];
    for line in lines {
        let seen = screen::run(&room, line, &[]);
        let acts = |letter: char| matches!(letter, '\u{1b}' | '\u{7}' | '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}');
        assert!(!seen.text.contains(acts), "{line:?}: {:?}", seen.text);
        assert_eq!(seen.code, Some(0), "{line:?}: {}", seen.text);
    }
}
