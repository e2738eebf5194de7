//! A server that writes its secrets to stderr: they are shown nowhere.

use serde_json::{Value, json};

use crate::room::{Room, sample};

/// Secrets by where they come from, and one by its form alone, which nobody has told the program about.
const SECRETS: [&str; 4] =
    ["from-the-settings", "from-the-environment", "from a file", "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"];

fn entry(then: &str) -> Value {
    let script = format!("printenv FIRST SECOND >&2; echo key ${{file:~/key}} and {} >&2; {then}", SECRETS[3]);
    json!({
        "command": "sh",
        "args": ["-c", script],
        "env": {"FIRST": SECRETS[0], "SECOND": "Bearer ${env:SECOND_SECRET}"},
    })
}

fn room() -> Room {
    let mut room = Room::new().server("one", &sample("one"));
    room.world.set_variable("SECOND_SECRET", SECRETS[1]);
    room.world.write_in_home("key", SECRETS[2]).unwrap();
    room.entry("dies", entry("exit 3"))
        .entry("works", entry("exec ../server --script ../one.json --log ../works.log"))
        .without_workspace()
}

#[test]
fn a_secret_on_stderr_is_covered_wherever_stderr_is_shown() {
    let room = room();
    let rows = [
        "mcp test dies",
        "mcp test dies --json",
        "mcp test works",
        "tools --debug",
        "call works__echo message=hi --debug",
        "mcp list",
        "doctor",
        "doctor --json",
    ];
    let mut shown = 0;
    for line in rows {
        let output = room.run(line);
        let said = format!("{}{}", output.stdout, output.stderr);
        for secret in SECRETS {
            assert!(!said.contains(secret), "{line}: {secret}\n{}", output.transcript());
        }
        shown += usize::from(said.contains("[secret]"));
    }
    assert!(shown >= 4, "the rest of what was written is still shown: {shown}");
}
