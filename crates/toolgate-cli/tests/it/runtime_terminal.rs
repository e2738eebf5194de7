//! The runtime behind a terminal: colours, questions, progress, and what only the program in front of it can do.

use serde_json::json;
use toolgate_testkit::{Behaviour, Record, Script, ToolScript};

use crate::room::{Room, sample};
use crate::runtime_room::RuntimeRoom;
use crate::screen;

const ENTER: &str = "\r";
const ESCAPE: &str = "\u{1b}";
const UP: &str = "\u{1b}[A";
const DOWN: &str = "\u{1b}[B";

const QUESTION: &str = "Make this call?";

fn asks() -> RuntimeRoom {
    RuntimeRoom::up(Room::new().with_questions().server("one", &sample("one")).without_workspace())
}

fn calls(room: &Room) -> usize {
    Record::of_log(room.log("one")).count("tools/call")
}

#[test]
fn a_question_is_asked_where_the_person_is() {
    let room = asks();
    let words = ["call", "echo", "message=a\u{1b}[2Jb"];
    let seen = screen::run(&room, &words, &[(QUESTION, ENTER)]);
    let shown = seen.plain();
    assert_eq!(seen.code, Some(0), "{shown}");
    for line in ["This command wants to call echo of server one", "    message: a\\e[2Jb", "  asked because: "] {
        assert!(shown.contains(line), "{line}:\n{shown}");
    }
    assert!(!shown.contains("for the rest of this session"), "a session ends with the command: {shown}");
    assert!(seen.terminal_is_as_before && calls(&room) == 1, "{shown}");
    let refusals: [&[(&str, &str)]; 2] =
        [&[(QUESTION, ESCAPE)], &[(QUESTION, UP), ("No, and say why", ENTER), ("Why not?", "too dear\r")]];
    for keys in refusals {
        let seen = screen::run(&room, &["call", "echo", "message=x"], keys);
        assert_eq!(seen.code, Some(3), "{keys:?}: {}", seen.plain());
        assert!(seen.terminal_is_as_before && calls(&room) == 1, "{}", seen.plain());
    }
    let keys = [(QUESTION, DOWN), ("Yes, and always echo of one", ENTER)];
    assert_eq!(screen::run(&room, &["call", "echo", "message=x"], &keys).code, Some(0));
    assert_eq!(room.json("grants list --json")["grants"][0]["tools"], json!(["echo"]));
    let again = screen::run(&room, &["call", "echo", "message=y"], &[]);
    assert_eq!(again.code, Some(0), "{}", again.plain());
}

#[test]
fn a_question_can_be_left_with_a_signal() {
    let room = asks();
    let seen = screen::attended(&room, &["call", "echo", "message=x"], |person| {
        person.sees(QUESTION);
        person.interrupts();
    });
    assert_eq!(seen.code, Some(6), "{}", seen.plain());
    assert!(seen.terminal_is_as_before && calls(&room) == 0, "{}", seen.plain());
}

#[test]
fn a_terminal_looks_as_without_it() {
    let script =
        Script::new("works").tool(ToolScript::new("work", Behaviour::progress(4, 300, Behaviour::text("done"))));
    let room = RuntimeRoom::up(Room::new().server("works", &script).without_workspace());
    let seen = screen::run(&room, &["tools"], &[]);
    assert!(seen.text.contains("\u{1b}[1mworks\u{1b}[0m"), "{:?}", seen.text);
    assert!(!screen::run(&room, &["tools", "--no-color"], &[]).text.contains("\u{1b}[1m"));
    let seen = screen::run(&room, &["call", "work"], &[]);
    assert!(seen.plain().contains("work of works: "), "{:?}", seen.text);
    assert!(seen.plain().trim_end().ends_with("done"), "{:?}", seen.text);
    assert!(room.status()["requests"].as_u64() >= Some(3));
}

#[test]
fn a_folder_nobody_decided_about_is_asked_about_by_the_program() {
    let room = RuntimeRoom::up(Room::new().server("one", &sample("one")).without_workspace());
    let entry = json!({"mcpServers": {"two": {"command": "/nonexistent/program"}}}).to_string();
    room.world.write_in_workspace(".toolgate/settings.json", &entry).unwrap();
    let seen =
        screen::run(&room, &["call", "echo", "message=x"], &[("Do you trust it?", UP), ("Do not trust it", ENTER)]);
    assert!(seen.plain().contains("Do not trust it"), "{}", seen.plain());
    assert!(seen.terminal_is_as_before, "{}", seen.plain());
    let here = room.command(["call", "echo", "message=x"]).env("TOOLGATE_NO_RUNTIME", "1").run().unwrap();
    assert_eq!(room.run("call echo message=x").transcript(), here.transcript());
}

#[test]
fn a_server_asks_whoever_has_the_call() {
    let form = json!({
        "mode": "form",
        "message": "Who are you?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    });
    let script = Script::new("one").tool(ToolScript::new("ask", Behaviour::elicit(form)));
    let room = RuntimeRoom::up(Room::new().server("one", &script).without_workspace());
    let keys = [("one asks: Who are you?", DOWN), ("> Answer", ENTER), ("name:", "me\r")];
    let seen = screen::run(&room, &["call", "ask"], &keys);
    assert_eq!(seen.code, Some(0), "{}", seen.plain());
    assert!(seen.plain().contains("\"action\":\"accept\"") && seen.plain().contains("\"me\""), "{}", seen.plain());
    assert!(seen.terminal_is_as_before, "{}", seen.plain());
    let seen = screen::run(&room, &["call", "ask"], &[("one asks: Who are you?", ESCAPE)]);
    assert!(seen.plain().contains("\"action\":\"cancel\""), "{}", seen.plain());
    // Where nobody can be asked, servers are told so, with the runtime and without.
    let here = room.command(["call", "ask"]).env("TOOLGATE_NO_RUNTIME", "1").run().unwrap();
    assert_eq!(room.run("call ask").transcript(), here.transcript());
}
