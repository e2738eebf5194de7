//! Which servers a host shows: all of its own, or some of those of another host that lends them.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use crate::server_name::ServerName;

/// The servers that are shown.
#[derive(Debug, Default)]
pub(super) enum Shown {
    /// All.
    #[default]
    All,
    /// Those that were asked for; there may be more, for others.
    Lent {
        /// Which.
        servers: RwLock<HashSet<ServerName>>,
        /// How what they offer is named.
        names: Names,
    },
}

/// How what lent servers offer is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Names {
    /// As if there were no other servers, and nothing had been named before.
    #[default]
    Anew,
    /// As the host that lends them has shown them.
    Kept,
}

impl Shown {
    /// None yet.
    pub(super) fn none_yet() -> Self {
        Self::Lent { servers: RwLock::default(), names: Names::default() }
    }

    /// The same, with the names that were shown before.
    pub(super) fn keep_names(&mut self) {
        if let Self::Lent { names, .. } = self {
            *names = Names::Kept;
        }
    }

    /// Whether names mean what they meant before, whatever arrives later.
    pub(super) const fn keeps_names(&self) -> bool {
        matches!(self, Self::Lent { names: Names::Kept, .. })
    }

    /// Whether they are somebody else's.
    pub(super) const fn are_lent(&self) -> bool {
        matches!(self, Self::Lent { .. })
    }

    /// Shows these too.
    pub(super) fn add(&self, servers: impl Iterator<Item = ServerName>) {
        if let Self::Lent { servers: shown, .. } = self {
            shown.write().unwrap_or_else(PoisonError::into_inner).extend(servers);
        }
    }

    /// Whether that one is shown.
    pub(super) fn has(&self, server: &ServerName) -> bool {
        match self {
            Self::All => true,
            Self::Lent { servers: shown, .. } => shown.read().unwrap_or_else(PoisonError::into_inner).contains(server),
        }
    }
}
