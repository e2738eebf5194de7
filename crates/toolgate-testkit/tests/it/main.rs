//! The kit's own tests: raw JSON in, raw JSON out, one file for each part.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on is a failed test")]
#![expect(clippy::needless_pass_by_value, reason = "tests hand over `json!` values as they write them")]

mod auth_client;
mod http_client;
mod support;

mod auth_deviations;
mod auth_grants;
mod auth_proofs;
mod auth_server;
mod behaviours;
mod chaos;
#[cfg(unix)]
mod check_script;
mod client_scripts;
mod embedders;
mod faults;
mod http_faults;
mod http_legacy;
mod http_modern;
mod process;
mod questions;
mod world;
