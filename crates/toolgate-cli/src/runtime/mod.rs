//! The runtime: one process of a person that keeps servers running and runs commands that use them, so that a command costs no start of a
//! server. Commands are brought by the program itself, over a socket that only its owner can reach.

pub(crate) mod conditions;
pub(crate) mod frames;
pub(crate) mod place;
mod server_question;
pub(crate) mod words;

pub(crate) mod borrow;
pub(crate) mod client;

pub(crate) mod context;
pub(crate) mod hosts;
mod outbox;
pub(crate) mod visit;

mod idle;
mod memory;
pub(crate) mod serve;
pub(crate) mod status;
