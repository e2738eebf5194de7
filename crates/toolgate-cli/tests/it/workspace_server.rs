//! `toolgate workspace-server`: the built-in server for other clients, and our own among them.

use serde_json::json;

use crate::room::Room;

#[test]
fn it_speaks_over_stdio_until_stdin_ends() {
    let room = Room::new();
    room.world.write_in_workspace("a.txt", "hello\n").unwrap();
    let frames = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let input: String = frames.iter().map(|frame| format!("{frame}\n")).collect();
    let output = room.command(["workspace-server"]).input(input).run().unwrap();
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    let answers: Vec<serde_json::Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], json!("toolgate-workspace"));
}

#[test]
fn it_is_a_server_like_any_other() {
    let room = Room::new();
    room.world.write_in_workspace("inner/a.txt", "inside\n").unwrap();
    room.world.write_in_workspace("b.txt", "outside\n").unwrap();
    let program = env!("CARGO_BIN_EXE_toolgate");
    let room = room.entry("inner", json!({"command": program, "args": ["workspace-server", "--root", "inner"]}));
    assert_eq!(room.run("call inner__read_file path=a.txt").stdout, "inside\n");
    assert_eq!(room.run("call inner__read_file path=../b.txt").code(), Some(1));
    let output = room.run("workspace-server --root missing");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert!(output.stderr.contains("missing"), "{}", output.stderr);
}

#[test]
fn it_is_listed_without_a_connection_as_it_lists_itself() {
    let room = Room::new();
    for form in ["", " --json", " --schema"] {
        let [known, asked] = ["", " --fresh"].map(|how| room.run(&format!("tools workspace{form}{how}")));
        assert_eq!(known.code(), Some(0), "{}", known.transcript());
        assert_eq!(known.transcript(), asked.transcript());
        assert!(known.stdout.contains("search_file_content"), "{}", known.stdout);
    }
}
