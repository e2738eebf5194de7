//! A host built as in the README: broken files are refused, and all settings count.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate::audit::{AuditOptions, FileAudit};
use toolgate::call::{Confirmation, ConfirmationRequest, Confirmer};
use toolgate::grants::Remember;
use toolgate::trust::FolderStanding;
use toolgate::{
    CallOutcome, CallRules, DiscoveredTool, ErrorKind, Host, HostEnv, LiveSettings, Result, Setup, SetupOptions,
};
use toolgate_testkit::{Behaviour, Script, ToolScript};

use crate::lifecycle_room::in_time;
use crate::support::{LONG, Room};

/// The program of the README, with a server and arguments chosen by the test.
async fn run(env: &HostEnv, tool: &str, arguments: Value) -> Result<CallOutcome> {
    let env = env.clone();
    // README: begin
    let setup = Setup::read(&env, &SetupOptions::default())?;
    let host = setup.host()?.audit(FileAudit::open(&env, AuditOptions::default())).build();
    host.connect(setup.admitted()?).await;
    // README: end
    let tool = DiscoveredTool::of(&host.catalog(), "files", tool)?.timeout(Duration::from_secs(30));
    let outcome = tool.execute(host.calls(), arguments.into()).await;
    host.shutdown().await;
    Ok(outcome)
}

fn room() -> Room {
    let script = Script::new("files")
        .tool(ToolScript::text("read_file", "content"))
        .tool(ToolScript::new("environment", Behaviour::text("variables")));
    Room::new().server_with("files", &script, &json!({"trust": true, "env": {"X": "1"}}))
}

/// A file below the home, the administrator's folder or the workspace, and its text.
type File = (&'static str, &'static str);

/// The outcome of a call of `read_file` with these files.
async fn became(files: &[File], arguments: Value) -> String {
    let room = room();
    let env = room.env();
    room.write_settings();
    for (name, text) in files {
        let (place, path) = name.split_once('/').unwrap();
        let folder = if place == "user" { &env.dirs.user } else { &env.dirs.system };
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = match std::fs::read_to_string(&file) {
            // The servers stay.
            Ok(servers) => servers.replacen('{', &format!("{{{text},"), 1),
            Err(_) => (*text).to_owned(),
        };
        std::fs::write(file, text).unwrap();
    }
    match tokio::time::timeout(LONG, run(&env, "read_file", arguments)).await.unwrap() {
        Ok(outcome) => outcome.as_str().to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

#[tokio::test]
async fn what_is_broken_is_refused_and_what_is_written_holds() {
    const CHECKER: &str = "[[safety_checker]]\ntoolName = \"*\"\n[safety_checker.checker]\ntype = \"in-process\"\nname = \"allowed-path\"\n";
    const DENY: &str = "[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\npriority = 200\n";
    let inside = json!({"path": "a.txt"});
    let cases: &[(&[File], Value, &str)] = &[
        (&[], inside.clone(), "completed"),
        (&[("user/policies/a.toml", DENY)], inside.clone(), "denied"),
        (&[("user/policies/a.toml", CHECKER)], json!({"path": "/etc/passwd"}), "denied"),
        (&[("user/policies/a.toml", CHECKER)], inside.clone(), "completed"),
        (&[("user/policies/a.toml", "[[rule]\nthis is no TOML")], inside.clone(), "Policy"),
        (&[("user/policies/a.toml", "[[rule]]\ntoolName = \"x\"\ndecison = \"deny\"\n")], inside.clone(), "Policy"),
        (&[("system/settings.json", "{ this is broken")], inside.clone(), "Settings"),
        (&[("system/system-defaults.json", "[]")], inside.clone(), "Settings"),
        (&[("system/settings.json", "{\"mcp\": {\"excluded\": [\"files\"]}}")], inside.clone(), "UnknownTool"),
        (&[("user/settings.json", "\"general\": {\"defaultApprovalMode\": \"plan\"}")], inside.clone(), "denied"),
        (&[("user/settings.json", "\"policyPaths\": [\"not-there.toml\"]")], inside.clone(), "Policy"),
        (&[("user/settings.json", "\"tools\": {\"exclude\": [\"read_file\"]}")], inside.clone(), "denied"),
    ];
    for (files, arguments, expected) in cases {
        assert_eq!(became(files, arguments.clone()).await, *expected, "{files:?} {arguments}");
    }
}

#[tokio::test]
async fn rules_that_cannot_be_used_are_never_taken() {
    let room = room();
    let env = room.env();
    room.write_settings();
    let setup = Setup::read(&env, &SetupOptions::default()).unwrap();
    let host = setup.host().unwrap().build();
    in_time(host.connect(room.servers())).await;

    std::fs::create_dir_all(env.dirs.user.join("policies")).unwrap();
    std::fs::write(env.dirs.user.join("policies/a.toml"), "no TOML").unwrap();
    let broken = Setup::read(&env, &SetupOptions::default()).unwrap();
    assert_eq!(host.use_rules(&broken.rulebook()).unwrap_err().kind(), ErrorKind::Policy);
    assert_eq!(broken.call_rules().unwrap_err().kind(), ErrorKind::Policy);
    assert_eq!(broken.host().map(drop).unwrap_err().kind(), ErrorKind::Policy);
    let live = LiveSettings::read(env.clone(), SetupOptions::default()).map(drop);
    assert_eq!(live.unwrap_err().kind(), ErrorKind::Policy);

    // The rules of a broken book deny every call, even for a caller that ignores the error.
    let permissions = toolgate::policy::Permissions::new(broken.rulebook().policy);
    let careless =
        Host::builder(setup.env.clone()).call_rules(CallRules { permissions, ..CallRules::default() }).build();
    in_time(careless.connect(room.servers())).await;
    for (host, expected) in [(&host, "completed"), (&careless, "denied")] {
        let tool = DiscoveredTool::of(&host.catalog_now(), "files", "read_file").unwrap();
        let outcome = in_time(tool.execute(host.calls(), json!({}).into())).await;
        assert_eq!(outcome.as_str(), expected, "{outcome:?}");
    }
}

#[tokio::test]
async fn a_folder_that_is_not_trusted_has_no_commands_that_only_look() {
    let room = room();
    let env = room.env();
    room.write_settings();
    let setup = Setup::read(&env, &SetupOptions::default()).unwrap();
    let host = setup.host().unwrap().build();
    in_time(host.connect(setup.admitted().unwrap())).await;
    let look = async || {
        let tool = DiscoveredTool::of(&host.catalog_now(), "workspace", "run_shell_command").unwrap();
        in_time(tool.execute(host.calls(), json!({"command": "ls"}).into())).await.as_str().to_owned()
    };
    assert_eq!(look().await, "completed");

    std::fs::create_dir_all(env.workspace.join(".toolgate")).unwrap();
    std::fs::write(env.workspace.join(".toolgate/settings.json"), "{}").unwrap();
    let distrusted = Setup::read(&env, &SetupOptions::default()).unwrap();
    assert_eq!(distrusted.call_rules().unwrap().folder, FolderStanding::Distrusted);
    host.use_rules(&distrusted.rulebook()).unwrap();
    assert_eq!(look().await, "denied");

    let options = SetupOptions { trust_folder: Some(true), ..SetupOptions::default() };
    let trusted = Setup::read(&env, &options).unwrap();
    assert_eq!(trusted.call_rules().unwrap().folder, FolderStanding::Trusted);
    host.use_rules(&trusted.rulebook()).unwrap();
    assert_eq!(look().await, "completed");
}

#[derive(Debug)]
struct AlwaysYes;

impl Confirmer for AlwaysYes {
    fn confirm(&self, _question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        Box::pin(async { Confirmation::Proceed(Remember::No) })
    }
}

#[tokio::test]
async fn a_confirmer_that_is_set_is_asked() {
    let script = Script::new("files").tool(ToolScript::text("read_file", "content"));
    let room = Room::new().server("files", &script);
    for (asks, expected) in [(false, "denied"), (true, "completed")] {
        room.write_settings();
        let setup = Setup::read(&room.env(), &SetupOptions::default()).unwrap();
        let builder = setup.host().unwrap();
        let host = if asks { builder.confirmer(Arc::new(AlwaysYes)).build() } else { builder.build() };
        in_time(host.connect(room.servers())).await;
        let tool = DiscoveredTool::of(&host.catalog_now(), "files", "read_file").unwrap();
        let outcome = in_time(tool.execute(host.calls(), json!({}).into())).await;
        assert_eq!(outcome.as_str(), expected, "{outcome:?}");
    }
}

/// The lines in the README are the lines that ran.
#[test]
fn the_readme_shows_what_was_run() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (_, after) = readme.split_once("```rust\n").unwrap();
    let (shown, _) = after.split_once("```").unwrap();
    let (_, after) = include_str!("embedding.rs").split_once("// README: begin\n").unwrap();
    let (run, _) = after.split_once("// README: end").unwrap();
    let lines = |text: &str| {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    let shown = lines(shown);
    assert!(shown.starts_with(&lines(run)), "{shown:?}");
}
