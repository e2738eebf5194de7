//! Stage 13: one tool call.

pub mod arguments;

pub mod schema;

mod outcome;

mod invoke;

mod run;

mod one_tool;

pub use invoke::RunOptions;
pub use one_tool::{DiscoveredTool, FunctionDeclaration};
pub use outcome::{CallOutcome, CallReport};
pub(crate) use run::run;
