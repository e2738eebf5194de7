//! `Error`: what went wrong, with which server, and what the person can do about it.

use std::fmt;
use std::sync::Arc;

use toolgate_wire as wire;

use crate::server_name::ServerName;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure that knows which server it is about. Cheap to clone: one failure may have many readers.
#[derive(Debug, Clone)]
pub struct Error(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    server: Option<ServerName>,
    message: String,
    hint: Option<String>,
    source: Option<wire::Error>,
}

/// What kind of failure, as far as a caller may want to act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Settings that cannot be read or used.
    Settings,
    /// Policies that cannot be read or used.
    Policy,
    /// A file in which toolgate keeps something cannot be read or written.
    State,
    /// The folder is not trusted, so nothing may be started.
    Untrusted,
    /// A program that could not be started.
    Spawn,
    /// A server that could not be reached, or was lost.
    Connect,
    /// The server wants a login.
    LoginNeeded,
    /// A login that was tried and did not work.
    LoginFailed,
    /// The server said something that is not MCP, or speaks no version we know.
    Protocol,
    /// Something from outside was larger than we take.
    Limit,
    /// The server runs as many calls as it may.
    Busy,
    /// No answer in time.
    TimedOut,
    /// The server answered with an error of its own.
    Refused,
    /// No server of that name.
    UnknownServer,
    /// No tool of that name.
    UnknownTool,
    /// No prompt of that name.
    UnknownPrompt,
    /// No resource at that address.
    UnknownResource,
    /// No kept result of that name.
    UnknownResult,
    /// Arguments that the tool or prompt does not take.
    InvalidArguments,
    /// A result that is not what the tool promised.
    InvalidResult,
}

impl ErrorKind {
    /// The word for it in JSON output and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Policy => "policy",
            Self::State => "state",
            Self::Untrusted => "untrusted",
            Self::Spawn => "spawn",
            Self::Connect => "connect",
            Self::LoginNeeded => "login_needed",
            Self::LoginFailed => "login_failed",
            Self::Protocol => "protocol",
            Self::Limit => "limit",
            Self::Busy => "busy",
            Self::TimedOut => "timed_out",
            Self::Refused => "refused_by_server",
            Self::UnknownServer => "unknown_server",
            Self::UnknownTool => "unknown_tool",
            Self::UnknownPrompt => "unknown_prompt",
            Self::UnknownResource => "unknown_resource",
            Self::UnknownResult => "unknown_result",
            Self::InvalidArguments => "invalid_arguments",
            Self::InvalidResult => "invalid_result",
        }
    }
}

impl Error {
    /// A failure of that kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, server: None, message: message.into(), hint: None, source: None }))
    }

    /// What a connection to `server` failed with.
    pub fn of_server(server: &ServerName, source: wire::Error) -> Self {
        let kind = kind_of(&source);
        let message = source.to_string();
        Self(Arc::new(Inner { kind, server: Some(server.clone()), message, hint: None, source: Some(source) }))
    }

    /// The same, about that server.
    #[must_use]
    pub fn about(self, server: &ServerName) -> Self {
        self.with(|inner| inner.server = Some(server.clone()))
    }

    /// The same, with what to do next.
    #[must_use]
    pub fn hinting(self, hint: impl Into<String>) -> Self {
        self.with(|inner| inner.hint = Some(hint.into()))
    }

    /// The same, with words before its own that say what was being done.
    #[must_use]
    pub fn while_doing(self, doing: &str) -> Self {
        self.with(|inner| inner.message = format!("{doing}: {}", inner.message))
    }

    fn with(self, change: impl FnOnce(&mut Inner)) -> Self {
        let Inner { kind, server, message, hint, source } = &*self.0;
        let (kind, server, message) = (*kind, server.clone(), message.clone());
        let mut inner = Inner { kind, server, message, hint: hint.clone(), source: source.clone() };
        change(&mut inner);
        Self(Arc::new(inner))
    }

    /// What kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Which server it is about.
    pub fn server(&self) -> Option<&ServerName> {
        self.0.server.as_ref()
    }

    /// What to do next.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// What the protocol layer said, when it comes from there.
    pub fn wire(&self) -> Option<&wire::Error> {
        self.0.source.as_ref()
    }
}

fn kind_of(source: &wire::Error) -> ErrorKind {
    match source {
        wire::Error::Rpc(_) => ErrorKind::Refused,
        wire::Error::TimedOut { .. } => ErrorKind::TimedOut,
        wire::Error::Limit(_) => ErrorKind::Limit,
        wire::Error::Spawn { .. } => ErrorKind::Spawn,
        wire::Error::LoginNeeded(_) => ErrorKind::LoginNeeded,
        wire::Error::Credentials(_) => ErrorKind::LoginFailed,
        wire::Error::Protocol(_) | wire::Error::UnknownVersion { .. } | wire::Error::NotInThisVersion { .. } => {
            ErrorKind::Protocol
        }
        _ => ErrorKind::Connect,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}
