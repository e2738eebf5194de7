//! Stage 11: the rules of a run, gathered: policy files of every tier, what follows from settings and flags, and what toolgate brings.
//!
//! The only part of policy that looks at files. What it gathers is a [`Policy`](crate::policy::Policy), which is pure.

mod book;
mod edit;
mod from_settings;
mod mode;
mod nearest;
mod ownership;
mod reality;
mod rewrite;

pub(crate) use book::named_policies;
pub use book::{PolicyFile, Rulebook, RulebookOptions};
pub use edit::{EditedPolicy, edit_policy, write_new_policy};
pub use mode::{grants_last_in_run, lasting_of_run, mode_of_run};
pub use reality::{Known, Looked, Named, OfferedTools, Unmatched, unmatched};
pub use rewrite::replace_rules;
