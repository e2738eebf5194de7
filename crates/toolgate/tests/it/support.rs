//! A room with settings in it: scripted servers by name, and the host that uses them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate::discovery::Interest;
use toolgate::policy::file::{self, FileSource};
use toolgate::policy::{Permissions, Policy, Tier};
use toolgate::trust::AdmittedServers;
use toolgate::{
    Asker, CallOutcome, CallRules, Catalog, Host, HostBuilder, HostDirs, HostEnv, RawJson, RunOptions, Setup,
    SetupOptions, SystemClock, ToolCall,
};
use toolgate_testkit::{Record, Script, TestWorld, scripted_server_path};

/// Longer than anything here takes, even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A sealed room in which servers are configured.
pub(crate) struct Room {
    pub(crate) world: TestWorld,
    /// In the order of the settings.
    servers: Vec<(String, Value)>,
    /// How many there have been.
    ever: usize,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self { world: TestWorld::new().unwrap(), servers: Vec::new(), ever: 0 }
    }

    /// Adds a scripted server as a child process.
    pub(crate) fn server(self, name: &str, script: &Script) -> Self {
        self.server_with(name, script, &json!({}))
    }

    /// The same with more settings.
    pub(crate) fn server_with(mut self, name: &str, script: &Script, more: &Value) -> Self {
        let path = self.world.root().join(format!("{}.script", self.ever));
        self.ever += 1;
        std::fs::write(&path, script.to_json()).unwrap();
        let log = path.with_extension("log");
        let mut entry = json!({
            "command": scripted_server_path().unwrap(),
            "args": ["--script", path, "--log", log],
        });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.servers.push((name.to_owned(), entry));
        self
    }

    /// Adds an entry as it is written.
    pub(crate) fn entry(mut self, name: &str, entry: Value) -> Self {
        self.ever += 1;
        self.servers.push((name.to_owned(), entry));
        self
    }

    /// Changes something about a server.
    pub(crate) fn with(mut self, name: &str, key: &str, value: Value) -> Self {
        let entry = self.servers.iter_mut().find(|(one, _)| one == name).unwrap();
        entry.1.as_object_mut().unwrap().insert(key.to_owned(), value);
        self
    }

    /// Takes a server away.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.servers.retain(|(one, _)| one != name);
        self
    }

    /// What the nth server saw.
    pub(crate) fn record(&self, nth: usize) -> Record {
        Record::of_log(self.world.root().join(format!("{nth}.log")))
    }

    pub(crate) fn env(&self) -> HostEnv {
        HostEnv {
            vars: self.world.variables().clone(),
            dirs: HostDirs {
                user: self.world.home().join(".toolgate"),
                system: self.world.root().join("etc"),
                home: Some(self.world.home()),
            },
            workspace: self.world.workspace().into(),
            clock: Arc::new(SystemClock),
        }
    }

    /// Writes the settings.
    pub(crate) fn write_settings(&self) {
        let entries: Vec<String> =
            self.servers.iter().map(|(name, entry)| format!("{}: {entry}", json!(name))).collect();
        let text = format!("{{\"mcpServers\": {{{}}}}}", entries.join(",\n"));
        let file = self.world.write_in_home(".toolgate/settings.json", &text).unwrap();
        assert!(file.is_file());
    }

    /// The servers of the settings, without the built-in one.
    pub(crate) fn servers(&self) -> AdmittedServers {
        self.write_settings();
        let env = self.env();
        let setup = Setup::read(&env, &SetupOptions::default()).unwrap();
        assert!(setup.settings.broken.is_empty(), "{:?}", setup.settings.broken);
        setup.admitted().unwrap().only(|server| self.servers.iter().any(|(name, _)| *name == server.name.as_str()))
    }

    pub(crate) fn builder(&self) -> HostBuilder {
        Host::builder(self.env()).interest(Interest::ALL).call_rules(lets_everything_through())
    }

    /// A host with all servers settled.
    pub(crate) async fn host(&self) -> Host {
        let host = self.builder().build();
        tokio::time::timeout(LONG, host.connect(self.servers())).await.expect("the servers did not settle");
        host
    }
}

/// The names of all tools.
pub(crate) fn names(catalog: &Catalog) -> Vec<&str> {
    catalog.tools().iter().map(|tool| tool.name.as_str()).collect()
}

/// Calls a tool through the whole flow.
pub(crate) async fn call(host: &Host, name: &str, arguments: Value) -> CallOutcome {
    let arguments: RawJson = arguments.into();
    let call = ToolCall { name: name.to_owned(), arguments, asked_by: Asker::Cli };
    let prepared = host.catalog().prepare(call).unwrap();
    tokio::time::timeout(LONG, host.run(prepared, RunOptions::default())).await.expect("the call did not end")
}

/// The text a call gave.
pub(crate) fn text(outcome: &CallOutcome) -> String {
    outcome.report().map(|report| report.result.text()).unwrap_or_else(|| format!("{outcome:?}"))
}

/// No arguments for a prompt.
pub(crate) fn nothing() -> BTreeMap<String, String> {
    BTreeMap::new()
}

/// For tests that are not about what may be called.
pub(crate) fn lets_everything_through() -> CallRules {
    let source = FileSource::new(Tier::User, Path::new("test.toml"));
    let text = "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 1\n";
    let policy = Policy::new(file::parse(text, &source).rules);
    CallRules { permissions: Permissions::new(policy), ..CallRules::default() }
}
