//! Sessions beside a runtime: they use its servers, and go on with their own when it is gone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::json;
use toolgate_testkit::Record;
use toolgate_testkit::record::Event;

use crate::room::{Room, sample};
use crate::runtime_room::{RuntimeRoom, begun};

fn starts(room: &Room) -> usize {
    let events = Record::of_log(room.log("one")).events();
    events.iter().filter(|event| matches!(event, Event::Started { .. })).count()
}

fn room() -> Room {
    Room::new().server("one", &sample("one")).without_workspace()
}

const LINES: &str = "/tools\n/call echo message=hi\n/call add a=2 b=3\n/call fail\n/prompts\n/greet --who=me\n/read docs://start\n/mcp\n";

#[test]
fn a_session_uses_the_servers_of_the_runtime() {
    let room = RuntimeRoom::up(room());
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    let there = room.command([]).input(LINES).run().unwrap();
    assert_eq!(starts(&room), 1, "{}", there.transcript());
    assert_eq!(room.status()["hosts"][0]["servers"][0]["calls"], json!(4), "{}", room.status());
    assert_eq!(room.status()["hosts"].as_array().map(Vec::len), Some(1));
    let here = room.command([]).env("TOOLGATE_NO_RUNTIME", "1").input(LINES).run().unwrap();
    assert_eq!(starts(&room), 2, "one of its own");
    assert_eq!(there.transcript(), here.transcript());
}

#[test]
fn a_session_under_other_conditions_has_servers_of_its_own() {
    let room = RuntimeRoom::up(room());
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    for (words, variable) in [(&["--debug"][..], "SHLVL"), (&[], "TOOLGATE_NO_RUNTIME"), (&[], "OTHER")] {
        let before = starts(&room);
        let session = room.command(words.iter().copied()).env(variable, "1").input("/call echo message=hi\n");
        assert_eq!(session.run().unwrap().stdout, "hi\n", "{words:?} {variable}");
        assert_eq!(starts(&room), before + 1, "{words:?} {variable}");
    }
}

#[test]
fn a_session_goes_on_without_the_runtime() {
    let room = RuntimeRoom::up(room());
    let (mut session, _) = begun(&room, &[], Stdio::piped());
    let (mut says, hears) = (session.stdin.take().unwrap(), session.stdout.take().unwrap());
    let mut hears = BufReader::new(hears).lines();
    let mut call = |message: &str| {
        writeln!(says, "/call echo message={message}").unwrap();
        assert_eq!(hears.next().unwrap().unwrap(), message);
    };
    call("first");
    let used = |room: &RuntimeRoom| room.status()["hosts"][0]["servers"][0]["calls"].as_u64();
    assert_eq!((starts(&room), used(&room)), (1, Some(1)));
    assert_eq!(room.run("down").code(), Some(0));
    call("second");
    assert_eq!(starts(&room), 2, "it has its own now");
    drop(says);
    assert_eq!(session.wait().unwrap().code(), Some(0));
}
