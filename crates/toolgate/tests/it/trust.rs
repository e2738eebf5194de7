//! Folder trust as one flow: what a folder brings is read, judged, asked about and started, or not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use toolgate::trust::{
    DecidedBy, EntryChange, FolderTrust, TrustLevel, confirm, confirm_all, forget, remove_rule, set_rule, survey,
};
use toolgate::{ErrorKind, HostEnv, Setup, SetupOptions};

use crate::support::Room;

/// What the workspace brings: a file of settings with these servers.
fn bring(room: &Room, servers: &Value) {
    room.world.write_in_workspace(".toolgate/settings.json", &json!({"mcpServers": servers}).to_string()).unwrap();
}

fn own(room: &Room, settings: &Value) {
    room.world.write_in_home(".toolgate/settings.json", &settings.to_string()).unwrap();
}

fn setup(env: &HostEnv) -> Setup {
    Setup::read(env, &SetupOptions::default()).unwrap()
}

/// The servers that would be started, without the built-in one.
fn started(env: &HostEnv) -> Result<Vec<String>, ErrorKind> {
    let admitted = setup(env).admitted().map_err(|error| error.kind())?;
    let names = admitted.iter().map(|server| server.name.to_string());
    Ok(names.filter(|name| name != "workspace").collect())
}

fn names(names: &[&str]) -> Result<Vec<String>, ErrorKind> {
    Ok(names.iter().map(|&name| name.to_owned()).collect())
}

const RELAXED: &str =
    r#"{"security": {"folderTrust": {"userServers": true}}, "mcpServers": {"mine": {"command": "x"}}}"#;

#[test]
fn a_folder_starts_nothing_until_somebody_trusts_it() {
    let room = Room::new();
    own(&room, &json!({"mcpServers": {"mine": {"command": "x"}}}));
    let env = room.env();
    assert_eq!(started(&env), names(&["mine"]), "a folder that brings nothing needs no decision");
    bring(&room, &json!({"theirs": {"command": "touch", "args": ["pwned"]}}));
    assert_eq!(started(&env), Err(ErrorKind::Untrusted), "not even the person's own");
    assert_eq!(setup(&env).folder.trust(), FolderTrust::Undecided);
    own(&room, &serde_json::from_str(RELAXED).unwrap());
    assert_eq!(started(&env), names(&["mine"]), "unless they said so");
    set_rule(&env, &env.workspace, TrustLevel::Folder).unwrap();
    assert_eq!(started(&env), names(&["theirs", "mine"]));
    set_rule(&env, &env.workspace, TrustLevel::Not).unwrap();
    assert_eq!(started(&env), names(&["mine"]));
    own(&room, &json!({}));
    assert_eq!(started(&env), Err(ErrorKind::Untrusted));
    remove_rule(&env, &env.workspace).unwrap();
    assert_eq!(setup(&env).folder.by(), &DecidedBy::Nobody);
    assert!(!env.workspace.join("pwned").exists());
}

#[test]
fn the_folder_has_no_say_in_its_own_trust() {
    let room = Room::new();
    let settings = json!({
        "security": {"folderTrust": {"enabled": false, "userServers": true}},
        "mcpServers": {"theirs": {"command": "x"}}
    });
    room.world.write_in_workspace(".toolgate/settings.json", &settings.to_string()).unwrap();
    let rules = json!({"/": "TRUST_FOLDER"}).to_string();
    room.world.write_in_workspace(".toolgate/trustedFolders.json", &rules).unwrap();
    room.world.write_in_workspace(".env", "TOOLGATE_TRUST_WORKSPACE=true\nTOOLGATE_TRUSTED_FOLDERS_PATH=/w\n").unwrap();
    assert_eq!(started(&room.env()), Err(ErrorKind::Untrusted));
}

#[test]
fn an_env_file_or_a_settings_folder_alone_is_something_to_decide_about() {
    for file in [".env", ".toolgate/.env", ".toolgate/policies/a.toml", ".toolgate/README"] {
        let room = Room::new();
        room.world.write_in_workspace(file, "").unwrap();
        assert_eq!(started(&room.env()), Err(ErrorKind::Untrusted), "{file}");
    }
}

#[test]
fn what_changes_after_the_folder_was_trusted_waits_for_a_confirmation() {
    let room = Room::new();
    let env = room.env();
    bring(&room, &json!({"a": {"command": "x"}, "b": {"command": "y"}}));
    set_rule(&env, &env.workspace, TrustLevel::Folder).unwrap();
    confirm_all(&env, &env.workspace, &setup(&env).settings).unwrap();
    assert_eq!(started(&env), names(&["a", "b"]));
    // A pull changes one, adds one, and tunes the other.
    let pulled = json!({"a": {"command": "evil"}, "b": {"command": "y", "timeout": 5000}, "c": {"command": "z"}});
    bring(&room, &pulled);
    assert_eq!(started(&env), names(&["b"]));
    let read = setup(&env);
    assert_eq!(read.folder.change_of("a"), Some(EntryChange::Changed));
    assert_eq!(read.folder.change_of("c"), Some(EntryChange::New));
    assert_eq!(read.folder.change_of("b"), None);
    let found = survey(&read.settings, &read.folder);
    let order: Vec<&str> = found.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(order, ["a", "c", "b"], "what is to be looked at comes first");
    confirm(&env, &env.workspace, &read.settings, &["c".to_owned()].into()).unwrap();
    assert_eq!(started(&env), names(&["b", "c"]));
    bring(&room, &json!({"a": {"command": "x"}, "b": {"command": "y"}}));
    assert_eq!(started(&env), names(&["a", "b"]), "what was taken back is as it was");
    let mut trusted = env.clone();
    trusted.vars.insert("TOOLGATE_TRUST_WORKSPACE".to_owned(), "true".to_owned());
    bring(&room, &pulled);
    assert_eq!(started(&trusted), names(&["a", "b", "c"]), "this run asks nobody");
    assert_eq!(started(&env), names(&["b", "c"]), "and confirms nothing");
}

#[test]
fn a_rule_written_by_hand_takes_what_is_there_and_asks_from_then_on() {
    let room = Room::new();
    let env = room.env();
    bring(&room, &json!({"one": {"command": "x"}}));
    let rules = json!({env.workspace.parent().unwrap().display().to_string(): "TRUST_FOLDER"});
    room.world.write_in_home(".toolgate/trustedFolders.json", &rules.to_string()).unwrap();
    assert_eq!(started(&env), names(&["one"]));
    bring(&room, &json!({"one": {"command": "y"}}));
    assert_eq!(started(&env), names(&[]));
    forget(&env, &env.workspace).unwrap();
    assert_eq!(started(&env), names(&["one"]));
}

#[test]
fn an_extension_of_the_folder_is_judged_like_its_settings() {
    let room = Room::new();
    let env = room.env();
    let manifest = |command: &str| {
        let text = json!({"name": "e", "version": "1", "mcpServers": {"carried": {"command": command}}}).to_string();
        room.world.write_in_workspace(".toolgate/extensions/e/toolgate-extension.json", &text).unwrap();
    };
    manifest("x");
    own(&room, &serde_json::from_str(RELAXED).unwrap());
    assert_eq!(started(&env), names(&["mine"]));
    set_rule(&env, &env.workspace, TrustLevel::Folder).unwrap();
    assert_eq!(started(&env), names(&["mine", "carried"]));
    manifest("evil");
    assert_eq!(started(&env), names(&["mine"]));
    assert_eq!(setup(&env).folder.change_of("carried"), Some(EntryChange::Changed));
    // A name of the person's own does not let the changed entry slip in below it.
    own(&room, &json!({"mcpServers": {"carried": {"args": ["a"]}}}));
    assert_eq!(started(&env), names(&[]));
}

#[test]
fn a_command_line_in_the_settings_is_an_entry_like_any_other() {
    let room = Room::new();
    let env = room.env();
    let write = |line: &str| {
        let text = json!({"mcp": {"serverCommand": line}}).to_string();
        room.world.write_in_workspace(".toolgate/settings.json", &text).unwrap();
    };
    write("server --harmless");
    set_rule(&env, &env.workspace, TrustLevel::Folder).unwrap();
    assert_eq!(started(&env), names(&["mcp"]));
    write("server --harmful");
    assert_eq!(started(&env), names(&[]));
    let read = setup(&env);
    let found = survey(&read.settings, &read.folder);
    let shown: Vec<_> = found.servers.iter().map(|server| (server.name.as_str(), server.target.as_str())).collect();
    assert_eq!(shown, [("mcp", "server --harmful")]);
}

#[test]
fn decisions_are_kept_in_files_of_the_person() {
    let room = Room::new();
    let env = room.env();
    bring(&room, &json!({"one": {"command": "x"}}));
    set_rule(&env, &env.workspace, TrustLevel::Folder).unwrap();
    assert_eq!(started(&env), names(&["one"]));
    for file in ["trustedFolders.json", "trusted-entries.json"] {
        let mode = fs::metadata(env.dirs.user.join(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
}

#[test]
fn a_home_that_cannot_be_written_makes_no_server_unusable() {
    let room = Room::new();
    let mut env = room.env();
    bring(&room, &json!({"one": {"command": "x"}}));
    let rules = room.world.root().join("rules.json");
    fs::write(&rules, json!({env.workspace.display().to_string(): "TRUST_FOLDER"}).to_string()).unwrap();
    env.vars.insert("TOOLGATE_TRUSTED_FOLDERS_PATH".to_owned(), rules.display().to_string());
    let in_the_way = room.world.root().join("file");
    fs::write(&in_the_way, "").unwrap();
    env.dirs.user = in_the_way.join("user");
    assert_eq!(started(&env), names(&["one"]));
    let trouble = setup(&env).record_first_use().unwrap_err().to_string();
    assert!(trouble.contains("cannot be recorded"), "{trouble}");
}

#[test]
fn decisions_that_cannot_be_read_are_an_error() {
    let room = Room::new();
    let env = room.env();
    for (file, text) in [("trustedFolders.json", "{\"/\": \"MAYBE\"}"), ("trusted-entries.json", "[")] {
        bring(&room, &json!({"one": {"command": "x"}}));
        room.world
            .write_in_home(Path::new(".toolgate").join("trustedFolders.json"), "{\"/\": \"TRUST_FOLDER\"}")
            .unwrap();
        room.world.write_in_home(Path::new(".toolgate").join(file), text).unwrap();
        let error = Setup::read(&env, &SetupOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::State, "{file}");
        assert!(error.to_string().contains(file), "{error}");
    }
}

#[test]
fn variables_that_change_after_a_folder_was_trusted_are_not_used() {
    let room = Room::new();
    let env = room.env();
    room.world
        .write_in_home(
            ".toolgate/settings.json",
            r#"{"mcpServers": {"own": {"url": "${API:-https://api.example}/mcp"}}}"#,
        )
        .unwrap();
    bring(&room, &json!({"one": {"command": "${RUN:-kept}"}}));
    let seen = setup(&env);
    confirm_all(&env, &env.workspace, &seen.settings).unwrap();
    set_rule(&env, &env.workspace, TrustLevel::Folder).unwrap();
    let targets = || -> Vec<String> {
        let setup = setup(&env);
        setup.servers.active.iter().map(|server| server.transport.target()).collect()
    };
    assert_eq!(targets(), ["kept", "https://api.example/mcp", "workspace"]);
    room.world.write_in_workspace(".env", "RUN=touch\nAPI=http://evil.example\n").unwrap();
    assert_eq!(targets(), ["kept", "https://api.example/mcp", "workspace"], "nobody has seen the file");
    let told: Vec<String> = setup(&env).troubles.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["the `.env` file is new since the folder was trusted, and is not used"]);
    confirm_all(&env, &env.workspace, &setup(&env).settings).unwrap();
    assert_eq!(targets(), ["touch", "http://evil.example/mcp", "workspace"], "and now somebody has");
}

#[test]
fn a_folder_does_not_hand_out_variables_of_the_person() {
    let room = Room::new();
    let env = room.env();
    let theirs = json!({"security": {"environmentVariableRedaction": {"allowed": ["MY_TOKEN"], "blocked": ["LANG"]}}});
    room.world.write_in_workspace(".toolgate/settings.json", &theirs.to_string()).unwrap();
    let setup = Setup::read(&env, &SetupOptions { trust_folder: Some(true), ..SetupOptions::default() }).unwrap();
    let exceptions = setup.env_exceptions();
    assert_eq!((exceptions.allowed, exceptions.blocked), (Vec::new(), vec!["LANG".to_owned()]));
}
