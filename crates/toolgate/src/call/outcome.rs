//! `CallOutcome`: how a call ended. Every ending is a value.

use std::time::Duration;

use toolgate_wire::RawJson;
use toolgate_wire::view::CallResult;

use crate::error::Error;
use crate::policy::Verdict;
use crate::results::ResultHandle;
use crate::shape::{ModelContent, for_display, for_model};

/// How a call ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The tool ran and gave a result.
    Completed(CallReport),
    /// The tool ran and says that it failed.
    ToolError(CallReport),
    /// The rules forbid it; nothing was sent.
    Denied(Verdict),
    /// Whoever was asked said no; nothing was sent.
    Refused {
        /// Why, for whoever asked for the call.
        reason: Option<String>,
    },
    /// Somebody gave the call up; the server was told.
    Cancelled,
    /// No answer, or no sign of life, in time; the server was told.
    TimedOut {
        /// The limit that ran out.
        after: Duration,
        /// Whether progress would have reset it.
        idle: bool,
    },
    /// The call could not be made, or its result not be used.
    Failed(Error),
    /// It was sent, and the connection was lost before an answer: it may have been done or not.
    Unknown(Error),
}

impl CallOutcome {
    /// The word for it in JSON output and records.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Completed(_) => "completed",
            Self::ToolError(_) => "tool_error",
            Self::Denied(_) => "denied",
            Self::Refused { .. } => "refused",
            Self::Cancelled => "cancelled",
            Self::TimedOut { .. } => "timed_out",
            Self::Failed(_) => "failed",
            Self::Unknown(_) => "unknown",
        }
    }

    /// What the tool gave, when it ran.
    pub const fn report(&self) -> Option<&CallReport> {
        match self {
            Self::Completed(report) | Self::ToolError(report) => Some(report),
            _ => None,
        }
    }
}

/// What a tool gave.
#[derive(Debug, Clone)]
pub struct CallReport {
    /// The name the tool was called by.
    pub name: String,
    /// The result as the server wrote it.
    pub result: CallResult,
    /// The result as data: as the server wrote it, or read out of its text when the tool promises data and gave only text.
    pub structured: Option<RawJson>,
    /// What the whole result is kept as, when it was too large for a model to be shown whole.
    pub kept: Option<ResultHandle>,
    /// How long the call took, without the time of whoever was asked about it.
    pub took: Duration,
}

impl CallReport {
    /// The result in parts a model can take, bounded.
    pub fn for_model(&self) -> ModelContent {
        let shaped = for_model::shape(&self.name, &self.result);
        match &self.kept {
            Some(kept) => shaped.naming_kept(kept),
            None => shaped,
        }
    }

    /// The result for a person. What comes from a server has to pass [`shape::visible`](crate::shape::visible) before it reaches a terminal.
    pub fn for_display(&self) -> String {
        for_display::display(&self.result)
    }
}
