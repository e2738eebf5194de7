//! Commands that the runtime runs: the same words, the same output, the same exit code; and servers that are started once.

use std::collections::BTreeSet;

use serde_json::json;
use toolgate_testkit::{Behaviour, Event, Record, Script, ToolScript};

use crate::room::{Room, sample};
use crate::runtime_room::RuntimeRoom;

/// How often a scripted server was started.
fn starts(room: &Room, server: &str) -> usize {
    let events = Record::of_log(room.log(server)).events();
    events.iter().filter(|event| matches!(event, Event::Started { .. })).count()
}

fn room() -> Room {
    Room::new()
        .server("one", &sample("one").tool(ToolScript::text("only_one", "1")))
        .server("two", &sample("two"))
        .entry("absent", json!({"command": "/nonexistent/program"}))
        .setting("odd", json!({"key": 1}))
        .without_workspace()
}

#[test]
fn every_command_says_the_same_as_without_it() {
    let room = RuntimeRoom::up(room());
    room.world.write_in_workspace("a.json", r#"{"message": "from a file"}"#).unwrap();
    // Servers that are being started are shown as they arrive.
    room.run("tools --json");
    let lines = [
        "tools",
        "tools one",
        "tools two --json",
        "tools --search echo --all",
        "tools one --desc --schema",
        "tools nobody",
        "tools absent",
        "prompts",
        "prompts two --json",
        "resources",
        "resources one --json",
        "call only_one",
        "call two__echo message=x",
        "call --server two echo message=x --raw",
        "call echo --args @a.json",
        "call echo --args @missing.json",
        "call add a=1 b=2",
        "call add a=1 b=zwei",
        "call add a=1",
        "call fail",
        "call fail --json",
        "call nothing",
        "call nothing --json",
        "call absent__x",
        "call",
        "call --help",
        "call echo --json --bogus",
        "prompt greet who=you",
        "prompt greet who=you --server two --json",
        "prompt greet",
        "prompt nobody",
        "read docs://start",
        "read two:docs://start --json",
        "read docs://nowhere",
        "read --server absent docs://start",
        "read --server nobody docs://start",
    ];
    for line in lines {
        let there = room.run(line);
        let here = room.command(line.split(' ')).env("TOOLGATE_NO_RUNTIME", "1").run().unwrap();
        let times = timeless(&there.transcript());
        assert_eq!(times, timeless(&here.transcript()), "{line}");
    }
    assert!(room.status()["requests"].as_u64().unwrap() > 20, "{}", room.status());
}

/// Without how long it took, and whether servers were asked or known from before.
fn timeless(transcript: &str) -> String {
    let without = |text: &str, from: &str, end: fn(char) -> bool| {
        let mut parts = text.split(from);
        let mut kept = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            kept.push_str(from);
            kept.push_str(part.trim_start_matches(end));
        }
        kept
    };
    let text = without(transcript, "\"durationMs\":", |letter| letter.is_ascii_digit());
    without(&text, "\"fromMemory\":[", |letter| letter != ']')
}

#[test]
fn a_server_is_started_once_for_many_calls() {
    let room = RuntimeRoom::up(Room::new().server("one", &sample("one")).without_workspace());
    for _ in 0..5 {
        room.check("call echo message=hello", "\n--- stdout\nhello\n--- exit 0\n");
    }
    assert_eq!(starts(&room, "one"), 1);
    room.run("tools");
    room.run("prompts");
    room.run("read docs://start");
    assert_eq!(starts(&room, "one"), 1);
    let audited = room.run("audit show").stdout.lines().filter(|line| line.contains("echo")).count();
    assert_eq!(audited, 5);
}

#[test]
fn only_servers_that_are_asked_for_are_started() {
    let room =
        RuntimeRoom::up(Room::new().server("one", &sample("one")).server("two", &sample("two")).without_workspace());
    room.run("call two__echo message=x");
    assert!(!room.log("one").exists());
    room.run("tools");
    assert_eq!((starts(&room, "one"), starts(&room, "two")), (1, 1));
}

#[test]
fn folders_and_environments_do_not_share() {
    let room = RuntimeRoom::up(Room::new().server("one", &sample("one")).without_workspace());
    let other = room.world.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let call = || room.command(["call", "echo", "message=x"]);
    assert_eq!(call().run().unwrap().code(), Some(0));
    assert_eq!(call().folder(&other).run().unwrap().code(), Some(0));
    assert_eq!(call().env("SETTING", "1").run().unwrap().code(), Some(0));
    assert_eq!(starts(&room, "one"), 3);
    // What only begins like a variable of terminals may be anything.
    assert_eq!(call().env("SSH_TOKEN", "1").run().unwrap().code(), Some(0));
    assert_eq!(starts(&room, "one"), 4);
    // What differs from one terminal to the next is not the environment of a server.
    assert_eq!(call().env("TERM", "xterm").env("SHLVL", "7").run().unwrap().code(), Some(0));
    assert_eq!(starts(&room, "one"), 4);
    // A folder that was made anew is not the one its servers are in.
    std::fs::rename(&other, room.world.root().join("aside")).unwrap();
    std::fs::create_dir(&other).unwrap();
    assert_eq!(call().folder(&other).run().unwrap().code(), Some(0));
    assert_eq!(starts(&room, "one"), 5);
    let folders: BTreeSet<String> =
        room.status()["hosts"].as_array().unwrap().iter().map(|host| host["folder"].to_string()).collect();
    assert_eq!(folders.len(), 2);
}

#[test]
fn what_is_of_one_terminal_reaches_nobody() {
    let room = RuntimeRoom::up(Room::new().without_questions());
    for tab in ["one", "two"] {
        let command = ["call", "run_shell_command", "command=echo ${TMUX-none} ${SSH_TTY-none} $TMUX_OTHER"];
        let call = room.command(command).env("TMUX", tab).env("SSH_TTY", tab).env("TMUX_OTHER", "kept");
        let output = call.run().unwrap();
        assert_eq!((output.stdout.as_str(), output.code()), ("none none kept\n", Some(0)), "{}", output.stderr);
    }
    assert_eq!(room.status()["hosts"].as_array().map(Vec::len), Some(1), "tabs share");
}

#[test]
fn changed_settings_are_seen_by_the_next_command() {
    let room =
        RuntimeRoom::up(Room::new().server("one", &sample("one")).server("two", &sample("two")).without_workspace());
    assert_eq!(room.json("tools --json")["tools"].as_array().unwrap().len(), 6);
    let changed = Script::new("one").tool(ToolScript::text("new", "it is new"));
    let room = room.changed(|room| room.server("one", &changed).with("one", "env", json!({"X": "1"})));
    room.check("call new", "\n--- stdout\nit is new\n--- exit 0\n");
    assert_eq!((starts(&room, "one"), starts(&room, "two")), (2, 1), "the other one stays");
    let room = room.changed(|room| room.setting("mcp", json!({"excluded": ["workspace", "two"]})));
    assert_eq!(room.run("call two__echo message=x").code(), Some(3));
    assert_eq!(room.run("call new").code(), Some(0));
    let names: Vec<_> =
        room.status()["hosts"][0]["servers"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, [json!("one")]);
}

#[test]
fn nothing_of_a_folder_runs_on_when_it_is_not_trusted_any_more() {
    let room = RuntimeRoom::up(Room::new().server("one", &sample("one")).without_workspace());
    room.world.write_in_workspace(".toolgate/settings.json", "{}").unwrap();
    let servers = || room.status()["hosts"].as_array().map(Vec::len);
    let call = || room.run("call echo message=x").code();
    assert_eq!((call(), servers()), (Some(8), Some(0)));
    assert_eq!(room.run("trust --yes").code(), Some(0));
    assert_eq!((call(), servers()), (Some(0), Some(1)));
    for line in ["trust --deny", "trust --revoke"] {
        assert_eq!((room.run("trust --yes").code(), call(), servers()), (Some(0), Some(0), Some(1)), "{line}");
        assert_eq!(room.run(line).code(), Some(0), "{line}");
        assert_eq!(servers(), Some(0), "{line}: at once");
        assert_eq!(call(), Some(8), "{line}");
    }
}

#[test]
fn whoever_asks_one_server_anew_starts_no_other() {
    let room = Room::new().server("one", &sample("one")).server("two", &sample("two")).without_workspace();
    let room = RuntimeRoom::up(room);
    assert_eq!(room.run("call one__echo message=x").code(), Some(0));
    assert_eq!(room.run("mcp refresh one").code(), Some(0));
    assert_eq!(starts(&room, "two"), 0);
}

#[test]
fn rules_are_read_for_every_command() {
    let room = RuntimeRoom::up(Room::new().with_questions().server("one", &sample("one")).without_workspace());
    for line in [
        "call echo message=x",
        "call echo message=x --json",
        "call echo message=x --yes",
        "call --mode yolo echo message=x",
    ] {
        let there = room.run(line);
        let here = room.command(line.split(' ')).env("TOOLGATE_NO_RUNTIME", "1").run().unwrap();
        assert_eq!(timeless(&there.transcript()), timeless(&here.transcript()), "{line}");
    }
    assert_eq!(room.run("call echo message=x").code(), Some(3));
    room.world
        .write_in_home(
            ".toolgate/policies/a.toml",
            "[[rule]]\ntoolName = \"echo\"\ndecision = \"allow\"\npriority = 1\n",
        )
        .unwrap();
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    room.world.write_in_home(".toolgate/policies/a.toml", "[[rule]\n").unwrap();
    assert_eq!(room.run("call echo message=x").code(), Some(2));
}

#[test]
fn a_large_result_and_large_arguments_pass_through() {
    let text = "0123456789abcdef\n".repeat(500_000);
    let script =
        Script::new("big").tool(ToolScript::new("large", Behaviour::text(text.clone()))).tool(ToolScript::echo("echo"));
    let room = RuntimeRoom::up(Room::new().server("big", &script).without_workspace());
    let output = room.run("call large");
    assert_eq!((output.code(), output.stdout == text), (Some(0), true), "{} bytes", output.stdout.len());
    let message = "x".repeat(3_000_000);
    let input = json!({"message": message}).to_string();
    let output = room.command(["call", "echo", "--args", "-"]).input(input).run().unwrap();
    assert_eq!((output.code(), output.stdout.trim_end() == message), (Some(0), true), "{}", output.stderr);
    let output = room.command(["call", "echo", "--args", "-"]).input("[").run().unwrap();
    let here = room.command(["call", "echo", "--args", "-"]).input("[").env("TOOLGATE_NO_RUNTIME", "1").run().unwrap();
    assert_eq!(output.transcript(), here.transcript());
}

#[test]
fn a_server_that_died_is_started_again() {
    use toolgate_testkit::{What, When};
    let script = sample("one").tool(ToolScript::text("dies", "unheard")).fault(When::Tool("dies"), What::Exit(9));
    let room = RuntimeRoom::up(Room::new().server("one", &script).without_workspace());
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    assert_eq!(room.run("call dies").code(), Some(4));
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    assert_eq!(starts(&room, "one"), 2);
}
