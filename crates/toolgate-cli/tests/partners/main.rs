//! The `toolgate` program with MCP servers that nobody here wrote, together in one settings file.
//!
//! The servers are installed by `interop/install`; `interop/README.md` names them. Everything is asserted by what comes out of the program.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is a failed test")]

mod installed;
mod listening;
#[path = "../it/pseudo_terminal.rs"]
mod pseudo_terminal;
mod room;
#[path = "../it/screen.rs"]
#[expect(dead_code, reason = "these tests press no keys")]
mod screen;

mod listings;
mod packages;
mod project_files;

mod calls;

mod offers;

mod addresses;

mod gemini;
mod imports;
mod keychain;
mod keychain_logins;

mod chromium;
mod logins;
mod protected;
