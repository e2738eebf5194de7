//! Configuration files of other clients: read into our settings, and written from them.
//!
//! Reading order: [`client`] names the clients, [`found`] says what comes out; each client has a file of its own; `dialect` knows what
//! stands for what in their texts. Everything is a pure function over texts: files are opened by whoever calls.

pub mod client;
pub mod detect;
pub mod found;
pub mod layer;
pub mod places;

pub mod entry;
mod json_text;

mod claude_code;
mod claude_desktop;
mod codex;
mod codex_write;
mod cursor;
mod goose;
mod goose_write;
mod own;
mod restrictions;
mod vs_code;
mod zed;

mod finding;
mod members;
mod oauth;
mod server_reader;
mod server_writer;

mod dialect;
mod placeholder;

mod toml_tree;
mod yaml_tree;

pub use client::{Format, read, write};
pub use detect::detect;
pub use entry::{NamedServer, entry};
pub use found::{Exported, FormatError, Imported, ImportedServer, LeftOut, Note, NoteKind};
pub use layer::layer;
pub use own::references_as_text;
pub use places::places;
pub use restrictions::{Restrictions, shell_command};
