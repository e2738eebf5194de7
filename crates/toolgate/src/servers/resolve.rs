//! Layers → servers: which entry of a name counts, which servers the lists hold back, and what is set aside with its reason.
//!
//! A pure function. The order is that of the settings, higher layers first, so that the built-in servers come last; an entry that replaces one
//! of a lower layer stands at its own place.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use crate::env::HostEnv;
use crate::limits::SERVERS_MAX;
use crate::servers::allow_lists::{AllowLists, HeldBack};
use crate::servers::config::ServerConfig;
use crate::servers::entry::{Entry, Unusable};
use crate::settings::diagnostic::{Diagnostic, Diagnostics};
use crate::settings::raw::{RawEntry, RawServerEntry};
use crate::settings::source::{SettingsLayer, SettingsOrigin};

/// What the settings mean.
#[derive(Clone, Debug, Default)]
pub struct ServerSet {
    /// The servers to use, in order.
    pub active: Vec<ServerConfig>,
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
    NotAllowed,
    /// A list `mcp.excluded` has it.
    Excluded,
    /// There are [`SERVERS_MAX`] before it.
    TooMany,
    /// It cannot work; a diagnostic says so too.
    Unusable(String),
}

impl fmt::Display for SetAsideReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { by } => write!(f, "replaced by the entry in {by}"),
            Self::NotAllowed => f.write_str("not in `mcp.allowed`"),
            Self::Excluded => f.write_str("in `mcp.excluded`"),
            Self::TooMany => write!(f, "there are already {SERVERS_MAX} servers"),
            Self::Unusable(reason) => f.write_str(reason),
        }
    }
}

/// Finds out which servers the layers mean.
#[must_use]
pub fn resolve(layers: &[SettingsLayer], env: &HostEnv) -> ServerSet {
    let mut highest_first: Vec<&SettingsLayer> = layers.iter().collect();
    highest_first.sort_by_key(|layer| Reverse(layer.source));
    let lists = AllowLists::of(layers);
    let mut set = ServerSet::default();
    set.diagnostics.extend(highest_first.iter().flat_map(|layer| layer.diagnostics.iter().cloned()));
    let mut found = Diagnostics::default();
    let mut winners: HashMap<&str, SettingsOrigin> = HashMap::new();
    for layer in highest_first {
        for entry in &layer.settings.mcp_servers {
            let (name, origin) = (&entry.name, layer.origin(entry.name.at.line));
            let result = match (winners.get(name.value.as_str()), lists.check(&name.value)) {
                (Some(by), _) => Err(SetAsideReason::Replaced { by: by.clone() }),
                (None, Some(HeldBack::Excluded)) => Err(SetAsideReason::Excluded),
                (None, Some(HeldBack::NotAllowed)) => Err(SetAsideReason::NotAllowed),
                (None, None) if set.active.len() >= SERVERS_MAX => Err(SetAsideReason::TooMany),
                (None, None) => resolve_entry(Entry::new(env, layer, name, &mut found), entry),
            };
            match result {
                Ok(server) => set.active.push(server),
                Err(reason) => {
                    set.set_aside.push(SetAside { name: name.value.clone(), origin: origin.clone(), reason })
                }
            }
            winners.entry(&name.value).or_insert(origin);
        }
    }
    set.diagnostics.extend(found.finish());
    set
}

fn resolve_entry(work: Entry<'_>, entry: &RawServerEntry) -> Result<ServerConfig, SetAsideReason> {
    let resolved = match &entry.entry {
        // The file's own diagnostics say so already.
        RawEntry::Broken(reason) => Err(Unusable(reason.clone())),
        RawEntry::Server(raw) => work.resolve(raw),
    };
    resolved.map_err(|Unusable(reason)| SetAsideReason::Unusable(reason))
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
