//! Commands that the program runs itself although there is a runtime: what would be done there is not what would be done here.

use std::process::Command;

use serde_json::{Value, json};
use toolgate_testkit::ToolScript;

use crate::room::{Room, sample};
use crate::runtime_room::RuntimeRoom;

fn room() -> RuntimeRoom {
    RuntimeRoom::up(Room::new().server("one", &sample("one")).without_workspace())
}

/// What a command says in a shell that has done something before.
fn after(room: &Room, deed: &str, line: &str) -> String {
    let program = env!("CARGO_BIN_EXE_toolgate");
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("{deed} && exec {program} {line}")])
        .env_clear()
        .envs(room.world.variables())
        .current_dir(room.world.workspace())
        .output()
        .unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn what_servers_inherit_is_that_of_whoever_typed_the_command() {
    let room = room();
    let cases = [
        ("true", true),
        ("umask 077", false),
        ("ulimit -f 100000", false),
        ("export SSL_CERT_FILE=/nonexistent", false),
        ("mkdir gone && cd gone && rmdir ../gone", false),
    ];
    for (deed, is_there) in cases {
        let before = room.status()["hosts"].clone();
        let calls = |hosts: &Value| hosts[0]["servers"][0]["calls"].as_u64().unwrap_or_default();
        let said = after(&room, deed, "call echo message=x");
        let after = room.status()["hosts"].clone();
        assert_eq!(calls(&after) > calls(&before), is_there, "{deed}: {said}");
        // Nobody can be in a folder that is gone.
        let is_gone = deed.contains("rmdir");
        assert!(said == "x\n" || is_gone, "{deed}: {said}");
        for line in ["up", "ps"] {
            let told = self::after(&room, deed, line).contains("commands from here do without it");
            assert_eq!(told, !is_there && !is_gone, "{deed}: {line}");
        }
    }
}

#[test]
fn another_folder_at_the_same_path_is_not_meant() {
    let mut room = room();
    let mut request = room.overheard("call echo message=x");
    room.up_again();
    let said = |request: &Value| {
        use std::io::{Read as _, Write as _};
        let body = request.to_string();
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        let mut stream = room.connect();
        stream.write_all(&[b"R", &length[..], body.as_bytes()].concat()).unwrap();
        let mut kind = [0];
        stream.read_exact(&mut kind).unwrap();
        char::from(kind[0])
    };
    assert_eq!(said(&request), 't');
    let number = request["wants"]["run"]["folder_number"].clone();
    for other in [json!([1, 1]), Value::Null] {
        request["wants"]["run"]["folder_number"] = other;
        assert_eq!(said(&request), 'y');
    }
    request["wants"]["run"]["folder_number"] = number;
    let others =
        [("program", json!([1, 1])), ("umask", json!(0o777)), ("groups", json!([])), ("namespaces", json!([]))];
    for (key, other) in others {
        let mut request = request.clone();
        request["wants"]["run"]["conditions"][key] = other;
        assert_eq!(said(&request), 'y', "{key}");
    }
}

#[test]
fn what_a_server_has_only_now_is_found() {
    let room = room();
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    let grown = sample("one").tool(ToolScript::text("gained", "it is new"));
    std::fs::write(room.world.root().join("one.json"), grown.to_json()).unwrap();
    let from_stdin = room.command(["call", "gained", "--args", "-"]).input("{}").run().unwrap();
    assert_eq!(from_stdin.transcript(), "--- stdout\nit is new\n--- exit 0\n", "what was read is read again");
    room.check("call gained", "\n--- stdout\nit is new\n--- exit 0\n");
    let here = room.command(["call", "never_there"]).env("TOOLGATE_NO_RUNTIME", "1").run().unwrap();
    assert_eq!(room.run("call never_there").transcript(), here.transcript());
}
