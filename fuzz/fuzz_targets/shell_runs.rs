//! Random command lines that are run: a rule that denies exactly one started command must stop the line.
//!
//! Each byte of an input chooses one alternative of a grammar of wrappers, quotes and runners. The line runs in namespaces of its own;
//! `SHELL_ROOM` is the path of the `shell-room` program.

#![no_main]

use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use toolgate::filter::Arguments;
use toolgate::policy::file::{FileSource, parse};
use toolgate::policy::{CallFacts, Decision, Mode, Policy, Presence, SHELL_TOOL, Tier, default_rules};
use toolgate::{Asker, ServerName};
use toolgate_testkit::shell_room::ShellRoom;
use toolgate_testkit::shell_room::lines::{compare, line};

/// Opened once. Every line gets an empty folder in it.
static ROOM: LazyLock<Mutex<ShellRoom>> = LazyLock::new(|| {
    #[expect(clippy::disallowed_methods, reason = "a fuzz target has no other arguments of its own")]
    let program = std::env::var_os("SHELL_ROOM");
    let program = program.unwrap_or_else(|| panic!("SHELL_ROOM is not set; fuzz/run sets it"));
    Mutex::new(ShellRoom::open(Path::new(&program)).unwrap_or_else(|error| panic!("{error}")))
});

fuzz_target!(|input: &[u8]| {
    let line = line(input);
    let mut room = ROOM.lock().unwrap_or_else(PoisonError::into_inner);
    let compared = compare(&mut room, &line, is_held_back).unwrap_or_else(|error| panic!("{line:?}: {error}"));
    assert!(compared.milder.is_empty(), "{:?}", compared.milder);
});

/// Whether rules that deny these words, and allow everything else, let a line through in no mode.
fn is_held_back(ran: &[String], line: &str) -> bool {
    let quoted: Vec<String> = ran.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    let rule = |decision: &str, priority: u16, more: String| {
        format!("[[rule]]\ntoolName = \"{SHELL_TOOL}\"\ndecision = \"{decision}\"\npriority = {priority}\n{more}\n")
    };
    let text = rule("deny", 200, format!("commandPrefix = {}", Value::from(quoted.join(" "))))
        + &rule("allow", 100, "allowRedirection = true".to_owned());
    let parsed = parse(&text, &FileSource::new(Tier::User, Path::new("p.toml")));
    assert!(!parsed.has_errors(), "{text}: {:?}", parsed.findings);
    let policy = Policy::new(default_rules().into_iter().chain(parsed.rules).collect());
    let Ok(server) = ServerName::new("workspace") else { return false };
    let (arguments, folder) = (json!({ "command": line }), Path::new("/home/me/project"));
    [Mode::Default, Mode::Yolo].into_iter().all(|mode| {
        let facts = CallFacts {
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
        };
        policy.decide(&facts).decision != Decision::Allow
    })
}
