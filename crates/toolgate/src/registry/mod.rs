//! Stage 8: one catalog from many servers.

pub mod name;

mod catalog;

pub use catalog::{
    Asker, Catalog, CatalogPrompt, CatalogResource, CatalogTemplate, CatalogTool, Collision, PreparedCall, ToolCall,
    nearest,
};
pub use name::{ExposedName, NameBook, Naming, ToolId};
