//! A runtime that does not answer, cannot be reached, or is just ending: no command hangs on it, and `down` ends it.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::process::{Signal, kill_process, test_kill_process};
use serde_json::json;

use crate::room::{Room, sample};
use crate::runtime_room::{RuntimeRoom, begun, eventually};

fn room() -> RuntimeRoom {
    RuntimeRoom::up(Room::new().server("one", &sample("one")).without_workspace())
}

#[test]
fn a_runtime_that_says_nothing_is_done_without() {
    let room = room();
    let listener = room.stand_in();
    let output = room.run("call echo message=x");
    assert_eq!((output.code(), output.stdout.as_str()), (Some(0), "x\n"));
    let said = "warning: the runtime is not used: it does not answer\n\
                hint: `toolgate down` ends it; its process number is in `run/toolgate.lock` beside your settings\n";
    assert_eq!(output.stderr, said);
    // It cannot say any more that it begins.
    let (mut late, _) = listener.accept().unwrap();
    assert!(late.write_all(b"t\0\0\0\0").is_err());
}

#[test]
fn a_runtime_that_nobody_is_let_into_is_done_without() {
    let room = room();
    let listener = room.stand_in();
    // Whoever waits there fills the place where others would wait.
    let waiting: Vec<_> = (0..5000).map_while(|_| connected_at_once(&room)).collect();
    let output = room.run("call echo message=x");
    assert_eq!((output.code(), output.stdout.as_str()), (Some(0), "x\n"), "{}", output.stderr);
    drop((waiting, listener));
}

/// A connection, unless so many wait that it would have to wait too.
fn connected_at_once(room: &RuntimeRoom) -> Option<rustix::fd::OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap();
    connect(&socket, &SocketAddrUnix::new(room.socket()).unwrap()).ok().map(|()| socket)
}

#[test]
fn a_person_who_stops_waiting_need_not_wait_for_a_runtime_that_hangs() {
    let room = room();
    let listener = room.stand_in();
    let (child, pid) = begun(&room, &["call", "echo", "message=x"], Stdio::null());
    let (mut stream, _) = listener.accept().unwrap();
    // It takes the command, wants what stands in stdin, and is not heard of any more.
    stream.write_all(b"t\0\0\0\0i\0\0\0\0").unwrap();
    let mut heard = Vec::new();
    while !heard.ends_with(b"E\0\0\0\0") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        heard.extend(byte);
    }
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(6));
}

#[test]
fn down_ends_one_that_cannot_be_reached() {
    let room = room();
    std::fs::remove_file(room.socket()).unwrap();
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    let pid = room.pid().as_raw_nonzero().get();
    let down = room.run("down");
    assert_eq!((down.code(), down.stdout), (Some(0), format!("toolgate is down (pid {pid} has ended)\n")));
    assert_eq!(room.json("down --json"), json!({"ended": false, "pid": null}));
    let up = room.json("up --json");
    assert_eq!(up["started"], json!(true), "{up}");
    assert_eq!(room.run("down").code(), Some(0));
}

#[test]
fn up_waits_for_one_that_is_ending() {
    let room = room();
    for _ in 0..3 {
        assert_eq!(room.run("call echo message=x").code(), Some(0));
        let pid = room.status()["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        // It may not have heard of it yet, and then it is still there to say so.
        let up = room.json("up --json");
        assert!(up["pid"].is_number(), "{up}");
        eventually("the first one has ended", || {
            test_kill_process(pid).is_err()
                || room.json("ps --json")["runtime"]["pid"] != json!(pid.as_raw_nonzero().get())
        });
        eventually("there is one again", || room.json("up --json")["pid"].is_number());
    }
    assert_eq!(room.run("down").code(), Some(0));
}

#[test]
fn a_runtime_is_for_one_place() {
    let room = room();
    let relative = |line: &str| room.command(line.split(' ')).env("TOOLGATE_HOME", "somewhere").run().unwrap();
    let up = relative("up");
    assert_eq!(up.code(), Some(2), "{}", up.transcript());
    assert!(up.stderr.contains("have to be whole paths"), "{}", up.stderr);
    assert_eq!(relative("down").stdout, "toolgate is not up\n");
}
