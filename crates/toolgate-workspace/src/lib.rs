//! The built-in MCP server: files, search and shell of one folder, in this process or over stdio.
//!
//! Reading order: a request reaches [`Workspace`] in `service`; `arguments` reads what it asks for and `answer` is what it gets back; `tools`
//! has one file for each tool. Every path goes through `confine`, the only door to the file system: it opens relative to the handle
//! of the folder and never resolves a path of the whole machine a second time.
//!
//! What is ignored by a `.gitignore` is left out when folders are listed, globbed and searched; naming such a file or folder is
//! enough to read it, because a person who names it means it.

pub mod limits;

mod error;

mod answer;
mod arguments;

mod confine;
mod path_text;
mod rewrite;

mod ignored;
mod walk;

mod jobs;
mod tools;

mod service;

pub use error::{Error, Result};
pub use service::{Introduction, Workspace, WorkspaceOptions};
