//! Flags, variables and tool names of Gemini CLI.

use serde_json::{Value, json};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::room::{Room, sample};

#[test]
fn flags_mean_what_they_mean_there() {
    let room = Room::new().with_questions();
    let call = "call write_file path=a.txt content=b";
    // Arguments, and the exit code of a call that needs a confirmation.
    let cases = [
        (format!("{call} --headless"), 3),
        (format!("{call} --approval-mode auto_edit --headless"), 0),
        (format!("{call} --yolo --headless"), 0),
        (format!("-y {call} --headless"), 0),
        (format!("{call} --approval-mode default --headless"), 3),
        (format!("{call} --approval-mode plan --headless"), 3),
        (format!("{call} --yolo --mode default"), 2),
        (format!("{call} --approval-mode banana"), 2),
    ];
    for (line, code) in cases {
        let output = room.run(&line);
        assert_eq!(output.code(), Some(code), "{line}: {}", output.transcript());
    }
}

#[test]
fn yes_of_npx_belongs_to_the_server() {
    let room = Room::new();
    for (name, words, expected) in [
        ("files", "npx -y server-files", json!(["-y", "server-files"])),
        ("other", "npx x --log-file a.log --yolo", json!(["x", "--log-file", "a.log", "--yolo"])),
    ] {
        let output = room.run(&format!("mcp add --scope user {name} {words}"));
        assert_eq!(output.code(), Some(0), "{words}: {}", output.transcript());
        let text = std::fs::read_to_string(room.world.home().join(".toolgate/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(settings["mcpServers"][name]["args"], expected, "{words}");
    }
}

#[test]
fn tools_of_the_built_in_server_answer_to_their_other_names() {
    let room = Room::new();
    std::fs::write(room.world.workspace().join("a.txt"), "needle\n").unwrap();
    for (line, expected) in [
        ("call ReadFileTool path=a.txt", "needle"),
        ("call LSTool path=.", "a.txt"),
        ("call GlobTool pattern=*.txt", "a.txt"),
        ("call GrepTool pattern=needle", "needle"),
        ("call grep_search pattern=needle", "needle"),
        ("call workspace__ReadFileTool path=a.txt", "needle"),
    ] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(0), "{line}: {}", output.transcript());
        assert!(output.stdout.contains(expected), "{line}: {}", output.transcript());
    }
    let explained = room.json("policy explain WriteFileTool --args {} --json");
    assert_eq!((&explained["tool"], &explained["server"]), (&json!("write_file"), &json!("workspace")), "{explained}");
    assert_eq!(room.run("call NoTool path=a").code(), Some(7));
}

/// An own tool name wins over an alternative name of a built-in tool.
#[test]
fn a_tool_of_that_name_comes_first() {
    let script = Script::new("own").tool(ToolScript::new("ReadFileTool", Behaviour::text("mine")));
    let room = Room::new().server("own", &script);
    let output = room.run("call ReadFileTool");
    assert_eq!((output.code(), output.stdout.trim()), (Some(0), "mine"), "{}", output.transcript());
}

#[test]
fn other_names_count_in_lists() {
    let rooms = [
        Room::new().entry("workspace", json!({"builtin": "workspace", "excludeTools": ["ReadFileTool"]})),
        Room::new().setting("tools", json!({"exclude": ["readfiletool"]})),
    ];
    for room in rooms {
        let listed = room.run("tools workspace").stdout;
        assert!(!listed.contains("read_file") && listed.contains("write_file"), "{listed}");
    }
    let room =
        Room::new().entry("workspace", json!({"builtin": "workspace", "includeTools": ["ReadFileTool", "LSTool"]}));
    let listed = room.run("tools workspace").stdout;
    assert!(listed.contains("read_file") && listed.contains("list_directory") && !listed.contains("glob"), "{listed}");
    let entry = json!({"builtin": "workspace", "excludeTools": ["read_file(file_path=secret)"]});
    let room = Room::new().entry("workspace", entry);
    std::fs::write(room.world.workspace().join("secret"), "x").unwrap();
    assert_eq!(room.run("call read_file path=secret").code(), Some(3));
}

#[test]
fn the_administrator_switches_servers_off() {
    let room = Room::new().server("own", &sample("own")).setting("admin", json!({"mcp": {"enabled": false}}));
    let list = room.json("mcp list --json");
    let own = list["servers"].as_array().unwrap().iter().find(|server| server["name"] == "own").unwrap();
    assert_eq!((&own["status"], &own["reason"]), (&json!("blocked"), &json!("switched_off")), "{own}");
    let output = room.run("tools own");
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    assert!(output.stderr.contains("`admin.mcp.enabled`"), "{}", output.transcript());
    assert_eq!(room.run("tools workspace").code(), Some(0), "the built-in server is there");
}

#[test]
fn a_policy_of_the_command_line_only_restricts() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let room = Room::new();
    let deny = "[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\npriority = 5\n";
    let allow = "[[rule]]\ntoolName = \"write_file\"\ndecision = \"allow\"\npriority = 900\n";
    std::fs::write(room.world.workspace().join("p.toml"), format!("{deny}{allow}")).unwrap();
    std::fs::write(room.world.workspace().join("a"), "x").unwrap();
    assert_eq!(room.run("call read_file path=a").code(), Some(0));
    assert_eq!(room.run("call read_file path=a --admin-policy p.toml").code(), Some(3));
    // An empty variable of a script is not the absence of a restriction.
    let empty = room.command(["call", "read_file", "path=a", "--admin-policy", ""]).run().unwrap();
    assert_eq!(empty.code(), Some(2), "{}", empty.transcript());
    let asking = Room::new().with_questions();
    std::fs::write(asking.world.workspace().join("p.toml"), allow).unwrap();
    let output = asking.run("call write_file path=a content=b --admin-policy p.toml --headless");
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    // A question does not replace a denial.
    let room = Room::new();
    room.world
        .write_in_home(
            ".toolgate/policies/deny.toml",
            "[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\npriority = 5\n",
        )
        .unwrap();
    let ask = "[[rule]]\ntoolName = \"*\"\ndecision = \"ask_user\"\npriority = 900\n";
    std::fs::write(room.world.workspace().join("p.toml"), ask).unwrap();
    std::fs::write(room.world.workspace().join("a"), "x").unwrap();
    assert_eq!(room.run("call read_file path=a --admin-policy p.toml --yes").code(), Some(3));
    assert_eq!(room.run("call list_directory path=. --admin-policy p.toml --headless").code(), Some(3));
    assert_eq!(room.run("call list_directory path=. --admin-policy p.toml --yes").code(), Some(0));
    // Where policies of the system are in force, the flag has no effect.
    let room = Room::new();
    std::fs::write(room.world.workspace().join("p.toml"), deny).unwrap();
    std::fs::write(room.world.workspace().join("a"), "x").unwrap();
    let system = room.world.root().join("system/policies");
    std::fs::create_dir_all(&system).unwrap();
    std::fs::write(system.join("own.toml"), "").unwrap();
    for (mode, may_be_in_force) in [(0o755, true), (0o777, false), (0o775, false)] {
        std::fs::set_permissions(&system, std::fs::Permissions::from_mode(mode)).unwrap();
        let is_in_force = may_be_in_force && std::fs::metadata(&system).unwrap().uid() == 0;
        let output = room.run("call read_file path=a --admin-policy p.toml --yes");
        assert_eq!(output.code(), Some(if is_in_force { 0 } else { 3 }), "{mode:o} {}", output.transcript());
        let is_told = output.stderr.contains("`--admin-policy` is ignored");
        assert_eq!(is_told, is_in_force, "{mode:o} {}", output.transcript());
        assert_eq!(output.stderr.contains("the policies there are not used"), !is_in_force, "{}", output.transcript());
    }
}

#[test]
fn a_log_file_has_what_debug_shows() {
    use std::os::unix::fs::PermissionsExt as _;

    let room = Room::new().server("own", &sample("own"));
    let output = room.run("tools own --log-file run.log");
    assert_eq!(output.code(), Some(0), "{}", output.transcript());
    assert!(!output.stderr.contains("tools/list"), "{}", output.transcript());
    let file = room.world.workspace().join("run.log");
    let log = std::fs::read_to_string(&file).unwrap();
    assert!(log.lines().any(|line| line.contains("own →") && line.contains("tools/list")), "{log}");
    assert!(log.lines().all(|line| line.starts_with("20") && line.contains("Z ")), "{log}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let pipe = room.world.workspace().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let output = room.run("tools own --log-file pipe");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
    let output = room.run("tools own --log-file /no/such/folder/run.log");
    assert_eq!(output.code(), Some(2), "{}", output.transcript());
}

#[test]
fn a_server_that_is_refused_elsewhere_hints_at_its_variables() {
    let command = "echo 'HTTP 401: bad credentials' >&2; exit 1";
    let room = Room::new().entry("remote", json!({"command": "/bin/sh", "args": ["-c", command]}));
    let output = room.run("mcp test remote");
    assert_eq!(output.code(), Some(4), "{}", output.transcript());
    assert!(output.stdout.contains("HTTP 401") && output.stdout.contains("`inheritEnv`"), "{}", output.transcript());
    let script = Script::new("own").tool(ToolScript::new("get", Behaviour::tool_error("403 Forbidden")));
    let room = Room::new().server("own", &script);
    let output = room.run("call get");
    assert_eq!(output.code(), Some(1), "{}", output.transcript());
    assert!(output.stderr.contains("`env` or `inheritEnv` of `own`"), "{}", output.transcript());
}

/// The hint does not name a command that the editor's decision makes useless.
#[test]
fn an_untrusted_folder_of_an_editor_is_trusted_in_the_editor() {
    let room = Room::new();
    room.world.write_in_workspace(".toolgate/settings.json", "{}").unwrap();
    let output = room.command(["tools"]).env("TOOLGATE_IDE_TRUST", "untrusted").run().unwrap();
    assert_eq!(output.code(), Some(8), "{}", output.transcript());
    assert!(
        output.stderr.contains("trust it in the editor, or unset TOOLGATE_IDE_TRUST")
            && !output.stderr.contains("toolgate trust"),
        "{}",
        output.transcript()
    );
}
