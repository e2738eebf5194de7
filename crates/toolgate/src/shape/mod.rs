//! Stage 11: one result, two readers.
//!
//! A result is shaped once for the model and once for the person. Nothing here is escaped for a terminal: what a front end prints goes
//! through [`visible`] last, so that files, pipes and JSON get the text as the server wrote it.

pub mod for_model;

pub mod for_display;

pub mod truncate;

mod kept_note;

pub mod visible;

mod indent;

mod invisible;

mod mirror;

pub(crate) mod untrusted;

pub use for_model::{ModelContent, ModelPart};
pub use truncate::Truncation;
