//! Stage 2 · which servers the settings mean: layers in, one [`ServerSet`] out, each loser kept with its reason.

pub mod config;

pub mod reference_scope;
pub mod text;

pub mod secret_look;
pub(crate) mod secret_name;
pub(crate) mod secret_text;
pub(crate) mod shown;

mod identity;

pub mod enablement;

mod allow_lists;
pub(crate) mod built_in_tools;
mod entry;
pub mod login;
mod merge;
pub(crate) mod remote;
pub mod resolve;

pub use allow_lists::{HeldBack, held_back};
pub use built_in_tools::built_in_tool;
pub use config::{
    BUILT_IN_SERVERS, BuiltInConfig, HttpConfig, ServerConfig, ServerName, ServerNameError, StartLimit, StdioConfig,
    TransportConfig,
};
pub use enablement::Enablement;
pub use identity::identity;
pub(crate) use identity::{put_identity, put_written};
pub use login::LoginConfig;
pub use remote::{HeaderCheck, Refusal, check_header, check_url};
pub use resolve::{ServerSet, SetAside, SetAsideReason, Switches, WrittenTarget, folded, resolve, untrusted};
pub use shown::written_target;
pub use text::ConfigText;
