//! Stage 1 · what was written: settings files as layers, each value with its place, nothing expanded and no default filled in.
//!
//! Reading order: [`source`] says where a setting can come from, [`raw`] how a file spells it, [`read`](mod@read) makes a layer of one file,
//! [`load`](mod@load) picks the files of a run, [`expand`](mod@expand) is the rule for `${NAME}` that the next stage applies.

pub mod source;

pub mod diagnostic;
mod position;

pub mod raw;

mod excerpt;
mod known_keys;
mod syntax;
mod value_reader;

pub mod read;
mod read_server;

pub mod load;

pub mod expand;

pub use diagnostic::{Diagnostic, SettingsError, Severity};
pub use load::{EnvExceptions, Settings, load};
pub use position::{Located, Position};
pub use source::{SettingsLayer, SettingsOrigin, SettingsSource};
