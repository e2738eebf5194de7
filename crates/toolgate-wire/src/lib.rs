//! MCP on the wire: every protocol version, every transport, both roles.
//!
//! Reading order: [`raw`] keeps JSON raw, [`message`] frames it, [`link`] is the seam to the transports in [`transport`], and
//! [`Peer`] makes calls and answers of it. Everything from outside is bounded by [`limits`].

pub mod limits;

pub mod error;

pub mod raw;

pub mod message;

pub mod era;

pub mod link;

mod call;
mod incoming;
mod peer;

pub mod transport;

pub use call::{Call, CallId, Progress};
pub use era::{Role, Version};
pub use error::{Error, HttpFailure, Result, RpcError};
pub use incoming::Incoming;
pub use message::{Defect, DefectKind, Id, Method, Notification};
pub use peer::{Direction, Handler, Origin, Peer, Tally, Tap};
pub use raw::RawJson;
