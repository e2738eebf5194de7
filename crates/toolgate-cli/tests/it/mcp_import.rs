//! `toolgate mcp import`.

use std::fs;

use serde_json::{Value, json};

use crate::room::{Room, sample};
use crate::screen;

/// What Cursor has in this home.
const CURSOR: &str = r#"{
  "mcpServers": {
    "notes": {"command": "npx", "args": ["-y", "notes-server", "${userHome}/notes"], "envFile": ".env"},
    "hosted": {"url": "https://ada:sesame@hosted.example/mcp?key=sesame", "headers": {"Authorization": "Bearer sesame"}},
    "off": {"command": "old-server", "disabled": true},
    "empty": {}
  }
}
"#;

fn settings(room: &Room) -> String {
    fs::read_to_string(room.world.home().join(".toolgate/settings.json")).unwrap_or_default()
}

#[test]
fn nothing_is_written_unasked() {
    let room = Room::new();
    room.world.write_in_home(".cursor/mcp.json", CURSOR).unwrap();
    room.check(
        "mcp import --from cursor",
        "
        --- stdout
        Cursor  [HOME]/.cursor/mcp.json
          + notes   npx -y notes-server '${HOME}/notes'
              not carried over: mcpServers.notes.envFile: write the variables of that file into `env`
          + hosted  https://hosted.example/mcp?…
              secret: headers.Authorization: looks like a secret in plain text; better keep it in the keychain and write `${keychain:NAME}` here
              secret: url: looks like a secret in plain text; better keep it in the keychain and write `${keychain:NAME}` here
          - off     old-server: switched off there; `--only` takes it all the same
          ✗ empty   neither a command nor a URL
        --- stderr
        nothing was written; `--yes` adds 2 servers to [HOME]/.toolgate/settings.json
        --- exit 0
        ",
    );
    for line in ["mcp import", "mcp import --dry-run --yes", "mcp import --json", "mcp import --headless"] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(0), "{}", output.transcript());
        assert!(!output.transcript().contains("sesame"), "{}", output.transcript());
        assert!(!room.world.home().join(".toolgate").exists(), "{line}");
    }
}

#[test]
fn servers_are_added_and_the_rest_of_the_file_stays() {
    let room = Room::new();
    room.world.write_in_home(".cursor/mcp.json", CURSOR).unwrap();
    let before = "{\n  // mine\n  \"mcpServers\": {\n    \"notes\": {\"command\": \"${MINE}\"}, // keep\n  },\n  \"tools\": {},\n}\n";
    room.world.write_in_home(".toolgate/settings.json", before).unwrap();
    let added = room.run("mcp import --yes");
    assert_eq!(added.code(), Some(0), "{}", added.transcript());
    assert!(
        added.stdout.contains("you have another server of that name; `--replace` takes this one"),
        "{}",
        added.stdout
    );
    assert_eq!(added.stderr, format!("1 server added to {}/.toolgate/settings.json\n", room.world.home().display()));
    let now = settings(&room);
    assert!(
        now.starts_with("{\n  // mine\n  \"mcpServers\": {\n    \"notes\": {\"command\": \"${MINE}\"}, // keep\n"),
        "{now}"
    );
    assert!(now.ends_with("\n  },\n  \"tools\": {},\n}\n") && now.contains("\"hosted\""), "{now}");
    let again = room.run("mcp import --yes");
    assert!(again.stdout.contains("= hosted  is there already"), "{}", again.stdout);
    assert_eq!((again.stderr.as_str(), settings(&room)), ("there is nothing to add\n", now));
    let replaced = room.run("mcp import --yes --replace --only notes --only off");
    assert_eq!(replaced.code(), Some(0), "{}", replaced.transcript());
    let now = settings(&room);
    assert!(now.contains("notes-server") && now.contains("old-server") && !now.contains("MINE"), "{now}");
    assert!(now.contains("// keep"), "{now}");
}

#[test]
fn somebody_at_the_terminal_is_asked_once() {
    let room = Room::new();
    room.world.write_in_home(".cursor/mcp.json", CURSOR).unwrap();
    let refused = screen::run(&room, &["mcp", "import"], &[("Add 2 servers to", "n\r")]);
    assert_eq!(refused.code, Some(3), "{}", refused.plain());
    assert!(refused.plain().contains("nothing was imported"), "{}", refused.plain());
    assert_eq!(settings(&room), "");
    let accepted = screen::run(&room, &["mcp", "import"], &[("Add 2 servers to", "y\r")]);
    assert_eq!(accepted.code, Some(0), "{}", accepted.plain());
    assert!(accepted.plain().contains("2 servers added to") && accepted.terminal_is_as_before, "{}", accepted.plain());
    assert!(settings(&room).contains("notes-server"));
    let unasked = screen::run(&room, &["mcp", "import", "--replace", "--dry-run"], &[]);
    assert_eq!(unasked.code, Some(0), "{}", unasked.plain());
}

#[test]
fn all_clients_are_looked_at_and_a_broken_file_names_itself() {
    let room = Room::new();
    room.world.write_in_home(".cursor/mcp.json", CURSOR).unwrap();
    room.world.write_in_home(".codex/config.toml", "[mcp_servers.docs]\ncommand = \"docs\"\n").unwrap();
    room.world.write_in_home(".config/goose/config.yaml", "extensions: [\n").unwrap();
    room.world.write_in_home(".config/zed/settings.json", "{\"theme\": \"One\"}").unwrap();
    room.world.write_in_workspace(".mcp.json", "{\"mcpServers\": {\"team\": {\"command\": \"team\"}}}").unwrap();
    let output = room.run("mcp import");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    for expected in ["+ docs", "+ notes", "Cursor  ", "Codex  "] {
        assert!(output.stdout.contains(expected), "{expected}: {}", output.transcript());
    }
    assert!(!output.stdout.contains("team"), "what the folder brings is not the person's own: {}", output.stdout);
    assert!(output.stderr.contains(".mcp.json belongs to this folder and is left out"), "{}", output.stderr);
    let project = room.run("mcp import -s project --dry-run");
    assert!(project.stdout.contains("+ team"), "{}", project.transcript());
    assert!(output.stderr.contains(".config/goose/config.yaml:2:1: "), "{}", output.transcript());
    assert!(!output.stdout.contains("Zed"), "{}", output.stdout);
    let json = room.json("mcp import --json");
    assert_eq!(json["errors"].as_array().unwrap().len(), 1, "{json:#}");
    let none = Room::new().run("mcp import --from goose");
    assert_eq!((none.code(), none.stdout.as_str()), (Some(0), ""), "{}", none.transcript());
    assert!(none.stderr.contains("no servers of goose were found in 2 places"), "{}", none.stderr);
}

#[test]
fn programs_get_one_object() {
    let room = Room::new();
    let file = room.world.write_in_workspace("cursor.json", CURSOR).unwrap();
    let told = room.json("mcp import cursor.json --from cursor --only notes --yes --json -s project");
    let target = room.world.workspace().join(".toolgate/settings.json");
    let expected = json!({
        "file": target.display().to_string(),
        "written": true,
        "servers": [{
            "name": "notes",
            "action": "add",
            "transport": "stdio",
            "target": "npx -y notes-server '${HOME}/notes'",
            "from": "cursor",
            "source": format!("{}:3", file.display()),
            "reason": null,
            "notes": [{"kind": "lost", "key": "mcpServers.notes.envFile", "message": "write the variables of that file into `env`"}],
            "secrets": [],
        }],
        "notes": [],
        "errors": [],
    });
    assert_eq!(told, expected, "{told:#}");
    let written: Value = serde_json::from_str(&fs::read_to_string(target).unwrap()).unwrap();
    assert_eq!(written["mcpServers"]["notes"]["args"][2], "${HOME}/notes");
    assert_eq!(settings(&room), "", "only the folder's own settings were changed");
}

#[test]
fn what_cannot_be_done_is_said() {
    let room = Room::new();
    room.world.write_in_workspace("cursor.json", CURSOR).unwrap();
    room.world.write_in_workspace("broken.toml", "[mcp_servers.a]\ncommand = \n").unwrap();
    room.world.write_in_workspace("deep.json", &"[".repeat(100_000)).unwrap();
    room.world.write_in_workspace("nul.yaml", "a: \0").unwrap();
    room.world.write_in_workspace("large.yaml", &" ".repeat(10 << 20)).unwrap();
    room.world.write_in_workspace("any.txt", "nothing").unwrap();
    fs::write(room.world.workspace().join("latin.toml"), b"a = \"\xe9\"").unwrap();
    fs::create_dir(room.world.workspace().join("folder")).unwrap();
    let cases = [
        ("mcp import none.json", 2, "none.json: no such file"),
        ("mcp import folder", 2, "folder: a folder, not a file"),
        ("mcp import latin.toml", 2, "not UTF-8 text"),
        ("mcp import any.txt", 2, "neither its name nor its content says whose file it is"),
        ("mcp import broken.toml", 2, "broken.toml:2:11: "),
        ("mcp import deep.json --from zed", 2, "deep.json:1:65: more than 64 levels"),
        ("mcp import nul.yaml", 2, "U+0000"),
        ("mcp import large.yaml", 2, "larger than 4 MiB"),
        ("mcp import cursor.json --only nots", 7, "did you mean `notes`?"),
        ("mcp import cursor.json --from banana", 2, "invalid value 'banana'"),
        ("mcp import cursor.json -s system", 2, "invalid value 'system'"),
    ];
    for (line, code, words) in cases {
        let output = room.run(line);
        assert_eq!(output.code(), Some(code), "{line}: {}", output.transcript());
        assert!(output.stderr.contains(words), "{line}: {}", output.transcript());
        assert_eq!(output.stdout, "", "{line}");
    }
    let broken = "{\"mcpServers\": {\n";
    room.world.write_in_home(".toolgate/settings.json", broken).unwrap();
    let output = room.run("mcp import cursor.json --yes -s user");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    assert_eq!(settings(&room), broken, "a file that cannot be read is not changed");
}

/// The same server in the words of each client; `PROGRAM` and `SCRIPT` stand for what is started.
const EACH: [(&str, &str, &str); 8] = [
    (
        "gemini-cli",
        "settings.json",
        r#"{"mcpServers": {"it": {"command": "PROGRAM", "args": ["--script", "SCRIPT"]}}}"#,
    ),
    (
        "claude-desktop",
        "c.json",
        r#"{"mcpServers": {"it": {"command": "PROGRAM", "args": ["--script", "SCRIPT"], "env": {"P": "$5"}}}}"#,
    ),
    (
        "claude-code",
        ".mcp.json",
        r#"{"mcpServers": {"it": {"type": "stdio", "command": "PROGRAM", "args": ["--script", "${NONE:-SCRIPT}"]}}}"#,
    ),
    (
        "vscode",
        "mcp.json",
        r#"{"servers": {"it": {"type": "stdio", "command": "PROGRAM", "args": ["--script", "${workspaceFolder}/SCRIPT"]}}}"#,
    ),
    (
        "cursor",
        "mcp.json",
        r#"{"mcpServers": {"it": {"command": "PROGRAM", "args": ["--script", "${workspaceFolder}${/}SCRIPT"]}}}"#,
    ),
    (
        "codex",
        "config.toml",
        "[mcp_servers.it]\ncommand = \"PROGRAM\"\nargs = [\"--script\", \"SCRIPT\"]\ntool_timeout_sec = 30\n",
    ),
    (
        "goose",
        "config.yaml",
        "extensions:\n  it: {enabled: true, type: stdio, name: it, cmd: PROGRAM, args: [--script, SCRIPT], timeout: 30}\n",
    ),
    (
        "zed",
        "settings.json",
        r#"{"context_servers": {"it": {"source": "custom", "command": {"path": "PROGRAM", "args": ["--script", "SCRIPT"]}}}}"#,
    ),
];

#[test]
fn a_server_from_every_client_works() {
    for (format, file, text) in EACH {
        // Where the program is and what it does is the same as for a server of our own.
        let room = Room::new().server("it", &sample("it"));
        fs::remove_file(room.world.home().join(".toolgate/settings.json")).unwrap();
        let program = room.world.root().join("server").display().to_string();
        let text = text.replace("PROGRAM", &program).replace("SCRIPT", "../it.json");
        room.world.write_in_workspace(file, &text).unwrap();
        let imported = room.run(&format!("mcp import {file} --from {format} --yes -s user"));
        assert_eq!(imported.code(), Some(0), "{format}: {}", imported.transcript());
        let tested = room.run("mcp test it");
        assert_eq!(tested.code(), Some(0), "{format}: {}{}", settings(&room), tested.transcript());
    }
}

#[test]
fn a_file_of_the_folder_cannot_vouch_for_itself() {
    let room = Room::new();
    let hostile = r#"{"mcpServers": {"evil": {"command": "x", "args": ["${cmd:touch pwned}"], "trust": true}}}"#;
    room.world.write_in_workspace(".gemini/settings.json", hostile).unwrap();
    let output = room.run("mcp import .gemini/settings.json --yes");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(output.stdout.contains("cannot vouch for itself"), "{}", output.stdout);
    assert_eq!(settings(&room), "", "it stays in the folder");
    let written = fs::read_to_string(room.world.workspace().join(".toolgate/settings.json")).unwrap();
    assert!(written.contains(r"\\${cmd:touch pwned}") && !written.contains("trust"), "{written}");
}

/// Restricting settings of Gemini CLI.
const GEMINI: &str = r#"{
  "mcpServers": {"notes": {"command": "notes-server", "trust": true}, "old": {"command": "old-server"}},
  "mcp": {"allowed": ["notes"], "excluded": ["old"]},
  "tools": {"exclude": ["delete_all"], "confirmationRequired": ["write_file"], "core": ["read_file"], "allowed": ["run_shell_command(git)"]},
  "security": {"disableYoloMode": true}
}"#;

const SAVED: &str = "[[rule]]\ntoolName = \"search\"\nmcpName = \"notes\"\ndecision = \"allow\"\npriority = 950\n";

fn gemini_room(policies: &[(&str, &str)]) -> Room {
    let room = Room::new();
    room.world.write_in_home(".gemini/settings.json", GEMINI).unwrap();
    for (name, text) in policies {
        room.world.write_in_home(format!(".gemini/policies/{name}"), text).unwrap();
    }
    room
}

#[test]
fn what_gemini_cli_holds_back_comes_along() {
    let room = gemini_room(&[("auto-saved.toml", SAVED)]);
    let (bad, good) = (room.world.home().join("bad"), room.world.home().join("good"));
    fs::create_dir_all(&good).unwrap();
    let folders = json!({bad.display().to_string(): "DO_NOT_TRUST", good.display().to_string(): "TRUST_FOLDER", "/srv/all": "TRUST_PARENT"});
    room.world.write_in_home(".gemini/trustedFolders.json", &folders.to_string()).unwrap();

    let shown = room.run("mcp import --from gemini-cli --dry-run");
    for said in [
        "tools.exclude: delete_all",
        "tools.confirmationRequired: write_file",
        "tools.core: read_file",
        "mcp.allowed: notes",
        "mcp.excluded: old",
        "security.disableYoloMode: true",
        "gemini-cli-auto-saved.toml from ",
        "gemini-cli-settings.toml from ",
        "DO_NOT_TRUST for ",
        "TRUST_FOLDER for ",
        "TRUST_PARENT for /srv/all: review the folder with `toolgate trust /srv/all`",
    ] {
        assert!(shown.stdout.contains(said), "{said}\n{}", shown.transcript());
    }
    assert!(!room.world.home().join(".toolgate").exists(), "only shown");

    let written = room.run("mcp import --from gemini-cli --yes");
    assert_eq!(written.code(), Some(0), "{}", written.transcript());
    let now: Value = serde_json::from_str(&settings(&room)).unwrap();
    let expected = json!({
        "tools": {"exclude": ["delete_all"], "confirmationRequired": ["write_file"], "core": ["read_file"]},
        "mcp": {"excluded": ["old"], "allowed": ["notes"]},
        "security": {"disableYoloMode": true},
        "mcpServers": {"notes": {"command": "notes-server", "trust": true}}
    });
    assert_eq!(now, expected);
    let policies = room.world.home().join(".toolgate/policies");
    assert_eq!(fs::read_to_string(policies.join("gemini-cli-auto-saved.toml")).unwrap(), SAVED);
    let rules = fs::read_to_string(policies.join("gemini-cli-settings.toml")).unwrap();
    assert!(rules.contains("priority = 240") && rules.contains("priority = 290"), "{rules}");
    assert_eq!(room.run("policy check").code(), Some(0), "{}", room.run("policy check").transcript());
    let trusted = room.json("trust --list --json").to_string();
    assert!(
        trusted.contains("DO_NOT_TRUST") && trusted.contains("TRUST_FOLDER") && !trusted.contains("TRUST_PARENT"),
        "{trusted}"
    );
    let yolo = room.run("policy explain workspace__read_file --mode yolo");
    assert!(yolo.code() == Some(2) && yolo.stderr.contains("forbidden"), "{}", yolo.transcript());

    let again = room.run("mcp import --from gemini-cli --yes");
    assert_eq!((again.code(), serde_json::from_str::<Value>(&settings(&room)).unwrap()), (Some(0), expected));
    assert!(again.stderr.contains("there is nothing to add"), "{}", again.transcript());
}

#[test]
fn decisions_and_policies_that_come_along_are_recorded() {
    let room = gemini_room(&[("auto-saved.toml", SAVED)]);
    let (bad, good) = (room.world.home().join("bad"), room.world.home().join("good"));
    fs::create_dir_all(&good).unwrap();
    let folders = json!({bad.display().to_string(): "DO_NOT_TRUST", good.display().to_string(): "TRUST_FOLDER"});
    room.world.write_in_home(".gemini/trustedFolders.json", &folders.to_string()).unwrap();
    let written = room.run("mcp import --from gemini-cli --yes --reason moved");
    assert_eq!(written.code(), Some(0), "{}", written.transcript());
    let shown = room.json("audit show --permissions --json");
    let part = |one: &Value| json!([one["change"], one["subject"], one["after"], one["reason"]]);
    let told: Vec<Value> = shown["permissions"].as_array().unwrap().iter().map(part).collect();
    for expected in [
        json!(["rules", "policies imported from Gemini CLI", null, "moved"]),
        json!(["distrust", bad.display().to_string(), "DO_NOT_TRUST", "moved"]),
        json!(["trust", good.display().to_string(), "TRUST_FOLDER", "moved"]),
    ] {
        assert!(told.contains(&expected), "{expected}: {told:?}");
    }
    let files: Vec<&Value> = shown["permissions"].as_array().unwrap().iter().map(|one| &one["files"]).collect();
    assert_eq!(files[0].as_array().unwrap().len(), 2, "{files:?}");
}

/// The person looks at the question for a while, and meanwhile the folder gets something of its own.
#[test]
fn a_folder_that_brings_something_by_now_is_not_trusted() {
    let room = gemini_room(&[]);
    let good = room.world.home().join("good");
    fs::create_dir_all(&good).unwrap();
    let folders = json!({good.display().to_string(): "TRUST_FOLDER"});
    room.world.write_in_home(".gemini/trustedFolders.json", &folders.to_string()).unwrap();
    let seen = screen::attended(&room, &["mcp", "import", "--from", "gemini-cli"], |person| {
        person.sees("Add ");
        let brought = r#"{"mcpServers": {"evil": {"command": "x"}}}"#;
        room.world.write_in_home("good/.toolgate/settings.json", brought).unwrap();
        person.presses("y\r");
    });
    assert_eq!(seen.code, Some(0), "{}", seen.plain());
    assert!(seen.plain().replace('\n', " ").contains("brings something by now"), "{}", seen.plain());
    let trusted = room.json("trust --list --json").to_string();
    assert!(!trusted.contains("TRUST_FOLDER"), "{trusted}");
}

/// Servers lose their `trust` if a restriction of the same settings cannot be imported.
#[test]
fn trust_does_not_come_without_its_restrictions() {
    const LOOK: &str = "[[rule]]\ntoolName = \"x\"\nargsPattern = '(?!a)b'\ndecision = \"deny\"\npriority = 1\n";
    type Policies = &'static [(&'static str, &'static str)];
    let cases: [(Policies, &str, &str); 5] = [
        (&[], r#"{"policyPaths": ["/dev/null"]}"#, "policies: `policyPaths` of your settings names other files"),
        (&[("look.toml", LOOK)], "{}", "Write two rules"),
        (&[("broken.toml", "[[rule]")], "{}", "broken.toml: line 1"),
        (&[], r#"{"mcp": {"allowed": ["mine"]}}"#, "`mcp.allowed`: your settings have a different list"),
        (&[], r#"{"tools": {"core": ["glob", "read_file"]}}"#, "`tools.core`: your settings have a different list"),
    ];
    for (policies, before, said) in cases {
        let room = gemini_room(policies);
        room.world.write_in_home(".toolgate/settings.json", before).unwrap();
        let output = room.run("mcp import --from gemini-cli --yes");
        assert_eq!(output.code(), Some(0), "{}", output.transcript());
        assert!(output.stdout.contains(said), "{said}\n{}", output.transcript());
        assert!(
            output.stdout.contains("not trusted here, because these restrictions are not imported"),
            "{}",
            output.transcript()
        );
        let now: Value = serde_json::from_str(&settings(&room)).unwrap();
        assert_eq!(now["mcpServers"]["notes"], json!({"command": "notes-server"}), "{now:#}");
        assert_eq!(now["tools"]["exclude"], json!(["delete_all"]), "{now:#}");
        let told = room.json("mcp import --from gemini-cli --json --dry-run");
        assert!(told["restrictions"]["lost"].as_array().is_some_and(|lost| !lost.is_empty()), "{told}");
    }
}

/// Saved approvals do not count while `security.disableAlwaysAllow` is on. A rule of the person that they shadow is no
/// error.
#[test]
fn saved_approvals_are_no_more_than_approvals() {
    let room = Room::new().with_questions().server("notes", &sample("notes")).without_workspace();
    let saved = "[[rule]]\ntoolName = \"echo\"\nmcpName = \"notes\"\ndecision = \"allow\"\npriority = 950\n";
    let own = "[[rule]]\ntoolName = \"echo\"\nmcpName = \"notes\"\ndecision = \"ask\"\npriority = 100\n";
    room.world.write_in_home(".toolgate/policies/auto-saved.toml", saved).unwrap();
    room.world.write_in_home(".toolgate/policies/own.toml", own).unwrap();
    let checked = room.run("policy check");
    assert_eq!(checked.code(), Some(0), "{}", checked.transcript());
    assert!(checked.transcript().contains("can never match"), "{}", checked.transcript());
    assert_eq!(room.run("call notes__echo message=x").code(), Some(0));
    let room = room.setting("security", json!({"disableAlwaysAllow": true}));
    let denied = room.run("call notes__echo message=x");
    assert_eq!(denied.code(), Some(3), "{}", denied.transcript());
    let checked = room.run("policy check").transcript();
    assert!(checked.contains("1 saved approval (`allow` at priority 950) does not count"), "{checked}");
}

/// In an untrusted folder, `trust` of a server does not count, even if the person's own servers run.
#[test]
fn trust_of_a_server_counts_in_trusted_folders_only() {
    let room = Room::new().with_questions().server("notes", &sample("notes")).without_workspace().with(
        "notes",
        "trust",
        json!(true),
    );
    let room = room.setting("security", json!({"folderTrust": {"userServers": true}}));
    assert_eq!(room.run("call notes__echo message=x").code(), Some(0), "the folder brings nothing");
    room.world
        .write_in_workspace(".toolgate/settings.json", r#"{"mcpServers": {"theirs": {"command": "x"}}}"#)
        .unwrap();
    let asked = room.run("call notes__echo message=x");
    assert_eq!(asked.code(), Some(3), "{}", asked.transcript());
    assert_eq!(room.run("call --yes notes__echo message=x").code(), Some(0));
}

/// A rule that allows all servers does not allow file access or the shell.
#[test]
fn a_permission_for_all_servers_is_not_one_for_the_built_in_one() {
    let rule = |text: &str| format!("[[rule]]\n{text}\ndecision = \"allow\"\npriority = 100\n");
    let cases = [
        (json!({}), rule("mcpName = \"*\"")),
        (json!({}), rule("mcpName = \"*\"\ntoolName = \"*\"")),
        (json!({}), rule("toolName = \"mcp_*\"")),
        (json!({"autoAllowInHeadless": true}), String::new()),
        (json!({"allowedApproves": true, "allowed": ["notes", "workspace"]}), String::new()),
        (json!({"allowedApproves": true, "allowed": ["*"]}), String::new()),
    ];
    for (mcp, policy) in cases {
        let room = Room::new().with_questions().server("notes", &sample("notes")).setting("mcp", mcp.clone());
        room.world.write_in_home(".toolgate/policies/all.toml", &policy).unwrap();
        let codes = [
            "call notes__echo message=x",
            "call workspace__write_file path=a content=b",
            "call workspace__run_shell_command command=make",
        ]
        .map(|line| room.run(line).code());
        assert_eq!(codes, [Some(0), Some(3), Some(3)], "{mcp} {policy}");
    }
    let room = Room::new().with_questions();
    room.world.write_in_home(".toolgate/policies/all.toml", &rule("mcpName = \"*\"").replace("allow", "deny")).unwrap();
    assert_eq!(room.run("call workspace__read_file path=a").code(), Some(3), "a restriction means it");
}
