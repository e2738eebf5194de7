//! Rows about shell commands: the decision of the rules, and the commands that really run.

use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};
use toolgate::filter::Arguments;
use toolgate::policy::file::{FileSource, parse};
use toolgate::policy::{CallFacts, Decision, Mode, Policy, Presence, Rule, SHELL_TOOL, Tier, default_rules};
use toolgate::{Asker, ServerName};
use toolgate_testkit::shell_room::{NoShellRoom, ShellJob, ShellRoom, ShellRun};
use toolgate_testkit::shell_room_path;

/// Number of rooms in use at a time. Commands spend most of their time waiting.
const ROOMS: usize = 4;

/// Long enough for a slow start of `npx` on a busy machine.
const ROW_MILLISECONDS_MAX: u64 = 10_000;

/// The columns of each row of a table, in which `␤` stands for a line feed and `␍` for a carriage return.
pub(crate) fn rows<const COLUMNS: usize>(table: &'static str) -> Vec<[String; COLUMNS]> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with("## "));
    let row = |line: &'static str| {
        let columns: Vec<String> =
            line.splitn(COLUMNS, " ¦ ").map(|column| column.replace('␤', "\n").replace('␍', "\r")).collect();
        columns.try_into().unwrap_or_else(|_| panic!("{line}: has no {COLUMNS} columns"))
    };
    lines.map(row).collect()
}

/// A rule about shell commands that begin with these words, or about all of them.
fn rule(decision: Decision, prefix: Option<&str>) -> Vec<Rule> {
    let priority = if decision == Decision::Deny { 200 } else { 100 };
    let mut text =
        format!("[[rule]]\ntoolName = \"{SHELL_TOOL}\"\ndecision = \"{}\"\npriority = {priority}\n", decision.as_str());
    if let Some(prefix) = prefix {
        text += &format!("commandPrefix = {}\n", Value::from(prefix));
    }
    if decision == Decision::Allow {
        text += "allowRedirection = true\n";
    }
    let parsed = parse(&text, &FileSource::new(Tier::User, Path::new("rows.toml")));
    assert_eq!(parsed.findings, [], "{text}");
    parsed.rules
}

/// Rules that deny some prefixes and allow others; without any of those they allow every command.
pub(crate) fn policy(denied: &[&str], allowed: &[&str]) -> Policy {
    let everything = allowed.is_empty().then(|| rule(Decision::Allow, None));
    let denied = denied.iter().map(|prefix| rule(Decision::Deny, Some(prefix)));
    let allowed = allowed.iter().map(|prefix| rule(Decision::Allow, Some(prefix)));
    Policy::new(default_rules().into_iter().chain(denied.chain(allowed).chain(everything).flatten()).collect())
}

/// The decision on a command of the built-in server.
pub(crate) fn decide(policy: &Policy, command: &str, mode: Mode) -> Decision {
    let server = ServerName::new("workspace").unwrap();
    let (arguments, folder) = (json!({ "command": command }), Path::new("/home/me/project"));
    let verdict = policy.decide(&CallFacts {
        server: &server,
        builtin: Some("workspace"),
        tool: SHELL_TOOL,
        arguments: &Arguments::new(&arguments).in_folder(folder),
        annotations: &Value::Null,
        mode,
        presence: Presence::Interactive,
        asker: Asker::Model,
        subagent: None,
        folder,
        folder_is_trusted: true,
        remembered: None,
    });
    verdict.decision
}

/// A command with its environment.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) command: String,
    pub(crate) stubs: Vec<String>,
    pub(crate) has_repository: bool,
}

/// Runs each command under `sh` and under `bash`, and returns the two runs in that order.
pub(crate) fn run_all(wanted: &[Wanted]) -> Result<Vec<[ShellRun; 2]>, NoShellRoom> {
    let program = shell_room_path().unwrap();
    let opened: Result<Vec<ShellRoom>, NoShellRoom> = (0..ROOMS).map(|_| ShellRoom::open(&program)).collect();
    let next = Mutex::new(wanted.iter().enumerate());
    let runs = Mutex::new(Vec::new());
    let work = |mut room: ShellRoom| {
        while let Some((at, wanted)) = { next.lock().unwrap().next() } {
            let both = ["sh", "bash"].map(|shell| {
                let job = ShellJob {
                    shell: shell.to_owned(),
                    command: wanted.command.clone(),
                    stubs: wanted.stubs.clone(),
                    has_repository: wanted.has_repository,
                    milliseconds_max: ROW_MILLISECONDS_MAX,
                };
                room.run(&job).unwrap_or_else(|error| panic!("{}: {error}", wanted.command))
            });
            runs.lock().unwrap().push((at, both));
        }
    };
    let rooms = opened?;
    std::thread::scope(|scope| {
        for room in rooms {
            scope.spawn(|| work(room));
        }
    });
    let mut runs = runs.into_inner().unwrap();
    runs.sort_by_key(|(at, _)| *at);
    Ok(runs.into_iter().map(|(_, both)| both).collect())
}
