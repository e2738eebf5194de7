//! What the person allowed for more than one call: for this session, or for good in `grants.toml`.

mod grant;

mod covering;

mod choices;

mod file;
mod store;

pub use choices::{Lasting, choices};
pub use covering::Covering;
pub use grant::{Grant, GrantScope, GrantState, GrantSubject, ReadingTools, Remember, RememberOptions};
pub use store::{GRANTS_FILE, Grants};
