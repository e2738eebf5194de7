//! Every bound on what comes from outside, the unit at the end of the name and the reason beside it.
//!
//! A breach is never silent: it becomes [`Error::Limit`](crate::Error::Limit), which names the constant.

use std::fmt;

/// One message in an HTTP body or an SSE event: larger than any sensible result, small enough to hold a few.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One line on a byte stream (stdio, socket). A longer line is skipped to its end, so the stream stays in step.
pub const LINE_BYTES_MAX: usize = MESSAGE_BYTES_MAX;

/// Nesting of JSON that is looked into. Payloads that are only passed on are not looked into.
pub const JSON_DEPTH_MAX: usize = 128;

/// Messages in one batch (2025-03-26).
pub const BATCH_MESSAGES_MAX: usize = 1024;

/// Calls waiting for an answer on one connection.
pub const PENDING_CALLS_MAX: usize = 16 * 1024;

/// Requests of the other side that run at once on one connection; further ones are answered with an error.
pub const RUNNING_REQUESTS_MAX: usize = 4 * 1024;

/// Bytes waiting to be written on one connection before senders have to wait.
pub const OUTBOX_BYTES_MAX: usize = 1024 * 1024;

/// Frames waiting in one direction of an in-process pair, or of one HTTP answer stream.
pub const QUEUE_FRAMES_MAX: usize = 256;

/// Pages of one list. With a page size of one this is every entry a list may have.
pub const PAGES_MAX: usize = 100_000;

/// Entries of one list, over all its pages: ten times what large servers list. Each takes up to a kilobyte besides its own text.
pub const LIST_ENTRIES_MAX: usize = 100_000;

/// Unreadable entries of one list that are reported one by one; the others are counted. A longer report would not be
/// read.
pub const LIST_DEFECTS_MAX: usize = 1_000;

/// Blocks, messages or contents of one result that are parsed; the others are counted. Each takes some hundred bytes besides its own.
pub const RESULT_PARTS_MAX: usize = 50_000;

/// Arguments of one prompt; the others are left out. People fill in a handful.
pub const PROMPT_ARGUMENTS_MAX: usize = 1_000;

/// All pages of one list together, as they came: a hundred times what large servers list, and a fraction of what a machine has.
pub const LIST_BYTES_MAX: usize = 256 * 1024 * 1024;

/// One pagination cursor.
pub const CURSOR_BYTES_MAX: usize = 64 * 1024;

/// All headers of one HTTP message together.
pub const HEADER_BYTES_MAX: usize = 64 * 1024;

/// One value sent in an `Mcp-*` header; longer ones are refused by common servers and proxies.
pub const HEADER_VALUE_BYTES_MAX: usize = 8 * 1024;

/// Arguments of one tool that travel as headers; servers commonly take about a hundred headers in all.
pub const PARAM_HEADERS_MAX: usize = 64;

/// How much of an HTTP error body is read to say what went wrong.
pub const ERROR_BODY_BYTES_MAX: usize = 64 * 1024;

/// Body of one HTTP request that a server accepts.
pub const REQUEST_BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What is kept of a child's stderr for error reports.
pub const STDERR_TAIL_BYTES: usize = 16 * 1024;

/// Rounds of "more input required" within one request (2026-07-28).
pub const INPUT_ROUNDS_MAX: usize = 16;

/// Questions in one round of "more input required".
pub const INPUT_REQUESTS_MAX: usize = 64;

/// What a server keeps with a client between two such rounds.
pub const REQUEST_STATE_BYTES_MAX: usize = 1024 * 1024;

/// Used states that a server remembers above its floor; older ones count as used.
pub const REQUEST_STATES_SPENT_MAX: usize = 4096;

/// Processes with one key whose used states a server remembers; each restart counts.
pub const REQUEST_STATE_SIGNERS_MAX: usize = 64;

/// Resources and tasks that one client watches.
pub const SUBSCRIPTIONS_MAX: usize = 10_000;

/// Legacy sessions one HTTP server keeps at a time; the longest idle one gives way.
pub const SESSIONS_MAX: usize = 10_000;

/// Events kept per session so that a broken stream can be resumed.
pub const REPLAY_EVENTS_MAX: usize = 256;

/// Bytes of such events kept per stream and per session; the last one is kept whatever its size.
pub const REPLAY_BYTES_MAX: usize = 256 * 1024;

/// How long a session of an HTTP server may stay unused.
pub const SESSION_IDLE_MS: u64 = 30 * 60_000;

/// Connections one HTTP server holds at a time; further ones wait to be accepted.
pub const CONNECTIONS_MAX: usize = 16 * 1024;

/// How long a connection may stay without a request; longer than clients keep theirs, so that they close first.
pub const CONNECTION_IDLE_MS: u64 = 180_000;

/// How long an HTTP server waits before it accepts again when the system has no handles left.
pub const ACCEPT_PAUSE_MS: u64 = 50;

/// How long the body of one HTTP request may take to arrive.
pub const REQUEST_BODY_MS: u64 = 60_000;

/// How long an HTTP answer may take before it is begun as a stream, so that client and proxies see life.
pub const STREAM_AFTER_MS: u64 = 5_000;

/// How often a silent stream of events shows that it lives.
pub const KEEP_ALIVE_MS: u64 = 15_000;

/// When a client should come back to a stream that the server has ended early.
pub const POLL_RETRY_MS: u64 = 500;

/// Events gathered into one write.
pub const EVENT_BATCH_BYTES: usize = 64 * 1024;

/// Attempts to resume one broken stream before its call fails.
pub const RESUME_ATTEMPTS_MAX: usize = 5;

/// Longest wait that a server's `retry:` may ask for.
pub const RETRY_DELAY_MS_MAX: u64 = 30_000;

/// First wait before a broken stream is resumed, when the server names none.
pub const RETRY_DELAY_MS: u64 = 1_000;

/// How long a request may stay without any sign of life. Progress resets it.
pub const REQUEST_IDLE_MS: u64 = 600_000;

/// How long a request may take in all, whatever progress it reports.
pub const REQUEST_TOTAL_MS: u64 = 24 * 3_600_000;

/// How long opening a connection may take, negotiation included.
pub const CONNECT_MS: u64 = 30_000;

/// How long a probe for the newest version stays unanswered before the older handshake is tried beside it.
pub const PROBE_PATIENCE_MS: u64 = 2_000;

/// How long a server that has read both handshakes may stay silent before it counts as wedged and is restarted.
pub const WEDGED_PATIENCE_MS: u64 = 3_000;

/// How long a child may take to leave after its stdin closed, and again after it was asked to terminate.
pub const CHILD_GRACE_MS: u64 = 2_000;

/// How often the watchdog that ends our servers after us is started: one that does not stay is not insisted on.
pub const WATCHDOG_STARTS_MAX: usize = 16;

/// Processes that are looked at to find those that left the group of a server.
pub const PROCESSES_MAX: usize = 64 * 1024;

/// What is read of the variables of a process to find the mark of its server: more than nearly everybody has.
pub const PROCESS_VARIABLES_BYTES_MAX: u64 = 256 * 1024;

/// How often one request is sent while its server refuses who we are: stale, then renewed, then with what the refusal asked for.
pub const AUTHORIZATION_ATTEMPTS_MAX: usize = 3;

/// How long an HTTP server may take to accept a message that wants no answer.
pub const ACCEPT_MS: u64 = 30_000;

/// How long an HTTP connection may be silent before the system asks whether the other side is still there.
pub const TCP_IDLE_MS: u64 = 30_000;

/// How long the system waits for each answer to that.
pub const TCP_PROBE_MS: u64 = 10_000;

/// How many such questions may stay unanswered: a machine that slept finds its dead connections within a minute.
pub const TCP_PROBES_MAX: u32 = 3;

/// How long what was sent may stay unacknowledged, where the system can be told so (Linux).
pub const TCP_UNACKNOWLEDGED_MS: u64 = TCP_IDLE_MS + TCP_PROBE_MS * TCP_PROBES_MAX as u64;

/// How much further the clock on the wall may go than the steady one before the machine counts as having slept; clocks that are set right
/// are set by less, or seldom.
pub const CLOCKS_APART_MS_MAX: u64 = 5_000;

/// How long closing an HTTP session may take.
pub const CLOSE_MS: u64 = 2_000;

/// A broken bound: which one, and how far it was exceeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitBreach {
    /// Name of the constant in this file.
    pub limit: &'static str,
    /// Its value.
    pub allowed: u64,
    /// What broke it, in words.
    pub what: String,
}

impl LimitBreach {
    pub(crate) fn new(limit: &'static str, allowed: usize, what: impl Into<String>) -> Self {
        Self { limit, allowed: allowed as u64, what: what.into() }
    }
}

impl fmt::Display for LimitBreach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (limit {} = {})", self.what, self.limit, self.allowed)
    }
}
