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
    Lent(RwLock<HashSet<ServerName>>),
}

impl Shown {
    /// None yet.
    pub(super) fn none_yet() -> Self {
        Self::Lent(RwLock::default())
    }

    /// Whether they are somebody else's.
    pub(super) const fn are_lent(&self) -> bool {
        matches!(self, Self::Lent(_))
    }

    /// Shows these too.
    pub(super) fn add(&self, servers: impl Iterator<Item = ServerName>) {
        if let Self::Lent(shown) = self {
            shown.write().unwrap_or_else(PoisonError::into_inner).extend(servers);
        }
    }

    /// Whether that one is shown.
    pub(super) fn has(&self, server: &ServerName) -> bool {
        match self {
            Self::All => true,
            Self::Lent(shown) => shown.read().unwrap_or_else(PoisonError::into_inner).contains(server),
        }
    }
}
