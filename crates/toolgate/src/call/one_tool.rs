//! `DiscoveredTool`: one tool of one server, to be kept and called by a program that has its own ideas of names, trust and time limits.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use toolgate_wire::RawJson;

use super::confirm::{Confirmation, ConfirmationRequest, Confirmer};
use super::context::CallContext;
use super::invoke::RunOptions;
use super::outcome::CallOutcome;
use super::run::{keep_answer, question_of, run_answered};
use crate::asker::Asker;
use crate::canonical_json;
use crate::error::Result;
use crate::grants::Remember;
use crate::limits::CONFIRMED_CALLS_MAX;
use crate::policy::{Mode, Permissions, Presence, ToolFacts};
use crate::registry::name::qualified;
use crate::registry::{Catalog, PreparedCall, ToolCall};

/// One tool, by its server and its own name.
#[derive(Debug, Clone)]
pub struct DiscoveredTool {
    call: PreparedCall,
    timeout: Option<Duration>,
    /// Arguments of calls that were confirmed but not made yet.
    confirmed: Arc<Mutex<Vec<String>>>,
}

/// A confirmation that a call needs. Dropping it leaves the call unanswered.
#[derive(Debug)]
pub struct ToolConfirmation<'t> {
    /// The question for the person.
    pub request: ConfirmationRequest,
    tool: &'t DiscoveredTool,
    context: &'t CallContext,
    call: PreparedCall,
}

impl ToolConfirmation<'_> {
    /// Answers the question. A call allowed once is the next one with these arguments. An answer to remember counts at once.
    pub async fn on_confirm(self, answer: Confirmation) {
        let Confirmation::Proceed(remember) = answer else { return };
        if remember != Remember::No && self.request.choices.contains(&remember) {
            keep_answer(self.context, &self.call, remember).await;
        }
        let mut confirmed = self.tool.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        if confirmed.len() >= CONFIRMED_CALLS_MAX {
            confirmed.remove(0);
        }
        confirmed.push(canonical(&self.call.arguments));
    }
}

/// Confirms only the call that was asked about before.
struct ConfirmedBefore;

impl Confirmer for ConfirmedBefore {
    fn confirm(&self, _question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        Box::pin(async { Confirmation::Proceed(Remember::No) })
    }
}

fn canonical(arguments: &RawJson) -> String {
    canonical_json::text(&arguments.read::<Value>().unwrap_or_default())
}

impl Permissions {
    /// The tool, if any call of it could be allowed with or without a question. `None` when every call is denied.
    #[must_use]
    pub fn secure_tool(&self, tool: DiscoveredTool) -> Option<DiscoveredTool> {
        let shown = &tool.call.tool;
        let annotations = shown.annotations().and_then(|raw| raw.read().ok()).unwrap_or_default();
        let facts = ToolFacts {
            server: &shown.id.server,
            builtin: tool.call.config().transport.builtin(),
            tool: &shown.id.tool,
            annotations: &annotations,
            mode: Mode::default(),
            presence: Presence::Interactive,
            asker: tool.call.asked_by,
            subagent: None,
            remembered: None,
        };
        self.visible(&facts).then_some(tool)
    }
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
        Ok(Self { call: catalog.prepare(call)?, timeout: None, confirmed: Arc::default() })
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

    /// The confirmation that a call with these arguments needs. `None` when it is allowed or denied without one;
    /// [`Self::execute`] then reports a denial.
    pub async fn should_confirm<'t>(
        &'t self,
        context: &'t CallContext,
        arguments: &RawJson,
    ) -> Option<ToolConfirmation<'t>> {
        let call = self.with(arguments.clone());
        let request = question_of(context, &call).await?;
        Some(ToolConfirmation { request, tool: self, context, call })
    }

    fn with(&self, arguments: RawJson) -> PreparedCall {
        PreparedCall { arguments, ..self.call.clone() }
    }

    /// Whether a call with these arguments was confirmed. The confirmation covers one call.
    fn take_confirmed(&self, arguments: &RawJson) -> bool {
        let mut confirmed = self.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        if confirmed.is_empty() {
            return false;
        }
        let wanted = canonical(arguments);
        let at = confirmed.iter().position(|one| *one == wanted);
        at.map(|at| confirmed.remove(at)).is_some()
    }

    /// Calls it, through everything that calls of the host go through. Dropping the future cancels the call at the server.
    pub async fn execute(&self, context: &CallContext, arguments: RawJson) -> CallOutcome {
        let is_confirmed = self.take_confirmed(&arguments);
        let answered: Option<&dyn Confirmer> = if is_confirmed { Some(&ConfirmedBefore) } else { None };
        let options = RunOptions { timeout: self.timeout, max_duration: None };
        run_answered(context, &self.with(arguments), options, answered).await
    }
}
