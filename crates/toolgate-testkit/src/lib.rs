//! What toolgate's own tests, and the tests of programs that embed it, are made of.
//!
//! - [`Script`]: an MCP server as data, any protocol version, with [`Behaviour`]s and [`Fault`](fault::Fault)s.
//! - [`in_process`]: a script over a pipe. [`stdio`]: a script as a real process, the `scripted-server` program.
//! - [`ScriptedHttp`]: a script over HTTP, streamable and legacy SSE, on a loopback port.
//! - [`AuthServer`]: a script over HTTP behind a login, and the authorization server that gives the tokens, as an [`AuthScript`].
//! - [`ModelServer`]: a model over HTTP in the wire formats of three providers, as a [`ModelScript`].
//! - [`chaos`]: servers on which nothing can be relied, the `chaos-server` program.
//! - [`ClientScript`]: an MCP client as data, over byte streams and HTTP; a run gives a [`Transcript`].
//! - [`Record`]: what the server saw, to be asserted on.
//! - [`TestWorld`]: a sealed room with a home, a workspace, variables and a clock, in which programs are run and their
//!   output is compared ([`command`], [`snapshot`]).
//! - [`shell_room`]: shell commands run in namespaces of their own, to see which programs they start.
//! - For tests of programs that use MCP: [`TestTool`], [`MockServer`] and [`assert_call_result`].
//!
//! The kit depends on no other toolgate crate: what it says about them is independent evidence.

pub mod fault;
pub mod script;

pub mod behaviour;
pub mod offer;
pub mod record;

pub mod http_server;
pub mod in_process;
pub mod stdio;

pub mod auth_server;

pub mod model_server;

pub mod chaos;

pub mod client_script;
pub mod client_transcript;

pub mod command;
pub mod snapshot;
pub mod world;

pub mod shell_room;

pub mod call_result;
pub mod mock_server;

pub mod limits;

mod client_exchange;
mod client_http;
mod client_state;
mod client_stream;
mod engine;
mod guarded;
mod http;
mod pipe;
mod process;

pub use auth_server::{AuthScript, AuthServer};
pub use behaviour::Behaviour;
pub use call_result::assert_call_result;
pub use client_script::{ClientScript, Step};
pub use client_transcript::{End, Exchange, Transcript};
pub use fault::{HttpAnswer, What, When};
pub use http_server::ScriptedHttp;
pub use mock_server::{MockServer, TestTool};
pub use model_server::{ModelAnswer, ModelScript, ModelServer, ModelStop, Said, WireFormat};
pub use offer::{Change, ListKind, PromptScript, ResourceScript, ToolScript};
pub use record::{Event, Record};
pub use script::Script;
pub use stdio::{auth_server_path, chaos_server_path, scripted_server_path, shell_room_path};
pub use world::TestWorld;
