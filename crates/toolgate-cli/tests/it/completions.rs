//! `toolgate completions`: scripts for shells, and the answers they get.

use crate::room::{Room, sample};

#[test]
fn every_shell_gets_a_script() {
    let room = Room::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = room.run(&format!("completions {shell}"));
        assert_eq!(output.code(), Some(0), "{shell}: {}", output.transcript());
        assert!(output.stdout.contains("toolgate") && output.stdout.contains("COMPLETE"), "{shell}: {}", output.stdout);
        assert_eq!(output.stderr, "", "{shell}");
    }
}

#[test]
fn commands_options_and_servers_are_completed_without_starting_anything() {
    let room = Room::new().server("first", &sample("first")).server("second", &sample("second"));
    let cases: [(&[&str], &[&str]); 5] = [
        (&["to"], &["tools"]),
        (&["tools", ""], &["first", "second", "workspace"]),
        (&["--server", "s"], &["second"]),
        (&["mcp", "test", "f"], &["first"]),
        (&["tools", "--sch"], &["--schema"]),
    ];
    for (words, expected) in cases {
        let mut line = vec!["--", "toolgate"];
        line.extend(words);
        let output = room.command(line).env("COMPLETE", "fish").run().unwrap();
        assert_eq!(output.code(), Some(0), "{words:?}: {}", output.transcript());
        let offered: Vec<&str> =
            output.stdout.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        for name in expected {
            assert!(offered.contains(name), "{words:?}: {offered:?}");
        }
    }
    assert!(!room.log("first").exists(), "no server was started");
}
