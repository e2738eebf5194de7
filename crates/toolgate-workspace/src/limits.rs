//! Every bound on what comes from outside, the unit at the end of the name and the reason beside it.

/// A path as it may be written; longer ones are refused by the system anyway.
pub const PATH_BYTES_MAX: usize = 4096;

/// Symbolic links followed on the way to one file, as many as the system itself would follow.
pub const LINK_HOPS_MAX: usize = 40;

/// A glob or a regular expression; nobody writes longer ones, and they cost time to compile.
pub const PATTERN_BYTES_MAX: usize = 4096;

/// Lines given by one read when the caller names no limit: enough for nearly every source file.
pub const READ_LINES_COUNT: u64 = 2000;

/// Text given by one read: what a model can still take in one piece.
pub const READ_TEXT_BYTES_MAX: usize = 256 * 1024;

/// How far a read looks for lines; beyond it the number of lines is not known.
pub const READ_SCAN_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// An image: it travels as base64, and a part of one is worth nothing.
pub const IMAGE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The beginning of a file, by which text is told from anything else.
pub const SNIFF_BYTES: usize = 8 * 1024;

/// A file that is written, or in which something is replaced: it is held in memory.
pub const WRITE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Entries of one folder that are shown.
pub const LIST_ENTRIES_MAX: usize = 2000;

/// Files found by one glob that are shown.
pub const GLOB_FILES_MAX: usize = 1000;

/// Lines found by one search that are shown.
pub const SEARCH_MATCHES_MAX: usize = 500;

/// All that one search shows, whatever the number of lines.
pub const SEARCH_TEXT_BYTES_MAX: usize = 256 * 1024;

/// One line found by a search; the rest of a longer one is cut.
pub const SEARCH_LINE_CHARS: usize = 400;

/// A file that is searched; larger ones are skipped and counted.
pub const SEARCH_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Memory of a search in one file: its longest line, and a piece of the text that follows.
pub const SEARCH_HEAP_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Size of a compiled regular expression that counts as small. Nearly all that people write are smaller.
pub const SEARCH_SMALL_PATTERN_BYTES: usize = 64 * 1024;

/// Size of a compiled regular expression of a search. Classes of Unicode letters are large, and repetitions multiply them.
pub const SEARCH_PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// Cache of the lazy matcher during one search.
pub const SEARCH_CACHE_BYTES_MAX: usize = 1024 * 1024;

/// Searched part of a line for a small regular expression. The time grows with both, and nothing stops it within a line.
pub const SEARCH_LINE_BYTES_MAX: usize = 128 * 1024;

/// Searched part of a line for a large regular expression.
pub const SEARCH_LARGE_PATTERN_LINE_BYTES_MAX: usize = 8 * 1024;

/// Bytes searched between two checks for cancellation, which takes about a second at most.
pub const SEARCH_PIECE_BYTES: usize = 16 * 1024;

/// Time limit for one search; matches found by then are shown.
pub const SEARCH_MS_MAX: u64 = 30_000;

/// Entries looked at by one walk, ignored ones included: some hundred thousand are a matter of a second.
pub const WALK_ENTRIES_MAX: usize = 500_000;

/// Folders inside folders that a walk enters: each holds a handle open.
pub const WALK_DEPTH_MAX: usize = 128;

/// One `.gitignore`; what is longer is not a list of patterns.
pub const GITIGNORE_BYTES_MAX: u64 = 1024 * 1024;

/// File work that runs at once; the rest waits, so that no client can take all threads.
pub const FILE_JOBS_MAX: usize = 4;

/// A command line; the system takes no longer one.
pub const COMMAND_BYTES_MAX: usize = 120 * 1024;

/// Shell commands that run at once; the rest waits.
pub const SHELL_JOBS_MAX: usize = 16;

/// How long a command may run when the caller does not say.
pub const SHELL_TIMEOUT_MS_DEFAULT: u64 = 120_000;

/// How long a command may run at most: what a host waits for a call.
pub const SHELL_TIMEOUT_MS_MAX: u64 = 600_000;

/// What is kept of the beginning of a command's output, for stdout and stderr each.
pub const SHELL_HEAD_BYTES_MAX: usize = 32 * 1024;

/// What is kept of the end of a command's output, for stdout and stderr each: errors stand there.
pub const SHELL_TAIL_BYTES_MAX: usize = 32 * 1024;

/// How long output is still read after the command has ended, when something that left its group keeps the pipe open.
pub const SHELL_DRAIN_MS: u64 = 1000;
