//! Example settings from descriptions of Gemini CLI. Each is accepted unchanged, without a warning, and has the documented effect.
//!
//! Entries without a program get one here. Every other key and value is that of the example.

use serde_json::{Value, json};
use toolgate_testkit::{Script, ToolScript};

use crate::room::Room;

/// An example.
struct Example {
    name: &'static str,
    settings: Value,
    /// Servers with their tools. A server without an entry in the settings is added.
    servers: &'static [(&'static str, &'static [&'static str])],
    /// Calls: tool, arguments, and the exit code of `call --yes`.
    calls: &'static [(&'static str, &'static str, i32)],
}

const FILES: &[&str] = &["read_file", "list_directory", "write_file", "edit_file", "run_shell_command", "web_search"];

fn examples() -> Vec<Example> {
    vec![
        Example {
            name: "only two tools",
            settings: json!({"mcpServers": {"safe-server": {"includeTools": ["read_file", "list_directory"], "excludeTools": []}}}),
            servers: &[("safe-server", FILES)],
            calls: &[
                ("safe-server__read_file", "{}", 0),
                ("safe-server__list_directory", "{}", 0),
                ("safe-server__write_file", "{}", 7),
                ("safe-server__run_shell_command", r#"{"command": "ls"}"#, 7),
            ],
        },
        Example {
            name: "everything but dangerous calls",
            settings: json!({"mcpServers": {"development-server": {
                "includeTools": ["*"], "excludeTools": ["run_shell_command(rm -rf)", "write_file(/etc/passwd)"]}}}),
            servers: &[("development-server", FILES)],
            calls: &[
                ("development-server__read_file", "{}", 0),
                ("development-server__run_shell_command", r#"{"command": "make"}"#, 0),
                ("development-server__run_shell_command", r#"{"command": "rm -rf /"}"#, 3),
                ("development-server__write_file", r#"{"path": "/etc/passwd"}"#, 3),
                ("development-server__write_file", r#"{"path": "notes.txt"}"#, 0),
            ],
        },
        Example {
            name: "two commands of one tool",
            settings: json!({"mcpServers": {"restricted-shell": {
                "includeTools": ["run_shell_command(ls)", "run_shell_command(pwd)"], "excludeTools": ["run_shell_command(*)"]}}}),
            servers: &[("restricted-shell", FILES)],
            calls: &[
                ("restricted-shell__run_shell_command", r#"{"command": "ls -l"}"#, 0),
                ("restricted-shell__run_shell_command", r#"{"command": "pwd"}"#, 0),
                ("restricted-shell__run_shell_command", r#"{"command": "make"}"#, 3),
                ("restricted-shell__read_file", "{}", 7),
            ],
        },
        Example {
            name: "included and excluded",
            settings: json!({"mcpServers": {"conflicting-config": {"includeTools": ["dangerous_tool"], "excludeTools": ["dangerous_tool"]}}}),
            servers: &[("conflicting-config", &["dangerous_tool"])],
            calls: &[("conflicting-config__dangerous_tool", "{}", 7)],
        },
    ]
}

/// Complete environments.
fn surroundings() -> Vec<Example> {
    vec![
        Example {
            name: "development",
            settings: json!({
                "mcp": {"allowed": ["development-tools"], "excluded": ["production-server"]},
                "tools": {"allowed": ["read_file", "list_directory"], "exclude": ["run_shell_command(*)"]}
            }),
            servers: &[("development-tools", FILES), ("production-server", FILES), ("other", FILES)],
            calls: &[
                ("development-tools__read_file", "{}", 0),
                ("development-tools__write_file", "{}", 0),
                ("development-tools__run_shell_command", r#"{"command": "ls"}"#, 3),
                ("production-server__read_file", "{}", 3),
                ("other__read_file", "{}", 3),
            ],
        },
        Example {
            name: "production",
            settings: json!({
                "mcp": {"allowed": ["monitoring-server"], "excluded": ["development-server", "admin-tools"]},
                "tools": {"allowed": ["read_file", "list_directory", "web_search"], "exclude": ["write_file", "run_shell_command", "edit_file"]}
            }),
            servers: &[("monitoring-server", FILES), ("development-server", FILES), ("admin-tools", FILES)],
            calls: &[
                ("monitoring-server__read_file", "{}", 0),
                ("monitoring-server__web_search", "{}", 0),
                ("monitoring-server__write_file", "{}", 3),
                ("monitoring-server__edit_file", "{}", 3),
                ("monitoring-server__run_shell_command", r#"{"command": "ls"}"#, 3),
                ("development-server__read_file", "{}", 3),
                ("admin-tools__read_file", "{}", 3),
            ],
        },
    ]
}

impl Example {
    fn room(&self) -> Room {
        let mut room = Room::new().with_questions();
        for (name, tools) in self.servers {
            let script =
                tools.iter().fold(Script::new(*name), |script, tool| script.tool(ToolScript::text(*tool, "done")));
            room = room.server(name, &script);
            for (key, value) in self.settings["mcpServers"][name].as_object().into_iter().flatten() {
                room = room.with(name, key, value.clone());
            }
        }
        let sections = self.settings.as_object().unwrap().iter().filter(|(key, _)| *key != "mcpServers");
        sections.fold(room, |room, (key, value)| room.setting(key, value.clone()))
    }
}

#[test]
fn examples_are_taken_as_they_stand() {
    for example in examples().into_iter().chain(surroundings()) {
        let room = example.room();
        let listed = room.run("mcp list --no-connect");
        assert_eq!((listed.code(), listed.stderr.as_str()), (Some(0), ""), "{}: {}", example.name, listed.transcript());
        for (tool, arguments, expected) in example.calls {
            let output = room.command(["call", "--yes", *tool, "--args", *arguments]).run().unwrap();
            assert_eq!(output.code(), Some(*expected), "{}: {tool} {arguments}: {}", example.name, output.transcript());
        }
    }
}

/// Tools that the settings of an example allow run without a question.
#[test]
fn what_examples_allow_is_not_asked_about() {
    for (name, asked) in [("development", "write_file"), ("production", "get_status")] {
        let example = surroundings().into_iter().find(|one| one.name == name).unwrap();
        let server = example.servers[0].0;
        let script = FILES
            .iter()
            .chain([&"get_status"])
            .fold(Script::new(server), |script, tool| script.tool(ToolScript::text(*tool, "done")));
        let room = example.room().server(server, &script);
        for (tool, expected) in [("read_file", 0), ("list_directory", 0), (asked, 3)] {
            let output = room.run(&format!("call {server}__{tool}"));
            assert_eq!(output.code(), Some(expected), "{name}: {tool}: {}", output.transcript());
        }
    }
}

/// A program with a description, and a login with endpoints.
#[test]
fn examples_of_single_servers_are_taken_as_they_stand() {
    let entries = json!({
        "my-server": {"command": "node", "args": ["./my-mcp-server.js"], "description": "My custom MCP server", "trust": false},
        "oauth-server": {
            "url": "https://api.example.com/mcp/sse",
            "oauth": {
                "enabled": true,
                "authorizationUrl": "https://auth.example.com/oauth/authorize",
                "tokenUrl": "https://auth.example.com/oauth/token",
                "scopes": ["read", "write"]
            }
        }
    });
    let room =
        entries.as_object().unwrap().iter().fold(Room::new(), |room, (name, entry)| room.entry(name, entry.clone()));
    let output = room.run("mcp list --no-connect --json");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""), "{}", output.transcript());
    let listed: Value = serde_json::from_str(&output.stdout).unwrap();
    let servers = listed["servers"].as_array().unwrap();
    let of = |name: &str| servers.iter().find(|one| one["name"] == name).unwrap().to_string();
    assert!(of("my-server").contains("node ./my-mcp-server.js"), "{}", of("my-server"));
    assert!(of("oauth-server").contains("https://api.example.com/mcp/sse"), "{}", of("oauth-server"));
}
