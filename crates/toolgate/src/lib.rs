//! toolgate as a library: find the tools, prompts and resources of every configured MCP server, let through what is allowed, call them.
//!
//! The flow, one module per stage: [`settings`] (what was written) → [`servers`] (what that means) → [`trust`] (what may start) →
//! `transport` and [`connect`] (live connections) → [`discovery`] (what a server offers, through its [`filter`], remembered by [`kept`]) →
//! [`registry`] (one catalog of all) → [`expose`] (in the words of each front end) → [`call`] (one tool call), decided by [`policy`] with the rules of a [`rulebook`] and what [`grants`]
//! hold, recorded by [`audit`], with [`shape`] (one result, two readers) and [`results`] (large ones, whole). [`Host`] wires them together;
//! everything ambient comes from a [`HostEnv`].

mod apart;
mod asker;
mod canonical_json;

mod env;
mod error;
mod glob;
mod hex;
mod keychain;
pub mod limits;
mod own_files;
mod parts_digest;
mod secret;
mod server_name;
mod shown_name;
mod state_file;
mod workspace_folders;

pub mod settings;

pub mod formats;

pub mod servers;

pub mod trust;

pub mod auth;

mod transport;

pub mod connect;

pub mod shell;

pub mod filter;

pub mod discovery;

pub mod kept;

pub mod registry;

pub mod expose;

pub mod policy;

pub mod grants;

pub mod rulebook;

pub mod revisions;

pub mod audit;

pub mod results;

pub mod shape;

pub mod call;

mod event;
mod host;
mod live;
mod setup;

pub use toolgate_wire as wire;
pub use toolgate_wire::RawJson;

pub use asker::Asker;
pub use call::{CallContext, CallOutcome, CallReport, CallRules, DiscoveredTool, RunOptions, ToolConfirmation};
pub use connect::{Abilities, Elicitation, ElicitationAnswer, FrontEnd, ServerStatus, ServerView};
pub use discovery::Interest;
pub use env::{Clock, HostDirs, HostEnv, SystemClock};
pub use error::{Error, ErrorKind, Result};
pub use event::{Diagnostic, DiscoveryState, HostEvent, HostEvents, Severity};
pub use host::{BorrowedRequest, Host, HostBuilder, Loan, Memory, ReadAhead, Reconciled, unknown_server};
pub use live::LiveSettings;
pub use registry::{Catalog, Naming, ToolCall};
pub use secret::Secret;
pub use server_name::{ServerName, as_word};
pub use setup::{Setup, SetupOptions};
pub use transport::{ChildVariables, WhyHeldBack, WhyReceived, child_variables, key_of_model};
pub use workspace_folders::WorkspaceFolders;
