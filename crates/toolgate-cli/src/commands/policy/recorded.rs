//! A recorded call in the form that rules need, for commands that decide calls again.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate::audit::StoredCall;
use toolgate::filter::Arguments as Facts;
use toolgate::policy::{CallFacts, Mode, Presence};
use toolgate::servers::ServerConfig;
use toolgate::{Asker, ServerName};

use crate::configured::Configured;

/// Settings and trust, which the record does not contain.
#[derive(Clone, Copy)]
pub(super) struct Recorded<'a> {
    servers: &'a [Arc<ServerConfig>],
    folder_is_trusted: bool,
}

impl<'a> Recorded<'a> {
    pub(super) fn new(configured: &'a Configured) -> Self {
        let setup = configured.setup();
        Self { servers: &setup.servers.active, folder_is_trusted: setup.folder.is_vouched_for() }
    }

    /// Reads a call. `None` when its server has an invalid name.
    pub(super) fn look<T>(&self, call: &StoredCall, look: impl FnOnce(&CallFacts<'_>) -> T) -> Option<T> {
        let server = ServerName::new(&call.server).ok()?;
        let config = self.servers.iter().find(|one| one.name == server);
        let builtin = config.and_then(|config| config.transport.builtin());
        let annotations = if call.read_only { json!({"readOnlyHint": true}) } else { Value::Null };
        let folder = std::path::Path::new(&call.folder);
        let asker = Asker::ALL.into_iter().find(|asker| asker.as_str() == call.asker).unwrap_or(Asker::Cli);
        Some(look(&CallFacts {
            server: &server,
            builtin,
            tool: &call.tool,
            arguments: &Facts::new(&call.arguments).in_folder(folder),
            annotations: &annotations,
            mode: Mode::of(&call.mode).unwrap_or_default(),
            presence: if call.interactive { Presence::Interactive } else { Presence::Headless },
            asker,
            subagent: None,
            folder,
            folder_is_trusted: self.folder_is_trusted,
            remembered: None,
        }))
    }
}
