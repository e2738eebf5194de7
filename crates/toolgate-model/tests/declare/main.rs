//! Function declarations: what each provider is told, whatever schema a server has.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is a failed test")]

mod subsets;

mod cases;

mod arguments;

mod bounds;
mod nasty;

mod properties;
