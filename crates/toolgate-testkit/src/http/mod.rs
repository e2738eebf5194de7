//! HTTP/1.1 written by hand, so that every byte of an answer can be made to go wrong.
//!
//! `request` reads, `connection` routes and carries out replies, `streamable` and `sse` decide what a reply is, `checks`
//! refuses what the protocol forbids, and `body` and `event_stream` write answers in all their legal and broken forms.

pub(crate) mod connection;

mod body;
mod checks;
mod event_stream;
mod reply;
mod request;
mod sse;
mod streamable;
