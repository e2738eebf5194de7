//! An imported home of Gemini CLI: every call is decided as by its policy engine, or more strictly.

use serde_json::{Value, json};
use toolgate_testkit::{Script, ToolScript, scripted_server_path};

use crate::installed;
use crate::room::{Room, read_json};

/// A home folder: settings and policy files.
struct Home {
    settings: Value,
    policies: &'static [(&'static str, &'static str)],
    /// Messages that the import report must contain.
    said: &'static [&'static str],
    /// The commands that are denied there only by a policy that is not taken over.
    stays_behind: &'static [&'static str],
}

/// Rules as Gemini CLI saves them after the answer "always".
const SAVED: &str = r#"
[[rule]]
decision = "allow"
priority = 950
toolName = "create_issue"
mcpName = "github"

[[rule]]
decision = "allow"
priority = 950
toolName = "run_shell_command"
commandPrefix = "cargo build"

[[rule]]
decision = "allow"
priority = 950
toolName = "*"
mcpName = "wiki"

[[rule]]
decision = "allow"
priority = 950
toolName = "search"
mcpName = "wiki"
"#;

/// Rules with priorities between the derived ones of Gemini CLI, some of which have another order here.
const OWN: &str = r#"
[[rule]]
toolName = "replace"
decision = "allow"
priority = 320

[[rule]]
toolName = "write_file"
decision = "allow"
priority = 160

[[rule]]
mcpName = "github"
toolName = "list_issues"
decision = "allow"
priority = 200

[[rule]]
mcpName = "github"
toolName = "delete_repo"
decision = "allow"
priority = 390

[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git log", "make"]
decision = "allow"
priority = 120

[[rule]]
toolName = "run_shell_command"
commandPrefix = "make clean"
decision = "deny"
priority = 280

[[rule]]
mcpName = "*"
toolName = "*"
decision = "deny"
priority = 5
modes = ["autoEdit"]
"#;

fn homes() -> [Home; 3] {
    [
        Home {
            settings: json!({
                "tools": {"exclude": ["mcp_github_delete_repo", "web_fetch"], "confirmationRequired": ["replace", "mcp_files_write"]},
                "mcp": {"excluded": ["old"]},
                "security": {"disableYoloMode": true, "folderTrust": {"enabled": true}},
                "ui": {"theme": "GitHub"},
            }),
            policies: &[("auto-saved.toml", SAVED), ("own.toml", OWN)],
            stays_behind: &[],
            said: &[
                "tools.exclude: mcp_github_delete_repo, web_fetch",
                "mcp.excluded: old",
                "security.disableYoloMode: true",
            ],
        },
        Home {
            settings: json!({
                "tools": {"core": ["ReadFileTool", "glob", "run_shell_command(ls)", "run_shell_command(make)"], "allowed": ["mcp_wiki_search"]},
                "mcp": {"allowed": ["github", "files", "wiki"]},
                "security": {"disableAlwaysAllow": true},
            }),
            policies: &[("auto-saved.toml", SAVED), ("own.toml", OWN)],
            stays_behind: &[],
            said: &[
                "tools.core: ReadFileTool, glob",
                "mcp.allowed: github, files, wiki",
                "security.disableAlwaysAllow: true",
            ],
        },
        Home {
            settings: json!({"tools": {"allowed": ["run_shell_command(git status)", "ShellTool(make)"], "confirmationRequired": ["run_shell_command"]}}),
            policies: &[(
                "look.toml",
                "[[rule]]\ntoolName = \"run_shell_command\"\nargsPattern = '\"command\":\"git (?!push)'\ndecision = \"deny\"\npriority = 500\n",
            )],
            stays_behind: &["git status", "git log -1"],
            said: &[
                "look.toml: line 3: `argsPattern` uses look-around",
                "not trusted here, because these restrictions are not imported",
            ],
        },
    ]
}

/// Server (none for a built-in tool), tool and arguments.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let shell = |command: &str| json!({"command": command});
    vec![
        ("", "read_file", json!({"file_path": "notes.txt", "path": "notes.txt"})),
        ("", "glob", json!({"pattern": "*.md"})),
        ("", "write_file", json!({"path": "a.txt", "content": "x"})),
        ("", "replace", json!({"path": "a.txt", "old_string": "a", "new_string": "b"})),
        ("", "run_shell_command", shell("git status")),
        ("", "run_shell_command", shell("git log -1")),
        ("", "run_shell_command", shell("git push origin")),
        ("", "run_shell_command", shell("make")),
        ("", "run_shell_command", shell("make clean")),
        ("", "run_shell_command", shell("make && make clean")),
        ("", "run_shell_command", shell("cargo build --release")),
        ("", "run_shell_command", shell("cargo publish")),
        ("", "run_shell_command", shell("rm -rf build")),
        ("", "run_shell_command", shell("ls")),
        ("github", "list_issues", json!({})),
        ("github", "create_issue", json!({"title": "x"})),
        ("github", "delete_repo", json!({"name": "x"})),
        ("files", "read", json!({"path": "a"})),
        ("files", "write", json!({"path": "a"})),
        ("wiki", "search", json!({"text": "x"})),
        ("wiki", "edit", json!({"page": "x"})),
        ("old", "run", json!({})),
    ]
}

/// The mode of each call, and whether it is headless.
const WAYS: [(&str, bool); 3] = [("default", false), ("default", true), ("autoEdit", false)];

/// Read-only commands in the folder run here without a question in headless mode, as `read_file` does in both
/// programs. The page about compatibility says so.
const ONLY_LOOK: [&str; 2] = ["git status", "ls"];

impl Home {
    fn servers() -> [(&'static str, &'static [&'static str], bool); 4] {
        [
            ("github", &["list_issues", "create_issue", "delete_repo"], false),
            ("files", &["read", "write"], true),
            ("wiki", &["search", "edit"], false),
            ("old", &["run"], true),
        ]
    }

    /// Writes the home and returns its settings.
    fn write(&self, room: &Room) -> Value {
        let mut servers = json!({});
        for (name, tools, trust) in Self::servers() {
            let script =
                tools.iter().fold(Script::new(name), |script, tool| script.tool(ToolScript::text(*tool, "done")));
            let path = room.world.write_in_home(format!("{name}.script"), &script.to_json()).unwrap();
            let program = scripted_server_path().unwrap();
            servers[name] = json!({"command": program, "args": ["--script", path], "trust": trust});
        }
        let mut settings = self.settings.clone();
        settings["mcpServers"] = servers;
        room.world.write_in_home(".gemini/settings.json", &settings.to_string()).unwrap();
        for (name, text) in self.policies {
            room.world.write_in_home(format!(".gemini/policies/{name}"), text).unwrap();
        }
        let (workspace, other) = (room.world.workspace(), room.world.home().join("downloads"));
        let folders =
            json!({workspace.display().to_string(): "TRUST_FOLDER", other.display().to_string(): "DO_NOT_TRUST"});
        room.world.write_in_home(".gemini/trustedFolders.json", &folders.to_string()).unwrap();
        settings
    }

    /// The decisions of the policy engine of Gemini CLI, one for each mode and call.
    fn decided_there(room: &Room, settings: &Value) -> Vec<String> {
        let (command, packages) = installed::gemini_policy();
        let calls: Vec<Value> = WAYS
            .iter()
            .flat_map(|(mode, headless)| {
                calls().into_iter().map(move |(server, name, args)| {
                    json!({"server": server, "name": name, "args": args, "mode": mode, "headless": headless})
                })
            })
            .collect();
        let asked = json!({"packages": packages, "settings": settings, "trusted": true, "calls": calls});
        let command = room.world.command(command.program).args(command.args).input(asked.to_string());
        let output = command.timeout(std::time::Duration::from_secs(110)).run().unwrap();
        assert_eq!(output.code(), Some(0), "{}", output.transcript());
        serde_json::from_str(&output.stdout).unwrap()
    }
}

/// The decision of toolgate on one call. A tool that cannot be reached counts as denied.
fn decided_here(room: &Room, server: &str, tool: &str, args: &Value, (mode, headless): (&str, bool)) -> String {
    let server = if server.is_empty() { "workspace" } else { server };
    let (name, args) = (format!("{server}__{tool}"), args.to_string());
    let mut words = vec!["policy", "explain", &name, "--args", &args, "--mode", mode, "--json"];
    if headless {
        words.push("--headless");
    }
    let output = room.toolgate(&words);
    assert!(matches!(output.code(), Some(0 | 2..=7)), "{}", output.transcript());
    if output.code() != Some(0) {
        return "deny".to_owned();
    }
    let explained = read_json(&output.stdout);
    let decision = explained["decision"].as_str().unwrap();
    if headless && decision == "ask" { "deny".to_owned() } else { decision.to_owned() }
}

fn strictness(decision: &str) -> usize {
    ["allow", "ask", "deny"].iter().position(|one| *one == decision).unwrap()
}

#[test]
fn an_imported_home_decides_as_gemini_cli_does_or_more_strictly() {
    for (at, home) in homes().iter().enumerate() {
        let room = Room::empty();
        let settings = home.write(&room);
        let imported = room.toolgate(&["mcp", "import", "--from", "gemini-cli", "--yes"]);
        assert_eq!(imported.code(), Some(0), "{}", imported.transcript());
        for said in home.said {
            assert!(imported.stdout.contains(said), "home {at}: {said}\n{}", imported.transcript());
        }
        let distrusted = room.json(&["trust", "--list"]).to_string();
        assert!(distrusted.contains("DO_NOT_TRUST") && distrusted.contains("downloads"), "{distrusted}");

        let there = Home::decided_there(&room, &settings);
        let (mut looser, mut alike) = (Vec::new(), 0);
        let mut there = there.iter();
        for way in WAYS {
            for (server, tool, args) in calls() {
                let theirs = there.next().unwrap();
                let ours = decided_here(&room, server, tool, &args, way);
                alike += usize::from(ours == *theirs);
                let only_looks = way.1 && args["command"].as_str().is_some_and(|command| ONLY_LOOK.contains(&command));
                let is_said = args["command"].as_str().is_some_and(|command| home.stays_behind.contains(&command));
                if strictness(&ours) < strictness(theirs) && !only_looks && !is_said {
                    looser.push(format!("{server}/{tool} {args} {way:?}: {ours} here, {theirs} there"));
                }
            }
        }
        assert!(looser.is_empty(), "home {at}: {looser:#?}\n{}", imported.transcript());
        assert!(alike >= 30, "home {at}: only {alike} of {} are decided alike", WAYS.len() * calls().len());
    }
}
