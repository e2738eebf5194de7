//! toolgate as a library inside a process of its own: a host that is held, and one that is called through its whole flow.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate::audit::{AuditOptions, FileAudit};
use toolgate::policy::file::{self, FileSource};
use toolgate::policy::{Permissions, Policy, Tier};
use toolgate::{
    Asker, CallOutcome, CallRules, Host, HostDirs, HostEnv, RawJson, RunOptions, Setup, SetupOptions, SystemClock,
    ToolCall,
};

use crate::measure::{Load, Sample};
use crate::{Outcome, block_on, say};

/// What a held host prints when every server is ready or has failed.
pub(crate) const READY: &str = "ready";

/// The file in its home that has the servers.
pub(crate) const SERVERS_FILE: &str = "servers.json";

/// The tool that every stand-in has.
const ECHO: &str = "echo";

/// A rule as people write them: calls are judged, and let through.
const ALLOWS: &str = "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 1\n";

/// A host with the servers of its home, a policy and an audit file. Nothing but what is written there is started.
pub(crate) fn host(home: &Path) -> Outcome<Host> {
    let dirs = HostDirs { user: home.join(".toolgate"), system: home.join("system"), home: Some(home.to_owned()) };
    let vars: BTreeMap<_, _> = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())].into();
    let env = HostEnv { vars, dirs, workspace: home.into(), clock: Arc::new(SystemClock) };
    let options = SetupOptions { config: Some(home.join(SERVERS_FILE)), ..SetupOptions::default() };
    let setup = Setup::read(&env, &options)?;
    let policy = Policy::new(file::parse(ALLOWS, &FileSource::new(Tier::User, Path::new("bench.toml"))).rules);
    let audit = Arc::new(FileAudit::open(&env, AuditOptions::default()));
    let rules = CallRules { permissions: Permissions::new(policy), audit, ..CallRules::default() };
    let host = Host::builder(env).call_rules(rules).build();
    host.start(setup.admitted()?.only(|server| server.name.as_str() != "workspace"));
    Ok(host)
}

/// Calls `echo` of a server through the whole flow.
pub(crate) async fn echo(host: &Host, server: &str, arguments: RawJson) -> Outcome<CallOutcome> {
    let call = ToolCall { name: format!("{server}__{ECHO}"), arguments, asked_by: Asker::Cli };
    let prepared = host.catalog().prepare(call)?;
    Ok(host.run(prepared, RunOptions::default()).await)
}

/// Connects to every server and stays, until the process is ended.
pub(crate) fn hold() -> Outcome {
    block_on(async {
        let host = host(&home_of_this_process()?)?;
        host.all_settled().await;
        say(READY);
        std::future::pending().await
    })
}

/// The home is the folder that the process was started in.
fn home_of_this_process() -> Outcome<std::path::PathBuf> {
    Ok(Path::new(".").canonicalize()?)
}

/// The time of each call of one server, through the whole flow.
pub(crate) async fn load(server_command: &[String], load: &Load) -> Outcome<Sample> {
    let home = tempfile::tempdir()?;
    let (program, args) = server_command.split_first().ok_or("a server has a program")?;
    let servers = json!({"mcpServers": {"one": {"command": program, "args": args}}});
    std::fs::write(home.path().join(SERVERS_FILE), servers.to_string())?;
    let host = Arc::new(host(home.path())?);
    host.all_settled().await;
    let arguments = RawJson::from_bytes(load.arguments.clone())?;
    let mut sample = Sample::new(load.calls);
    sample.add(tokio::spawn(times(host.clone(), arguments, load.calls)).await??);
    sample.finish();
    host.shutdown().await;
    Ok(sample)
}

/// The times of calls, in a task of their own like those of the bare connection.
async fn times(host: Arc<Host>, arguments: RawJson, calls: usize) -> Outcome<Vec<Duration>> {
    let mut times = Vec::with_capacity(calls);
    // The first ones make the files and fill the caches.
    let first = calls / 10;
    for number in 0..first + calls {
        let started = Instant::now();
        let outcome = echo(&host, "one", arguments.clone()).await?;
        let took = started.elapsed();
        if outcome.as_str() != "completed" {
            return Err(format!("a call ended as {outcome:?}").into());
        }
        if number >= first {
            times.push(took);
        }
    }
    Ok(times)
}
