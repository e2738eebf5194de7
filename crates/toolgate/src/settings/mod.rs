//! Stage 1 · what was written: settings files as layers, each value with its place, nothing expanded and no default filled in.
//!
//! Reading order: [`source`] says where a setting can come from, [`raw`] how a file spells it, [`read`](mod@read) makes a layer of one file,
//! [`load`](mod@load) picks the files of a run, [`expand`](mod@expand) is the rule for `${NAME}` that the next stage applies,
//! [`secret_reference`] what it leaves for the moment of use. All documented keys stand in one table, which the reader goes by and which
//! [`json_schema()`] and [`reference_page()`] print.

pub mod source;

pub mod diagnostic;
pub(crate) mod position;

pub mod raw;

pub(crate) mod keys;

mod excerpt;
mod file_text;
mod known_keys;
pub(crate) mod syntax;
pub(crate) mod tree;
mod value_reader;

pub mod read;
mod read_server;
mod read_shape;

mod extension_switch;
pub mod extensions;

pub mod brought;
pub mod dotenv;
pub mod include_directories;
mod kept;
pub mod load;
mod model;
mod server_command;

pub mod expand;
mod parts;
pub mod secret_reference;

mod json_schema;
mod reference_page;

pub mod edit;
pub mod edit_file;

pub use brought::Brought;
pub use diagnostic::{Diagnostic, SettingsError, Severity};
pub(crate) use extension_switch::file as extension_enablement_file;
pub use extension_switch::{disable_extension, enable_extension};
pub use extensions::ExtensionState;
pub use include_directories::IncludedFolder;
pub use json_schema::json_schema;
pub use kept::ListedEntry;
pub use load::{EnvExceptions, FolderTrustSettings, LoadOptions, Settings, ToolSearchSettings, load};
pub use model::{ModelKey, ModelSettings};
pub use parts::{Part, Parts};
pub use position::{Located, Position};
pub use raw::SearchMode;
pub use reference_page::reference_page;
pub use source::{Extension, SettingsLayer, SettingsOrigin, SettingsSource};
pub use syntax::ParsedText;
