//! The gate between servers that are meant and servers that may be started. Nothing connects without having passed it.
//!
//! Every layer read so far belongs to the person who runs the program, so the gate lets all of them through. Whatever a folder brings
//! along has to pass here too.

use crate::servers::{ServerConfig, ServerSet};

/// Servers that may be started. [`admit`] is the only way to get them.
#[derive(Debug, Clone, Default)]
pub struct AdmittedServers(Vec<ServerConfig>);

impl AdmittedServers {
    /// The servers, in the order of the settings.
    pub fn iter(&self) -> impl Iterator<Item = &ServerConfig> {
        self.0.iter()
    }

    /// Only those that `keep` says.
    #[must_use]
    pub fn only(self, keep: impl Fn(&ServerConfig) -> bool) -> Self {
        Self(self.0.into_iter().filter(|server| keep(server)).collect())
    }

    pub(crate) fn into_inner(self) -> Vec<ServerConfig> {
        self.0
    }
}

/// Lets servers through.
pub fn admit(servers: ServerSet) -> AdmittedServers {
    AdmittedServers(servers.active)
}
