//! A server on which nothing can be relied: the `chaos-server` program, over stdio or HTTP.
//!
//! It has three tools, each of which writes the `nonce` it was called with into a ledger when it is executed, and answers with it. A
//! [`ChaosPlan`] says how often something goes wrong; what goes wrong follows from its seed, so that a run can be repeated. A [`Ledger`] tells
//! afterwards what was executed, and how often.

mod dice;
mod fault;
mod ledger;
mod plan;

mod asked;
mod http_answer;
mod state;

pub mod http;
pub mod stdio;

pub use dice::Dice;
pub use fault::ChaosFault;
pub use ledger::{Ledger, Life, faults, lives};
pub use plan::ChaosPlan;
