//! MCP on the wire: every protocol version, every transport, both roles.
//!
//! Reading order: [`raw`] keeps JSON raw, [`message`] frames it, [`link`] is the seam to the transports in [`transport`], and
//! [`Peer`] makes calls and answers of it. Everything from outside is bounded by [`limits`].

pub mod limits;

pub mod error;

pub mod raw;
mod scan;

pub mod message;

pub mod era;

pub mod meta;

pub mod headers;

pub mod link;

mod call;
mod departure;
mod incoming;
mod peer;

pub mod transport;

pub mod view;

mod ask;
mod client;
mod lists;
mod negotiate;
mod patience;
mod rounds;
mod subscribe;
mod tasks;

pub mod server;

pub use call::{Call, CallId, Progress};
pub use client::{Client, ClientSide, Question, ServerAbout};
pub use departure::SendMark;
pub use era::{Era, Role, Version};
pub use error::{Error, HttpFailure, Result, RpcError};
pub use incoming::Incoming;
pub use message::{Defect, DefectKind, Id, Method, Notification};
pub use negotiate::{ConnectOptions, Endpoint, StartedChild, connect};
pub use patience::{Patience, StillStarting};
pub use peer::{Direction, Handler, Origin, Peer, Tally, Tap};
pub use raw::RawJson;
pub use subscribe::{Subscription, Watch};
pub use tasks::{Task, TaskStatus};
