//! `ServerStatus`: where a server is in its life, and `ServerView`: what a front end is shown of it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolgate_wire::{Era, RawJson, Version};

use crate::error::{Error, ErrorKind};
use crate::server_name::{ServerName, as_word};
use crate::servers::ServerConfig;

/// Where a server is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerStatus {
    /// Not connected: not started yet, or lost.
    Disconnected,
    /// Being started or reached.
    Connecting,
    /// Ready for calls.
    Connected,
    /// Being closed.
    Disconnecting,
    /// It wants a login first.
    NeedsLogin,
    /// It could not be started, reached or understood.
    Failed,
    /// Switched off by the person.
    Disabled,
    /// Kept out by a list.
    Blocked,
}

impl ServerStatus {
    /// The word for it in JSON output, events and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Disconnecting => "disconnecting",
            Self::NeedsLogin => "needs_login",
            Self::Failed => "failed",
            Self::Disabled => "disabled",
            Self::Blocked => "blocked",
        }
    }

    /// Where a server stands whose start ended in `error`.
    pub(crate) fn after(error: &Error) -> Self {
        if error.kind() == ErrorKind::LoginNeeded { Self::NeedsLogin } else { Self::Failed }
    }
}

/// What a front end is shown of one server.
#[derive(Debug, Clone)]
pub struct ServerView {
    /// What it is meant to be.
    pub config: Arc<ServerConfig>,
    /// Where it is in its life.
    pub status: ServerStatus,
    /// Whether everything that was to be found out about it has been: it is ready, or it failed.
    pub is_settled: bool,
    /// What went wrong, if something did. A connected server may have an error too: one of its lists could not be read.
    pub error: Option<Error>,
    /// What was agreed with it, or with it in an earlier run.
    pub agreed: Option<Agreed>,
    /// Whether it is known from an earlier run only: it is started when it is used.
    pub is_remembered: bool,
    /// When it said that, as far as it is known from an earlier run only.
    pub remembered_at: Option<SystemTime>,
    /// How long listing what it offers took, when that went well.
    pub listing_took: Option<Duration>,
    /// Since when it is where it is.
    pub since: SystemTime,
    /// When it is tried again, where that is planned.
    pub next_attempt: Option<SystemTime>,
}

/// What a connected server said about itself.
#[derive(Debug, Clone)]
pub struct Agreed {
    /// The protocol version in use.
    pub version: Version,
    /// How the server wants to be spoken to; tells the two HTTP transports apart when the settings leave it open.
    pub era: Era,
    /// Its name and version, as it wrote them.
    pub info: RawJson,
    /// What it offers, as it wrote it.
    pub capabilities: RawJson,
    /// How long connecting took.
    pub took: Duration,
}

impl ServerView {
    /// Its name.
    pub fn name(&self) -> &ServerName {
        &self.config.name
    }

    /// Whether it is known from an earlier run, and could not be reached in this one.
    pub fn is_out_of_reach(&self) -> bool {
        self.is_remembered && matches!(self.status, ServerStatus::Failed | ServerStatus::NeedsLogin)
    }
}

/// Where in a server's life something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before it was connected, or while it was being understood.
    Start,
    /// While connected, and it still is.
    Connected,
    /// The connection is gone.
    Lost,
}

/// What went wrong with a server, as a sentence for the person; nothing when nothing did.
pub fn trouble(view: &ServerView) -> Option<String> {
    let stage = match view.status {
        ServerStatus::Connected => Stage::Connected,
        // It was connected when it said what is wrong.
        ServerStatus::Disconnected if view.is_remembered => Stage::Connected,
        ServerStatus::Disconnected => Stage::Lost,
        _ => Stage::Start,
    };
    view.error.as_ref().map(|error| sentence(&view.config, stage, error))
}

pub(crate) fn sentence(config: &ServerConfig, stage: Stage, error: &Error) -> String {
    let name = &config.name;
    match (error.kind(), stage) {
        (ErrorKind::LoginNeeded, _) => {
            let address = config.transport.target();
            format!("MCP server {name} ({address}) needs a login; run `toolgate mcp auth {}`", as_word(name))
        }
        (_, Stage::Connected) => format!("MCP server {name}: {error}"),
        (_, Stage::Lost) => format!("MCP server {name}: connection error: {error}"),
        (ErrorKind::Spawn | ErrorKind::Settings, Stage::Start) => {
            format!("MCP server {name}: could not be started: {error}")
        }
        (_, Stage::Start) => format!("MCP server {name}: discovery failed: {error}"),
    }
}
