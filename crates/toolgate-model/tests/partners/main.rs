//! Function declarations for the tools of servers that nobody here wrote.
//!
//! The servers are installed by `interop/install`; `interop/README.md` names them.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is a failed test")]

mod servers;

#[path = "../declare/subsets.rs"]
mod subsets;

mod corpus;
