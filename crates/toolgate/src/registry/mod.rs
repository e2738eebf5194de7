//! Stage 8: one catalog from many servers.

pub mod name;

mod catalog;

mod definition;

mod idle_nulls;

pub use catalog::{
    Catalog, CatalogPrompt, CatalogResource, CatalogTemplate, CatalogTool, Collision, PreparedCall, ToolCall, nearest,
};
pub use definition::definition_hash;
pub use name::{ExposedName, NameBook, Naming, ToolId};
