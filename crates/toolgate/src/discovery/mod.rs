//! Stage 7: what a server offers.

mod offered;

mod discover;

pub use discover::{Filtered, Interest, Problem, Quarantined, ServerCatalog};
pub(crate) use discover::{discover, offers, refresh, watch_lists};
pub use offered::{Offered, OfferedList, UnusableEntry};
