//! Which variables a child receives: what programs need, and what its settings say. The shell of the built-in server is the person's own and
//! gets more: all of the host's environment that is not secret.
//!
//! [`child_variables`] tells people the same in names, with the reason of each; values never leave this file but for the child.

use std::collections::BTreeMap;
use std::fmt;

use crate::env::HostEnv;
use crate::glob::glob;
use crate::secret::Secret;
use crate::servers::secret_look::{names_a_secret, value_looks_secret};
use crate::servers::secret_text::covered;
use crate::servers::{ServerConfig, TransportConfig};
use crate::settings::EnvExceptions;

/// What every program needs, passed on whatever it looks like.
#[cfg(not(windows))]
const NEEDED: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
/// What every program needs, passed on whatever it looks like.
#[cfg(windows)]
const NEEDED: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

/// Tells a child who started it.
const MARK: (&str, &str) = ("TOOLGATE", "1");

/// Passed on in spite of the rules below: of the system, of terminals, of continuous integration, and where we live ourselves.
const ALWAYS_ALLOWED: &[&str] = &[
    "PATH",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "WINDIR",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "SYSTEMDRIVE",
    "HOME",
    "LANG",
    "SHELL",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "TERM",
    "COLORTERM",
    "ADDITIONAL_CONTEXT",
    "AVAILABLE_LABELS",
    "BRANCH_NAME",
    "DESCRIPTION",
    "EVENT_NAME",
    "GITHUB_ENV",
    "IS_PULL_REQUEST",
    "ISSUES_TO_TRIAGE",
    "ISSUE_BODY",
    "ISSUE_NUMBER",
    "ISSUE_TITLE",
    "PULL_REQUEST_NUMBER",
    "REPOSITORY",
    "TITLE",
    "TRIGGERING_ACTOR",
    "TOOLGATE_HOME",
    "TOOLGATE_SYSTEM_DIR",
];

/// Of no use to anybody who means harm, and missed by servers that speak a language, open a window or reach the network.
const USEFUL: &[&str] = &[
    "LANGUAGE",
    "TZ",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
];

/// The same by how the names begin: of languages, and of where things are kept.
const USEFUL_STARTS: &[&str] = &["LC_", "XDG_"];

/// Never passed on: secret or telling without looking like it, and decisions about trust that were made for this process alone.
const NEVER_ALLOWED: &[&str] = &[
    "CLIENT_ID",
    "DB_URI",
    "CONNECTION_STRING",
    "AWS_DEFAULT_REGION",
    "AZURE_CLIENT_ID",
    "AZURE_TENANT_ID",
    "SLACK_WEBHOOK_URL",
    "TWILIO_ACCOUNT_SID",
    "DATABASE_URL",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_ACCOUNT",
    "FIREBASE_PROJECT_ID",
    "TOOLGATE_TRUST_WORKSPACE",
    "TOOLGATE_IDE_TRUST",
];

/// Variables that set trust for this process. A wildcard does not cover them.
const OF_THIS_PROCESS: &[&str] = &["TOOLGATE_TRUST_WORKSPACE", "TOOLGATE_IDE_TRUST"];

/// The entry of `allowed` and `inheritEnv` that means every variable.
const EVERY: &str = "*";

/// Why a server receives a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyReceived {
    /// Every program needs it.
    Needed,
    /// It tells the server who started it.
    Mark,
    /// The host has it, and it is not secret.
    PassedOn,
    /// The host has it, and `security.environmentVariableRedaction.allowed` names it.
    Allowed,
    /// The host has the variable, and `inheritEnv` of the server names it.
    Inherited,
    /// The server's own `env` has it.
    Declared,
}

impl WhyReceived {
    /// The word for it in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Needed => "needed",
            Self::Mark => "mark",
            Self::PassedOn => "passed_on",
            Self::Allowed => "allowed",
            Self::Inherited => "inherited",
            Self::Declared => "declared",
        }
    }
}

impl fmt::Display for WhyReceived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Needed => "every program needs it",
            Self::Mark => "tells the server who started it",
            Self::PassedOn => "passed on: not secret",
            Self::Allowed => "passed on: in `security.environmentVariableRedaction.allowed`",
            Self::Inherited => "passed on: listed in its `inheritEnv`",
            Self::Declared => "in its `env`",
        })
    }
}

/// Why a server does not receive a variable that the host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyHeldBack {
    /// Its value looks like a key, a token or an address with a password.
    SecretByValue,
    /// Its name says that it is secret.
    SecretByName,
    /// It is on the list of those that are never passed on.
    NeverPassed,
    /// `security.environmentVariableRedaction.blocked` names it.
    Blocked,
    /// In automation only what is known to be harmless is passed on.
    Automation,
    /// It is a shell function, which a shell might run.
    ShellFunction,
    /// It is none of the few that servers get without asking.
    NotAsked,
    /// It comes from the `.env` file of the project, which is there for the settings.
    OfProject,
}

impl WhyHeldBack {
    /// The word for it in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SecretByValue => "secret_by_value",
            Self::SecretByName => "secret_by_name",
            Self::NeverPassed => "never_passed",
            Self::Blocked => "blocked",
            Self::Automation => "automation",
            Self::ShellFunction => "shell_function",
            Self::NotAsked => "not_asked",
            Self::OfProject => "of_project",
        }
    }
}

impl fmt::Display for WhyHeldBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SecretByValue => "its value looks secret",
            Self::SecretByName => "its name looks secret",
            Self::NeverPassed => "never passed on",
            Self::Blocked => "in `security.environmentVariableRedaction.blocked`",
            Self::Automation => "not known to be harmless, which automation asks for",
            Self::ShellFunction => "a shell function",
            Self::NotAsked => "not requested; add it to `inheritEnv` of the server",
            Self::OfProject => "from the `.env` file of the project; name it in `env` of the server",
        })
    }
}

/// The variables of a stdio server by name, in order. Their values are nobody's business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildVariables {
    /// Those that it receives, and why.
    pub received: Vec<(String, WhyReceived)>,
    /// Those of the host that it does not, and why.
    pub held_back: Vec<(String, WhyHeldBack)>,
}

/// Which variables a server will receive when it is started, and which are held back. `None` when it is no program of its own.
#[must_use]
pub fn child_variables(env: &HostEnv, exceptions: &EnvExceptions, server: &ServerConfig) -> Option<ChildVariables> {
    let TransportConfig::Stdio(stdio) = &server.transport else { return None };
    let rules = Rules::new(&env.vars, exceptions, Receiver::Server).inheriting(&stdio.inherit_env);
    let mut received: BTreeMap<&str, WhyReceived> = BTreeMap::new();
    let mut held_back: BTreeMap<&str, WhyHeldBack> = BTreeMap::new();
    for (name, value) in &env.vars {
        match rules.decide(name, value) {
            Ok(why) => received.extend([(name.as_str(), why)]),
            Err(why) => held_back.extend([(name.as_str(), why)]),
        }
    }
    received.insert(MARK.0, WhyReceived::Mark);
    received.extend(stdio.env.keys().map(|name| (name.as_str(), WhyReceived::Declared)));
    held_back.retain(|name, _| !received.contains_key(name));
    Some(ChildVariables { received: owned(received), held_back: owned(held_back) })
}

fn owned<T>(named: BTreeMap<&str, T>) -> Vec<(String, T)> {
    named.into_iter().map(|(name, why)| (name.to_owned(), why)).collect()
}

/// What every child of one host is passed. Found once, because the environment of a host does not change.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PassedOn(BTreeMap<String, String>);

/// Additional variables that one server inherits.
pub(crate) fn inherited(
    host: &BTreeMap<String, String>,
    exceptions: &EnvExceptions,
    inherit: &[String],
) -> BTreeMap<String, String> {
    if inherit.is_empty() {
        return BTreeMap::new();
    }
    let rules = Rules::new(host, exceptions, Receiver::Server).inheriting(inherit);
    let is_inherited = |(name, value): &(&String, &String)| rules.decide(name, value) == Ok(WhyReceived::Inherited);
    host.iter().filter(is_inherited).map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl PassedOn {
    /// Picks what is passed on from the environment of the host.
    #[must_use]
    pub(crate) fn from_host(host: &BTreeMap<String, String>, exceptions: &EnvExceptions, receiver: Receiver) -> Self {
        let rules = Rules::new(host, exceptions, receiver);
        let picked = host.iter().filter(|(name, value)| rules.decide(name, value).is_ok());
        let mut passed: BTreeMap<_, _> = picked.map(|(name, value)| (name.clone(), value.clone())).collect();
        passed.insert(MARK.0.to_owned(), MARK.1.to_owned());
        Self(passed)
    }

    /// The whole environment of one child. What its settings say wins, secret or not.
    #[must_use]
    pub(crate) fn for_child(
        &self,
        inherited: BTreeMap<String, String>,
        configured: BTreeMap<String, Secret>,
    ) -> BTreeMap<String, String> {
        let mut env = self.0.clone();
        env.extend(inherited);
        env.extend(configured.into_iter().map(|(name, value)| (name, value.into_exposed())));
        env
    }

    /// The names of the variables, for people who want to know.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl fmt::Debug for PassedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Who receives variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// A server: somebody else's program.
    Server,
    /// The shell of the built-in server, in which the person works.
    Shell,
}

/// Where a machine runs what strangers propose, only what is known to be harmless is passed on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Automation {
    Yes,
    No,
}

fn is_automation(host: &BTreeMap<String, String>) -> Automation {
    let on_github = host.get("GITHUB_SHA").is_some_and(|sha| !sha.is_empty());
    let says_so = host.get("SURFACE").is_some_and(|surface| surface == "Github");
    if on_github || says_so { Automation::Yes } else { Automation::No }
}

/// What decides about each variable of a host.
struct Rules<'a> {
    exceptions: &'a EnvExceptions,
    automation: Automation,
    receiver: Receiver,
    /// `inheritEnv` of the server in question.
    inherit: &'a [String],
}

impl<'a> Rules<'a> {
    fn new(host: &BTreeMap<String, String>, exceptions: &'a EnvExceptions, receiver: Receiver) -> Self {
        Self { exceptions, automation: is_automation(host), receiver, inherit: &[] }
    }

    fn inheriting(self, inherit: &'a [String]) -> Self {
        Self { inherit, ..self }
    }

    /// The first rule that applies decides.
    fn decide(&self, name: &str, value: &str) -> Result<WhyReceived, WhyHeldBack> {
        let upper = name.to_ascii_uppercase();
        let named_in = |list: &[String]| list.iter().any(|entry| entry.trim().eq_ignore_ascii_case(name));
        let is_meant = |list: &[String]| {
            let is_of_process = OF_THIS_PROCESS.contains(&upper.as_str());
            named_in(list) || (!is_of_process && list.iter().any(|entry| is_like(entry, &upper)))
        };
        let EnvExceptions { allowed, blocked, of_project } = self.exceptions;
        let looks_secret = value_looks_secret(value) || (name != "PATH" && covered(value) != value);
        if value.starts_with("()") {
            // Not a value; shells have run what follows it.
            Err(WhyHeldBack::ShellFunction)
        } else if blocked.iter().any(|entry| is_like(entry, &upper)) && !named_in(allowed) {
            Err(WhyHeldBack::Blocked)
        } else if NEEDED.contains(&name) && !looks_secret {
            Ok(WhyReceived::Needed)
        } else if named_in(of_project) {
            Err(WhyHeldBack::OfProject)
        } else if is_meant(self.inherit) {
            Ok(WhyReceived::Inherited)
        } else if allowed.iter().any(|entry| entry.trim() == EVERY) && is_meant(allowed) {
            Ok(WhyReceived::Allowed)
        } else if looks_secret {
            Err(WhyHeldBack::SecretByValue)
        } else if upper.starts_with("GIT_CONFIG_") {
            Ok(WhyReceived::PassedOn)
        } else if is_meant(allowed) {
            Ok(WhyReceived::Allowed)
        } else if is_harmless(&upper) {
            Ok(WhyReceived::PassedOn)
        } else if NEVER_ALLOWED.contains(&upper.as_str()) {
            Err(WhyHeldBack::NeverPassed)
        } else if self.automation == Automation::Yes {
            Err(WhyHeldBack::Automation)
        } else if names_a_secret(&upper) {
            Err(WhyHeldBack::SecretByName)
        } else if self.receiver == Receiver::Server {
            Err(WhyHeldBack::NotAsked)
        } else {
            Ok(WhyReceived::PassedOn)
        }
    }
}

/// Whether a list entry (a name or a glob, in any case) covers a variable.
fn is_like(entry: &str, upper_name: &str) -> bool {
    glob(&entry.trim().to_ascii_uppercase(), upper_name)
}

fn is_harmless(name: &str) -> bool {
    ALWAYS_ALLOWED.contains(&name)
        || USEFUL.contains(&name)
        || USEFUL_STARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
#[path = "child_env_tests.rs"]
mod tests;
