//! Stage 10: allow, ask or deny. Pure: no file, no clock, no network.
//!
//! Reading order: `decision`, `rule`, `facts` and `verdict` are the words; `rank` says which rule comes first and `index` which can be about a
//! call at all; `matching` holds one rule against a call, `evaluate` all of them, `shell_call` for each command of a shell call. [`mod@file`]
//! reads rules from text, [`Permissions`] changes them while a host runs.

mod decision;
mod facts;
mod rule;
mod verdict;

pub mod when;

pub mod file;

mod checked;
mod checker;
mod describe;
mod shipped;
mod target;

mod spellings;

mod rank;

mod index;

mod subject;

mod matching;

mod walk;

mod evaluate;

mod shell_call;

mod visible;

mod explain;

mod permissions;

mod suggest;

pub use checker::{AllowedPath, Checker, collect_paths, segment_verdict};
pub use decision::{Decision, Mode, Tier};
pub use evaluate::Policy;
pub use explain::{Close, Explanation, Found, TraceStep, WhyClose};
pub use facts::{CallFacts, Presence, Remembered, ToolFacts};
pub use matching::Part;
pub use permissions::{PermissionChange, Permissions, RuleId, ServerPermissions};
pub(crate) use rule::SAVED_APPROVAL_PRIORITY;
pub use rule::{Condition, Rule, RuleKind, RuleOrigin, ServerPattern};
pub use shell_call::SHELL_TOOL;
pub use shipped::{PRESETS, Preset, PresetKind, default_rules, preset};
pub use suggest::{AllowedCall, Suggestion, suggest};
pub use target::{Target, is_shown_form, splits_of, targets_of};
pub use verdict::{Because, Verdict};
pub use when::When;

#[cfg(test)]
mod case_tests;
#[cfg(test)]
mod explain_tests;
#[cfg(test)]
mod index_tests;
#[cfg(test)]
mod permissions_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod test_notation;
