//! Stage 7: what a server offers.

mod offered;

mod built_in;

mod line;

mod server_catalog;

mod discover;

pub(crate) use built_in::offered_by_built_in;
pub use discover::{Interest, Problem};
pub(crate) use discover::{discover, nothing_offered, refresh, tells_of_changes, watch_lists};
pub(crate) use line::Why;
pub use line::{Availability, Line, Live, Traffic};
pub use offered::{Offered, OfferedList, UnusableEntry};
pub use server_catalog::{Filtered, Quarantined, ServerCatalog};
