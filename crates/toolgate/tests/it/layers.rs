//! Settings of all scopes together: who wins, what is merged, what is held back, and where each value came from.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::json;
use toolgate::servers::{SetAsideReason, TransportConfig};
use toolgate::settings::{SettingsSource, disable_extension, enable_extension};
use toolgate::{Setup, SetupOptions};

use crate::support::Room;

/// Where a file of a test stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Defaults,
    User,
    Workspace,
    Override,
    Extension(&'static str),
    WorkspaceExtension(&'static str),
    Environment,
    UserEnvironment,
    Enablement,
}

impl At {
    fn path(self, room: &Room) -> PathBuf {
        let (home, workspace, system) = (room.world.home(), room.world.workspace(), room.env().dirs.system);
        match self {
            Self::Defaults => system.join("system-defaults.json"),
            Self::Override => system.join("settings.json"),
            Self::User => home.join(".toolgate/settings.json"),
            Self::Workspace => workspace.join(".toolgate/settings.json"),
            Self::Extension(name) => home.join(format!(".toolgate/extensions/{name}/gemini-extension.json")),
            Self::WorkspaceExtension(name) => {
                workspace.join(format!(".toolgate/extensions/{name}/toolgate-extension.json"))
            }
            Self::Environment => workspace.join(".env"),
            Self::UserEnvironment => home.join(".toolgate/.env"),
            Self::Enablement => home.join(".toolgate/mcp-server-enablement.json"),
        }
    }
}

fn room(files: &[(At, &str)]) -> Room {
    let room = Room::new();
    for (at, text) in files {
        let path = at.path(&room);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    room
}

fn trusted() -> SetupOptions {
    SetupOptions { trust_folder: Some(true), ..SetupOptions::default() }
}

fn read(room: &Room, options: &SetupOptions) -> Setup {
    let setup = Setup::read(&room.env(), options).unwrap();
    assert!(setup.settings.broken.is_empty(), "{:?}", setup.settings.broken);
    setup
}

/// `name=target@source`, in order, without the built-in server.
fn active(setup: &Setup) -> Vec<String> {
    let servers = setup.servers.active.iter().filter(|one| one.origin.source != SettingsSource::BuiltIn);
    servers.map(|one| format!("{}={}@{}", one.name, one.transport.target(), one.origin.source)).collect()
}

/// `name: reason`, without those that others replaced.
fn held_back(setup: &Setup) -> Vec<String> {
    let aside = setup.servers.set_aside.iter().filter(|one| !matches!(one.reason, SetAsideReason::Replaced { .. }));
    aside.map(|one| format!("{}: {}", one.name, one.reason)).collect()
}

fn command(name: &str) -> String {
    format!(r#"{{"mcpServers": {{"s": {{"command": "{name}"}}}}}}"#)
}

#[test]
fn a_higher_scope_replaces_the_whole_entry() {
    let all = [
        (At::Defaults, command("defaults")),
        (At::User, command("user")),
        (At::Workspace, command("workspace")),
        (At::Override, command("override")),
    ];
    let expected =
        ["s=defaults@system-defaults", "s=user@user", "s=workspace@workspace", "s=override@system-overrides"];
    for count in 1..=all.len() {
        let files: Vec<(At, &str)> = all.iter().take(count).map(|(at, text)| (*at, text.as_str())).collect();
        let setup = read(&room(&files), &trusted());
        assert_eq!(active(&setup), [expected[count - 1]]);
        let losers = setup.servers.set_aside.iter().filter(|one| one.name == "s").count();
        assert_eq!(losers, count - 1, "those that lost are kept");
    }
    let user = r#"{"mcpServers": {"s": {"command": "a", "args": ["x"], "env": {"A": "1"}, "timeout": 5000}}}"#;
    let setup = read(&room(&[(At::User, user), (At::Workspace, &command("b"))]), &trusted());
    let TransportConfig::Stdio(stdio) = &setup.servers.active[0].transport else { panic!("{setup:?}") };
    assert!(stdio.args.is_empty() && stdio.env.is_empty(), "nothing of the other entry is left: {stdio:?}");
}

#[test]
fn the_workspace_counts_only_when_it_is_trusted() {
    let files =
        [(At::User, r#"{"mcpServers": {"own": {"command": "mine"}}}"#.to_owned()), (At::Workspace, command("theirs"))];
    let files: Vec<(At, &str)> = files.iter().map(|(at, text)| (*at, text.as_str())).collect();
    let room = room(&files);
    let setup = read(&room, &SetupOptions::default());
    assert_eq!(active(&setup), ["own=mine@user"]);
    assert_eq!(held_back(&setup), ["s: the folder it comes with is not trusted"]);
    assert!(setup.admitted().is_err(), "and nothing may be started");
    let setup = read(&room, &trusted());
    assert_eq!(active(&setup), ["s=theirs@workspace", "own=mine@user"]);
    assert!(setup.admitted().is_ok());
}

#[test]
fn a_workspace_has_no_say_in_its_own_trust() {
    let off = r#"{"security": {"folderTrust": {"enabled": false, "userServers": true}}, "mcpServers": {"s": {"command": "c"}}}"#;
    let setup = read(&room(&[(At::Workspace, off)]), &SetupOptions::default());
    assert!(setup.admitted().is_err());
    for at in [At::Defaults, At::User, At::Override] {
        let off = r#"{"security": {"folderTrust": {"enabled": false}}}"#;
        let setup = read(&room(&[(at, off), (At::Workspace, &command("c"))]), &SetupOptions::default());
        assert!(setup.admitted().is_ok(), "{at:?}");
    }
    // Each key of a section comes from the highest layer that has it.
    let files = [
        (
            At::User,
            r#"{"security": {"folderTrust": {"userServers": true}}, "mcpServers": {"own": {"command": "mine"}}}"#,
        ),
        (At::Override, r#"{"security": {"folderTrust": {"enabled": true}}}"#),
        (At::Workspace, r#"{"mcpServers": {"s": {"command": "c"}, "own": {"command": "theirs"}}}"#),
    ];
    let setup = read(&room(&files), &SetupOptions::default());
    let admitted: Vec<_> = setup.admitted().unwrap().iter().map(|one| one.name.to_string()).collect();
    assert_eq!(admitted, ["own", "workspace"], "only the person's own, and not what the folder says of them");
    assert_eq!(active(&setup), ["own=mine@user"]);
}

#[test]
fn lists_of_all_scopes_count_together() {
    let servers = r#""mcpServers": {"github": {"command": "a"}, "gitlab": {"command": "b"}, "time": {"command": "c"}}"#;
    let user = |lists: &str| format!(r#"{{"mcp": {{{lists}}}, {servers}}}"#);
    /// Lists of the person, lists of the administrator, names of the flag, servers that are used.
    type Case<'c> = (&'c str, Option<&'c str>, Option<&'c [&'c str]>, &'c [&'c str]);
    let cases: &[Case<'_>] = &[
        ("", None, None, &["github", "gitlab", "time"]),
        (r#""allowed": [" GitHub "]"#, None, None, &["github"]),
        (r#""allowed": ["git*"]"#, None, None, &["github", "gitlab"]),
        (r#""allowed": []"#, None, None, &[]),
        (r#""allowed": ["github", "time"]"#, Some(r#""allowed": ["TIME", "gitlab"]"#), None, &["time"]),
        (r#""allowed": ["github"]"#, Some(r#""allowed": ["time"]"#), None, &[]),
        (r#""excluded": ["Time"]"#, Some(r#""excluded": ["*lab"]"#), None, &["github"]),
        (r#""allowed": ["git*"], "excluded": ["github"]"#, None, None, &["gitlab"]),
        (r#""allowed": ["github"]"#, None, Some(&["ti*", " GITLAB "]), &["gitlab", "time"]),
        (r#""excluded": ["time"]"#, None, Some(&["time", "github"]), &["github"]),
        ("", None, Some(&[]), &[]),
        ("", None, Some(&[""]), &[]),
    ];
    for (lists, system, flag, expected) in cases {
        let system = system.map(|lists| format!(r#"{{"mcp": {{{lists}}}}}"#));
        let mut files = vec![(At::User, user(lists))];
        files.extend(system.map(|text| (At::Override, text)));
        let files: Vec<(At, &str)> = files.iter().map(|(at, text)| (*at, text.as_str())).collect();
        let allowed_servers = flag.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        let setup = read(&room(&files), &SetupOptions { allowed_servers, ..SetupOptions::default() });
        let names = setup.servers.active.iter().map(|one| one.name.as_str()).filter(|name| *name != "workspace");
        assert_eq!(names.collect::<Vec<_>>(), *expected, "{lists} {flag:?}");
    }
}

#[test]
fn the_order_of_what_holds_a_server_back() {
    let servers = r#""mcpServers": {"A": {"command": "a"}}"#;
    let disabled = r#"{"a": {"enabled": false}, "kept": {"enabled": true}}"#;
    let session = || BTreeSet::from([" a ".to_owned()]);
    let cases = [
        (r#""allowed": ["x"], "excluded": ["a"]"#, true, true, "A: not in `mcp.allowed` of USER:1"),
        (r#""excluded": ["a"]"#, true, true, "A: in `mcp.excluded` of USER:1"),
        ("", true, true, "A: disabled for this session"),
        ("", false, true, "A: disabled in FILE"),
    ];
    for (lists, in_session, in_file, expected) in cases {
        let user = format!(r#"{{"mcp": {{{lists}}}, {servers}}}"#);
        let mut files = vec![(At::User, user.as_str())];
        if in_file {
            files.push((At::Enablement, disabled));
        }
        let disabled_for_session = if in_session { session() } else { BTreeSet::new() };
        let setup = read(&room(&files), &SetupOptions { disabled_for_session, ..SetupOptions::default() });
        let user = &setup.env.dirs.user;
        let file = |name: &str| user.join(name).display().to_string();
        let expected = expected.replace("USER", &file("settings.json"));
        let expected = expected.replace("FILE", &file("mcp-server-enablement.json"));
        assert_eq!(held_back(&setup).first(), Some(&expected));
    }
    let user = format!("{{{servers}}}");
    let setup = read(&room(&[(At::User, &user), (At::Enablement, "{\"a\": {\"enabled\":")]), &SetupOptions::default());
    assert_eq!(active(&setup), ["A=a@user"], "a file that cannot be read disables nothing");
    assert_eq!(setup.troubles.len(), 1, "{:?}", setup.troubles);
}

#[test]
fn excluded_tools_are_those_of_all_scopes_and_extensions() {
    let tools = |name: &str| format!(r#"{{"tools": {{"exclude": ["{name}"]}}}}"#);
    let extension = r#"{"name": "box", "version": "1", "excludeTools": ["ext"]}"#;
    let files = [
        (At::Defaults, tools("d")),
        (At::User, tools("u")),
        (At::Workspace, tools("w")),
        (At::Override, tools("o")),
        (At::Extension("box"), extension.to_owned()),
    ];
    let files: Vec<(At, &str)> = files.iter().map(|(at, text)| (*at, text.as_str())).collect();
    let names = |setup: &Setup| -> BTreeSet<String> {
        setup.settings.excluded_tools().into_iter().map(|one| format!("{}@{}", one.text, one.origin.source)).collect()
    };
    let all = ["d@system-defaults", "u@user", "w@workspace", "o@system-overrides", "ext@extension"];
    assert_eq!(names(&read(&room(&files), &trusted())), all.map(ToOwned::to_owned).into());
    let without = names(&read(&room(&files), &SetupOptions::default()));
    assert!(!without.contains("w@workspace") && without.len() == 4, "{without:?}");
}

#[test]
fn one_server_is_a_command_line() {
    let user = r#"{"mcp": {"serverCommand": "my-server --name 'a b' $WHO"}}"#;
    let mut room = room(&[(At::User, user)]);
    room.world.set_variable("WHO", "ada");
    let setup = read(&room, &SetupOptions::default());
    assert_eq!(active(&setup), ["mcp=my-server --name 'a b' ada@user"]);
    for (user, expected) in [
        (r#"{"mcp": {"serverCommand": "a | b"}}"#, "cannot be read as one command line"),
        (r#"{"mcp": {"serverCommand": "a"}, "mcpServers": {"mcp": {"command": "b"}}}"#, "not used"),
    ] {
        let setup = read(&self::room(&[(At::User, user)]), &SetupOptions::default());
        let told: Vec<_> = setup.diagnostics().iter().map(ToString::to_string).collect();
        assert!(
            told.iter().any(|one| one.contains("settings.json:1:27: mcp.serverCommand") && one.contains(expected)),
            "{told:?}"
        );
    }
}

#[test]
fn variables_of_env_files_are_known_before_anything_is_expanded() {
    let user = r#"{"mcpServers": {"s": {"command": "c", "args": ["$ONE", "${TWO:-none}", "$DEBUG", "$TOOLGATE_X"]}}}"#;
    let args = |room: &Room, options: &SetupOptions| -> String {
        let setup = read(room, options);
        setup.servers.active[0].transport.target()
    };
    let project = "ONE=1\nTWO=2\nDEBUG=yes\nTOOLGATE_X=1\nHOME=/stolen\n";
    let mut room = room(&[(At::User, user), (At::Environment, project)]);
    room.world.set_variable("TWO", "mine");
    assert_eq!(args(&room, &trusted()), "c 1 mine '$DEBUG' '$TOOLGATE_X'", "what is set already is not replaced");
    assert_eq!(
        args(&room, &SetupOptions::default()),
        "c '$ONE' mine '$DEBUG' '$TOOLGATE_X'",
        "not from a folder that nobody trusts"
    );
    let room = self::room(&[(At::User, user), (At::UserEnvironment, "ONE=own\nDEBUG=on\n")]);
    assert_eq!(args(&room, &SetupOptions::default()), "c own none on '$TOOLGATE_X'", "the person's own always counts");
    let ignoring = r#"{"advanced": {"ignoreLocalEnv": true, "excludedEnvVars": ["ONE"]}, "mcpServers": {"s": {"command": "c", "args": ["$ONE"]}}}"#;
    let room = self::room(&[(At::User, ignoring), (At::Environment, "ONE=1")]);
    assert_eq!(args(&room, &trusted()), "c '$ONE'");
    let excluding = r#"{"advanced": {"excludedEnvVars": ["ONE"]}, "mcpServers": {"s": {"command": "c", "args": ["$ONE", "$TWO"]}}}"#;
    let room = self::room(&[(At::User, excluding), (At::Environment, "ONE=1\nTWO=2")]);
    assert_eq!(args(&room, &trusted()), "c '$ONE' 2");
}

#[test]
fn an_extension_and_the_settings_make_one_server() {
    let extension = r#"{"name": "box", "version": "1.2", "mcpServers": {"s": {
        "command": "${extensionPath}${/}run", "args": ["--in", "${workspacePath}"], "cwd": "${extensionPath}",
        "env": {"A": "ext", "B": "ext"}, "trust": true, "timeout": 7000,
        "includeTools": ["one", "two"], "excludeTools": ["bad"]}}}"#;
    let room = room(&[(At::Extension("box"), extension)]);
    let setup = read(&room, &SetupOptions::default());
    let server = &setup.servers.active[0];
    let folder = room.world.home().join(".toolgate/extensions/box");
    let TransportConfig::Stdio(stdio) = &server.transport else { panic!("{server:?}") };
    assert_eq!(stdio.command, folder.join("run").display().to_string());
    assert_eq!(stdio.cwd.as_deref(), Some(folder.as_path()));
    assert_eq!(
        server.transport.target(),
        format!("{} --in {}", folder.join("run").display(), room.world.workspace().display())
    );
    assert!(!server.trust, "an extension cannot vouch for itself");
    assert_eq!(server.extension.as_ref().map(|one| one.name.as_str()), Some("box"));

    let user = r#"{"mcpServers": {"s": {"args": ["x"], "env": {"B": "user", "C": "user"}, "trust": true,
        "includeTools": ["two", "three"], "excludeTools": ["worse"]}}}"#;
    let room = self::room(&[(At::Extension("box"), extension), (At::User, user)]);
    let setup = read(&room, &SetupOptions::default());
    let server = &setup.servers.active[0];
    let TransportConfig::Stdio(stdio) = &server.transport else { panic!("{server:?}") };
    assert!(stdio.command.ends_with("/box/run"), "{stdio:?}");
    assert_eq!(server.transport.target().rsplit(' ').next(), Some("x"), "what is named is replaced");
    assert_eq!(stdio.env.keys().collect::<Vec<_>>(), ["A", "B", "C"], "variables are merged");
    assert_eq!((server.trust, server.call_timeout.as_millis()), (true, 7000));
    assert_eq!(server.include_tools.as_deref(), Some(&["two".to_owned()][..]));
    assert_eq!(server.exclude_tools, ["worse", "bad"]);
    assert_eq!(server.origin.source, SettingsSource::User);
    assert_eq!(server.extension.as_ref().map(|one| one.name.as_str()), Some("box"), "it stays the extension's");

    let remote = r#"{"mcpServers": {"s": {"url": "https://example.com/mcp"}}}"#;
    let setup = read(&self::room(&[(At::Extension("box"), extension), (At::User, remote)]), &SetupOptions::default());
    assert_eq!(active(&setup), ["s=https://example.com/mcp@user"]);
    assert_eq!(setup.diagnostics(), [], "nothing of the command is left to complain about");
}

#[test]
fn extensions_have_names_versions_and_a_switch() {
    let one = |name: &str, server: &str| {
        format!(r#"{{"name": "{name}", "version": "1", "mcpServers": {{"{server}": {{"command": "{name}"}}}}}}"#)
    };
    let files = [
        (At::Extension("a"), one("a", "shared")),
        (At::Extension("b"), one("b", "shared")),
        (At::Extension("c"), one("c", "own")),
        (At::Extension("d"), one("c", "again")),
        (At::Extension("e"), r#"{"name": "bad name!", "version": "1"}"#.to_owned()),
        (At::Extension("f"), r#"{"name": "f"}"#.to_owned()),
        (At::Extension("g"), "{".to_owned()),
        (At::WorkspaceExtension("w"), one("w", "brought")),
    ];
    let files: Vec<(At, &str)> = files.iter().map(|(at, text)| (*at, text.as_str())).collect();
    let room = room(&files);
    let setup = read(&room, &trusted());
    assert_eq!(active(&setup), ["shared=a@extension", "own=c@extension", "brought=w@extension"]);
    let told: Vec<_> = setup.diagnostics().iter().map(|one| one.message.clone()).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(active(&read(&room, &SetupOptions::default())), ["shared=a@extension", "own=c@extension"]);

    let env = room.env();
    disable_extension(&env, "a", None).unwrap();
    disable_extension(&env, "c", Some(&env.workspace)).unwrap();
    assert_eq!(active(&read(&room, &SetupOptions::default())), ["shared=b@extension"]);
    enable_extension(&env, "c", None).unwrap();
    assert_eq!(active(&read(&room, &SetupOptions::default())), ["shared=b@extension", "own=c@extension"]);
    let states: Vec<_> = setup.settings.extensions.iter().map(|one| one.extension.name.clone()).collect();
    assert_eq!(states, ["a", "b", "c", "w"]);
}

#[test]
fn what_a_person_filled_in_for_an_extension_reaches_its_servers() {
    let manifest = json!({"name": "box", "version": "1", "settings": [{"name": "Key", "envVar": "BOX_KEY"}],
        "mcpServers": {"s": {"command": "c", "args": ["${BOX_KEY}", "${OTHER:-none}"]}}});
    let room = room(&[(At::Extension("box"), &manifest.to_string())]);
    std::fs::write(room.world.home().join(".toolgate/extensions/box/.env"), "BOX_KEY=k$1\nOTHER=x\n").unwrap();
    let setup = read(&room, &SetupOptions::default());
    let TransportConfig::Stdio(stdio) = &setup.servers.active[0].transport else { panic!("{setup:?}") };
    assert!(stdio.env.contains_key("BOX_KEY") && !stdio.env.contains_key("OTHER"), "{stdio:?}");
    assert!(!format!("{:?}", setup.settings).contains("k$1"), "its value is not printed");
}
