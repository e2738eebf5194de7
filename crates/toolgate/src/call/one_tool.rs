//! `DiscoveredTool`: one tool of one server, to be kept and called by a program that has its own ideas of names, trust and time limits.

use std::time::Duration;

use toolgate_wire::RawJson;

use super::context::CallContext;
use super::invoke::RunOptions;
use super::outcome::CallOutcome;
use super::run::run;
use crate::asker::Asker;
use crate::error::Result;
use crate::registry::name::qualified;
use crate::registry::{Catalog, PreparedCall, ToolCall};

/// One tool, by its server and its own name.
#[derive(Debug, Clone)]
pub struct DiscoveredTool {
    call: PreparedCall,
    timeout: Option<Duration>,
}

/// A tool as models are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionDeclaration {
    /// The name to call it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes, as its server wrote it.
    pub parameters: RawJson,
}

impl DiscoveredTool {
    /// The tool that `server` calls `tool`, under the name the catalog shows.
    pub fn of(catalog: &Catalog, server: &str, tool: &str) -> Result<Self> {
        let shown = catalog.tool_of(server, tool).ok_or_else(|| catalog.unknown(&qualified(server, tool)))?;
        let call = ToolCall { name: shown.name.to_string(), arguments: RawJson::EMPTY_OBJECT, asked_by: Asker::Model };
        Ok(Self { call: catalog.prepare(call)?, timeout: None })
    }

    /// The same tool under another name. Its server still hears its own.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.call.name = name.into();
        self
    }

    /// The same tool as `server__tool`, a name that only it has.
    #[must_use]
    pub fn as_fully_qualified(&self) -> Self {
        let id = &self.call.tool.id;
        self.clone().named(qualified(&id.server, &id.tool))
    }

    /// Whether calls need no confirmation, as far as nothing written asks for one.
    #[must_use]
    pub fn trusted(mut self, trusted: bool) -> Self {
        self.call.is_trusted = Some(trusted);
        self
    }

    /// How long a call may stay without a sign of life.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.call.name
    }

    /// Whose tool it is.
    pub fn server(&self) -> &str {
        &self.call.tool.id.server
    }

    /// What its server calls it.
    pub fn server_tool_name(&self) -> &str {
        &self.call.tool.id.tool
    }

    /// Whether calls need no confirmation.
    pub fn is_trusted(&self) -> bool {
        self.call.is_trusted.unwrap_or(self.call.tool.trusted)
    }

    /// The tool as models are told of it.
    pub fn declaration(&self) -> FunctionDeclaration {
        FunctionDeclaration {
            name: self.call.name.clone(),
            description: self.call.tool.description().unwrap_or_default().to_owned(),
            parameters: self.call.tool.input_schema(),
        }
    }

    /// Calls it, through everything that calls of the host go through. Dropping the future cancels the call at the server.
    pub async fn execute(&self, context: &CallContext, arguments: RawJson) -> CallOutcome {
        let mut call = self.call.clone();
        call.arguments = arguments;
        run(context, &call, RunOptions { timeout: self.timeout, max_duration: None }).await
    }
}
