//! Stage 13: one tool call.

pub mod arguments;

pub mod schema;

mod allowed_path;

mod confirm;

mod edit_preview;

mod guarded_path;

mod look_guard;

mod context;

mod checks;

mod judge;

mod record_keeper;
mod recording;

mod understood;

mod outcome;

mod invoke;

mod run;

mod one_tool;

pub use confirm::{Confirmation, ConfirmationKind, ConfirmationRequest, Confirmer, NobodyConfirms};
pub use context::{CallContext, CallRules, ProgressSink};
pub use edit_preview::{Before, Edit, edit_of};
pub use invoke::RunOptions;
pub(crate) use judge::{explain, why_hidden};
pub use one_tool::{DiscoveredTool, FunctionDeclaration, ToolConfirmation};
pub use outcome::{CallOutcome, CallReport};
pub(crate) use run::run;

#[cfg(test)]
mod path_reading_tests;

#[cfg(test)]
mod included_tests;
