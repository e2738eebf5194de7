//! `toolgate grants`: what was allowed for good is listed and taken back, wherever one is.

use serde_json::json;

use crate::room::Room;

const FILE: &str = ".toolgate/grants.toml";

const GRANTS: &str = r#"
version = 1

[[grant]]
id = "3fa9c1"
server = "github"
scope = "tool"
mode = "default"
given_at = "2026-07-28T12:00:00Z"
given_in = "/home/ada/project"
server_identity = "sha256:aa"
[grant.tools]
create_issue = "sha256:bb"

[[grant]]
id = "77e012"
server = "files"
scope = "arguments"
arguments = '{"text": "\u001b[2J", "a": 1}'
mode = "autoEdit"
given_at = "2026-07-28T12:00:00Z"
given_in = "/home/ada/project"
expires_at = "2026-07-29T12:00:00Z"
server_identity = "sha256:aa"
tools = {write = "sha256:bb"}

[[grant]]
id = "c0ffee"
server = "files"
scope = "server"
mode = "default"
given_at = "2026-07-28T12:00:00Z"
given_in = "/home/ada/project"
expires_at = "2999-01-01T00:00:00Z"
server_identity = "sha256:aa"
tools = {read = "sha256:bb", write = "sha256:bb"}
"#;

fn room(text: &str) -> Room {
    let room = Room::new();
    room.world.write_in_home(FILE, text).unwrap();
    room
}

fn ids(room: &Room) -> Vec<String> {
    let listed = room.json("grants list --json");
    listed["grants"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn grants_are_listed() {
    let room = room(GRANTS);
    room.check(
        "grants list",
        r#"
        --- stdout
        ID      STATE    SERVER  ALLOWS                                 FROM MODE  GIVEN                 UNTIL
        3fa9c1  active   github  create_issue                           default    [TIME]  revoked
        77e012  expired  files   write with {"a":1,"text":"\u001b[2J"}  autoEdit   [TIME]  [TIME]
        c0ffee  active   files   2 of its tools: read, write            default    [TIME]  [TIME]
        --- exit 0
        "#,
    );
    let listed = room.json("grants list --server files --json");
    assert_eq!(listed["grants"].as_array().unwrap().len(), 2);
    let expected = json!({
        "id": "77e012", "state": "expired", "server": "files", "scope": "arguments", "tools": ["write"],
        "arguments": {"a": 1, "text": "\u{1b}[2J"}, "mode": "autoEdit", "givenAt": "2026-07-28T12:00:00Z",
        "givenIn": "/home/ada/project", "expiresAt": "2026-07-29T12:00:00Z"
    });
    assert_eq!(listed["grants"][0], expected);
    room.check(
        "grants list --server fiels",
        "
        --- stderr
        nothing of fiels has been allowed for good
        --- exit 0
        ",
    );
}

#[test]
fn grants_are_taken_back() {
    let room = room(GRANTS);
    room.check(
        "grants revoke 3fa9c1",
        "
        --- stdout
        revoked: 3fa9c1 (create_issue, of github)
        --- exit 0
        ",
    );
    assert_eq!(ids(&room), ["77e012", "c0ffee"]);
    assert_eq!(room.json("grants revoke --server files --json"), json!({"revoked": ["77e012", "c0ffee"]}));
    assert_eq!(ids(&room), Vec::<String>::new());
    room.world.write_in_home(FILE, GRANTS).unwrap();
    assert_eq!(room.run("grants revoke 3fa9c1 c0ffee").code(), Some(0));
    assert_eq!(ids(&room), ["77e012"]);
    assert_eq!(room.run("grants revoke --all").code(), Some(0));
    room.check(
        "grants revoke --all",
        "
        --- stderr
        nothing has been allowed for good
        --- exit 0
        ",
    );
}

#[test]
fn whoever_means_a_grant_that_is_not_there_is_told() {
    let room = room(GRANTS);
    room.check(
        "grants revoke c0ffee 3fa9c2",
        "
        --- stderr
        error: there is no grant `3fa9c2`
        hint: did you mean `3fa9c1`?
        --- exit 7
        ",
    );
    room.check(
        "grants revoke --server githbu",
        "
        --- stderr
        error: nothing of server `githbu` has been allowed for good
        hint: did you mean `github`?
        --- exit 7
        ",
    );
    room.check(
        "grants revoke",
        "
        --- stderr
        error: nothing says which grants are meant
        hint: name their ids, or `--server NAME`, or `--all`
        --- exit 2
        ",
    );
    for line in ["grants revoke 3fa9c1 --all", "grants revoke 3fa9c1 --server github", "grants revoke --all --server s"]
    {
        assert_eq!(room.run(line).code(), Some(2), "{line}");
    }
    assert_eq!(ids(&room), ["3fa9c1", "77e012", "c0ffee"], "nothing was taken back meanwhile");
}

#[test]
fn a_broken_file_is_named_and_left_alone() {
    let broken = GRANTS.replace("scope = \"server\"", "scope = \"world\"");
    let room = room(&broken);
    for line in ["grants list", "grants revoke --all", "grants revoke 3fa9c1"] {
        room.check(
            line,
            "
            --- stderr
            error: [HOME]/.toolgate/grants.toml:30:9: expected \"tool\", \"server\", \"reading\" or \"arguments\"
            hint: correct the file, or remove it to be asked about everything again; nothing in it counts until then
            --- exit 2
            ",
        );
    }
    assert_eq!(std::fs::read_to_string(room.world.home().join(FILE)).unwrap(), broken);
}

#[test]
fn neither_settings_nor_trust_are_needed() {
    let room = Room::new();
    room.world.write_in_home(".toolgate/settings.json", "{ broken").unwrap();
    let brought = room.world.workspace().join(".toolgate");
    std::fs::create_dir_all(&brought).unwrap();
    std::fs::write(brought.join("settings.json"), r#"{"mcpServers": {"x": {"command": "x"}}}"#).unwrap();
    std::fs::write(brought.join("grants.toml"), GRANTS).unwrap();
    room.check(
        "grants list",
        "
        --- stderr
        nothing has been allowed for good
        --- exit 0
        ",
    );
    assert!(!room.world.home().join(FILE).exists());
}
