//! Stage 11 · large results, kept whole: a model gets a part and a handle, and reads the rest when it needs it. Each is a file named by the
//! hash of its content.

mod store;

mod handle;

mod look;

pub use handle::ResultHandle;
pub use look::{NumberedLine, ResultLines, ResultMatch, ResultMatches, ResultSlice, SliceContent};
pub use store::ResultStore;
