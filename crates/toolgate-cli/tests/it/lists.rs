//! Entries of lists and rules that match nothing, and the reasons for missing servers and tools.

use serde_json::{Value, json};

use crate::room::{Room, sample};

const RULE: &str = "[[rule]]\nmcpName = \"one\"\ntoolName = \"ecko\"\ndecision = \"deny\"\npriority = 100\n";

fn settings(room: &Room) -> String {
    room.world.home().join(".toolgate/settings.json").display().to_string()
}

#[test]
fn a_mistyped_entry_is_a_warning_on_every_command_that_uses_its_server() {
    let own = |key: &str, entry: &str| {
        let room = Room::new().server("one", &sample("one")).server("two", &sample("two")).without_workspace();
        room.with("one", key, json!([entry]))
    };
    let everywhere = |key: &str, entry: &str| {
        let room = Room::new().server("one", &sample("one")).without_workspace();
        room.setting("tools", json!({key: [entry]}))
    };
    let warns = |room: &Room, line: &str| {
        let output = room.run(line);
        output.stderr.contains("did you mean `echo`?")
    };
    // a room, a command, whether it warns
    let cases = [
        (own("excludeTools", "ecko"), "call one__echo message=x", true),
        (own("excludeTools", "ecko"), "tools", true),
        (own("excludeTools", "ecko"), "tools one --json", true),
        (own("excludeTools", "ecko"), "mcp list", true),
        (own("excludeTools", "ecko"), "call two__echo message=x", false),
        (own("excludeTools", "ecko"), "mcp list --no-connect", false),
        (own("excludeTools", "ec*o"), "tools", false),
        (own("excludeTools", "drop_table"), "tools", false),
        (own("includeTools", "Echo"), "tools", true),
        (everywhere("exclude", "one__ecko"), "call echo message=x", true),
        (everywhere("exclude", "ecko"), "call echo message=x", true),
        (everywhere("allowed", "ehco"), "tools", true),
        (everywhere("confirmationRequired", "ecko"), "tools", true),
        (everywhere("exclude", "web_search"), "tools", false),
    ];
    for (room, line, expected) in &cases {
        assert_eq!(warns(room, line), *expected, "{line}: {}", room.run(line).transcript());
    }
    let room = own("excludeTools", "ecko");
    let expected = format!(
        "warning: {}:1: mcpServers.one.excludeTools: server `one` has no tool `ecko`; did you mean `echo`?",
        settings(&room)
    );
    let output = room.run("call one__echo message=x");
    assert!(output.stderr.contains(&expected), "{}", output.transcript());
    let room = Room::new().server("one", &sample("one")).without_workspace();
    room.world.write_in_home(".toolgate/policies/typed.toml", RULE).unwrap();
    let output = room.run("call echo message=x");
    assert!(
        output.stderr.contains("typed.toml:1: server `one` has no tool `ecko`; did you mean"),
        "{}",
        output.transcript()
    );
}

#[test]
fn what_fits_nothing_is_reported_by_the_commands_that_check() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let room = room.with("one", "excludeTools", json!(["ecko", "drop_table"]));
    room.world.write_in_home(".toolgate/policies/typed.toml", RULE).unwrap();
    let entries = |said: &Value| -> Vec<(String, Value, bool)> {
        let found = said["fitsNothing"].as_array().unwrap();
        let one = |one: &Value| {
            (one["entry"].as_str().unwrap().to_owned(), one["nearest"].clone(), one["mistyped"] == json!(true))
        };
        found.iter().map(one).collect()
    };
    let (mistyped, absent) = (("ecko".to_owned(), json!("echo"), true), ("drop_table".to_owned(), json!(null), false));
    let expected = [mistyped.clone(), mistyped, absent];
    for line in ["mcp test --json", "doctor --json", "policy check --connect --json"] {
        assert_eq!(entries(&room.json(line)), expected, "{line}");
    }
    for (line, code) in [("mcp test", 9), ("doctor", 9), ("policy check --connect", 9)] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(code), "{line}: {}", output.transcript());
        assert!(output.stdout.contains("has no tool `ecko`; did you mean `echo`?"), "{line}: {}", output.transcript());
        assert!(output.stdout.contains("has no tool `drop_table`"), "{line}: {}", output.transcript());
        assert!(!output.stderr.contains("did you mean"), "{line} says it once: {}", output.transcript());
    }
}

#[test]
fn why_a_server_or_a_tool_is_not_there_is_said_with_the_place() {
    let room = || Room::new().server("one", &sample("one")).server("two", &sample("two"));
    let allowed = || room().setting("mcp", json!({"allowed": ["two"], "excluded": ["workspace"]}));
    let excluded = || room().setting("mcp", json!({"excluded": ["one", "workspace"]}));
    let hidden = || room().without_workspace().with("one", "excludeTools", json!(["echo"]));
    let disabled = || {
        let room = room().without_workspace();
        room.world.write_in_home(".toolgate/mcp-server-enablement.json", r#"{"one": {"enabled": false}}"#).unwrap();
        room
    };
    let none_left = || room().setting("mcp", json!({"excluded": ["*"]}));
    // a room, a command, the expected text
    let cases = [
        (allowed(), "mcp list", "not in `mcp.allowed` of SETTINGS:1"),
        (allowed(), "mcp list --json", "not in `mcp.allowed` of SETTINGS:1"),
        (allowed(), "tools one", "not in `mcp.allowed` of SETTINGS:1"),
        (allowed(), "call one__echo message=x", "not in `mcp.allowed` of SETTINGS:1"),
        (allowed(), "mcp test one", "not in `mcp.allowed` of SETTINGS:1"),
        (allowed(), "doctor", "not in `mcp.allowed` of SETTINGS:1"),
        (excluded(), "mcp list", "in `mcp.excluded` of SETTINGS:1"),
        (excluded(), "mcp test", "in `mcp.excluded` of SETTINGS:1"),
        (excluded(), "mcp test --json", "in `mcp.excluded` of SETTINGS:1"),
        (excluded(), "tools --json", "in `mcp.excluded` of SETTINGS:1"),
        (none_left(), "tools", "no tools of one: in `mcp.excluded` of SETTINGS:1"),
        (disabled(), "mcp list", "disabled in HOME/.toolgate/mcp-server-enablement.json"),
        (disabled(), "call one__echo message=x", "disabled in HOME/.toolgate/mcp-server-enablement.json"),
        (hidden(), "mcp list", "tool echo hidden: `echo` in `excludeTools` hides it (SETTINGS:1)"),
        (hidden(), "mcp list --json", "`echo` in `excludeTools` hides it (SETTINGS:1)"),
        (hidden(), "mcp test", "`echo` in `excludeTools` hides it (SETTINGS:1)"),
        (hidden(), "mcp test --json", "`echo` in `excludeTools` hides it (SETTINGS:1)"),
        (hidden(), "doctor", "`echo` in `excludeTools` hides it (SETTINGS:1)"),
        (hidden(), "doctor --json", "`echo` in `excludeTools` hides it (SETTINGS:1)"),
        (hidden(), "call one__echo message=x", "hidden: `echo` in `excludeTools` hides it (SETTINGS:1)"),
        (hidden(), "call --server one echo message=x", "hidden: `echo` in `excludeTools` hides it (SETTINGS:1)"),
        (
            hidden().with("one", "includeTools", json!([])),
            "tools one",
            "tool add hidden: it is not in `includeTools` (SETTINGS:1)",
        ),
        (
            hidden().with("one", "includeTools", json!([])),
            "tools one --json",
            "it is not in `includeTools` (SETTINGS:1)",
        ),
    ];
    are_said(&cases);
}

#[test]
fn servers_that_are_not_used_are_named_where_something_of_theirs_is_looked_for() {
    let room = || Room::new().server("one", &sample("one")).server("two", &sample("two"));
    let allowed = || room().setting("mcp", json!({"allowed": ["two"], "excluded": ["workspace"]}));
    let excluded = || room().setting("mcp", json!({"excluded": ["one", "workspace"]}));
    let none_left = || room().setting("mcp", json!({"excluded": ["*"]}));
    let disabled = || {
        let room = room().without_workspace();
        room.world.write_in_home(".toolgate/mcp-server-enablement.json", r#"{"one": {"enabled": false}}"#).unwrap();
        room
    };
    let broken = || room().without_workspace().with("one", "command", json!(5));
    let strict = || room().setting("security", json!({"strict": true}));
    // a room, a command, the expected text
    let cases = [
        (allowed(), "tools --all", "no tools of one: not in `mcp.allowed` of SETTINGS:1"),
        (
            excluded(),
            "call read_file path=x",
            "hint: servers that are not used: one: in `mcp.excluded` of SETTINGS:1; workspace: in",
        ),
        (
            disabled(),
            "call nothing_like_it",
            "hint: servers that are not used: one: disabled in HOME/.toolgate/mcp-server-enablement.json",
        ),
        (none_left(), "prompts", "no prompts of one: in `mcp.excluded` of SETTINGS:1"),
        (none_left(), "resources", "no resources of one: in `mcp.excluded` of SETTINGS:1"),
        (broken(), "mcp test one", "MCP server one: SETTINGS:1: mcpServers.one.command: expected a string"),
        (broken(), "call one__echo message=x", "MCP server one: SETTINGS:1: mcpServers.one.command: expected a string"),
        (broken(), "call one__echo --json", "MCP server one: SETTINGS:1: mcpServers.one.command: expected a string"),
        (broken(), "mcp test", "settings SETTINGS:1: mcpServers.one.command: expected a string"),
        (strict(), "tools workspace", "`security.strict` is on, and the server has no `includeTools` (SETTINGS:1)"),
        (
            strict(),
            "call read_file path=x",
            "`security.strict` is on, and the server has no `includeTools` (SETTINGS:1)",
        ),
    ];
    are_said(&cases);
}

/// Runs the commands. What each has to say stands in its output, however it is wrapped.
fn are_said(cases: &[(Room, &str, &str)]) {
    for (room, line, expected) in cases {
        let output = room.run(line);
        let said = format!("{}{}", output.stdout, output.stderr).replace('\n', " ");
        let expected = expected.replace("SETTINGS", &settings(room));
        let expected = expected.replace("HOME", &room.world.home().display().to_string());
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&expected), "{line}: {expected}: {}", output.transcript());
    }
}

#[test]
fn words_say_how_much_is_listed_and_win_over_a_filter() {
    let room = Room::new().server("one", &sample("one")).server("desc", &sample("desc")).without_workspace();
    let listed = |line: &str| -> (Vec<&str>, bool, bool) {
        let output = room.run(line);
        assert_eq!(output.code(), Some(0), "{line}: {}", output.transcript());
        let heads = [("one - ", "one"), ("desc - ", "desc")];
        let names = heads.into_iter().filter(|(head, _)| output.stdout.contains(head)).map(|(_, name)| name);
        (names.collect(), output.stdout.contains("- echo: "), output.stdout.contains("Parameters:"))
    };
    // a command, which servers, with descriptions, with schemas
    let cases: [(&str, &[&str], bool, bool); 10] = [
        ("mcp list", &["one", "desc"], false, false),
        ("mcp list desc", &["one", "desc"], true, false),
        ("mcp list nodesc", &["one", "desc"], false, false),
        ("mcp list desc one", &["one"], true, false),
        ("mcp list nodesc desc --desc", &["desc"], false, false),
        ("mcp list --match desc", &["desc"], false, false),
        ("mcp list desc --match desc", &["desc"], true, false),
        ("mcp list one", &["one"], false, false),
        ("mcp desc one", &["one"], true, false),
        ("mcp list one --desc", &["one"], true, false),
    ];
    for (line, names, has_descriptions, has_schemas) in cases {
        assert_eq!(listed(line), (names.to_vec(), has_descriptions, has_schemas), "{line}");
    }
    assert!(listed("mcp list schema one").2);
    let wrong = room.run("mcp list one desc");
    assert_eq!(wrong.code(), Some(2), "{}", wrong.transcript());
    assert!(wrong.stderr.contains("hint: `toolgate mcp list desc one`"), "{}", wrong.transcript());
    let wrong = room.run("mcp list one two");
    assert!(wrong.stderr.contains("hint: `toolgate mcp list desc two`"), "{}", wrong.transcript());
    let session = room.command(["--no-color"]).input("/mcp list desc one\n").run().unwrap();
    assert!(
        session.stdout.contains("one - ") && session.stdout.contains("echo: Says it again."),
        "{}",
        session.transcript()
    );
    assert!(!session.stdout.contains("desc - "), "{}", session.transcript());
}

#[test]
fn words_say_how_much_is_written_for_programs() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let offers = |line: &str| room.json(line)["servers"][0]["offers"].clone();
    assert_eq!(offers("mcp list --json"), Value::Null);
    let echo = |line: &str| offers(line)["tools"].as_array().unwrap()[0].clone();
    assert_eq!(echo("mcp list nodesc --json"), json!({"name": "echo"}));
    assert_eq!(
        echo("mcp list desc one --json"),
        json!({"name": "echo", "description": "Says it again.\n\nAnd nothing else."})
    );
    let schema = echo("mcp list schema --json");
    assert_eq!((&schema["name"], &schema["inputSchema"]["type"]), (&json!("echo"), &json!("object")));
}

#[test]
fn a_server_name_with_a_blank_is_quoted_in_commands_to_paste() {
    let room = Room::new().with_questions().server("my one", &sample("one")).without_workspace();
    let denied = room.command(["call", "my one__add", "a=1", "b=2"]).run().unwrap();
    assert!(denied.stderr.contains("`toolgate policy explain 'my one__add'"), "{}", denied.transcript());
    let missing = room.command(["call", "my one__nothing_like_it"]).run().unwrap();
    assert!(missing.stderr.contains("`toolgate tools 'my one'`"), "{}", missing.transcript());
    let off = room.command(["mcp", "disable", "my one"]).run().unwrap();
    assert!(off.stdout.contains("`toolgate mcp enable 'my one'` switches it on again"), "{}", off.transcript());
    let held_back = room.command(["tools", "my one"]).run().unwrap();
    assert!(
        held_back.stderr.contains("hint: enable it with `toolgate mcp enable 'my one'`"),
        "{}",
        held_back.transcript()
    );
}

#[test]
fn more_mistyped_entries_than_are_shown_are_counted() {
    let room = Room::new().server("one", &sample("one")).without_workspace();
    let typed = ["ecko", "echp", "ehco", "eccho", "echoo", "xecho", "ecoh"];
    let room = room.with("one", "excludeTools", json!(typed));
    let output = room.run("tools");
    let warnings = output.stderr.lines().filter(|line| line.contains("did you mean `echo`?")).count();
    assert_eq!(warnings, 5, "{}", output.transcript());
    assert!(
        output.stderr.contains("warning: 2 more like these; `toolgate doctor` shows them all"),
        "{}",
        output.transcript()
    );
}

#[test]
fn policy_check_knows_the_tools_and_arguments_of_the_built_in_server() {
    let rule = |rest: &str| format!("[[rule]]\ndecision = \"deny\"\npriority = 10\n{rest}\n");
    let policy = |rest: &str| (rule(rest), json!({}));
    let settings = |settings: Value| (String::new(), settings);
    let own = |list: &str, entry: &str| {
        settings(json!({"mcpServers": {"workspace": {"builtin": "workspace", list: [entry]}}}))
    };
    let excluded = |entry: &str| settings(json!({"tools": {"exclude": [entry]}}));
    // a policy or settings, the findings
    let cases = [
        (policy("toolName = \"write_fil\""), "did you mean `write_file`?"),
        (policy("mcpName = \"workspace\"\ntoolName = \"run_shel_command\""), "did you mean `run_shell_command`?"),
        (policy("toolName = [\"glob\", \"read_fle\"]"), "did you mean `read_file`?"),
        (policy("toolName = \"write_file\"\n[rule.when]\n\"/pth\" = { equals = \"x\" }"), "takes no `pth`"),
        (policy("toolName = \"run_shell_command\"\nargsPattern = '\"cmd\":\"rm'"), "takes no `cmd`"),
        (policy("toolName = \"run_shell_command\"\nargsPattern = '\\{\"cmd\":\"rm'"), "takes no `cmd`"),
        (policy("toolName = \"run_shell_command\"\nargsPattern = '\"command\":\"rm'"), ""),
        (policy("toolName = \"run_shell_command\"\nargsPattern = 'rm -rf'"), ""),
        (policy("toolName = \"grep_search\""), ""),
        (excluded("write_file(pth=/etc)"), "takes no `pth`"),
        (excluded("write_file(path=/etc)"), ""),
        (excluded("run_shell_comand(rm)"), "did you mean `run_shell_command`?"),
        (excluded("edit_file"), ""),
        (own("excludeTools", "write_file(file=/etc)"), "takes no `file`"),
        (own("includeTools", "read_fil"), "did you mean `read_file`?"),
        (own("includeTools", "ShellTool(ls)"), ""),
    ];
    for ((policy, settings), expected) in &cases {
        let room = Room::new();
        room.world.write_in_home(".toolgate/settings.json", &settings.to_string()).unwrap();
        room.world.write_in_home(".toolgate/policies/typed.toml", policy).unwrap();
        let output = room.run("policy check");
        let is_found = output.stdout.contains("takes no") || output.stdout.contains("did you mean");
        assert_eq!(is_found, !expected.is_empty(), "{policy} {settings}: {}", output.transcript());
        assert!(output.stdout.contains(expected), "{policy} {settings}: {}", output.transcript());
    }
}

#[test]
fn trust_that_a_folder_writes_is_shown_as_what_it_is() {
    let entry = json!({"mcpServers": {"theirs": {"command": "x", "trust": true}}});
    let room = Room::new().entry("mine", json!({"command": "x", "trust": true}));
    room.world.write_in_workspace(".toolgate/settings.json", &entry.to_string()).unwrap();
    assert_eq!(room.run("trust --yes").code(), Some(0));
    let said = room.json("doctor --no-connect --json");
    let trust = |name: &str| {
        let servers = said["servers"].as_array().unwrap();
        servers.iter().find(|one| one["name"] == name).unwrap()["trust"].as_str().unwrap().to_owned()
    };
    assert!(trust("theirs").contains("ignored, because a folder sets it"), "{said}");
    assert_eq!(trust("mine"), "set: its tools need no confirmation");
}
