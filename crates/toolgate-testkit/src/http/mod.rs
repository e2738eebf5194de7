//! HTTP/1.1 written by hand, so that every byte of an answer can be made to go wrong.
//!
//! `request` reads, `connection` routes, `streamable` and `sse` decide what a reply is, `checks` refuses what the protocol
//! forbids, and `follow`, `body` and `event_stream` write answers in all their legal and broken forms.

pub(crate) mod connection;
pub(crate) mod gate;
pub(crate) mod request;

pub(crate) mod body;
mod checks;
mod event_stream;
mod follow;
mod reply;
mod sse;
mod streamable;
