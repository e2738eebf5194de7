//! The shapes exactly as a settings file spells them: optional, unexpanded, each value with its place.
//!
//! What a value means is decided later, in [`servers`](crate::servers) for servers. Values of variables, headers and addresses may be secret,
//! so nothing here prints them.

use std::fmt;

use crate::settings::position::{Located, Position};

/// One settings file.
#[derive(Clone, Debug, Default)]
pub struct RawSettings {
    /// `mcpServers`, in the order of the file.
    pub mcp_servers: Vec<RawServerEntry>,
    /// `mcp`.
    pub mcp: RawMcp,
    /// `tools`.
    pub tools: RawTools,
    /// `security`.
    pub security: RawSecurity,
    /// `advanced`.
    pub advanced: RawAdvanced,
    /// The other documented keys, which later stages look into.
    pub others: Vec<RawMember>,
}

/// One entry of `mcpServers`.
#[derive(Clone, Debug)]
pub struct RawServerEntry {
    /// The name, at the place of the key.
    pub name: Located<String>,
    /// What stands there.
    pub entry: RawEntry,
}

/// What an entry of `mcpServers` holds.
#[derive(Clone, Debug)]
pub enum RawEntry {
    /// A server.
    Server(Box<RawServer>),
    /// Something that cannot be taken for one, and why. It still stands in the way of the same name in lower layers: whoever wrote it did
    /// not mean the other one.
    Broken(String),
}

/// One server, field by field.
#[derive(Clone, Default)]
pub struct RawServer {
    /// `command`: the program of a stdio server.
    pub command: Option<Located<String>>,
    /// `args`: its arguments.
    pub args: Option<RawList>,
    /// `env`: variables of its own.
    pub env: Option<RawMap>,
    /// `inheritEnv`: variables of the host that the server gets. `true` is read as `*`.
    pub inherit_env: Option<RawList>,
    /// `cwd`: the folder it runs in.
    pub cwd: Option<Located<String>>,
    /// `url`: the address of a remote server.
    pub url: Option<Located<String>>,
    /// `httpUrl`: the older key for an address that speaks streamable HTTP.
    pub http_url: Option<Located<String>>,
    /// `headers`: sent with every request.
    pub headers: Option<RawMap>,
    /// `type`: how the address is spoken to.
    pub transport_type: Option<Located<TransportType>>,
    /// `tcp`: accepted for the sake of other clients; nothing connects that way.
    pub tcp: Option<Located<String>>,
    /// `builtin`: the name of a built-in server.
    pub builtin: Option<Located<String>>,
    /// `timeout`: how long a call may stay silent, in milliseconds.
    pub timeout: Option<Located<f64>>,
    /// `connectTimeout`: how long connecting may take, in milliseconds.
    pub connect_timeout: Option<Located<f64>>,
    /// `maxDuration`: how long a call may take in all, in milliseconds.
    pub max_duration: Option<Located<f64>>,
    /// `maxConcurrency`: how many calls run at once.
    pub max_concurrency: Option<Located<f64>>,
    /// `onBusy`: what happens to a call beyond that.
    pub on_busy: Option<Located<OnBusy>>,
    /// `start`: when it is connected to.
    pub start: Option<Located<StartMode>>,
    /// `trust`: its tools need no confirmation.
    pub trust: Option<Located<bool>>,
    /// `description`: shown to people.
    pub description: Option<Located<String>>,
    /// `includeTools`: only these.
    pub include_tools: Option<RawList>,
    /// `excludeTools`: not these.
    pub exclude_tools: Option<RawList>,
    /// `headersHelper`: a command that prints more headers.
    pub headers_helper: Option<Located<String>>,
    /// `oauth`: how to log in.
    pub oauth: Option<Located<RawValue>>,
    /// `authProviderType`: who gives the credentials.
    pub auth_provider_type: Option<Located<AuthProviderType>>,
    /// `targetAudience`: the client id for impersonation.
    pub target_audience: Option<Located<String>>,
    /// `targetServiceAccount`: the account for impersonation.
    pub target_service_account: Option<Located<String>>,
}

impl RawServer {
    /// Says that everything with a text that may be complained about stands at another place.
    pub(crate) fn move_to(&mut self, at: Position) {
        let single = [&mut self.command, &mut self.cwd, &mut self.url, &mut self.http_url, &mut self.builtin];
        single.into_iter().flatten().for_each(|text| text.at = at);
        self.args.iter_mut().flat_map(|args| &mut args.value).for_each(|arg| arg.at = at);
        self.inherit_env.iter_mut().for_each(|list| list.at = at);
        let maps = [&mut self.env, &mut self.headers];
        for pair in maps.into_iter().flatten().flat_map(|map| &mut map.value) {
            (pair.name.at, pair.value.at) = (at, at);
        }
        let numbers = [&mut self.timeout, &mut self.connect_timeout, &mut self.max_duration, &mut self.max_concurrency];
        numbers.into_iter().flatten().for_each(|number| number.at = at);
    }

    /// Changes every text in which variables may stand.
    pub(crate) fn change_texts(&mut self, change: &mut dyn FnMut(&mut String)) {
        let single = [&mut self.command, &mut self.cwd, &mut self.url, &mut self.http_url];
        single.into_iter().flatten().for_each(|text| change(&mut text.value));
        self.args.iter_mut().flat_map(|args| &mut args.value).for_each(|arg| change(&mut arg.value));
        let maps = [&mut self.env, &mut self.headers];
        let pairs = maps.into_iter().flatten().flat_map(|map| &mut map.value);
        pairs.for_each(|pair| change(&mut pair.value.value));
        if let Some(oauth) = &mut self.oauth {
            oauth.value.change_texts(change);
        }
    }
}

impl fmt::Debug for RawServer {
    /// Arguments, variables, headers and addresses may be secret: only what the server is, is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawServer")
            .field("command", &self.command.as_ref().map(|command| &command.value))
            .field("has_url", &(self.url.is_some() || self.http_url.is_some()))
            .field("builtin", &self.builtin.as_ref().map(|builtin| &builtin.value))
            .finish_non_exhaustive()
    }
}

/// A list of strings.
pub type RawList = Located<Vec<Located<String>>>;

/// An object whose values are strings, in the order of the file.
pub type RawMap = Located<Vec<RawPair>>;

/// A name and its value.
#[derive(Clone, PartialEq, Eq)]
pub struct RawPair {
    /// The name.
    pub name: Located<String>,
    /// The value, which may be secret.
    pub value: Located<String>,
}

impl fmt::Debug for RawPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawPair").field("name", &self.name.value).finish_non_exhaustive()
    }
}

/// `type` of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportType {
    /// `stdio`
    Stdio,
    /// `http`
    Http,
    /// `sse`
    Sse,
}

/// `onBusy` of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBusy {
    /// `queue`: the call waits for its turn.
    #[default]
    Queue,
    /// `reject`: the call fails.
    Reject,
}

/// `start` of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartMode {
    /// `auto`: as the host finds best.
    #[default]
    Auto,
    /// `eager`: with the host.
    Eager,
    /// `lazy`: when it is needed.
    Lazy,
}

/// `authProviderType` of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthProviderType {
    /// `dynamic_discovery`: the server says who.
    #[default]
    DynamicDiscovery,
    /// `google_credentials`: the credentials of this machine.
    GoogleCredentials,
    /// `service_account_impersonation`: an account acted for.
    ServiceAccountImpersonation,
}

/// `oauth.grantType`: how a token is got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrantKind {
    /// A person logs in, in a browser.
    #[default]
    AuthorizationCode,
    /// A person logs in, on any device.
    DeviceCode,
    /// A machine logs in as itself.
    ClientCredentials,
    /// A workload logs in with a statement about it (workload identity federation).
    WorkloadIdentity,
    /// A person's login at their company's identity provider is exchanged (enterprise-managed authorization).
    Enterprise,
}

impl GrantKind {
    /// Whether a person has to be there.
    #[must_use]
    pub const fn needs_a_person(self) -> bool {
        matches!(self, Self::AuthorizationCode | Self::DeviceCode)
    }
}

/// `mcp`: all servers together.
#[derive(Clone, Debug, Default)]
pub struct RawMcp {
    /// `serverCommand`: the command line of one more server, called `mcp`.
    pub server_command: Option<Located<String>>,
    /// `connectLimit`: how many are connected to at once.
    pub connect_limit: Option<Located<f64>>,
    /// `allowed`: only these servers.
    pub allowed: Option<RawList>,
    /// `excluded`: not these servers.
    pub excluded: Option<RawList>,
    /// The other documented keys.
    pub others: Vec<RawMember>,
}

/// `tools`: all tools together.
#[derive(Clone, Debug, Default)]
pub struct RawTools {
    /// `naming`: how tools are called.
    pub naming: Option<Located<ToolNaming>>,
    /// `exclude`: tools that nobody sees.
    pub exclude: Option<RawList>,
    /// `truncateToolOutputThreshold`: the longest output a model gets, in characters.
    pub truncate_tool_output_threshold: Option<Located<f64>>,
    /// `search.mode`: when a model searches for tools.
    pub search_mode: Option<Located<SearchMode>>,
    /// `search.threshold`: above how much it does.
    pub search_threshold: Option<Located<f64>>,
    /// `search.pinned`: tools that stay in view.
    pub search_pinned: Option<RawList>,
    /// The other documented keys.
    pub others: Vec<RawMember>,
}

/// `tools.search.mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchMode {
    /// `auto`: above the threshold.
    #[default]
    Auto,
    /// `on`: always.
    On,
    /// `off`: never.
    Off,
}

/// `tools.naming`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolNaming {
    /// `short`: a tool keeps its own name.
    #[default]
    Short,
    /// `qualified`: the server is part of every name.
    Qualified,
}

/// `security`.
#[derive(Clone, Debug, Default)]
pub struct RawSecurity {
    /// `folderTrust.enabled`: whether folders need to be trusted at all.
    pub folder_trust_enabled: Option<Located<bool>>,
    /// `folderTrust.userServers`: whether the person's own servers are used in folders that are not trusted.
    pub folder_trust_user_servers: Option<Located<bool>>,
    /// `environmentVariableRedaction.allowed`: variables that may reach servers in spite of their name.
    pub env_allowed: Option<RawList>,
    /// `environmentVariableRedaction.blocked`: variables that never reach servers.
    pub env_blocked: Option<RawList>,
    /// The other documented keys.
    pub others: Vec<RawMember>,
}

/// `advanced`.
#[derive(Clone, Debug, Default)]
pub struct RawAdvanced {
    /// `ignoreLocalEnv`: `.env` files of projects are not read.
    pub ignore_local_env: Option<Located<bool>>,
    /// `excludedEnvVars`: names that are not taken from the `.env` files of projects.
    pub excluded_env_vars: Option<RawList>,
    /// The other keys.
    pub others: Vec<RawMember>,
}

/// A key that is kept as it was written.
#[derive(Clone, Debug)]
pub struct RawMember {
    /// The key.
    pub key: Located<String>,
    /// Its value.
    pub value: Located<RawValue>,
}

/// Any JSON value, each part with its place.
#[derive(Clone)]
pub enum RawValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written.
    Number(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Located<Self>>),
    /// An object in the order of the file.
    Object(Vec<RawMember>),
}

impl RawValue {
    /// The text, when it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Every text in it, at any depth.
    pub(crate) fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::List(list) => list.iter().flat_map(|one| one.value.texts()).collect(),
            Self::Object(members) => members.iter().flat_map(|member| member.value.value.texts()).collect(),
            Self::Null | Self::Bool(_) | Self::Number(_) => Vec::new(),
        }
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Text(text) => change(text),
            Self::List(list) => list.iter_mut().for_each(|one| one.value.change_texts(change)),
            Self::Object(members) => members.iter_mut().for_each(|member| member.value.value.change_texts(change)),
            Self::Null | Self::Bool(_) | Self::Number(_) => (),
        }
    }
}

impl fmt::Debug for RawValue {
    /// Says what kind of value it is. Which of them are secret is known only to who understands the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(_) => f.write_str("a number"),
            Self::Text(_) => f.write_str("a string"),
            Self::List(list) => f.debug_list().entries(list.iter().map(|one| &one.value)).finish(),
            Self::Object(members) => {
                f.debug_map().entries(members.iter().map(|one| (&one.key.value, &one.value.value))).finish()
            }
        }
    }
}
