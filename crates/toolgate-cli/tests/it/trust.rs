//! `toolgate trust`: what a folder would start, and what was decided about it. And the questions that other commands ask.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::room::{Room, sample};
use crate::screen;

const ENTER: &str = "\r";
const DOWN: &str = "\u{1b}[B";
const ESCAPE: &str = "\u{1b}";
const INTERRUPT: &str = "\u{3}";

/// A text that appears, and the key pressed then.
type Key = (&'static str, &'static str);

/// A room whose workspace brings these servers.
fn bringing(servers: &Value) -> Room {
    let room = Room::new();
    bring(&room, servers);
    room
}

fn bring(room: &Room, servers: &Value) {
    let text = serde_json::to_string_pretty(&json!({"mcpServers": servers})).unwrap();
    room.world.write_in_workspace(".toolgate/settings.json", &text).unwrap();
}

/// A room whose workspace brings a scripted server that works.
fn bringing_one_that_works() -> Room {
    let room = Room::new().server("theirs", &sample("theirs")).without_workspace();
    let text = fs::read_to_string(room.world.home().join(".toolgate/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    bring(&room, &settings["mcpServers"]);
    room.world.write_in_home(".toolgate/settings.json", "{\"mcp\": {\"excluded\": [\"workspace\"]}}").unwrap();
    room
}

/// What is written in the file of rules.
fn rules(room: &Room) -> Value {
    let text = fs::read_to_string(room.world.home().join(".toolgate/trustedFolders.json")).unwrap_or("{}".to_owned());
    serde_json::from_str(&text).unwrap()
}

fn rule_of_workspace(room: &Room) -> Value {
    rules(room)[room.world.workspace().display().to_string()].clone()
}

#[test]
fn what_a_folder_would_start_is_shown_before_it_is_trusted() {
    let room = Room::new();
    room.world
        .write_in_workspace(
            ".toolgate/settings.json",
            r#"{
  "mcpServers": {
    "files": {"command": "touch", "args": ["pwned", "--token", "sesame"], "env": {"API_KEY": "sesame", "X": "${cmd:touch pwned}"}, "trust": true},
    "remote": {"url": "https://ada:sesame@host.example/mcp?k=sesame", "headers": {"Authorization": "Bearer $TOKEN"}}
  },
  "tools": {"allowed": ["run_shell_command"]},
  "security": {"strict": false}
}"#,
        )
        .unwrap();
    room.world.write_in_workspace(".toolgate/policies/mine.toml", "").unwrap();
    room.world.write_in_workspace(".env", "SECRET=sesame\nOTHER=1\n").unwrap();
    room.check(
        "trust --yes",
        "
        --- stdout
        [WORKSPACE] would bring:
          server files (stdio): .toolgate/settings.json:3
            touch pwned --token ****
            variables: API_KEY, X
            refers to: ${cmd:touch pwned}
            warning: it wants its tools to run without asking you (`trust`), which a folder cannot have
          server remote (http): .toolgate/settings.json:4
            https://host.example/mcp?…
            headers: Authorization
            refers to: $TOKEN
          policies: .toolgate/policies/mine.toml
          variables of .env: OTHER, SECRET
          settings: tools.allowed, security.strict
        warning: .toolgate/settings.json:6: `tools.allowed` wants tools to run without asking you, which a folder cannot have: run_shell_command
        warning: .toolgate/settings.json:7: `security.strict` changes what protects you
        trusted: [WORKSPACE]
        --- exit 0
        ",
    );
    assert_eq!(rule_of_workspace(&room), json!("TRUST_FOLDER"));
    let mode = fs::metadata(room.world.home().join(".toolgate/trustedFolders.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let said = room.json("trust --yes --json");
    assert_eq!((&said["trust"], &said["decidedBy"]), (&json!("trusted"), &json!("rule")));
    assert_eq!(said["rule"]["level"], json!("TRUST_FOLDER"));
    let server = &said["brings"]["servers"][0];
    assert_eq!((&server["name"], &server["target"]), (&json!("files"), &json!("touch pwned --token ****")));
    assert_eq!((&server["trust"], &server["line"]), (&json!(true), &json!(3)));
    assert_eq!(said["brings"]["envFile"]["names"], json!(["OTHER", "SECRET"]));
    assert!(!said.to_string().contains("sesame"), "{said}");
    assert!(!room.world.workspace().join("pwned").exists());
}

#[test]
fn every_decision_can_be_made_listed_and_taken_back() {
    let room = bringing(&json!({"a": {"command": "x"}}));
    let nothing = room.run("trust --list");
    assert_eq!((nothing.code(), nothing.stdout.as_str()), (Some(0), ""));
    let steps = [
        ("trust --deny", "not trusted: ", json!("DO_NOT_TRUST")),
        ("trust --yes", "trusted: ", json!("TRUST_FOLDER")),
        ("trust --parent --yes", "and everything in it", json!("TRUST_PARENT")),
        ("trust . --yes", "trusted: ", json!("TRUST_FOLDER")),
    ];
    for (line, expected, level) in steps {
        let output = room.run(line);
        assert_eq!(output.code(), Some(0), "{line}: {}", output.stderr);
        assert!(output.stdout.contains(expected), "{line}: {}", output.stdout);
        assert_eq!(rule_of_workspace(&room), level, "{line}");
        assert_eq!(rules(&room).as_object().unwrap().len(), 1, "{line}");
    }
    assert!(room.run("trust --deny").stdout.contains("in place of TRUST_FOLDER"));
    let listed = room.run("trust --list");
    let rows: Vec<Vec<&str>> = listed.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let workspace = room.world.workspace().display().to_string();
    assert_eq!(rows, [vec!["RULE", "FOLDER", "MADE", "FOR"], vec!["DO_NOT_TRUST", &workspace, &workspace]]);
    let listed = room.json("trust --list --json");
    assert_eq!(listed["rules"][0]["level"], json!("DO_NOT_TRUST"));
    room.check("trust --revoke", "--- stdout\nforgotten: DO_NOT_TRUST for [WORKSPACE]\n--- exit 0\n");
    room.check("trust --revoke", "--- stdout\nnothing was decided about [WORKSPACE]\n--- exit 0\n");
    assert_eq!(rules(&room), json!({}));
    assert_eq!(room.json("trust --revoke --json")["removed"], Value::Null);
}

#[test]
fn another_folder_can_be_named_and_must_be_there() {
    let room = Room::new();
    room.world.write_in_workspace("project/file", "").unwrap();
    assert_eq!(room.run("trust project --yes").code(), Some(0));
    let project = room.world.workspace().join("project");
    assert_eq!(rules(&room)[project.display().to_string()], json!("TRUST_FOLDER"));
    for (line, expected) in [("trust none", "does not exist"), ("trust project/file", "is not a folder")] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(2), "{line}");
        assert!(output.stderr.contains(expected), "{line}: {}", output.stderr);
    }
    fs::remove_dir_all(&project).unwrap();
    assert_eq!(room.run("trust --revoke project").code(), Some(0), "a rule outlives its folder");
    assert_eq!(rules(&room), json!({}));
    for line in ["trust --deny --parent", "trust --list --revoke", "trust --entry a --deny", "trust --list x"] {
        assert_eq!(room.run(line).code(), Some(2), "{line}");
    }
}

#[test]
fn what_cannot_be_read_is_not_trusted_but_can_be_distrusted() {
    let room = Room::new();
    room.world.write_in_workspace(".toolgate/settings.json", "{").unwrap();
    let output = room.run("trust");
    assert_eq!(output.code(), Some(2));
    assert!(output.stderr.contains(".toolgate/settings.json:1:1"), "{}", output.stderr);
    assert_eq!(rules(&room), json!({}));
    assert_eq!(room.run("trust --deny").code(), Some(0));
    room.world.write_in_workspace(".toolgate/settings.json", "{}").unwrap();
    room.world.write_in_home(".toolgate/trustedFolders.json", "{\"/a\": 1}").unwrap();
    for line in ["trust", "trust --list", "trust --revoke", "trust --deny", "tools", "mcp list"] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(2), "{line}");
        assert!(output.stderr.contains("trustedFolders.json:1:8: \"/a\""), "{line}: {}", output.stderr);
    }
}

#[test]
fn single_servers_can_be_trusted() {
    let room = bringing(&json!({"one": {"command": "x"}, "two": {"command": "y"}}));
    let unknown = room.run("trust --entry ones");
    assert_eq!(unknown.code(), Some(7));
    assert!(unknown.stderr.contains("did you mean `one`?"), "{}", unknown.stderr);
    assert_eq!(rules(&room), json!({}), "nothing is decided by halves");
    let said = room.json("trust --entry one --yes --json");
    assert_eq!(said["unconfirmed"], json!(["two"]));
    let said = room.json("trust --entry two --yes --json");
    assert_eq!(said["unconfirmed"], json!([]));
    bring(&room, &json!({"one": {"command": "evil"}, "two": {"command": "y"}}));
    let said = room.json("trust --entry two --yes --json");
    assert_eq!(said["unconfirmed"], json!(["one"]));
    assert_eq!(said["brings"]["servers"][0]["change"], json!("changed"));
    assert_eq!(room.json("trust --yes --json")["unconfirmed"], json!([]));
}

#[test]
fn who_decides_in_place_of_the_rules_is_said() {
    let room = bringing(&json!({"one": {"command": "x"}}));
    room.world
        .write_in_home(".toolgate/settings.json", r#"{"security": {"folderTrust": {"enabled": false}}}"#)
        .unwrap();
    let output = room.run("trust --deny");
    assert_eq!(output.code(), Some(0));
    assert!(output.stderr.contains("this counts later; for now all folders are trusted"), "{}", output.stderr);
    let room = Room::new();
    let home = room.world.home().display().to_string();
    let output = room.command(["trust", home.as_str(), "--yes"]).run().unwrap();
    assert!(output.stderr.contains("your home is in it"), "{}", output.stderr);
}

/// Runs a command without a terminal. Returns the exit code and the saved decision.
fn unasked(room: &Room, line: &str) -> (Option<i32>, Value) {
    let output = room.run(line);
    assert!(output.stdout.contains("touch pwned"), "{line}: {}", output.transcript());
    (output.code(), rule_of_workspace(room))
}

#[test]
fn nothing_is_trusted_where_nobody_can_be_asked() {
    let lines =
        ["trust", "trust --json", "trust --headless", "trust --parent", "trust --entry files", "trust . --json"];
    for line in lines {
        let room = bringing(&json!({"files": {"command": "touch", "args": ["pwned"]}}));
        assert_eq!(unasked(&room, line), (Some(8), Value::Null), "{line}");
        assert_eq!(unasked(&room, &format!("{line} --yes")).0, Some(0), "{line}");
        assert_ne!(rules(&room), json!({}), "{line}");
    }
    let room = bringing(&json!({"files": {"command": "touch", "args": ["pwned"]}}));
    let said = room.json("trust --json");
    assert_eq!((&said["trust"], &said["error"]["code"]), (&json!("undecided"), &json!(8)), "{said}");
    assert!(said["error"]["hint"].as_str().unwrap().contains("--yes"), "{said}");
    // A terminal that cannot be asked on is not enough.
    for line in ["--json", "--headless"] {
        assert_eq!(screen::run(&room, &["trust", line], &[]).code, Some(8), "{line}");
    }
    assert_eq!(rules(&room), json!({}));
    // A trusted folder needs no question.
    assert_eq!(room.run("trust --yes").code(), Some(0));
    assert_eq!(unasked(&room, "trust"), (Some(0), json!("TRUST_FOLDER")));
    bring(&room, &json!({"files": {"command": "touch", "args": ["pwned", "again"]}}));
    assert_eq!(unasked(&room, "trust").0, Some(8), "its server changed");
}

#[test]
fn own_servers_that_a_folder_replaces_are_named_before_it_is_trusted() {
    let room = bringing(&json!({"files": {"command": "touch", "args": ["pwned"]}, "workspace": {"command": "evil"}}));
    let own = r#"{"mcpServers": {"files": {"command": "mine", "args": ["--token", "sesame"]}}}"#;
    room.world.write_in_home(".toolgate/settings.json", own).unwrap();
    let output = room.run("trust");
    let expected =
        "warning: it replaces your server of this name ([HOME]/.toolgate/settings.json:1): mine --token ****";
    let expected = expected.replace("[HOME]", &room.world.home().display().to_string());
    assert!(output.stdout.contains(&expected), "{}", output.transcript());
    assert!(output.stdout.contains("it replaces the built-in server of this name\n"), "{}", output.transcript());
    let said = room.json("trust --json");
    let replaced = &said["brings"]["servers"][0]["replaces"];
    assert_eq!((&replaced["source"], &replaced["line"]), (&json!("user"), &json!(1)), "{said}");
    let seen = screen::run(&room, &["trust"], &[("It replaces your files, workspace", ESCAPE)]);
    assert_eq!(seen.code, Some(8), "{}", seen.plain());
}

#[test]
fn on_a_terminal_the_person_is_asked() {
    let cases: [(&str, &[Key], Option<i32>, Value); 7] = [
        ("trust", &[("Do you trust it?", ENTER)], Some(0), Value::Null),
        ("trust", &[("Do you trust it?", DOWN), ("> Trust this", ENTER)], Some(0), json!("TRUST_FOLDER")),
        (
            "trust",
            &[("Do you trust it?", "\u{1b}[B\u{1b}[B"), ("> Trust the parent", ENTER)],
            Some(0),
            json!("TRUST_PARENT"),
        ),
        ("trust", &[("Do you trust it?", "\u{1b}[A"), ("> Do not", ENTER)], Some(0), json!("DO_NOT_TRUST")),
        ("trust", &[("Do you trust it?", ESCAPE)], Some(8), Value::Null),
        ("trust", &[("Do you trust it?", INTERRUPT)], Some(8), Value::Null),
        ("trust --yes", &[], Some(0), json!("TRUST_FOLDER")),
    ];
    for (line, keys, code, level) in cases {
        let room = bringing(&json!({"files": {"command": "touch", "args": ["pwned"]}}));
        let words: Vec<&str> = line.split(' ').collect();
        let seen = screen::run(&room, &words, keys);
        assert_eq!(seen.code, code, "{line} {keys:?}: {}", seen.plain());
        assert_eq!(rule_of_workspace(&room), level, "{line} {keys:?}: {}", seen.plain());
        assert!(seen.plain().contains("touch pwned"), "{line}: {}", seen.plain());
        assert!(seen.terminal_is_as_before, "{line} {keys:?}");
    }
}

#[test]
fn nothing_a_folder_writes_acts_on_the_terminal() {
    let room =
        bringing(&json!({"\u{1b}[2J": {"command": "\u{9b}2J", "args": ["\u{202e}x"], "env": {"\u{1b}]0;a\u{7}": ""}}}));
    for line in [&["trust", "--yes", "--no-color"][..], &["trust", "--json"], &["trust", "--list", "--no-color"]] {
        let seen = screen::run(&room, line, &[]);
        let acts = |letter: char| matches!(letter, '\u{1b}' | '\u{7}' | '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}');
        assert!(!seen.text.contains(acts), "{line:?}: {:?}", seen.text);
    }
}

#[test]
fn a_command_that_needs_a_server_asks_about_the_folder() {
    let cases: [(&[Key], i32, Value); 4] = [
        (&[("Do you trust it?", DOWN), ("Trust this folder", ENTER)], 0, json!("TRUST_FOLDER")),
        (&[("Do you trust it?", "\u{1b}[A"), ("Do not", ENTER)], 8, json!("DO_NOT_TRUST")),
        // A key pressed too early decides nothing.
        (&[("Do you trust it?", ENTER)], 8, Value::Null),
        (&[("Do you trust it?", ESCAPE)], 8, Value::Null),
    ];
    for (keys, code, level) in cases {
        let room = bringing_one_that_works();
        let seen = screen::run(&room, &["call", "echo", "message=hello"], keys);
        assert_eq!(seen.code, Some(code), "{keys:?}: {}", seen.plain());
        assert_eq!(rule_of_workspace(&room), level, "{keys:?}");
        assert_eq!(room.log("theirs").exists(), code == 0, "{keys:?}: nothing is started before the answer");
        assert!(seen.terminal_is_as_before, "{keys:?}");
    }
    let room = bringing_one_that_works();
    for words in [&["tools", "--headless"][..], &["tools", "--json"]] {
        assert_eq!(screen::run(&room, words, &[]).code, Some(8), "{words:?}");
    }
    assert_eq!(screen::run(&room, &["tools", "--trust-folder"], &[]).code, Some(0));
    assert_eq!(rules(&room), json!({}), "one run leaves nothing behind");
}

#[test]
fn a_command_that_needs_a_server_asks_about_one_that_changed() {
    let room = bringing_one_that_works();
    assert_eq!(room.run("trust --yes").code(), Some(0));
    let path = room.world.workspace().join(".toolgate/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("\"--log\"", "\"--log\" ").replacen("\"args\"", "\"env\": {\"A\": \"b\"}, \"args\"", 1),
    )
    .unwrap();
    let refused = room.run("call echo message=hello");
    assert_ne!(refused.code(), Some(0), "{}", refused.stdout);
    assert!(!room.log("theirs").exists());
    let no = screen::run(&room, &["call", "echo", "message=hello"], &[("Server theirs is changed. Use it?", "n\r")]);
    assert_ne!(no.code, Some(0), "{}", no.plain());
    let out = screen::run(&room, &["call", "echo", "message=hello"], &[("Server theirs is changed. Use it?", ESCAPE)]);
    assert_eq!(out.code, Some(8), "{}", out.plain());
    assert!(!room.log("theirs").exists());
    let yes = screen::run(&room, &["call", "echo", "message=hello"], &[("Server theirs is changed. Use it?", "y\r")]);
    assert_eq!(yes.code, Some(0), "{}", yes.plain());
    assert!(yes.plain().contains("variables: A"), "{}", yes.plain());
    assert_eq!(room.run("call echo message=hello").code(), Some(0), "it is asked once");
}

#[test]
fn a_variable_decides_for_one_run() {
    let room = bringing_one_that_works();
    let run = |value: &str| room.command(["tools"]).env("TOOLGATE_TRUST_WORKSPACE", value).run().unwrap();
    assert_eq!(run("true").code(), Some(0));
    assert_eq!(run("false").code(), Some(8));
    let wrong = run("maybe");
    assert_eq!(wrong.code(), Some(2));
    assert!(wrong.stderr.contains("TOOLGATE_TRUST_WORKSPACE"), "{}", wrong.stderr);
    let flag = room.command(["tools", "--trust-folder"]).env("TOOLGATE_TRUST_WORKSPACE", "false").run().unwrap();
    assert_eq!(flag.code(), Some(0), "the flag beats the variable");
    let said = room.json("tools --json");
    assert_eq!((&said["error"]["kind"], &said["error"]["code"]), (&json!("untrusted"), &json!(8)));
    assert!(said["error"]["hint"].as_str().unwrap().contains("--trust-folder"), "{said}");
}
