//! Stage 2 · which servers the settings mean: layers in, one [`ServerSet`] out, each loser kept with its reason.

pub mod config;

pub mod secret_look;
mod shown;

mod allow_lists;
mod entry;
mod remote;
pub mod resolve;

pub use config::{HttpConfig, ServerConfig, ServerName, ServerNameError, StdioConfig, TransportConfig};
pub use resolve::{ServerSet, SetAside, SetAsideReason, resolve};
