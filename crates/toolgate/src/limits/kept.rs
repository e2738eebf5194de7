//! Every bound of what is kept on disk to be read again: what servers offered, and large results.

/// Files of one folder of ours that are looked at; it is swept long before.
pub const OWN_FILES_LISTED_MAX: usize = 100_000;

/// How old something half written is before it is taken for the leftover of a crash; writing takes a second at most.
pub const OWN_FILE_LEFTOVER_MS: u64 = 60 * 60 * 1000;

/// What one server offered, as it is kept. Ten thousand tools with long schemas fit; a server that says more is asked each time.
pub const CATALOGUE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// All kept offers together; the one that was not asked for longest makes room.
pub const CATALOGUES_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Servers whose offer is kept at one time; the one that was not asked for longest makes room.
pub const CATALOGUES_MAX: usize = 4_096;

/// How long the offer of a server is kept that nobody asks any more.
pub const CATALOGUE_UNUSED_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// How often kept offers that are too old or too many are looked for.
pub const CATALOGUE_SWEEP_MS: u64 = 24 * 60 * 60 * 1000;

/// After how many new offers they are looked for before it is time: every run in a fresh folder adds some.
pub const CATALOGUES_NEW_MAX: u64 = 256;

/// How long the list of a local server is believed when it does not say so itself: it changes with its program, which is looked at.
pub const CATALOGUE_LOCAL_FRESH_MS: u64 = 24 * 60 * 60 * 1000;

/// The same for a remote server, which changes when somebody else wants it to.
pub const CATALOGUE_REMOTE_FRESH_MS: u64 = 10 * 60 * 1000;

/// How long a list is believed at most, whatever its server says.
pub const CATALOGUE_FRESH_MS_MAX: u64 = 30 * 24 * 60 * 60 * 1000;

/// Arguments of one server that are looked at to find the files it is made of; a script stands among the first.
pub const CATALOGUE_ARGUMENTS_MAX: usize = 64;

/// One result that is kept whole. What is larger is too much to be looked through in one step.
pub const RESULT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// All kept results together; the one that was not used for longest makes room.
pub const RESULT_STORE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Results that are kept at one time; each new one costs a look at all of them.
pub const RESULTS_MAX: usize = 4_096;

/// How long a result is kept that nobody reads: nobody comes back to an answer after a month.
pub const RESULT_UNUSED_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// One slice of a kept result; a model reads a tenth of it at once.
pub const RESULT_SLICE_BYTES_MAX: usize = 256 * 1024;

/// Lines of a kept result that are given at once.
pub const RESULT_LINES_MAX: usize = 5_000;

/// What is given of one line; more of it is read as a slice.
pub const RESULT_LINE_CHARS_MAX: usize = 2_000;

/// Places of a text in a kept result that are given at once; the others are counted.
pub const RESULT_MATCHES_MAX: usize = 500;

/// What is given of a line before and after such a place, each.
pub const RESULT_MATCH_CHARS_MAX: usize = 120;

/// A text that is looked for in kept results: a line, not a page.
pub const RESULT_NEEDLE_BYTES_MAX: usize = 1_024;

/// Digits that name a kept result at least. Chance never makes two results alike in so many.
pub const RESULT_HANDLE_DIGITS_COUNT: usize = 12;
