//! What is let through, from the outside: lists, rules, questions, grants and the record agree, whichever command is asked.

use serde_json::{Value, json};
use toolgate_testkit::{Script, ToolScript};

use crate::room::{Room, sample};

/// A server with the tools of the seed scenarios, each of which says what it was called with.
fn shell_like() -> Script {
    ["read_file", "list_directory", "write_file", "run_shell_command", "dangerous_tool"]
        .into_iter()
        .fold(Script::new("box"), |script, name| script.tool(ToolScript::text(name, "done")))
}

/// Calls with their exit codes: 0 is let through, 3 is denied, 7 is not there.
fn codes(room: &Room, calls: &[(&str, Value, i32)]) {
    for (tool, arguments, expected) in calls {
        let arguments = arguments.to_string();
        let output = room.command(["call", "--yes", tool, "--args", arguments.as_str()]).run().unwrap();
        assert_eq!(output.code(), Some(*expected), "{tool} {arguments}: {}", output.transcript());
    }
}

fn room(include: &Value, exclude: &Value) -> Room {
    let room = Room::new().with_questions().server("box", &shell_like()).without_workspace();
    let room = if include.is_null() { room } else { room.with("box", "includeTools", include.clone()) };
    if exclude.is_null() { room } else { room.with("box", "excludeTools", exclude.clone()) }
}

fn shown(room: &Room) -> Vec<String> {
    let listed = room.json("tools --json");
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn scenario_one_only_listed_tools() {
    let room = room(&json!(["read_file", "list_directory"]), &json!([]));
    assert_eq!(shown(&room), ["read_file", "list_directory"]);
    codes(&room, &[("read_file", json!({"path": "a"}), 0), ("write_file", json!({"path": "a"}), 7)]);
}

#[test]
fn scenario_two_everything_but_dangerous_calls() {
    let room = room(&json!(["*"]), &json!(["run_shell_command(rm -rf)", "write_file(/etc/passwd)"]));
    assert_eq!(shown(&room).len(), 5);
    codes(
        &room,
        &[
            ("run_shell_command", json!({"command": "ls -l"}), 0),
            ("run_shell_command", json!({"command": "rm -rf /"}), 3),
            ("run_shell_command", json!({"command": "cd x && rm -rf y"}), 3),
            ("run_shell_command", json!({"command": "sudo /bin/rm  -rf y"}), 3),
            ("write_file", json!({"path": "/etc/passwd", "content": "x"}), 3),
            ("write_file", json!({"path": "/etc/../etc/passwd", "content": "x"}), 3),
            ("write_file", json!({"path": "notes.txt", "content": "x"}), 0),
        ],
    );
}

#[test]
fn scenario_three_only_two_commands() {
    let include = json!(["run_shell_command(ls)", "run_shell_command(pwd)"]);
    let room = room(&include, &json!(["run_shell_command(*)"]));
    assert_eq!(shown(&room), ["run_shell_command"]);
    codes(
        &room,
        &[
            ("run_shell_command", json!({"command": "ls -l src"}), 0),
            ("run_shell_command", json!({"command": "pwd"}), 0),
            ("run_shell_command", json!({"command": "ls && pwd"}), 0),
            ("run_shell_command", json!({"command": "lsof"}), 3),
            ("run_shell_command", json!({"command": "ls; reboot"}), 3),
            ("run_shell_command", json!({"command": "ls $(reboot)"}), 3),
        ],
    );
}

#[test]
fn scenario_four_excluded_wins() {
    let room = room(&json!(["dangerous_tool"]), &json!(["dangerous_tool"]));
    assert_eq!(shown(&room), Vec::<String>::new());
    codes(&room, &[("dangerous_tool", json!({}), 7)]);
}

#[test]
fn strict_settings_show_nothing_that_is_not_included() {
    let room = room(&Value::Null, &Value::Null).setting("security", json!({"strict": true}));
    assert_eq!(shown(&room), Vec::<String>::new());
    let room = room.with("box", "includeTools", json!(["read_*"]));
    assert_eq!(shown(&room), ["read_file"]);
}

#[test]
fn a_question_is_a_no_where_nobody_can_be_asked() {
    let room = Room::new().with_questions().server("one", &sample("one")).without_workspace();
    let output = room.run("call echo message=hello");
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    assert!(output.stderr.contains("nobody can be asked") && output.stderr.contains("--yes"), "{}", output.stderr);
    assert_eq!(room.run("call --yes echo message=hello").code(), Some(0));
    let denied = room.json("call echo message=hello --json");
    assert_eq!((&denied["outcome"], &denied["error"]["code"]), (&json!("denied"), &json!(3)), "{denied}");
    let room = room.with("one", "trust", json!(true));
    assert_eq!(room.run("call echo message=hello").code(), Some(0), "its server is trusted");
    assert_eq!(room.run("call echo message=hello --mode plan").code(), Some(3), "not for looking only");
}

#[test]
fn explain_says_what_a_call_would_get() {
    let policy = "[[rule]]\nname = \"sources only\"\nmcpName = \"one\"\ntoolName = \"echo\"\ndecision = \"deny\"\npriority = 300\n\
                  [rule.when]\n\"/message\" = { matches = \"^secret\" }\n";
    let room = Room::new().with_questions().server("one", &sample("one")).without_workspace();
    room.world.write_in_home(".toolgate/policies/mine.toml", policy).unwrap();
    let explained = |message: &str| {
        let arguments = json!({"message": message}).to_string();
        let output = room.command(["policy", "explain", "echo", "--json", "--args", arguments.as_str()]).run().unwrap();
        assert_eq!(output.code(), Some(0), "{}", output.transcript());
        serde_json::from_str::<Value>(&output.stdout).unwrap()
    };
    let denied = explained("secret plans");
    assert_eq!((&denied["decision"], &denied["visible"]), (&json!("deny"), &json!(true)), "{denied}");
    assert_eq!((&denied["rule"]["line"], &denied["rule"]["priority"]), (&json!(1), &json!(300)), "{denied}");
    assert!(denied["rule"]["file"].as_str().unwrap().ends_with("policies/mine.toml"), "{denied}");
    let asked = explained("hello");
    assert_eq!((&asked["decision"], &asked["rule"]), (&json!("ask"), &Value::Null), "{asked}");
    assert_eq!(asked["close"][0]["misses"], json!("when"), "{asked}");
    let headless = room.json("policy explain echo --headless --json");
    assert_eq!((&headless["decision"], &headless["visible"]), (&json!("deny"), &json!(false)), "{headless}");
    let output = room.run("call --yes echo message=secret");
    assert_eq!(output.code(), Some(3), "a deny stays a deny: {}", output.transcript());
}

#[test]
fn a_policy_that_cannot_be_read_stops_calls_and_names_itself() {
    let room = Room::new().with_questions().server("one", &sample("one"));
    room.world
        .write_in_home(
            ".toolgate/policies/mine.toml",
            "[[rule]]\ndecision = \"deny\"\npriority = 1\nmcpName = \"x\"\ntoolNam = \"x\"\n",
        )
        .unwrap();
    for line in ["call --yes echo message=x", "tools", "policy explain echo", "policy list"] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(2), "{line}: {}", output.transcript());
        assert!(output.stderr.contains("policies/mine.toml:5:"), "{line}: {}", output.stderr);
    }
    let checked = room.run("policy check --json");
    assert_eq!(checked.code(), Some(9), "{}", checked.transcript());
    assert_eq!(room.run("mcp list --no-connect").code(), Some(0), "servers can be looked at all the same");
}

#[test]
fn a_folder_can_restrict_and_not_permit() {
    let room = Room::new().with_questions().server("one", &sample("one")).without_workspace();
    let policy = "[[rule]]\ntoolName = \"echo\"\ndecision = \"allow\"\npriority = 999\n\
                  [[rule]]\ntoolName = \"add\"\ndecision = \"deny\"\npriority = 1\n";
    room.world.write_in_workspace(".toolgate/policies/theirs.toml", policy).unwrap();
    room.world.write_in_workspace(".toolgate/settings.json", r#"{"tools": {"allowed": ["echo"]}}"#).unwrap();
    assert_eq!(room.run("call --trust-folder echo message=x").code(), Some(3), "what it allows is asked about");
    assert_eq!(room.run("call --trust-folder --yes echo message=x").code(), Some(0));
    assert_eq!(room.run("call --trust-folder --yes add a=1 b=2").code(), Some(3), "what it denies is denied");
}

#[test]
fn policies_of_a_folder_that_changed_are_asked_about() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let deny = "[[rule]]\ntoolName = \"add\"\ndecision = \"deny\"\npriority = 1\n";
    room.world.write_in_workspace(".toolgate/policies/theirs.toml", deny).unwrap();
    std::fs::remove_file(room.world.home().join(".toolgate/policies/room.toml")).unwrap();
    let room = room.with_questions().with("one", "trust", json!(false));
    assert_eq!(room.run("trust --yes").code(), Some(0));
    assert_eq!(room.run("call --yes add a=1 b=2").code(), Some(3));
    std::fs::remove_file(room.world.workspace().join(".toolgate/policies/theirs.toml")).unwrap();
    let output = room.run("call --yes add a=1 b=2");
    assert!(output.stderr.contains("changed since it was trusted"), "{}", output.transcript());
}

#[test]
fn every_call_leaves_a_record_and_rules_can_be_tried_on_it() {
    let room = Room::new().with_questions().server("one", &sample("one")).without_workspace();
    room.run("call --yes echo message=hello");
    room.run("call echo message=hello");
    room.run("call --yes fail");
    let output = room.run("audit show --json");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    for word in ["\"completed\"", "\"denied\"", "\"tool_error\"", "\"once\""] {
        assert!(output.stdout.contains(word), "{word}: {}", output.stdout);
    }
    assert_eq!(room.run("audit verify").code(), Some(0));
    let suggested = room.run("policy suggest");
    assert!(suggested.stdout.contains("toolName = \"echo\""), "{}", suggested.transcript());
    room.world.write_in_home("try.toml", &suggested.stdout).unwrap();
    let path = room.world.home().join("try.toml").display().to_string();
    assert_eq!(room.run(&format!("policy check {path}")).code(), Some(0), "what is suggested is right");
    let simulated = room.json(&format!("policy simulate --json --policy {path}"));
    assert_eq!(simulated["calls"], json!(3), "{simulated}");
    let different = simulated["differences"].as_array().unwrap();
    assert!(different.iter().any(|one| one["now"] == "allow" && one["tool"] == "echo"), "{simulated}");
}

#[test]
fn what_lists_of_servers_hold_back_is_no_difference() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let room = room.with("one", "excludeTools", json!(["echo(message=bad)"]));
    assert_eq!(room.run("call --yes echo message=bad").code(), Some(3));
    assert_eq!(room.run("call --yes echo message=good").code(), Some(0));
    let simulated = room.json("policy simulate --json");
    let counted = |key: &str| simulated[key].as_u64().unwrap();
    assert_eq!((counted("calls"), counted("different"), counted("heldBackByLists")), (2, 0, 1), "{simulated}");
}

#[test]
fn suggestions_have_nothing_in_them_that_a_terminal_obeys() {
    let room = Room::new().with_questions().server("one", &sample("one")).without_workspace();
    let arguments = json!({"message": "a\u{9b}2J\u{202e}b"}).to_string();
    assert_eq!(room.command(["call", "--yes", "echo", "--args", arguments.as_str()]).run().unwrap().code(), Some(0));
    let suggested = room.run("policy suggest").stdout;
    assert!(suggested.contains(r#""/message" = { equals = "a\u009B2J\u202Eb" }"#), "{suggested}");
}

#[test]
fn presets_are_written_once_and_are_right() {
    let room = Room::new();
    for name in ["read-only", "locked-down", "developer"] {
        assert_eq!(room.run(&format!("policy preset {name} --write")).code(), Some(0), "{name}");
        assert_eq!(room.run(&format!("policy preset {name} --write")).code(), Some(2), "{name} is not overwritten");
        assert!(room.run(&format!("policy preset {name}")).stdout.contains("[[rule]]"), "{name}");
        std::fs::remove_file(room.world.home().join(format!(".toolgate/policies/{name}.toml"))).unwrap();
    }
    room.run("policy preset developer --write");
    assert_eq!(room.run("policy check").code(), Some(0));
    assert_eq!(room.run("policy preset nothing").code(), Some(2));
}

/// A preset for a kind of server is right for such a server, although each of its tools takes some of the arguments only.
#[test]
fn a_preset_for_a_server_fits_its_tools() {
    let taking = |name: &str, arguments: &[&str]| {
        let properties: Value = arguments
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "string"})))
            .collect::<serde_json::Map<_, _>>()
            .into();
        ToolScript::text(name, "done").input_schema(json!({"type": "object", "properties": properties}))
    };
    let files = Script::new("fs")
        .tool(taking("read_file", &["path"]))
        .tool(taking("read_multiple_files", &["paths"]))
        .tool(taking("move_file", &["source", "destination"]));
    let room = Room::new()
        .with_questions()
        .server("fs", &files)
        .server("notes", &Script::new("notes").tool(taking("read", &["id"])));
    assert_eq!(room.run("policy preset files --for fs --write").code(), Some(0));
    let checked = room.run("policy check --connect");
    assert_eq!(checked.code(), Some(0), "{}", checked.transcript());
    // For another kind of server it is not right, and for none it has no effect.
    assert_eq!(room.run("policy preset files --for notes --write").code(), Some(0));
    let checked = room.run("policy check --connect");
    assert_eq!(checked.code(), Some(9), "{}", checked.transcript());
    assert!(checked.stdout.contains("`/path` points at nothing"), "{}", checked.transcript());
    let absent = room.run("policy preset files --for fss --write");
    assert_eq!(absent.code(), Some(0), "{}", absent.transcript());
    assert!(absent.stderr.contains("warning: there is no server `fss`"), "{}", absent.transcript());
}
