//! The scripted server itself, without a transport: messages in, steps out.
//!
//! `server` is what all connections share, `session` what one client shares, `exchange` is one request. A request is
//! answered by `dispatch`, behaviours are carried out by `perform` (questions to the client by `rounds`), and `deliver`
//! turns an answer and its faults into the steps that a transport carries out.

pub(crate) mod deliver;
pub(crate) mod incoming;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod steps;
pub(crate) mod trigger;

mod dispatch;
mod exchange;
mod lists;
mod perform;
mod rounds;
mod subscribe;
