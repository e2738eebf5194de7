//! `toolgate mcp add`: what is written, where, and what is said about it.

use serde_json::json;

use crate::room::Room;

const PROJECT: &str = ".toolgate/settings.json";

fn project_text(room: &Room) -> String {
    std::fs::read_to_string(room.world.workspace().join(PROJECT)).unwrap()
}

fn user_text(room: &Room) -> String {
    std::fs::read_to_string(room.world.home().join(PROJECT)).unwrap()
}

#[test]
fn a_new_file_is_pretty_and_says_where_it_is() {
    let room = Room::new();
    room.check(
        "mcp add files npx -y pkg --port 80",
        "
        --- stdout
        added MCP server files (stdio) to the project settings: [WORKSPACE]/.toolgate/settings.json
        --- exit 0
        ",
    );
    let expected = r#"{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": [
        "-y",
        "pkg",
        "--port",
        "80"
      ]
    }
  }
}
"#;
    assert_eq!(project_text(&room), expected);
    let left: Vec<_> = std::fs::read_dir(room.world.workspace().join(".toolgate")).unwrap().collect();
    assert_eq!(left.len(), 1, "neither a lock nor half a text is left: {left:?}");
    assert!(!room.world.home().join(".toolgate/settings.json").exists());
    room.check(
        "mcp add files -s user https://example.com/mcp",
        "
        --- stdout
        added MCP server files (http) to your settings: [HOME]/.toolgate/settings.json
        --- stderr
        hint: the entry in [WORKSPACE]/.toolgate/settings.json:3 wins over this one
        --- exit 0
        ",
    );
    let expected = r#"{
  "mcpServers": {
    "files": {
      "url": "https://example.com/mcp",
      "type": "http"
    }
  }
}
"#;
    assert_eq!(user_text(&room), expected);
    assert_eq!(room.run("mcp list").code(), Some(0));
}

/// What stands behind `mcp add`, and the entry it makes.
const ENTRIES: [(&[&str], &str); 19] = [
    (&["s", "npx", "-y", "pkg", "--port", "80"], r#"{"command": "npx", "args": ["-y", "pkg", "--port", "80"]}"#),
    (&["s", "npx", "1", "2.50"], r#"{"command": "npx", "args": ["1", "2.50"]}"#),
    (&["s", "prog"], r#"{"command": "prog"}"#),
    (
        &["s", "prog", "--", "-e", "X=1", "--json", "--", "a"],
        r#"{"command": "prog", "args": ["-e", "X=1", "--json", "--", "a"]}"#,
    ),
    (&["s", "--", "prog", "-s", "user"], r#"{"command": "prog", "args": ["-s", "user"]}"#),
    (
        &["-e", "K=a=b", "-e", "EMPTY=", "--env=P=$HOME/x", "s", "prog"],
        r#"{"command": "prog", "env": {"K": "a=b", "EMPTY": "", "P": "$HOME/x"}}"#,
    ),
    (&["s", "prog", "-e", "K=1", "-e", "K=2", "a"], r#"{"command": "prog", "args": ["a"], "env": {"K": "2"}}"#),
    (
        &["s", "prog", "--cwd", "${HOME}/w", "--timeout", "5000", "--trust"],
        r#"{"command": "prog", "cwd": "${HOME}/w", "timeout": 5000, "trust": true}"#,
    ),
    (
        &["s", "prog", "--include-tools", "a,b", "--include-tools", "c", "--exclude-tools", "run(rm -rf, x),d"],
        r#"{"command": "prog", "includeTools": ["a", "b", "c"], "excludeTools": ["run(rm -rf, x)", "d"]}"#,
    ),
    (&["s", "prog", "--description", "My \"own\" é"], r#"{"command": "prog", "description": "My \"own\" é"}"#),
    (
        &["s", "prog", "--connect-timeout", "9", "--max-concurrency", "2"],
        r#"{"command": "prog", "connectTimeout": 9, "maxConcurrency": 2}"#,
    ),
    (&["s", "https://h.example/mcp"], r#"{"url": "https://h.example/mcp", "type": "http"}"#),
    (&["s", "HTTP://h.example/mcp"], r#"{"url": "HTTP://h.example/mcp", "type": "http"}"#),
    (&["-t", "sse", "s", "http://127.0.0.1:1/sse"], r#"{"url": "http://127.0.0.1:1/sse", "type": "sse"}"#),
    (&["s", "--type", "http", "${BASE}/mcp"], r#"{"url": "${BASE}/mcp", "type": "http"}"#),
    (
        &["s", "https://h.example", "-H", "X-A: b:c ", "--header", "X-Empty:"],
        r#"{"url": "https://h.example", "type": "http", "headers": {"X-A": "b:c", "X-Empty": ""}}"#,
    ),
    (
        &[
            "s",
            "https://h.example",
            "--oauth-client-id",
            "id",
            "--oauth-client-secret",
            "${env:S}",
            "--oauth-scopes",
            "a,b",
        ],
        r#"{"url": "https://h.example", "type": "http", "oauth": {"enabled": true, "clientId": "id", "clientSecret": "${env:S}", "scopes": ["a", "b"]}}"#,
    ),
    (&["s", "psql", "-h", "localhost"], r#"{"command": "psql", "args": ["-h", "localhost"]}"#),
    (&["s", "prog", "-stdio", "-tls"], r#"{"command": "prog", "args": ["-stdio", "-tls"]}"#),
];

#[test]
fn every_option_becomes_a_field() {
    let room = Room::new();
    for (words, expected) in ENTRIES {
        room.world.write_in_workspace(PROJECT, "{\"mcpServers\": {}}").unwrap();
        let output = room.command(["mcp", "add"].iter().chain(words).copied()).run().unwrap();
        assert_eq!(output.code(), Some(0), "{words:?}: {}", output.transcript());
        assert!(!output.stderr.contains("warning"), "{words:?}: {}", output.transcript());
        assert_eq!(project_text(&room), format!("{{\"mcpServers\": {{\"s\": {expected}}}}}"), "{words:?}");
    }
}

#[test]
fn options_behind_the_command_are_ours_and_it_is_said() {
    let room = Room::new();
    room.check(
        "mcp add s prog -e K=1 x --timeout 5000 -e L=2",
        "
        --- stdout
        added MCP server s (stdio) to the project settings: [WORKSPACE]/.toolgate/settings.json
        --- stderr
        note: `-e`, `--timeout` were taken as options of `mcp add`; `--` before the command's own options keeps them
        --- exit 0
        ",
    );
    let said = room.json("mcp add t prog --json x");
    let file = room.world.workspace().join(PROJECT).display().to_string();
    assert_eq!(
        said,
        json!({"server": "t", "scope": "project", "file": file, "action": "added", "transport": "stdio", "hint": null})
    );
    assert_eq!(room.json("--json mcp add t https://h.example -s user")["scope"], json!("user"));
}

#[test]
fn an_existing_server_is_replaced_and_nothing_else() {
    let room = Room::new();
    let text = "\u{feff}// mine\r\n{\r\n\t\"mcp\": {\"excluded\": [],}, // none\r\n\t\"mcpServers\": {\r\n\t\t/* first */\r\n\t\t\"a\": {\"url\": \"${URL}\"},\r\n\t\t// second\r\n\t\t\"b\": { // old\r\n\t\t\t\"command\": \"$B\"\r\n\t\t}, // b\r\n\t\t\"c\": {\"env\": {\"T\": \"${TOKEN}\"}, \"command\": \"c\"},\r\n\t},\r\n}";
    room.world.write_in_workspace(PROJECT, text).unwrap();
    room.check(
        "mcp add b new $HOME",
        "
        --- stdout
        MCP server b was already in the project settings
        updated MCP server b (stdio) in the project settings: [WORKSPACE]/.toolgate/settings.json
        --- stderr
        hint: this folder is not trusted; `toolgate trust` lets its servers be used
        --- exit 0
        ",
    );
    let old = "{ // old\r\n\t\t\t\"command\": \"$B\"\r\n\t\t}";
    let new = "{\r\n\t\t\t\"command\": \"new\",\r\n\t\t\t\"args\": [\r\n\t\t\t\t\"$HOME\"\r\n\t\t\t]\r\n\t\t}";
    let text = text.replace(old, new);
    assert_eq!(project_text(&room), text);
    assert_eq!(room.json("mcp add d d --json")["action"], json!("added"));
    let text = text.replace("\"command\": \"c\"},\r\n", "\"command\": \"c\"},\r\n\t\t\"d\": {\"command\": \"d\"},\r\n");
    assert_eq!(project_text(&room), text);
    assert_eq!(room.json("mcp add d e --json")["action"], json!("updated"));
    assert_eq!(room.run("mcp remove d").code(), Some(0));
    assert_eq!(project_text(&room), text.replace("\t\t\"d\": {\"command\": \"d\"},\r\n", ""));
}

#[test]
fn a_file_with_a_server_written_twice_is_left_alone() {
    let room = Room::new();
    let text = r#"{"mcpServers": {"a": {"command": "1"}, "a": {"command": "2"}}}"#;
    room.world.write_in_workspace(PROJECT, text).unwrap();
    for line in ["mcp add a 3", "mcp add b 3", "mcp remove a"] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(2), "{line}: {}", output.transcript());
        assert!(output.stderr.contains(":1:17: mcpServers.a: written twice"), "{line}: {}", output.stderr);
        assert_eq!(project_text(&room), text, "{line}");
    }
}

#[test]
fn a_link_of_the_folder_is_not_followed_out_of_it() {
    let room = Room::new();
    let outside = room.world.write_in_home("other.json", "{}").unwrap();
    let folder = room.world.workspace().join(".toolgate");
    std::fs::create_dir(&folder).unwrap();
    for target in [outside, room.world.home().join("new/none.json")] {
        std::os::unix::fs::symlink(&target, folder.join("settings.json")).unwrap();
        let output = room.run("mcp add a prog");
        assert_eq!(output.code(), Some(2), "{}", output.transcript());
        assert!(output.stderr.contains("leads out of this folder"), "{}", output.stderr);
        assert!(!room.world.home().join("new").exists());
        std::fs::remove_file(folder.join("settings.json")).unwrap();
    }
    assert_eq!(std::fs::read_to_string(room.world.home().join("other.json")).unwrap(), "{}");
}

#[test]
fn secrets_of_the_person_do_not_go_into_the_settings_of_a_folder() {
    let room = Room::new();
    let output = room.command(["mcp", "add", "a", "prog", "-e", "T=${keychain:t}"]).run().unwrap();
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stderr.contains("`${keychain:t}` counts only in your own settings"), "{}", output.stderr);
    assert!(!room.world.workspace().join(".toolgate").exists());
    assert_eq!(
        room.command(["mcp", "add", "-s", "user", "a", "prog", "-e", "T=${keychain:t}"]).run().unwrap().code(),
        Some(0)
    );
}

#[test]
fn a_file_named_for_the_run_is_the_one_that_is_changed() {
    let room = Room::new();
    let said = room.json("--config mine.json mcp add a prog --json");
    assert_eq!((&said["scope"], &said["action"]), (&json!("config"), &json!("added")));
    assert!(room.world.workspace().join("mine.json").exists() && !room.world.workspace().join(".toolgate").exists());
    assert_eq!(room.run("mcp add a other --config mine.json").code(), Some(0));
    assert!(std::fs::read_to_string(room.world.workspace().join("mine.json")).unwrap().contains("\"other\""));
    room.world.write_in_workspace("vscode.json", "{\"servers\": {}}").unwrap();
    room.check(
        "--config vscode.json mcp add a prog",
        "
        --- stderr
        error: [WORKSPACE]/vscode.json has its servers under `servers`, as another client writes them
        hint: change it with that client, or by hand
        --- exit 2
        ",
    );
}

#[test]
fn secrets_are_warned_about_and_never_repeated() {
    let room = Room::new();
    let token = format!("ghp_{}", "a".repeat(36));
    let cases: [(&[&str], &[&str]); 8] = [
        (&["s", "prog", "-e", "API_KEY=sesame"], &["env.API_KEY"]),
        (&["-e", &format!("X={token}"), "s", "prog"], &["env.X"]),
        (&["s", "https://h.example", "-H", "Authorization: Bearer sesame"], &["headers.Authorization"]),
        (&["s", "https://ada:sesame@h.example/"], &["url"]),
        (&["s", "https://h.example/?api_key=sesame"], &["url"]),
        (&["s", "prog", "--token", "sesame", "--x=y", "--api-key=sesame", &token], &["args[1]", "args[3]", "args[4]"]),
        (&["s", "https://h.example", "--oauth-client-secret", "sesame"], &["oauth.clientSecret"]),
        (
            &[
                "s",
                "prog",
                "--token",
                "$T",
                "--api-key=${env:K}",
                "-e",
                "SECRET=${env:X}",
                "-e",
                "PASSWORD=",
                "-e",
                "PATH=/x",
            ],
            &[],
        ),
    ];
    for (words, places) in cases {
        let output = room.command(["mcp", "add"].iter().chain(words).copied()).run().unwrap();
        assert_eq!(output.code(), Some(0), "{words:?}: {}", output.transcript());
        let warned: Vec<&str> = output.stderr.lines().filter_map(|line| line.strip_prefix("warning: `")).collect();
        assert_eq!(warned.len(), places.len(), "{words:?}: {}", output.stderr);
        for (line, place) in warned.iter().zip(places) {
            assert!(line.starts_with(&format!("{place}` looks like a secret")), "{line}");
        }
        assert_eq!(
            output.stderr.contains("${env:NAME}") && output.stderr.contains("${keychain:NAME}"),
            !places.is_empty()
        );
        for stream in [&output.stdout, &output.stderr] {
            assert!(!stream.contains("sesame") && !stream.contains(&token), "{words:?}: {stream}");
        }
    }
}

#[test]
fn what_keeps_a_server_from_being_used_is_said() {
    let room = Room::new().entry("a", json!({"command": "x"})).setting("mcp", json!({"excluded": ["B*"]}));
    assert_eq!(room.run("mcp disable a").code(), Some(0));
    let hint = room.json("mcp add a y -s user --json")["hint"].clone();
    assert_eq!(hint, json!("it is disabled; `toolgate mcp enable a` switches it on"));
    let hint = room.json("mcp add bb y -s user --json")["hint"].clone();
    let list = room.world.home().join(PROJECT).display().to_string();
    assert_eq!(hint, json!(format!("it is not used: bb is in `mcp.excluded` of {list}:1")));
    room.world.write_in_workspace(PROJECT, r#"{"mcpServers": {"c": {"command": "x"}}}"#).unwrap();
    assert_eq!(room.json("mcp add c y -s user --json")["hint"], json!(null), "what is not trusted wins over nothing");
    assert_eq!(room.run("trust --yes").code(), Some(0));
    let hint = room.json("mcp add c y -s user --json")["hint"].clone();
    let file = room.world.workspace().join(PROJECT).display().to_string();
    assert_eq!(hint, json!(format!("the entry in {file}:1 wins over this one")));
    let output = room.run("mcp add -s user my_server y");
    assert!(output.stderr.starts_with("warning: names with `_`"), "{}", output.transcript());
}

#[test]
fn servers_added_at_the_same_time_are_all_there() {
    let room = Room::new();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let room = &room;
            scope.spawn(move || assert_eq!(room.run(&format!("mcp add s{number} prog")).code(), Some(0)));
        }
    });
    let text = project_text(&room);
    for number in 0..6 {
        assert!(text.contains(&format!("\"s{number}\"")), "{text}");
    }
}

#[test]
fn nothing_is_started_read_or_filled_in() {
    let room = Room::new();
    let settings =
        r#"{"mcpServers": {"bad": {"command": "touch", "args": ["pwned"], "env": {"X": "${cmd:touch pwned}"}}}}"#;
    room.world.write_in_workspace(PROJECT, settings).unwrap();
    room.world.write_in_workspace(".env", "X=$(touch pwned)\n").unwrap();
    for line in
        ["mcp add a touch pwned", "mcp add b touch pwned -s user", "mcp disable b", "mcp enable b", "mcp remove a"]
    {
        assert_eq!(room.run(line).code(), Some(0), "{line}");
    }
    assert!(!room.world.workspace().join("pwned").exists());
    assert_eq!(project_text(&room), settings);
}

#[test]
fn what_a_person_adds_to_a_folder_they_trust_needs_no_confirmation() {
    let room = Room::new();
    room.world
        .write_in_workspace(".toolgate/settings.json", "{\"mcpServers\": {\"old\": {\"command\": \"x\"}}}")
        .unwrap();
    assert_eq!(room.run("trust --yes").code(), Some(0));
    let statuses = |room: &Room| -> Vec<(String, String)> {
        let listed = room.json("mcp list --no-connect --json");
        let servers = listed["servers"].as_array().unwrap().iter();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        servers.map(|one| (text(&one["name"]), text(&one["reason"]))).collect()
    };
    assert_eq!(room.run("mcp add mine prog").code(), Some(0));
    let expected = [("old", ""), ("mine", ""), ("workspace", "")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(statuses(&room), expected);
    let text = project_text(&room).replace("\"prog\"", "\"other\"");
    room.world.write_in_workspace(".toolgate/settings.json", &text).unwrap();
    let expected = [("old", ""), ("workspace", ""), ("mine", "unconfirmed")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(statuses(&room), expected, "what somebody else changes does");
}
