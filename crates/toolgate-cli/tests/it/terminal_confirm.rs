//! The question before a call, on a terminal: what it shows, and what each answer does.

use serde_json::json;
use toolgate_testkit::{Script, ToolScript};

use crate::room::{Room, sample};
use crate::screen;

const ENTER: &str = "\r";
const ESCAPE: &str = "\u{1b}";
const INTERRUPT: &str = "\u{3}";
const UP: &str = "\u{1b}[A";
const DOWN: &str = "\u{1b}[B";

const QUESTION: &str = "Make this call?";

fn room() -> Room {
    Room::new().with_questions().server("one", &sample("one")).without_workspace()
}

fn was_called(room: &Room, server: &str) -> bool {
    std::fs::read_to_string(room.log(server)).is_ok_and(|log| log.contains("tools/call"))
}

#[test]
fn a_call_is_made_after_a_yes() {
    let room = room();
    let evil = "message=a\u{1b}[2Jb";
    let seen = screen::run(&room, &["call", "echo", evil], &[(QUESTION, ENTER)]);
    let shown = seen.plain();
    assert_eq!(seen.code, Some(0), "{shown}");
    for line in ["This command wants to call echo of server one", "    message: a\\e[2Jb", "  asked because: "] {
        assert!(shown.contains(line), "{line}:\n{shown}");
    }
    assert!(was_called(&room, "one") && seen.terminal_is_as_before, "{shown}");
}

#[test]
fn everything_else_is_a_no() {
    let cases: [&[(&str, &str)]; 4] = [
        &[(QUESTION, ESCAPE)],
        &[(QUESTION, INTERRUPT)],
        &[(QUESTION, UP), ("No, and say why", UP), ("No", ENTER)],
        &[(QUESTION, UP), ("No, and say why", ENTER), ("Why not?", "too dear\r")],
    ];
    for keys in cases {
        let room = room();
        let seen = screen::run(&room, &["call", "echo", "message=x"], keys);
        assert_eq!(seen.code, Some(3), "{keys:?}: {}", seen.plain());
        assert!(!was_called(&room, "one") && seen.terminal_is_as_before, "{keys:?}: {}", seen.plain());
    }
}

#[test]
fn a_yes_for_good_is_not_asked_for_again() {
    let room = room();
    let keys = [(QUESTION, DOWN), ("Yes, and echo for the rest", DOWN), ("Yes, and always echo of one", ENTER)];
    let seen = screen::run(&room, &["call", "echo", "message=x"], &keys);
    assert_eq!(seen.code, Some(0), "{}", seen.plain());
    let listed = room.json("grants list --json");
    assert_eq!(listed["grants"][0]["tools"], json!(["echo"]), "{listed}");
    let again = screen::run(&room, &["call", "echo", "message=y"], &[]);
    assert_eq!(again.code, Some(0), "{}", again.plain());
    assert!(!again.plain().contains(QUESTION), "{}", again.plain());
    let changed = Script::new("one").tool(ToolScript::echo("echo").description("Sends it to me."));
    let room = room.server("one", &changed);
    let asked = screen::run(&room, &["call", "echo", "message=y"], &[(QUESTION, ESCAPE)]);
    assert_eq!(asked.code, Some(3), "a tool that changed is asked about again: {}", asked.plain());
}

#[test]
fn an_edit_is_shown_as_a_diff() {
    let room = Room::new();
    room.world.write_in_workspace("a.txt", "one\ntwo\n").unwrap();
    let words = ["call", "write_file", "path=a.txt", "content=one\nzwei\n"];
    let seen = screen::run(&room, &words, &[(QUESTION, ENTER)]);
    let shown = seen.plain();
    assert_eq!(seen.code, Some(0), "{shown}");
    for line in ["  changes a.txt", "    -two", "    +zwei"] {
        assert!(shown.contains(line), "{line}:\n{shown}");
    }
    assert!(!shown.contains("always write_file"), "{shown}");
    assert_eq!(std::fs::read_to_string(room.world.workspace().join("a.txt")).unwrap(), "one\nzwei\n");
}

#[test]
fn yes_can_be_said_beforehand() {
    let room = room();
    let seen = screen::run(&room, &["call", "echo", "message=x", "--yes"], &[]);
    assert_eq!(seen.code, Some(0), "{}", seen.plain());
    assert!(!seen.plain().contains(QUESTION) && was_called(&room, "one"), "{}", seen.plain());
}
