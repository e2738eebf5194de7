//! One grant: what it covers, for how long, and what it was given for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::policy::Mode;
use crate::server_name::ServerName;

/// What a person wants remembered when they let a call through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remember {
    /// Nothing: this call only.
    No,
    /// This tool, for as long as the session lasts.
    ToolThisSession,
    /// This tool.
    ToolAlways,
    /// Every current tool of the server, until the session ends.
    ServerThisSession,
    /// Every tool the server has now.
    ServerAlways,
    /// This tool with these arguments.
    TheseArgumentsAlways,
}

/// What a grant covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantScope {
    /// One tool, with any arguments.
    Tool,
    /// The tools that the server had then.
    Server,
    /// The tools that the server marked as read-only when the grant was given.
    Reading,
    /// One tool with exactly these arguments, as canonical JSON.
    Arguments(String),
}

impl GrantScope {
    /// The word for it in the file and in JSON output.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Server => "server",
            Self::Reading => "reading",
            Self::Arguments(_) => "arguments",
        }
    }
}

/// What a person may say beside what is to be remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RememberOptions {
    /// When it ends; never, when `None`.
    pub expires_at: Option<SystemTime>,
}

/// Whether a grant counts, as far as that can be told without its server. One whose tool has changed since is found out when the tool is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantState {
    /// It does, while its tools and its server are what they were.
    Active,
    /// Its time is over.
    Expired,
}

impl GrantState {
    /// The word for it in JSON output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
        }
    }
}

/// One grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What it is called: short, unique, typed to revoke it.
    pub id: String,
    /// Whose tools.
    pub server: ServerName,
    /// Which server that was, by the hash of how it is reached: another one of the same name is not covered.
    pub server_identity: String,
    /// What it covers.
    pub scope: GrantScope,
    /// The tools it covers, each with the hash of its definition: a tool that changed is not covered.
    pub tools: BTreeMap<String, String>,
    /// The tightest mode it counts in; it counts in the more permissive ones too.
    pub mode: Mode,
    /// When it was given.
    pub given_at: SystemTime,
    /// In which folder.
    pub given_in: PathBuf,
    /// When it ends, if it does.
    pub expires_at: Option<SystemTime>,
}

impl Grant {
    /// Whether it speaks of a call at all: of that tool of that server, in that folder where folders matter.
    pub(super) fn is_about(&self, subject: &GrantSubject<'_>) -> bool {
        let is_here = subject.builtin.is_none() || self.given_in == subject.folder;
        self.server == *subject.server && self.tools.contains_key(subject.tool) && is_here
    }

    /// Whether it counts at that time.
    #[must_use]
    pub fn state_at(&self, now: SystemTime) -> GrantState {
        match self.expires_at {
            Some(end) if now >= end => GrantState::Expired,
            _ => GrantState::Active,
        }
    }
}

/// Tools that a server marks as read-only, for a grant that trusts these marks.
#[derive(Clone, Debug)]
pub struct ReadingTools<'a> {
    /// The server of the tools.
    pub server: &'a ServerName,
    /// Hash of the command or address of the server.
    pub server_identity: &'a str,
    /// The tools, each with the hash of its definition. The definition includes the mark.
    pub tools: BTreeMap<String, String>,
    /// The folder in which the grant is given.
    pub folder: &'a Path,
    /// Expiry; `None` when it never expires.
    pub expires_at: Option<SystemTime>,
}

/// A call, as far as grants look at it.
#[derive(Clone, Copy, Debug)]
pub struct GrantSubject<'a> {
    /// Whose tool.
    pub server: &'a ServerName,
    /// Hash of the command or address of the server.
    pub server_identity: &'a str,
    /// Which built-in server that is, when it is one.
    pub builtin: Option<&'a str>,
    /// What its server calls it.
    pub tool: &'a str,
    /// The hash of its definition.
    pub definition: &'a str,
    /// With what.
    pub arguments: &'a Value,
    /// In which folder. What a built-in server does depends on it, so what was allowed in one is not allowed in another.
    pub folder: &'a Path,
    /// In which mode.
    pub mode: Mode,
    /// All tools the server has now, with the hashes of their definitions.
    pub all_tools: &'a BTreeMap<String, String>,
}
