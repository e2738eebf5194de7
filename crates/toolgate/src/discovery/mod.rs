//! Stage 7: what a server offers.

mod filter;

mod discover;

pub use discover::{Filtered, Interest, Quarantined, ServerCatalog};
pub(crate) use discover::{discover, refresh, watch_lists};
pub use filter::Visibility;
