//! Stage 6: live connections.

mod denied;
mod status;

mod front_end;

mod client_side;

mod connection;

mod gate;

mod lender;

mod manager;

pub(crate) use client_side::read_elicitation;
pub use connection::{Connection, Kind};
pub use denied::{denied_status, env_hint};
pub use front_end::{Abilities, CallProgress, Elicitation, ElicitationAnswer, FrontEnd, NobodyToAsk, ServerLog};
pub(crate) use gate::Gate;
pub use lender::Lender;
pub use manager::WireTap;
pub(crate) use manager::{ConnectionManager, Difference, Wiring};
pub use status::{Agreed, ServerStatus, ServerView, trouble};
pub(crate) use status::{Stage, sentence};
