//! How frames travel. Each file is one way; all of them end in a [`Link`](crate::link::Link) and an [`Inbound`](crate::link::Inbound).

pub mod stream;

pub mod child;

mod child_start;

mod marked;

mod process_group;

mod stderr_tail;

mod watchdog;

pub mod watched_group;

#[cfg(windows)]
mod job_object;

pub mod pair;

pub mod socket;

pub mod public_address;

pub mod http_pool;

mod http_kept_alive;

mod http_sleep;

mod http_payload;

mod http_endpoint;

mod http_credentials;

pub mod http_client;

mod http_answer;

pub mod event_stream;

pub mod sse_client;

pub mod http_server;
