//! What somebody would try to be let through with, and is not.

use serde_json::{Value, json};

use crate::room::{Room, sample};

const ALLOW_TWO: &str = "[[rule]]\nmcpName = \"two\"\ndecision = \"allow\"\npriority = 100\n";

fn allowing_two() -> Room {
    let room = Room::new().with_questions().server("two", &sample("two")).without_workspace();
    room.world.write_in_home(".toolgate/policies/mine.toml", ALLOW_TWO).unwrap();
    room
}

#[test]
fn a_folder_does_not_trust_its_own_servers() {
    let room = Room::new().with_questions();
    let entry = r#"{"mcpServers": {"workspace": {"builtin": "workspace", "trust": true}}}"#;
    room.world.write_in_workspace(".toolgate/settings.json", entry).unwrap();
    let output = room.command(["call", "--trust-folder", "run_shell_command", "command=touch pwned"]).run().unwrap();
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    assert!(output.stderr.contains("mcpServers.workspace.trust"), "{}", output.stderr);
    assert!(!room.world.workspace().join("pwned").exists());
}

#[test]
fn a_server_of_a_folder_does_not_inherit_what_a_name_is_allowed() {
    let room = allowing_two();
    assert_eq!(room.run("call echo message=x").code(), Some(0));
    let entry = r#"{"mcpServers": {"two": {"builtin": "workspace"}}}"#;
    room.world.write_in_workspace(".toolgate/settings.json", entry).unwrap();
    let words = ["call", "--trust-folder", "two__run_shell_command", "command=touch pwned"];
    let output = room.command(words).run().unwrap();
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    assert!(!room.world.workspace().join("pwned").exists());
    let explained = room.json("policy explain --trust-folder two__write_file --json");
    assert_eq!(explained["decision"], json!("ask"), "{explained}");
    let why = explained["adjustments"].to_string();
    assert!(why.contains("in place of your own"), "{why}");
}

#[test]
fn no_tool_writes_what_decides_about_tools() {
    let room = Room::new().with_questions();
    let write = |path: &str, folder: &std::path::Path| {
        let arguments = json!({"path": path, "content": "x"}).to_string();
        let words = ["call", "--mode", "autoEdit", "write_file", "--args", arguments.as_str()];
        room.command(words).folder(folder).run().unwrap()
    };
    let home = room.world.home();
    std::fs::create_dir_all(home.join(".toolgate/policies")).unwrap();
    assert_eq!(write("notes.md", &home).code(), Some(0));
    for path in [".toolgate/policies/x.toml", ".toolgate/grants.toml", ".toolgate/../.toolgate/settings.json"] {
        let output = write(path, &home);
        assert_eq!(output.code(), Some(3), "{path}: {}", output.transcript());
        assert!(output.stderr.contains("toolgate's own files"), "{path}: {}", output.stderr);
    }
    let output = write(".git/config", &room.world.workspace());
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    assert!(!room.world.workspace().join(".git/config").exists());
}

#[test]
fn git_runs_unasked_only_where_somebody_trusts_the_folder() {
    let room = Room::new().with_questions();
    let status = |more: &[&'static str]| {
        let words = ["call", "run_shell_command", "command=git status"];
        room.command(words.into_iter().chain(more.iter().copied())).run().unwrap()
    };
    let output = status(&[]);
    assert_eq!(output.code(), Some(3), "{}", output.transcript());
    assert_ne!(status(&["--trust-folder"]).code(), Some(3));
}

#[test]
fn rules_that_can_never_match_are_found() {
    let room = Room::new().with_questions().server("one", &sample("one"));
    let shadowed = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 5\n\
                    [[rule]]\ntoolName = \"echo\"\ndecision = \"allow\"\npriority = 4\n";
    room.world.write_in_home(".toolgate/policies/mine.toml", shadowed).unwrap();
    let output = room.run("policy check");
    assert_eq!(output.code(), Some(9), "{}", output.transcript());
    assert!(output.stdout.contains("mine.toml:5:1: error: can never match"), "{}", output.transcript());
    assert_eq!(room.run("tools").code(), Some(2), "a rule that means nothing was meant to mean something");

    let missing = |server: &str, key: &str| {
        format!(
            "[[rule]]\n{server}\ndecision = \"deny\"\npriority = 5\n[rule.when]\n\"/{key}\" = {{ equals = \"x\" }}\n"
        )
    };
    let built_in = missing("builtin = \"workspace\"\ntoolName = \"write_file\"", "pth");
    room.world.write_in_home(".toolgate/policies/mine.toml", &built_in).unwrap();
    let output = room.run("policy check");
    assert_eq!(output.code(), Some(9), "{}", output.transcript());
    assert!(output.stdout.contains("did you mean `path`"), "{}", output.transcript());

    let of_server = missing("mcpName = \"one\"\ntoolName = \"add\"", "c");
    room.world.write_in_home(".toolgate/policies/mine.toml", &of_server).unwrap();
    assert_eq!(room.run("policy check").code(), Some(0), "its tools are not known");
    let checked: Value = room.json("policy check --connect --json");
    assert_eq!(checked["ok"], json!(false), "{checked}");
    let message = checked["files"][0]["findings"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("points at nothing"), "{message}");
}
