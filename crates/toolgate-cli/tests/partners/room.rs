//! A sealed room with settings that name every partner, and the program to be run in it.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_testkit::TestWorld;
use toolgate_testkit::command::CommandOutput;

use crate::installed::{self, CommandLine};

/// Six partners start at once on a machine that may be busy.
const RUN_MAX: Duration = Duration::from_secs(110);

/// The servers in the order of the settings, which is neither the order of their names nor the order in which they come up. The built-in
/// one is written nowhere and stands last.
pub(crate) const SERVERS: [&str; 7] = ["time", "git", "files", "memory", "fastmcp", "everything", "workspace"];

/// What stands in `notes.txt`.
pub(crate) const NOTES: &str = "first line\nzweite Zeile ✓\n";

/// A home with settings, and a workspace with a file and a git repository.
pub(crate) struct Room {
    pub(crate) world: TestWorld,
}

impl Room {
    /// A room whose settings name every partner.
    pub(crate) fn with_every_partner() -> Self {
        let room = Self::empty();
        room.world.write_in_workspace("notes.txt", NOTES).expect("a file");
        room.make_repository();
        let graph = json!({"MEMORY_FILE_PATH": room.graph()});
        let entries = [
            ("time", entry(&installed::time().arg("--local-timezone").arg("UTC"))),
            ("git", entry(&installed::git())),
            ("files", entry(&installed::filesystem().arg(room.world.workspace().display().to_string()))),
            ("memory", with_env(entry(&installed::memory()), &graph)),
            ("fastmcp", entry(&installed::fastmcp())),
            ("everything", entry(&installed::everything().arg("stdio"))),
        ];
        room.world.write_in_home(".toolgate/settings.json", &settings(&entries)).expect("settings");
        room
    }

    /// A room without settings.
    pub(crate) fn empty() -> Self {
        Self { world: TestWorld::new().expect("a world") }
    }

    /// Writes settings that only `--config` names; their path.
    pub(crate) fn write_config(&self, entries: &[(&str, Value)]) -> String {
        let path = self.world.write_in_home("servers.json", &settings(entries)).expect("settings");
        path.display().to_string()
    }

    /// Writes a file into the workspace.
    pub(crate) fn write_in_workspace(&self, path: &str, text: &str) {
        self.world.write_in_workspace(path, text).expect("a file");
    }

    /// The path of something in the workspace.
    pub(crate) fn in_workspace(&self, path: &str) -> String {
        self.world.workspace().join(path).display().to_string()
    }

    /// The file of the memory server.
    pub(crate) fn graph(&self) -> PathBuf {
        self.world.home().join("graph.jsonl")
    }

    /// Runs `toolgate`.
    pub(crate) fn toolgate(&self, words: &[&str]) -> CommandOutput {
        let command = self.world.command(env!("CARGO_BIN_EXE_toolgate")).args(words.iter().copied());
        command.timeout(RUN_MAX).run().unwrap_or_else(|error| panic!("toolgate {words:?}: {error}"))
    }

    /// Runs `toolgate`, which must succeed; what it printed.
    #[track_caller]
    pub(crate) fn prints(&self, words: &[&str]) -> String {
        let output = self.toolgate(words);
        assert_eq!(output.code(), Some(0), "toolgate {words:?}\n{}", output.transcript());
        output.stdout
    }

    /// Runs `toolgate` with `--json`, which must succeed; what it printed.
    #[track_caller]
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        read_json(&self.prints(&[words, &["--json"]].concat()))
    }

    /// Calls a tool, which must complete; the report.
    #[track_caller]
    pub(crate) fn call(&self, words: &[&str]) -> Value {
        let report = self.json(&[&["call", "--yes"], words].concat());
        assert_eq!((&report["outcome"], &report["isError"]), (&json!("completed"), &json!(false)), "{report:#}");
        assert_eq!(report["name"], words[0], "{report:#}");
        assert!(report["durationMs"].is_u64(), "{report:#}");
        report
    }

    fn make_repository(&self) {
        self.world.write_in_workspace("repository/tracked.txt", "one\n").expect("a file");
        let steps: [&[&str]; 5] = [
            &["init", "--quiet", "--initial-branch", "main"],
            &["config", "user.name", "Room"],
            &["config", "user.email", "room@example.com"],
            &["add", "tracked.txt"],
            &["commit", "--quiet", "--message", "the first commit"],
        ];
        for words in steps {
            let git = self.world.command("git").args(words.iter().copied()).folder(self.in_workspace("repository"));
            let output = git.run().expect("git is installed");
            assert_eq!(output.code(), Some(0), "git {words:?}\n{}", output.transcript());
        }
        self.world.write_in_workspace("repository/new.txt", "not tracked\n").expect("a file");
    }
}

/// JSON that a program was to print.
#[track_caller]
pub(crate) fn read_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("no JSON: {error}\n{text}"))
}

/// The texts of a call's content, one after the other.
pub(crate) fn texts(report: &Value) -> String {
    let blocks = report["content"].as_array().expect("content is a list");
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// The setting of a server that is started.
pub(crate) fn entry(command: &CommandLine) -> Value {
    json!({"command": command.program, "args": command.args})
}

fn with_env(mut entry: Value, env: &Value) -> Value {
    entry["env"] = env.clone();
    entry
}

/// Settings with the servers in the order given, which a map of `serde_json` would not keep.
fn settings(entries: &[(&str, Value)]) -> String {
    let entries: Vec<String> = entries.iter().map(|(name, entry)| format!("    \"{name}\": {entry}")).collect();
    format!("{{\n  // written by a test\n  \"mcpServers\": {{\n{}\n  }}\n}}\n", entries.join(",\n"))
}
