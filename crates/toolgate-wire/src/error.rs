//! `Error`: everything that can go wrong between us and the other side, and `RpcError`: what the other side said.
//!
//! One error may have to reach many waiting calls, so it is cheap to clone; sources are kept behind an `Arc`.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use crate::limits::LimitBreach;
use crate::message::Method;
use crate::raw::{RawJson, write_string};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call, or a whole connection, failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The other side answered with an error.
    #[error("{0}")]
    Rpc(RpcError),
    /// The connection ended; the text says how.
    #[error("connection closed: {0}")]
    Closed(Arc<str>),
    /// No answer, and no sign of life, in time.
    #[error("`{method}` timed out: no answer{} within {after:?}", if *.idle { " or progress" } else { "" })]
    TimedOut {
        /// What was asked.
        method: Method,
        /// The limit that ran out.
        after: Duration,
        /// Whether it was the idle limit (progress would have reset it) or the total one.
        idle: bool,
    },
    /// A server that was started or reached, but did not finish the handshake.
    #[error("the server did not answer the handshake within {after:?}{}", last_words(.stderr))]
    NotAnswering {
        /// How long it had.
        after: Duration,
        /// The end of what it wrote to stderr.
        stderr: String,
    },
    /// Something from outside was larger than we take.
    #[error("too much: {0}")]
    Limit(LimitBreach),
    /// The other side said something that is not MCP.
    #[error("{0}")]
    Protocol(Arc<str>),
    /// A child process could not be started.
    #[error("cannot start `{program}`: {source}")]
    Spawn {
        /// The program as it was asked for.
        program: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The network or a pipe failed.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done, such as ``POST http://…``.
        doing: String,
        /// What the system said.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// The server answered with an HTTP status that is no answer to the call.
    #[error("{0}")]
    Http(Arc<HttpFailure>),
    /// The server wants a login, or a better one.
    #[error("the server asks for a login (HTTP {})", .0.status.as_u16())]
    LoginNeeded(Arc<HttpFailure>),
    /// Whoever knows who we are to the server could not tell: the request was not sent, or not again.
    #[error("{0}")]
    Credentials(Arc<str>),
    /// The server no longer knows our session, and has refused the request for that.
    #[error("the server has lost the session (HTTP {})", .0.as_u16())]
    SessionLost(StatusCode),
    /// A call has become a task that the server tells nothing more about: it may have been done or not.
    #[error("{0}")]
    TaskLost(Arc<str>),
    /// The server speaks no version that we know.
    #[error("the server speaks MCP {offered}, which is not supported; supported are {}", crate::era::Version::list())]
    UnknownVersion {
        /// What the server offered.
        offered: String,
    },
    /// The version that was agreed on has no such thing.
    #[error("`{what}` does not exist in MCP {version}")]
    NotInThisVersion {
        /// A method or a feature.
        what: String,
        /// The version in use.
        version: crate::era::Version,
    },
}

/// The last line that is not empty.
pub(crate) fn last_line(stderr: &str) -> &str {
    stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim()
}

/// The last line of a server's stderr, for the end of a sentence.
pub(crate) fn last_words(stderr: &str) -> String {
    let last = last_line(stderr);
    if last.is_empty() { String::new() } else { format!("; its last words: {}", last.escape_debug()) }
}

impl Error {
    pub(crate) fn protocol(what: impl Into<Arc<str>>) -> Self {
        Self::Protocol(what.into())
    }

    pub(crate) fn closed(why: impl Into<Arc<str>>) -> Self {
        Self::Closed(why.into())
    }

    pub(crate) fn io(doing: impl Into<String>, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Io { doing: doing.into(), source: Arc::from(source.into()) }
    }

    /// An HTTP failure that carries a JSON-RPC error is that error to whoever made the call.
    pub(crate) fn into_answer(self) -> Self {
        match self {
            Self::Http(failure) => match &failure.rpc {
                Some(rpc) => Self::Rpc(rpc.clone()),
                None => Self::Http(failure),
            },
            other => other,
        }
    }

    /// The JSON-RPC code, when the other side answered with an error.
    pub fn rpc_code(&self) -> Option<i64> {
        if let Self::Rpc(error) = self { Some(error.code) } else { None }
    }

    /// Whether the other side certainly did not execute the request although it can have left: it refused it because of who we are or
    /// because it has lost the session, or the request was never sent for want of credentials.
    pub fn was_refused_unseen(&self) -> bool {
        matches!(self, Self::SessionLost(_) | Self::LoginNeeded(_) | Self::Credentials(_))
    }

    /// Whether the connection is gone for good: no later call on it can succeed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

/// An HTTP status that ended a request, with what is needed to explain it or to log in.
#[derive(Debug, Clone)]
pub struct HttpFailure {
    /// Where the request went.
    pub url: String,
    /// What came back.
    pub status: StatusCode,
    /// Every `WWW-Authenticate` header, as sent.
    pub challenges: Vec<String>,
    /// The beginning of the body.
    pub body: String,
    /// The JSON-RPC error in the body, if there is one.
    pub rpc: Option<RpcError>,
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} answered HTTP {}", self.url, self.status)?;
        if let Some(rpc) = &self.rpc {
            return write!(f, ": {rpc}");
        }
        let body = self.body.trim();
        if !body.is_empty() {
            let short: String = body.chars().take(200).collect();
            write!(f, ": {short}")?;
        }
        Ok(())
    }
}

/// A JSON-RPC error, ours or theirs.
#[derive(Clone, PartialEq)]
pub struct RpcError {
    /// The code; see the constants.
    pub code: i64,
    /// The message.
    pub message: String,
    /// Anything more.
    pub data: Option<RawJson>,
    /// The error object as it arrived, so that it can be passed on unchanged.
    received: Option<RawJson>,
}

impl RpcError {
    /// Not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// JSON, but no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Wrong parameters; from 2026-07-28 on also: no such tool, prompt or resource.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// No such resource, before 2026-07-28.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// A URL has to be visited first (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// HTTP headers and body disagree (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client lacks a capability that the request needs (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not speak the version asked for (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;

    /// An error of our own.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, received: None }
    }

    /// The same with data.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<RawJson>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// `-32601` for `method`.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("method not found: {method}"))
    }

    /// `-32602` with what is wrong.
    pub fn invalid_params(what: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, what)
    }

    /// `-32603` with what failed.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(Self::INTERNAL_ERROR, what)
    }

    /// Whether it says, in one of the ways of servers in use, that the session is not known.
    pub fn says_session_is_lost(&self) -> bool {
        const CODES: [i64; 3] = [-32000, -32001, RpcError::INVALID_REQUEST];
        const WORDS: [&str; 6] = ["not found", "no valid", "invalid", "unknown", "expired", "terminated"];
        let text = self.message.to_ascii_lowercase();
        CODES.contains(&self.code) && text.contains("session") && WORDS.iter().any(|word| text.contains(word))
    }

    /// Reads whatever stands in `error`; an odd one becomes a readable message instead of a failure.
    pub(crate) fn lenient(raw: RawJson) -> Self {
        if !raw.is_object() {
            let message = raw.read::<String>().unwrap_or_else(|_| raw.to_string());
            return Self { code: Self::INTERNAL_ERROR, message, data: None, received: Some(raw) };
        }
        let (mut code, mut message, mut data) = (None, None, None);
        // A member that stands twice means its last value, as to most parsers.
        for (key, value) in raw.members() {
            match key.as_str() {
                "code" => code = value.read::<serde_json::Value>().ok(),
                "message" => message = Some(value),
                "data" => data = Some(value),
                _ => {}
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "a code like -32601.0 is meant as an integer")]
        let code = code.and_then(|code| code.as_i64().or_else(|| code.as_f64().map(|code| code as i64)));
        let message = match message.filter(|message| !message.is_null()) {
            None => "error without a message".to_owned(),
            Some(message) => message.read::<String>().unwrap_or_else(|_| message.to_string()),
        };
        Self { code: code.unwrap_or(Self::INTERNAL_ERROR), message, data, received: Some(raw) }
    }

    pub(crate) fn write_to(&self, out: &mut bytes::BytesMut) {
        if let Some(received) = &self.received {
            out.extend_from_slice(received.as_bytes());
            return;
        }
        out.extend_from_slice(format!("{{\"code\":{},\"message\":", self.code).as_bytes());
        write_string(out, &self.message);
        if let Some(data) = &self.data {
            out.extend_from_slice(b",\"data\":");
            out.extend_from_slice(data.as_bytes());
        }
        out.extend_from_slice(b"}");
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl fmt::Debug for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RpcError({self})")
    }
}

impl std::error::Error for RpcError {}

impl From<RpcError> for Error {
    fn from(error: RpcError) -> Self {
        Self::Rpc(error)
    }
}

/// What a server handler hands back when a call of its own failed inside.
impl From<Error> for RpcError {
    fn from(error: Error) -> Self {
        match error {
            Error::Rpc(error) => error,
            other => Self::internal(other.to_string()),
        }
    }
}
