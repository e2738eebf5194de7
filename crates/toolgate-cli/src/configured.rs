//! The servers in the settings, as a command uses them: all of them, or the one that was asked for.

use std::sync::{Arc, Mutex, PoisonError};

use toolgate::connect::{Lender, ServerStatus};
use toolgate::kept::KeptOffers;
use toolgate::servers::{ServerConfig, SetAside, SetAsideReason};
use toolgate::settings::raw::ToolNaming;
use toolgate::settings::{self, Diagnostic, EnvExceptions, Settings, SettingsError, SettingsOrigin};
use toolgate::shape::visible;
use toolgate::trust::{AdmittedServers, admit};
use toolgate::{
    CallRules, Host, HostEnv, Interest, Memory, Naming, ReadAhead, ServerName, Setup, SetupOptions, as_word,
};

use crate::args::Options;
use crate::commands::mcp::list::write_origin;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::limits::HELD_BACK_NAMED_MAX;
use crate::similar::did_you_mean;
use crate::talk::Talk;

/// What the settings come to.
#[derive(Debug)]
pub(crate) struct Configured {
    setup: Setup,
}

/// How a host is to be.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What servers are asked for.
    pub(crate) interest: Interest,
    /// The world, with the variables of `.env` files.
    pub(crate) env: Arc<HostEnv>,
    /// What the settings say about all servers.
    pub(crate) settings: Arc<Settings>,
    /// Variables that reach servers in spite of their names, or do not.
    pub(crate) env_exceptions: EnvExceptions,
    /// What calls go through; none are made when nothing is said about it.
    pub(crate) call_rules: Option<CallRules>,
    /// Whether a server that asks for a login may have one at once.
    pub(crate) offers_login: bool,
    /// Whether all servers that are wanted are shown, so that one that asks for a login has to be known before.
    pub(crate) shows_all: bool,
    /// What is done with what servers offered in earlier runs.
    pub(crate) memory: Memory,
    /// All servers that may be started.
    pub(crate) admitted: AdmittedServers,
    /// Those of them that the command is about.
    pub(crate) wanted: Vec<ServerName>,
    /// All servers in use, including those that may not be started.
    pub(crate) active: Vec<Arc<ServerConfig>>,
    /// The names of all configured servers.
    pub(crate) written: Vec<String>,
    /// Whether the command itself reports list entries that match nothing.
    pub(crate) reports_lists: bool,
    /// Who may have them already.
    pub(crate) lender: Option<Arc<dyn Lender>>,
    /// What is kept of them, while it is read.
    ahead: Mutex<Option<ReadAhead>>,
}

impl Plan {
    /// The same, with what calls go through.
    pub(crate) fn with(self, call_rules: CallRules) -> Self {
        Self { call_rules: Some(call_rules), ..self }
    }

    /// The same, for a command that can do with what servers offered a little while ago.
    pub(crate) fn with_memory(self) -> Self {
        Self { memory: Memory::Used, ..self }
    }

    /// The same, while what is kept of these servers is read for a host of this command alone.
    pub(crate) fn reading_ahead(self, servers: &AdmittedServers) -> Self {
        let ahead = Host::read_ahead(&self.env, self.interest, servers);
        Self { ahead: Mutex::new(Some(ahead)), ..self }
    }

    /// The same, using servers that somebody else keeps.
    pub(crate) fn borrowing(self, lender: Option<Arc<dyn Lender>>) -> Self {
        Self { lender, ..self }
    }

    /// What was read ahead, for the host that uses it.
    pub(crate) fn take_ahead(&self) -> Option<ReadAhead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The same, for a command that shows what there is.
    pub(crate) fn showing_all(self) -> Self {
        Self { shows_all: true, ..self }
    }

    /// A plan for a command that itself reports list entries that match nothing.
    pub(crate) fn reporting_lists(self) -> Self {
        Self { reports_lists: true, ..self }
    }

    /// The same, for a command that starts these servers.
    pub(crate) fn starting(self, servers: &AdmittedServers) -> Self {
        Self { wanted: servers.iter().map(|server| server.name.clone()).collect(), ..self }
    }

    /// The same, for a command that is about logins itself.
    pub(crate) fn without_login(self) -> Self {
        Self { offers_login: false, ..self }
    }
}

impl Configured {
    /// Forgets what servers of these names offered: it was offered to somebody with another login.
    pub(crate) fn forget_offers(&self, names: &[String]) {
        let kept = KeptOffers::new(&self.setup.env);
        let is_meant = |server: &&Arc<ServerConfig>| names.iter().any(|name| **name == *server.name);
        for server in self.setup.servers.active.iter().filter(is_meant) {
            let _there_was_something = kept.forget(server);
        }
    }

    /// What was read, after what is odd in it has been said.
    pub(crate) fn new(setup: Setup, talk: &Talk) -> Self {
        setup.settings.broken.iter().for_each(|error| talk.error(&of_broken(error)));
        setup.diagnostics().iter().for_each(|diagnostic| tell(diagnostic, talk));
        setup.troubles.iter().for_each(|error| talk.error(&CommandError::from(error)));
        let waiting = setup.servers.set_aside.iter().filter(|one| one.reason == SetAsideReason::Unconfirmed);
        waiting.for_each(|one| talk.error(&error_of(one)));
        Self { setup }
    }

    /// What was read, where what is odd in it has been said before.
    pub(crate) const fn known(setup: Setup) -> Self {
        Self { setup }
    }

    /// The names of the servers, as far as the settings can be read.
    pub(crate) fn names(env: &HostEnv, options: &SetupOptions) -> Vec<String> {
        let servers = Setup::read(env, options).map(|setup| setup.servers).unwrap_or_default();
        let aside = servers.set_aside.into_iter().filter(|one| !is_replaced(one)).map(|one| one.name);
        servers.active.iter().map(|server| server.name.to_string()).chain(aside).collect()
    }

    /// Everything that was read and decided.
    pub(crate) const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// How the command ends when all else went well: not well when a settings file could not be read.
    pub(crate) fn ending(&self) -> Ending {
        if self.setup.settings.broken.is_empty() { Ending::Done } else { Ending::Usage }
    }

    /// Whether there is a server of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.setup.servers.active.iter().any(|server| &*server.name == name)
    }

    /// How the host is to be.
    pub(crate) fn plan(&self, interest: Interest) -> Plan {
        let Setup { env, settings, .. } = &self.setup;
        Plan {
            interest,
            env: env.clone(),
            settings: settings.clone(),
            env_exceptions: self.setup.env_exceptions(),
            call_rules: None,
            offers_login: true,
            shows_all: false,
            memory: Memory::Renewed,
            // Where nothing may be started, the command that wants to is told why.
            admitted: admit(&self.setup.servers, &self.setup.folder).unwrap_or_default(),
            wanted: Vec::new(),
            active: self.setup.servers.active.clone(),
            written: self.written().map(ToOwned::to_owned).collect(),
            reports_lists: false,
            lender: None,
            ahead: Mutex::default(),
        }
    }

    /// The names of all configured servers, used or not.
    fn written(&self) -> impl Iterator<Item = &str> {
        let Setup { servers, .. } = &self.setup;
        let aside = servers.set_aside.iter().map(|one| one.name.as_str());
        servers.active.iter().map(|server| server.name.as_str()).chain(aside)
    }

    /// The server that was asked for, or all.
    pub(crate) fn chosen(&self, name: Option<&str>) -> Result<AdmittedServers> {
        // `mcp list` also works beside a broken file. Every other command was refused before.
        let all = admit(&self.setup.servers, &self.setup.folder)?;
        if let Err(error) = self.setup.record_first_use() {
            tracing::warn!("{error}");
        }
        match name {
            None => Ok(all),
            Some(name) if self.has(name) => Ok(all.only(|server| &*server.name == name)),
            Some(name) => Err(self.unknown(name)),
        }
    }

    /// Why nothing may be started in this folder.
    pub(crate) fn untrusted(&self) -> Option<CommandError> {
        let Setup { servers, folder, .. } = &self.setup;
        if folder.lets_own_servers_start() { None } else { admit(servers, folder).err().map(CommandError::from) }
    }

    /// The servers that count, or the one of them that was asked for, whether they may be started or not.
    pub(crate) fn meant(&self, name: Option<&str>) -> Result<Vec<&ServerConfig>> {
        let named = |server: &&ServerConfig| name.is_none_or(|name| &*server.name == name);
        let servers: Vec<_> = self.setup.servers.active.iter().map(AsRef::as_ref).filter(named).collect();
        match name {
            Some(name) if servers.is_empty() && !self.set_aside().any(|one| one.name == name) => {
                Err(self.unknown(name))
            }
            _ => Ok(servers),
        }
    }

    /// The server that `server__tool` names.
    pub(crate) fn named_in(&self, tool: &str) -> Option<String> {
        if naming(&self.setup.settings) != Naming::Short {
            return None;
        }
        let is_named =
            |server: &str| tool.strip_prefix(server).is_some_and(|rest| rest.len() > 2 && rest.starts_with("__"));
        // One that is held back is meant too; what is wrong with it is the answer then.
        let servers = &self.setup.servers;
        let held_back = servers.set_aside.iter().map(|one| one.name.as_str());
        let names = servers.active.iter().map(|server| server.name.as_str()).chain(held_back);
        names.filter(|server| is_named(server)).max_by_key(|server| server.len()).map(ToOwned::to_owned)
    }

    /// Servers that are written but not used, without those that another entry of the same name replaced.
    pub(crate) fn set_aside(&self) -> impl Iterator<Item = &SetAside> {
        self.setup.servers.set_aside.iter().filter(|one| !is_replaced(one))
    }

    /// The servers that are not used, each with the reason, as one list.
    pub(crate) fn held_back_in_words(&self) -> String {
        let mut words: Vec<String> =
            self.set_aside().map(|one| format!("{}: {}", one.name, why_held_back(one))).collect();
        if let more @ 1.. = words.len().saturating_sub(HELD_BACK_NAMED_MAX) {
            words.truncate(HELD_BACK_NAMED_MAX);
            words.push(format!("{more} more, see `toolgate mcp list`"));
        }
        words.join("; ")
    }

    /// Entries of that name that lost against another one.
    pub(crate) fn losers(&self, name: &str) -> impl Iterator<Item = &SettingsOrigin> {
        let losers = self.setup.servers.set_aside.iter().filter(|one| is_replaced(one));
        losers.filter(move |one| one.name == name).map(|one| &one.origin)
    }

    /// Which servers may have been meant.
    fn similar(&self, typed: &str) -> String {
        let active = self.setup.servers.active.iter().map(|server| server.name.as_str());
        let names = active.chain(self.set_aside().map(|one| one.name.as_str()));
        did_you_mean(typed, names).unwrap_or_else(|| "no servers are configured".to_owned())
    }

    /// Why there is no such server to use.
    pub(crate) fn unknown(&self, name: &str) -> CommandError {
        match self.set_aside().find(|one| one.name == name) {
            Some(written) => error_of(written),
            None => {
                let error =
                    CommandError::new(Ending::Unknown, "unknown_server", format!("there is no server `{name}`"));
                error.about(name).hint(self.similar(name))
            }
        }
    }
}

fn is_replaced(one: &SetAside) -> bool {
    matches!(one.reason, SetAsideReason::Replaced { .. })
}

/// The reason why a server is not used, with file and line.
pub(crate) fn why_held_back(one: &SetAside) -> String {
    match one.reason.origin() {
        Some(_) => one.reason.to_string(),
        None => format!("{}: {}", one.origin, one.reason),
    }
}

/// Writes that reason as JSON.
pub(crate) fn write_held_back(json: &mut JsonWriter<'_>, one: &SetAside) -> std::io::Result<()> {
    json.object(|object| {
        object.string("name", &one.name)?;
        object.string("status", status_of(&one.reason).as_str())?;
        object.string("reason", reason_word(&one.reason))?;
        object.string("why", &why_held_back(one))?;
        object.member("decidedIn", |json| write_origin(json, &one.reason.origin().unwrap_or(one.origin.clone())))
    })
}

/// The reason why a server is not used, as one word for JSON.
pub(crate) const fn reason_word(reason: &SetAsideReason) -> &'static str {
    match reason {
        SetAsideReason::NotAllowed { .. } => "not_allowed",
        SetAsideReason::SwitchedOff { .. } => "switched_off",
        SetAsideReason::Excluded { .. } => "excluded",
        SetAsideReason::Disabled { .. } => "disabled",
        SetAsideReason::DisabledForSession => "disabled_for_session",
        SetAsideReason::Untrusted => "untrusted",
        SetAsideReason::Unconfirmed => "unconfirmed",
        SetAsideReason::TooMany => "too_many",
        SetAsideReason::Unusable(_) => "settings",
        SetAsideReason::Replaced { .. } => "replaced",
    }
}

/// How a server that is not used stands.
pub(crate) const fn status_of(reason: &SetAsideReason) -> ServerStatus {
    match reason {
        SetAsideReason::NotAllowed { .. } | SetAsideReason::Excluded { .. } | SetAsideReason::SwitchedOff { .. } => {
            ServerStatus::Blocked
        }
        SetAsideReason::Disabled { .. }
        | SetAsideReason::DisabledForSession
        | SetAsideReason::Untrusted
        | SetAsideReason::Unconfirmed => ServerStatus::Disabled,
        SetAsideReason::Unusable(_) | SetAsideReason::TooMany | SetAsideReason::Replaced { .. } => ServerStatus::Failed,
    }
}

/// Why a server cannot be asked anything.
pub(crate) fn error_of(one: &SetAside) -> CommandError {
    let SetAside { name, reason, .. } = one;
    let error = match reason {
        SetAsideReason::NotAllowed { .. } | SetAsideReason::Excluded { .. } | SetAsideReason::SwitchedOff { .. } => {
            CommandError::new(Ending::Denied, "blocked", format!("{name} is {reason}"))
        }
        SetAsideReason::Disabled { .. } | SetAsideReason::DisabledForSession => {
            let error = CommandError::new(Ending::Denied, "disabled", format!("{name} is {reason}"));
            error.hint(format!("enable it with `toolgate mcp enable {}`", as_word(name)))
        }
        SetAsideReason::Untrusted | SetAsideReason::Unconfirmed => {
            let error = CommandError::new(Ending::Untrusted, "untrusted", format!("MCP server {name}: {reason}"));
            error.hint("`toolgate trust` shows what it would start and asks you")
        }
        SetAsideReason::Unusable(_) | SetAsideReason::TooMany | SetAsideReason::Replaced { .. } => {
            CommandError::new(Ending::Usage, "settings", format!("MCP server {name}: {}", why_held_back(one)))
        }
    };
    error.about(name)
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

/// A settings file that cannot be read.
pub(crate) fn of_broken(error: &SettingsError) -> CommandError {
    let failure = CommandError::new(Ending::Usage, "settings", error.to_string());
    let failure = error.excerpt().map_or_else(|| failure.clone(), |excerpt| failure.clone().detail(excerpt));
    error.hint().map_or_else(|| failure.clone(), |hint| failure.clone().hint(hint))
}

pub(crate) fn tell(diagnostic: &Diagnostic, talk: &Talk) {
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
