//! toolgate as a library: find the tools, prompts and resources of every configured MCP server, let through what is allowed, call them.
//!
//! The stages of the flow get their rooms here as they are built. So far there is the ground they stand on, the protocol itself.

pub use toolgate_wire as wire;
