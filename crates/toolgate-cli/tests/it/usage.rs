//! What is typed wrong, what is asked for, and readers who leave early.

use serde_json::json;
use toolgate_testkit::{Script, ToolScript};

use crate::room::Room;

#[test]
fn the_version_is_one_line() {
    let room = Room::new();
    let expected = format!("--- stdout\ntoolgate {}\n--- exit 0\n", env!("CARGO_PKG_VERSION"));
    for line in ["--version", "-V"] {
        room.check(line, &expected);
    }
}

#[test]
fn nothing_typed_is_answered_with_help_and_exit_2() {
    let room = Room::new();
    for line in ["mcp", "policy"] {
        let output = room.run(line);
        assert_eq!(output.code(), Some(2), "{line}");
        assert_eq!(output.stdout, "", "{line}: help that was not asked for is no result");
        assert!(output.stderr.contains("Usage: toolgate"), "{line}: {}", output.stderr);
        assert!(output.stderr.contains("list"), "{line}: {}", output.stderr);
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    let room = Room::new();
    let commands = [
        "",
        "mcp",
        "mcp add",
        "mcp remove",
        "mcp enable",
        "mcp disable",
        "mcp list",
        "mcp test",
        "tools",
        "call",
        "prompts",
        "prompt",
        "resources",
        "read",
        "trust",
        "settings",
        "settings schema",
        "settings reference",
        "completions",
        "workspace-server",
    ];
    for command in commands {
        let output = room.run(&format!("{command} --help"));
        assert_eq!(output.code(), Some(0), "{command}: {}", output.stderr);
        assert!(output.stdout.contains("Usage: toolgate"), "{command}: {}", output.stdout);
        assert!(output.stdout.contains("--config <FILE>"), "{command}: {}", output.stdout);
        let widest = output.stdout.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 120, "{command}: a line of {widest} characters");
    }
    let help = room.run("--help").stdout;
    for code in 0..=9 {
        assert!(help.contains(&format!("\n  {code}  ")), "exit code {code} is explained");
    }
}

#[test]
fn slips_are_answered_with_what_was_meant() {
    let room = Room::new();
    let cases = [
        ("tools --shcema", "tip: a similar argument exists: '--schema'"),
        ("tols", "tip: a similar subcommand exists: 'tools'"),
        ("mcp lst", "tip: some similar subcommands exist: 'test', 'list'"),
        ("call", "<NAME>"),
        ("call echo --timeout soon", "invalid value 'soon' for '--timeout <MS>'"),
        ("completions tcsh", "[possible values: bash, elvish, fish, powershell, zsh]"),
        ("tools one --server two", "error: `one` and `--server two` are two servers"),
    ];
    for (line, expected) in cases {
        let output = room.run(line);
        assert_eq!(output.code(), Some(2), "{line}");
        assert_eq!(output.stdout, "", "{line}");
        assert!(output.stderr.contains(expected), "{line}: {}", output.stderr);
    }
}

#[test]
fn programs_are_told_in_json() {
    let room = Room::new();
    let cases = [
        ("tools --json --shcema", "usage", 2, "unexpected argument '--shcema' found"),
        ("call echo --raw --json", "usage", 2, "the argument '--raw' cannot be used with '--json'"),
        ("tools nobody --json", "unknown_server", 7, "there is no server `nobody`"),
        ("call nothing --json", "unknown_tool", 7, "there is no tool `nothing`"),
        ("mcp list --json --config missing.json", "settings", 2, "no such file"),
        ("call echo --json --args [1]", "usage", 2, "--args: the arguments must be a JSON object"),
    ];
    for (line, kind, code, message) in cases {
        let said = room.json(line);
        assert_eq!(said["error"]["kind"], json!(kind), "{line}: {said}");
        assert_eq!(said["error"]["code"], json!(code), "{line}: {said}");
        assert!(said["error"]["message"].as_str().unwrap().contains(message), "{line}: {said}");
        assert_eq!(room.run(line).code(), Some(code), "{line}");
        let mut keys: Vec<&String> = said["error"].as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, ["code", "hint", "kind", "message", "server"], "{line}");
    }
}

#[test]
fn a_reader_who_leaves_early_is_no_error() {
    let mut script = Script::new("many");
    for number in 0..3000 {
        script = script.tool(ToolScript::text(format!("tool_{number}"), "ok").description("x".repeat(80)));
    }
    let room = Room::new().server("many", &script);
    let program = env!("CARGO_BIN_EXE_toolgate");
    for format in ["", "--json"] {
        let line = format!("{{ {program} tools {format}; echo \"exit $?\" >&2; }} | head -c 10 >/dev/null");
        let output = room.world.command("/bin/sh").args(["-c", line.as_str()]).run().unwrap();
        assert_eq!(output.stderr, "exit 0\n", "tools {format}");
    }
}
