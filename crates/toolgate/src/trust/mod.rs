//! Stage 3: whether this folder may start them.

mod gate;

pub use gate::{AdmittedServers, admit};
