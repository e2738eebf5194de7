//! Every bound on what the kit accepts from the program under test, with the reason beside it.
//! The kit is generous on purpose: a bound here exists to end a runaway test, not to judge a client.

/// Longest line a scripted server reads from a pipe: a client that never ends its line fails loudly.
pub const LINE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Longest HTTP request head (request line and headers) that is read.
pub const REQUEST_HEAD_BYTES_MAX: usize = 256 * 1024;

/// Longest HTTP request body that is read.
pub const REQUEST_BODY_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Most characters of a message shown when an assertion fails; the whole of it stays in the record.
pub const SHOWN_MESSAGE_CHARS_MAX: usize = 400;

/// Size of one write when filler is streamed, so that a line of 100 MB never exists in memory.
pub const FILLER_CHUNK_BYTES: usize = 64 * 1024;

/// How often a log file of another process is looked at while waiting for an entry.
pub const LOG_POLL_INTERVAL_MS: u64 = 10;

/// How long a command of the snapshot runner may take before it is ended and the test fails.
pub const COMMAND_TIMEOUT_MS_DEFAULT: u64 = 60_000;

/// Most bytes kept of each output stream of a command of the snapshot runner.
pub const COMMAND_OUTPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How long a scripted client runs at most, so that a server that stays silent fails a test instead of stopping it.
pub const CLIENT_RUN_MS_DEFAULT: u64 = 60_000;

/// Most bytes of one line, event or body that a scripted client reads.
pub const CLIENT_TEXT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How many redirects in a row the browser of the kit follows.
pub const BROWSER_REDIRECTS_MAX: usize = 20;

/// How often the record of an authorization server is looked at while waiting for a request.
pub const AUTH_RECORD_POLL_INTERVAL_MS: u64 = 5;

/// How long a chaos server takes for an ordinary answer at most, so that answers overtake each other.
pub const CHAOS_DELAY_MS_MAX: u64 = 20;

/// Time between two bytes of an answer of a chaos server that comes byte by byte: a second for the whole of it.
pub const CHAOS_DRIP_MS: u64 = 6;

/// Notifications that a chaos server sends at once; more than any queue of a client should need.
pub const CHAOS_FLOOD_COUNT: usize = 500;

/// Calls between two that go wrong surely, so that a server is of use meanwhile.
pub const CHAOS_CALLS_APART_COUNT: u64 = 5;

/// A line that no client is to keep in memory.
pub const CHAOS_HUGE_LINE_BYTES: usize = 100 * 1024 * 1024;

/// How long a chaos server waits before it listens again at the same address.
pub const CHAOS_RESTART_MS: u64 = 30;

/// How often a chaos server tries to listen at an address that is taken.
pub const CHAOS_LISTEN_ATTEMPTS_MAX: usize = 100;

/// How long a test waits for what a model is to see, so that one that waits in vain fails.
pub const MODEL_WAIT_MS_MAX: u64 = 60_000;

/// Largest file a command in a room for shell commands can write: everything there is memory.
pub const SHELL_ROOM_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of a command's standard error that are kept: enough to see why it ran nothing.
pub const SHELL_ROOM_SAID_BYTES_MAX: usize = 400;

/// Time that a room waits for processes a shell left in the background.
pub const SHELL_ROOM_GRACE_MS: u64 = 1_500;

/// Quiet time without a new record after which a command that is still running counts as settled.
pub const SHELL_ROOM_SETTLED_MS: u64 = 250;

/// Interval at which a room checks whether a command has ended.
pub const SHELL_ROOM_POLL_MS: u64 = 1;
