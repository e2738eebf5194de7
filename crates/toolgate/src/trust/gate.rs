//! The gate between servers that are meant and servers that may be started. Nothing connects without having passed it.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::servers::{ServerConfig, ServerSet};
use crate::trust::folder::{DecidedBy, EDITOR_VARIABLE, Folder, THIS_RUN_VARIABLE};

/// Servers that may be started. [`admit`] is the only way to get them.
#[derive(Debug, Clone, Default)]
pub struct AdmittedServers(Vec<Arc<ServerConfig>>);

impl AdmittedServers {
    /// The servers, in the order of the settings.
    pub fn iter(&self) -> impl Iterator<Item = &ServerConfig> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Only those that `keep` says.
    #[must_use]
    pub fn only(self, keep: impl Fn(&ServerConfig) -> bool) -> Self {
        Self(self.0.into_iter().filter(|server| keep(server)).collect())
    }

    /// The same, to be shared.
    pub(crate) fn shared(&self) -> &[Arc<ServerConfig>] {
        &self.0
    }

    pub(crate) fn into_inner(self) -> Vec<Arc<ServerConfig>> {
        self.0
    }
}

/// Lets the servers through that may be started in that folder.
///
/// Whoever made the set has left out what the folder may not bring. It is looked at again here, because nothing stands behind this gate.
///
/// # Errors
/// When nothing may be: the folder is not trusted.
pub fn admit(servers: &ServerSet, folder: &Folder) -> Result<AdmittedServers> {
    if !folder.lets_own_servers_start() {
        return Err(untrusted(folder));
    }
    let may_start = |server: &&Arc<ServerConfig>| {
        !folder.brings(server) || (folder.is_trusted() && !folder.unconfirmed().contains(server.name.as_str()))
    };
    Ok(AdmittedServers(servers.active.iter().filter(may_start).cloned().collect()))
}

fn untrusted(folder: &Folder) -> Error {
    let why = match folder.by() {
        DecidedBy::Rule { path, level } => format!(" (the rule for {} says {level})", path.display()),
        DecidedBy::ThisRun => " in this run".to_owned(),
        DecidedBy::Editor => " by the editor".to_owned(),
        DecidedBy::NothingBrought | DecidedBy::SwitchedOff | DecidedBy::Nobody => String::new(),
    };
    let message = format!("the folder {} is not trusted{why}, so nothing is started", folder.path().display());
    let way = match folder.by() {
        // A saved decision comes after that of the editor.
        DecidedBy::Editor => format!("trust it in the editor, or unset {EDITOR_VARIABLE}"),
        _ => "`toolgate trust` shows what it would start and trusts it".to_owned(),
    };
    let hint = format!("{way}; `--trust-folder` or {THIS_RUN_VARIABLE}=true does for one run");
    Error::new(ErrorKind::Untrusted, message).hinting(hint)
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
