//! One server as it is meant: its name, how it is reached, its limits. Expanded, checked, and aware of its origin.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::glob::glob;
use crate::limits::{CALL_TIMEOUT_MS_DEFAULT, CONNECT_TIMEOUT_MS_DEFAULT};
pub use crate::server_name::{ServerName, ServerNameError};
use crate::servers::login::LoginConfig;
use crate::servers::shown::{shown_command, shown_url};
pub use crate::servers::text::ConfigText;
use crate::settings::raw::{OnBusy, StartMode};
use crate::settings::source::{Extension, SettingsOrigin, SettingsSource};

/// The built-in servers there are.
pub const BUILT_IN_SERVERS: &[&str] = &["workspace"];

/// One server as it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// What it is called.
    pub name: ServerName,
    /// How it is reached.
    pub transport: TransportConfig,
    /// How long a call may stay silent (`timeout`).
    pub call_timeout: Duration,
    /// How long a call may take in all (`maxDuration`).
    pub max_duration: Option<Duration>,
    /// How long connecting may take (`connectTimeout`).
    pub connect_timeout: Duration,
    /// Time limit for the first answer. `timeout` can raise it.
    pub start_limit: StartLimit,
    /// How many calls run at once (`maxConcurrency`).
    pub max_concurrency: usize,
    /// What happens to a call beyond that (`onBusy`).
    pub on_busy: OnBusy,
    /// When it is connected to (`start`).
    pub start: StartMode,
    /// Whether its tools need no confirmation (`trust`).
    pub trust: bool,
    /// What it is for, in the words of the settings.
    pub description: Option<String>,
    /// The tools to use, as written; `None` means all.
    pub include_tools: Option<Vec<String>>,
    /// The tools not to use, as written.
    pub exclude_tools: Vec<String>,
    /// The place of `security.strict`, when nothing is shown that is not included.
    pub strict: Option<SettingsOrigin>,
    /// Whether a workspace folder put it in place of the person's own server of that name.
    pub replaces_own: bool,
    /// Where it is written.
    pub origin: SettingsOrigin,
    /// The extension it belongs to, also when the settings change something about it.
    pub extension: Option<Arc<Extension>>,
}

impl ServerConfig {
    /// Whether the workspace folder brings the entry. Permissions in such an entry do not count.
    #[must_use]
    pub fn comes_with_folder(&self) -> bool {
        let is_of_its_extension = self.extension.as_ref().is_some_and(|extension| extension.is_of_workspace);
        self.origin.source == SettingsSource::Workspace || is_of_its_extension
    }

    /// What is said about logging in.
    #[must_use]
    pub fn login(&self) -> Option<&LoginConfig> {
        match &self.transport {
            TransportConfig::Http(http) | TransportConfig::Sse(http) | TransportConfig::HttpOrSse(http) => {
                http.login.as_deref()
            }
            TransportConfig::Stdio(_) | TransportConfig::BuiltIn(_) => None,
        }
    }

    /// The address, when it is one that can be known before the server is started.
    #[must_use]
    pub fn url(&self) -> Option<url::Url> {
        match &self.transport {
            TransportConfig::Http(http) | TransportConfig::Sse(http) | TransportConfig::HttpOrSse(http) => {
                url::Url::parse(http.url.as_plain()?).ok()
            }
            TransportConfig::Stdio(_) | TransportConfig::BuiltIn(_) => None,
        }
    }

    /// Whether both mean the same server in every respect. Where it is written does not matter.
    #[must_use]
    pub fn means_the_same(&self, other: &Self) -> bool {
        self.name == other.name && *self == Self { origin: self.origin.clone(), ..other.clone() }
    }
}

/// Time limits for the first answer of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartLimit {
    /// The limit for every server.
    pub limit: Duration,
    /// The limit for a starting program that writes to stderr; `None` grants no extra time.
    pub while_busy: Option<Duration>,
}

impl StartLimit {
    /// The limits that follow from the settings. A configured `connectTimeout` decides alone; `timeout` can only raise the limit.
    #[must_use]
    pub fn of(connect_timeout: Option<Duration>, timeout: Option<Duration>) -> Self {
        let default = Duration::from_millis(CONNECT_TIMEOUT_MS_DEFAULT);
        match (connect_timeout, timeout) {
            (Some(limit), _) => Self { limit, while_busy: None },
            (None, Some(timeout)) => Self { limit: timeout.max(default), while_busy: None },
            (None, None) => Self { limit: default, while_busy: Some(Duration::from_millis(CALL_TIMEOUT_MS_DEFAULT)) },
        }
    }
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportConfig {
    /// A program of its own, spoken to over its stdin and stdout.
    Stdio(StdioConfig),
    /// Streamable HTTP.
    Http(HttpConfig),
    /// The older HTTP with server-sent events.
    Sse(HttpConfig),
    /// Streamable HTTP, and the older one if the server does not speak it.
    HttpOrSse(HttpConfig),
    /// A built-in server, by its name in [`BUILT_IN_SERVERS`].
    BuiltIn(BuiltInConfig),
}

impl TransportConfig {
    /// The transport in one word: `stdio`, `http`, `sse` or `builtin`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) | Self::HttpOrSse(_) => "http",
            Self::Sse(_) => "sse",
            Self::BuiltIn(_) => "builtin",
        }
    }

    /// Which built-in server it is, when it is one.
    #[must_use]
    pub fn builtin(&self) -> Option<&str> {
        match self {
            Self::BuiltIn(built_in) => Some(&built_in.name),
            Self::Stdio(_) | Self::Http(_) | Self::Sse(_) | Self::HttpOrSse(_) => None,
        }
    }

    /// What is started or spoken to, as it may be shown: a command line with its secrets covered, an address without credentials and query,
    /// or the name of a built-in server. References to secrets are shown as they are written.
    #[must_use]
    pub fn target(&self) -> String {
        match self {
            Self::Stdio(stdio) => shown_command(&stdio.command, &stdio.args),
            Self::Http(http) | Self::Sse(http) | Self::HttpOrSse(http) => shown_url(&http.url),
            Self::BuiltIn(built_in) => built_in.name.clone(),
        }
    }
}

/// A server inside this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltInConfig {
    /// Its name.
    pub name: String,
    /// The folders beside the workspace that it serves, absolute and without links.
    pub included: Vec<PathBuf>,
}

impl From<&str> for BuiltInConfig {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), included: Vec::new() }
    }
}

/// A program to start.
#[derive(Clone, PartialEq, Eq)]
pub struct StdioConfig {
    /// The program: a path, or a name to look up in the `PATH` of its environment.
    pub command: String,
    /// Its arguments.
    pub args: Vec<ConfigText>,
    /// Variables of its own, which win over everything it is passed from the host.
    pub env: BTreeMap<String, ConfigText>,
    /// Names and globs of variables that the server inherits (`inheritEnv`).
    pub inherit_env: Vec<String>,
    /// The folder it runs in; the workspace folder when `None`.
    pub cwd: Option<PathBuf>,
}

impl StdioConfig {
    /// Whether `inheritEnv` covers a variable.
    #[must_use]
    pub fn inherits(&self, name: &str) -> bool {
        let upper = name.to_ascii_uppercase();
        self.inherit_env.iter().any(|entry| glob(&entry.to_ascii_uppercase(), &upper))
    }
}

impl fmt::Debug for StdioConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.keys().collect();
        f.debug_struct("StdioConfig")
            .field("command", &shown_command(&self.command, &self.args))
            .field("env", &names)
            .field("inherit_env", &self.inherit_env)
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// An address to speak to.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// The address; checked to be one for HTTP, as far as it is known.
    pub url: ConfigText,
    /// Headers for every request; names and values are checked to be sendable, as far as they are known.
    pub headers: BTreeMap<String, ConfigText>,
    /// How to log in, when something is said about it.
    pub login: Option<Box<LoginConfig>>,
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.keys().collect();
        f.debug_struct("HttpConfig").field("url", &shown_url(&self.url)).field("headers", &names).finish()
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
