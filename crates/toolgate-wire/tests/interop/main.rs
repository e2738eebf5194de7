//! toolgate's wire against implementations that nobody here wrote, in both directions.
//!
//! The partners are installed by `interop/install`; what they offer and ask is written down in `interop/README.md`.

#![expect(clippy::expect_used, reason = "a test that cannot go on is a failed test")]

mod partners;

mod interview;

mod servers;

mod everything;
mod everything_live;

mod restarts;

mod clients;

mod rmcp_partner;
