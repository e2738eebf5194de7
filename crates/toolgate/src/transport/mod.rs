//! Stage 5: from a server's settings to an open wire. Secrets are looked up here, and nowhere before.

mod child_env;

mod secrets;

mod stderr_mask;

mod header_helper;

mod open;

pub use child_env::{ChildVariables, WhyHeldBack, WhyReceived, child_variables};
pub(crate) use open::{Opened, Opener};
pub use secrets::key_of_model;
