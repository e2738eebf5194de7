//! What is said about one server: where it is written, what it won against, what holds it back, whether it works.

use std::path::PathBuf;

use toolgate::servers::{HttpConfig, ServerConfig, SetAside, SetAsideReason, TransportConfig};
use toolgate::settings::{SettingsOrigin, SettingsSource};
use toolgate::{Catalog, ChildVariables, ServerStatus, ServerView, child_variables};

use super::program;
use crate::configured::{Configured, error_of, status_of};
use crate::listing::{counted, hidden_tools, offer_counts, offer_counts_text, skipped};
use crate::trouble::Troubles;

/// One server and all that was found out about it.
#[derive(Debug)]
pub(crate) struct Checkup {
    pub(crate) name: String,
    pub(crate) target: String,
    pub(crate) status: ServerStatus,
    pub(crate) origin: SettingsOrigin,
    pub(crate) replaces: Vec<SettingsOrigin>,
    pub(crate) extension: Option<String>,
    /// Why it is not used.
    pub(crate) held_back: Option<String>,
    /// It changed since the folder was trusted.
    pub(crate) waits: bool,
    pub(crate) trust: &'static str,
    pub(crate) policy: String,
    pub(crate) command: Command,
    pub(crate) auth: &'static str,
    /// The variables it receives, and those of yours that it does not.
    pub(crate) environment: ChildVariables,
    pub(crate) offers: Option<String>,
    pub(crate) problems: Vec<String>,
    /// Tools that the lists of the server hide, each with the reason.
    pub(crate) hidden: Vec<String>,
    pub(crate) error: Option<String>,
    pub(crate) stderr: String,
}

/// The program of a server.
#[derive(Debug)]
pub(crate) enum Command {
    /// It has none, or nobody may look.
    None,
    /// It is there.
    Found(PathBuf),
    /// It is not there.
    Missing(String),
}

impl Checkup {
    pub(crate) fn of(config: &ServerConfig, configured: &Configured) -> Self {
        let setup = configured.setup();
        let untrusted = configured.untrusted().map(|error| error.message().to_owned());
        let environment = child_variables(&setup.env, &setup.env_exceptions(), config).unwrap_or_default();
        let command = match &config.transport {
            // In a folder that is not trusted nothing is looked up.
            TransportConfig::Stdio(stdio) if untrusted.is_none() => {
                let search = setup.env.vars.get("PATH").map(String::as_str);
                program::find(stdio, search, &setup.env)
                    .map_or_else(|| Command::Missing(stdio.command.clone()), Command::Found)
            }
            _ => Command::None,
        };
        Self {
            name: config.name.to_string(),
            target: format!("{} ({})", config.transport.target(), config.transport.kind()),
            status: if untrusted.is_some() { ServerStatus::Disabled } else { ServerStatus::Disconnected },
            origin: config.origin.clone(),
            replaces: configured.losers(&config.name).cloned().collect(),
            extension: config.extension.as_ref().map(|one| format!("{} {}", one.name, one.version)),
            held_back: untrusted,
            waits: false,
            trust: match (config.trust, config.comes_with_folder()) {
                (true, false) => "set: its tools need no confirmation",
                (true, true) => "ignored, because a folder sets it: its tools need a confirmation",
                (false, _) => "not set",
            },
            policy: policy(config, configured),
            command,
            auth: auth(&config.transport),
            environment,
            offers: None,
            problems: Vec::new(),
            hidden: Vec::new(),
            error: None,
            stderr: String::new(),
        }
    }

    pub(crate) fn of_set_aside(one: &SetAside, configured: &Configured) -> Self {
        let target = one.written.as_ref().map(|written| format!("{} ({})", written.target, written.transport));
        let status = status_of(&one.reason);
        let why = error_of(one).in_one_line();
        let (held_back, error) = if status == ServerStatus::Failed { (None, Some(why)) } else { (Some(why), None) };
        Self {
            name: one.name.clone(),
            target: target.unwrap_or_default(),
            status,
            origin: one.origin.clone(),
            replaces: configured.losers(&one.name).cloned().collect(),
            extension: None,
            held_back,
            waits: one.reason == SetAsideReason::Unconfirmed,
            trust: "",
            policy: String::new(),
            command: Command::None,
            auth: "",
            environment: ChildVariables::default(),
            offers: None,
            problems: Vec::new(),
            hidden: Vec::new(),
            error,
            stderr: String::new(),
        }
    }

    /// Adds what was found out by starting it.
    pub(crate) fn met(&mut self, view: &ServerView, catalog: &Catalog, troubles: Troubles, stderr: String) {
        let server = view.name();
        self.status = view.status;
        self.error = troubles.of(view).map(|error| error.in_one_line());
        self.stderr = stderr;
        self.problems = catalog.quarantined().filter(|one| one.server == *server).map(skipped).collect();
        self.hidden = hidden_tools(server, catalog);
        let is_remote = !self.auth.is_empty();
        match (view.status, &view.agreed) {
            (ServerStatus::NeedsLogin, _) if is_remote => self.auth = "login needed",
            (_, Some(_)) if is_remote => self.auth = "accepted",
            _ => (),
        }
        if let Some(agreed) = &view.agreed {
            let counts = offer_counts_text(offer_counts(server, catalog));
            self.offers = Some(format!("MCP {} in {}ms; {counts}", agreed.version, agreed.took.as_millis()));
        }
    }

    /// Whether something is wrong with it. To be switched off is not; to wait for somebody who has not seen it is.
    pub(crate) fn is_ill(&self) -> bool {
        if self.waits {
            return true;
        }
        let is_missing = matches!(self.command, Command::Missing(_));
        self.error.is_some() || !self.problems.is_empty() || (is_missing && self.held_back.is_none())
    }
}

/// What is written about its tools.
pub(crate) fn policy(config: &ServerConfig, configured: &Configured) -> String {
    let settings = &configured.setup().settings;
    let mut parts = Vec::new();
    match &config.include_tools {
        Some(list) => parts.push(format!("includes {}", counted(list.len(), "tool"))),
        None => parts.push("includes all tools".to_owned()),
    }
    let everywhere = settings.excluded_tools().len();
    let own = config.exclude_tools.len();
    if own > 0 {
        parts.push(format!("excludes {}", counted(own, "tool")));
    }
    if everywhere > 0 {
        parts.push(format!("{everywhere} excluded for all servers"));
    }
    parts.join(", ")
}

/// How it knows who we are, as far as the settings say.
fn auth(transport: &TransportConfig) -> &'static str {
    let of = |http: &HttpConfig| {
        let has_header = http.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        if has_header { "a header says who you are" } else { "nothing is sent" }
    };
    match transport {
        TransportConfig::Http(http) | TransportConfig::Sse(http) | TransportConfig::HttpOrSse(http) => of(http),
        TransportConfig::Stdio(_) | TransportConfig::BuiltIn(_) => "",
    }
}

/// A layer in words.
pub(crate) const fn layer(source: SettingsSource) -> &'static str {
    match source {
        SettingsSource::BuiltIn => "built in",
        SettingsSource::SystemDefaults => "system defaults",
        SettingsSource::Extension => "extension",
        SettingsSource::User => "user",
        SettingsSource::Workspace => "workspace",
        SettingsSource::SystemOverrides => "system override",
        SettingsSource::CommandLine => "this run",
    }
}
