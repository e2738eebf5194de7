//! The wire from outside: every version over every transport, every fault, against scripted servers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on is a failed test")]

mod support;

mod demo;

mod patience;
mod peer;

mod matrix;
mod negotiation;
mod negotiation_http;
mod sessions;

mod authorization;

mod views;

mod modern;
mod questions;
mod tasks;

mod findings;
mod rmcp_findings;

mod marks;
mod processes;

mod faults;
mod faults_http;
