//! Earlier settings and policies of the person: stored by content, listed, unpacked for simulation, and restored.
//!
//! A [`Revision`] has the contents of `settings.json` and the policy files at one time. Grants and trust of that time are saved for comparison.
//! They are never restored, because that would bring back what was revoked.

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
