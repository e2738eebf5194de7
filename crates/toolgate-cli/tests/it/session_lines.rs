//! A session whose lines come from a file or a pipe.

use serde_json::{Value, json};
use toolgate_testkit::snapshot::assert_snapshot;
use toolgate_testkit::{PromptScript, Record, What, When};

use crate::room::{Room, sample};

fn room() -> Room {
    Room::new().server("one", &sample("one")).without_workspace()
}

fn run(room: &Room, lines: &str) -> toolgate_testkit::command::CommandOutput {
    room.command([]).input(lines).run().unwrap()
}

#[test]
fn each_line_is_a_command_on_the_same_servers() {
    let room = room();
    let output =
        run(&room, "/call echo message=hi\n\n  /call add a=2 b=3  \n/prompts\n/greet --who=me\n/read docs://start\n");
    assert_snapshot(
        &output.transcript(),
        "
        --- stdout
        hi
        5
        one  1 prompt
          /greet --who=… [--style=…]  the scripted prompt greet
        Say hello
        Begin here.
        --- exit 0
        ",
    );
    let record = Record::of_log(room.log("one"));
    assert_eq!((record.count("initialize"), record.count("tools/call")), (1, 2), "one connection for all lines");
}

#[test]
fn the_last_line_that_failed_decides_how_it_ends() {
    let room = room();
    let cases = [
        ("", 0),
        ("/stats\n", 0),
        ("/call fail\n/tools\n", 1),
        ("/call nothing\n/call fail\n/mode\n", 1),
        ("/call fail\n/call nothing\n", 7),
        ("/call echo 'message\n", 2),
        ("/tools --wrong\n", 2),
        ("/nothing\n", 2),
        ("hello\n", 2),
        ("/call fail\n/quit\n/call nothing\n", 1),
    ];
    for (lines, expected) in cases {
        let output = run(&room, lines);
        assert_eq!(output.code(), Some(expected), "{lines:?}:\n{}", output.transcript());
    }
}

#[test]
fn a_line_that_is_no_text_is_left_out() {
    let room = room();
    std::fs::write(room.world.workspace().join("lines"), b"/mode\n/call echo message=\xff\xfe\n/mode\n").unwrap();
    let stdin = std::fs::File::open(room.world.workspace().join("lines")).unwrap();
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_toolgate"));
    program.env_clear().envs(room.world.variables()).current_dir(room.world.workspace());
    let output = program.stdin(stdin).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "default\ndefault\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: line 2 is no text in UTF-8; it was left out\n");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do_next() {
    let room = room();
    let cases = [
        ("/hlep", "there is no command `/hlep`\nhint: did you mean `/help`?"),
        ("/gret", "did you mean `/greet`?"),
        ("hello there", "no model is set: `\"model\": {\"name\": \"…\"}` in your settings adds one"),
        ("/mode fast", "there is no mode `fast`"),
        ("/call", "Usage: /call <NAME>"),
        ("/call ech message=1", "did you mean `echo`?"),
        ("/help tolls", "there is no command `/tolls`\nhint: did you mean `/tools`?"),
        ("/call add a:={z} b=1", "as in a:='{\"a\": 1}'"),
    ];
    for (line, expected) in cases {
        let output = run(&room, line);
        assert!(output.stderr.contains(expected), "{line:?}:\n{}", output.transcript());
        assert_ne!(output.code(), Some(0), "{line:?}");
    }
}

#[test]
fn servers_are_listed_as_the_program_lists_them() {
    // Nobody can be asked here, and what would be asked about is listed all the same.
    let room = room().with_questions().entry("absent", json!({"command": "/nonexistent/program"}));
    for (typed, line) in [
        ("/mcp", "mcp list"),
        ("/mcp list", "mcp list"),
        ("/mcp on", "mcp list on"),
        ("/mcp desc", "mcp desc"),
        ("/mcp schema one", "mcp schema one"),
        ("/mcp nodesc", "mcp nodesc"),
    ] {
        let (here, there) = (run(&room, typed), room.run(line));
        assert_eq!(here.transcript(), there.transcript(), "{typed}");
        assert!(here.stdout.contains("🟢 one - Ready (3 tools, 1 prompt, 1 resource)"), "{}", here.stdout);
    }
}

#[test]
fn a_server_can_be_switched_off_for_the_session_only() {
    let room = room();
    let output = run(
        &room,
        "/mcp disable one --session\n/mcp list\n/call echo message=wrong\n/mcp enable one --session\n/call echo message=right",
    );
    assert!(output.stdout.contains("⏸️ one - Disabled (session)"), "{}", output.transcript());
    assert!(output.stdout.ends_with("\nright\n") && !output.stdout.contains("wrong"), "{}", output.transcript());
    assert_eq!(room.json("mcp list --json --no-connect")["servers"][0]["status"], json!("disconnected"));
    let output = run(&room, "/mcp disable one\n/tools");
    assert!(!output.stdout.contains("echo"), "{}", output.transcript());
    assert_eq!(room.run("call echo message=x").code(), Some(7));
}

#[test]
fn switching_for_the_session_is_said_as_it_is_undone() {
    let output = run(
        &room(),
        "/mcp disable one --session\n/mcp enable one\n/mcp enable one\n/mcp zzz\n/tools --search add two\n",
    );
    assert_snapshot(
        &output.transcript(),
        "
        --- stdout
        disabled MCP server one for this session; `/mcp enable one --session` switches it on again
        enabled MCP server one
        MCP server one is already enabled
        found  1 tool, best first
          add  one: Adds.
        --- stderr
        no server has `zzz` in its name; there is one, workspace
        --- exit 0
        ",
    );
}

#[test]
fn help_is_about_what_is_typed_here() {
    let output = run(&room(), "/help call\n/help greet\n");
    assert!(output.stdout.contains("Usage: /call [OPTIONS] <NAME>"), "{}", output.stdout);
    assert!(!output.stdout.contains("--config") && !output.stdout.contains("toolgate call"), "{}", output.stdout);
    assert!(output.stdout.contains("--who"), "{}", output.stdout);
}

#[test]
fn prompts_are_shown_and_found_by_their_commands() {
    let script = sample("one").prompt(PromptScript::text("two words", "both")).prompt(PromptScript::text("help", "me"));
    let room = Room::new().server("one", &script).without_workspace();
    let output = run(&room, "/mcp\n/prompt two-words\n/prompt /one.help\n/two-words\n");
    for shown in ["  - greet\n", "  - two words (/two-words)\n", "  - help (/one.help)\n", "\nboth\nme\nboth\n"] {
        assert!(output.stdout.contains(shown), "{shown}:\n{}", output.transcript());
    }
}

#[test]
fn refreshing_one_server_leaves_the_others_alone() {
    let room = room().server("two", &sample("two"));
    let output = run(&room, "/mcp\n/mcp refresh one\n/mcp\n");
    assert!(output.stdout.contains("\none: 3 tools, 1 prompt, 1 resource\n"), "{}", output.transcript());
    let begun = ["one", "two"].map(|server| Record::of_log(room.log(server)).count("initialize"));
    assert_eq!(begun, [2, 1], "{}", output.transcript());
}

#[test]
fn the_mode_counts_from_the_next_line_on() {
    let room = Room::new().with_questions();
    let output = run(
        &room,
        "/mode plan\n/mode\n/call write_file path=a content=b\n/mode yolo\n/call write_file path=a content=b",
    );
    assert!(output.stdout.starts_with("mode plan\nplan\n"), "{}", output.transcript());
    assert!(output.stderr.contains("`write_file` was not called"), "{}", output.transcript());
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    assert_eq!(std::fs::read_to_string(room.world.workspace().join("a")).unwrap(), "b");
}

#[test]
fn a_policy_can_tell_the_session_from_the_command_line() {
    let room = room();
    let rule =
        "[[rule]]\ntoolName = \"echo\"\nmcpName = \"one\"\ndecision = \"deny\"\npriority = 5\naskers = [\"session\"]\n";
    room.world.write_in_home(".toolgate/policies/a.toml", rule).unwrap();
    assert_eq!(run(&room, "/call echo message=x").code(), Some(3));
    assert_eq!(room.run("call echo message=x").code(), Some(0));
}

#[test]
fn servers_are_asked_anew() {
    let room = room();
    let output = run(&room, "/tools\n/mcp refresh\n/stats");
    assert!(output.stdout.contains("one: 3 tools, 1 prompt, 1 resource"), "{}", output.transcript());
    assert_eq!(Record::of_log(room.log("one")).count("initialize"), 2, "{}", output.transcript());
}

#[test]
fn a_slow_server_is_waited_for_by_whoever_uses_it() {
    let slow = sample("slow").fault(When::Start, What::Pause { ms: 700 });
    let room = Room::new().server("slow", &slow).without_workspace();
    assert_eq!(run(&room, "/call echo message=hi").stdout, "hi\n");
    let room = Room::new().server("slow", &slow).without_workspace();
    assert_eq!(run(&room, "/greet --who=me").stdout, "Say hello\n");
}

#[test]
fn programs_get_json_line_by_line() {
    let output = room().command(["--json"]).input("/tools\n/call echo message=hi\n").run().unwrap();
    let lines: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{}", output.transcript());
    assert_eq!((&lines[0]["tools"][0]["name"], &lines[1]["outcome"]), (&json!("echo"), &json!("completed")));
}

#[test]
fn nothing_starts_in_a_folder_that_is_not_trusted() {
    let room = room();
    room.world
        .write_in_workspace(".toolgate/settings.json", "{\"mcpServers\": {\"two\": {\"command\": \"x\"}}}")
        .unwrap();
    let output = run(&room, "/tools\n");
    assert_eq!(output.code(), Some(8), "{}", output.transcript());
    assert!(!room.log("one").exists());
}
