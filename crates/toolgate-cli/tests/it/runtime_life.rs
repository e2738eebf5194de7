//! How the runtime begins and ends, who may use it, and what becomes of a command when one side is gone.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, Event, Record, Script, ToolScript};

use crate::killed::expect_nobody;
use crate::room::{Room, sample};
use crate::runtime_room::{RuntimeRoom, begun, eventually, hears_signals};

fn one() -> Room {
    let script = sample("one").tool(ToolScript::new("never", Behaviour::Never));
    Room::new().server("one", &script).without_workspace()
}

/// A call that never ends by itself, and has reached its server.
fn calling(room: &Room) -> (Child, Pid) {
    let begun = begun(room, &["call", "never"], Stdio::null());
    eventually("the server is called", || Record::of_log(room.log("one")).count("tools/call") > 0);
    hears_signals(begun.1);
    begun
}

fn was_cancelled(room: &Room) -> bool {
    Record::of_log(room.log("one")).events().iter().any(|event| matches!(event, Event::Cancelled { .. }))
}

fn server_pids(room: &Room) -> Vec<Pid> {
    let events = Record::of_log(room.log("one")).events();
    let pids = events.iter().filter_map(|event| match event {
        Event::Started { pid, .. } => Pid::from_raw(i32::try_from(*pid).unwrap()),
        _ => None,
    });
    pids.collect()
}

fn outcomes(room: &Room) -> Vec<Value> {
    let shown = room.json("audit show --json");
    shown["calls"].as_array().unwrap().iter().map(|call| call["outcome"].clone()).collect()
}

#[test]
fn up_and_down_say_what_they_did() {
    let room = RuntimeRoom::up(one());
    let pid = room.pid().as_raw_nonzero().get();
    let again = room.run("up");
    assert_eq!((again.code(), again.stdout), (Some(0), format!("toolgate is up already (pid {pid})\n")));
    assert_eq!(room.json("up --json"), json!({"pid": pid, "started": false}));
    assert_eq!(room.run("up --foreground").stdout, format!("toolgate is up already (pid {pid})\n"));
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    let down = room.run("down");
    assert_eq!((down.code(), down.stdout), (Some(0), format!("toolgate is down (pid {pid} has ended)\n")));
    assert!(server_pids(&room).iter().all(|pid| test_kill_process(*pid).is_err()), "its servers have ended too");
    assert_eq!(room.run("down").stdout, "toolgate is not up\n");
    assert_eq!(room.json("down --json"), json!({"ended": false, "pid": null}));
    assert_eq!(room.json("ps --json"), json!({"running": false}));
    let said = room.run("ps");
    assert!(said.stdout.starts_with("toolgate is not up"), "{}", said.transcript());
    assert_eq!(room.run("call echo message=x").code(), Some(0), "everything works without it");
    assert_eq!(room.json("up --json")["started"], json!(true), "and it can be started again");
    assert!(!room.run("down").stdout.is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn what_somebody_left_open_is_not_kept_open() {
    let mut room = RuntimeRoom::up(one());
    let held = room.world.root().join("held");
    let holds = |pid: Pid| {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
        open.filter_map(|entry| std::fs::read_link(entry.path()).ok()).any(|path| path == held)
    };
    for options in ["", "--foreground"] {
        assert_eq!(room.run("down").code(), Some(0));
        let line = format!("exec 3>../held 9>&3; \"$0\" up {options} >../said{options} 2>&1 &");
        let shell = room.world.command("/bin/sh").args(["-c", &line, env!("CARGO_BIN_EXE_toolgate")]).run().unwrap();
        assert_eq!(shell.code(), Some(0), "{}", shell.transcript());
        let said = room.world.root().join(format!("said{options}"));
        eventually("it is up", || std::fs::metadata(&said).is_ok_and(|said| said.len() > 0));
        room.up_again();
        assert_eq!(room.run("call echo message=x").code(), Some(0));
        // Whoever runs it in the foreground has given it what they gave it.
        assert_eq!(holds(room.pid()), !options.is_empty(), "{options}");
        assert!(!holds(*server_pids(&room).last().unwrap()), "{options}");
    }
}

#[test]
fn ps_shows_servers_and_what_they_do() {
    let room = RuntimeRoom::up(one());
    assert_eq!(room.status()["hosts"], json!([]));
    room.run("call echo message=x");
    room.run("call fail");
    let status = room.status();
    let server = &status["hosts"][0]["servers"][0];
    assert_eq!((&server["name"], &server["status"]), (&json!("one"), &json!("connected")), "{status}");
    assert_eq!((&server["calls"], &server["running"], &server["connections"]), (&json!(2), &json!(0), &json!(1)));
    assert_eq!(server["pid"].as_i64(), Some(i64::from(server_pids(&room)[0].as_raw_nonzero().get())), "{status}");
    if cfg!(target_os = "linux") {
        assert!(server["memoryBytes"].as_u64().is_some_and(|bytes| bytes > 0), "{status}");
        assert!(status["memoryBytes"].as_u64().is_some_and(|bytes| bytes > 0), "{status}");
    }
    let shown = room.run("ps").stdout;
    assert!(shown.contains("SERVER") && shown.contains("one") && shown.contains("connected"), "{shown}");
    let refreshed = room.json("mcp refresh --json");
    assert_eq!(refreshed["hosts"].as_array().map(Vec::len), Some(1), "{refreshed}");
    eventually("its tools are listed anew", || Record::of_log(room.log("one")).count("tools/list") > 1);
}

#[test]
fn a_person_who_stops_waiting_is_obeyed() {
    for signal in [Signal::INT, Signal::TERM] {
        let room = RuntimeRoom::up(one());
        let (child, pid) = calling(&room);
        kill_process(pid, signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(6), "{signal:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "error: `never` was cancelled\n", "{signal:?}");
        eventually("the server is told", || was_cancelled(&room));
        assert_eq!(outcomes(&room), ["cancelled"]);
        assert_eq!(room.run("call echo message=x").code(), Some(0), "the server goes on");
        assert_eq!(server_pids(&room).len(), 1);
    }
}

#[test]
fn a_program_that_is_killed_leaves_nothing_behind() {
    let room = RuntimeRoom::up(one());
    let (mut child, _) = calling(&room);
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the server is told", || was_cancelled(&room));
    eventually("it is recorded", || outcomes(&room) == ["cancelled"]);
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    assert_eq!(server_pids(&room).len(), 1);
}

#[test]
fn down_cancels_what_is_being_done() {
    let room = RuntimeRoom::up(one());
    let (child, _) = calling(&room);
    assert_eq!(room.run("down").code(), Some(0));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(outcomes(&room), ["cancelled"]);
}

#[test]
fn signals_end_it_too() {
    let room = RuntimeRoom::up(one());
    room.run("call echo message=x");
    kill_process(room.pid(), Signal::TERM).unwrap();
    eventually("it has ended", || !room.is_up());
    assert!(server_pids(&room).iter().all(|pid| test_kill_process(*pid).is_err()));
    assert_eq!(room.run("call echo message=x").code(), Some(0));
}

#[test]
fn a_runtime_that_is_killed_is_told_apart_from_a_call_that_failed() {
    let room = RuntimeRoom::up(one());
    let (child, _) = calling(&room);
    kill_process(room.pid(), Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let said = "error: the runtime ended before the call had; whether the tool has done its work is not known\n\
                hint: the next command does without it; `toolgate up` starts it again\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), said);
    let session = u32::try_from(room.pid().as_raw_nonzero().get()).unwrap();
    expect_nobody(session, "by a runtime that was killed");
    // What it left behind is in nobody's way.
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    assert_eq!(room.json("ps --json"), json!({"running": false}));
    assert_eq!(room.json("up --json")["started"], json!(true));
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    assert_eq!(room.run("down").code(), Some(0));
}

#[test]
fn a_place_that_is_not_ours_alone_is_refused() {
    let room = RuntimeRoom::up(one());
    let socket = room.socket();
    let folder = socket.parent().unwrap().to_owned();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = room.run("call echo message=x");
    assert_eq!((output.code(), output.stdout.as_str()), (Some(0), "x\n"), "it is run without the runtime");
    assert!(output.stderr.starts_with("warning: the runtime is not used: "), "{}", output.stderr);
    assert!(output.stderr.ends_with(" can be entered by others\n"), "{}", output.stderr);
    for line in ["up", "down", "ps"] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(4), "{line}: {}", output.transcript());
        assert!(output.stderr.contains("can be entered by others"), "{line}: {}", output.stderr);
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    let elsewhere = room.world.root().join("elsewhere");
    std::fs::rename(&folder, &elsewhere).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    assert!(room.run("call echo message=x").stderr.ends_with(" is a link\n"));
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&elsewhere, &folder).unwrap();
    let modes = [&folder, &socket].map(|path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777);
    assert_eq!(modes, [0o700, 0o600]);
    assert_eq!(room.run("down").code(), Some(0));
}

/// One frame.
fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[kind][..], &length, body].concat()
}

#[test]
fn what_nobody_understands_is_sent_away() {
    let mut room = RuntimeRoom::up(one());
    let heard = room.overheard("call echo message=x");
    room.up_again();
    let request = |version: &str, protocol: u32| {
        let mut request = heard.clone();
        request["version"] = json!(version);
        request["protocol"] = json!(protocol);
        frame(b'R', request.to_string().as_bytes())
    };
    let own = env!("CARGO_PKG_VERSION");
    let cases: [(Vec<u8>, &[u8]); 8] = [
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), b""),
        (vec![0; 100], b""),
        (vec![0xff; 70_000], b""),
        (frame(b'R', b"{}"), b""),
        (frame(b'R', &b"[".repeat(100_000)), b""),
        ([&[b'R'][..], &u32::MAX.to_be_bytes()].concat(), b""),
        (request("0.0.0", 1), b"y\0\0\0\0"),
        (request(own, 99), b"y\0\0\0\0"),
    ];
    for (bytes, expected) in cases {
        let mut stream = room.connect();
        // It may have closed the connection before all of it is written.
        let _written = stream.write_all(&bytes).is_ok();
        let _closed = stream.shutdown(std::net::Shutdown::Write).is_ok();
        let mut said = Vec::new();
        let _read = stream.read_to_end(&mut said).is_ok();
        assert_eq!(said, expected, "{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(40)]));
    }
    // Somebody who says nothing at all is in nobody's way.
    let _silent = room.connect();
    let mut stream = room.connect();
    stream.write_all(&request(own, 1)).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    let expected = [frame(b't', b""), frame(b'o', b"x\n"), frame(b'e', &[0])].concat();
    assert_eq!(String::from_utf8_lossy(&said), String::from_utf8_lossy(&expected));
}

#[test]
fn somebody_who_does_not_read_slows_only_themselves() {
    let text = "0123456789abcdef\n".repeat(500_000);
    let script =
        Script::new("one").tool(ToolScript::new("large", Behaviour::text(text))).tool(ToolScript::echo("echo"));
    let room = RuntimeRoom::up(Room::new().server("one", &script).without_workspace());
    let (mut stuck, _) = begun(&room, &["call", "large"], Stdio::null());
    eventually("the server is called", || Record::of_log(room.log("one")).count("tools/call") > 0);
    for _ in 0..3 {
        assert_eq!(room.run("call echo message=x").stdout, "x\n");
    }
    assert_eq!(room.run("down").code(), Some(0));
    drop(stuck.stdout.take());
    stuck.wait().unwrap();
}

#[test]
fn many_at_once_get_what_they_asked_for() {
    let room = RuntimeRoom::up(one());
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..24)
            .map(|number| {
                let room = &room;
                scope.spawn(move || {
                    let said = room.run(&format!("call echo message=number-{number}"));
                    assert_eq!(said.transcript(), format!("--- stdout\nnumber-{number}\n--- exit 0\n"));
                })
            })
            .collect();
        calls.into_iter().for_each(|call| call.join().unwrap());
    });
    assert_eq!(server_pids(&room).len(), 1, "one server for all of them");
    assert_eq!(outcomes(&room).len(), 24);
    assert_eq!(room.run("audit verify").code(), Some(0));
}

#[test]
fn of_those_that_start_at_once_one_is_up() {
    let room = RuntimeRoom::up(one());
    assert_eq!(room.run("down").code(), Some(0));
    let said: Vec<Value> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..6).map(|_| scope.spawn(|| room.json("up --json"))).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    let pids: std::collections::BTreeSet<String> = said.iter().map(|said| said["pid"].to_string()).collect();
    let started = said.iter().filter(|said| said["started"] == json!(true)).count();
    assert_eq!((pids.len(), started), (1, 1), "{said:?}");
    assert_eq!(room.run("down").code(), Some(0));
}

#[test]
fn one_that_ends_leaves_the_socket_of_the_next() {
    let mut room = RuntimeRoom::up(one());
    let first = room.pid();
    std::fs::remove_dir_all(room.world.home().join(".toolgate/run")).unwrap();
    std::fs::remove_dir_all(room.world.root().join("r/toolgate")).ok();
    room.up_again();
    kill_process(first, Signal::TERM).unwrap();
    eventually("the first has ended", || test_kill_process(first).is_err());
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    assert_eq!(room.status()["requests"], json!(1), "the next one is asked");
}
