//! One generic MCP host: connects to the URL it is given, logs in if it has to, uses everything the server offers once, and answers whatever
//! it asks.
//!
//! The official conformance suite drives it (`conformance/run client …`), and it shows how a host is embedded. There is no code for single
//! scenarios: `MCP_CONFORMANCE_CONTEXT` is put into settings like anybody would write them, and may name the calls to make.

#[path = "conformance_client/answers.rs"]
mod answers;
#[path = "conformance_client/browser.rs"]
mod browser;
#[path = "conformance_client/settings.rs"]
mod settings;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Value;
use toolgate::policy::file::{self, FileSource};
use toolgate::policy::{Permissions, Policy, Tier};
use toolgate::{
    Asker, CallRules, Catalog, Host, HostDirs, HostEnv, RawJson, Result, RunOptions, Setup, SetupOptions, SystemClock,
    ToolCall,
};

use answers::{Fill, Generous, sample};

/// How often everything is used: a server may change its mind about who may log in to it.
const ROUNDS: usize = 2;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().next_back() else { return ExitCode::from(2) };
    match run(&url).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{url}: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str) -> Result<(), Box<dyn std::error::Error>> {
    let context: Value =
        variable("MCP_CONFORMANCE_CONTEXT").and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let scenario = variable("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let home = tempfile::tempdir()?;
    let env = world(home.path());
    std::fs::write(home.path().join("settings.json"), settings::text(url, &scenario, &context))?;
    let setup = Setup::read(&env, &SetupOptions::default())?;
    let servers = setup.admitted()?.only(|server| &*server.name == settings::SERVER);
    let host = Host::builder(env).front_end(Arc::new(Generous)).call_rules(lets_everything_through()).build();
    host.connect(servers).await;
    for view in host.servers() {
        if let Some(error) = view.error.filter(|_| view.agreed.is_none()) {
            return Err(error.into());
        }
    }
    for _ in 0..ROUNDS {
        use_tools(&host, &context).await?;
    }
    use_the_rest(&host).await;
    host.shutdown().await;
    Ok(())
}

/// A world of its own: nothing of the machine is seen.
fn world(home: &std::path::Path) -> HostEnv {
    HostEnv {
        vars: BTreeMap::new(),
        dirs: HostDirs { user: home.to_owned(), system: home.join("etc"), home: Some(home.to_owned()) },
        workspace: home.into(),
        clock: Arc::new(SystemClock),
    }
}

fn lets_everything_through() -> CallRules {
    let source = FileSource::new(Tier::User, std::path::Path::new("everything.toml"));
    let text = "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 1\n";
    let policy = Policy::new(file::parse(text, &source).rules);
    CallRules { permissions: Permissions::new(policy), ..CallRules::default() }
}

async fn use_tools(host: &Host, context: &Value) -> Result<()> {
    let catalog = host.catalog();
    for left_out in catalog.quarantined() {
        say(&format!("left out {:?}: {}", left_out.name, left_out.reason));
    }
    for (name, arguments) in calls_to_make(&catalog, context) {
        let call = ToolCall { name: name.clone(), arguments, asked_by: Asker::Cli };
        match catalog.prepare(call) {
            Ok(prepared) => say(&format!("{name}: {:?}", host.run(prepared, RunOptions::default()).await)),
            Err(error) => say(&format!("{name}: {error}")),
        }
    }
    Ok(())
}

/// The calls that the context asks for, or else every tool once with arguments made from its schema.
fn calls_to_make(catalog: &Catalog, context: &Value) -> Vec<(String, RawJson)> {
    if let Some(calls) = context["toolCalls"].as_array() {
        let call =
            |call: &Value| (call["name"].as_str().unwrap_or_default().to_owned(), call["arguments"].clone().into());
        return calls.iter().map(call).collect();
    }
    let tools = catalog.tools();
    let mut calls = Vec::new();
    for tool in tools {
        let schema: Value = tool.tool.input_schema.as_ref().and_then(|schema| schema.read().ok()).unwrap_or_default();
        let mut arguments = RawJson::from(sample(&schema, Fill::Required));
        // A tool that takes a schema is shown one: that of another tool, exactly as it was listed.
        let wants_schema = schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == "schema"));
        let mut others = tools.iter().filter(|other| other.name != tool.name);
        if let Some(other) = others.find_map(|other| other.tool.input_schema.as_ref())
            && wants_schema
        {
            arguments = arguments.with_member("schema", other);
        }
        calls.push((tool.name.to_string(), arguments));
    }
    calls
}

async fn use_the_rest(host: &Host) {
    let catalog = host.catalog();
    for resource in catalog.resources().iter().take(2) {
        let read = host.read_resource(&resource.server, &resource.resource.uri).await;
        say(&format!("{}: {:?}", resource.resource.uri, read.map(|read| read.raw)));
    }
    for prompt in catalog.prompts().iter().take(1) {
        let arguments = prompt.arguments().iter().map(|argument| (argument.name.clone(), "test".to_owned())).collect();
        let got = host.get_prompt(prompt, &arguments).await;
        say(&format!("{}: {:?}", prompt.name, got.map(|got| got.raw)));
    }
}

#[expect(clippy::disallowed_methods, reason = "a program's own entry reads its environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[expect(clippy::print_stdout, reason = "an example program talks to whoever runs it")]
fn say(text: &str) {
    println!("{text}");
}
