//! Every bound of what is kept on disk to be read again: what servers offered, and large results.

/// Files of one folder of ours that are looked at; it is swept long before.
pub const OWN_FILES_LISTED_MAX: usize = 100_000;

/// How old something half written is before it is taken for the leftover of a crash; writing takes a second at most.
pub const OWN_FILE_LEFTOVER_MS: u64 = 60 * 60 * 1000;

/// What one server offered, as it is kept. Ten thousand tools with long schemas fit; a server that says more is asked each time.
pub const CATALOGUE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Servers whose offer is kept at one time; the one that was not asked for longest makes room.
pub const CATALOGUES_MAX: usize = 4_096;

/// How long the offer of a server is kept that nobody asks any more.
pub const CATALOGUE_UNUSED_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// How often kept offers that are too old or too many are looked for.
pub const CATALOGUE_SWEEP_MS: u64 = 24 * 60 * 60 * 1000;

/// How long the list of a local server is believed when it does not say so itself: it changes with its program, which is looked at.
pub const CATALOGUE_LOCAL_FRESH_MS: u64 = 24 * 60 * 60 * 1000;

/// The same for a remote server, which changes when somebody else wants it to.
pub const CATALOGUE_REMOTE_FRESH_MS: u64 = 10 * 60 * 1000;

/// How long a list is believed at most, whatever its server says.
pub const CATALOGUE_FRESH_MS_MAX: u64 = 30 * 24 * 60 * 60 * 1000;

/// Arguments of one server that are looked at to find the files it is made of; a script stands among the first.
pub const CATALOGUE_ARGUMENTS_MAX: usize = 64;
