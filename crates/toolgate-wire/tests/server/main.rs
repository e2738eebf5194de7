//! The server role over every transport, seen from outside: frames and HTTP requests in, frames and HTTP responses out.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on says so where it stands")]

mod room;
mod sample;

mod http_checks;
mod http_events;
mod http_sessions;
mod http_stateless;
mod listening;
mod questions;
mod scripted_clients;
mod scripted_http_faults;
mod sockets;
mod streams;
