//! Settings and policies of the person as they were: kept by their content, listed, laid out to be tried, and restored.
//!
//! A [`Revision`] is what `settings.json` and the policy files had in them at a time. What was allowed and trusted then is kept beside it, to be
//! compared, and is never restored: that would bring back what was revoked.

mod files;
mod layout;
mod log;
mod restore;
mod store;

pub use files::Snapshot;
pub use layout::LaidOut;
pub use log::{KeptFile, Revision};
pub use restore::Restored;
pub use store::{REVISIONS_FOLDER, Revisions};
