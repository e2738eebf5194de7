//! Commands that are stopped while they wait for something, and what the runtime has left of them.

use std::io::Write as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use toolgate_testkit::{Behaviour, Event, Record, Script, ToolScript, What, When};

use crate::room::{Room, sample};
use crate::runtime_room::{RuntimeRoom, begun, eventually, hears_signals};

/// Waits until the runtime has nothing to do.
#[track_caller]
fn comes_to_rest(room: &RuntimeRoom) {
    eventually("nothing is left of the command", || room.status()["running"] == json!(0));
}

#[test]
fn a_command_that_waits_for_stdin_can_be_stopped() {
    let room = RuntimeRoom::up(Room::new().server("one", &sample("one")).without_workspace());
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let (mut child, pid) = begun(&room, &["call", "echo", "--args", "-"], Stdio::piped());
        child.stdin.as_mut().unwrap().write_all(b"{").unwrap();
        eventually("the command is run", || room.status()["running"] == json!(1));
        hears_signals(pid);
        kill_process(pid, signal).unwrap();
        // Its stdin is open all the time.
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        if signal != Signal::KILL {
            assert_eq!(output.status.code(), Some(6), "{signal:?}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "error: interrupted\n", "{signal:?}");
        }
        comes_to_rest(&room);
        drop(stdin);
    }
    assert_eq!(room.run("call echo message=x").code(), Some(0));
}

#[test]
fn a_command_that_waits_for_a_lazy_server_can_be_stopped() {
    let script = Script::new("one").fault(When::Method("initialize"), What::Freeze);
    let script = script.fault(When::Method("server/discover"), What::Freeze);
    let room = Room::new().server("one", &script).with("one", "start", json!("lazy")).without_workspace();
    let room = RuntimeRoom::up(room);
    for signal in [Signal::INT, Signal::KILL] {
        let (child, pid) = begun(&room, &["call", "one__echo"], Stdio::null());
        eventually("the server is asked", || !Record::of_log(room.log("one")).events().is_empty());
        hears_signals(pid);
        kill_process(pid, signal).unwrap();
        let output = child.wait_with_output().unwrap();
        if signal != Signal::KILL {
            assert_eq!(output.status.code(), Some(6), "{}", String::from_utf8_lossy(&output.stderr));
        }
        comes_to_rest(&room);
    }
}

#[test]
fn whoever_reads_slowly_gets_all_of_it() {
    let text = "0123456789abcdef\n".repeat(500_000);
    let script = Script::new("one").tool(ToolScript::new("large", Behaviour::text(text.clone())));
    let room = RuntimeRoom::up(Room::new().server("one", &script).without_workspace());
    let (child, _) = begun(&room, &["call", "large"], Stdio::null());
    eventually("the call has ended", || {
        room.json("audit show --json")["calls"].as_array().is_some_and(|calls| calls.len() == 1)
    });
    // The time without work, after which the runtime ends, does not begin while somebody reads.
    assert_eq!(room.status()["running"], json!(1));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout == text.as_bytes()), (Some(0), true), "{}", output.stdout.len());
    comes_to_rest(&room);
}

#[test]
fn those_who_connect_and_say_nothing_are_in_nobodys_way() {
    let room = RuntimeRoom::up(Room::new().server("one", &sample("one")).without_workspace());
    let silent: Vec<_> = (0..300).map(|_| room.connect()).collect();
    assert_eq!(room.run("call echo message=x").stdout, "x\n", "it is run without the runtime when there is no place");
    drop(silent);
    eventually("there is room again", || room.json("ps --json")["running"] == json!(true));
    assert_eq!(room.run("call echo message=x").stdout, "x\n");
    assert_eq!(room.status()["requests"], json!(1));
}

#[test]
fn a_signal_that_was_switched_off_is_none() {
    let script = sample("one").tool(ToolScript::new("never", Behaviour::Never));
    let room = RuntimeRoom::up(Room::new().server("one", &script).without_workspace());
    for alone in ["", "1"] {
        let log = room.log("one");
        let calls = || Record::of_log(&log).count("tools/call");
        let before = calls();
        // As `nohup` does it: whoever closes the terminal does not mean this one.
        let child = Command::new("/bin/sh")
            .args(["-c", "trap '' HUP; exec \"$0\" call never", env!("CARGO_BIN_EXE_toolgate")])
            .env_clear()
            .envs(room.world.variables())
            .env("TOOLGATE_NO_RUNTIME", alone)
            .current_dir(room.world.workspace())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        eventually("the server is called", || calls() > before);
        hears_signals(pid);
        kill_process(pid, Signal::HUP).unwrap();
        assert_eq!(room.run("call echo message=x").code(), Some(0));
        let is_cancelled = |event: &Event| matches!(event, Event::Cancelled { .. });
        assert_eq!(Record::of_log(&log).events().iter().filter(|event| is_cancelled(event)).count(), before.min(1));
        kill_process(pid, Signal::TERM).unwrap();
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(6), "{alone}");
    }
}
