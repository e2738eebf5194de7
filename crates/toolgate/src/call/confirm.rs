//! `Confirmer`: who is asked before a call, what they are shown, and what they may answer.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use toolgate_wire::RawJson;

use super::edit_preview::Edit;
use crate::asker::Asker;
use crate::grants::Remember;
use crate::policy::Verdict;
use crate::registry::CatalogTool;

/// What a person is asked. What comes from a server has to be made visible before it reaches a terminal.
#[derive(Clone, Debug)]
pub struct ConfirmationRequest {
    /// The kind of call.
    pub kind: ConfirmationKind,
    /// The heading of the question.
    pub title: &'static str,
    /// The name it was called by.
    pub name: String,
    /// The tool, with its server, title, description and hints.
    pub tool: CatalogTool,
    /// With what.
    pub arguments: RawJson,
    /// Who asks.
    pub asked_by: Asker,
    /// Which rule asks, and why.
    pub verdict: Verdict,
    /// What it would change in a file, when that is known beforehand.
    pub edit: Option<Edit>,
    /// The answers that may be remembered here, besides once.
    pub choices: Vec<Remember>,
}

/// The subject of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfirmationKind {
    /// A tool of a server.
    Mcp,
    /// A shell command of the built-in server.
    Exec,
    /// A change of a file by the built-in server.
    Edit,
}

impl ConfirmationKind {
    /// The kind of confirmation for a call of this tool.
    pub(super) fn of(builtin: Option<&str>, tool: &str) -> Self {
        match tool {
            "run_shell_command" if builtin.is_some() => Self::Exec,
            "write_file" | "replace" if builtin.is_some() => Self::Edit,
            _ => Self::Mcp,
        }
    }

    /// The kind as a word for JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Exec => "exec",
            Self::Edit => "edit",
        }
    }

    /// The heading of the question.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Mcp => "Confirm MCP Tool Execution",
            Self::Exec => "Confirm Shell Command",
            Self::Edit => "Confirm Edit",
        }
    }
}

/// What they answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// The call is made, and so are others like it when that is to be remembered.
    Proceed(Remember),
    /// The call is not made.
    Refuse {
        /// Why, for whoever asked.
        reason: Option<String>,
    },
}

/// Asks the person. The terminal, the gateway and the tests each bring their own. Dropping the future withdraws the question.
pub trait Confirmer: Send + Sync {
    /// Asks. Several questions may come at once; they are never shown at once.
    fn confirm(&self, question: ConfirmationRequest) -> BoxFuture<'_, Confirmation>;
}

/// Nobody is there: every question is a refusal.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyConfirms;

impl Confirmer for NobodyConfirms {
    fn confirm(&self, _question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        Box::pin(async { Confirmation::Refuse { reason: None } })
    }
}

impl fmt::Debug for dyn Confirmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Confirmer")
    }
}

impl<T: Confirmer + ?Sized> Confirmer for Arc<T> {
    fn confirm(&self, question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        (**self).confirm(question)
    }
}
