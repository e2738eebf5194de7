//! Configuration files of every client, as they write them, about servers that nobody here wrote: imported, and then tested.

use serde_json::json;

use crate::installed::{self, CommandLine};
use crate::room::{Room, read_json};

/// A configuration file and the servers in it.
struct File {
    /// Whose it is.
    format: &'static str,
    /// What it is called.
    name: &'static str,
    /// What is in it. Words in capitals between `<` and `>` stand for programs and their arguments.
    text: &'static str,
    /// The servers, and who they say they are.
    servers: &'static [(&'static str, &'static str)],
}

const FILES: [File; 8] = [
    File {
        format: "gemini-cli",
        name: ".gemini/settings.json",
        text: r#"{
  // Gemini CLI
  "ui": {"theme": "GitHub"},
  "mcpServers": {
    "time": {"command": <TIME>, "args": <TIME_ARGS>, "timeout": 30000, "trust": false},
  },
}"#,
        servers: &[("time", "mcp-time")],
    },
    File {
        format: "claude-desktop",
        name: "claude_desktop_config.json",
        text: r#"{
  "globalShortcut": "",
  "mcpServers": {
    "memory": {"command": <NODE>, "args": <MEMORY_ARGS>, "env": {"MEMORY_FILE_PATH": <GRAPH>, "PRICE": "$HOME"}}
  }
}"#,
        servers: &[("memory", "memory-server")],
    },
    File {
        format: "claude-code",
        name: ".mcp.json",
        text: r#"{
  "mcpServers": {
    "git": {"type": "stdio", "command": <GIT>, "args": <GIT_ARGS>, "env": {"LEVEL": "${GIT_LEVEL:-info}"}}
  }
}"#,
        servers: &[("git", "mcp-git")],
    },
    File {
        format: "vscode",
        name: ".vscode/mcp.json",
        text: r#"{
  // VS Code
  "servers": {
    "files": {"type": "stdio", "command": <NODE>, "args": <HERE_ARGS>, "cwd": "${workspaceFolder}"},
  },
}"#,
        servers: &[("files", "secure-filesystem-server")],
    },
    File {
        format: "cursor",
        name: ".cursor/mcp.json",
        text: r#"{
  "mcpServers": {
    "fastmcp": {"command": <PYTHON>, "args": <FASTMCP_ARGS>, "env": {"CACHE": "${userHome}/cache"}}
  }
}"#,
        servers: &[("fastmcp", "partner")],
    },
    File {
        format: "codex",
        name: "config.toml",
        text: r#"model = "gpt-5-codex"

[mcp_servers.everything]
command = <NODE>
args = <EVERYTHING_ARGS> # speaks on stdout
startup_timeout_sec = 60
tool_timeout_sec = 90
disabled_tools = ["get-env"]

[mcp_servers.everything.env]
PRICE = '$5 and ${HOME}'
"#,
        servers: &[("everything", "mcp-servers/everything")],
    },
    File {
        format: "goose",
        name: "config.yaml",
        text: r"GOOSE_MODEL: any
extensions:
  developer: {enabled: true, type: builtin, name: developer, bundled: true}
  time:
    enabled: true
    type: stdio
    name: time
    description: Times # and zones
    cmd: <TIME>
    args: <TIME_ARGS>
    envs: {}
    timeout: 60
    bundled: null
",
        servers: &[("time", "mcp-time")],
    },
    File {
        format: "zed",
        name: "zed.json",
        text: r#"// Zed
{
  "context_servers": {
    "files": {"source": "custom", "command": <NODE>, "args": <FILES_ARGS>, "env": {}},
    "memory": {"command": {"path": <NODE>, "args": <MEMORY_ARGS>, "env": {"MEMORY_FILE_PATH": <GRAPH>}}},
  },
}"#,
        servers: &[("files", "secure-filesystem-server"), ("memory", "memory-server")],
    },
];

impl File {
    /// The text for a room. Programs and arguments are written as JSON, with which TOML and YAML agree about texts and lists.
    fn in_room(&self, room: &Room) -> String {
        let of = |name: &str, command: &CommandLine| {
            [(format!("<{name}>"), json!(command.program)), (format!("<{name}_ARGS>"), json!(command.args))]
        };
        let filled_in = [
            of("TIME", &installed::time().arg("--local-timezone").arg("UTC")),
            of("GIT", &installed::git()),
            of("MEMORY", &installed::memory()),
            of("EVERYTHING", &installed::everything().arg("stdio")),
            of("FILES", &installed::filesystem().arg(room.in_workspace("."))),
            of("HERE", &installed::filesystem().arg("${workspaceFolder}")),
            of("FASTMCP", &installed::fastmcp()),
            [
                ("<NODE>".to_owned(), json!(installed::memory().program)),
                ("<PYTHON>".to_owned(), json!(installed::fastmcp().program)),
            ],
        ];
        let text = self.text.replace("<GRAPH>", &json!(room.graph()).to_string());
        filled_in.as_flattened().iter().fold(text, |text, (word, value)| text.replace(word, &value.to_string()))
    }
}

#[test]
fn servers_of_every_client_are_imported_and_pass_their_test() {
    for file in FILES {
        // Each has a room of its own, so that no server is there already.
        let room = Room::empty();
        room.write_in_workspace(file.name, &file.in_room(&room));
        let imported = room.toolgate(&["mcp", "import", file.name, "--from", file.format, "--yes", "-s", "user"]);
        assert_eq!(imported.code(), Some(0), "{}\n{}", file.format, imported.transcript());
        for (server, name) in file.servers {
            let tested = room.toolgate(&["mcp", "test", server, "--json"]);
            assert_eq!(tested.code(), Some(0), "{}\n{}", file.format, tested.transcript());
            let report = read_json(&tested.stdout);
            let about = &report["servers"][0];
            assert_eq!((&about["serverInfo"]["name"], &about["ok"]), (&json!(name), &json!(true)), "{report:#}");
        }
    }
}

#[test]
fn a_file_is_known_without_being_told_whose_it_is() {
    let room = Room::empty();
    for file in FILES {
        room.write_in_workspace(file.name, &file.in_room(&room));
        let shown = room.json(&["mcp", "import", file.name]);
        let lines = shown["servers"].as_array().expect("a list");
        for (server, _) in file.servers {
            let line = lines.iter().find(|line| line["name"] == *server).expect(server);
            assert_eq!((&line["from"], &line["action"]), (&json!(file.format), &json!("add")), "{shown:#}");
        }
    }
}
