//! What the server says about itself, in every version and over both transports, and how wrong calls are answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use toolgate_wire::server::Server;
use toolgate_wire::{Call, ConnectOptions, Endpoint, Error, RpcError, Version, connect};
use toolgate_workspace::{Workspace, WorkspaceOptions};

use crate::room::{Nobody, Room, has, soon};

const NAMES: [&str; 7] =
    ["read_file", "list_directory", "glob", "search_file_content", "write_file", "replace", "run_shell_command"];

/// Tool, required arguments, further arguments, and the hints: read-only, destructive, idempotent, open world.
type Contract = (&'static str, &'static [&'static str], &'static [&'static str], [bool; 4]);

async fn tools(room: &Room) -> BTreeMap<String, Value> {
    let list = soon(room.client.request(Call::new("tools/list", None))).await.unwrap();
    let list: Value = list.read().unwrap();
    let tools = list["tools"].as_array().unwrap().clone();
    tools.into_iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool)).collect()
}

#[tokio::test]
async fn arguments_and_hints_are_those_of_the_contract() {
    let room = Room::with(&[]).await;
    let tools = tools(&room).await;
    let cases: [Contract; 7] = [
        ("read_file", &["path"], &["offset", "limit"], [true, false, true, false]),
        ("list_directory", &["path"], &[], [true, false, true, false]),
        ("glob", &["pattern"], &["path"], [true, false, true, false]),
        ("search_file_content", &["pattern"], &["path", "include"], [true, false, true, false]),
        ("write_file", &["path", "content"], &[], [false, true, true, false]),
        ("replace", &["path", "old_string", "new_string"], &["expected_replacements"], [false, true, false, false]),
        ("run_shell_command", &["command"], &["cwd", "timeout"], [false, true, false, true]),
    ];
    assert_eq!(tools.len(), cases.len());
    for (name, required, further, hints) in cases {
        let tool = &tools[name];
        let schema = &tool["inputSchema"];
        assert_eq!(schema["required"], json!(required), "{name}");
        let mut properties: Vec<_> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = [required, further].concat();
        properties.sort_unstable();
        expected.sort_unstable();
        assert_eq!(properties, expected, "{name}");
        let keys = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        assert_eq!(keys.map(|key| tool["annotations"][key].as_bool().unwrap()), hints, "{name}");
    }
    has(tools["run_shell_command"]["description"].as_str().unwrap(), &["outside the workspace"]);
    let about = room.client.about();
    has(&about.instructions.unwrap(), &[room.ws().to_str().unwrap()]);
    assert!(!about.raw.member("capabilities").unwrap().as_str().contains("resources"));
}

#[tokio::test]
async fn structured_results_keep_to_their_schemas() {
    let room = Room::with(&[("a.txt", "one\ntwo\n"), (".gitignore", "*.log\n"), ("b.log", "")]).await;
    room.link("l", "a.txt");
    let tools = tools(&room).await;
    let cases = [
        ("list_directory", json!({"path": "."})),
        ("glob", json!({"pattern": "**"})),
        ("glob", json!({"pattern": "nothing"})),
        ("search_file_content", json!({"pattern": "o"})),
        ("search_file_content", json!({"pattern": "nothing"})),
        ("run_shell_command", json!({"command": "echo out; echo err >&2; exit 3"})),
        ("run_shell_command", json!({"command": "kill -9 $$"})),
        ("run_shell_command", json!({"command": "sleep 60", "timeout": 50})),
    ];
    for (tool, arguments) in cases {
        let told = room.call(tool, arguments.clone()).await;
        let schema = jsonschema::validator_for(&tools[tool]["outputSchema"]).unwrap();
        let problems: Vec<_> = schema.iter_errors(told.data()).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{tool} {arguments}: {problems:?}");
        let known = tools[tool]["outputSchema"]["properties"].as_object().unwrap();
        assert!(told.data().as_object().unwrap().keys().all(|key| known.contains_key(key)), "{told:?}");
        assert!(!told.text().is_empty());
    }
}

#[tokio::test]
async fn wrong_arguments_are_results_that_say_what_is_wrong() {
    let room = Room::with(&[("a.txt", "x")]).await;
    let long = "x".repeat(5000);
    let cases = [
        ("read_file", json!({}), "missing field `path`"),
        ("read_file", json!({"path": 1}), "invalid type"),
        ("read_file", json!({"path": "a.txt", "lines": 3}), "unknown field `lines`"),
        ("read_file", json!({"path": "a.txt", "offset": -1}), "whole number"),
        ("read_file", json!({"path": "a.txt", "limit": 0}), "at least 1"),
        ("read_file", json!({"path": ""}), "empty"),
        ("list_directory", json!({"path": long}), "PATH_BYTES_MAX"),
        ("glob", json!({"pattern": ""}), "empty"),
        ("glob", json!({"pattern": "a[", "path": "."}), "not a pattern"),
        ("glob", json!({"pattern": long}), "PATTERN_BYTES_MAX"),
        ("search_file_content", json!({"pattern": "a("}), "regular expression"),
        ("search_file_content", json!({"pattern": "a\\nb"}), "regular expression"),
        ("search_file_content", json!({"pattern": ""}), "PATTERN_BYTES_MAX"),
        ("search_file_content", json!({"pattern": "a", "include": "{"}), "not a pattern"),
        ("write_file", json!({"path": "b.txt"}), "missing field `content`"),
        ("replace", json!({"path": "a.txt", "old_string": "", "new_string": "y"}), "empty"),
        ("replace", json!({"path": "a.txt", "old_string": "x", "new_string": "x"}), "same"),
        (
            "replace",
            json!({"path": "a.txt", "old_string": "x", "new_string": "y", "expected_replacements": 0}),
            "at least 1",
        ),
        ("run_shell_command", json!({"command": " "}), "empty"),
        ("run_shell_command", json!({"command": "a\u{0}b"}), "NUL"),
        ("run_shell_command", json!({"command": "true", "timeout": 0}), "SHELL_TIMEOUT_MS_MAX"),
        ("run_shell_command", json!({"command": "true", "timeout": 600_001}), "SHELL_TIMEOUT_MS_MAX"),
        ("run_shell_command", json!({"command": "x".repeat(200_000)}), "COMMAND_BYTES_MAX"),
    ];
    for (tool, arguments, reason) in cases {
        has(&room.failure(tool, arguments).await, &[reason]);
    }
    assert_eq!(room.content("a.txt"), "x");
}

#[tokio::test]
async fn what_is_unknown_is_an_error_of_the_protocol() {
    let room = Room::with(&[]).await;
    let code = |error: Error| match error {
        Error::Rpc(error) => error.code,
        other => panic!("{other}"),
    };
    let error = room.try_call("no_such_tool", json!({})).await.unwrap_err();
    has(&error.to_string(), &["no_such_tool", "tools/list"]);
    assert_eq!(code(error), RpcError::INVALID_PARAMS);
    let call = |method: &'static str, params: Value| room.client.request(Call::new(method, Some(params.into())));
    assert_eq!(code(soon(call("tools/call", json!({}))).await.unwrap_err()), RpcError::INVALID_PARAMS);
    assert_eq!(code(soon(call("resources/list", json!({}))).await.unwrap_err()), RpcError::METHOD_NOT_FOUND);
    assert_eq!(code(soon(call("prompts/list", json!({}))).await.unwrap_err()), RpcError::METHOD_NOT_FOUND);
}

#[tokio::test]
async fn every_version_is_spoken_over_byte_streams() {
    for version in Version::ALL.into_iter().filter(|version| !version.is_modern()) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "hello").unwrap();
        let server = Server::new(Workspace::open(folder.path(), WorkspaceOptions::new()).unwrap());
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        tokio::spawn(async move { server.serve_stream(reader, writer).await });
        let (reader, mut writer) = tokio::io::split(ours);
        let hello = json!({"protocolVersion": version.as_str(), "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let frames = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
            json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "read_file", "arguments": {"path": "a.txt"}}}),
        ];
        let mut lines = BufReader::new(reader).lines();
        let mut answers = Vec::new();
        for frame in frames {
            writer.write_all(format!("{frame}\n").as_bytes()).await.unwrap();
            if frame.get("id").is_some() {
                let line = soon(lines.next_line()).await.unwrap().unwrap();
                answers.push(serde_json::from_str::<Value>(&line).unwrap());
            }
        }
        assert_eq!(answers[0]["result"]["protocolVersion"], version.as_str());
        let names: Vec<_> =
            answers[1]["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(json!(names), json!(NAMES));
        assert_eq!(answers[2]["result"]["content"][0]["text"], "hello");
    }
}

#[tokio::test]
async fn a_client_finds_the_newest_version_over_byte_streams() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(Workspace::open(folder.path(), WorkspaceOptions::new()).unwrap());
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(async move { server.serve_stream(reader, writer).await });
    let (reader, writer) = tokio::io::split(ours);
    let endpoint = Endpoint::Streams(Box::new(reader), Box::new(writer));
    let client = soon(connect(endpoint, ConnectOptions::new(Arc::new(Nobody)))).await.unwrap();
    assert_eq!(client.version(), Version::LATEST);
    let list = soon(client.request(Call::new("tools/list", None))).await.unwrap();
    assert_eq!(list.member("tools").unwrap().elements().unwrap().len(), NAMES.len());
}

#[test]
fn only_a_folder_can_be_opened_and_no_secret_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [file, folder.path().join("missing")] {
        let error = Workspace::open(&path, WorkspaceOptions::new()).unwrap_err().to_string();
        has(&error, &[path.to_str().unwrap(), "name a folder"]);
    }
    let options = WorkspaceOptions::new().shell_env([("TOKEN".into(), "s3cret".into())]);
    assert!(!format!("{options:?}").contains("s3cret"));
    let workspace = Workspace::open(folder.path(), options).unwrap();
    assert!(!format!("{workspace:?}").contains("s3cret"));
    assert_eq!(workspace.root(), folder.path().canonicalize().unwrap());
}
