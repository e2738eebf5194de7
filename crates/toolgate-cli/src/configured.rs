//! The servers in the settings, as a command uses them: all of them, or the one that was asked for.

use std::path::Path;

use toolgate::connect::ServerStatus;
use toolgate::registry::nearest;
use toolgate::servers::{ServerSet, SetAsideReason, resolve};
use toolgate::settings::raw::ToolNaming;
use toolgate::settings::{self, Diagnostic, Settings, SettingsError};
use toolgate::shape::visible;
use toolgate::trust::{AdmittedServers, admit};
use toolgate::{HostEnv, Interest, Naming};

use crate::args::Options;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::NAMED_SERVERS_MAX;
use crate::talk::Talk;

/// What the settings say.
#[derive(Debug)]
pub(crate) struct Configured {
    settings: Settings,
    servers: ServerSet,
}

/// How a host is to be.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What servers are asked for.
    pub(crate) interest: Interest,
    /// What the settings say about all servers.
    pub(crate) settings: Settings,
}

/// A server that is not used.
#[derive(Debug, Clone)]
pub(crate) struct SetAside {
    /// Its name as it is written.
    pub(crate) name: String,
    /// Whether it is held back or cannot work.
    pub(crate) status: ServerStatus,
    /// Why.
    pub(crate) reason: String,
    /// Which source it is written in.
    pub(crate) source: &'static str,
}

impl SetAside {
    /// Why it cannot be asked anything.
    pub(crate) fn error(&self) -> CommandError {
        let Self { name, reason, .. } = self;
        let error = match self.status {
            ServerStatus::Blocked => CommandError::new(Ending::Denied, "blocked", format!("{name} is {reason}")),
            _ => CommandError::new(Ending::Usage, "settings", format!("MCP server {name}: {reason}")),
        };
        error.about(name)
    }
}

impl Configured {
    /// Reads the settings. A file that cannot be read is an error; what else is odd is said.
    pub(crate) fn read(env: &HostEnv, config: Option<&Path>, talk: &Talk) -> Result<Self> {
        let settings = settings::load(env, config);
        if let Some(error) = settings.broken.first() {
            return Err(broken(error));
        }
        let servers = resolve(&settings.layers, env);
        for diagnostic in &servers.diagnostics {
            tell(diagnostic, talk);
        }
        Ok(Self { settings, servers })
    }

    /// The names of the servers, as far as the settings can be read.
    pub(crate) fn names(env: &HostEnv, config: Option<&Path>) -> Vec<String> {
        let servers = resolve(&settings::load(env, config).layers, env);
        servers.active.iter().map(|server| server.name.to_string()).collect()
    }

    /// Whether there is a server of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.servers.active.iter().any(|server| &*server.name == name)
    }

    /// How the host is to be.
    pub(crate) fn plan(&self, interest: Interest) -> Plan {
        Plan { interest, settings: self.settings.clone() }
    }

    /// The server that was asked for, or all.
    pub(crate) fn chosen(&self, name: Option<&str>) -> Result<AdmittedServers> {
        let all = admit(self.servers.clone());
        match name {
            None => Ok(all),
            Some(name) if self.has(name) => Ok(all.only(|server| &*server.name == name)),
            Some(name) => Err(self.unknown(name)),
        }
    }

    /// The server that `server__tool` names.
    pub(crate) fn named_in(&self, tool: &str) -> Option<String> {
        if naming(&self.settings) != Naming::Short {
            return None;
        }
        let is_named =
            |server: &str| tool.strip_prefix(server).is_some_and(|rest| rest.len() > 2 && rest.starts_with("__"));
        // One that is held back is meant too; what is wrong with it is the answer then.
        let held_back = self.servers.set_aside.iter().map(|one| one.name.as_str());
        let names = self.servers.active.iter().map(|server| server.name.as_str()).chain(held_back);
        names.filter(|server| is_named(server)).max_by_key(|server| server.len()).map(ToOwned::to_owned)
    }

    /// Servers that are written but not used.
    pub(crate) fn set_aside(&self) -> Vec<SetAside> {
        let set_aside = self.servers.set_aside.iter().filter_map(|one| {
            let status = match &one.reason {
                SetAsideReason::Replaced { .. } => return None,
                SetAsideReason::NotAllowed | SetAsideReason::Excluded => ServerStatus::Blocked,
                SetAsideReason::Unusable(_) | SetAsideReason::TooMany => ServerStatus::Failed,
            };
            let (name, reason) = (one.name.clone(), one.reason.to_string());
            Some(SetAside { name, status, reason, source: one.origin.source.as_str() })
        });
        set_aside.collect()
    }

    /// Which servers may have been meant.
    fn meant(&self, typed: &str) -> String {
        let names = self.servers.active.iter().map(|server| server.name.as_str());
        let close = nearest(typed, names.clone());
        match close.as_slice() {
            [] => match names.take(NAMED_SERVERS_MAX).collect::<Vec<_>>().as_slice() {
                [] => "no servers are configured".to_owned(),
                names => format!("there is `{}`", names.join("`, `")),
            },
            close => format!("did you mean `{}`?", close.join("`, `")),
        }
    }

    fn unknown(&self, name: &str) -> CommandError {
        let written = self.set_aside().into_iter().find(|one| one.name == name);
        match written {
            Some(written) => written.error(),
            None => {
                let error =
                    CommandError::new(Ending::Unknown, "unknown_server", format!("there is no server `{name}`"));
                error.about(name).hint(self.meant(name))
            }
        }
    }
}

/// The server named by an option or behind the command; both may be, when they agree.
pub(crate) fn one_server(options: &Options, argument: Option<&str>) -> Result<Option<String>> {
    match (options.server.as_deref(), argument) {
        (Some(option), Some(argument)) if option != argument => {
            Err(CommandError::usage(format!("`{argument}` and `--server {option}` are two servers")))
        }
        (option, argument) => Ok(option.or(argument).map(ToOwned::to_owned)),
    }
}

/// How the settings want tools to be named.
pub(crate) fn naming(settings: &Settings) -> Naming {
    match settings.naming() {
        ToolNaming::Short => Naming::Short,
        ToolNaming::Qualified => Naming::Qualified,
    }
}

fn broken(error: &SettingsError) -> CommandError {
    let failure = CommandError::new(Ending::Usage, "settings", error.to_string());
    let failure = error.excerpt().map_or_else(|| failure.clone(), |excerpt| failure.clone().detail(excerpt));
    error.hint().map_or_else(|| failure.clone(), |hint| failure.clone().hint(hint))
}

fn tell(diagnostic: &Diagnostic, talk: &Talk) {
    let paint = talk.paint();
    let severity = format!("{}:", diagnostic.severity);
    let severity = match diagnostic.severity {
        settings::Severity::Error => paint.red(severity),
        settings::Severity::Warning => paint.yellow(severity),
    };
    talk.line(&format!("{severity} {}", visible::line(&diagnostic.to_string())));
    if let Some(hint) = &diagnostic.hint {
        talk.line(&format!("{} {}", paint.yellow("hint:"), visible::line(hint)));
    }
}
