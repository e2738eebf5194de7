//! A server as data: which versions it speaks, what it offers, how it behaves and what goes wrong.
//! A script is serde data, so that the `scripted-server` program can be given it as an argument or a file.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::behaviour::Behaviour;
use crate::fault::{Fault, Trigger, What};
use crate::offer::{PromptScript, ResourceScript, ToolScript};

/// The protocol versions, oldest first.
pub const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Whether a version works without `initialize`, each request carrying its own metadata.
#[must_use]
pub fn is_modern(version: &str) -> bool {
    version >= "2026-07-28"
}

/// A whole server as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// `serverInfo.name`.
    pub name: String,
    /// The protocol versions it speaks; both eras together make a dual-era server.
    pub versions: Vec<String>,
    /// Its capabilities; `None` derives them from what it offers.
    pub capabilities: Option<Value>,
    /// Its instructions.
    pub instructions: Option<String>,
    /// Its tools.
    pub tools: Vec<ToolScript>,
    /// Its prompts.
    pub prompts: Vec<PromptScript>,
    /// Its resources.
    pub resources: Vec<ResourceScript>,
    /// The entries of `resources/templates/list`.
    pub templates: Vec<Value>,
    /// The result of `completion/complete`; `None` means the server has no completions.
    pub completion: Option<Value>,
    /// Further methods it knows.
    pub methods: BTreeMap<String, Behaviour>,
    /// Entries on one page of a list; `None` puts all on one.
    pub page_size: Option<usize>,
    /// `ttlMs` of lists and of reads (2026-07-28).
    pub ttl_ms: u64,
    /// `cacheScope` of lists and of reads (2026-07-28).
    pub cache_scope: CacheScope,
    /// How it behaves over HTTP.
    pub http: HttpScript,
    /// What goes wrong.
    pub faults: Vec<Fault>,
}

/// Who may share a cached answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheScope {
    /// Everybody.
    Public,
    /// Only the same authorization context.
    #[default]
    Private,
}

/// How a scripted server behaves over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpScript {
    /// How a POST is answered.
    pub answers: AnswerStyle,
    /// Whether `initialize` opens a session.
    pub sessions: Sessions,
    /// What a request with an unknown session gets.
    pub unknown_session: UnknownSession,
    /// Whether legacy clients may open the GET stream.
    pub get_stream: GetStream,
    /// Whether event streams start with an event that only carries an id, so that they can be resumed at once.
    pub priming: Priming,
}

impl Default for HttpScript {
    fn default() -> Self {
        Self {
            answers: AnswerStyle::Events,
            sessions: Sessions::Used,
            unknown_session: UnknownSession::NotFound,
            get_stream: GetStream::Offered,
            priming: Priming::None,
        }
    }
}

/// How a POST with a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStyle {
    /// By an event stream.
    Events,
    /// By one JSON document; by an event stream where something comes before the answer.
    Json,
}

/// Whether a legacy HTTP server has sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sessions {
    /// `initialize` answers with `Mcp-Session-Id` and every other request needs it.
    Used,
    /// There is one nameless session for everybody.
    Absent,
}

/// What a request with a session id nobody knows gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownSession {
    /// 404 with a JSON-RPC error that carries `"id": null`.
    NotFound,
    /// 400 with a JSON-RPC error without an id.
    BadRequestWithoutId,
    /// 400 with a plain text.
    BadRequestText,
}

/// Whether GET on the endpoint opens a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GetStream {
    /// It does.
    Offered,
    /// It is answered with 405.
    Refused,
}

/// Whether an event stream starts with an event that only carries an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priming {
    /// It does not.
    None,
    /// It does, without a `retry` value.
    Plain,
    /// It does, with this `retry` value in milliseconds.
    Retry(u64),
}

impl Default for Script {
    fn default() -> Self {
        Self::new("scripted")
    }
}

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("this is not a script: {source}; `Script::to_json` shows the form")]
pub struct ScriptError {
    #[from]
    source: serde_json::Error,
}

impl Script {
    /// A server of 2025-11-25 that offers nothing.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            versions: vec!["2025-11-25".to_owned()],
            capabilities: None,
            instructions: None,
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            completion: None,
            methods: BTreeMap::new(),
            page_size: None,
            ttl_ms: 0,
            cache_scope: CacheScope::Private,
            http: HttpScript::default(),
            faults: Vec::new(),
        }
    }

    /// The versions it speaks.
    #[must_use]
    pub fn versions(mut self, versions: &[&str]) -> Self {
        self.versions = versions.iter().map(|&version| version.to_owned()).collect();
        self
    }

    /// The capabilities it announces, in place of those derived from what it offers.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Its instructions.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: ToolScript) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: PromptScript) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Adds a resource.
    #[must_use]
    pub fn resource(mut self, resource: ResourceScript) -> Self {
        self.resources.push(resource);
        self
    }

    /// Adds a resource template, as listed.
    #[must_use]
    pub fn template(mut self, template: Value) -> Self {
        self.templates.push(template);
        self
    }

    /// The result of `completion/complete`.
    #[must_use]
    pub fn completion(mut self, result: Value) -> Self {
        self.completion = Some(result);
        self
    }

    /// Adds a method, or replaces what the server does for one it knows.
    #[must_use]
    pub fn method(mut self, method: impl Into<String>, behaviour: Behaviour) -> Self {
        self.methods.insert(method.into(), behaviour);
        self
    }

    /// Entries on one page of a list.
    #[must_use]
    pub const fn page_size(mut self, entries: usize) -> Self {
        self.page_size = Some(entries);
        self
    }

    /// The cache hints of 2026-07-28.
    #[must_use]
    pub const fn caching(mut self, ttl_ms: u64, scope: CacheScope) -> Self {
        self.ttl_ms = ttl_ms;
        self.cache_scope = scope;
        self
    }

    /// Answers POSTs with JSON instead of event streams.
    #[must_use]
    pub const fn json_answers(mut self) -> Self {
        self.http.answers = AnswerStyle::Json;
        self
    }

    /// Changes how it behaves over HTTP.
    #[must_use]
    pub fn http(mut self, change: impl FnOnce(&mut HttpScript)) -> Self {
        change(&mut self.http);
        self
    }

    /// Adds a fault.
    #[must_use]
    pub fn fault(mut self, when: impl Into<Trigger>, what: What) -> Self {
        self.faults.push(Fault { when: when.into(), what });
        self
    }

    /// The script as one line of JSON, as `scripted-server --script` takes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_value(self).map(|value| value.to_string()).unwrap_or_default()
    }

    /// Reads what [`Script::to_json`] wrote.
    ///
    /// # Errors
    /// When the text is not a script.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        Ok(serde_json::from_str(text)?)
    }

    /// The newest legacy version it speaks.
    pub(crate) fn newest_legacy(&self) -> Option<&str> {
        self.versions.iter().map(String::as_str).filter(|version| !is_modern(version)).max()
    }

    /// Whether it speaks a modern version.
    pub(crate) fn speaks_modern(&self) -> bool {
        self.versions.iter().any(|version| is_modern(version))
    }

    /// Whether it speaks this very version.
    pub(crate) fn speaks(&self, version: &str) -> bool {
        self.versions.iter().any(|spoken| spoken == version)
    }
}
