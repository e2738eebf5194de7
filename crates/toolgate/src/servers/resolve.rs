//! Layers → servers: which entry of a name counts, which servers the lists hold back, and what is set aside with its reason.
//!
//! A pure function. The order is that of the settings, higher layers first, so that the built-in servers come last; an entry that replaces one
//! of a lower layer stands at its own place.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::env::HostEnv;
use crate::limits::SERVERS_MAX;
use crate::servers::allow_lists::{AllowLists, HeldBack, HoldingList};
use crate::servers::config::ServerConfig;
use crate::servers::enablement::Enablement;
use crate::servers::entry::{Entry, Unusable};
use crate::servers::merge::over_extension;
use crate::servers::reference_scope::borrowed_out_of_scope;
use crate::servers::shown::written_target;
use crate::settings::diagnostic::{Diagnostic, Diagnostics};
use crate::settings::raw::{RawEntry, RawServer, RawServerEntry, RawValue};
use crate::settings::source::{SettingsLayer, SettingsOrigin, SettingsSource};

/// What the settings mean.
#[derive(Clone, Debug, Default)]
pub struct ServerSet {
    /// The servers to use, in order.
    pub active: Vec<Arc<ServerConfig>>,
    /// What is not used, and why, in order.
    pub set_aside: Vec<SetAside>,
    /// What is wrong with the settings: of the layers first, then of the servers.
    pub diagnostics: Vec<Diagnostic>,
}

/// An entry that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Its name as it is written, which need not be one that a server may have.
    pub name: String,
    /// Where it is written.
    pub origin: SettingsOrigin,
    /// Why it is not used.
    pub reason: SetAsideReason,
    /// What would be started or spoken to, as it is written: nothing is filled in.
    pub written: Option<WrittenTarget>,
}

/// How an entry says that its server is reached, for people to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTarget {
    /// `stdio`, `http`, `sse` or `builtin`.
    pub transport: &'static str,
    /// A command line, an address or a name, with secrets covered.
    pub target: String,
}

/// What keeps servers back besides what the layers say themselves.
#[derive(Clone, Debug, Default)]
pub struct Switches {
    /// The servers of this run, in place of every `mcp.allowed`.
    pub allowed: Option<Vec<String>>,
    /// Servers of the workspace that are not what they were when the folder was trusted.
    pub unconfirmed: BTreeSet<String>,
    /// Servers that the person switched off, in the form of [`folded`].
    pub disabled: BTreeSet<String>,
    /// The same for as long as a session lasts.
    pub disabled_for_session: BTreeSet<String>,
}

/// A name as lists of servers compare it: without blanks around it, in lower case.
#[must_use]
pub fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Why an entry is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetAsideReason {
    /// A higher layer has an entry of the same name.
    Replaced {
        /// Where that one is written.
        by: SettingsOrigin,
    },
    /// There is a list `mcp.allowed` without it.
    NotAllowed {
        /// The place of the list; `None` for the list of a run.
        list: Option<SettingsOrigin>,
    },
    /// A list `mcp.excluded` has it.
    Excluded {
        /// The place in the list.
        list: Option<SettingsOrigin>,
    },
    /// `admin.mcp.enabled` is `false`: only the built-in server is used.
    SwitchedOff {
        /// The place of the setting.
        by: SettingsOrigin,
    },
    /// The person switched it off.
    Disabled {
        /// The file that disables it.
        file: PathBuf,
    },
    /// It was switched off for as long as this session lasts.
    DisabledForSession,
    /// It is brought by a folder that is not trusted.
    Untrusted,
    /// It is brought by a trusted folder, but is not what it was when the folder was trusted.
    Unconfirmed,
    /// There are [`SERVERS_MAX`] before it.
    TooMany,
    /// It cannot work; a diagnostic says so too.
    Unusable(String),
}

impl SetAsideReason {
    /// The place in a file that decides, if any.
    #[must_use]
    pub fn origin(&self) -> Option<SettingsOrigin> {
        match self {
            Self::Replaced { by } | Self::SwitchedOff { by } => Some(by.clone()),
            Self::NotAllowed { list } | Self::Excluded { list } => list.clone(),
            Self::Disabled { file } => {
                Some(SettingsOrigin { source: SettingsSource::User, path: Some(file.clone()), line: None })
            }
            Self::DisabledForSession | Self::Untrusted | Self::Unconfirmed | Self::TooMany | Self::Unusable(_) => None,
        }
    }
}

impl fmt::Display for SetAsideReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { by } => write!(f, "replaced by the entry in {by}"),
            Self::NotAllowed { list: Some(list) } => write!(f, "not in `mcp.allowed` of {list}"),
            Self::NotAllowed { list: None } => f.write_str("not in `--allowed-mcp-server-names`"),
            Self::Excluded { list: Some(list) } => write!(f, "in `mcp.excluded` of {list}"),
            Self::Excluded { list: None } => f.write_str("in `mcp.excluded`"),
            Self::SwitchedOff { by } => write!(f, "switched off by `admin.mcp.enabled` in {by}"),
            Self::Disabled { file } => write!(f, "disabled in {}", file.display()),
            Self::DisabledForSession => f.write_str("disabled for this session"),
            Self::Untrusted => f.write_str("the folder it comes with is not trusted"),
            Self::Unconfirmed => f.write_str("new or changed since the folder was trusted"),
            Self::TooMany => write!(f, "there are already {SERVERS_MAX} servers"),
            Self::Unusable(reason) => f.write_str(reason),
        }
    }
}

/// Finds out which servers the layers mean.
#[must_use]
pub fn resolve(layers: &[SettingsLayer], switches: &Switches, env: &HostEnv) -> ServerSet {
    let mut highest_first: Vec<&SettingsLayer> = layers.iter().collect();
    highest_first.sort_by_key(|layer| Reverse(layer.source));
    let lists = AllowLists::of(layers, switches.allowed.as_deref());
    let switched_off = switched_off(layers);
    let of_extensions = of_extensions(&highest_first, switches);
    let written: usize = layers.iter().map(|layer| layer.settings.mcp_servers.len()).sum();
    let mut set = ServerSet { active: Vec::with_capacity(written.min(SERVERS_MAX)), ..ServerSet::default() };
    set.diagnostics.extend(highest_first.iter().flat_map(|layer| layer.diagnostics.iter().cloned()));
    let mut found = Diagnostics::default();
    // Where the winner of each name stands; put into words only for those that it beats.
    let mut replacing: HashSet<&str> = HashSet::new();
    let mut winners: HashMap<&str, (&SettingsLayer, usize)> = HashMap::with_capacity(written);
    for layer in highest_first {
        for entry in &layer.settings.mcp_servers {
            let (name, line) = (&entry.name.value, entry.name.at.line);
            // What a folder writes is not mixed with what an extension of the person brings: headers and variables could go astray.
            let may_merge = |below: &SettingsLayer| !layer.is_of_workspace() || below.is_of_workspace();
            let extension = of_extensions
                .get(name.as_str())
                .filter(|(below, _)| layer.source > SettingsSource::Extension && may_merge(below));
            let result = if switches.awaits_confirmation(layer, name) {
                Err(SetAsideReason::Unconfirmed)
            } else if let Some((winner, line)) = winners.get(name.as_str()) {
                if winner.is_of_workspace() && !layer.is_of_workspace() {
                    replacing.insert(name);
                }
                Err(SetAsideReason::Replaced { by: winner.origin(*line) })
            } else if let Some(reason) = switches.holds_back(entry, &lists, env) {
                Err(reason)
            } else if let Some(by) = switched_off.as_ref().filter(|_| !is_built_in(entry)) {
                Err(SetAsideReason::SwitchedOff { by: by.clone() })
            } else if set.active.len() >= SERVERS_MAX {
                Err(SetAsideReason::TooMany)
            } else {
                resolve_entry(layer, entry, extension.copied(), (env, &mut found))
            };
            // What waits for a confirmation is as good as not written until it has it.
            if result != Err(SetAsideReason::Unconfirmed) {
                winners.entry(name).or_insert((layer, line));
            }
            match result {
                Ok(server) => set.active.push(Arc::new(server)),
                Err(reason) => set.set_aside.push(set_aside(entry, layer.origin(line), reason)),
            }
        }
    }
    for server in set.active.iter_mut().filter(|server| replacing.contains(server.name.as_str())) {
        Arc::make_mut(server).replaces_own = true;
    }
    set.diagnostics.extend(found.finish());
    set
}

/// The place that sets `admin.mcp.enabled` to `false`. `None` when no layer does.
fn switched_off(layers: &[SettingsLayer]) -> Option<SettingsOrigin> {
    let written = layers.iter().filter_map(|layer| Some((layer, layer.kept("admin.mcp.enabled")?)));
    let mut off = written.filter(|(_, value)| matches!(value.value, RawValue::Bool(false)));
    off.next_back().map(|(layer, value)| layer.origin(value.at.line))
}

fn is_built_in(entry: &RawServerEntry) -> bool {
    matches!(&entry.entry, RawEntry::Server(server) if server.builtin.is_some())
}

/// The entries of layers that are not in force because nobody trusts the folder they come with.
#[must_use]
pub fn untrusted(layers: &[SettingsLayer]) -> Vec<SetAside> {
    let entries = layers.iter().flat_map(|layer| layer.settings.mcp_servers.iter().map(move |entry| (layer, entry)));
    let aside = |(layer, entry): (&SettingsLayer, &RawServerEntry)| {
        set_aside(entry, layer.origin(entry.name.at.line), SetAsideReason::Untrusted)
    };
    entries.map(aside).collect()
}

fn set_aside(entry: &RawServerEntry, origin: SettingsOrigin, reason: SetAsideReason) -> SetAside {
    let written = match &entry.entry {
        RawEntry::Server(server) => written_target(server),
        RawEntry::Broken(_) => None,
    };
    // What cannot be taken for an address may be a secret at the wrong place.
    let is_refused = matches!(reason, SetAsideReason::Unusable(_));
    let written = written.filter(|written| !is_refused || written.transport == "stdio");
    SetAside { name: entry.name.value.clone(), origin, reason, written }
}

/// The servers that extensions bring. Of two with the same name the first counts.
fn of_extensions<'l>(
    layers: &[&'l SettingsLayer],
    switches: &Switches,
) -> HashMap<&'l str, (&'l SettingsLayer, &'l RawServer)> {
    let mut servers = HashMap::new();
    for layer in layers.iter().filter(|layer| layer.source == SettingsSource::Extension) {
        for entry in &layer.settings.mcp_servers {
            if let RawEntry::Server(server) = &entry.entry
                && !switches.awaits_confirmation(layer, &entry.name.value)
            {
                servers.entry(entry.name.value.as_str()).or_insert((*layer, &**server));
            }
        }
    }
    servers
}

impl Switches {
    fn awaits_confirmation(&self, layer: &SettingsLayer, name: &str) -> bool {
        layer.is_of_workspace() && self.unconfirmed.contains(name)
    }

    /// The first reason in the documented order: the lists, the session, the file.
    fn holds_back(&self, entry: &RawServerEntry, lists: &AllowLists, env: &HostEnv) -> Option<SetAsideReason> {
        let name = folded(&entry.name.value);
        if let Some(HoldingList { held_back, origin: list }) = lists.check(&name, lists.is_built_in(entry)) {
            return Some(match held_back {
                HeldBack::NotAllowed => SetAsideReason::NotAllowed { list },
                HeldBack::Excluded => SetAsideReason::Excluded { list },
            });
        }
        if self.disabled_for_session.contains(&name) {
            return Some(SetAsideReason::DisabledForSession);
        }
        let is_disabled = self.disabled.contains(&name);
        is_disabled.then(|| SetAsideReason::Disabled { file: Enablement::file(env) })
    }
}

fn resolve_entry(
    layer: &SettingsLayer,
    entry: &RawServerEntry,
    below: Option<(&SettingsLayer, &RawServer)>,
    (env, found): (&HostEnv, &mut Diagnostics),
) -> Result<ServerConfig, SetAsideReason> {
    let written = match &entry.entry {
        RawEntry::Server(written) => written,
        // The file's own diagnostics say so already.
        RawEntry::Broken(reason) => return Err(SetAsideReason::Unusable(reason.clone())),
    };
    let owner = below.map_or(layer, |(extension, _)| extension).extension.as_ref();
    let own_variables = owner.filter(|extension| !extension.variables.0.is_empty()).map(|extension| {
        let mut env = env.clone();
        env.vars.extend(extension.variables.0.clone());
        env
    });
    let work = Entry::new(own_variables.as_ref().unwrap_or(env), layer, &entry.name, found);
    let resolved = match below {
        Some((_, extension)) => match borrowed_out_of_scope(written, extension) {
            Some(out_of_scope) => Err(work.refuse_borrowed(&out_of_scope)),
            None => work.resolve(&over_extension(written, extension, entry.name.at)),
        },
        None => work.resolve(written),
    };
    let resolved = resolved.map(|server| ServerConfig { extension: owner.cloned(), ..server });
    resolved.map_err(|Unusable(reason)| SetAsideReason::Unusable(reason))
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
