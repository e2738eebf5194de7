//! A session at a terminal: what is on the screen, and what keys do.

use serde_json::json;
use toolgate_testkit::snapshot::assert_snapshot;
use toolgate_testkit::{Behaviour, Record, Script, ToolScript};

use crate::emulated::Emulated;
use crate::room::{Room, sample};

const ENTER: &str = "\r";
const TAB: &str = "\t";
const ESCAPE: &str = "\u{1b}";
const INTERRUPT: &str = "\u{3}";

fn room() -> Room {
    Room::new().server("one", &sample("one")).without_workspace()
}

/// A session whose first prompt stands, and whose servers are there.
fn begun(room: &Room, columns: u16) -> Emulated {
    let terminal = Emulated::run(room, &[], columns);
    terminal.sees("🟢 one is ready: 3 tools");
    terminal
}

#[test]
fn a_session_from_beginning_to_end() {
    let room = room();
    let mut terminal = begun(&room, 100);
    terminal.sees("1/1 server · no model · default");
    terminal.presses("/call echo message=hi\r");
    terminal.sees_line("hi");
    terminal.until("a prompt below it", |screen| screen.ends_with("default"));
    assert_snapshot(
        &terminal.screen().replace(env!("CARGO_PKG_VERSION"), "[VERSION]"),
        "
        toolgate [VERSION] · /help shows what there is to type
        no model is set: `\"model\": {\"name\": \"…\"}` in your settings adds one
        🟢 one is ready: 3 tools
        > /call echo message=hi
        hi
        >                                                                    1/1 server · no model · default
        ",
    );
    assert_eq!(terminal.leaves(), Some(0));
    let history = std::fs::read_to_string(room.world.home().join(".toolgate/history")).unwrap();
    assert_eq!(history, "/call echo message=hi\n");
    let mut again = Emulated::run(&room, &[], 100);
    again.sees("> ");
    again.presses("\u{1b}[A");
    again.sees("/call echo message=hi");
    again.clears();
    assert_eq!(again.leaves(), Some(0));
}

#[test]
fn words_are_completed() {
    let script = sample("one").completion(json!({"completion": {"values": ["formal", "familiar"]}}));
    let room = Room::new().server("one", &script).without_workspace();
    let mut terminal = begun(&room, 80);
    for (typed, expected) in [("/cal", "> /call"), ("ad", "> /call add"), ("how=ro", "how=roughly")] {
        terminal.presses(&format!("{typed}{TAB}"));
        terminal.sees(expected);
    }
    terminal.clears();
    terminal.presses("/call add ");
    terminal.sees("> /call add a= b= how=");
    terminal.presses(TAB);
    terminal.sees("number: one");
    assert_snapshot(
        &terminal.screen().lines().skip(3).collect::<Vec<_>>().join("\n"),
        "
        > /call add how=roughly                          1/1 server · no model · default
        > /call add                                      1/1 server · no model · default
        a=    number: one
        b=    number
        how=  string, optional
        ",
    );
    terminal.clears();
    terminal.presses(&format!("/prompt greet style={TAB}"));
    terminal.until("what the server proposes", |screen| screen.contains("formal") && screen.contains("familiar"));
    terminal.clears();
    terminal.presses(&format!("/quit{ENTER}"));
    assert_eq!(terminal.ends(), Some(0));
}

#[test]
fn a_call_is_confirmed_by_keys() {
    let room = Room::new().with_questions().server("one", &sample("one")).without_workspace();
    let mut terminal = begun(&room, 80);
    terminal.presses("/call echo message=hi\r");
    for text in ["wants to call echo of server one", "Make this call?", "for the rest of this session"] {
        terminal.sees(text);
    }
    terminal.presses("\u{1b}[B");
    terminal.until("the second answer", |screen| {
        screen.contains("> Yes, and echo for the rest of this session, also for the model")
    });
    terminal.presses(ENTER);
    terminal.sees_line("hi");
    terminal.presses("/call echo message=again\r");
    terminal.sees_line("again");
    terminal.presses("/call add a=1 b=2\r");
    terminal.until("the next question", |screen| screen.contains("wants to call add"));
    terminal.sees("Make this call?");
    terminal.presses(ESCAPE);
    terminal.sees("`add` was not called");
    assert_eq!(terminal.leaves(), Some(0));
    assert_eq!(Record::of_log(room.log("one")).count("tools/call"), 2);
}

#[test]
fn progress_is_a_bar_and_ctrl_c_ends_the_call_alone() {
    let script = Script::new("one")
        .tool(ToolScript::new("work", Behaviour::progress(4, 400, Behaviour::text("done"))))
        .tool(ToolScript::new("hang", Behaviour::delay(600_000, Behaviour::text("never"))))
        .tool(ToolScript::echo("echo"));
    let room = Room::new().server("one", &script).without_workspace();
    let mut terminal = begun(&room, 80);
    terminal.presses("/call work\r");
    terminal.until("a bar", |screen| screen.contains("░") && screen.contains("work of one: "));
    terminal.sees("done");
    terminal.presses("/call hang\r");
    terminal.sees("hang of one");
    terminal.presses(INTERRUPT);
    terminal.sees("`hang` was cancelled");
    assert!(!terminal.screen().contains("hang of one"), "{}", terminal.screen());
    terminal.presses("/call echo message=still\r");
    terminal.sees_line("still");
    let record = Record::of_log(room.log("one"));
    assert_eq!(record.count("notifications/cancelled"), 1);
    terminal.presses(INTERRUPT);
    terminal.sees("(Ctrl-C again, Ctrl-D or /quit leaves)");
    terminal.presses(INTERRUPT);
    assert_eq!(terminal.ends(), Some(0));
}

#[test]
fn a_narrow_window_is_enough() {
    let room = room();
    let mut terminal = begun(&room, 100);
    terminal.presses("/call echo message=narrow");
    terminal.sees("/call echo message=narrow");
    terminal.resize(44);
    let is_drawn = |line: &str| line.starts_with("> /call echo message=narrow") && line.ends_with("  1/1 · default");
    terminal.until("a shorter status", |screen| screen.lines().any(is_drawn));
    terminal.presses(" \r");
    terminal.sees_line("narrow");
    terminal.presses("/mcp\r");
    terminal.sees("- greet");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn the_prompt_is_there_before_the_servers() {
    // It starts when the test says so, however busy the machine is.
    let waits = "until [ -e go ]; do sleep 0.02; done; exec ../server --script ../one.json --log ../one.log";
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let room = room.entry("one", json!({"command": "sh", "args": ["-c", waits]}));
    let mut terminal = Emulated::run(&room, &[], 90);
    terminal.sees("0/1 server");
    terminal.presses("/mcp\r");
    terminal.sees("⏳ 1 server starting");
    assert!(!terminal.screen().contains("error:"), "{}", terminal.screen());
    terminal.presses("/greet x\r");
    terminal.sees("it may come from a server that is still starting");
    terminal.presses("/call ec");
    terminal.sees("/call ec");
    std::fs::write(room.world.workspace().join("go"), "").unwrap();
    terminal.sees("🟢 one is ready: 3 tools");
    terminal.until("what was typed, unharmed", |screen| screen.lines().any(|line| line.starts_with("> /call ec ")));
    terminal.presses("ho message=hi\r");
    terminal.sees_line("hi");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn nothing_of_a_server_acts_on_the_screen_and_colours_can_be_off() {
    let script = Script::new("one")
        .tool(ToolScript::text("a", "\u{1b}]0;owned\u{7}\u{1b}[2Jtext").description("\u{1b}[2Jd"))
        .tool(ToolScript::text("b", "x"))
        .tool(ToolScript::text("c", "x"));
    let room = Room::new().server("one", &script).without_workspace();
    let mut terminal = Emulated::run(&room, &["--no-color"], 80);
    terminal.sees("🟢 one is ready: 3 tools");
    terminal.presses(&format!("/call {TAB}"));
    terminal.until("what it says of itself", |screen| screen.to_lowercase().contains("\\e[2jd"));
    terminal.clears();
    terminal.presses("/call a\r");
    terminal.sees("\\e]0;owned\\u{7}\\e[2Jtext");
    assert!(!terminal.ever_wrote("\u{1b}]0;owned"), "{}", terminal.screen());
    assert!(!terminal.ever_wrote("\u{1b}[1m") && !terminal.ever_wrote("\u{1b}[2m"), "colours");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn several_lines_are_one_text() {
    let room = room();
    let mut terminal = begun(&room, 80);
    terminal.presses("/call echo \\\rmessage=two\r");
    terminal.sees_line("two");
    // Only a line that is being typed knows what is pasted.
    let stands = |screen: &str| screen.lines().last().is_some_and(|line| line.starts_with('>') && line.contains("1/1"));
    terminal.until("the next prompt", stands);
    terminal.presses("\u{1b}[200~/call echo message='a\nb'\u{1b}[201~");
    terminal.sees("b'");
    terminal.presses(ENTER);
    terminal.sees_line("b");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn other_tools_of_a_server_are_told_above_the_line() {
    let script = sample("one").tool(ToolScript::new("grow", Behaviour::add_tool(ToolScript::text("grown", "new"))));
    let room = Room::new().server("one", &script).without_workspace();
    let mut terminal = Emulated::run(&room, &[], 80);
    terminal.sees("🟢 one is ready: 4 tools");
    terminal.presses("/call grow\r");
    terminal.sees_line("added");
    terminal.presses("/call grow");
    terminal.sees("one offers other tools now: 5 tools");
    let is_kept = |screen: &str| screen.lines().last().is_some_and(|line| line.starts_with("> /call grow "));
    terminal.until("what was typed, unharmed", is_kept);
    terminal.presses("n\r");
    terminal.sees_line("new");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn a_key_that_was_pressed_before_a_question_was_there_is_no_answer() {
    let room = Room::new().with_questions().server("one", &sample("one")).without_workspace();
    let mut terminal = begun(&room, 80);
    // As a terminal far away hands them over: all at once.
    terminal.bursts("/call echo message=hi\r\r\r");
    terminal.sees("Make this call?");
    terminal.bursts("\r");
    std::thread::sleep(std::time::Duration::from_millis(300));
    terminal.sees("[↑↓ to move");
    terminal.presses(ESCAPE);
    terminal.sees("`echo` was not called");
    assert_eq!(terminal.leaves(), Some(0));
    assert_eq!(Record::of_log(room.log("one")).count("tools/call"), 0);
}

#[test]
fn lines_that_are_typed_too_early_are_run_in_their_order() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let mut terminal = Emulated::run(&room, &[], 80);
    for number in 0..6 {
        terminal.bursts(&format!("/call echo message=n{number}\r"));
        std::thread::sleep(std::time::Duration::from_millis(15));
    }
    terminal.sees_line("n5");
    let screen = terminal.screen();
    let answers: Vec<&str> = screen.lines().filter(|line| line.starts_with('n') && line.len() == 2).collect();
    assert_eq!(answers, ["n0", "n1", "n2", "n3", "n4", "n5"], "{screen}");
    assert_eq!(terminal.leaves(), Some(0));
}

#[test]
fn what_is_pasted_does_not_act_on_the_terminal() {
    let room = room();
    let mut terminal = begun(&room, 80);
    terminal.presses("\u{1b}[200~a\rb\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}\u{1b}[201~");
    terminal.sees("b\\e]0;owned\\u{7}\\e[2J\\u{202e}");
    assert!(!terminal.ever_wrote("\u{1b}]0;owned") && !terminal.ever_wrote("\u{202e}"), "{}", terminal.screen());
    terminal.presses("\u{3}");
    assert_eq!(terminal.leaves(), Some(0));
}
