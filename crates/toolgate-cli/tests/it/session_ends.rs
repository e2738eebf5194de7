//! How a session ends when somebody outside wants it to, and how it runs at a terminal that can do nothing.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use toolgate_testkit::{Behaviour, Record, ToolScript, What, When};

use crate::emulated::Emulated;
use crate::killed::expect_nobody;
use crate::room::{Room, sample};

#[test]
fn a_signal_at_the_prompt_ends_it_in_order() {
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT] {
        let deaf = sample("deaf").fault(When::Start, What::IgnoreEof).fault(When::Start, What::IgnoreTerm);
        let room = Room::new().server("one", &sample("one")).server("deaf", &deaf).without_workspace();
        let mut terminal = Emulated::run(&room, &[], 80);
        terminal.sees("2/2 servers");
        terminal.presses("/call one__echo message=hi\r");
        terminal.sees_line("hi");
        terminal.presses("half a li");
        terminal.sees("> half a li");
        terminal.gets(signal);
        let processes = terminal.processes();
        assert_eq!(terminal.ends(), Some(6), "{signal:?}");
        expect_nobody(processes, "by a session");
        let history = std::fs::read_to_string(room.world.home().join(".toolgate/history")).unwrap();
        assert_eq!(history, "/call one__echo message=hi\n", "{signal:?}");
    }
}

#[test]
fn a_signal_ends_what_runs_and_then_the_session() {
    let script = sample("one").tool(ToolScript::new("hang", Behaviour::delay(600_000, Behaviour::text("never"))));
    for signal in [Signal::TERM, Signal::HUP] {
        let room = Room::new().server("one", &script).without_workspace();
        let mut terminal = Emulated::run(&room, &[], 80);
        terminal.sees("🟢 one is ready");
        terminal.presses("/call hang\r");
        terminal.sees("hang of one");
        terminal.gets(signal);
        assert_eq!(terminal.ends(), Some(6), "{signal:?}");
        assert_eq!(Record::of_log(room.log("one")).count("notifications/cancelled"), 1, "{signal:?}");
    }
}

#[test]
fn a_terminal_that_can_do_nothing_is_enough() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    for term in ["dumb", ""] {
        let mut terminal = Emulated::run_with(&room, &[], 80, &[("TERM", term)]);
        terminal.sees(">");
        terminal.presses("/call echo message=hi\n");
        terminal.sees_line("hi");
        terminal.presses("/call fail\n");
        terminal.sees("it broke");
        assert!(!terminal.ever_wrote("\u{1b}"), "{}", terminal.screen());
        assert_eq!(terminal.leaves(), Some(1), "the last line that failed decides");
    }
}

#[test]
fn a_signal_ends_a_session_that_waits_for_a_line() {
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT, Signal::INT] {
        let deaf = sample("deaf").fault(When::Start, What::IgnoreEof).fault(When::Start, What::IgnoreTerm);
        let room = Room::new().server("deaf", &deaf).without_workspace();
        let mut child = Command::new("setsid")
            .args(["--wait", env!("CARGO_BIN_EXE_toolgate")])
            .env_clear()
            .envs(room.world.variables())
            .current_dir(room.world.workspace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"/call echo message=hi\n").unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "hi\n");
        // The line that it waits for never comes. Ctrl-C a moment too early is about the line before.
        let status = loop {
            kill_process(Pid::from_child(&child), signal).unwrap();
            std::thread::sleep(Duration::from_millis(100));
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
        };
        assert_eq!(status.code(), Some(6), "{signal:?}");
        expect_nobody(child.id(), "by lines");
        drop(stdin);
    }
}

#[test]
fn ctrl_c_leaves_a_terminal_that_can_do_nothing() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let mut terminal = Emulated::run_with(&room, &[], 80, &[("TERM", "dumb")]);
    terminal.sees(">");
    terminal.presses("/call echo message=hi\n");
    terminal.until("the next prompt", |screen| screen.ends_with("\nhi\n>"));
    terminal.presses("\u{3}");
    assert_eq!(terminal.ends(), Some(6));
}
