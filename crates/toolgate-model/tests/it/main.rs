//! Whole conversations over real HTTP: scripted models in the formats of three providers, scripted servers, and the loop between them.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is a failed test")]

mod changes;
mod conversations;
mod giving_up;
mod offered;
mod room;
mod strange;
mod troubles;
