//! Servers that ask the person at the terminal something, and those that cannot because there is nobody.

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::room::Room;
use crate::screen::{self, Seen};

const ENTER: &str = "\r";
const ESCAPE: &str = "\u{1b}";
const UP: &str = "\u{1b}[A";
const DOWN: &str = "\u{1b}[B";

fn form() -> Value {
    json!({
        "mode": "form",
        "message": "Who are you? \u{1b}[2J",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "age": {"type": "integer", "minimum": 1, "maximum": 150},
                "colour": {"type": "string", "enum": ["red", "green"]},
                "name": {"type": "string", "title": "Your name", "minLength": 2},
                "news": {"type": "boolean", "default": false},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}
            },
            "required": ["age", "name", "news"]
        }
    })
}

fn asking(params: Value) -> Room {
    let tool = ToolScript::new("ask", Behaviour::elicit(params));
    Room::new().server("curious", &Script::new("curious").tool(tool)).without_workspace()
}

/// What the server was answered.
fn answer(seen: &Seen) -> Value {
    let text = seen.plain();
    let line = text.lines().rev().find(|line| line.contains("\"action\"")).unwrap_or_else(|| panic!("{text}"));
    let json = line.find('{').and_then(|at| line.get(at..)).unwrap_or_default();
    serde_json::from_str(json.trim()).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn a_form_is_filled_in_and_checked() {
    let room = asking(form());
    let keys = [
        ("curious asks: Who are you?", DOWN),
        ("> Answer", ENTER),
        ("age:", "200\r"),
        ("at most 150", "\u{7f}\u{7f}\u{7f}42\r"),
        ("colour (optional):", DOWN),
        ("green", ENTER),
        ("Your name:", "x\r"),
        ("at least 2 characters", "y\r"),
        ("news:", "y\r"),
        ("tags (optional):", " "),
        ("[x]", ENTER),
    ];
    let seen = screen::run(&room, &["call", "ask"], &keys);
    assert_eq!(seen.code, Some(0), "{}", seen.plain());
    let expected = json!({"age": 42, "colour": "green", "name": "xy", "news": true, "tags": ["a"]});
    assert_eq!(answer(&seen), json!({"action": "accept", "content": expected}));
    assert!(!seen.text.contains("\u{1b}[2J\u{1b}"), "the question is shown, not obeyed");
    assert!(seen.plain().contains("\\e[2J"), "{}", seen.plain());
}

#[test]
fn saying_no_is_always_a_choice() {
    let room = asking(form());
    let cases: [(&[(&str, &str)], &str); 5] = [
        (&[("> Cancel", UP), ("> Decline", ENTER)], "decline"),
        (&[("> Cancel", ENTER)], "cancel"),
        (&[("> Cancel", ESCAPE)], "cancel"),
        (&[("> Cancel", DOWN), ("> Answer", ENTER), ("age:", "\u{3}")], "cancel"),
        (&[("> Cancel", DOWN), ("> Answer", ENTER), ("age:", ESCAPE), ("> Cancel", ENTER)], "cancel"),
    ];
    for (keys, action) in cases {
        let seen = screen::run(&room, &["call", "ask"], keys);
        assert_eq!(answer(&seen)["action"], json!(action), "{}", seen.plain());
    }
}

#[test]
fn a_page_is_named_and_never_opened() {
    let url = "https://bank.example@login.example/authorize";
    let room = asking(json!({"mode": "url", "message": "Log in", "url": url, "elicitationId": "1"}));
    for (key, action) in [("y\r", "accept"), ("n\r", "decline")] {
        let seen = screen::run(&room, &["call", "ask"], &[("at login.example yourself?", key)]);
        assert_eq!(answer(&seen)["action"], json!(action), "{}", seen.plain());
        assert!(seen.plain().contains(url), "{}", seen.plain());
    }
}

#[test]
fn without_a_person_servers_are_told_so() {
    let room = asking(form());
    for words in [&["call", "ask"][..], &["call", "ask", "--json"]] {
        let output = room.command(words.iter().copied()).run().unwrap();
        assert_ne!(output.stdout, "", "{}", output.transcript());
    }
    let seen = screen::run(&room, &["call", "ask", "--headless"], &[]);
    assert!(!seen.plain().contains("curious asks"), "{}", seen.plain());
    let log = std::fs::read_to_string(room.log("curious")).unwrap();
    assert!(!log.contains("elicitation\\\""), "no ability is claimed: {log}");
}

#[test]
fn a_question_nobody_waits_for_any_more_leaves_the_terminal_as_it_was() {
    // However long somebody thinks about it, the call has its time in all.
    let room = asking(form()).with("curious", "maxDuration", json!(1_500));
    let cases: [&[(&str, &str)]; 2] =
        [&[("curious asks:", "")], &[("> Cancel", DOWN), ("> Answer", ENTER), ("age:", "4")]];
    for keys in cases {
        let seen = screen::run(&room, &["call", "ask", "--timeout", "100"], keys);
        let shown = seen.plain();
        assert_eq!(seen.code, Some(6), "{shown}");
        assert!(shown.contains("\nerror: `ask` timed out: "), "{shown}");
        assert!(seen.terminal_is_as_before, "{shown}");
        // The cursor is shown, and pasting is as before.
        for (taken, given_back) in [("\u{1b}[?25l", "\u{1b}[?25h"), ("\u{1b}[?2004h", "\u{1b}[?2004l")] {
            assert!(seen.text.rfind(taken) < seen.text.rfind(given_back), "{given_back:?}: {:?}", seen.text);
        }
    }
}
