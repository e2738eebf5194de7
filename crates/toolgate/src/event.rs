//! `HostEvent`: the news of all stages as one closed enum; built by the host, read by front ends.

use std::time::Duration;

use tokio::sync::broadcast;

use crate::connect::{Kind, ServerStatus};
use crate::error::Error;
use crate::host::Reconciled;
use crate::server_name::ServerName;

/// Something happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum HostEvent {
    /// Discovery as a whole began or ended.
    Discovery(DiscoveryState),
    /// A server is somewhere else in its life.
    Status {
        /// Which server.
        server: ServerName,
        /// Where it is now.
        status: ServerStatus,
        /// What went wrong, if that is why.
        error: Option<Error>,
    },
    /// When a server that is not there is tried again.
    Planned {
        /// Which server.
        server: ServerName,
        /// How long from now; nothing when only somebody who uses it makes it try.
        wait: Option<Duration>,
    },
    /// Everything that was to be found out about a server has been.
    Settled(ServerName),
    /// A server offers something else than before.
    Changed {
        /// Which server.
        server: ServerName,
        /// Which of its lists.
        kind: Kind,
    },
    /// A server says something else about itself than before: who it is, in which version, or how it wants to be used.
    About(ServerName),
    /// Other servers are wanted than before.
    Reconciled(Reconciled),
    /// Something the person may want to know.
    Diagnostic(Diagnostic),
    /// Settings that changed while the host runs cannot be used; what was in force before stays so.
    SettingsRefused(Error),
    /// So many events were lost, because they were not read in time.
    Missed(u64),
}

/// Whether all servers have been asked what they offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DiscoveryState {
    /// No server was started.
    #[default]
    NotStarted,
    /// Some have not answered yet.
    InProgress,
    /// All have answered or failed.
    Completed,
}

/// A message about a server for the person.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// How serious.
    pub severity: Severity,
    /// About whom.
    pub server: ServerName,
    /// What.
    pub text: String,
}

/// How serious something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Something is left out.
    Warning,
    /// Something does not work.
    Error,
}

/// The events of a host, from the moment this was asked for.
#[derive(Debug)]
pub struct HostEvents(pub(crate) broadcast::Receiver<HostEvent>);

impl HostEvents {
    /// The next event; nothing when the host is gone.
    pub async fn next(&mut self) -> Option<HostEvent> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(HostEvent::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
